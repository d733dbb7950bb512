// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Segments that another sender sent, as a capture has them: the recovery takes them for its own, whatever it would have sent.
//!
//! ```text
//! new                    sent, and the window was full: somebody else knew how much it had to send
//! lost, waiting          the retransmission that was due
//! other, after an ACK    a loss that the other sender saw first: it is one here, too
//! other, long after one  the timer of the other sender expired: a probe at the tail where one was due, else a timeout
//! ```
//!
//! Timers that send do not expire by themselves here; the one that waits for reordering does, for it only judges.

use super::lent::Lent;
use super::outstanding::Fate;
use super::timer::Purpose;
use super::{CongestionState as State, Forced, Probe, Rack, Turn};
use crate::units::{Span, Time};

/// A retransmission so soon after an acknowledgement answers it.
const ANSWERED: Span = Span::from_millis(2);

impl Rack {
    /// The timer of reordering expires, if it is due.
    pub fn judge_by_time(&mut self, host: &mut Lent) {
        if self.timer.purpose == Purpose::Reordering && self.timer.at <= host.now {
            self.on_timer(host);
        }
    }

    /// Another sender sent segment `seq`; `heard` is when the last acknowledgement arrived.
    pub fn impose(&mut self, seq: u32, heard: Time, host: &mut Lent) {
        if seq < self.out.una() || seq > self.out.high() {
            return;
        }
        self.forced = self.forced.take().filter(|forced| forced.seq == seq);
        if self.forced.is_none() {
            match seq < self.out.high() {
                true => self.explain(seq, heard, host),
                false => self.explain_new(seq, heard, host),
            }
        }
        self.on_sent(seq, host);
    }

    /// Why a new segment is sent: a timer may have probed the tail with it.
    fn explain_new(&mut self, seq: u32, heard: Time, host: &Lent) {
        let quiet = host.now.since(heard) > ANSWERED && host.now.since(self.last_sent) > ANSWERED;
        if quiet && self.timer.purpose == Purpose::Tail && self.timer.at <= host.now + ANSWERED {
            self.probe = Some(Probe { end: seq + 1, again: false });
            self.forced = Some(Forced { seq, probe: true, more: 0 });
            self.timer.purpose = Purpose::None;
            self.rearm(host);
        }
    }

    /// Why a segment is sent once more.
    #[cold]
    fn explain(&mut self, seq: u32, heard: Time, host: &mut Lent) {
        let fate = self.out.get(seq).map_or(Fate::default(), |sent| sent.fate);
        if fate.has(Fate::LOST) && !fate.has(Fate::RESENT) {
            return;
        }
        let answers = !self.expires || host.now.since(heard) <= ANSWERED;
        let last = seq + 1 == self.out.high();
        if !answers && last && self.timer.purpose == Purpose::Tail && self.probe.is_none() {
            self.probe = Some(Probe { end: self.out.high(), again: true });
            self.forced = Some(Forced { seq, probe: true, more: 0 });
            self.timer.purpose = Purpose::None;
            self.rearm(host);
        } else if !answers && seq == self.out.una() {
            self.timer.purpose = Purpose::Timeout;
            self.on_timer(host);
        } else {
            self.out.lose(seq);
            if self.state < State::Recovery {
                self.enter_recovery(host, false);
                self.began = false;
            }
        }
    }

    /// The other sender is at rest until the next event: it sent as much as it could.
    pub fn rest(&mut self, host: &mut Lent) {
        self.forced = None;
        self.turn = Turn::None;
        self.unit = 0;
        let sent = std::mem::take(&mut self.sent) > 0;
        self.validate(host, true);
        if sent {
            self.schedule_probe(host, false);
        }
        if std::mem::take(&mut self.rearms) {
            self.rearm(host);
        }
    }

    /// The sender reduced its window once more before its losses were repaired.
    pub fn reduce_again(&mut self, host: &mut Lent) {
        self.begin_reduction(host, false);
    }

    /// The sender has no retransmission timeout: what it sends once more, it took for lost.
    pub fn never_expires(&mut self) {
        self.expires = false;
    }

    /// Blocks are derived, and measure no round trips.
    pub fn ignore_times_of_blocks(&mut self) {
        self.untimed = true;
    }

    /// The segment up to which all has to arrive for the last recovery to end.
    pub fn point(&self) -> u32 {
        self.point
    }

    /// The state of congestion control.
    pub fn state(&self) -> State {
        self.state
    }
}
