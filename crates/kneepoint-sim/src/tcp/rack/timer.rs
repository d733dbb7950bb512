// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The one timer of a sender: for retransmission, for reordering, for probes at the tail, for probes of a closed window.
//!
//! RFC 6298 §5, RFC 8985 §6.2 step 5 and §7, RFC 9293 §3.8.6.1; as Linux has it.
//!
//! ```text
//! progress     in Open and Cwr a probe after 2 SRTT + slack, or 2 SRTT + WCDelAckT with one segment outstanding,
//!              but no later than the timeout; in other states the timeout                          §7.2
//! probe        new data beyond the window too, else the last segment; then the timeout from now on   §7.3
//! reordering   the wait for segments that may be lost, + slack; then the timeout of the first segment
//! timeout      the first segment is lost, and all others that were sent a round trip ago           §6.3; then twice as long
//! closed       with nothing outstanding and no room: a probe after max(RTO, 200 ms), then twice as long
//! ```

use super::lent::Lent;
use super::{CongestionState as State, Rack, Turn};
use crate::units::{Span, Time};

/// The least interval of probes of a closed window (Linux TCP_RTO_MIN).
const LEAST_WINDOW_PROBE: Span = Span::from_millis(200);
/// Doublings of that interval at most (Linux: up to 120 s).
const MOST_DOUBLINGS: u32 = 10;
/// A probe before the first round trip is known (Linux TCP_TIMEOUT_INIT).
const FIRST_PROBE: Span = Span::from_secs(1);

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing.
    #[default]
    None,
    /// Retransmission.
    Timeout,
    /// Segments that may be lost.
    Reordering,
    /// A probe at the tail.
    Tail,
    /// A probe of a closed window.
    Window,
}

/// The effect of a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Nothing is reported to the controller.
    Idle,
    /// A recovery episode begins.
    Repair,
    /// The retransmission timer expired.
    Timeout,
}

/// The timer.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    /// Its purpose.
    pub purpose: Purpose,
    /// The time at which it expires.
    pub at: Time,
}

impl Default for Timer {
    fn default() -> Timer {
        Timer { purpose: Purpose::None, at: Time::NEVER }
    }
}

impl Rack {
    pub(super) fn set_timer(&mut self, purpose: Purpose, span: Span, host: &Lent) {
        self.timer = Timer { purpose, at: host.now + span };
    }

    /// The time until the first segment's timeout.
    fn left_to_head(&self, host: &Lent) -> Option<Span> {
        let until = self.out.head()?.at + host.rtt.timeout();
        (until > host.now).then(|| until - host.now)
    }

    /// Progress was made: a probe at the tail, or the timeout.
    pub(super) fn restart_timer(&mut self, host: &Lent) {
        if !self.schedule_probe(host, true) {
            self.rearm(host);
        }
    }

    /// The timeout, less the time since the first segment was sent if the timer served another purpose.
    pub(super) fn rearm(&mut self, host: &Lent) {
        if self.out.is_empty() {
            self.timer = Timer::default();
            return;
        }
        let elapsed = matches!(self.timer.purpose, Purpose::Reordering | Purpose::Tail);
        let span = match elapsed {
            true => self.left_to_head(host).unwrap_or(Span(1000)),
            false => host.rtt.timeout(),
        };
        self.set_timer(Purpose::Timeout, span, host);
    }

    /// Sets the timer for a probe at the tail, if there may be one. `anew`: the timeout begins with it.
    pub(super) fn schedule_probe(&mut self, host: &Lent, anew: bool) -> bool {
        let options = host.options;
        let quiet = matches!(self.state, State::Open | State::Cwr);
        if !options.probes || !options.sack || self.out.is_empty() || !quiet {
            return false;
        }
        let srtt = host.rtt.smoothed();
        let lone = self.out.len() == 1;
        let span = match srtt {
            Span::ZERO => FIRST_PROBE,
            _ => srtt * 2 + if lone { options.probe_ack_delay } else { options.timer_slack },
        };
        let left = if anew { Some(host.rtt.timeout()) } else { self.left_to_head(host) };
        let span = span.min(left.unwrap_or(span));
        self.set_timer(Purpose::Tail, span, host);
        true
    }

    /// Marks what is lost. Returns whether the timer waits for segments that may be.
    pub(super) fn detect(&mut self, host: &Lent) -> bool {
        if !std::mem::take(&mut self.detection.advanced) {
            return false;
        }
        let wait = self.look(host);
        if let Some(wait) = wait {
            let span = (wait + host.options.timer_slack).min(host.rtt.timeout());
            self.set_timer(Purpose::Reordering, span, host);
        }
        wait.is_some()
    }

    fn look(&mut self, host: &Lent) -> Option<Span> {
        let repairing = self.state >= State::Recovery;
        self.detection.detect(&mut self.out, host.now, host.rtt.smoothed(), repairing)
    }

