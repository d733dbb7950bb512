// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A TCP sender: window, loss recovery and timeouts.
//!
//! RFC 5681 (fast retransmit and recovery), RFC 6582 (NewReno), RFC 6675 (SACK), RFC 6298 (timer),
//! RFC 3042 (limited transmit), RFC 3168 (ECN), RFC 9768 (AccECN, in [`accecn`](super::accecn)), RFC 7323 (timestamps), RFC 8985 (RACK-TLP), RFC 9937 (PRR).
//!
//! ```text
//! open      outstanding < W, and one more for each of the first duplicates
//! recovery  Reno, NewReno: outstanding < W + duplicates − packets since acknowledged;   SACK: pipe < W
//! restart   after a timeout, or Tahoe's duplicates: from `una` again, outstanding < W
//! RACK      in each of them what is lost first, then new data: pipe < W
//! ```
//!
//! The controller keeps `W`; the inflation of fast recovery is kept here. No loss is reported twice before all
//! that was outstanding when it was found is acknowledged (RFC 6582 §3.2; RFC 6675 §5.1 after a timeout).
//! After a timeout the scoreboard is forgotten, because the receiver may have discarded its data (RFC 2018 §8); RACK keeps it,
//! as Linux does, and a timeout in recovery does not lower its threshold a second time.
//! Departures: at a window of one packet a mark does not back the timer off (RFC 3168 §6.1.2); the initial window follows
//! the options even after a lost SYN (RFC 5681 §3.1: one segment); a transfer has at most 2^32 − 2 segments, 4 TB at
//! 1000 bytes.

mod advice;
mod burst;
mod by_time;
mod calm;
mod data;
mod flight;
pub(super) mod imposed;
mod noise;
mod opening;
mod pacing;
mod repair;
mod report;

use std::sync::Arc;

use super::accecn::{ACE, Copied};
use super::increase::Increase;
use super::prr::Prr;
use super::rack::{Rack, Woken};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::{Echo, Options, Recovery};
use crate::cc::{self, Ack, Control, Marks};
use crate::packet::{Flags, Hint, Packet};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};
use data::Data;
pub use pacing::Pacing;

const ENDLESS: u32 = u32::MAX - 1;

/// The phase of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It waits for the answer to its SYN; with a flag for an answer in flight, the remaining round trips, and how often a SYN was lost.
    Opening { sent: bool, rounds: u16, lost: u16 },
    /// Nothing is missing.
    Open,
    /// It repairs the segments outstanding below the point.
    Recovery,
    /// It retransmits everything outstanding below the point.
    Restart,
    /// Everything is acknowledged.
    Done,
}

/// A packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub seq: u32,
    /// Its size on the wire.
    pub size: u16,
    /// Its header bits.
    pub flags: Flags,
}

/// The news in an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Payload newly acknowledged in order.
    pub acked: Bytes,
    /// The round-trip time it measured.
    pub rtt: Option<Span>,
    /// The time from sender to receiver that it measured; the clocks may differ by a constant.
    pub one_way: Option<Span>,
    /// A recovery episode begins.
    pub repair: bool,
    /// Everything is acknowledged now, and no data follows.
    pub done: bool,
    /// Everything written so far is acknowledged now; more may be written.
    pub drained: bool,
}

/// The sending half of a TCP host.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Control,
    /// The first segment not acknowledged in order.
    una: u32,
    /// The next segment to send; below `high` when retransmitting.
    next: u32,
    /// One above the greatest segment ever sent.
    high: u32,
    /// One above the last existing segment.
    total: u32,
    phase: Phase,
    /// Nothing has happened that the [calm path](calm) cannot handle; a sender that lost the flag regains it there.
    calm: bool,
    duplicates: u32,
    /// Packets that fast recovery may have outstanding beyond the window.
    inflation: i64,
    /// A recovery episode ends when everything below it is acknowledged.
    point: u32,
    /// Duplicates are meaningless until something above it is acknowledged: they may answer segments sent twice.
    guard: u32,
    /// One above the segment at whose retransmission the timer expired last.
    expired: u32,
    /// Packets in the network while a scoreboard guides recovery, counted from zero at each acknowledgement.
    pipe: u32,
    /// The next segment to send is `una`, regardless of the window.
    resend: bool,
    /// This recovery had its rescue retransmission (RFC 6675 §4, NextSeg rule 4).
    rescued: bool,
    /// This recovery saw a partial acknowledgement.
    partial: bool,
    /// Segments known to have arrived, including ones forgotten since.
    delivered: u32,
    /// Segments retransmitted.
    resent: u32,
    /// An acknowledgement above it may bring news of marks.
    marked: u32,
    /// The next new segment acknowledges the receiver's echo.
    cwr: bool,
    /// The copy of the receiver's count of marks, where it reports one.
    count: Option<Copied>,
    /// The controller counts marks, and the receiver does not fold them into one echo.
    counts: bool,
    /// The header bits of every segment sent for the first time.
    fresh: Flags,
    timer: Time,
    /// No packet leaves before it.
    pace: Time,
    /// The segment whose round trip is being timed, without timestamps.
    timed: Option<(u32, Time)>,
    rtt: RttEstimator,
    board: Scoreboard,
    /// The scoreboard with the times of sending, of [`Recovery::Rack`].
    rack: Option<Box<Rack>>,
    /// The window reduction in progress.
    prr: Option<Prr>,
    increase: Increase,
    /// Packets that may leave without waiting for the pace.
    burst: u32,
    data: Data,
    options: Arc<Options>,
    controller: cc::Any,
}

