// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compound TCP: Reno's window, and a second one that grows fast until a queue shows.
//!
//! K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-Speed and Long Distance Networks", INFOCOM 2006, §III; draft-sridharan-tcpm-ctcp.
//!
//! ```text
//! W = C + D
//! each packet acknowledged:  C += 1 / W;        W < S: C += 1 and D = 0
//! once per round trip:       diff = W (1 - base / rtt)
//!   diff < γ:                D += max(α W^k - 1, 0)
//!   diff >= γ:               D <- max(D - ζ diff, 0)
//! loss:                      D <- max((1 - β) W - C / 2, 0),  C <- C / 2
//! timeout:                   D = 0, C = 1
//! ```
//!
//! `W` window, `C` loss-based and `D` delay-based part of it, `S` slow-start threshold, `diff` packets in queues:
//! packets; α = 1/8, β = 1/2, k = 3/4, γ = 30, ζ = 1.
//!
//! Readings: `rtt` is the smallest sample of the round, as in the Linux port, which delayed acknowledgements do not move; a
//! round of fewer than three samples decides nothing. `D` grows below 38 packets, too (the draft stops it there; α W^k
//! passes 1 at 16). `D` does not change while something other than the window limits the sender. Where a shrinking `D` takes
//! `W` below `S`, `S` follows, so that slow start does not return without a timeout.

use alloc::vec::Vec;

use super::rounds::Rounds;
use super::window::{FLOOR_AFTER_LOSS, InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;

crate::settings! {
    /// Compound TCP's parameters.
    pub struct Params {
        /// The growth rate of the delay-based window.
        alpha: f64 = 0.125, 0.001..=10.0;
        /// The fraction by which a loss reduces the window.
        beta: f64 = 0.5, 0.01..=0.99;
        /// The power of the window that its growth follows; the paper ties 0.8 to HighSpeed TCP and takes 0.75.
        k: f64 = 0.75, 0.0..=1.0;
        /// The delay-based window shrinks while at least this many packets wait in the queue.
        gamma: f64 = 30.0, 0.0..=100000.0;
        /// The number of packets given up for each queued packet.
        zeta: f64 = 1.0, 0.0..=100.0;
    }
}

/// Samples without which a round decides nothing.
const ENOUGH_SAMPLES: u32 = 3;

/// A Compound TCP controller.
#[derive(Clone, Debug)]
pub struct Compound {
    params: Params,
    /// W and S.
    window: Window,
    /// D.
    delay_window: f64,
    rounds: Rounds,
    diff: f64,
}

impl Compound {
    /// The once-per-round decision of the delay-based window.
    fn decide(&mut self, limited: bool) {
        let Some(rtt) = self.rounds.least().filter(|_| self.rounds.samples >= ENOUGH_SAMPLES) else { return };
        let window = self.window.packets;
        self.diff = self.rounds.waiting(window, rtt);
        if self.window.slow_start() {
            return;
        }
        let change = if self.diff >= self.params.gamma {
            -self.params.zeta * self.diff
        } else if limited {
            (self.params.alpha * libm::pow(window, self.params.k) - 1.0).max(0.0)
        } else {
            0.0
        };
        let change = change.max(-self.delay_window);
        self.delay_window += change;
        self.window.packets = (window + change).max(FLOOR_AFTER_LOSS.min(window));
        self.window.ssthresh = self.window.ssthresh.min(self.window.packets);
    }
}

impl Controller for Compound {
    type Params = Params;

    fn new(params: Params, start: Start) -> Compound {
        Compound {
            params,
            window: Window::new(start, InLinux::Fractions),
            delay_window: 0.0,
            rounds: Rounds::new(),
            diff: 0.0,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        self.window.grow(ack, 1.0);
        if self.rounds.over(ack) && !ack.recovering {
            self.decide(ack.credit > 0.0);
            self.rounds.begin(ack.next);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let half = (self.window.packets - self.delay_window) / 2.0;
        self.window.reduce_to((loss.flight * (1.0 - self.params.beta)).max(half));
        self.delay_window = (self.window.packets - half).max(0.0);
        self.rounds.begin(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight * (1.0 - self.params.beta));
        self.delay_window = 0.0;
        self.rounds.begin(timeout.next);
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
            ("delay_window_packets", self.delay_window),
            ("base_rtt_ms", self.rounds.base_ms()),
            ("waiting_packets", self.diff),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::Span;

    /// A path of 100 ms in avoidance, with a first round about to end.
    fn avoiding(window: f64) -> Trace<Compound> {
        let start = Start::avoiding(window);
        let mut trace = Trace::new(Compound::new(Params::default(), start));
        trace.controller.rounds.begin(window as u64);
        trace.rtt = Span::from_millis(100);
        trace
    }

    /// Ends this round; by how much the delay-based window changed.
    fn step(trace: &mut Trace<Compound>) -> f64 {
        let before = trace.controller.delay_window;
        let last = trace.controller.rounds.last;
        while trace.una <= last {
            trace.ack(Span::from_millis(1));
        }
        trace.controller.delay_window - before
    }

    #[test]
    fn an_empty_queue_adds_an_eighth_of_the_power_three_quarters_less_one() {
        // 256 packets and the one that Reno gains: 256^0.75 / 8 - 1 = 7.
        let mut trace = avoiding(255.0);
        let gained = step(&mut trace);
        assert!((gained - 7.0).abs() < 0.02, "{gained}");
        assert!((trace.window() - 263.0).abs() < 0.03, "{}", trace.window());
        // 10 000 packets: 1000 / 8 - 1 = 124.
        assert!((step(&mut avoiding(9999.0)) - 124.0).abs() < 0.02);
        // Below 16 packets there is nothing to gain.
        assert_eq!(step(&mut avoiding(12.0)), 0.0);
    }

    #[test]
    fn it_gives_up_what_waits_in_the_queue_from_gamma_on_and_never_more_than_it_has() {
        let mut trace = avoiding(400.0);
        trace.controller.rounds.observe(Span::from_millis(100));
        trace.controller.rounds.begin(400);
        trace.controller.delay_window = 100.0;
        // 401 packets, 100 of 105 ms: 19 wait, which is fewer than 30.
        trace.rtt = Span::from_millis(105);
        assert!(step(&mut trace) > 0.0);
        // About 412, 100 of 110 ms: 37 wait.
        trace.rtt = Span::from_millis(110);
        let shrunk = step(&mut trace);
        assert!((shrunk + trace.controller.diff).abs() < 1e-9 && (shrunk + 37.5).abs() < 0.5, "{shrunk}");
        trace.rtt = Span::from_millis(200);
        let reno = trace.window() - trace.controller.delay_window;
        step(&mut trace);
        assert_eq!(trace.controller.delay_window, 0.0);
        assert!((trace.window() - reno - 1.0).abs() < 0.1, "{} after {reno}", trace.window());
        assert!(!trace.controller.window.slow_start());
    }

    #[test]
    fn a_loss_halves_both_and_a_timeout_leaves_reno_alone() {
        let mut trace = avoiding(100.0);
        trace.controller.delay_window = 40.0;
        trace.loss();
        // 100 / 2, of which 60 / 2 are Reno's.
        assert_eq!((trace.window(), trace.controller.delay_window), (50.0, 20.0));
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.delay_window), (1.0, 0.0));
        assert_eq!(trace.controller.window.ssthresh, 25.0);
    }
}
