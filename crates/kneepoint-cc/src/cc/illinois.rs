// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP-Illinois: loss decides when the window turns, queueing delay how fast it grows and how far it falls.
//!
//! S. Liu, T. Başar, R. Srikant, "TCP-Illinois: A Loss and Delay-Based Congestion Control Algorithm for High-Speed Networks", VALUETOOLS 2006; constants as in Linux.
//!
//! ```text
//! once per round trip, of its mean RTT:    da = mean RTT - least RTT,   dm = greatest RTT - least RTT
//!   d1 = η1 dm      d2 = η2 dm      d3 = η3 dm
//!   α = αmax                da <= d1         k1 = (dm - d1) αmin αmax / (αmax - αmin)
//!       k1 / (k2 + da)      elsewhere        k2 = (dm - d1) αmin / (αmax - αmin) - d1
//!   β = βmin                da <= d2         k3 = (βmin d3 - βmax d2) / (d3 - d2)
//!       k3 + k4 da          d2 < da < d3     k4 = (βmax - βmin) / (d3 - d2)
//!       βmax                da >= d3
//!   α = 1, β = 1/2          W < Wthresh
//! W < S:   W += acked              W >= S:  W += α · acked / W
//! loss:    S = W = (1 - β) W       timeout: S = (1 - β) W, W = 1, then α = 1, β = 1/2
//! ```
//!
//! `W` window, `S` slow-start threshold, `Wthresh`: packets; `da`, `dm`, `d1 d2 d3` queueing delays: time; `α` packets
//! per round trip. α is αmin at da = dm; both functions are continuous.
//!
//! Readings: αmin = 0.3, Wthresh = 15 and θ = 5 are Linux's. Once the delay has been above d1, α returns to αmax only
//! in the θth round below it, in sequence or not, so that one good round does not make the window jump. Least and
//! greatest RTT belong to the connection and never age; a round ends with the first packet sent after the end of
//! the round before, and none ends during recovery. A fresh connection has αmax and β = 1/2.
//!
//! On Linux hosts as `tcp_illinois` of Linux 6.12: α is whole 128ths, β whole 64ths, delays are microseconds. α times the packets
//! acknowledged since the window grew are worth a packet for each W; the rest of them is forgotten.
//!
//! ns-2's TCP-Linux carries the Linux 2.6.22 module, whose loss leaves β W where (1 - β) W is meant: an eighth of the
//! window where no queue stood. `legacy_bug` does the same, for experiments published with it.

use alloc::vec::Vec;

use super::steady::{Losses, ResponseFunction, aimd};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::Span;

crate::settings! {
    /// Illinois's parameters.
    pub struct Params {
        /// Packets added per round trip where the queueing delay is greatest.
        alpha_min: f64 = 0.3, 0.01..=100.0;
        /// Packets added per round trip where there is next to no queueing delay.
        alpha_max: f64 = 10.0, 0.01..=1000.0;
        /// The fraction by which a loss reduces the window where there is little queueing delay.
        beta_min: f64 = 0.125, 0.01..=0.99;
        /// The fraction by which a loss reduces the window where the queueing delay is great.
        beta_max: f64 = 0.5, 0.01..=0.99;
        /// η1: the delay up to which α is greatest, as a fraction of the greatest delay.
        eta1: f64 = 0.01, 0.0..=0.99;
        /// η2: the delay up to which β is least, as a fraction of the greatest delay.
        eta2: f64 = 0.1, 0.0..=1.0;
        /// η3: the delay from which β is greatest, as a fraction of the greatest delay.
        eta3: f64 = 0.8, 0.0..=1.0;
        /// θ: rounds below η1 before α is greatest again.
        theta: u32 = 5, 1..=1000;
        /// Below this window Illinois is Reno, in packets.
        window_threshold: f64 = 15.0, 1.0..=1000000.0;
        /// A loss leaves β W instead of (1 - β) W, as in Linux 2.6.22 and ns-2.
        legacy_bug: bool = false;
    }
    check |params: &Params| {
        let ordered = |low: (&str, f64), high: (&str, f64)| {
            if low.1 <= high.1 {
                Ok(())
            } else {
                Err(format!("{} = {} is above {} = {}: it must not be", low.0, low.1, high.0, high.1))
            }
        };
        ordered(("alpha_min", params.alpha_min), ("alpha_max", params.alpha_max))?;
        ordered(("beta_min", params.beta_min), ("beta_max", params.beta_max))?;
        ordered(("eta2", params.eta2), ("eta3", params.eta3))
    }
}

