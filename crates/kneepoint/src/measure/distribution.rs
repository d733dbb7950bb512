// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of times: recorded in nanoseconds, reported in seconds.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::units::Span;

/// How a time is distributed, in seconds; not a number where nothing was seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// How many were seen.
    pub count: u64,
    /// The mean, exact.
    pub mean: f64,
    /// The median, like all percentiles to three significant digits.
    pub p50: f64,
    /// What nine of ten do not exceed.
    pub p90: f64,
    /// What 95 of 100 do not exceed.
    pub p95: f64,
    /// What 99 of 100 do not exceed.
    pub p99: f64,
    /// The greatest, exact.
    pub max: f64,
}

/// Records times. The counters are of 32 bits, so that those in use stay in the first-level cache.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    histogram: Histogram<u32>,
    sum: u128,
    max: u64,
}

impl Recorder {
    pub(super) fn new() -> Recorder {
        // Three digits are within the range of 0 to 5 that the crate accepts.
        let histogram = Histogram::new(3).expect("three significant digits are allowed");
        Recorder { histogram, sum: 0, max: 0 }
    }

    #[inline]
    pub(super) fn record(&mut self, time: Span) {
        self.sum += u128::from(time.0);
        self.max = self.max.max(time.0);
        // It resizes itself up to 2^64, so no time is out of its range.
        let _ = self.histogram.record(time.0);
    }

    pub(super) fn finish(&self) -> Distribution {
        let count = self.histogram.len();
        let seconds = |nanos: f64| if count == 0 { f64::NAN } else { nanos / 1e9 };
        // The histogram answers with the upper end of a cell, which may exceed everything seen.
        let percentile = |p: f64| seconds(self.histogram.value_at_quantile(p).min(self.max) as f64);
        Distribution {
            count,
            mean: seconds(self.sum as f64 / count as f64),
            p50: percentile(0.50),
            p90: percentile(0.90),
            p95: percentile(0.95),
            p99: percentile(0.99),
            max: seconds(self.max as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_one_to_a_thousand_milliseconds_are_exact_to_three_digits() {
        let mut recorder = Recorder::new();
        for millis in 1..=1000 {
            recorder.record(Span::from_millis(millis));
        }
        let distribution = recorder.finish();
        assert_eq!((distribution.count, distribution.mean, distribution.max), (1000, 0.5005, 1.0));
        for (measured, exact) in [
            (distribution.p50, 0.5),
            (distribution.p90, 0.9),
            (distribution.p95, 0.95),
            (distribution.p99, 0.99),
        ] {
            assert!((measured / exact - 1.0).abs() < 1e-3, "{measured} is not {exact}");
        }
    }

    #[test]
    fn no_percentile_exceeds_the_greatest_time() {
        let mut recorder = Recorder::new();
        recorder.record(Span(123_456_789));
        let distribution = recorder.finish();
        assert_eq!(
            (distribution.p50, distribution.p99, distribution.max),
            (0.123456789, 0.123456789, 0.123456789)
        );
    }

    #[test]
    fn nothing_seen_has_no_mean_and_no_percentile() {
        let distribution = Recorder::new().finish();
        assert_eq!(distribution.count, 0);
        assert!(distribution.mean.is_nan() && distribution.p99.is_nan() && distribution.max.is_nan());
    }
}
