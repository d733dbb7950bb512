// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instantaneous RTT: predicts congestion when a round-trip time exceeds the minimum by a threshold.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.2, §2.4.
//!
//! ```text
//! high:  RTT > P + 5 ms      every acknowledgement;  P the smallest sample
//! ```
//!
//! Reading: the paper's threshold is 65 ms for a flow with an end-to-end delay of 60 ms, and its PERT responds from
//! P + 5 ms: the same number. Here it is relative and so applies to any path; `absolute=65ms` is the paper's threshold
//! to the letter, which differs if the path was never seen empty.

use super::{Congestion, Predictor, Sample, Threshold};
use crate::units::Span;

crate::settings! {
    /// Parameters of the instantaneous RTT.
    pub struct Params {
        /// Congestion begins this far above the smallest round-trip time.
        threshold: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// Absolute threshold that replaces `threshold`; `0s` for none.
        absolute: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
    }
}

/// State of the instantaneous RTT.
#[derive(Clone, Debug)]
pub struct Rtt {
    threshold: Threshold,
    least: Span,
}

impl Predictor for Rtt {
    type Params = Params;

    fn new(params: Params) -> Rtt {
        let threshold = Threshold { above: params.threshold, absolute: params.absolute };
        Rtt { threshold, least: Span::MAX }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        self.least = self.least.min(sample.rtt);
        self.threshold.judge(sample.rtt, self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;

    #[test]
    fn five_milliseconds_above_the_least_are_not_yet_high() {
        let said = trips::<Rtt>(Params::default(), &[60.0, 65.0, 65.001, 64.0, 58.0, 64.0]);
        assert_eq!(said, [Low, Low, High, Low, Low, High]);
    }

    #[test]
    fn an_absolute_threshold_needs_no_empty_path() {
        let params = Params { absolute: Span::from_millis(65), ..Params::default() };
        assert_eq!(trips::<Rtt>(params, &[66.0, 68.0, 65.0, 50.0]), [High, High, Low, Low]);
        assert_eq!(trips::<Rtt>(Params::default(), &[66.0, 68.0, 65.0, 50.0]), [Low; 4]);
    }
}
