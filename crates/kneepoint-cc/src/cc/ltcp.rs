// SPDX-License-Identifier: Apache-2.0 OR MIT
//! LTCP: as many Renos in one as the window has layers, each layer wider than the one before.
//!
//! S. Bhandarkar, S. Jain, A. L. N. Reddy, "LTCP: Improving the Performance of TCP in Highspeed Networks", ACM CCR 36(1) 2006.
//!
//! ```text
//! W(K) = WT · K (K - 1) / 2            where layer K = 1, 2, 3 … begins
//! layer K while                        W(K) <= W < W(K + 1)
//! W < S:   W += acked                  slow start
//! W >= S:  W += KR · K · acked / W     avoidance
//! KR = 1, or (RTT / RTTref)^(1/3)      with compensation
//! loss:    S = W = (1 - β) W;  W / 2 where K = 1
//! ```
//!
//! `W` window, `S` slow-start threshold, `WT` = 50: packets; `K` packets per round trip; `β` = 0.15.
//!
//! Readings: in its first layer LTCP is Reno, decrease included. The layer follows from the window, so a loss drops at
//! most one layer up to K = 13, and may drop two or more above. The compensation offsets the time that a long round
//! trip takes to reach a layer; the paper leaves its constant open, and here KR is 1 at `rtt_reference`.
//! RTT is smoothed as in RFC 6298, and KR is set once a round trip.

use alloc::vec::Vec;

use super::delay::Delay;
use super::steady::{Losses, ResponseFunction, solve};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;
use crate::units::Span;

crate::settings! {
    /// LTCP's parameters.
    pub struct Params {
        /// WT: the width of the first layer, in packets.
        layer_window: f64 = 50.0, 1.0..=1000000.0;
        /// β: the fraction of the window that a loss takes off above the first layer.
        decrease: f64 = 0.15, 0.01..=0.99;
        /// Let a layer grow with the cube root of the round-trip time.
        rtt_compensation: bool = false;
        /// The round-trip time at which the compensation is neutral.
        rtt_reference: Span = Span::from_millis(100), Span::from_millis(1)..=Span::from_secs(10);
    }
}

/// The fraction by which a loss reduces Reno's window.
const RENO_DECREASE: f64 = 0.5;

/// An LTCP controller.
#[derive(Clone, Debug)]
pub struct Ltcp {
    params: Params,
    window: Window,
    rtt: Delay,
    /// K.
    layer: f64,
    /// The beginning of this layer, and of the next one.
    bounds: (f64, f64),
    /// KR.
    compensation: f64,
    /// The round ends when this packet is acknowledged.
    marker: u64,
}

/// W(K).
fn begins(layer_window: f64, layer: f64) -> f64 {
    layer_window * layer * (layer - 1.0) / 2.0
}

/// The layer of a window: the greatest K with W(K) <= W.
fn layer_of(layer_window: f64, window: f64) -> f64 {
    // A positive number truncates to its floor, and more cheaply.
    ((1.0 + libm::sqrt(1.0 + 8.0 * window / layer_window)) / 2.0) as i64 as f64
}

impl Ltcp {
    fn enter_layer(&mut self) {
        let unit = self.params.layer_window;
        self.layer = layer_of(unit, self.window.packets);
        self.bounds = (begins(unit, self.layer), begins(unit, self.layer + 1.0));
    }

    /// Measures the round trip, and sets KR at its end.
    fn compensate(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt.observe(rtt);
        }
        if ack.una > self.marker {
            self.marker = ack.next;
            let ratio = self.rtt.smoothed().as_secs_f64() / self.params.rtt_reference.as_secs_f64();
            // Without a sample there is no verdict.
            self.compensation = if ratio > 0.0 { libm::cbrt(ratio) } else { 1.0 };
        }
    }

    /// The window after a loss at `flight` packets.
    fn reduced(&self, flight: f64) -> f64 {
        flight * (1.0 - if flight < self.params.layer_window { RENO_DECREASE } else { self.params.decrease })
    }
}

