// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CARD: predicts congestion when the round-trip time grows with the window.
//!
//! R. Jain, "A Delay-Based Approach for Congestion Avoidance in Interconnected Heterogeneous Computer Networks", ACM CCR 19(5) 1989.
//!
//! ```text
//! once per round trip i:
//!   NDG = (RTT_i - RTT_{i-1}) / (RTT_i + RTT_{i-1}) · (W_i + W_{i-1}) / (W_i - W_{i-1})      high:  NDG > 0
//! W_i = W_{i-1}: the previous answer stands
//! ```
//!
//! `NDG` normalised delay gradient, `W` window in packets. Only its sign matters.
//!
//! Readings: the formula is from memory of the publication, which decides every second round trip (`rounds`); the PERT
//! paper, §2.4, samples once per round trip. RTT_i is the sample that ends the round, not a mean.

use super::round::Round;
use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// CARD's parameters.
    pub struct Params {
        /// Round trips between decisions; 2 in the publication.
        rounds: u32 = 1, 1..=1000;
    }
}

/// State of CARD.
#[derive(Clone, Debug)]
pub struct Card {
    round: Round,
    before: Option<(Span, f64)>,
    state: Congestion,
}

/// Normalised delay gradient between two rounds; none if the window did not change.
fn gradient((rtt, window): (Span, f64), (rtt_before, window_before): (Span, f64)) -> Option<f64> {
    let (rtt, rtt_before) = (rtt.0 as f64, rtt_before.0 as f64);
    let delay = (rtt - rtt_before) / (rtt + rtt_before);
    (window != window_before).then(|| delay * (window + window_before) / (window - window_before))
}

impl Predictor for Card {
    type Params = Params;

    fn new(params: Params) -> Card {
        Card { round: Round::new(params.rounds), before: None, state: Congestion::Low }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        if self.round.observe(sample).is_some() {
            let now = (sample.rtt, sample.window);
            if let Some(gradient) = self.before.and_then(|before| gradient(now, before)) {
                self.state = Congestion::high(gradient > 0.0);
            }
            self.before = Some(now);
        }
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::rounds;
    use super::*;

    #[test]
    fn the_gradient_is_relative_on_both_sides() {
        let millis = Span::from_millis;
        // (66 - 60) / 126 · (11 + 10) / 1 = 1.
        assert_eq!(gradient((millis(66), 11.0), (millis(60), 10.0)), Some(1.0));
        assert_eq!(gradient((millis(66), 10.0), (millis(60), 10.0)), None);
    }

    #[test]
    fn delay_that_moves_with_the_window_is_high_and_delay_that_moves_against_it_is_not() {
        let samples =
            [(60.0, 9.0), (60.0, 10.0), (66.0, 11.0), (70.0, 11.0), (64.0, 12.0), (60.0, 6.0), (60.0, 7.0)];
        // First round; both grow; window constant; opposite signs; both fall; no delay.
        assert_eq!(rounds::<Card>(Params::default(), &samples), [Low, Low, High, High, Low, High, Low]);
    }
}
