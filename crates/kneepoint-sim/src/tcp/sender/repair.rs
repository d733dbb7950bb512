// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Loss detection, retransmission, and the response to marks.

use super::{Phase, Sender, Woken};
use crate::cc::{Ecn, Loss, Marks, Timeout};
use crate::packet::{Flags, Packet};
use crate::tcp::accecn::{self, ACE};
use crate::tcp::prr::{Progress, Prr};
use crate::tcp::{Options, Recovery, Reduction};
use crate::units::Time;

impl Sender {
    /// Whether the duplicates, or the scoreboard, show that `una` is lost.
    #[inline]
    pub(super) fn should_repair(&self) -> bool {
        let told =
            self.duplicates >= self.options.dupthresh || !self.board.is_empty() && self.board.lost(self.una);
        told && self.phase == Phase::Open
            && match self.options.recovery {
                Recovery::OldTahoe => false,
                // A scoreboard distinguishes new losses from old ones; duplicates alone do not (RFC 6582 §3.2 step 2).
                Recovery::Sack | Recovery::Rack => true,
                _ => self.una > self.guard || self.guard == 0,
            }
    }

    /// A recovery episode begins with an acknowledgement that reported `arrived` segments.
    #[cold]
    pub(super) fn repair(&mut self, now: Time, flight: f64, arrived: u32) {
        let (una, next) = (u64::from(self.una), u64::from(self.high));
        self.controller.on_loss(&Loss { now, flight, una, next });
        if self.options.recovery == Recovery::Tahoe {
            return self.restart(now, flight, true);
        }
        self.phase = Phase::Recovery;
        self.point = self.high;
        self.guard = self.high;
        self.answer_echo();
        self.inflation =
            if self.options.recovery.selective() { 0 } else { i64::from(self.options.dupthresh) };
        self.resend = true;
        self.rescued = false;
        self.partial = false;
        self.board.begin(self.una);
        self.pipe = self.board.pipe(self.una, self.next, self.options.dupthresh);
        self.begin_reduction(arrived);
        self.timed = None;
        self.timer = now + self.rtt.timeout();
    }

    /// The window is reduced step by step, if the options say so and the controller leaves it to its host.
    pub(super) fn begin_reduction(&mut self, arrived: u32) {
        let rule = self.options.reduction;
        if rule != Reduction::AtOnce
            && self.options.recovery.selective()
            && !self.controller.steers_recovery()
        {
            let sacked = self.held_out_of_order();
            self.prr = Some(Prr::begin(rule, self.high - self.una, sacked, arrived));
        }
    }

    /// The window during the reduction, which ends with the packets that were outstanding when it began.
    #[cold]
    pub(super) fn shrink(&mut self, delivered: u32, safe: bool) {
        if self.una >= self.marked {
            self.prr = None;
        }
        let pipe = self.outstanding();
        if let Some(prr) = &mut self.prr {
            self.control.window = prr.window(Progress { delivered, pipe, safe }, self.control.window);
        }
    }

    /// Everything that was outstanding at the beginning of the recovery episode is acknowledged.
    pub(super) fn end_repair(&mut self) {
        self.phase = Phase::Open;
        self.inflation = 0;
    }

    /// Handles the wake-up; returns its effect.
    pub fn on_wakeup(&mut self, now: Time) -> Woken {
        self.calm = false;
        if now < self.timer {
            return Woken::Idle;
        }
        if let Phase::Opening { rounds, lost, .. } = self.phase {
            self.open_again(rounds, lost);
            return Woken::Timeout;
        }
        if self.rack.is_some() {
            return self.wake_by_time(now);
        }
        // The threshold is held where the timer has already resent this segment (RFC 5681 §3.1). The back-off shows
        // nothing: a duplicate acknowledgement with a timestamp clears it.
        let again = std::mem::replace(&mut self.expired, self.una + 1) == self.una + 1;
        self.rtt.back_off();
        self.timed = None;
        self.restart(now, self.flight(), again);
        Woken::Timeout
    }

    /// Everything outstanding is presumed lost.
    #[cold]
    pub(super) fn restart(&mut self, now: Time, flight: f64, reported: bool) {
        self.controller.on_timeout(&Timeout { now, flight, reported, next: u64::from(self.high) });
        self.control = self.controller.control();
        self.phase = Phase::Restart;
        self.point = self.high;
        self.guard = self.high;
        self.answer_echo();
        self.duplicates = 0;
        self.inflation = 0;
        self.resend = false;
        self.prr = None;
        self.next = self.una;
        self.board.clear();
        self.timer = now + self.rtt.timeout();
    }

