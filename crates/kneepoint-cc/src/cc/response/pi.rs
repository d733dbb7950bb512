// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT/PI: PERT that responds as a router with a proportional-integral controller would have marked.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §6; the router's is C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001.
//!
//! ```text
//! e = q - target                                             every 1/frequency
//! p <- p + gamma e - beta e',  within [0, 1];   e' <- e
//! gamma = K/m + K d/2,  beta = K/m - K d/2,  d = 1/frequency    of C(s) = K (1 + s/m) / s,  (16) and (18)
//! gamma = a C,  beta = b C                                      of a router's a and b per packet of queue
//! ```
//!
//! `q` queueing delay as PERT estimates it, `target`: time; `gamma beta` per second of delay; `C` link rate in
//! packets/s. PERT's response to `p`, and every parameter without an equation here, are as in `pert`.
//!
//! The paper's §6.1 multiplies a = 1.822e-5 and b = 1.816e-5, the router's, by the capacity, because q packets of queue
//! are q / C of delay. The defaults are for its link: 150 Mbit/s in packets of 1000 bytes, C = 18750, gives
//! gamma = 0.341625 and beta = 0.3405. They cannot be computed from the network: C is unknown to an end host.
//!
//! Two equations are misprinted:
//! * (17) has its terms interchanged: (16) is K/s + K/m, so p = (K/m) e + K ∫e.
//! * (19) reads p + beta e - gamma e'. From (18), (z - 1) P = (gamma z - beta) E, it is the other way round. As printed
//!   a constant error e moves p by -(gamma - beta) e = -K d e: away from the target. `gamma=0.3405,beta=0.341625` is
//!   the printed law.
//!
//! Readings:
//! * The clock is a timer of 170 Hz, ns-2's for a router's PI. It ticks whether or not acknowledgements arrive, and
//!   sees the latest estimate; after a second without any it stops.
//! * The queue before the first sample is empty: e' = -target.
//! * It responds in slow start too, where `pert` does not. Otherwise the delays of slow start, up to a whole buffer above
//!   the target, are added up before anything answers them, and e >= -target takes them back by 5.7e-4 a second: at
//!   150 Mbit/s, 200 ms, 50 flows nine tenths of the link stay empty. With it the claims of §6.1 hold.
//!
//! Expected behaviour: each host has its own integrator and all see the same error, so an initial difference remains.
//! Jain's index is 0.99 if 50 flows start at once and 0.87 if they start within 50 s (150 Mbit/s, 60 ms): of two groups
//! that start 50 s apart the later gets twice as much. A router has one integrator for all.

use super::super::pert::Pert;
use super::{Clocked, Response};
use crate::law::{Law, pi as law};
use crate::units::{Span, Time};

crate::settings! {
    /// The controller's parameters.
    pub struct Params {
        /// The queueing delay to keep.
        target: Span = Span::from_millis(3), Span::ZERO..=Span::from_secs(10);
        /// The weight of the error in delay now, per second.
        gamma: f64 = 0.341625, 0.0..=1000.0;
        /// The weight of the error in delay before, per second.
        beta: f64 = 0.3405, 0.0..=1000.0;
        /// Computations of the probability per second.
        frequency: f64 = 170.0, 0.1..=1000.0;
    }
}

/// PERT with this response.
pub type PertPi = Pert<Pi>;

/// A proportional-integral controller of queueing delay.
pub type Pi = Clocked<law::Pi>;

impl Response for Pi {
    type Params = Params;

    fn new(params: &Params) -> Pi {
        let target = params.target.as_secs_f64();
        let law = law::Params { target, a: params.gamma, b: params.beta };
        Clocked::every(Span::from_secs_f64(1.0 / params.frequency), law::Pi::new(law))
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64> {
        self.hear(queueing, now)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::tests::follow;
    use super::*;

    const TICK: Span = Span(5_882_353);

    /// The probability at a constant delay, from the first tick with it.
    fn constant(params: &Params, delay: Span, ticks: usize) -> Vec<f64> {
        follow(&mut Pi::new(params), TICK, vec![delay; ticks + 1]).split_off(1)
    }

    #[test]
    fn the_defaults_are_the_routers_times_the_papers_capacity() {
        let Params { gamma, beta, .. } = Params::default();
        let (capacity, router) = (150e6 / 8000.0, law::Params::default());
        assert!((gamma - router.a * capacity).abs() < 1e-12 && (beta - router.b * capacity).abs() < 1e-12);
    }

    #[test]
    fn a_step_of_delay_shows_at_once_and_then_adds_up() {
        // From an empty queue to 13 ms: e = 10 ms, e' = -3 ms.
        let got = constant(&Params::default(), Span::from_millis(13), 3);
        let first = 0.341625 * 0.010 + 0.3405 * 0.003;
        let then = (0.341625 - 0.3405) * 0.010;
        for (tick, probability) in got.iter().enumerate() {
            let expected = first + tick as f64 * then;
            assert!((probability - expected).abs() < 1e-12, "tick {tick}: {probability}");
        }
    }

    #[test]
    fn the_law_moves_towards_more_responses_above_the_target_and_the_printed_one_away() {
        let rises = |params: &Params| {
            let got = constant(params, Span::from_millis(4), 100);
            got[99] - got[0]
        };
        let ours = Params::default();
        let printed = Params { gamma: ours.beta, beta: ours.gamma, ..ours.clone() };
        // K d e a tick, and -K d e as printed.
        let step = (ours.gamma - ours.beta) * 0.001;
        assert!((rises(&ours) - 99.0 * step).abs() < 1e-12, "{}", rises(&ours));
        assert!((rises(&printed) + 99.0 * step).abs() < 1e-12, "{}", rises(&printed));
        // Beyond the target, the step from an empty queue is undone or extended.
        let below = |params: &Params| constant(params, Span::from_millis(2), 1000);
        assert_eq!(below(&ours)[999], 0.0);
        assert!(below(&printed)[999] > below(&printed)[0]);
    }

    #[test]
    fn the_probability_stays_one() {
        let params = Params { gamma: 100.0, beta: 0.0, ..Params::default() };
        assert_eq!(constant(&params, Span::from_millis(103), 3), [1.0; 3]);
        // From there it comes down at once: no wind-up.
        let mut pi = Pi::new(&params);
        let delays = [103, 103, 103, 1, 1].map(Span::from_millis);
        let got = follow(&mut pi, TICK, delays);
        assert!((got[4] - 0.8).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn a_missed_tick_counts_with_the_estimate_of_then() {
        let params = Params::default();
        let late = follow(&mut Pi::new(&params), Span(TICK.0 * 4), [13, 50].map(Span::from_millis))[1];
        assert!((late - constant(&params, Span::from_millis(13), 4)[3]).abs() < 1e-15);
    }
}
