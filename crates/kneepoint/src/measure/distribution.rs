// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of times: recorded in nanoseconds, reported in seconds.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// How a time is distributed, in seconds; not a number where nothing was seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// How many were seen.
    pub count: u64,
    /// The mean, exact.
    #[serde(deserialize_with = "super::summary::number")]
    pub mean: f64,
    /// The median, like all percentiles to three significant digits.
    #[serde(deserialize_with = "super::summary::number")]
    pub p50: f64,
    /// What nine of ten do not exceed.
    #[serde(deserialize_with = "super::summary::number")]
    pub p90: f64,
    /// What 95 of 100 do not exceed.
    #[serde(deserialize_with = "super::summary::number")]
    pub p95: f64,
    /// What 99 of 100 do not exceed.
    #[serde(deserialize_with = "super::summary::number")]
    pub p99: f64,
    /// The greatest, exact.
    #[serde(deserialize_with = "super::summary::number")]
    pub max: f64,
}

/// Times up to this are counted each in a cell of its own; above, a cell is as wide as a thousandth of its times.
const EXACT: u64 = 2 * HALF;
const HALF: u64 = 1 << 10;

/// Records times in cells whose width grows with them, as an HDR histogram of three digits does (G. Tene), in a
/// tenth of the instructions: the cell is a shift and an addition. Counters are of 32 bits, so that those in use
/// stay in the first-level cache.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    cells: Vec<u32>,
    sum: u128,
    max: u64,
}

impl Recorder {
    pub(super) fn new() -> Recorder {
        Recorder { cells: vec![0; EXACT as usize], sum: 0, max: 0 }
    }

    #[inline]
    pub(super) fn record(&mut self, time: Span) {
        self.sum += u128::from(time.0);
        self.max = self.max.max(time.0);
        let cell = cell(time.0);
        match self.cells.get_mut(cell) {
            Some(count) => *count = count.saturating_add(1),
            None => self.lengthen(cell),
        }
    }

    #[cold]
    fn lengthen(&mut self, cell: usize) {
        self.cells.resize((cell + 1).next_multiple_of(HALF as usize), 0);
        self.cells[cell] = 1;
    }

    pub(super) fn finish(&self) -> Distribution {
        let count: u64 = self.cells.iter().copied().map(u64::from).sum();
        let seconds = |nanos: f64| if count == 0 { f64::NAN } else { nanos / 1e9 };
        let percentile = |p: f64| seconds(self.percentile(libm::ceil(p * count as f64) as u64) as f64);
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

    /// What `rank` of the recorded times do not exceed: the end of their last cell, but nothing beyond all.
    fn percentile(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let reached = self.cells.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        reached.map_or(self.max, last_of).min(self.max)
    }
}

/// Where a time is counted. From 2048 on each doubling has 1024 cells.
#[inline]
fn cell(nanos: u64) -> usize {
    let shift = (u64::BITS - (nanos | HALF).leading_zeros()) - (HALF.ilog2() + 1);
    (u64::from(shift) * HALF + (nanos >> shift)) as usize
}

/// The last time that a cell counts.
fn last_of(cell: usize) -> u64 {
    let cell = cell as u64;
    let shift = (cell / HALF).saturating_sub(1);
    ((cell - shift * HALF + 1) << shift).wrapping_sub(1)
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
    fn every_time_is_in_a_cell_that_ends_within_a_thousandth_of_it() {
        for nanos in (0..5000).chain((0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, 3 << bit >> 1])) {
            let end = last_of(cell(nanos));
            assert!(end >= nanos && end - nanos <= nanos / 1024, "{nanos} is in a cell that ends at {end}");
            assert_eq!(cell(end), cell(nanos));
            assert_eq!(cell(end.saturating_add(1)), cell(nanos) + usize::from(end < u64::MAX));
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
