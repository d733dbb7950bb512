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
//! What PERT does with `p`, and every parameter that has no equation here, is as in `pert`.
//!
//! Nobody published this. PIE's law is one of delay already, so it is taken as the RFC prints it, with its constants.
//! Departures: no decay by 0.98 at a delay of zero, which an average never is; no exception for a backlog of two
//! packets, which a host does not see; no de-randomisation. The clock, and slow start, are as in `pert-pi`.
//!
//! What to expect: the target is kept, but the shares are not fair. Hosts have integrators of their own as in `pert-pi`,
//! and the table makes a change grow with p, so that not a difference stays but a ratio: of two groups of 25 flows that
//! start 50 s apart, at 150 Mbit/s and 60 ms, the later gets 141 of 144 Mbit/s. With a buffer of less than the target,
//! as at 10 ms of round trip and one bandwidth-delay product, it never responds.

use super::super::pert::Pert;
use super::{Clock, Response};
use crate::units::{Span, Time};

crate::settings! {
    /// The law's parameters.
    pub struct Params {
        /// The queueing delay to keep.
        target: Span = Span::from_millis(15), Span::ZERO..=Span::from_secs(10);
        /// The weight of the delay's distance from its target, per second.
        alpha: f64 = 0.125, 0.0..=1000.0;
        /// The weight of the delay's change, per second.
        beta: f64 = 1.25, 0.0..=1000.0;
        /// How often the probability is computed.
        interval: Span = Span::from_millis(15), Span::from_millis(1)..=Span::from_secs(10);
        /// How long a burst after quiet times meets no response.
        burst: Span = Span::from_millis(150), Span::ZERO..=Span::from_secs(10);
    }
}

/// PERT with this response.
pub type PertPie = Pert<Pie>;

/// The probability from which a change is capped, and the cap.
const CAPPED_FROM: f64 = 0.1;
const CAP: f64 = 0.02;
/// The probability below which a delay of less than half the target meets no response.
const SPARED_BELOW: f64 = 0.2;

/// What a change is divided by.
fn divisor(probability: f64) -> f64 {
    let steps = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];
    steps.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

/// PIE's law.
#[derive(Clone, Debug, PartialEq)]
pub struct Pie {
    clock: Clock,
    target: f64,
    alpha: f64,
    beta: f64,
    interval: Span,
    burst: Span,
    /// The latest estimate, in seconds.
    delay: f64,
    /// The same when the clock struck last.
    before: f64,
    probability: f64,
    /// What is left of the burst.
    allowance: Span,
}

impl Pie {
    fn strike(&mut self) {
        let change = self.alpha * (self.delay - self.target) + self.beta * (self.delay - self.before);
        let scaled = change / divisor(self.probability);
        let capped = if self.probability >= CAPPED_FROM { scaled.min(CAP) } else { scaled };
        self.probability = (self.probability + capped).clamp(0.0, 1.0);
        self.allowance = self.allowance.saturating_sub(self.interval);
        if self.probability == 0.0 && self.delay < self.target / 2.0 && self.before < self.target / 2.0 {
            self.allowance = self.burst;
        }
        self.before = self.delay;
    }
}

impl Response for Pie {
    type Params = Params;

    fn new(params: &Params) -> Pie {
        Pie {
            clock: Clock::new(params.interval),
            target: params.target.as_secs_f64(),
            alpha: params.alpha,
            beta: params.beta,
            interval: params.interval,
            burst: params.burst,
            delay: 0.0,
            before: 0.0,
            probability: 0.0,
            allowance: params.burst,
        }
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> f64 {
        for _ in 0..self.clock.strikes(now) {
            self.strike();
        }
        self.delay = queueing.as_secs_f64();
        let spared = self.before < self.target / 2.0 && self.probability < SPARED_BELOW;
        if spared || self.allowance > Span::ZERO { 0.0 } else { self.probability }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;

    const TICK: Span = Span::from_millis(15);

    /// A law without allowance for bursts, so that what comes out is its probability.
    fn plain() -> Params {
        Params { burst: Span::ZERO, ..Params::default() }
    }

    #[test]
    fn a_change_is_scaled_by_the_table_of_the_rfc() {
        let scales = [0.0, 5e-6, 5e-5, 5e-4, 0.005, 0.05, 0.5].map(divisor);
        assert_eq!(scales, [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0]);
        assert_eq!([1e-6, 0.1].map(divisor), [512.0, 1.0]);
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
    fn from_a_tenth_on_it_rises_by_two_hundredths_at_most() {
        let got = follow(&mut Pie::new(&plain()), TICK, [Span::from_secs(1); 40]);
        let steps: Vec<f64> =
            got.windows(2).filter(|pair| pair[0] >= 0.1).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.len() > 10 && steps.iter().all(|step| *step <= 0.02 + 1e-12), "{steps:?}");
    }

    #[test]
    fn a_burst_after_quiet_times_is_let_through() {
        let first = |params: &Params| {
            let got = follow(&mut Pie::new(params), TICK, [Span::from_millis(50); 40]);
            got.iter().position(|probability| *probability > 0.0)
        };
        // The first strike after the start sees the delay; ten strikes are 150 ms.
        assert_eq!((first(&plain()), first(&Params::default())), (Some(1), Some(10)));
    }

    #[test]
    fn half_the_target_is_no_ground_for_a_response() {
        let delays = [50, 50, 50, 7, 7].map(Span::from_millis);
        let got = follow(&mut Pie::new(&plain()), TICK, delays);
        assert!(got[3] > 0.0 && got[4] == 0.0, "{got:?}");
    }
}
