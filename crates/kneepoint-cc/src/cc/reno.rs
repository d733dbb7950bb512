// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reno: one packet more every round trip, half the window at a loss.
//!
//! V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; as specified by RFC 5681.
//!
//! ```text
//! W < S:   W += acked                  slow start    §3.1 equation (2)
//! W >= S:  W += acked / W              avoidance     §3.1 equation (3)
//! loss:    S = max(flight / 2, 2)      equation (4);  W = S, or W = 1 after a timeout
//! ```
//!
//! `W` window, `S` slow-start threshold, `flight` outstanding: packets.
//! The host inflates the window during fast recovery, not the controller.

use super::steady::{Losses, ResponseFunction, aimd};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;

crate::settings! {
    /// Reno's parameters.
    pub struct Params {
        /// Packets added per round trip in congestion avoidance.
        increase: f64 = 1.0, 0.01..=100.0;
        /// The fraction by which a loss reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
    }
}

/// A Reno controller.
#[derive(Clone, Debug)]
pub struct Reno {
    params: Params,
    window: Window,
}

impl Controller for Reno {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[
        ResponseFunction {
            source: "M. Mathis et al., CCR 27(3) 1997",
            formula: "sqrt(3/2) / sqrt(p)",
            settings: &[],
            losses: Losses::Periodic,
            window: |p, _| aimd(1.0, 0.5, p),
            rates: &[1e-2, 1e-3, 1e-4, 1e-5],
            within: 0.01,
            because: "a packet is a twelfth of the smallest window",
        },
        ResponseFunction {
            source: "T. Ott, J. Kemperman, M. Mathis, 1996",
            formula: "1.31 / sqrt(p)",
            settings: &[],
            losses: Losses::Random,
            window: |p, _| 1.3098 / libm::sqrt(p),
            rates: &[1e-2, 1e-3],
            within: 0.02,
            because: "10 000 losses are a sample, with a standard error of half a percent; a packet is a large part of a small window",
        },
    ];

    fn new(params: Params, start: Start) -> Reno {
        Reno { params, window: Window::new(start, InLinux::WholeLeft) }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.window.grow(ack, self.params.increase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * (1.0 - self.params.decrease));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight * (1.0 - self.params.decrease));
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

    #[test]
    fn the_window_doubles_each_round_then_gains_one() {
        let mut trace =
            Trace::new(Reno::new(Params::default(), Start { initial_ssthresh: 8.0, ..Start::new(2.0) }));
        assert_eq!(trace.round_trip(), 4.0);
        assert_eq!(trace.round_trip(), 8.0);
        // Eight acknowledgements at 1/W each, W growing meanwhile: a little less than one packet.
        let avoided = trace.round_trip();
        assert!(avoided > 8.9 && avoided < 9.0, "{avoided}");
    }

    #[test]
    fn a_loss_halves_and_a_timeout_starts_over() {
        let mut trace =
            Trace::new(Reno::new(Params::default(), Start { initial_ssthresh: 20.0, ..Start::new(20.0) }));
        trace.loss();
        assert_eq!(trace.window(), 10.0);
        trace.timeout();
        assert_eq!(trace.window(), 1.0);
        assert_eq!(trace.controller.window.ssthresh, 5.0);
    }
}