    /// RFC 6582 §3.2 step 3: the next hole, and a window deflated by the packets that left the network.
    pub(super) fn on_partial(&mut self, newly: u32) {
        if self.options.recovery == Recovery::NewReno {
            self.resend = true;
            self.inflation -= i64::from(newly) - 1;
        }
    }

    /// RFC 6675 §4 NextSeg, while pipe leaves room.
    pub(super) fn choose_from_board(&mut self) -> Option<u32> {
        if f64::from(self.pipe) + 1.0 > self.control.window {
            return None;
        }
        if let Some(seq) = self.board.next_lost(self.una) {
            self.board.retransmit(seq);
            return Some(seq);
        }
        if self.next < self.limit() {
            return Some(self.next);
        }
        if let Some(seq) = self.board.next_suspect(self.una) {
            self.board.retransmit(seq);
            return Some(seq);
        }
        let rescue = !self.rescued && !self.board.sacked(self.high - 1);
        self.rescued |= rescue;
        rescue.then(|| self.high - 1)
    }

    /// The number of segments that are known to have arrived since the last call.
    #[inline]
    pub(super) fn arrived(&mut self) -> u32 {
        let out_of_order = self.held_out_of_order();
        // Segments that the sender forgot at a timeout may be acknowledged a second time.
        let delivered = self.delivered.max(self.una + out_of_order);
        delivered - std::mem::replace(&mut self.delivered, delivered)
    }

    /// Segments that the receiver holds beyond a gap.
    #[inline]
    fn held_out_of_order(&self) -> u32 {
        self.board.len()
    }

    /// The header bits of a segment never sent before; a retransmission is not ECN-capable (RFC 3168 §6.1.5).
    #[inline]
    pub(super) fn fresh(&mut self) -> Flags {
        let cwr = std::mem::take(&mut self.cwr);
        self.fresh.with_if(cwr, Flags::CWR)
    }

    /// Whether an acknowledgement reports marks, as far as its header shows.
    #[inline]
    pub(super) fn reports_marks(&self, packet: &Packet) -> bool {
        match &self.count {
            Some(count) => count.shows_marks(packet),
            None => packet.flags.has(Flags::ECE) && self.options.ecn,
        }
    }

    /// Whether an acknowledgement that `arrived` packets caused reports marks, and how many for the controller.
    #[inline]
    pub(super) fn read_marks(&mut self, packet: &Packet, echoed: bool, arrived: u32) -> (bool, u32) {
        if self.count.is_some() {
            return self.read_counts(packet, arrived);
        }
        (echoed, if echoed && self.counts { arrived } else { 0 })
    }

    /// The same where the receiver counts them.
    #[inline(never)]
    fn read_counts(&mut self, packet: &Packet, arrived: u32) -> (bool, u32) {
        let Some(count) = &mut self.count else { return (false, 0) };
        let marks = count.read(packet, arrived, self.options.payload);
        if count.ends_ecn() {
            self.fresh = self.fresh.and(ACE);
        }
        (marks > 0, if self.counts { marks } else { 0 })
    }

    pub(super) fn on_echo(&mut self, now: Time, flight: f64, arrived: u32) {
        if self.phase == Phase::Open && self.una > self.marked {
            let (una, next) = (u64::from(self.una), u64::from(self.high));
            match self.options.echoes_once() && self.controller.marks() != Marks::Classic {
                true => self.controller.on_loss(&Loss { now, flight, una, next }),
                false => self.controller.on_ecn(&Ecn { now, flight, next }),
            }
            self.answer_echo();
            self.begin_reduction(arrived);
        }
    }

    /// The window was reduced: marks on the outstanding packets are not a new signal (RFC 3168 §6.1.2).
    pub(super) fn answer_echo(&mut self) {
        self.marked = self.high;
        self.cwr = self.options.ecn && self.count.is_none();
    }
}

/// The fields in a segment's header with its sender's response to marks.
pub(super) fn capability(options: &Options, marks: Marks) -> Flags {
    let capable = Flags::ECT.with_if(marks == Marks::Scalable && !options.echoes_once(), Flags::SCALABLE);
    match options.ecn_mode() {
        accecn::Ecn::None => Flags::default(),
        accecn::Ecn::Classic => capable,
        accecn::Ecn::Accurate => capable.with(accecn::unmarked()),
    }
}
