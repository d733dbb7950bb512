// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT/PIE: PERT that responds as a PIE router would have dropped.
//!
//! Ours; S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §7 proposes such emulations. The router's is R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, §4 and §5.1.
//!
//! ```text
//! change = alpha (q - target) + beta (q - q')                       every interval;   q' <- q
//!          / 2048, 512, 128, 32, 8, 2, 1                            p < 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, above
//!          at most 0.02                                             p >= 0.1
//! p <- p + change,  within [0, 1]
//! no response while q' < target / 2 and p < 0.2, nor for `burst` after p = 0 and q, q' < target / 2
//! ```
//!
//! `q` queueing delay as PERT estimates it, `target interval burst`: time; `alpha beta` per second of delay.
//! PERT's response to `p`, and every parameter without an equation here, are as in `pert`.
//!
//! Nobody published this. PIE's law already uses delay, so it is taken as the RFC prints it, with its constants.
//! Departures: no decay by 0.98 at a delay of zero, because an average is never zero; no exception for a backlog of two
//! packets, which a host does not see; no de-randomisation. The clock, and slow start, are as in `pert-pi`.
//!
//! Expected behaviour: the target is kept, but the shares are not fair. Hosts have integrators of their own as in
//! `pert-pi`, and the table makes a change grow with p, so that an initial ratio remains instead of an initial
//! difference: of two groups of 25 flows that start 50 s apart, at 150 Mbit/s and 60 ms, the later gets 141 of 144
//! Mbit/s. With a buffer of less than the target, as at 10 ms of round trip and one bandwidth-delay product, it never
//! responds.

use super::super::pert::Pert;
use super::{Clocked, Response};
use crate::law::{Law, pie as law};
use crate::units::{Span, Time};

/// PERT with this response.
pub type PertPie = Pert<Pie>;

/// A PIE controller of queueing delay.
pub type Pie = Clocked<law::Pie>;

impl Response for Pie {
    type Params = law::Params;

    fn new(params: &law::Params) -> Pie {
        Clocked::every(params.interval, law::Pie::new(params.clone()))
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64> {
        self.hear(queueing, now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;

    const TICK: Span = Span::from_millis(15);

    /// No allowance for bursts: the response is the probability.
    fn plain() -> law::Params {
        law::Params { burst: Span::ZERO, ..law::Params::default() }
    }

    #[test]
    fn the_probability_follows_the_printed_law() {
        let delays = [35, 35, 45].map(Span::from_millis);
        let got = follow(&mut Pie::new(&plain()), TICK, delays.into_iter().chain([Span::ZERO]));
        // (0.125 · 20 ms + 1.25 · 35 ms) / 2048; then 0.125 · 20 ms / 128; then (0.125 · 30 ms + 1.25 · 10 ms) / 128.
        let first = 0.046_25 / 2048.0;
        let second = first + 0.0025 / 128.0;
        let third = second + 0.016_25 / 128.0;
        for (probability, expected) in got.into_iter().zip([0.0, first, second, third]) {
            assert!((probability - expected).abs() < 1e-15, "{probability} {expected}");
        }
    }

    #[test]
    fn a_burst_after_quiet_times_is_let_through() {
        let first = |params: &law::Params| {
            let got = follow(&mut Pie::new(params), TICK, [Span::from_millis(50); 40]);
            got.iter().position(|probability| *probability > 0.0)
        };
        // The first tick after the start sees the delay; ten ticks are 150 ms.
        assert_eq!((first(&plain()), first(&law::Params::default())), (Some(1), Some(10)));
    }

    #[test]
    fn half_the_target_is_no_ground_for_a_response() {
        let delays = [50, 50, 50, 7, 7].map(Span::from_millis);
        let got = follow(&mut Pie::new(&plain()), TICK, delays);
        assert!(got[3] > 0.0 && got[4] == 0.0, "{got:?}");
    }
}
