// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables of metrics as cells, for every format that shows them to people.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::document::Shown;
use super::{Comparison, RunResult, SchemeResult};
use crate::measure::{Subject, headlines};
use crate::metric::{Better, Metric};
use crate::table::{Estimate, Labels, value};

/// The headline metrics: one column per metric that is defined for some scheme, one line per scheme.
pub(super) struct Grid {
    pub(super) metrics: Vec<&'static Metric>,
    pub(super) lines: Vec<(String, Vec<Shown>)>,
}

impl Grid {
    pub(super) fn of(comparison: &Comparison) -> Grid {
        let defined = |metric: &&Metric| {
            comparison.schemes.iter().any(|scheme| scheme.estimate(&metric.key).mean.is_finite())
        };
        let metrics: Vec<_> = headlines().filter(defined).collect();
        let marks: Vec<Vec<bool>> = metrics.iter().map(|metric| best(comparison, metric)).collect();
        let line = |(rank, scheme): (usize, &SchemeResult)| {
            let cell = |(metric, marked): (&&Metric, &Vec<bool>)| {
                let shown = Shown::of(&scheme.estimate(&metric.key), metric.scale);
                Shown { best: marked[rank], ..shown }
            };
            (scheme.scheme.clone(), metrics.iter().zip(&marks).map(cell).collect())
        };
        let lines = comparison.schemes.iter().enumerate().map(line).collect();
        Grid { metrics, lines }
    }
}

/// Which schemes have the best mean of a metric, or one that their seeds do not tell apart from it. None of them where no number
/// is better than another, or where they are all alike.
fn best(comparison: &Comparison, metric: &Metric) -> Vec<bool> {
    let none = vec![false; comparison.schemes.len()];
    let Some(better) = metric.better else { return none };
    let worth = |run: &RunResult| match better {
        Better::More => value(&run.rows, &metric.key, &[]),
        Better::Less => -value(&run.rows, &metric.key, &[]),
    };
    let mean = |scheme: &SchemeResult| Estimate::of(&scheme.runs.iter().map(worth).collect::<Vec<_>>()).mean;
    let known = comparison.schemes.iter().filter(|scheme| mean(scheme).is_finite());
    let Some(first) = known.max_by(|one, other| mean(one).total_cmp(&mean(other))) else { return none };
    let alike = |scheme: &SchemeResult| {
        let lead = |run: &RunResult| {
            let own = scheme.runs.iter().find(|own| own.seed == run.seed)?;
            Some(worth(run) - worth(own))
        };
        let lead = Estimate::of(&first.runs.iter().filter_map(lead).collect::<Vec<_>>());
        lead.mean.is_finite() && lead.interval().0 <= 0.0
    };
    let alike: Vec<bool> = comparison.schemes.iter().map(alike).collect();
    if alike.iter().all(|alike| *alike) { none } else { alike }
}

/// The metrics of one link, group or class over the runs of a scheme.
pub(super) struct Measured {
    pub(super) labels: Labels,
    /// Each metric of the subject, over the runs where it is defined.
    pub(super) estimates: Vec<(&'static Metric, Estimate)>,
}

/// All links, groups or classes of a scheme, in order of appearance.
pub(super) fn measured(scheme: &SchemeResult, subject: Subject) -> Vec<Measured> {
    let mut all: Vec<(Labels, Vec<&crate::table::Row>)> = Vec::new();
    for row in scheme.distinct().iter().flat_map(|run| &run.rows).filter(|row| subject.has(row)) {
        match all.iter_mut().find(|(labels, _)| *labels == row.labels) {
            Some((_, rows)) => rows.push(row),
            None => all.push((row.labels.clone(), vec![row])),
        }
    }
    let over = |(labels, rows): (Labels, Vec<&crate::table::Row>)| {
        let estimate = |metric: &'static Metric| {
            let values = rows.iter().map(|row| row.value(&metric.key)).filter(|value| value.is_finite());
            (metric, Estimate::of(&values.collect::<Vec<_>>()))
        };
        Measured { labels, estimates: subject.metrics().iter().map(estimate).collect() }
    };
    all.into_iter().map(over).collect()
}

impl Measured {
    /// The estimate of a metric by its key.
    pub(super) fn estimate(&self, key: &str) -> Option<Estimate> {
        self.estimates.iter().find(|(metric, _)| metric.key == key).map(|(_, estimate)| *estimate)
    }