impl Sender {
    /// A sender of `size` bytes, or without end.
    pub fn new(options: Arc<Options>, controller: &cc::Config, size: Option<Bytes>) -> Sender {
        let controller = controller.build(options.start());
        let segments = |bytes: Bytes| bytes.0.div_ceil(options.payload.0).clamp(1, u64::from(ENDLESS)) as u32;
        Sender {
            control: controller.control(),
            una: 0,
            next: 0,
            high: 0,
            total: size.map_or(ENDLESS, segments),
            phase: match options.handshake {
                true => Phase::Opening { sent: false, rounds: options.handshake_rounds as u16, lost: 0 },
                false => Phase::Open,
            },
            calm: false,
            duplicates: 0,
            inflation: 0,
            point: 0,
            guard: 0,
            expired: 0,
            pipe: 0,
            resend: false,
            rescued: false,
            partial: false,
            delivered: 0,
            resent: 0,
            marked: 0,
            cwr: false,
            count: options.counts_marks().then(Copied::new),
            counts: controller.marks() != Marks::Classic && !options.echoes_once(),
            fresh: repair::capability(&options, controller.marks()),
            timer: Time::NEVER,
            pace: Time::ZERO,
            timed: None,
            rtt: RttEstimator::new(&options),
            board: Scoreboard::default(),
            rack: (options.recovery == Recovery::Rack).then(|| Box::new(Rack::new(&options))),
            prr: None,
            increase: Increase::new(options.initial_window),
            burst: 0,
            data: size.map_or(Data::Full, Data::Sized),
            options,
            controller,
        }
    }

    /// The window in packets.
    pub fn window(&self) -> f64 {
        self.control.window
    }

    /// Information about it that its packets carry to queues.
    #[inline]
    pub fn hint(&self) -> Hint {
        Hint { window: self.options.hint.carries(self.control.window), rtt: self.rtt.smoothed() }
    }

    /// The controller's state.
    pub fn controller(&self) -> &cc::Any {
        &self.controller
    }

    /// One above the last existing segment, if there is a last one.
    pub fn total(&self) -> Option<u32> {
        (self.total != ENDLESS).then_some(self.total)
    }

    /// The first segment not acknowledged in order.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Payload acknowledged in order.
    pub fn acked(&self) -> Bytes {
        self.bytes_below(self.una)
    }

    /// Whether everything is acknowledged.
    pub fn done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// The time at which [`on_wakeup`](Sender::on_wakeup) must be called, or [`poll`](Sender::poll) may have a packet again.
    #[inline]
    pub fn next_wakeup(&self, now: Time) -> Time {
        if self.pace > now && self.phase != Phase::Done { self.timer.min(self.pace) } else { self.timer }
    }

