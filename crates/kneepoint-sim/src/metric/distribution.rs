// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of times: recorded in nanoseconds, reported in seconds.

use crate::units::Span;

crate::choice! {
    /// A number that describes a distribution.
    pub enum Statistic {
        /// The mean, exact.
        Mean = "mean",
        /// The median, like all percentiles to three significant digits.
        P50 = "p50",
        /// The 90th percentile.
        P90 = "p90",
        /// The 95th percentile.
        P95 = "p95",
        /// The 99th percentile.
        P99 = "p99",
        /// The greatest, exact.
        Max = "max",
    }
}

impl Statistic {
    /// The title of a metric: `99th percentile of queueing delay`.
    pub(super) fn title(self, of: &str) -> String {
        let mut characters = of.chars();
        let first = characters.next().map(|c| c.to_ascii_lowercase());
        // `RTT` stays as it is.
        let lower: String = first.into_iter().chain(characters).collect();
        match self {
            Statistic::Mean => format!("Mean {lower}"),
            Statistic::P50 => format!("Median {lower}"),
            Statistic::P90 => format!("90th percentile of {lower}"),
            Statistic::P95 => format!("95th percentile of {lower}"),
            Statistic::P99 => format!("99th percentile of {lower}"),
            Statistic::Max => format!("Greatest {lower}"),
        }
    }

    /// The head of a narrow column: `p99 delay`; `delay` alone is the mean.
    pub(super) fn short(self, of: &str) -> String {
        match self {
            Statistic::Mean => of.into(),
            Statistic::P50 => format!("median {of}"),
            percentile => format!("{percentile} {of}"),
        }
    }
}

/// Times below twice this are counted each in its own cell; above, a cell is as wide as a thousandth of its times.
const HALF: u64 = 1 << 10;

/// Records times in cells whose width grows with them, as an HDR histogram of three digits does (G. Tene), in a
/// tenth of the instructions: the cell is a shift and an addition. Counters are of 32 bits, so that those in use
/// stay in the first-level cache.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    cells: Vec<u32>,
    sum: u128,
    max: u64,
}

impl Recorder {
    /// An empty one.
    pub const EMPTY: Recorder = Recorder { cells: Vec::new(), sum: 0, max: 0 };

    /// Bytes of a distribution that recorded times up to this.
    pub fn bytes(longest: Span) -> usize {
        (cell(longest.0) + 1).next_multiple_of(HALF as usize) * size_of::<u32>()
    }

    /// Records a time.
    #[inline]
    pub fn record(&mut self, time: Span) {
        self.add(time.0);
    }

    /// Records a number in a unit of the caller's.
    #[inline(always)]
    pub fn add(&mut self, value: u64) {
        self.sum += u128::from(value);
        self.max = self.max.max(value);
        let cell = cell(value);
        match self.cells.get_mut(cell) {
            Some(count) => *count = count.saturating_add(1),
            None => self.lengthen(cell),
        }
    }

    /// Adds the numbers of another one.
    pub fn join(&mut self, other: &Recorder) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        if other.cells.len() > self.cells.len() {
            self.cells.resize(other.cells.len(), 0);
        }
        for (count, more) in self.cells.iter_mut().zip(&other.cells) {
            *count = count.saturating_add(*more);
        }
    }

    #[cold]
    fn lengthen(&mut self, cell: usize) {
        self.cells.resize((cell + 1).next_multiple_of(HALF as usize), 0);
        self.cells[cell] = 1;
    }

    /// The number of recorded times.
    pub fn count(&self) -> u64 {
        self.cells.iter().copied().map(u64::from).sum()
    }

    /// A statistic of the recorded times in seconds; NaN without one.
    pub fn seconds(&self, statistic: Statistic) -> f64 {
        self.value(statistic) / 1e9
    }

    /// The fraction of the recorded numbers that do not exceed `value`, to three significant digits of it; NaN without one.
    pub fn fraction_up_to(&self, value: u64) -> f64 {
        let below: u64 = self.cells.iter().take(cell(value) + 1).copied().map(u64::from).sum();
        below as f64 / self.count() as f64
    }

    /// A statistic in the unit that was recorded; NaN without a number.
    pub fn value(&self, statistic: Statistic) -> f64 {
        let count = self.count();
        if count == 0 {
            return f64::NAN;
        }
        let percentile = |p: f64| self.percentile(libm::ceil(p * count as f64) as u64) as f64;
        match statistic {
            Statistic::Mean => self.sum as f64 / count as f64,
            Statistic::P50 => percentile(0.50),
            Statistic::P90 => percentile(0.90),
            Statistic::P95 => percentile(0.95),
            Statistic::P99 => percentile(0.99),
            Statistic::Max => self.max as f64,
        }
    }

    /// The time that `rank` of the recorded times do not exceed: the end of their last cell, at most the maximum.
    fn percentile(&self, rank: u64) -> u64 {
        let mut seen = 0;
        let reached = self.cells.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        reached.map_or(self.max, last_of).min(self.max)
    }
}

/// The cell of a time. From 2048 on each doubling has 1024 cells.
#[inline]
fn cell(nanos: u64) -> usize {
    let shift = (u64::BITS - (nanos | HALF).leading_zeros()) - (HALF.ilog2() + 1);
    (u64::from(shift) * HALF + (nanos >> shift)) as usize
}

/// The last time of a cell.
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
        let mut recorder = Recorder::default();
        for millis in 1..=1000 {
            recorder.record(Span::from_millis(millis));
        }
        let at = |statistic| recorder.seconds(statistic);
        assert_eq!((recorder.count(), at(Statistic::Mean), at(Statistic::Max)), (1000, 0.5005, 1.0));
        for (statistic, exact) in
            [(Statistic::P50, 0.5), (Statistic::P90, 0.9), (Statistic::P95, 0.95), (Statistic::P99, 0.99)]
        {
            let measured = at(statistic);
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
    fn the_fraction_up_to_a_value_counts_that_value() {
        let mut recorder = Recorder::default();
        assert!(recorder.fraction_up_to(7).is_nan());
        (1..=10).for_each(|value| recorder.add(value));
        assert_eq!([0, 1, 7, 10, 99].map(|value| recorder.fraction_up_to(value)), [0.0, 0.1, 0.7, 1.0, 1.0]);
    }

    #[test]
    fn no_percentile_exceeds_the_greatest_time() {
        let mut recorder = Recorder::default();
        recorder.record(Span(123_456_789));
        for statistic in [Statistic::P50, Statistic::P99, Statistic::Max] {
            assert_eq!(recorder.seconds(statistic), 0.123456789);
        }
    }

    #[test]
    fn an_empty_distribution_has_no_mean_and_no_percentile() {
        let recorder = Recorder::default();
        assert_eq!(recorder.count(), 0);
        assert!(Statistic::ALL.iter().all(|statistic| recorder.seconds(*statistic).is_nan()));
    }

    #[test]
    fn a_family_of_metrics_has_titles_that_read_as_english() {
        assert_eq!(Statistic::P99.title("Queueing delay"), "99th percentile of queueing delay");
        assert_eq!(
            Statistic::ALL.iter().map(|one| one.short("RTT")).collect::<Vec<_>>().join(", "),
            "RTT, median RTT, p90 RTT, p95 RTT, p99 RTT, max RTT"
        );
    }
}
