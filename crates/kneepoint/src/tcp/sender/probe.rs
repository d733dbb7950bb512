// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sender whose recovery goes by time: RACK's losses and tail loss probes (RFC 8985).

use super::{Phase, Sender};
use crate::cc::Loss;
use crate::tcp::rack::Rack;
use crate::units::Time;

/// What a wake-up led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Nothing that a controller would hear of.
    Idle,
    /// A repair begins.
    Repair,
    /// The retransmission timer expired.
    Timeout,
}

impl Sender {
    /// When something may be lost, or a probe is due.
    #[inline(never)]
    pub(super) fn next_look(&self, rack: &Rack) -> Time {
        let probe =
            if self.phase == Phase::Open { rack.probe_due(self.rtt.smoothed(), &self.options) } else { None };
        rack.due().unwrap_or(Time::NEVER).min(probe.unwrap_or(Time::NEVER))
    }

    /// Looks for losses by the time, and sends a probe if one is due.
    pub(super) fn look(&mut self, now: Time) -> Woken {
        let srtt = self.rtt.smoothed();
        let repairing = self.phase != Phase::Open;
        let Some(rack) = &mut self.rack else { return Woken::Idle };
        if rack.due().is_some_and(|due| due <= now) {
            rack.on_due(now, srtt, repairing, &self.options);
            if self.should_repair() {
                self.repair(now, self.flight(), 0);
                self.control = self.controller.control();
                self.shrink(0, false);
                return Woken::Repair;
            }
        } else if self.phase == Phase::Open
            && rack.probe_due(srtt, &self.options).is_some_and(|due| due <= now)
        {
            self.probe(now);
        }
        Woken::Idle
    }

    /// Whether a probe leaves in the place of the timer's retransmission: the timer starts again (RFC 8985 §7.3).
    pub(super) fn probe_goes_first(&mut self, now: Time) -> bool {
        let open = self.phase == Phase::Open;
        let probes = |rack: &Rack| rack.probe_due(self.rtt.smoothed(), &self.options).is_some();
        let first = open && self.rack.as_deref().is_some_and(probes);
        if first {
            self.probe(now);
        }
        first
    }

    /// A new segment if there is one, whatever the window, else the last one again.
    fn probe(&mut self, now: Time) {
        let new = self.next < self.limit();
        if let Some(rack) = &mut self.rack {
            rack.send_probe(new);
        }
        self.timer = now + self.rtt.timeout();
    }

    /// The last segment had been lost, and its probe repaired that (RFC 8985 §7.4.2).
    #[cold]
    pub(super) fn answer_probe(&mut self, now: Time, flight: f64) {
        if self.phase == Phase::Open {
            let (una, next) = (u64::from(self.una), u64::from(self.high));
            self.controller.on_loss(&Loss { now, flight, una, next });
            self.answer_echo();
        }
    }

    /// The next segment: what is lost, then new data.
    #[inline(never)]
    pub(super) fn choose_by_time(&mut self) -> Option<u32> {
        let limit = self.limit();
        let rack = self.rack.as_mut()?;
        if !rack.is_forced() && f64::from(rack.pipe()) + 1.0 > self.control.window {
            return None;
        }
        rack.next_lost().or(Some(self.next)).filter(|seq| *seq < limit)
    }

    /// A segment was sent.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, seq: u32, again: bool, now: Time) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(seq, now);
        }
        if again && seq == self.una {
            self.timer = now + self.rtt.timeout();
        }
    }
}
