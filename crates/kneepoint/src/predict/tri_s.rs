// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TRI-S: predicts congestion when a larger window no longer increases throughput.
//!
//! Z. Wang, J. Crowcroft, "A New Congestion Control Scheme: Slow Start and Search (Tri-S)", ACM CCR 21(1) 1991.
//!
//! ```text
//! once per round trip i:
//!   T_i = W_i / RTT_i      TG_i = (T_i - T_{i-1}) / (W_i - W_{i-1})      NTG = TG_i / TG_1      high:  NTG < 0.5
//! W_i = W_{i-1}: the previous answer stands
//! ```
//!
//! `W` window in packets, `T` throughput, `NTG` normalised throughput gradient; TG_1 = 1 / baseRTT is the throughput of
//! the first packet on an empty path, baseRTT the smallest sample.
//!
//! Readings: the formula and the one half are from memory of the publication. RTT_i is the sample that ends the round.

use super::round::Round;
use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// TRI-S's parameters.
    pub struct Params {
        /// Normalised throughput gradient below which congestion begins.
        least_gradient: f64 = 0.5, 0.0..=1.0;
    }
}

/// State of TRI-S.
#[derive(Clone, Debug)]
pub struct TriS {
    least_gradient: f64,
    round: Round,
    base_rtt: Span,
    before: Option<(Span, f64)>,
    state: Congestion,
}

impl TriS {
    /// Normalised throughput gradient since the last round; none if the window did not change.
    fn gradient(&self, rtt: Span, window: f64) -> Option<f64> {
        let (rtt_before, window_before) = self.before?;
        let throughput = |packets: f64, trip: Span| packets * self.base_rtt.0 as f64 / trip.0 as f64;
        let gained = throughput(window, rtt) - throughput(window_before, rtt_before);
        (window != window_before).then(|| gained / (window - window_before))
    }
}

impl Predictor for TriS {
    type Params = Params;

    fn new(params: Params) -> TriS {
        TriS {
            least_gradient: params.least_gradient,
            round: Round::new(1),
            base_rtt: Span::MAX,
            before: None,
            state: Congestion::Low,
        }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.base_rtt = self.base_rtt.min(sample.rtt);
        if self.round.observe(sample).is_some() {
            if let Some(gradient) = self.gradient(sample.rtt, sample.window) {
                self.state = Congestion::high(gradient < self.least_gradient);
            }
            self.before = Some((sample.rtt, sample.window));
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
    fn on_an_empty_path_every_packet_brings_what_the_first_did_and_on_a_full_one_nothing() {
        // 10 packets fill 100 ms: beyond that, each adds 10 ms and no throughput.
        let samples =
            [(100.0, 8.0), (100.0, 9.0), (100.0, 10.0), (110.0, 11.0), (110.0, 11.0), (100.0, 10.0)];
        assert_eq!(rounds::<TriS>(Params::default(), &samples), [Low, Low, Low, High, High, High]);
    }

    #[test]
    fn half_of_the_first_packets_gain_is_the_border() {
        // 11 packets in R ms add 0.5 of 1/100 to 10 packets in 100 ms at R = 1100 / 10.5 = 104.76.
        let after = |millis: f64| {
            rounds::<TriS>(Params::default(), &[(100.0, 9.0), (100.0, 10.0), (millis, 11.0)])[2]
        };
        assert_eq!((after(104.75), after(104.77)), (Low, High));
    }
}
