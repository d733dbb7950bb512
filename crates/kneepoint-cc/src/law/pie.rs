// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PIE: a PI controller of delay whose gain grows with the probability, and which spares bursts.
//!
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, §4 and §5.5.
//!
//! ```text
//! change = alpha (q - target) + beta (q - q')                       every interval;   q' <- q
//!          / 2048, 512, 128, 32, 8, 2, 1                            p < 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, above
//!          at most 0.02                                             p >= 0.1
//! p <- p + change,  within [0, 1]
//! 0 instead of p while q' < target / 2 and p < 0.2, and for `burst` after p = 0 and q, q' < target / 2
//! ```
//!
//! `q` queueing delay in seconds, `target interval burst`: time; `alpha beta` per second of delay.
//!
//! Departures: no decay by 0.98 at a delay of zero, no exception for a backlog of two packets, no de-randomisation:
//! these concern a router's packets and are left to its queue.

use super::Law;
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
        /// The interval between computations of the probability.
        interval: Span = Span::from_millis(15), Span::from_millis(1)..=Span::from_secs(10);
        /// The length of a burst after quiet times that causes no response.
        burst: Span = Span::from_millis(150), Span::ZERO..=Span::from_secs(10);
    }
}

/// The probability from which a change is capped, and the cap.
const CAPPED_FROM: f64 = 0.1;
const CAP: f64 = 0.02;
/// The probability below which a delay of less than half the target causes no response.
const SPARED_BELOW: f64 = 0.2;

/// The divisor of a change.
fn divisor(probability: f64) -> f64 {
    let steps = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];
    steps.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, divisor)| *divisor)
}

/// A PIE controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Pie {
    target: f64,
    alpha: f64,
    beta: f64,
    interval: Span,
    burst: Span,
    /// The latest sample, in seconds.
    before: f64,
    probability: f64,
    /// The rest of the burst allowance.
    allowance: Span,
}

impl Pie {
    /// The probability without the exceptions for short delays and bursts.
    pub fn base(&self) -> f64 {
        self.probability
    }

    /// The latest sample, in seconds.
    pub fn delay(&self) -> f64 {
        self.before
    }

    /// Allows a new burst if there is no congestion at this delay, in seconds.
    #[inline]
    pub fn calm(&mut self, delay: f64) {
        if self.probability == 0.0 && delay.max(self.before) < self.target / 2.0 {
            self.allowance = self.burst;
        }
    }

    /// The probability at this delay, in seconds, instead of the latest sample.
    #[inline]
    pub fn at(&self, delay: f64) -> f64 {
        let spared = delay < self.target / 2.0 && self.probability < SPARED_BELOW;
        if spared || self.allowance > Span::ZERO { 0.0 } else { self.probability }
    }

    /// Changes the base probability, limited to [0, 1], in addition to the law's change at the latest sample.
    pub fn correct(&mut self, factor: f64, addend: f64) {
        self.probability = (self.probability * factor + addend).clamp(0.0, 1.0);
    }
}

impl Law for Pie {
    type Params = Params;

    fn new(params: Params) -> Pie {
        Pie {
            target: params.target.as_secs_f64(),
            alpha: params.alpha,
            beta: params.beta,
            interval: params.interval,
            burst: params.burst,
            before: 0.0,
            probability: 0.0,
            allowance: params.burst,
        }
    }

    fn sample(&mut self, delay: f64, _: Time) {
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.before);
        let scaled = change / divisor(self.probability);
        let capped = if self.probability >= CAPPED_FROM { scaled.min(CAP) } else { scaled };
        self.probability = (self.probability + capped).clamp(0.0, 1.0);
        self.allowance = self.allowance.saturating_sub(self.interval);
        self.calm(delay);
        self.before = delay;
    }

    fn probability(&self) -> f64 {
        self.at(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probability after each sample, without an allowance for bursts.
    fn follow(delays: &[f64]) -> std::vec::Vec<f64> {
        let mut pie = Pie::new(Params { burst: Span::ZERO, ..Params::default() });
        let sample = |delay: &f64| {
            pie.sample(*delay, Time::ZERO);
            pie.probability()
        };
        delays.iter().map(sample).collect()
    }

    #[test]
    fn a_change_is_scaled_by_the_table_of_the_rfc() {
        let scales = [0.0, 5e-6, 5e-5, 5e-4, 0.005, 0.05, 0.5].map(divisor);
        assert_eq!(scales, [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0, 1.0]);
        assert_eq!([1e-6, 0.1].map(divisor), [512.0, 1.0]);
    }

    #[test]
    fn the_probability_follows_the_printed_law() {
        // (0.125 · 20 ms + 1.25 · 35 ms) / 2048; then 0.125 · 20 ms / 128; then (0.125 · 30 ms + 1.25 · 10 ms) / 128.
        let first = 0.046_25 / 2048.0;
        let second = first + 0.0025 / 128.0;
        let third = second + 0.016_25 / 128.0;
        for (probability, expected) in follow(&[0.035, 0.035, 0.045]).iter().zip([first, second, third]) {
            assert!((probability - expected).abs() < 1e-15, "{probability} {expected}");
        }
    }

    #[test]
    fn from_a_tenth_on_it_rises_by_two_hundredths_at_most() {
        let got = follow(&[1.0; 40]);
        let steps = || got.windows(2).filter(|pair| pair[0] >= 0.1).map(|pair| pair[1] - pair[0]);
        assert!(steps().count() > 10 && steps().all(|step| step <= 0.02 + 1e-12), "{got:?}");
    }
}
