// SPDX-License-Identifier: Apache-2.0 OR MIT
//! DUAL: predicts congestion when the round-trip time exceeds the midpoint between the smallest and the largest seen.
//!
//! Z. Wang, J. Crowcroft, "Eliminating Periodic Packet Losses in the 4.3-Tahoe BSD TCP Congestion Control Algorithm", ACM CCR 22(2) 1992.
//!
//! ```text
//! once per round trip:   high:  RTT > (RTT_min + RTT_max) / 2
//! ```
//!
//! RTT_min and RTT_max over all samples so far: an empty and a full queue, so that the threshold is half a buffer.
//!
//! Readings: from memory, the publication decides every second round trip (`rounds`); the PERT paper, §2.4, samples once
//! per round trip. RTT is the sample that ends the round.

use super::round::Round;
use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// DUAL's parameters.
    pub struct Params {
        /// Round trips between decisions; 2 in the publication.
        rounds: u32 = 1, 1..=1000;
    }
}

/// State of DUAL.
#[derive(Clone, Debug)]
pub struct Dual {
    round: Round,
    least: Span,
    greatest: Span,
    state: Congestion,
}

impl Predictor for Dual {
    type Params = Params;

    fn new(params: Params) -> Dual {
        Dual {
            round: Round::new(params.rounds),
            least: Span::MAX,
            greatest: Span::ZERO,
            state: Congestion::Low,
        }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.least = self.least.min(sample.rtt);
        self.greatest = self.greatest.max(sample.rtt);
        if self.round.observe(sample).is_some() {
            self.state = Congestion::high(sample.rtt * 2 > self.least + self.greatest);
        }
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;

    #[test]
    fn halfway_between_the_extremes_is_the_border() {
        // Before the sample of 120, everything above the minimum also exceeds the midpoint.
        let said = trips::<Dual>(Params::default(), &[60.0, 61.0, 120.0, 90.0, 90.1, 60.0]);
        assert_eq!(said, [Low, High, High, Low, High, Low]);
    }

    #[test]
    fn it_may_decide_every_second_round_trip_only() {
        let said = trips::<Dual>(Params { rounds: 2 }, &[60.0, 120.0, 110.0, 60.0, 60.0]);
        assert_eq!(said, [Low, Low, High, High, Low]);
    }
}
