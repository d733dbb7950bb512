// SPDX-License-Identifier: Apache-2.0 OR MIT
//! EWMA: predicts congestion when the exponentially smoothed round-trip time exceeds the minimum by a threshold.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.4.
//!
//! ```text
//! s <- h·s + (1 - h)·RTT      every acknowledgement; the first sample sets s
//! high:  s > P + 5 ms         P the smallest sample
//! ```
//!
//! `h` weight of the history: 7/8 as for TCP's timeout (`ewma-7/8`), 0.99 for the paper's srtt_0.99 (`srtt-0.99`).
//! Reading: the paper gives no threshold for averages; this one is the threshold of the instantaneous RTT (`rtt`).

use super::{Congestion, Predictor, Sample, Threshold};
use crate::cc::delay::Delay;
use crate::units::Span;

crate::settings! {
    /// EWMA's parameters.
    pub struct Params {
        /// Weight of the history in the smoothed round-trip time.
        history: f64 = 0.99, 0.0..=0.9999;
        /// Congestion begins this far above the smallest round-trip time.
        threshold: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// Absolute threshold that replaces `threshold`; `0s` for none.
        absolute: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
    }
}

/// State of the EWMA.
#[derive(Clone, Debug)]
pub struct Ewma {
    threshold: Threshold,
    delay: Delay,
}

impl Predictor for Ewma {
    type Params = Params;

    fn new(params: Params) -> Ewma {
        let threshold = Threshold { above: params.threshold, absolute: params.absolute };
        Ewma { threshold, delay: Delay::new(params.history) }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.delay.observe(sample.rtt);
        self.threshold.judge(self.delay.smoothed(), self.delay.least().unwrap_or(sample.rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::High;
    use super::super::tests::trips;
    use super::*;

    /// Number of samples of 80 ms, after one of 60 ms, until the answer is high.
    fn samples_until_high(history: f64) -> Option<usize> {
        let mut millis = vec![60.0];
        millis.extend([80.0; 100]);
        let params = Params { history, ..Params::default() };
        trips::<Ewma>(params, &millis).iter().position(|state| *state == High)
    }

    #[test]
    fn a_step_of_20_ms_shows_after_29_samples_or_after_3() {
        // 20 (1 - h^k) > 5: k > ln 0.75 / ln h = 28.6 for 0.99, 2.15 for 7/8.
        assert_eq!(samples_until_high(0.99), Some(29));
        assert_eq!(samples_until_high(0.875), Some(3));
        assert_eq!(samples_until_high(0.0), Some(1));
    }
}