impl Controller for Ltcp {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "S. Bhandarkar et al., CCR 36(1) 2006",
        formula: "sqrt(K (1 - β/2) / (β p)), K the layer of that window",
        settings: &[],
        losses: Losses::Periodic,
        window: |p, _| {
            let Params { layer_window, decrease, .. } = Params::default();
            let constant = decrease / (1.0 - decrease / 2.0);
            solve(1.0 / p, |window| constant * window * window / layer_of(layer_window, window))
        },
        rates: &[1e-3, 1e-4, 3e-5, 1e-5],
        within: 0.02,
        because: "the law has one layer, and a sawtooth may cross into its neighbours",
    }];

    fn new(params: Params, start: Start) -> Ltcp {
        Ltcp {
            window: Window::new(start, InLinux::Fractions),
            rtt: Delay::new(0.875),
            layer: 1.0,
            bounds: (0.0, params.layer_window),
            compensation: 1.0,
            marker: 0,
            params,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.params.rtt_compensation {
            self.compensate(ack);
        }
        let window = self.window.packets;
        if window < self.bounds.0 || window >= self.bounds.1 {
            self.enter_layer();
        }
        // For any number of layers, an acknowledged packet adds at most one.
        self.window.grow(ack, (self.compensation * self.layer).min(window));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(self.reduced(loss.flight));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, self.reduced(timeout.flight));
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("layer", layer_of(self.params.layer_window, self.window.packets)), ("kr", self.compensation)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn avoiding(window: f64, params: Params) -> Trace<Ltcp> {
        let start = Start::avoiding(window);
        Trace::new(Ltcp::new(params, start))
    }

    #[test]
    fn layers_begin_at_0_50_150_300_500_and_750_packets() {
        let starts: Vec<f64> = (1..=6).map(|layer| begins(50.0, f64::from(layer))).collect();
        assert_eq!(starts, [0.0, 50.0, 150.0, 300.0, 500.0, 750.0]);
        for (window, layer) in
            [(1.0, 1.0), (49.9, 1.0), (50.0, 2.0), (149.9, 2.0), (150.0, 3.0), (8550.0, 19.0)]
        {
            assert_eq!(layer_of(50.0, window), layer, "{window}");
        }
    }

    #[test]
    fn a_round_trip_gains_as_many_packets_as_there_are_layers() {
        for (window, layers) in [(20.0, 1.0), (100.0, 2.0), (400.0, 4.0), (9000.0, 19.0)] {
            let gained = avoiding(window, Params::default()).round_trip() - window;
            assert!(gained > 0.95 * layers && gained <= layers, "{window}: {gained}");
        }
    }

    #[test]
    fn a_loss_takes_15_percent_or_half_of_the_first_layer() {
        let mut trace = avoiding(1000.0, Params::default());
        trace.loss();
        assert!((trace.window() - 850.0).abs() < 1e-9);
        let mut small = avoiding(40.0, Params::default());
        small.loss();
        assert_eq!(small.window(), 20.0);
        small.timeout();
        assert_eq!((small.window(), small.controller.window.ssthresh), (1.0, 10.0));
    }

    #[test]
    fn a_loss_leaves_the_layer_when_the_window_does() {
        // 510 packets are in layer 5, 433.5 in layer 4.
        let mut trace = avoiding(510.0, Params::default());
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.controller.layer, 5.0);
        trace.loss();
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.controller.layer, 4.0);
    }

    #[test]
    fn eight_times_the_round_trip_gains_twice_as_much_with_compensation() {
        let gained = |millis: u64| {
            let mut trace = avoiding(1000.0, Params { rtt_compensation: true, ..Params::default() });
            trace.rtt = Span::from_millis(millis);
            trace.round_trip();
            let before = trace.window();
            trace.round_trip() - before
        };
        let (reference, long) = (gained(100), gained(800));
        assert!((reference - 6.0).abs() < 0.1, "{reference}");
        assert!((long / reference - 2.0).abs() < 0.05, "{long}");
    }
}
