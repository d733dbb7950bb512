// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CIM: predicts congestion when the mean of the last few round-trip times exceeds the mean of many.
//!
//! J. Martin, A. Nilsson, I. Rhee, "Delay-Based Congestion Avoidance for TCP", IEEE/ACM ToN 11(3) 2003.
//!
//! ```text
//! high:  mean of the last 2 samples > mean of the last 20      every acknowledgement
//! ```
//!
//! Readings: the idea follows the PERT paper, §2.1; 2 and 20 (`short`, `long`) are from memory of the publication, which
//! calls the signal DCA's congestion indication metric. Until there are enough samples, the means cover those available.

use std::collections::VecDeque;

use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// CIM's parameters.
    pub struct Params {
        /// Samples in the short mean.
        short: u32 = 2, 1..=10_000;
        /// Samples in the long mean.
        long: u32 = 20, 2..=100_000;
    }
    check |params: &Params| {
        if params.short < params.long {
            Ok(())
        } else {
            Err(format!("short = {}, long = {}: short must be below long, as in 2 and 20", params.short, params.long))
        }
    }
}

/// State of CIM.
#[derive(Clone, Debug)]
pub struct Cim {
    params: Params,
    samples: VecDeque<Span>,
    short_sum: Span,
    long_sum: Span,
}

impl Predictor for Cim {
    type Params = Params;

    fn new(params: Params) -> Cim {
        Cim { params, samples: VecDeque::new(), short_sum: Span::ZERO, long_sum: Span::ZERO }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        let (short, long) = (self.params.short as usize, self.params.long as usize);
        if self.samples.len() >= short {
            self.short_sum = self.short_sum.saturating_sub(self.samples[self.samples.len() - short]);
        }
        if self.samples.len() == long
            && let Some(oldest) = self.samples.pop_front()
        {
            self.long_sum = self.long_sum.saturating_sub(oldest);
        }
        self.samples.push_back(sample.rtt);
        self.short_sum = self.short_sum + sample.rtt;
        self.long_sum = self.long_sum + sample.rtt;
        let count = self.samples.len();
        // Compares the means without division.
        Congestion::high(self.short_sum * count as u64 > self.long_sum * short.min(count) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;

    #[test]
    fn two_samples_are_held_against_twenty() {
        let mut millis = vec![60.0; 20];
        // 61 > 60.1; 60.5 > 60.05; 59.75 < 60.025
        millis.extend([62.0, 60.0, 59.5]);
        let said = trips::<Cim>(Params::default(), &millis);
        assert_eq!(said[..20], [Low; 20]);
        assert_eq!(said[20..], [High, High, Low]);
    }

    #[test]
    fn what_is_older_than_the_long_mean_is_forgotten() {
        let params = Params { short: 1, long: 3 };
        // Means of three: 100; 80; 73.3; 60, which 61 exceeds only after 100 has left the window.
        assert_eq!(trips::<Cim>(params, &[100.0, 60.0, 60.0, 61.0]), [Low, Low, Low, High]);
    }
}