/// One in the units of Linux hosts.
const ALPHA_PARTS: f64 = 128.0;
const BETA_PARTS: f64 = 64.0;

/// Packets added per round trip, and the fraction that a loss takes off, where Illinois is Reno.
const RENO: (f64, f64) = (1.0, 0.5);

/// A TCP-Illinois controller.
#[derive(Clone, Debug)]
pub struct Illinois {
    params: Params,
    window: Window,
    alpha: f64,
    beta: f64,
    least: Span,
    greatest: Span,
    /// The round's samples, in nanoseconds.
    rtt_sum: f64,
    rtt_count: u32,
    /// The round ends when this packet is acknowledged.
    marker: u64,
    /// The delay has been above d1 since α was last set to its greatest.
    above: bool,
    /// Rounds below d1 since then.
    good_rounds: u32,
    /// On Linux hosts: packets acknowledged since the window grew.
    counted: Option<u32>,
}

/// α of a mean delay `da` above d1.
#[inline]
fn increase(params: &Params, da: f64, dm: f64) -> f64 {
    let d1 = params.eta1 * dm;
    let span = dm - d1;
    // k1 / (k2 + da), rearranged so that alpha_min = alpha_max does not divide by zero.
    let steepness = (params.alpha_max - params.alpha_min) / params.alpha_min;
    params.alpha_max * span / (span + (da - d1) * steepness)
}

/// β of a mean delay `da`.
#[inline]
fn decrease(params: &Params, da: f64, dm: f64) -> f64 {
    let (d2, d3) = (params.eta2 * dm, params.eta3 * dm);
    if da <= d2 {
        params.beta_min
    } else if da >= d3 {
        params.beta_max
    } else {
        params.beta_min + (params.beta_max - params.beta_min) * (da - d2) / (d3 - d2)
    }
}

impl Illinois {
    fn observe(&mut self, rtt: Span) {
        self.least = self.least.min(rtt);
        self.greatest = self.greatest.max(rtt);
        self.rtt_sum += rtt.0 as f64;
        self.rtt_count += 1;
    }

    fn begin_round(&mut self, marker: u64) {
        self.marker = marker;
        self.rtt_sum = 0.0;
        self.rtt_count = 0;
    }

    /// Sets α and β from the round's mean delay.
    fn decide(&mut self) {
        if self.window.packets < self.params.window_threshold {
            (self.alpha, self.beta) = RENO;
        } else if self.rtt_count > 0 {
            let dm = self.greatest.saturating_sub(self.least).0 as f64;
            let mean = self.rtt_sum / f64::from(self.rtt_count);
            // A sum of large numbers may be a little off.
            let da = (mean - self.least.0 as f64).clamp(0.0, dm);
            self.decide_increase(da, dm);
            self.beta = decrease(&self.params, da, dm);
            if self.counted.is_some() {
                self.alpha = libm::floor(self.alpha * ALPHA_PARTS) / ALPHA_PARTS;
                self.beta = libm::floor(self.beta * BETA_PARTS) / BETA_PARTS;
            }
        }
    }

    /// Linux's growth.
    fn count(&mut self, ack: &Ack, counted: u32) {
        if self.window.slow_start() {
            self.window.start(ack);
        } else if ack.credit > 0.0 {
            let counted = counted.saturating_add(ack.acked);
            let windows = libm::floor(libm::floor(f64::from(counted) * self.alpha) / self.window.packets);
            self.window.packets += windows;
            self.counted = Some(if windows > 0.0 { 0 } else { counted });
        }
    }