    /// [`poll`](Sender::poll) in any state.
    #[inline]
    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if self.pace > now && self.burst == 0 {
            return None;
        }
        if let Phase::Opening { sent, rounds, lost } = self.phase {
            return if sent { None } else { self.poll_syn(now, rounds, lost) };
        }
        let Some(seq) = self.choose() else {
            self.burst = 0;
            return None;
        };
        self.pipe += 1;
        let again = seq < self.high;
        self.resent += u32::from(again);
        if seq == self.next {
            self.next += 1;
            self.high = self.high.max(self.next);
        }
        if self.timer == Time::NEVER {
            self.timer = now + self.rtt.timeout();
        }
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
        if !self.options.timestamps {
            self.timed = if again { None } else { self.timed.or(Some((seq, now))) };
        }
        Some(self.leave(seq, again, now))
    }

    /// A segment leaves.
    #[inline]
    fn leave(&mut self, seq: u32, again: bool, now: Time) -> Segment {
        let size = self.wire_size(seq);
        if let Some(rate) = self.control.pacing {
            let packets = f64::from(size) / (self.options.header + self.options.payload).0 as f64;
            self.take_from_burst(now, rate);
            self.pace = self.pace.max(now) + Span::from_secs_f64(packets / rate.0);
        }
        let flags = if again { self.fresh.and(ACE).with(Flags::RETRANSMITTED) } else { self.fresh() };
        Segment { seq, size, flags }
    }

    /// [`on_ack`](Sender::on_ack) in any state.
    #[inline]
    fn hear(&mut self, packet: &Packet, now: Time, rng: &mut Rng) -> Heard {
        if let Some(explicit) = packet.explicit() {
            self.advise(explicit, now);
        }
        if packet.flags.has(Flags::SYN) {
            return self.on_opened(packet, now);
        }
        if self.rack.is_some() {
            return self.hear_by_time(packet, now, rng);
        }
        let newly = packet.seq.saturating_sub(self.una);
        if packet.seq < self.una
            || packet.seq > self.high
            || matches!(self.phase, Phase::Opening { .. } | Phase::Done)
        {
            return Heard::default();
        }
        let rtt = self.measure(packet, newly, now);
        // Before this acknowledgement removes its packets: afterwards no window looks full.
        let flight = self.flight();
        let recovering = self.phase == Phase::Recovery;
        // An echoed mark does not grow the window (RFC 3168 §6.1.2).
        let echoed = self.reports_marks(packet);
        let limited = !self.window_is_full() && !self.is_paced();
        let credit = if recovering || echoed { 0.0 } else { self.credit(newly, limited) };
        let acked = self.bytes_between(self.una, packet.seq);
        if newly > 0 {
            self.advance(packet.seq, newly, now);
        }
        self.count_duplicates(packet, newly, recovering);
        let arrived = self.arrived();
        let (echoed, marked) = self.read_marks(packet, echoed, arrived);
        let signal = Ack {
            now,
            rtt,
            one_way: self.options.timestamps.then(|| packet.lag.span()),
            acked: newly,
            delivered: u64::from(self.delivered),
            resent: u64::from(self.resent),
            marked,
            limited,
            credit,
            una: u64::from(self.una),
            next: u64::from(self.high),
            in_flight: self.outstanding(),
            recovering,
        };
        self.controller.on_ack(&signal, rng);
        let repair = self.should_repair();
        if repair {
            self.repair(now, flight, arrived);
        }
        if echoed {
            self.on_echo(now, flight, arrived);
        }
        self.control = self.controller.control();
        if self.prr.is_some() {
            self.shrink(arrived, newly > 0);
        }
        let done = self.finish_if_done();
        let drained = self.una >= self.total && !done && newly > 0;
        Heard { acked, rtt, one_way: signal.one_way, repair, done, drained }
    }

    /// The next segment that the window permits.
    #[inline]
    fn choose(&mut self) -> Option<u32> {
        if self.resend {
            self.resend = false;
            self.board.retransmit(self.una);
            return Some(self.una);
        }
        if self.scoreboard_guides() {
            return self.choose_from_board();
        }
        while self.next < self.high && self.board.sacked(self.next) {
            self.next += 1;
        }
        let early = match self.phase {
            Phase::Open if self.options.limited_transmit => self.duplicates.min(self.options.dupthresh - 1),
            _ => 0,
        };
        let room = self.control.window + self.inflation as f64 + f64::from(early);
        (f64::from(self.outstanding()) + 1.0 <= room && self.next < self.limit()).then_some(self.next)
    }

    #[inline]
    fn measure(&mut self, packet: &Packet, newly: u32, now: Time) -> Option<Span> {
        if newly == 0 && self.options.echo != Echo::Own && self.options.timestamps {
            // An old time is not a round trip, and the timeout does not follow it.
            return (self.options.echo == Echo::InOrder).then(|| now - packet.sent);
        }
        let rtt = if self.options.timestamps {
            now - packet.sent
        } else {
            let (_, sent) = self.timed.take_if(|(seq, _)| packet.seq > *seq)?;
            now - sent
        };
        Some(self.rtt.sample(rtt))
    }

    /// Marks the scoreboard, and counts duplicates; with blocks, only one that names something new makes a duplicate
    /// (RFC 6675 §2).
    #[inline]
    fn count_duplicates(&mut self, packet: &Packet, newly: u32, recovering: bool) {
        let sack = packet.sack();
        let told = if sack[0].1 != 0 {
            self.board.mark(&sack, self.una, self.high, self.options.dupthresh) > 0
        } else {
            self.options.recovery != Recovery::Sack
        };
        if newly == 0 && told && self.high > self.una {
            self.duplicates += 1;
            self.inflation += i64::from(recovering && self.options.recovery != Recovery::Sack);
        }
        if self.scoreboard_guides() {
            self.pipe = self.board.pipe(self.una, self.next, self.options.dupthresh);
        }
    }

    /// Everything below `seq` is acknowledged.
    #[inline]
    fn advance(&mut self, seq: u32, newly: u32, now: Time) {
        self.una = seq;
        self.next = self.next.max(seq);
        if !self.board.is_empty() || self.phase == Phase::Recovery {
            self.board.advance(seq);
        }
        self.duplicates = 0;
        self.resend = false;
        let repaired =
            seq >= self.point || self.options.recovery == Recovery::Reno && self.phase == Phase::Recovery;
        match self.phase {
            Phase::Recovery | Phase::Restart if repaired => {
                self.end_repair();
            }
            Phase::Recovery => self.on_partial(newly),
            _ => {}
        }
        let restarts = !(self.phase == Phase::Recovery && self.options.impatient && self.partial);
        if seq == self.high {
            self.timer = Time::NEVER;
        } else if restarts || self.options.recovery.selective() {
            self.timer = now + self.rtt.timeout();
        }
        self.partial = self.phase == Phase::Recovery;
    }
}
