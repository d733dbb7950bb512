// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Vegas: predicts congestion when more than β of the flow's packets wait in the queue.
//!
//! L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8) 1995, §III; constants as in ns-2.
//!
//! ```text
//! once per round trip:  diff = W (1 - baseRTT / RTT)      high:  diff > β
//! ```
//!
//! `W` window and β in packets; RTT the mean of the round's samples, baseRTT the smallest sample.
//!
//! Readings: β = 3 is ns-2's; the paper has 4. Vegas reduces its window above β; its growth below α is not a prediction.
//! The window is the controller's, whereas Vegas itself counts the packets sent.

use super::round::Round;
use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// Vegas's parameters as a predictor.
    pub struct Params {
        /// The flow's packets that may wait in the queue.
        beta: f64 = 3.0, 0.0..=1000.0;
    }
}

/// State of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    beta: f64,
    round: Round,
    base_rtt: Span,
    state: Congestion,
}

impl Predictor for Vegas {
    type Params = Params;

    fn new(params: Params) -> Vegas {
        Vegas { beta: params.beta, round: Round::new(1), base_rtt: Span::MAX, state: Congestion::Low }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.base_rtt = self.base_rtt.min(sample.rtt);
        if let Some(rtt) = self.round.observe(sample) {
            let diff = sample.window * (1.0 - self.base_rtt.0 as f64 / rtt.0 as f64);
            self.state = Congestion::high(diff > self.beta);
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
    fn it_is_high_when_more_than_three_packets_wait() {
        // The mean of a round is its first sample here, so each answer reflects the sample before:
        // 40 (1 - 100 / 108) = 2.96, 40 (1 - 100 / 109) = 3.3.
        let said =
            rounds::<Vegas>(Params::default(), &[(100.0, 40.0), (108.0, 40.0), (109.0, 40.0), (100.0, 40.0)]);
        assert_eq!(said, [Low, Low, Low, High]);
        // Twice the window, twice the packets.
        let twice =
            rounds::<Vegas>(Params::default(), &[(100.0, 80.0), (104.0, 80.0), (100.0, 80.0), (100.0, 80.0)]);
        assert_eq!(twice, [Low, Low, High, Low]);
    }
}