    fn forget_count(&mut self) {
        self.counted = self.counted.map(|_| 0);
    }

    fn decide_increase(&mut self, da: f64, dm: f64) {
        if da > self.params.eta1 * dm {
            self.above = true;
            self.alpha = increase(&self.params, da, dm);
            return;
        }
        if self.above {
            self.good_rounds += 1;
            if self.good_rounds < self.params.theta {
                return;
            }
        }
        self.forget();
        self.alpha = self.params.alpha_max;
    }

    fn forget(&mut self) {
        self.above = false;
        self.good_rounds = 0;
    }

    /// The window after a loss at `flight` packets.
    fn reduced(&self, flight: f64) -> f64 {
        flight * if self.params.legacy_bug { self.beta } else { 1.0 - self.beta }
    }
}

impl Controller for Illinois {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "derived: αmax and βmin, where no queue stands",
        formula: "sqrt(αmax (2 - βmin) / (2 βmin p)) = 8.66 / sqrt(p)",
        settings: &[],
        losses: Losses::Periodic,
        window: |p, _| aimd(10.0, 0.125, p),
        rates: &[1e-2, 1e-3, 1e-4, 1e-5],
        within: 0.01,
        because: "at 10⁻² a loss comes every 100 packets, little more than a window",
    }];

    fn new(params: Params, start: Start) -> Illinois {
        Illinois {
            window: Window::new(start, InLinux::WholeTaken),
            alpha: params.alpha_max,
            beta: RENO.1,
            least: Span::MAX,
            greatest: Span::ZERO,
            rtt_sum: 0.0,
            rtt_count: 0,
            marker: 0,
            above: false,
            good_rounds: 0,
            counted: (start.version == Version::Linux).then_some(0),
            params,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.observe(rtt);
        }
        if ack.una > self.marker && !ack.recovering {
            self.decide();
            self.begin_round(ack.next);
        }
        match self.counted {
            Some(counted) => self.count(ack, counted),
            None => self.window.grow(ack, self.alpha),
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(self.reduced(loss.flight));
        self.forget_count();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, self.reduced(timeout.flight));
        (self.alpha, self.beta) = RENO;
        self.forget();
        self.forget_count();
        self.begin_round(timeout.next);
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
            ("alpha_packets_per_rtt", self.alpha),
            ("beta", self.beta),
            ("greatest_delay_ms", self.greatest.saturating_sub(self.least).as_millis_f64()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::settings::Settings;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    /// A window of 100 packets on a path of 100 ms whose queue has been as long as 100 ms.
    fn avoiding(params: Params) -> Trace<Illinois> {
        let start = Start::avoiding(100.0);
        let mut trace = Trace::new(Illinois::new(params, start));
        for millis in [100, 200] {
            trace.rtt = Span::from_millis(millis);
            trace.ack(Span::from_millis(1));
        }
        trace
    }

    /// Rounds with `queueing` milliseconds of delay until a round with no other delay has been judged.
    fn settle(trace: &mut Trace<Illinois>, queueing: u64) {
        trace.rtt = Span::from_millis(100 + queueing);
        for _ in 0..3 {
            trace.round_trip();
        }
    }

    #[test]
    fn the_increase_falls_from_ten_to_three_tenths_as_a_hyperbola() {
        let params = Params::default();
        // d1 = 1 ms of dm = 100 ms; k1 = 99 · 3 / 9.7 = 30.62, k2 = 99 · 0.3 / 9.7 - 1 = 2.062.
        for (da, alpha) in [(1.0, 10.0), (100.0, 0.3), (50.0, 30.618_556_701 / 52.061_855_670)] {
            assert!((increase(&params, da, 100.0) - alpha).abs() < 1e-8, "{da}");
        }
        // Continuous at d1.
        assert!((increase(&params, 1.000_001, 100.0) - 10.0).abs() < 1e-4);
    }

    #[test]
    fn the_decrease_rises_from_an_eighth_to_a_half_as_a_line() {
        let params = Params::default();
        for (da, beta) in [(0.0, 0.125), (10.0, 0.125), (45.0, 0.3125), (80.0, 0.5), (100.0, 0.5)] {
            assert!(near(decrease(&params, da, 100.0), beta), "{da}");
        }
    }

    #[test]
    fn a_round_sets_both_by_its_mean_delay() {
        let mut trace = avoiding(Params::default());
        settle(&mut trace, 45);
        assert!(near(trace.controller.beta, 0.3125), "{:?}", trace.controller);
        assert!(near(trace.controller.alpha, increase(&Params::default(), 45.0, 100.0)));
        let before = trace.window();
        trace.loss();
        assert!(near(trace.window(), before * 0.6875));
    }

    #[test]
    fn without_a_queue_the_window_gains_ten_packets_a_round_trip_and_loses_an_eighth() {
        let start = Start::avoiding(100.0);
        let mut trace = Trace::new(Illinois::new(Params::default(), start));
        trace.round_trip();
        let before = trace.window();
        let gained = trace.round_trip() - before;
        assert!(gained > 9.0 && gained <= 10.0, "{gained}");
        let lost_at = trace.window();
        trace.loss();
        assert!(near(trace.window(), lost_at * 0.875));
    }

    #[test]
    fn the_fifth_good_round_brings_the_greatest_increase_back() {
        let mut trace = avoiding(Params::default());
        settle(&mut trace, 100);
        assert!(near(trace.controller.alpha, 0.3));
        trace.rtt = Span::from_millis(100);
        let mut rounds = 0;
        while trace.controller.alpha < 10.0 {
            trace.round_trip();
            rounds += 1;
            assert!(rounds < 20, "{:?}", trace.controller);
        }
        // The first of them still held samples of the queue.
        assert!((5..=7).contains(&rounds), "{rounds}");
        assert_eq!((trace.controller.above, trace.controller.good_rounds), (false, 0));
    }

    #[test]
    fn below_fifteen_packets_it_is_reno() {
        let start = Start::avoiding(10.0);
        let mut trace = Trace::new(Illinois::new(Params::default(), start));
        trace.round_trip();
        trace.ack(Span::from_millis(1));
        assert_eq!((trace.controller.alpha, trace.controller.beta), (1.0, 0.5));
    }

    #[test]
    fn the_legacy_bug_leaves_what_should_be_taken() {
        let mut trace = avoiding(Params { legacy_bug: true, ..Params::default() });
        settle(&mut trace, 0);
        let before = trace.window();
        trace.loss();
        assert!(near(trace.window(), before / 8.0));
    }

    #[test]
    fn a_timeout_forgets_the_delay() {
        let mut trace = avoiding(Params::default());
        settle(&mut trace, 0);
        let before = trace.window();
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.alpha, trace.controller.beta), (1.0, 1.0, 0.5));
        assert!(near(trace.controller.window.ssthresh, before * 0.875));
    }

    #[test]
    fn linux_forgets_the_rest_of_what_it_counted_when_the_window_grows() {
        let start = Start { version: Version::Linux, ..Start::avoiding(45.0) };
        let mut trace = Trace::new(Illinois::new(Params::default(), start));
        // α = 10: four packets are worth 40, and five 50, of which 45 are a packet and the rest is forgotten.
        let windows: Vec<f64> = (0..10)
            .map(|_| {
                trace.ack(Span::from_millis(1));
                trace.controller.alpha = 10.0;
                trace.window()
            })
            .collect();
        assert_eq!(windows, [45.0, 45.0, 45.0, 45.0, 46.0, 46.0, 46.0, 46.0, 46.0, 47.0]);
    }

    #[test]
    fn parameters_out_of_order_are_refused() {
        let message = Params { alpha_min: 20.0, ..Params::default() }.check().unwrap_err();
        assert!(message.contains("alpha_min = 20 is above alpha_max = 10"), "{message}");
        assert!(Params { eta3: 0.05, ..Params::default() }.check().is_err());
    }
}
