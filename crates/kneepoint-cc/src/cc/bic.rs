// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BIC: a binary search for the window of the last loss, then a probe beyond it, never more than a step at a time.
//!
//! L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", INFOCOM 2004, §III; constants as in Linux.
//!
//! ```text
//! packets gained per round trip:
//!   1                                  W <= low                  Reno
//!   max_step                           d > max_step              d = (Wmax - W) / B:   additive increase
//!   d                                  1 < d <= max_step                               binary search
//!   min_step                           d <= 1 or W < Wmax + B                          close to Wmax, on both sides
//!   min((W - Wmax) / (B - 1), max_step)                          W >= Wmax + B         probing for a new Wmax
//!   never less than W / 20 before the first loss
//! loss:  Wmax = W, or W (1 + b) / 2 where W < Wmax;  S = W = b W, or W / 2 where W <= low
//! timeout: S likewise; then Wmax is unknown, as before the first loss
//! ```
//!
//! `W` window, `Wmax` window of the last loss, `S` slow-start threshold, `low` = 14, `max_step` = 16, `min_step` = 0.2:
//! packets; `B` = 4; `b` = 819/1024 is the fraction that a loss leaves.
//!
//! Readings: the paper searches in halves, B = 2, with Smax = 32, Smin = 0.01 and b = 7/8; Linux, whose numbers
//! these are, in quarters, and gives 20 round trips to the last B packets, which is min_step = B / 20. The paper's
//! slow start beyond Wmax is Linux's probe.
//!
//! Departures: Linux divides whole numbers, by which the last steps begin up to 8 packets below Wmax instead of B;
//! here all are real numbers. Its rule for delayed acknowledgements is left out, as packets are counted here and not
//! acknowledgements.
//!
//! On Linux hosts as `tcp_bic` of Linux 6.12 (`bic/linux.rs`), in whole numbers and with that rule, which doubles the growth.

use alloc::vec::Vec;

use super::steady::{Losses, ResponseFunction, solve};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;

use linux::Steps;

mod linux;

crate::settings! {
    /// BIC's parameters.
    pub struct Params {
        /// Smax: packets gained per round trip at most; the paper's is 32.
        max_step: f64 = 16.0, 0.1..=1000000.0;
        /// Smin: packets gained per round trip close to the window of the last loss; the paper's is 0.01.
        min_step: f64 = 0.2, 0.001..=1.0;
        /// B: each round trip goes this part of the way to the window of the last loss; the paper's is 2.
        search: f64 = 4.0, 1.5..=64.0;
        /// The fraction of the window that a loss leaves; the paper's is 0.875.
        beta: f64 = 0.7998046875, 0.01..=0.99;
        /// Up to this window BIC behaves as Reno, in packets.
        low_window: f64 = 14.0, 0.0..=100000.0;
        /// Give way after a loss below the window of the loss before.
        fast_convergence: bool = true;
    }
}

/// Gained per round trip at least, as a fraction of the window, before the first loss.
const GAIN_BEFORE_LOSS: f64 = 1.0 / 20.0;

/// A BIC controller.
#[derive(Clone, Debug)]
pub struct Bic {
    params: Params,
    window: Window,
    /// Wmax; zero before the first loss and after a timeout.
    w_max: f64,
    /// 1 / B and 1 / (B - 1): a product costs an acknowledgement less than a quotient.
    per_search: (f64, f64),
    /// On Linux hosts.
    linux: Option<Steps>,
}

impl Bic {
    /// Packets gained per round trip.
    #[inline]
    fn step(&self) -> f64 {
        let Params { max_step, min_step, search, low_window, .. } = self.params;
        let window = self.window.packets;
        if window <= low_window {
            return 1.0;
        }
        let below = self.w_max - window;
        let step = if below > search {
            (below * self.per_search.0).min(max_step)
        } else if below > -search {
            min_step
        } else {
            (-below * self.per_search.1).min(max_step)
        };
        if self.w_max == 0.0 { step.max(GAIN_BEFORE_LOSS * window) } else { step }
    }

    /// Whole packets, on Linux hosts.
    fn counted(&self, packets: f64) -> f64 {
        if self.linux.is_some() { libm::floor(packets) } else { packets }
    }

    /// The window after a loss at `flight` packets.
    fn reduced(&self, flight: f64) -> f64 {
        flight * if flight <= self.params.low_window { 0.5 } else { self.params.beta }
    }
}

/// Packets and round trips from the loss at `w_max` to the return there, in continuous time.
fn cycle(params: &Params, w_max: f64) -> (f64, f64) {
    let Params { max_step, min_step, search, beta, .. } = *params;
    let far = (1.0 - beta) * w_max;
    let middle = far.min(search * max_step);
    let near = middle.min(search);
    // From `far` to `middle` below Wmax at the greatest step, to `near` by the search, then at the least step.
    let additive = (far - middle) / max_step;
    let searching = search * libm::log(middle / near);
    let closing = near / min_step;
    let round_trips = additive + searching + closing;
    let below = additive * 0.5 * (far + middle) + search * (middle - near) + closing * 0.5 * near;
    (w_max * round_trips - below, round_trips)
}

