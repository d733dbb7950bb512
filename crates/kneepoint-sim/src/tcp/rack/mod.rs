// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recovery by time, as Linux has it: RACK-TLP with the states around it.
//!
//! RFC 8985, RFC 9937 and the undoing of their reductions, in segments instead of bytes. One value holds a sender's
//! knowledge of outstanding segments; its parts are in separate files, in the order in which an acknowledgement passes
//! them:
//!
//! ```text
//! news       its contents: segments, blocks, duplicates, a round trip
//! detection  what is lost by now
//! state      Open, Disorder, Cwr, Recovery, Loss: reductions, and their end
//! undo       reductions that were needless
//! timer      the one timer
//! usage      whether the window limits the sender
//! transmit   what leaves next
//! ```
//!
//! The controller's window is the one after a reduction; the host's is reduced to it step by step (`Lent::control`). A segment
//! outstanding is never forgotten, not even by a timeout.

mod detection;
mod imposed;
mod lent;
mod news;
mod outstanding;
mod state;
mod timer;
mod transmit;
mod undo;
mod usage;

#[cfg(test)]
mod tests;

use super::CongestionState;
use super::info::Info;
use super::options::Options;
use super::prr::Prr;
use super::rtt::{Deviation, Estimator};
use crate::packet::Packet;
use crate::units::{Span, Time};

use detection::Detection;
pub use lent::Lent;
use news::News;
use outstanding::Outstanding;
use timer::Timer;
pub use timer::Woken;
use transmit::Turn;
pub use transmit::unit_at;
use undo::{Undo, millisecond};
use usage::Usage;

/// A tail loss probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// One above the greatest segment sent when it left.
    end: u32,
    /// It was a segment sent before.
    again: bool,
}

/// A segment to send regardless of the window.
#[derive(Clone, Copy, Debug)]
struct Forced {
    seq: u32,
    /// It is a probe at the tail.
    probe: bool,
    /// Segments that leave with it.
    more: u32,
}

/// The effect of an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Segments acknowledged in order.
    pub acked: u32,
    /// Segments newly known to have arrived.
    pub delivered: u32,
    /// Segments newly found lost.
    losses: u32,
    /// It acknowledges in order.
    advanced: bool,
    /// The round trip of the last segment that it answers.
    pub rtt: Option<Span>,
    /// Packets by which the window may grow.
    pub credit: f64,
    /// A recovery episode begins.
    pub repair: bool,
    /// It is not a matter of a controller's.
    pub silent: bool,
}

/// A sender's knowledge of the outstanding segments.
#[derive(Clone, Debug)]
pub struct Rack {
    out: Outstanding,
    detection: Detection,
    undo: Undo,
    state: CongestionState,
    /// The state ends when everything below it is acknowledged.
    point: u32,
    reduction: Option<Prr>,
    probe: Option<Probe>,
    /// The next acknowledgements may prove a timeout spurious (F-RTO).
    forward: bool,
    /// Timeouts since something was acknowledged in order; and probes of a closed window.
    retries: u32,
    backoff: u32,
    timer: Timer,
    /// Set it again after this step.
    rearms: bool,
    /// One above the last segment for which the receiver has room, and its last announcement.
    edge: u32,
    offered: u32,
    /// Segments known to have arrived, including needless retransmissions.
    delivered: u64,
    /// Retransmissions so far, and D-SACKs for them.
    resent: u32,
    twice: u32,
    /// The latest of the receiver's timestamps.
    recent: Time,
    deviation: Deviation,
    usage: Usage,
    turn: Turn,
    forced: Option<Forced>,
    /// Segments of the present unit that are still to be sent; new ones sent in this turn; returns whether some wait since the window is small.
    unit: u32,
    sent: u32,
    deferred: bool,
    last_sent: Time,
    /// A probe of a closed window is due.
    probes_window: bool,
    /// A recovery episode began.
    began: bool,
    /// The next new segment carries CWR: the window was reduced.
    answers: bool,
    /// Blocks measure no round trips: they were derived.
    untimed: bool,
    /// The sender that is followed has a retransmission timeout: QUIC's has none.
    expires: bool,
}

impl Rack {
    /// Bytes of a segment outstanding, in a ring that has half more room in the mean.
    pub const SEGMENT: usize = size_of::<outstanding::Sent>() * 3 / 2;

