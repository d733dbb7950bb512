// SPDX-License-Identifier: Apache-2.0 OR MIT
//! YeAH-TCP as `tcp_yeah` of Linux 6.12 has it, in whole packets.
//!
//! ```text
//! once per round trip with at least three samples, of its least RTT:   Q = W (RTT - base) / RTT
//!   Q <= 80 and RTT - base <= base / 8:  fast
//!   else slow;  Q > 80 and W > Wr:  W = max(W - min(Q, W / 2), Wr),  S = W;   then  Wr = W / 2, or Wr + 1 if it is above 2
//! loss:   W -= max(min(Q, W / 2), W / 8);  W / 2 after 16 slow rounds in a row;   Wr = max(Wr / 2, 2)
//! a round begins when losses are repaired
//! ```
//!
//! All of it whole; times are microseconds, and one more. `Q` at a loss is that of the last round that decided.

use super::{ENOUGH_SAMPLES, Yeah};
use crate::cc::rounds::micros;
use crate::cc::window::FLOOR_AFTER_LOSS;
use crate::cc::{Ack, Loss, Timeout};

impl Yeah {
    pub(super) fn avoid_as_linux(&mut self, ack: &Ack) {
        if self.repaired.take_if(|end| ack.una >= *end).is_some() {
            self.rounds.begin(ack.next);
        }
        if ack.credit <= 0.0 {
            return;
        }
        let fast = self.slow_rounds == 0;
        let gain = if fast { (self.window.packets / self.params.scalable).max(1.0) } else { 1.0 };
        self.window.grow(ack, gain);
        if self.rounds.over(ack) {
            if self.rounds.samples >= ENOUGH_SAMPLES {
                self.decide_as_linux();
            }
            self.rounds.begin(ack.next);
        }
    }

    fn decide_as_linux(&mut self) {
        let Some(least) = self.rounds.least() else { return };
        let (rtt, base, window) = (micros(least), micros(self.rounds.base), self.window.packets);
        self.queue = libm::floor(window * (rtt - base) / rtt);
        let long = self.queue > self.params.max_queue;
        if !long && rtt - base <= libm::floor(base / self.params.phi) {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.params.forget_after {
                (self.fast_rounds, self.reno) = (0, FLOOR_AFTER_LOSS);
            }
            return;
        }
        if long && window > self.reno {
            let most = libm::floor(window * self.params.greatest_decrease);
            self.window.packets = (window - self.queue.min(most)).max(self.reno);
            self.window.ssthresh = self.window.packets;
        }
        let fresh = self.reno <= FLOOR_AFTER_LOSS;
        let half = libm::floor(self.window.packets / 2.0).max(FLOOR_AFTER_LOSS);
        self.reno = if fresh { half } else { self.reno + 1.0 };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }

    /// The window that a loss leaves.
    fn left_in_linux(&self) -> f64 {
        let whole = |part: f64| libm::floor(self.window.packets * part);
        let most = whole(self.params.greatest_decrease).max(FLOOR_AFTER_LOSS);
        let rivals = self.slow_rounds >= self.params.rivals_after;
        let queue = self.queue.min(most).max(whole(self.params.least_decrease));
        self.window.packets - if rivals { most } else { queue }
    }

    pub(super) fn answer_as_linux(&mut self, loss: &Loss) {
        self.window.reduce_to(self.left_in_linux());
        self.lose_as_linux(loss.next);
    }

    pub(super) fn restart_as_linux(&mut self, timeout: &Timeout) {
        let left = self.left_in_linux();
        self.window.restart(timeout, left);
        self.lose_as_linux(timeout.next);
    }

    fn lose_as_linux(&mut self, next: u64) {
        self.fast_rounds = 0;
        self.reno = libm::floor(self.reno / 2.0).max(FLOOR_AFTER_LOSS);
        self.repaired = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Params;
    use super::*;
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};
    use crate::units::Span;

    /// A window of this many packets on a path of 100 ms.
    fn avoiding(window: f64) -> Trace<Yeah> {
        let start = Start { version: Version::Linux, ..Start::avoiding(window) };
        let mut trace = Trace::new(Yeah::new(Params::default(), start));
        trace.controller.rounds.observe(Span::from_millis(100));
        trace.controller.rounds.begin(window as u64);
        trace
    }

    #[test]
    fn a_loss_gives_up_the_queue_of_the_last_decision() {
        let mut trace = avoiding(80.0);
        trace.controller.queue = 20.0;
        trace.rtt = Span::from_millis(160);
        (0..3).for_each(|_| trace.ack(Span::from_micros(100)));
        trace.loss();
        // 80 (1 - 100 / 160) = 30 packets wait by now.
        assert_eq!(trace.window(), 60.0);
    }

    #[test]
    fn a_round_begins_when_losses_are_repaired() {
        let mut trace = avoiding(40.0);
        trace.rtt = Span::from_millis(160);
        trace.controller.rounds.begin(1000);
        (0..3).for_each(|_| trace.ack(Span::from_micros(100)));
        trace.loss();
        let end = trace.controller.repaired.expect("losses to repair");
        while trace.controller.repaired.is_some() {
            assert_eq!(trace.controller.rounds.last, 1000);
            trace.ack(Span::from_micros(100));
        }
        assert!(trace.una >= end);
        assert!(trace.controller.rounds.last < 1000, "a round begins");
        assert_eq!(trace.controller.rounds.samples, 0, "without samples of the repair");
    }

    #[test]
    fn more_than_eighty_packets_are_given_up_and_renos_window_is_whole() {
        let mut trace = avoiding(301.0);
        trace.rtt = Span::from_millis(200);
        let last = trace.controller.rounds.last;
        while trace.una <= last {
            trace.ack(Span::from_micros(100));
        }
        // Of 304 packets, 3 of them gained, 151 wait: 304 (1 - 100001 / 200001), whole.
        assert_eq!((trace.window(), trace.controller.reno), (153.0, 76.0));
        assert_eq!(trace.controller.slow_rounds, 1);
    }
}
