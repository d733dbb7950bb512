// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scalable TCP: a hundredth of a packet more for every packet acknowledged, an eighth of the window off at a loss.
//!
//! T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2) 2003, §3.
//!
//! ```text
//! W < S:     W += acked          slow start
//! W >= S:    W += a · acked      W > low
//!            W += acked / W      W <= low
//! loss:      S = W = (1 - b) W   W > low
//!            S = W = W / 2       W <= low
//! ```
//!
//! `W` window, `S` slow-start threshold, `low` = 16: packets; `a` = 0.01 packets per packet acknowledged; `b` = 1/8.
//! A window of any size recovers from a loss in ln(1 / (1 - b)) / ln(1 + a), or 13.4, round trips.
//!
//! Readings: `low` is the paper's legacy window. There the gain falls from one packet a round trip to 0.16, and the
//! decrease from a half to an eighth: at the loss rate that goes with it, a / (b · low) = 1/200, both laws have
//! about the same window.
//!
//! On Linux hosts as `tcp_scalable` of Linux 6.12: a packet for every min(W, 1/a) acknowledged, so that it is ahead of both up
//! to 100 packets, and W - W / 8 after a loss at any window.

use super::steady::{Losses, ResponseFunction};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;

crate::settings! {
    /// Scalable TCP's parameters.
    pub struct Params {
        /// a: packets added per packet acknowledged.
        increase: f64 = 0.01, 0.0001..=1.0;
        /// b: the fraction of the window that a loss takes off.
        decrease: f64 = 0.125, 0.01..=0.99;
        /// Up to this window Scalable TCP is Reno, in packets.
        low_window: f64 = 16.0, 0.0..=100000.0;
    }
}

/// The fraction by which a loss reduces Reno's window.
const RENO_DECREASE: f64 = 0.5;

/// A Scalable TCP controller.
#[derive(Clone, Debug)]
pub struct Scalable {
    params: Params,
    window: Window,
    linux: bool,
}

impl Scalable {
    /// The window after a loss at `flight` packets.
    fn reduced(&self, flight: f64) -> f64 {
        let scalable = self.linux || flight > self.params.low_window;
        flight * (1.0 - if scalable { self.params.decrease } else { RENO_DECREASE })
    }
}

impl Controller for Scalable {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "T. Kelly, CCR 33(2) 2003, §3",
        formula: "(a / b) / p = 0.08 / p",
        settings: &[],
        losses: Losses::Periodic,
        window: |p, _| 0.08 / p,
        rates: &[1e-3, 1e-4, 1e-5],
        within: 0.07,
        because: "the law balances a against b p W at a constant window; a cycle lasts ln(1 / (1 - b)) / a round trips and not b / a, which makes its mean 6.5 % less",
    }];

    fn new(params: Params, start: Start) -> Scalable {
        let linux = start.version == Version::Linux;
        Scalable { params, window: Window::new(start, InLinux::WholeTaken), linux }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.linux {
            let greatest = libm::floor(1.0 / self.params.increase);
            self.window.grow_for_each(ack, |window| window.min(greatest));
        } else if self.window.slow_start() || self.window.packets <= self.params.low_window {
            self.window.grow(ack, 1.0);
        } else {
            self.window.packets += self.params.increase * ack.credit;
        }
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
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::Span;

    fn avoiding(window: f64) -> Trace<Scalable> {
        let start = Start::avoiding(window);
        Trace::new(Scalable::new(Params::default(), start))
    }

    #[test]
    fn each_acknowledgement_adds_a_hundredth_and_a_loss_takes_an_eighth() {
        let mut trace = avoiding(1000.0);
        trace.ack(Span::from_millis(1));
        assert!((trace.window() - 1000.01).abs() < 1e-9);
        trace.loss();
        assert!((trace.window() - 1000.01 * 0.875).abs() < 1e-9);
    }

    #[test]
    fn a_loss_is_made_good_in_thirteen_round_trips_whatever_the_window() {
        // ln(1 / 0.875) / ln(1.01) = 13.42.
        for window in [1000.0, 100_000.0] {
            let mut trace = avoiding(window);
            trace.loss();
            let round_trips = (1..).find(|_| trace.round_trip() >= window);
            assert_eq!(round_trips, Some(14), "{window}");
        }
    }

    #[test]
    fn up_to_16_packets_it_is_reno() {
        let mut trace = avoiding(10.0);
        let gained = trace.round_trip() - 10.0;
        assert!(gained > 0.9 && gained < 1.0, "{gained}");
        trace.loss();
        assert!((trace.window() - (10.0 + gained) / 2.0).abs() < 1e-9);
        let mut above = avoiding(16.01);
        above.ack(Span::from_millis(1));
        assert!((above.window() - 16.02).abs() < 1e-9);
    }

    #[test]
    fn on_linux_a_window_of_acknowledgements_up_to_100_adds_a_packet_and_a_loss_takes_an_eighth_of_any() {
        let linux = |window: f64| {
            let start = Start { version: Version::Linux, ..Start::avoiding(window) };
            Trace::new(Scalable::new(Params::default(), start))
        };
        for (window, each) in [(10.0, 10), (60.0, 60), (500.0, 100)] {
            let mut trace = linux(window);
            (1..each).for_each(|_| trace.ack(Span::from_millis(1)));
            assert_eq!(trace.window(), window);
            trace.ack(Span::from_millis(1));
            assert_eq!(trace.window(), window + 1.0);
        }
        // 10 - 10 / 8 and 500 - 500 / 8, whole.
        for (window, left) in [(10.0, 9.0), (500.0, 438.0)] {
            let mut trace = linux(window);
            trace.loss();
            assert_eq!(trace.window(), left);
        }
    }

    #[test]
    fn a_timeout_leaves_the_threshold_of_a_loss() {
        let mut trace = avoiding(1000.0);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 875.0));
    }
}
