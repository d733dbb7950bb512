// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Vegas's window as `tcp_vegas` of Linux 6.12 has it, in whole packets.
//!
//! ```text
//! once per round trip with at least three samples, of its least RTT:   diff = W (RTT - base) / base, whole
//! W < S:    diff > 1:  W = min(W, W base / RTT + 1),  S = min(S, W);   else W += acked, in every round
//! W >= S:   diff > 4:  W -= 1,  S = min(S, W);   diff < 2:  W += 1;   else W stays
//! then      W >= 2,  S >= W / 2 + W / 4, whole quarters
//! a round of fewer samples, and all until what was sent before a loss is acknowledged: as Reno
//! ```
//!
//! Times are microseconds, and one more. The first ends of a round after a loss or a timeout decide nothing.

use super::{Ack, Vegas};
use crate::cc::rounds::micros;

/// A round with at most this many samples may consist of delayed acknowledgements alone.
const TOO_FEW: u32 = 2;

impl Vegas {
    pub(super) fn avoid_as_linux(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        if self.suspended.take_if(|end| ack.una >= *end).is_some() {
            self.rounds.begin(ack.next);
        }
        if self.suspended.is_some() {
            return self.window.grow(ack, 1.0);
        }
        if !self.rounds.over(ack) {
            return self.start(ack);
        }
        if self.rounds.samples > TOO_FEW {
            self.decide_as_linux(ack);
        } else {
            self.window.grow(ack, 1.0);
        }
        self.rounds.begin(ack.next);
    }

    /// Slow start, and nothing beyond it.
    fn start(&mut self, ack: &Ack) {
        if self.window.slow_start() {
            self.window.grow(ack, 0.0);
        }
    }

    fn decide_as_linux(&mut self, ack: &Ack) {
        let Some(rtt) = self.rounds.least() else { return };
        let (rtt, base, before) = (micros(rtt), micros(self.rounds.base), self.window.packets);
        self.diff = libm::floor(before * (rtt - base) / base);
        if self.window.slow_start() && self.diff <= self.gamma {
            self.start(ack);
        } else if self.window.slow_start() {
            self.window.packets = before.min(libm::floor(before * base / rtt) + 1.0);
            self.window.ssthresh = self.window.ssthresh.min(self.window.packets);
        } else if self.diff > self.rules.beta {
            self.window.packets = before - 1.0;
            self.window.ssthresh = self.window.ssthresh.min(self.window.packets);
        } else if self.diff < self.rules.alpha {
            self.window.packets = before + 1.0;
        }
        self.window.packets = self.window.packets.max(self.min_window);
        let quarters = libm::floor(self.window.packets / 2.0) + libm::floor(self.window.packets / 4.0);
        self.window.ssthresh = self.window.ssthresh.max(quarters);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::Params;
    use super::*;
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};
    use crate::units::Span;

    /// A window on a path of 100 ms after its first round.
    fn trace(window: f64, ssthresh: f64) -> Trace<Vegas> {
        let start = Start { initial_ssthresh: ssthresh, version: Version::Linux, ..Start::new(window) };
        let mut trace = Trace::new(Vegas::new(Params::default(), start));
        trace.rtt = Span::from_millis(100);
        trace.ack(Span::from_millis(1));
        trace
    }

    /// The change by a round in which the least RTT is 100 ms plus this, and all others are 40 ms longer.
    fn changed(window: f64, queueing: u64) -> f64 {
        let mut trace = trace(window, 2.0);
        let before = trace.window();
        let last = trace.controller.rounds.last;
        while trace.una <= last {
            let late = if trace.una.is_multiple_of(2) { 40 } else { 0 };
            trace.rtt = Span::from_millis(100 + queueing + late);
            trace.ack(Span::from_millis(1));
        }
        trace.window() - before
    }

    #[test]
    fn the_least_round_trip_decides_between_two_and_four_packets() {
        // 40 · 4 / 100 = 1.6, 40 · 6 / 100 = 2.4, 40 · 12 / 100 = 4.8 and 40 · 13 / 100 = 5.2 packets, whole; delayed ones do not count.
        assert_eq!([0, 4, 6, 12, 13].map(|queueing| changed(40.0, queueing)), [1.0, 1.0, 0.0, 0.0, -1.0]);
    }

    #[test]
    fn slow_start_doubles_every_round_and_ends_at_the_actual_rate() {
        let mut fresh = trace(2.0, f64::INFINITY);
        let windows: Vec<f64> = (0..4).map(|_| fresh.round_trip()).collect();
        assert!(windows.windows(2).all(|pair| pair[1] == 2.0 * pair[0]), "{windows:?}");
        fresh.rtt = Span::from_millis(125);
        // The current round has samples of 100 ms; the next has none.
        let mut before = fresh.window();
        while fresh.controller.window.slow_start() {
            before = fresh.window();
            fresh.ack(Span::from_millis(1));
        }
        // Four fifths, and one.
        assert_eq!(fresh.window(), libm::floor(0.8 * before) + 1.0);
        assert_eq!(fresh.controller.window.ssthresh, fresh.window());
    }

    #[test]
    fn a_loss_halves_and_reno_goes_on_until_what_was_sent_before_is_acknowledged() {
        let mut lossy = trace(40.0, 2.0);
        lossy.round_trip();
        let before = lossy.window();
        lossy.loss();
        assert_eq!(lossy.window(), libm::floor(before / 2.0));
        assert!(lossy.controller.suspended.is_some());
        (0..60).for_each(|_| lossy.ack(Span::from_millis(1)));
        assert!(lossy.controller.suspended.is_none());
    }
}