impl Controller for Bic {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "derived, as in INFOCOM 2004 §III, with Linux's constants",
        formula: "the cycle from b Wmax to Wmax that carries 1 / p packets",
        settings: &[("fast_convergence", "false")],
        losses: Losses::Periodic,
        window: |p, _| {
            let w_max = solve(1.0 / p, |w_max| cycle(&Params::default(), w_max).0);
            1.0 / p / cycle(&Params::default(), w_max).1
        },
        rates: &[1e-3, 1e-4, 1e-5],
        within: 0.005,
        because: "packets are counted one by one",
    }];

    fn new(params: Params, start: Start) -> Bic {
        let per_search = (1.0 / params.search, 1.0 / (params.search - 1.0));
        let linux = (start.version == Version::Linux).then(Steps::default);
        Bic { params, window: Window::new(start, InLinux::WholeLeft), w_max: 0.0, per_search, linux }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(mut steps) = self.linux {
            steps.observe(ack);
            self.window.grow_for_each(ack, |window| steps.each(&self.params, window, self.w_max, ack.now));
            self.linux = Some(steps);
            return;
        }
        // However large the step, an acknowledged packet adds no more than one.
        let step = self.step().min(self.window.packets);
        self.window.grow(ack, step);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let window = self.window.packets;
        let gives_way = self.params.fast_convergence && window < self.w_max;
        self.w_max = self.counted(if gives_way { window * (1.0 + self.params.beta) / 2.0 } else { window });
        self.window.reduce_to(self.reduced(loss.flight));
        if let Some(steps) = &mut self.linux {
            steps.suspend(loss.next);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, self.reduced(timeout.flight));
        self.w_max = 0.0;
        self.linux = self.linux.map(|_| Steps::default());
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("w_max_packets", self.w_max), ("step_packets_per_rtt", self.step())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::Span;

    fn avoiding(window: f64) -> Trace<Bic> {
        let start = Start::avoiding(window);
        Trace::new(Bic::new(Params::default(), start))
    }

    /// The step at a window with `Wmax` 1000.
    fn step_at(window: f64) -> f64 {
        let mut trace = avoiding(window);
        trace.controller.w_max = 1000.0;
        trace.controller.step()
    }

    #[test]
    fn the_step_is_large_far_from_the_last_loss_and_small_close_to_it() {
        // 1000 - 64 = 936, from which a quarter of the distance is 16 packets.
        for (window, step) in [
            (800.0, 16.0),
            (936.0, 16.0),
            (960.0, 10.0),
            (992.0, 2.0),
            (996.0, 0.2),
            (1000.0, 0.2),
            (1003.9, 0.2),
            (1006.0, 2.0),
            (1030.0, 10.0),
            (1048.0, 16.0),
            (2000.0, 16.0),
        ] {
            assert!((step_at(window) - step).abs() < 1e-9, "{window}: {}", step_at(window));
        }
    }

    #[test]
    fn a_loss_leaves_80_percent_and_the_window_climbs_back_as_computed() {
        let mut trace = avoiding(1000.0);
        trace.loss();
        assert!((trace.window() - 1000.0 * 819.0 / 1024.0).abs() < 1e-9);
        assert_eq!(trace.controller.w_max, 1000.0);
        // 136.2 packets at 16 a round trip are 8.5, from 64 to 4 packets below takes 4 ln 16 = 11.1, the last four 20.
        let round_trips = (1..).find(|_| trace.round_trip() >= 1000.0).unwrap();
        assert!((38..=42).contains(&round_trips), "{round_trips}");
    }

    #[test]
    fn a_second_loss_at_a_smaller_window_gives_way() {
        let mut trace = avoiding(1000.0);
        trace.loss();
        let before = trace.window();
        trace.loss();
        assert!((trace.controller.w_max - before * (1.0 + 819.0 / 1024.0) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn before_the_first_loss_a_round_trip_gains_a_twentieth_at_least() {
        let mut trace = avoiding(1000.0);
        trace.ack(Span::from_millis(1));
        assert!((trace.window() - 1000.05).abs() < 1e-9);
    }

    #[test]
    fn up_to_14_packets_it_is_reno() {
        let mut trace = avoiding(14.0);
        trace.ack(Span::from_millis(1));
        assert!((trace.window() - (14.0 + 1.0 / 14.0)).abs() < 1e-9);
        let mut small = avoiding(10.0);
        small.loss();
        assert_eq!(small.window(), 5.0);
    }

    #[test]
    fn a_timeout_forgets_the_window_of_the_last_loss() {
        let mut trace = avoiding(1000.0);
        trace.loss();
        let before = trace.window();
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.w_max), (1.0, 0.0));
        assert!((trace.controller.window.ssthresh - before * 819.0 / 1024.0).abs() < 1e-9);
    }
}