    /// Nothing is outstanding.
    pub fn new(options: &Options) -> Rack {
        Rack {
            out: Outstanding::default(),
            detection: Detection::new(options.dupthresh),
            undo: Undo::default(),
            state: CongestionState::Open,
            point: 0,
            reduction: None,
            probe: None,
            forward: false,
            retries: 0,
            backoff: 0,
            timer: Timer::default(),
            rearms: false,
            edge: options.max_window,
            offered: options.max_window,
            delivered: 0,
            resent: 0,
            twice: 0,
            recent: Time::ZERO,
            deviation: Deviation::default(),
            usage: Usage::new(options),
            turn: Turn::Fresh,
            forced: None,
            unit: 0,
            sent: 0,
            deferred: false,
            last_sent: Time::ZERO,
            probes_window: false,
            began: false,
            answers: false,
            untimed: false,
            expires: true,
        }
    }

    /// The first segment not acknowledged in order.
    #[inline]
    pub fn una(&self) -> u32 {
        self.out.una()
    }

    /// One above the greatest segment sent.
    #[inline]
    pub fn high(&self) -> u32 {
        self.out.high()
    }

    /// Packets in flight.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.out.in_flight()
    }

    /// Segments known to have arrived.
    #[inline]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Losses detected so far, repeated losses of a segment included.
    #[inline]
    pub fn losses(&self) -> u32 {
        self.out.losses()
    }

    /// Whether losses are being repaired.
    #[inline]
    pub fn recovering(&self) -> bool {
        self.state == CongestionState::Recovery
    }

    /// Whether the next new segment carries CWR, because the window was reduced.
    #[inline]
    pub fn answers(&self) -> bool {
        self.answers
    }

    /// The time at which the timer expires.
    #[inline]
    pub fn wakeup(&self) -> Time {
        self.timer.at
    }

    /// Whether a probe of a closed window is due.
    pub fn take_window_probe(&mut self) -> bool {
        std::mem::take(&mut self.probes_window)
    }

    /// The connection is open: the round trip of its handshake, and the receiver's first window.
    pub fn on_opened(&mut self, rtt: Span, offered: Option<u32>, host: &mut Lent) -> Span {
        let rtt = host.measure(rtt, &mut self.deviation, 0, 0);
        self.detection.measure(rtt);
        self.offered = offered.unwrap_or(self.offered).min(host.options.max_window);
        self.edge = self.offered;
        self.usage.stamp(host.now);
        rtt
    }

    fn probe_on_its_way(&self) -> u32 {
        u32::from(self.probe.is_some_and(|probe| probe.again))
    }

    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, packet: &Packet, echoed: bool, host: &mut Lent) -> Told {
        let (una, top, outstanding) = (self.out.una(), self.out.top(), self.out.len());
        let (delivered, losses) = (self.delivered, self.out.losses());
        if packet.seq > self.out.high() || self.is_outdated(packet, host) {
            return self.told_nothing();
        }
        if self.is_calm() && packet.seq > una && !echoed && !packet.reports_gap() {
            return self.on_next(packet, packet.seq - una, host);
        }
        let mut news = News { advanced: packet.seq > una, echoed, ..News::default() };
        let blocks = packet.reports_gap() && host.options.sack;
        if packet.seq < una {
            return self.on_old(packet, blocks, news, host);
        }
        self.hear_offer(packet, &mut news, host);
        if news.advanced {
            self.retries = 0;
        }
        if blocks {
            self.take_blocks(host, packet, una, &mut news);
        }
        if outstanding == 0 {
            return self.on_quiet(packet, news, host);
        }
        self.acknowledge(host, packet, top, &mut news);
        if let Some(sent) = news.sent {
            self.detection.widen(sent, host.now);
        }
        if self.probe.is_some() {
            self.judge_probe(packet.seq, &news, host);
        }
        self.turn = match news.is_dubious() || self.state != CongestionState::Open {
            true => self.alert(host, packet, (una, u32::from(news.is_duplicate())), &mut news),
            false => Turn::Fresh,
        };
        if news.timer {
            self.restart_timer(host);
        }
        let delivered = (self.delivered - delivered) as u32;
        Told {
            acked: packet.seq - una,
            delivered,
            losses: self.out.losses() - losses,
            advanced: news.advanced,
            rtt: news.rtt,
            credit: self.credit(delivered, &news, host),
            repair: std::mem::take(&mut self.began),
            silent: false,
        }
    }

    /// Whether a later acknowledgement has a newer timestamp (PAWS, RFC 7323 §5.3): by more than a millisecond, unless it is a duplicate
    /// that is late by less than a timeout (Linux `tcp_disordered_ack`).
    #[inline]
    fn is_outdated(&mut self, packet: &Packet, host: &Lent) -> bool {
        let stamp = packet.sent + packet.lag.span();
        if !host.options.timestamps || stamp >= self.recent {
            self.recent = stamp;
            return false;
        }
        let late = self.recent - stamp;
        millisecond(self.recent) > millisecond(stamp) + 1
            && (packet.seq != self.out.una() || late > host.rtt.timeout())
    }

    /// Whether nothing is missing, retransmitted, counted as a duplicate or probed.
    #[inline]
    fn is_calm(&self) -> bool {
        self.state == CongestionState::Open && self.out.is_plain() && self.probe.is_none()
    }

    /// An acknowledgement of the next `acked` segments while nothing is missing: the same as [`on_ack`](Rack::on_ack)
    /// in this case, without tests that the case rules out.
    #[inline]
    fn on_next(&mut self, packet: &Packet, acked: u32, host: &mut Lent) -> Told {
        let mut news = News { advanced: true, ..News::default() };
        self.hear_offer(packet, &mut news, host);
        self.retries = 0;
        let Some((first, last)) = self.out.pop_plain(acked) else { return self.told_nothing() };
        self.delivered += u64::from(acked);
        if host.options.sack {
            self.detection.deliver_next(packet.seq - 1, last, host.now);
        }
        let rtt = host.measure(host.now - first, &mut self.deviation, packet.seq, self.out.high());
        self.detection.measure(host.now - last);
        self.backoff = 0;
        self.detection.widen(last, host.now);
        self.turn = Turn::Fresh;
        self.restart_timer(host);
        let rtt = Some(rtt.saturating_sub(last.since(first)));
        let credit = self.credit(acked, &news, host);
        Told { acked, delivered: acked, advanced: true, rtt, credit, ..Told::default() }
    }

    /// The window after the controller has processed an acknowledgement.
    #[inline]
    pub fn settle(&mut self, told: &Told, host: &mut Lent) {
        if host.controller.yields() {
            return self.enter_cwr(host);
        }
        match self.reduction.is_some() && self.reduces() {
            true => self.reduce(host, told.delivered, told.losses, told.advanced),
            false => host.follow(),
        }
    }

    /// An acknowledgement that a later one has overtaken: its blocks may be news.
    #[cold]
    fn on_old(&mut self, packet: &Packet, blocks: bool, mut news: News, host: &mut Lent) -> Told {
        if blocks {
            let before = self.out.una();
            self.take_blocks(host, packet, before, &mut news);
            self.turn = self.alert(host, packet, (before, 0), &mut news);
        }
        self.told_nothing()
    }

    /// An acknowledgement while nothing is outstanding.
    #[cold]
    fn on_quiet(&mut self, packet: &Packet, mut news: News, host: &mut Lent) -> Told {
        if news.twice {
            self.alert(host, packet, (packet.seq, 0), &mut news);
        }
        self.hear_window(host);
        if self.probe.is_some() {
            self.judge_probe(packet.seq, &news, host);
        }
        self.turn = self.turn.and_fresh();
        self.told_nothing()
    }

    /// Nothing that grows a controller's window.
    fn told_nothing(&mut self) -> Told {
        Told { silent: true, repair: std::mem::take(&mut self.began), ..Told::default() }
    }

    /// The receiver's window. A window in an acknowledgement of nothing new counts if it is larger, or closed.
    #[inline]
    fn hear_offer(&mut self, packet: &Packet, news: &mut News, host: &mut Lent) {
        if let Some(offered) = packet.receive_window()
            && (news.advanced || offered > self.offered || offered == 0)
        {
            news.window = true;
            if offered != self.offered && self.out.high() < host.total && self.out.is_empty() {
                self.on_write(host);
            }
            self.offered = offered.min(host.options.max_window);
        }
        self.edge = packet.seq.saturating_add(self.offered);
    }

    /// RFC 8985 §7.4.2: the fate of the tail loss probe.
    #[cold]
    fn judge_probe(&mut self, una: u32, news: &News, host: &mut Lent) {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else { return };
        if !probe.again || news.probe_twice {
            self.probe = None;
        } else if una > probe.end {
            // It repaired a loss of which there was no other sign.
            self.repair_by_probe(host);
        } else if !(news.advanced || news.window || news.sacked) {
            self.probe = None;
        }
    }

    /// The mean deviation of round-trip times.
    fn mean_deviation(&self, host: &Lent) -> Span {
        match host.options.rto_estimator {
            Estimator::Rfc6298 => host.rtt.variation(),
            Estimator::Linux => self.deviation.mean(),
        }
    }

    /// The state, as a program can query it.
    pub fn info(&self, host: &mut Lent) -> Info {
        let threshold = host.threshold();
        Info {
            state: self.state,
            window: host.window(),
            threshold: threshold.is_finite().then_some(threshold as u32),
            unacked: self.out.len(),
            sacked: self.out.sacked(),
            lost: self.out.lost(),
            retransmitted: self.out.resent(),
            total_retransmitted: self.resent,
            reordering: self.detection.degree,
            srtt: host.rtt.smoothed(),
            rttvar: self.mean_deviation(host),
            timeout: host.rtt.timeout(),
            delivered: self.delivered,
            marked: (0, 0),
        }
    }
}
