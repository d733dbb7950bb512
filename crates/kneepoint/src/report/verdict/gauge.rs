// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The quantities that a verdict is about, and their words.

use super::super::contest::{Contest, Judgement};
use super::super::{Comparison, RunResult, SchemeResult, transfers};
use crate::measure::headlines;
use crate::metric::{Better, Metric};
use crate::table::{Bounds, Estimate, number, value};

/// A quantity of a run, and how people speak of it.
pub(super) struct Gauge<'c> {
    /// The expression of figures and claims that it is.
    pub(super) key: String,
    /// `queueing delay`
    pub(super) name: String,
    pub(super) better: Better,
    unit: &'static str,
    scale: f64,
    bounds: Bounds,
    of: Box<dyn Fn(&RunResult) -> f64 + 'c>,
}

impl<'c> Gauge<'c> {
    fn new(name: impl Into<String>, metric: &Metric, of: impl Fn(&RunResult) -> f64 + 'c) -> Gauge<'c> {
        Gauge {
            key: metric.key.clone(),
            name: name.into(),
            better: metric.better.unwrap_or(Better::Less),
            unit: metric.unit,
            scale: metric.scale,
            bounds: metric.bounds,
            of: Box::new(of),
        }
    }

    /// A headline by its key.
    fn headline(key: &'static str) -> Option<Gauge<'c>> {
        let metric = headlines().find(|metric| metric.key == key)?;
        let name =
            NAMES.iter().find(|(known, _)| *known == key).map_or(metric.title.as_str(), |(_, name)| name);
        Some(Gauge::new(name, metric, move |run| value(&run.rows, key, &[])))
    }

    /// The gauges that every case of a comparison has, the most informative first: times of short transfers, where there are any.
    pub(super) fn all(comparison: &'c Comparison) -> Vec<Gauge<'c>> {
        let known = ["queueing_delay_mean_ms", "utilization", "flow_goodput_bps", "jain_index"];
        let short = Gauge::leading(comparison).into_iter().map(|group| Gauge::of_transfers(&group));
        let telling = Gauge::headlines(comparison, &known);
        short.chain(telling.into_iter().filter(|gauge| !gauge.is_of_one(comparison))).collect()
    }

    /// Whether it is the fairness of a single flow.
    fn is_of_one(&self, comparison: &Comparison) -> bool {
        let runs = || comparison.schemes.iter().flat_map(|scheme| &scheme.runs);
        self.key == "jain_index" && runs().all(|run| self.of(run) == 1.0)
    }

    /// The group of short transfers whose times decide, if there is one: the first that every case has.
    pub(super) fn leading(comparison: &'c Comparison) -> Option<transfers::Group<'c>> {
        let known = |group: &transfers::Group<'c>| Gauge::of_transfers(group).is_known(comparison);
        transfers::groups(comparison).into_iter().find(known)
    }

    /// Possible costs of the best times of short transfers: their slowest ones, the long transfers next to them, and
    /// delay.
    pub(super) fn costs_of_transfers(
        comparison: &'c Comparison,
        group: &transfers::Group<'c>,
    ) -> Vec<Gauge<'c>> {
        let late = group.late().map(|metric| {
            let group = group.clone();
            Gauge::new(lower(&metric.title), metric, move |run| group.of(run, &metric.key))
        });
        let long = Gauge {
            key: String::new(),
            name: "goodput of long transfers".into(),
            better: Better::More,
            unit: "Mbit/s",
            scale: 1e-6,
            bounds: Bounds::POSITIVE,
            of: Box::new(transfers::long_bps),
        };
        let own = [Some(long), late].into_iter().flatten().filter(|gauge| gauge.is_known(comparison));
        own.chain(Gauge::headlines(comparison, &["queueing_delay_p99_ms"])).collect()
    }

    /// Possible costs of the least queueing delay.
    pub(super) fn costs(comparison: &'c Comparison) -> Vec<Gauge<'c>> {
        // Goodput repeats utilization, where all of the link is theirs.
        Gauge::headlines(comparison, &["utilization", "jain_index", "queueing_delay_p99_ms"])
    }

    fn headlines(comparison: &'c Comparison, keys: &[&'static str]) -> Vec<Gauge<'c>> {
        let all = keys.iter().filter_map(|key| Gauge::headline(key));
        all.filter(|gauge| gauge.is_known(comparison)).collect()
    }

    /// The time of short transfers.
    pub(super) fn of_transfers(group: &transfers::Group<'c>) -> Gauge<'c> {
        let (metric, own) = (group.time, group.clone());
        let time = Gauge::new(lower(&metric.title), metric, move |run| own.of(run, &metric.key));
        Gauge { key: group.expression(), ..time }
    }

    /// Whether every case has it.
    fn is_known(&self, comparison: &Comparison) -> bool {
        let runs = |scheme: &SchemeResult| scheme.runs.iter().any(|run| self.of(run).is_finite());
        !comparison.schemes.is_empty() && comparison.schemes.iter().all(runs)
    }

    /// Its estimate for a case.
    pub(super) fn estimate(&self, scheme: &SchemeResult) -> Estimate {
        let known = scheme.distinct().iter().map(|run| self.of(run)).filter(|number| number.is_finite());
        Estimate::of(&known.collect::<Vec<_>>())
    }

    /// Some rivals in it.
    pub(super) fn judged(&self, comparison: &Comparison, contest: &Contest) -> Option<Judgement> {
        Judgement::of(comparison, contest, (&self.key, self.better), &|run| self.of(run))
    }

    /// Its number in a run, in the unit of files.
    pub(super) fn of(&self, run: &RunResult) -> f64 {
        (self.of)(run)
    }

    /// `12.3 ms`
    pub(super) fn shown(&self, estimate: &Estimate) -> String {
        format!("{}{}", self.bare(estimate), self.after())
    }

    /// `12.3 ± 0.4 ms`
    pub(super) fn with_spread(&self, estimate: &Estimate) -> String {
        let (mean, spread) = number::quoted(estimate, self.scale, self.bounds);
        let spread = spread.map_or(String::new(), |spread| format!(" {spread}"));
        format!("{mean}{spread}{}", self.after())
    }

    /// `12.3`
    pub(super) fn bare(&self, estimate: &Estimate) -> String {
        number::grouped(&number::rounded(estimate, self.scale))
    }

    /// The unit behind a number.
    pub(super) fn after(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) }
    }

    /// `31 % less queueing delay`, with the article that it needs.
    pub(super) fn compared(&self, one: f64, other: f64) -> String {
        format!("{}{} {}", self.words().article, self.by(one, other), self.name)
    }

    /// `31 % less queueing delay` of a part described already.
    pub(super) fn changed(&self, part: &str, is_less: bool) -> String {
        format!("{}{part} {} {}", self.words().article, self.how(is_less), self.name)
    }

    /// `31 % less`
    pub(super) fn by(&self, one: f64, other: f64) -> String {
        let part = percent((one - other).abs() / other.abs());
        format!("{part} {}", self.how(one < other)).trim_start().into()
    }

    /// `less`
    pub(super) fn how(&self, is_less: bool) -> &'static str {
        if is_less { self.words().less } else { self.words().more }
    }