    /// The timer expired.
    #[cold]
    pub fn on_timer(&mut self, host: &mut Lent) -> Woken {
        match self.timer.purpose {
            Purpose::None => self.timer = Timer::default(),
            Purpose::Reordering => return self.on_reordering(host),
            Purpose::Tail => self.send_probe(host),
            Purpose::Timeout => return self.on_timeout(host),
            Purpose::Window => self.probe_window(host),
        }
        Woken::Idle
    }

    fn on_reordering(&mut self, host: &mut Lent) -> Woken {
        let (in_flight, losses) = (self.out.in_flight(), self.out.losses());
        self.look(host);
        let mut woken = Woken::Idle;
        if self.out.in_flight() != in_flight {
            if self.state != State::Recovery {
                self.enter_recovery(host, false);
                self.began = false;
                self.reduce(host, 1, self.out.losses() - losses, false);
                woken = Woken::Repair;
            }
            self.turn = Turn::OnlyLost;
        }
        self.rearms = self.timer.purpose != Purpose::Timeout;
        self.timer.at = Time::NEVER;
        woken
    }

    fn send_probe(&mut self, host: &mut Lent) {
        if self.probe.is_none() {
            let new = self.out.high() < self.limit(host);
            let (high, seq) = (self.out.high(), self.out.high() - u32::from(!new));
            // Linux probes with as much of the unit as fits the window.
            let room = host.window().saturating_sub(self.out.in_flight());
            let more = if new && room > 1 { self.unit_of(host, room) - 1 } else { 0 };
            self.probe = Some(super::Probe { end: high + u32::from(new) + more, again: !new });
            self.forced = Some(super::Forced { seq, probe: true, more });
            self.timer.purpose = Purpose::None;
        }
        // A probe that was not sent last is restarted when it has left.
        self.rearm_after_probe(host);
    }

    fn rearm_after_probe(&mut self, host: &Lent) {
        if self.timer.purpose == Purpose::None {
            self.set_timer(Purpose::Timeout, host.rtt.timeout(), host);
        } else {
            self.rearm(host);
        }
    }

    fn on_timeout(&mut self, host: &mut Lent) -> Woken {
        self.timer = Timer::default();
        if self.out.is_empty() {
            return Woken::Idle;
        }
        self.enter_loss(host);
        self.retries += u32::from(self.offered > 0);
        self.forced = Some(super::Forced { seq: self.out.una(), probe: false, more: 0 });
        host.rtt.back_off();
        self.set_timer(Purpose::Timeout, host.rtt.timeout(), host);
        Woken::Timeout
    }

    /// Outstanding segments are lost (Linux `tcp_enter_loss`).
    fn enter_loss(&mut self, host: &mut Lent) {
        let begins = self.state < State::Recovery;
        let (una, high) = (self.out.una(), self.out.high());
        if !host.options.sack {
            self.out.forget_duplicates();
        }
        for seq in una..high {
            let due = |at| self.detection.is_due(at, host.now);
            if self.out.get(seq).is_some_and(|sent| seq == una || due(sent.at)) {
                self.out.lose(seq);
            }
        }
        let repeats = self.state == State::Loss && self.retries == 0;
        let reduces = self.state <= State::Disorder || una >= self.point || repeats;
        if reduces {
            self.undo.threshold = Some(self.present_threshold(host));
            self.undo.window = host.control.window;
            self.undo.begin(una, self.out.resent() + self.probe_on_its_way());
        }
        host.restart(!reduces, high, self.out.in_flight());
        if self.state <= State::Disorder && self.out.sacked() >= host.options.dupthresh {
            self.detection.relax(host.options.dupthresh);
        }
        self.state = State::Loss;
        self.reduction = None;
        self.point = high;
        self.probe = None;
        self.answers = true;
        self.usage.stamp(host.now);
        self.forward = host.options.frto && (begins || self.retries > 0);
    }

    /// Nothing is outstanding, and the receiver has no room for the next segment.
    pub(super) fn watch_window(&mut self, host: &Lent) {
        if self.timer.purpose == Purpose::None {
            self.set_timer(Purpose::Window, self.window_probe(host), host);
        }
    }

    fn window_probe(&self, host: &Lent) -> Span {
        let least = host.rtt.timeout().max(LEAST_WINDOW_PROBE);
        Span(least.0 << self.backoff.min(MOST_DOUBLINGS)).min(host.options.rto_max)
    }

    fn probe_window(&mut self, host: &Lent) {
        self.timer = Timer::default();
        if self.out.is_empty() && self.out.high() < host.total {
            self.backoff += 1;
            self.probes_window = true;
            self.watch_window(host);
        }
    }

    /// An acknowledgement with nothing outstanding: the window is open again, or is probed later.
    pub(super) fn hear_window(&mut self, host: &Lent) {
        if self.out.high() >= host.total {
            return;
        }
        self.timer = Timer::default();
        if self.out.high() < self.limit(host) {
            self.backoff = 0;
        } else {
            self.watch_window(host);
        }
    }
}