    /// Its name for people: a group with its congestion control, a class with its sizes.
    pub(super) fn name(&self, scheme: &SchemeResult) -> String {
        let label = |axis: &str| self.labels.get(axis).map(String::as_str);
        let named = |group: &str| match scheme.controls.get(group) {
            Some(control) => format!("{group} ({control})"),
            None => group.to_string(),
        };
        match (label("link"), label("group"), label("class")) {
            (Some(link), Some(group), _) => format!("{} on {link}", named(group)),
            (Some(link), ..) => link.to_string(),
            (_, Some(group), Some(class)) => format!("{group}, from {class}"),
            (_, Some(group), None) => named(group),
            _ => String::new(),
        }
    }
}

/// By labels and keys.
impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (axis, label) in &self.labels {
            map.serialize_entry(axis, label)?;
        }
        for (metric, estimate) in &self.estimates {
            map.serialize_entry(&metric.key, estimate)?;
        }
        map.end()
    }
}

/// A column for each link, group or class of each scheme, and a line for each metric that some of them have.
pub(super) struct Breakdown {
    /// The rank of the scheme, its name, and that of the link, group or class.
    pub(super) columns: Vec<(usize, String, String)>,
    pub(super) lines: Vec<(&'static Metric, Vec<Shown>)>,
}

impl Breakdown {
    /// Of the metrics that `wanted` lets pass.
    pub(super) fn of(comparison: &Comparison, subject: Subject, wanted: fn(&Metric) -> bool) -> Breakdown {
        let mut columns = Vec::new();
        let mut all = Vec::new();
        for (rank, scheme) in comparison.schemes.iter().enumerate() {
            for one in measured(scheme, subject) {
                columns.push((rank, scheme.scheme.clone(), one.name(scheme)));
                all.push(one.estimates);
            }
        }
        let line = |(place, metric): (usize, &'static Metric)| {
            let defined = all.iter().any(|estimates| estimates[place].1.mean.is_finite());
            let cells = || all.iter().map(|estimates| Shown::of(&estimates[place].1, metric.scale)).collect();
            (defined && wanted(metric)).then(|| (metric, cells()))
        };
        let lines = subject.metrics().iter().enumerate().filter_map(line).collect();
        Breakdown { columns, lines }
    }
}

impl Comparison {
    /// A sentence on the numbers, as `Means … over 3 seeds (1, 2, 3).`, and on missing schemes.
    pub(super) fn caption(&self) -> String {
        let mut said = self.extent();
        let certain = self.schemes.iter().filter(|scheme| scheme.is_certain());
        match certain.map(|scheme| scheme.scheme.as_str()).collect::<Vec<_>>().as_slice() {
            [] => {}
            all if all.len() == self.schemes.len() => {
                said += " All seeds gave the same run: nothing here is random.";
            }
            some => {
                said +=
                    &format!(" All seeds gave the same run of {}: nothing in it is random.", some.join(", "))
            }
        }
        match self.without_a_run().as_slice() {
            [] => said,
            names => format!("{said} Without a run: {}.", names.join(", ")),
        }
    }

    /// Planned schemes without a run, where each has a scenario of its own.
    fn without_a_run(&self) -> Vec<&str> {
        let scenarios = &self.manifest.scenario;
        let ran = |name: &str| self.schemes.iter().any(|scheme| scheme.scheme == name);
        // Rows of a single scenario's sweep have names that are not the scenario's.
        let planned = scenarios.iter().filter(|_| scenarios.len() > 1).map(|(name, _)| name.as_str());
        planned.filter(|name| !ran(name)).collect()
    }

    /// The number of runs behind the numbers.
    fn extent(&self) -> String {
        let seeds = &self.manifest.seeds;
        let runs = || self.schemes.iter().map(|scheme| scheme.runs.len());
        let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
        if least < seeds.len() && !self.schemes.is_empty() {
            let planned = format!("of {} planned seeds", seeds.len());
            return match (least, most) {
                (_, 1) => format!("One run {planned}: no confidence interval."),
                _ => {
                    let done = if least < most { format!("{least} to {most}") } else { most.to_string() };
                    let lone = if least == 1 { " One run: no confidence interval." } else { "" };
                    format!(
                        "Means and half widths of their 95 % confidence intervals over {done} {planned}.{lone}"
                    )
                }
            };
        }
        let list = match seeds.as_slice() {
            [] => "no seed".into(),
            [one] => format!("seed {one}"),
            [first, .., last] if seeds.windows(2).all(|pair| pair[1] == pair[0] + 1) && seeds.len() > 3 => {
                format!("{} seeds ({first} to {last})", seeds.len())
            }
            several => {
                let list: Vec<String> = several.iter().map(u64::to_string).collect();
                format!("{} seeds ({})", seeds.len(), list.join(", "))
            }
        };
        if seeds.len() > 1 {
            format!("Means and half widths of their 95 % confidence intervals over {list}.")
        } else {
            format!("One run, {list}: no confidence interval.")
        }
    }
}
