// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A rate over time that repeats, with other recorded quantities.

use std::sync::Arc;

use crate::units::{Rate, Span, Time};

/// A rate, and the bits until its instant.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Point {
    /// Its beginning, from the start of the period.
    pub at: Span,
    /// The rate until the next point, or the end of the period.
    pub rate: Rate,
    /// Bit-nanoseconds from the start of the period.
    before: u128,
}

/// A quantity that was recorded with the rate: a value for each of its points.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Besides {
    /// Its name, with a unit: `delay_ms`, `latency_ms` or `loss`.
    pub name: &'static str,
    /// Milliseconds, or shares of packets.
    pub values: Arc<[f64]>,
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Course {
    /// In order, the first at zero.
    points: Arc<[Point]>,
    period: Span,
    besides: Vec<Besides>,
}

impl Course {
    /// A sequence of rates with the instants from which they apply; `None` where the first is not at zero, they do not
    /// increase, the period ends before
    /// the last, or less than a bit per second is carried.
    pub(super) fn new(rates: &[(Span, Rate)], period: Span, besides: Vec<Besides>) -> Option<Course> {
        let begins = rates.first().is_some_and(|first| first.0 == Span::ZERO);
        let increases = rates.windows(2).all(|two| two[0].0 < two[1].0);
        if !begins || !increases || rates.last().is_none_or(|last| last.0 >= period) {
            return None;
        }
        let mut before = 0;
        let ends = rates.iter().skip(1).map(|next| next.0).chain([period]);
        let points = rates.iter().zip(ends).map(|(&(at, rate), end)| {
            let point = Point { at, rate, before };
            before += u128::from(rate.0) * u128::from(end.0 - at.0);
            point
        });
        let course = Course { points: points.collect(), period, besides };
        Some(course).filter(|one| one.whole() >= u128::from(period.0))
    }

    /// The rates.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Its period.
    pub fn period(&self) -> Span {
        self.period
    }

    /// Quantities recorded in addition to the rate.
    pub fn besides(&self) -> &[Besides] {
        &self.besides
    }

    /// Each point with the instant until which its rate holds.
    pub(super) fn held(&self) -> impl Iterator<Item = (&Point, Span)> {
        let ends = self.points.iter().skip(1).map(|next| next.at).chain([self.period]);
        self.points.iter().zip(ends)
    }

    /// Bit-nanoseconds from the start of a run to an instant.
    pub fn carried(&self, to: Time) -> u128 {
        u128::from(to.0 / self.period.0) * self.whole() + self.within(to.0 % self.period.0)
    }

    /// The last nanosecond by which at most this many bit-nanoseconds have been carried since the start of a run, and
    /// the rest.
    pub fn reached(&self, carried: u128) -> (Time, u128) {
        let (cycles, within) = (carried / self.whole(), carried % self.whole());
        // Of points with the same start, the ones with a rate of zero come first.
        let point = self.points[self.points.partition_point(|point| point.before <= within) - 1];
        let (work, rate) = (within - point.before, u128::from(point.rate.0));
        let begin = cycles * u128::from(self.period.0) + u128::from(point.at.0);
        (Time(u64::try_from(begin + work / rate).unwrap_or(u64::MAX)), work % rate)
    }

    /// Bit-nanoseconds from the start of a period to an instant before its end.
    fn within(&self, to: u64) -> u128 {
        let point = &self.points[self.points.partition_point(|point| point.at.0 <= to) - 1];
        point.before + u128::from(point.rate.0) * u128::from(to - point.at.0)
    }

    /// Bit-nanoseconds of a period.
    fn whole(&self) -> u128 {
        let last = self.points[self.points.len() - 1];
        last.before + u128::from(last.rate.0) * u128::from(self.period.0 - last.at.0)
    }

    /// The mean rate.
    pub fn mean(&self) -> Rate {
        let period = u128::from(self.period.0);
        Rate(((self.whole() + period / 2) / period) as u64)
    }

    /// The intervals at a rate of zero. One at the end continues with one at the beginning.
    pub(super) fn gaps(&self) -> Vec<Span> {
        let mut gaps: Vec<(Span, Span)> = Vec::new();
        for (point, end) in self.held().filter(|(point, _)| point.rate == Rate(0)) {
            match gaps.last_mut().filter(|last| last.1 == point.at) {
                Some(last) => last.1 = end,
                None => gaps.push((point.at, end)),
            }
        }
        let wraps = gaps.len() > 1 && gaps[0].0 == Span::ZERO && gaps[gaps.len() - 1].1 == self.period;
        let mut lengths: Vec<Span> = gaps.into_iter().map(|(from, to)| Span(to.0 - from.0)).collect();
        if wraps {
            let first = lengths.remove(0);
            if let Some(last) = lengths.last_mut() {
                *last = *last + first;
            }
        }
        lengths
    }
}
