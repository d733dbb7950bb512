// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Two results side by side: cases matched by their factors, runs paired by their seeds, and the differences of their
//! scenarios.
//!
//! ```text
//! d = b − a, seed by seed, over the seeds that both have       Student's interval of the mean of d
//! apart: p ≤ 0.05 after Holm's correction over all cases and metrics
//! ```

mod document;
mod matching;
mod settings;

use std::collections::BTreeMap;

use super::contest::{contrast, twins};
use super::{Comparison, Factor, RunResult, SchemeResult};
use crate::keys::Shape;
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::paired::{LEVEL, holm};
use crate::table::{Cell, Estimate, Labels, Records, Row};
pub use document::document;
use matching::matched;
use settings::changes;

crate::keys! {
    /// Two results side by side.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Difference {
        /// The first result.
        pub a: Side,
        /// The second result.
        pub b: Side,
        /// Whether both have the same cases and every run of them has the same numbers.
        pub same: bool,
        /// The factors of the second result.
        pub factors: Vec<Factor>,
        /// Fields of scenarios, files and versions that differ.
        pub changed: Vec<Change>,
        /// Cases that the first result alone has.
        pub gone: Vec<String>,
        /// Cases that the second result alone has.
        pub new: Vec<String>,
        /// Cases that both have.
        pub cases: Vec<Matched>,
        /// Remarks for readers.
        pub notes: Vec<String>,
    }

    /// A result.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Side {
        /// Its directory, as given.
        pub name: String,
        /// Its title.
        pub title: String,
        /// Its cases.
        pub cases: usize,
        /// The command that made it; null if that is unknown.
        pub command: Option<String>,
    }

    /// A setting that differs. It is null on the side that does not have it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Change {
        /// The field of the scenario, as `topology.rtt`; or a file, the seeds, the version of knee.
        pub what: String,
        /// The scenarios with the difference; empty where it is not one of scenarios.
        pub scenarios: Vec<String>,
        /// Of the first result.
        pub a: Option<String>,
        /// Of the second result.
        pub b: Option<String>,
    }

    /// A case that both results have.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Matched {
        /// Its name in the second result.
        pub case: String,
        /// Its levels there, by the columns of the factors.
        pub levels: BTreeMap<String, Cell> => Shape::Each("<column>", "The level: a number in the unit of the factor, or a name."),
        /// The seeds that both have.
        pub seeds: Vec<u64>,
        /// A number each.
        pub metrics: Vec<Compared>,
    }

    /// A metric of a case in both results.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Compared {
        /// The key of the metric, with its unit.
        pub metric: String,
        /// The link, group or other part, by label; empty for the whole run.
        pub of: Labels => Shape::Each("<label>", "The label along this axis, as `link` or `group`."),
        /// The estimate of the first result over the seeds that both have.
        pub a: Estimate,
        /// The same of the second result.
        pub b: Estimate,
        /// The estimate of the second minus the first, seed by seed.
        pub difference: Estimate,
        /// The probability of so large a difference between equal cases, after Holm's correction over all differences; null without two common
        /// seeds, and where nothing is random.
        pub p: Option<f64>,
        /// Whether the difference is distinguishable from chance: `p` is 0.05 at most, or nothing is random.
        pub apart: bool,
        /// The metric for people.
        #[serde(skip)]
        pub told: &'static Metric,
    }
}

/// The differences of the metrics with these keys, or of the headline metrics if there are none. Both results keep the
/// names that readers know.
pub fn difference(a: (&str, &Comparison), b: (&str, &Comparison), metrics: &[String]) -> Difference {
    let ((name_a, first), (name_b, second)) = (a, b);
    let pairs = matched(first, second);
    let mut cases: Vec<Matched> =
        pairs.iter().map(|(one, other)| compared(first, *one, second, *other, metrics)).collect();
    correct(&mut cases);
    let alone = |comparison: &Comparison, known: &dyn Fn(usize) -> bool| -> Vec<String> {
        let alone = comparison.schemes.iter().enumerate().filter(|(place, _)| !known(*place));
        alone.map(|(_, scheme)| scheme.scheme.clone()).collect()
    };
    let gone = alone(first, &|place| pairs.iter().any(|(one, _)| *one == place));
    let new = alone(second, &|place| pairs.iter().any(|(_, other)| *other == place));
    let is_same = |(one, other): &(usize, usize)| same(&first.schemes[*one], &second.schemes[*other]);
    let same = !pairs.is_empty() && gone.is_empty() && new.is_empty() && pairs.iter().all(is_same);
    Difference {
        a: Side::of(name_a, first),
        b: Side::of(name_b, second),
        same,
        factors: second.factors.clone(),
        changed: changes(&first.manifest, &second.manifest),
        notes: notes(&cases),
        gone,
        new,
        cases,
    }
}

/// The keys by which metrics can be chosen.
pub fn known_metrics() -> impl Iterator<Item = &'static str> {
    Subject::ALL.iter().flat_map(|subject| subject.metrics()).map(|metric| metric.key.as_str())
}

