// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Application events: reports of a source of traffic, and the counters behind its metrics.
//!
//! ```text
//! Quantity ─Report→ Request::Report ─→ Event::Reported ─Meter→ Tallies ─Reports::metrics→ Row
//! ```
//!
//! A source declares quantities, reports numbers of them, and gives metrics that are functions of the counters. Everything between
//! passes reports on without knowing any of them.

use super::{Entry, Recorder};
use crate::units::{Span, Time};

/// A quantity that a source reports, by a name that no other of its quantities has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    name: &'static str,
    distributed: bool,
}

impl Quantity {
    /// A quantity whose reports are counted and added up.
    pub const fn number(name: &'static str) -> Quantity {
        Quantity { name, distributed: false }
    }

    /// A time whose reports have a distribution, too.
    pub const fn times(name: &'static str) -> Quantity {
        Quantity { name, distributed: true }
    }

    /// A report of a number; it counts if `at` is inside the measurement window.
    pub fn is(self, value: f64, at: Time) -> Report {
        Report { quantity: self, value, at }
    }

    /// A report of a time, in nanoseconds.
    pub fn took(self, time: Span, at: Time) -> Report {
        self.is(time.0 as f64, at)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether its reports have a distribution.
    pub fn is_distributed(self) -> bool {
        self.distributed
    }
}

/// A number that a source reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The quantity that it is of.
    pub quantity: Quantity,
    /// The number; of a time, nanoseconds.
    pub value: f64,
    /// The time of the event, by the clock that decides whether it counts.
    pub at: Time,
}

/// The declaration of a source: the metrics that its reports feed.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// The text of the file whose header defines the metrics.
    pub source: &'static str,
    /// The metrics of a group.
    pub metrics: &'static [Entry<Tallies>],
    /// The quantities that a series has over time.
    pub courses: &'static [Course],
}

/// A quantity of a group over time, made of the reports since the instant before.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The name of its column, with the unit.
    pub name: &'static str,
    /// The title of its chart with the unit for people, as in `target, Mbit/s`.
    pub title: &'static str,
    /// The factor from the unit of the column to the unit for people.
    pub scale: f64,
    /// A sentence.
    pub about: &'static str,
    /// The number; NaN where nothing was reported.
    pub value: fn(&Tallies) -> f64,
}

impl Reports {
    /// Metrics of a source without reports.
    pub const NONE: Reports = Reports { source: "", metrics: &[], courses: &[] };
}

/// Reports of a group's sources inside the measurement window, by quantity.
#[derive(Clone, Debug, Default)]
pub struct Tallies(Vec<(Quantity, Tally)>);

#[derive(Clone, Debug, Default)]
struct Tally {
    count: u64,
    sum: f64,
    last: f64,
    times: Recorder,
}

/// A quantity without a report.
static NOTHING: Tally = Tally { count: 0, sum: 0.0, last: f64::NAN, times: Recorder::EMPTY };

impl Tallies {
    /// Takes in a report.
    pub fn add(&mut self, report: &Report) {
        let Report { quantity, value, .. } = *report;
        let known = self.0.iter().position(|(known, _)| *known == quantity);
        let place = known.unwrap_or_else(|| {
            self.0.push((quantity, Tally::default()));
            self.0.len() - 1
        });
        let tally = &mut self.0[place].1;
        tally.count += 1;
        tally.sum += value;
        tally.last = value;
        if quantity.distributed {
            tally.times.record(Span(value as u64));
        }
    }

    fn of(&self, quantity: Quantity) -> &Tally {
        self.0.iter().find(|(known, _)| *known == quantity).map_or(&NOTHING, |(_, tally)| tally)
    }

    /// The number of reports.
    pub fn count(&self, quantity: Quantity) -> u64 {
        self.of(quantity).count
    }

    /// The sum of the numbers; zero without one.
    pub fn sum(&self, quantity: Quantity) -> f64 {
        self.of(quantity).sum
    }

    /// The sum of the times, in seconds.
    pub fn seconds(&self, quantity: Quantity) -> f64 {
        self.sum(quantity) / 1e9
    }

    /// The last number; NaN without one.
    pub fn last(&self, quantity: Quantity) -> f64 {
        self.of(quantity).last
    }

    /// The distribution of a quantity of [`times`](Quantity::times).
    pub fn times(&self, quantity: Quantity) -> &Recorder {
        &self.of(quantity).times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Statistic;

    const STALLED: Quantity = Quantity::number("stalled");
    const STARTUP: Quantity = Quantity::times("startup");

    #[test]
    fn reports_are_counted_added_up_and_distributed_by_quantity() {
        let mut tallies = Tallies::default();
        let (at, second) = (Time::ZERO, Span::from_secs(1));
        for report in [STALLED.took(second, at), STARTUP.took(second, at), STALLED.took(Span(1), at)] {
            tallies.add(&report);
        }
        assert_eq!(
            (tallies.count(STALLED), tallies.sum(STALLED), tallies.last(STALLED)),
            (2, 1e9 + 1.0, 1.0)
        );
        assert_eq!((tallies.count(STARTUP), tallies.seconds(STARTUP)), (1, 1.0));
        assert_eq!(tallies.times(STARTUP).seconds(Statistic::Max), 1.0);
        assert_eq!(tallies.times(STALLED).count(), 0);
    }

    #[test]
    fn a_quantity_without_a_report_is_zero_times_nothing() {
        let tallies = Tallies::default();
        assert_eq!((tallies.count(STARTUP), tallies.sum(STARTUP)), (0, 0.0));
        assert!(tallies.last(STARTUP).is_nan() && tallies.times(STARTUP).seconds(Statistic::Mean).is_nan());
    }
}
