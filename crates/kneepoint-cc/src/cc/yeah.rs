// SPDX-License-Identifier: Apache-2.0 OR MIT
//! YeAH-TCP: grows like Scalable TCP while the queue is short, and else like Reno, emptying the queue it made.
//!
//! A. Baiocchi, A. P. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007, §2; constants as in Linux.
//!
//! ```text
//! once per round trip:  Q = W (1 - base / rtt),  L = (rtt - base) / base
//!   Q <= Qmax and L <= 1/φ:  fast: W += max(1, W / 100) a round trip
//!   else:                    slow: W += 1 a round trip; and
//!     Q > Qmax and W > Wr:   W <- max(W - min(Q, W / 2), Wr),  S = W      decongestion
//!     Wr = W / 2 in the first slow round, then Wr += 1 each;  50 fast rounds forget it
//! loss: W -= Q, but at least W / 8 and at most W / 2, S = W;   W / 2 after 16 slow rounds in a row;   Wr <- Wr / 2
//! ```
//!
//! `W` window, `S` slow-start threshold, `Q` packets in queues, Qmax = 80, `Wr` what a Reno flow in the same queue
//! would have: packets; `rtt` the round's smallest round-trip time, `base` the smallest of all; φ = 8.
//! A greedy rival keeps the queue full, so decongestion brings `W` down to `Wr` and there YeAH competes as Reno.
//!
//! Readings: as in Linux, a round of fewer than three samples decides nothing, and Scalable's gain is never below
//! Reno's. At a loss Q is the one of the round that is under way, once it has three samples, for slow start doubles the
//! queue in a round. On Linux hosts as `tcp_yeah` of Linux 6.12 (`yeah/linux.rs`): it is the previous round's, of the whole window, so slow start gives up an
//! eighth, and its overshoot stays.

use alloc::vec::Vec;

