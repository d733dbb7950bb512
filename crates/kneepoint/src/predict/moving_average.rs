// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Moving average: predicts congestion when the mean over the last buffer's worth of samples is high.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.4.
//!
//! ```text
//! high:  mean of the last 750 samples > P + 5 ms      every acknowledgement;  P the smallest sample
//! ```
//!
//! Readings: 750 packets is the paper's buffer, unknown to a real sender (`samples`). Until there are enough samples,
//! the mean covers those available. The paper gives no threshold for averages; this one is the threshold of the
//! instantaneous RTT (`rtt`).

use super::{Congestion, Predictor, Sample, Threshold};
use crate::units::Span;

crate::settings! {
    /// The moving average's parameters.
    pub struct Params {
        /// Samples in the mean: the bottleneck buffer in packets.
        samples: u32 = 750, 1..=1_000_000;
        /// Congestion begins this far above the smallest round-trip time.
        threshold: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// Absolute threshold that replaces `threshold`; `0s` for none.
        absolute: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
    }
}

/// State of the moving average.
#[derive(Clone, Debug)]
pub struct MovingAverage {
    threshold: Threshold,
    least: Span,
    samples: usize,
    /// The last samples; the oldest is at `next` once the buffer is full.
    ring: Vec<Span>,
    next: usize,
    sum: Span,
}

impl Predictor for MovingAverage {
    type Params = Params;

    fn new(params: Params) -> MovingAverage {
        MovingAverage {
            threshold: Threshold { above: params.threshold, absolute: params.absolute },
            least: Span::MAX,
            samples: params.samples as usize,
            ring: Vec::new(),
            next: 0,
            sum: Span::ZERO,
        }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.least = self.least.min(sample.rtt);
        if self.ring.len() < self.samples {
            self.ring.push(sample.rtt);
        } else {
            self.sum = self.sum.saturating_sub(self.ring[self.next]);
            self.ring[self.next] = sample.rtt;
            self.next = (self.next + 1) % self.samples;
        }
        self.sum = self.sum + sample.rtt;
        self.threshold.judge(Span(self.sum.0 / self.ring.len() as u64), self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;

    #[test]
    fn the_mean_is_of_the_last_samples_only() {
        let params = Params { samples: 3, ..Params::default() };
        // Means: 60, 66, 64, 66, 64, 62.
        let said = trips::<MovingAverage>(params, &[60.0, 72.0, 60.0, 66.0, 66.0, 54.0]);
        assert_eq!(said[..5], [Low, High, Low, High, Low]);
        // The minimum is now 54.
        assert_eq!(said[5], High);
    }

    #[test]
    fn a_step_of_20_ms_shows_when_a_quarter_of_the_samples_has_seen_it() {
        let mut millis = vec![60.0; 750];
        millis.extend([80.0; 300]);
        let said = trips::<MovingAverage>(Params::default(), &millis);
        // k / 750 of 20 ms exceeds 5 ms from k = 188 on.
        assert_eq!(said.iter().position(|state| *state == High), Some(750 + 187));
    }
}