    /// `the least queueing delay`
    pub(super) fn best(&self) -> String {
        let most = if self.better == Better::More { self.words().most } else { self.words().least };
        format!("the {most} {}", self.name)
    }

    fn words(&self) -> &'static Words {
        if self.name.contains(" time") { &DURATION } else { &AMOUNT }
    }
}

/// A title within a sentence: `median completion time`, `completion time at the 95th percentile`.
fn lower(title: &str) -> String {
    let title = match title.split_once(" percentile of ") {
        Some((rank, what)) => format!("{what} at the {rank} percentile"),
        None => title.to_string(),
    };
    title[..1].to_lowercase() + &title[1..]
}

/// A part of something, to two digits; nothing without a number.
pub(super) fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    match percent.is_finite() {
        false => String::new(),
        true if percent < 1.0 => format!("{} %", number::significant(percent, 1)),
        // A hundred percent less would be nothing.
        true if (99.5..100.0).contains(&percent) => "over 99 %".into(),
        // A number rounded to ten has two digits already.
        true if percent < 9.95 => format!("{percent:.1} %"),
        true => format!("{percent:.0} %"),
    }
}

/// Adjectives of a quantity.
struct Words {
    article: &'static str,
    less: &'static str,
    more: &'static str,
    least: &'static str,
    most: &'static str,
}

const AMOUNT: Words = Words { article: "", less: "less", more: "more", least: "least", most: "most" };
const DURATION: Words =
    Words { article: "a ", less: "shorter", more: "longer", least: "shortest", most: "longest" };

/// Shorter names than titles.
const NAMES: [(&str, &str); 5] = [
    ("queueing_delay_mean_ms", "queueing delay"),
    ("flow_goodput_bps", "goodput per flow"),
    ("utilization", "utilization"),
    ("jain_index", "fairness (Jain's index)"),
    ("queueing_delay_p99_ms", "queueing delay at the 99th percentile"),
];