use super::rounds::Rounds;
use super::window::{FLOOR_AFTER_LOSS, InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::Span;

mod linux;

crate::settings! {
    /// YeAH-TCP's parameters.
    pub struct Params {
        /// Packets that may wait in the queue before the window is reduced.
        max_queue: f64 = 80.0, 1.0..=100000.0;
        /// φ: the part of the base round-trip time that queueing may add in fast mode is one of so many.
        phi: f64 = 8.0, 0.1..=1000.0;
        /// The window gains its own size over this in a round of fast mode.
        scalable: f64 = 100.0, 1.0..=100000.0;
        /// The least fraction of the window that a loss takes off.
        least_decrease: f64 = 0.125, 0.01..=0.5;
        /// The fraction by which a loss reduces the window where Reno flows compete, and decongestion at most.
        greatest_decrease: f64 = 0.5, 0.5..=0.99;
        /// Slow rounds in a row that mean that Reno flows compete.
        rivals_after: u32 = 16, 1..=100000;
        /// Fast rounds after which Reno's window is forgotten.
        forget_after: u32 = 50, 1..=100000;
    }
}

/// Samples without which a round decides nothing.
const ENOUGH_SAMPLES: u32 = 3;

/// A YeAH-TCP controller.
#[derive(Clone, Debug)]
pub struct Yeah {
    params: Params,
    window: Window,
    rounds: Rounds,
    /// Q at the end of the previous round.
    queue: f64,
    /// Wr; two packets without competing traffic.
    reno: f64,
    /// Slow rounds in a row; none in fast mode.
    slow_rounds: u32,
    /// Fast rounds since the last loss.
    fast_rounds: u32,
    linux: bool,
    /// On Linux hosts: a round begins when this packet is acknowledged.
    repaired: Option<u64>,
}

impl Yeah {
    /// The round's least round-trip time, and Q by it.
    fn measure(&mut self) -> Option<Span> {
        let rtt = self.rounds.least().filter(|_| self.rounds.samples >= ENOUGH_SAMPLES)?;
        self.queue = self.rounds.waiting(self.window.packets, rtt);
        Some(rtt)
    }

    /// The once-per-round decision between the modes.
    fn decide(&mut self) {
        let Some(rtt) = self.measure() else { return };
        let window = self.window.packets;
        let long = self.queue > self.params.max_queue;
        let late =
            rtt.saturating_sub(self.rounds.base).0 as f64 > self.rounds.base.0 as f64 / self.params.phi;
        if long || late {
            if long && window > self.reno {
                let most = window * self.params.greatest_decrease;
                self.window.reduce_to((window - self.queue.min(most)).max(self.reno));
            }
            let fresh = self.reno <= FLOOR_AFTER_LOSS;
            self.reno =
                if fresh { (self.window.packets / 2.0).max(FLOOR_AFTER_LOSS) } else { self.reno + 1.0 };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds > self.params.forget_after {
                self.fast_rounds = 0;
                self.reno = FLOOR_AFTER_LOSS;
            }
        }
    }

    /// The part of `flight` that a loss leaves.
    fn left(&mut self, flight: f64) -> f64 {
        self.measure();
        let flight = flight.min(self.window.packets);
        let most = flight * self.params.greatest_decrease;
        let rivals = self.slow_rounds >= self.params.rivals_after;
        flight - if rivals { most } else { self.queue.clamp(flight * self.params.least_decrease, most) }
    }

    fn lost(&mut self, next: u64) {
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(FLOOR_AFTER_LOSS);
        self.rounds.begin(next);
    }
}

impl Controller for Yeah {
    type Params = Params;

    fn new(params: Params, start: Start) -> Yeah {
        Yeah {
            params,
            window: Window::new(start, InLinux::WholeTaken),
            rounds: Rounds::new(),
            queue: 0.0,
            reno: FLOOR_AFTER_LOSS,
            slow_rounds: 0,
            fast_rounds: 0,
            linux: start.version == Version::Linux,
            repaired: None,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        if self.linux {
            return self.avoid_as_linux(ack);
        }
        let fast = self.slow_rounds == 0;
        let gain = if fast { (self.window.packets / self.params.scalable).max(1.0) } else { 1.0 };
        self.window.grow(ack, gain);
        if self.rounds.over(ack) && !ack.recovering {
            self.decide();
            self.rounds.begin(ack.next);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        if self.linux {
            return self.answer_as_linux(loss);
        }
        let left = self.left(loss.flight);
        self.window.reduce_to(left);
        self.lost(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if self.linux {
            return self.restart_as_linux(timeout);
        }
        let ssthresh = self.left(timeout.flight);
        self.window.restart(timeout, ssthresh);
        self.lost(timeout.next);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("base_rtt_ms", self.rounds.base_ms()),
            ("waiting_packets", self.queue),
            ("reno_window_packets", self.reno),
            ("slow_rounds", f64::from(self.slow_rounds)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// A window of `window` packets on a path of 100 ms at the beginning of its first round.
    fn avoiding(window: f64) -> Trace<Yeah> {
        let start = Start::avoiding(window);
        let mut trace = Trace::new(Yeah::new(Params::default(), start));
        trace.controller.rounds.observe(Span::from_millis(100));
        trace.controller.rounds.begin(window as u64);
        trace.rtt = Span::from_millis(100);
        trace
    }

    /// Ends this round, of which `queueing` milliseconds are queueing delay, and returns the next window.
    fn round(trace: &mut Trace<Yeah>, queueing: u64) -> f64 {
        trace.rtt = Span::from_millis(100 + queueing);
        let last = trace.controller.rounds.last;
        while trace.una <= last {
            trace.ack(Span::from_micros(100));
        }
        trace.window()
    }

    #[test]
    fn fast_mode_gains_a_hundredth_and_slow_mode_a_packet() {
        let mut fast = avoiding(1000.0);
        let gained = round(&mut fast, 0) - 1000.0;
        assert!((gained - 10.0).abs() < 0.1, "{gained}");
        // A fifth of the base round-trip time, but only 17 packets: slow mode, without a reduction.
        let mut slow = avoiding(100.0);
        round(&mut slow, 20);
        let before = slow.window();
        let after = round(&mut slow, 20);
        assert!((after - before - 1.0).abs() < 0.05, "{before} to {after}");
        assert_eq!(slow.controller.slow_rounds, 2);
    }

    #[test]
    fn more_than_eighty_packets_in_the_queue_are_given_up() {
        // 1000 packets and the ten gained, 100 of 110 ms: 91.9 wait.
        let mut trace = avoiding(1000.0);
        let left = round(&mut trace, 10);
        assert!((left - 1010.0 * 100.0 / 110.0).abs() < 0.2, "{left}");
        assert!((trace.controller.reno - left / 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_queue_that_stays_brings_the_window_down_to_renos() {
        let mut trace = avoiding(1000.0);
        for _ in 0..10 {
            round(&mut trace, 100);
        }
        let reno = trace.controller.reno;
        assert!((trace.window() - reno).abs() < 3.0, "{} and {reno}", trace.window());
        // And there it grows with it.
        let before = trace.window();
        assert!((round(&mut trace, 100) - before - 1.0).abs() < 0.1);
    }

    #[test]
    fn a_loss_takes_off_the_queue_within_an_eighth_and_a_half() {
        let left = |queue, slow_rounds| {
            let mut trace = avoiding(800.0);
            trace.controller.queue = queue;
            trace.controller.slow_rounds = slow_rounds;
            trace.loss();
            trace.window()
        };
        assert_eq!(
            [left(10.0, 0), left(200.0, 3), left(700.0, 3), left(10.0, 16)],
            [700.0, 600.0, 400.0, 400.0]
        );
    }

    #[test]
    fn fifty_fast_rounds_forget_renos_window() {
        let mut trace = avoiding(20.0);
        trace.controller.reno = 12.0;
        for _ in 0..50 {
            round(&mut trace, 0);
        }
        assert_eq!(trace.controller.reno, 12.0);
        round(&mut trace, 0);
        assert_eq!(trace.controller.reno, 2.0);
    }
}
