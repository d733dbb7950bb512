// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Westwood+ as `tcp_westwood` of Linux 6.12 has it: whole bytes per tick of the kernel's clock.
//!
//! ```text
//! more than max(r, 50 ms) after the last sample:   b = bytes / ticks since then
//!     n <- (7 n + b) / 8,   B <- (7 B + n) / 8,  whole; the first sample sets both
//! loss:                  S = W = W / 2, whole, while it is repaired;   then  S = W = max(B · base / segment, 2)
//! timeout:               S = max(B · base / segment, 2), W = 1, and base is taken anew
//! ```
//!
//! `r` the last round trip, `base` the least: ticks. A duplicate counts as a segment, and the acknowledgement of what duplicates had
//! announced as much less, but at least as one.

use super::Westwood;
use crate::cc::window::FLOOR_AFTER_LOSS;
use crate::cc::{Ack, Timeout};
use crate::units::{Span, Time};

/// A tick where the kernel's clock has 250 a second.
const TICK: Span = Span::from_millis(4);
/// The base round trip before the first sample.
const UNKNOWN: Span = Span::from_secs(20);

/// The state that the kernel keeps: ticks and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    /// Bytes of a segment.
    segment: u64,
    /// n and B, in bytes per tick.
    first: u64,
    second: u64,
    /// Bytes since the last sample, and its time.
    bytes: u64,
    began: Option<Time>,
    /// Packets that duplicates announced.
    announced: u64,
    rtt: u64,
    base: u64,
    anew: bool,
    /// A reduction ends when this packet is acknowledged.
    repairs: Option<u64>,
}

/// Whole ticks.
fn ticks(span: Span) -> u64 {
    span.0 / TICK.0
}

impl Kernel {
    pub(super) fn new(segment: u32) -> Kernel {
        let unknown = ticks(UNKNOWN);
        Kernel {
            segment: u64::from(segment.max(1)),
            first: 0,
            second: 0,
            bytes: 0,
            began: None,
            announced: 0,
            rtt: unknown,
            base: unknown,
            anew: true,
            repairs: None,
        }
    }

    /// B in packets a second.
    pub(super) fn rate(&self) -> f64 {
        self.second as f64 / self.segment as f64 / TICK.as_secs_f64()
    }

    /// base.
    pub(super) fn base(&self) -> Span {
        TICK * self.base
    }

    /// The path's capacity without a queue, in packets.
    fn pipe(&self) -> f64 {
        ((self.second.saturating_mul(self.base) / self.segment) as f64).max(FLOOR_AFTER_LOSS)
    }

    fn sample(&mut self, now: Time, least: Span) {
        let began = *self.began.get_or_insert(now);
        let passed = (now.0 / TICK.0).saturating_sub(began.0 / TICK.0);
        if self.rtt == 0 || passed <= self.rtt.max(ticks(least)) {
            return;
        }
        let rate = self.bytes / passed;
        if (self.first, self.second) == (0, 0) {
            (self.first, self.second) = (rate, rate);
        } else {
            self.first = (7 * self.first + rate) / 8;
            self.second = (7 * self.second + self.first) / 8;
        }
        (self.bytes, self.began) = (0, Some(now));
    }

    /// Packets that an acknowledgement adds.
    fn counted(&mut self, acked: u64) -> u64 {
        if acked == 0 {
            self.announced += 1;
            return 1;
        }
        if acked == 1 {
            return 1;
        }
        let left = acked.checked_sub(self.announced).filter(|left| *left > 0);
        self.announced = if left.is_some() { 0 } else { self.announced - acked };
        left.unwrap_or(1)
    }

    fn hear(&mut self, ack: &Ack, least: Span) {
        self.sample(ack.now, least);
        self.bytes += self.counted(u64::from(ack.acked)) * self.segment;
        self.base = if core::mem::take(&mut self.anew) { self.rtt } else { self.base.min(self.rtt) };
        if let Some(rtt) = ack.rtt {
            self.rtt = ticks(rtt);
        }
    }

    /// A reduction begins.
    pub(super) fn reduce(&mut self, next: u64) {
        self.repairs = Some(next);
    }

    /// It was needless.
    pub(super) fn undo(&mut self) {
        self.repairs = None;
    }
}

impl Westwood {
    pub(super) fn avoid_as_linux(&mut self, mut kernel: Kernel, ack: &Ack) -> Kernel {
        kernel.hear(ack, self.params.least_interval);
        if !ack.recovering && kernel.repairs.take_if(|end| ack.una >= *end).is_some() {
            self.window.packets = kernel.pipe();
            self.window.ssthresh = self.window.packets;
        }
        self.window.grow(ack, 1.0);
        kernel
    }

    pub(super) fn restart_as_linux(&mut self, mut kernel: Kernel, timeout: &Timeout) -> Kernel {
        self.window.restart(timeout, kernel.pipe());
        (kernel.anew, kernel.repairs) = (true, None);
        kernel
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Params, Westwood};
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};
    use crate::units::{Span, Time};

    /// A packet each 10 ms for 20 s, with a round trip of 100 ms.
    fn steady(segment: u32) -> Trace<Westwood> {
        let start = Start { version: Version::Linux, segment, ..Start::avoiding(40.0) };
        let mut trace = Trace::new(Westwood::new(Params::default(), start));
        trace.rtt = Span::from_millis(100);
        (0..2000).for_each(|_| trace.ack(Span::from_millis(10)));
        trace
    }

    #[test]
    fn a_loss_halves_and_its_repair_ends_at_the_rate_times_the_base() {
        let mut trace = steady(1448);
        let before = trace.window();
        trace.loss();
        assert_eq!(trace.window(), libm::floor(before / 2.0));
        let next = trace.controller.kernel.unwrap().repairs.unwrap();
        while trace.una < next {
            trace.ack(Span::from_millis(10));
        }
        // 100 packets a second for 0.1 s, less what whole numbers lose.
        assert!((9.0..=11.0).contains(&trace.window()), "{}", trace.window());
    }

    #[test]
    fn whole_bytes_per_tick_hide_a_part_of_a_slow_rate() {
        // 19.2 bytes a tick arrive in small segments: 19 are counted, and each filter settles up to seven bytes below its input.
        let small = steady(48).controller.kernel.unwrap();
        let large = steady(1448).controller.kernel.unwrap();
        assert!(large.rate() > 97.0, "{}", large.rate());
        assert!((5.0 / 0.192..=19.0 / 0.192).contains(&small.rate()), "{}", small.rate());
    }

    #[test]
    fn a_filter_stays_below_a_rate_that_grew_by_less_than_a_byte_in_eight() {
        // (7 · 12 + 19) / 8 = 12, whole.
        let mut kernel = super::Kernel {
            rtt: 1,
            began: Some(Time::ZERO),
            first: 12,
            second: 12,
            ..super::Kernel::new(48)
        };
        kernel.bytes = 19 * 100;
        kernel.sample(Time::ZERO + super::TICK * 100, Span::ZERO);
        assert_eq!((kernel.first, kernel.second), (12, 12));
        kernel.bytes = 20 * 100;
        kernel.sample(Time::ZERO + super::TICK * 200, Span::ZERO);
        assert_eq!((kernel.first, kernel.second), (13, 12));
    }

    #[test]
    fn duplicates_announce_what_is_acknowledged_later() {
        let mut kernel = super::Kernel::new(100);
        let counted = [0, 0, 5, 0, 0, 0, 2, 4].map(|acked| kernel.counted(acked));
        assert_eq!(counted, [1, 1, 3, 1, 1, 1, 1, 3]);
    }
}