/// One line per case and metric.
pub fn records(difference: &Difference) -> Records {
    let factors = difference.factors.iter().map(|factor| factor.column.as_str());
    let numbers = [
        "metric",
        "of",
        "a",
        "a_half_width",
        "b",
        "b_half_width",
        "difference",
        "difference_half_width",
        "seeds",
        "p",
        "apart",
    ];
    let columns = ["case"].into_iter().chain(factors).chain(numbers);
    let row = |(case, one): (&Matched, &Compared)| {
        let half = |estimate: &Estimate| Cell::Number(estimate.half_width.unwrap_or(f64::NAN));
        let cells = vec![
            Cell::Text(one.metric.clone()),
            Cell::Text(one.part()),
            one.a.mean.into(),
            half(&one.a),
            one.b.mean.into(),
            half(&one.b),
            one.difference.mean.into(),
            half(&one.difference),
            Cell::Number(case.seeds.len() as f64),
            one.p.unwrap_or(f64::NAN).into(),
            Cell::Number(f64::from(u8::from(one.apart))),
        ];
        let levels = difference
            .factors
            .iter()
            .map(|factor| case.levels.get(&factor.column).cloned().unwrap_or(Cell::Number(f64::NAN)));
        [Cell::Text(case.case.clone())].into_iter().chain(levels).chain(cells).collect()
    };
    let rows = difference.cases.iter().flat_map(|case| case.metrics.iter().map(move |one| (case, one)));
    Records { columns: columns.map(String::from).collect(), rows: rows.map(row).collect() }
}

impl Side {
    fn of(name: &str, comparison: &Comparison) -> Side {
        Side {
            name: name.to_string(),
            title: comparison.title.clone(),
            cases: comparison.schemes.len(),
            command: comparison.manifest.command.clone(),
        }
    }
}

impl Compared {
    /// The labels of its part in a row: `long`, or `long, r1-r2`; empty for the whole run.
    pub fn part(&self) -> String {
        self.of.values().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Whether all runs of two cases have the same numbers.
fn same(a: &SchemeResult, b: &SchemeResult) -> bool {
    let pairs = twins(a, b);
    pairs.len() == a.runs.len()
        && pairs.len() == b.runs.len()
        && pairs.iter().all(|(one, other)| one.rows == other.rows)
}

/// The subject of a metric: the labels of its row.
type Place = (Labels, &'static Metric);

/// The metrics that a case of each result has for some seed.
fn compared(first: &Comparison, one: usize, second: &Comparison, other: usize, wanted: &[String]) -> Matched {
    let (a, b) = (&first.schemes[one], &second.schemes[other]);
    let level = |(factor, level): (&Factor, &usize)| (factor.column.clone(), factor.cell(*level));
    let pairs = twins(a, b);
    // Several equal numbers contain no information on their error.
    let certain = a.is_certain() && b.is_certain();
    let used = if certain { &pairs[..pairs.len().min(1)] } else { &pairs[..] };
    let number = |(labels, metric): &Place| {
        let of = |run: &RunResult| {
            let row = run.rows.iter().find(|row| row.labels == *labels);
            row.map_or(f64::NAN, |row| row.value(&metric.key))
        };
        let both = used.iter().map(|(own, twin)| (of(own), of(twin)));
        let both: Vec<(f64, f64)> = both.filter(|(own, twin)| own.is_finite() && twin.is_finite()).collect();
        let estimate = |numbers: Vec<f64>| Estimate::of(&numbers);
        let difference = estimate(both.iter().map(|(own, twin)| twin - own).collect());
        let p = contrast(b, a, &of).p;
        (!both.is_empty()).then(|| Compared {
            metric: metric.key.clone(),
            of: labels.clone(),
            a: estimate(both.iter().map(|(own, _)| *own).collect()),
            b: estimate(both.iter().map(|(_, twin)| *twin).collect()),
            difference,
            p,
            apart: false,
            told: metric,
        })
    };
    Matched {
        case: b.scheme.clone(),
        levels: second.factors.iter().zip(&b.levels).map(level).collect(),
        seeds: pairs.iter().map(|(run, _)| run.seed).collect(),
        metrics: places(&pairs, wanted).iter().filter_map(number).collect(),
    }
}

/// The headline metrics of the whole run, or the chosen ones of any part.
fn places(pairs: &[(&RunResult, &RunResult)], wanted: &[String]) -> Vec<Place> {
    if wanted.is_empty() {
        return headlines().map(|metric| (Labels::new(), metric)).collect();
    }
    let rows: Vec<&Row> = pairs.first().into_iter().flat_map(|(_, run)| &run.rows).collect();
    let mut found: Vec<Place> = Vec::new();
    for key in wanted {
        for subject in Subject::ALL {
            let Some(metric) = subject.metrics().iter().find(|metric| metric.key == *key) else { continue };
            let of_subject = rows.iter().filter(|row| subject.has(row));
            found.extend(of_subject.map(|row| (row.labels.clone(), metric)));
        }
    }
    found
}

/// Corrects the probabilities of all differences together, and marks the ones distinguishable from chance.
fn correct(cases: &mut [Matched]) {
    let all = || cases.iter().flat_map(|case| &case.metrics).filter_map(|one| one.p);
    let mut corrected = holm(&all().collect::<Vec<_>>()).into_iter();
    for one in cases.iter_mut().flat_map(|case| &mut case.metrics).filter(|one| one.p.is_some()) {
        one.p = corrected.next();
        one.apart = one.p.is_some_and(|p| p < LEVEL);
    }
}

/// Remarks for a reader of the numbers.
fn notes(cases: &[Matched]) -> Vec<String> {
    let lone = |count: usize| cases.iter().filter(|case| case.seeds.len() == count).count();
    let mut notes = Vec::new();
    if lone(0) > 0 {
        notes.push(format!(
            "{} of {} cases have no seed in common: run both with the same seeds",
            lone(0),
            cases.len()
        ));
    }
    // For a single case the verdict contains it.
    if lone(1) > 0 && cases.len() > 1 {
        notes.push(format!(
            "{} of {} cases have one seed in common, which gives no interval",
            lone(1),
            cases.len()
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
