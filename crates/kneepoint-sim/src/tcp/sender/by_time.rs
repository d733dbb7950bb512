// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sender with time-based recovery, like Linux's ([`Rack`]).
//!
//! The recovery has the outstanding data and the timer; here it is combined with data, controller and pace.

use super::{ENDLESS, Heard, Phase, Segment, Sender};
use crate::cc::Ack;
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::tcp::rack::{Lent, Rack, Woken};
use crate::units::Time;

impl Sender {
    /// The recovery, and the rest of the sender for it.
    #[inline]
    pub(super) fn lend(&mut self, now: Time) -> Option<(&mut Rack, Lent<'_>)> {
        let Sender { rack, controller, control, rtt, options, total, .. } = self;
        let rack = rack.as_deref_mut()?;
        Some((rack, Lent { now, options, controller, control, rtt, total: *total }))
    }

    /// The recovery, if it is time-based.
    #[cfg(test)]
    pub(in crate::tcp) fn recovery(&self) -> Option<&Rack> {
        self.rack.as_deref()
    }

    #[inline(never)]
    pub(super) fn hear_by_time(&mut self, packet: &Packet, now: Time, rng: &mut Rng) -> Heard {
        if matches!(self.phase, Phase::Opening { .. } | Phase::Done) {
            return Heard::default();
        }
        // Linux `tcp_rate_check_app_limited`: there is nothing to send.
        let limited = self.next >= self.total && !self.window_is_full() && !self.is_paced();
        let echoed = self.reports_marks(packet);
        let Some((rack, mut host)) = self.lend(now) else { return Heard::default() };
        let told = rack.on_ack(packet, echoed, &mut host);
        let one_way = host.options.timestamps.then(|| packet.lag.span());
        if !told.silent {
            let (reported, marked) = self.read_marks(packet, echoed, told.delivered);
            let Some((recovery, mut rest)) = self.lend(now) else { return Heard::default() };
            let credit = if reported && !echoed { 0.0 } else { told.credit };
            let signal = Ack {
                now,
                rtt: told.rtt,
                one_way,
                acked: told.acked,
                delivered: recovery.delivered(),
                resent: u64::from(recovery.losses()),
                marked,
                limited,
                credit,
                una: u64::from(recovery.una()),
                next: u64::from(recovery.high()),
                in_flight: recovery.pipe(),
                recovering: recovery.recovering(),
            };
            rest.controller.on_ack(&signal, rng);
            if reported && !echoed {
                // Its header shows no mark, and so many packets have arrived that its count may have cycled.
                recovery.enter_cwr(&mut rest);
            }
            recovery.settle(&told, &mut rest);
        }
        let acked = self.bytes_between(self.una, self.una + told.acked);
        self.follow();
        let done = self.finish_if_done();
        let drained = self.una >= self.total && !done && told.acked > 0;
        Heard { acked, rtt: told.rtt, one_way, repair: told.repair, done, drained }
    }

    /// Changes by the recovery, for the rest of the sender.
    #[inline]
    pub(super) fn follow(&mut self) {
        let Some(rack) = self.rack.as_deref() else { return };
        (self.una, self.high, self.next) = (rack.una(), rack.high(), rack.high());
        self.timer = rack.wakeup();
        self.cwr = rack.answers() && self.options.ecn && self.count.is_none();
    }

    /// The timer expired.
    pub(super) fn wake_by_time(&mut self, now: Time) -> Woken {
        let Some((rack, mut host)) = self.lend(now) else { return Woken::Idle };
        let woken = rack.on_timer(&mut host);
        self.follow();
        woken
    }

    /// [`poll`](Sender::poll) for recovery by time.
    #[inline(never)]
    pub(super) fn poll_by_time(&mut self, now: Time) -> Option<Segment> {
        if self.pace > now && self.burst == 0 {
            return None;
        }
        if let Phase::Opening { sent, rounds, lost } = self.phase {
            return if sent { None } else { self.poll_syn(now, rounds, lost) };
        }
        let (rack, mut host) = self.lend(now)?;
        let Some(seq) = rack.choose(&mut host) else {
            self.burst = 0;
            self.follow();
            return self.poll_window_probe();
        };
        rack.on_sent(seq, &mut host);
        self.timer = rack.wakeup();
        let again = seq < self.high;
        if again {
            self.resent += 1;
        } else {
            (self.next, self.high) = (seq + 1, seq + 1);
        }
        Some(self.leave(seq, again, now))
    }

    /// A probe of a closed window, if one is due.
    fn poll_window_probe(&mut self) -> Option<Segment> {
        let due = self.rack.as_deref_mut().is_some_and(Rack::take_window_probe);
        let (seq, size) = (self.una.saturating_sub(1), self.options.header.0 as u16);
        due.then_some(Segment { seq, size, flags: Flags::PROBE })
    }

    /// Data was written.
    pub(super) fn note_written(&mut self, now: Time) {
        debug_assert!(self.total < ENDLESS, "what has no end is not written");
        if let Some((rack, mut host)) = self.lend(now) {
            rack.on_write(&mut host);
        }
    }
}
