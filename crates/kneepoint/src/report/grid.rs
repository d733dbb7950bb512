// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables of metrics as cells, for every format that shows them to people.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::contest::{FEW_SEEDS, Judgement};
use super::document::{Shown, Standing};
use super::{Comparison, RunResult, SchemeResult};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::{Estimate, Labels, Row, value};

/// The headline metrics: one column per metric that is defined for some scheme, one line per scheme.
pub(super) struct Grid {
    pub(super) metrics: Vec<&'static Metric>,
    pub(super) lines: Vec<(String, Vec<Shown>)>,
    /// Metrics that are the same in every line and therefore have no column, each with its number: `marked 0 %`.
    pub(super) same: Vec<String>,
}

impl Grid {
    pub(super) fn of(comparison: &Comparison) -> Grid {
        let defined = |metric: &&Metric| {
            comparison.schemes.iter().any(|scheme| scheme.estimate(&metric.key).mean.is_finite())
        };
        let column = |metric: &'static Metric| {
            let standings = standings(comparison, metric);
            let cell = |(scheme, standing): (&SchemeResult, Standing)| {
                Shown::metric(&scheme.estimate(&metric.key), metric).standing(standing)
            };
            (metric, comparison.schemes.iter().zip(standings).map(cell).collect())
        };
        let columns: Vec<(&'static Metric, Vec<Shown>)> = headlines().filter(defined).map(column).collect();
        let (same, columns): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|(_, cells)| is_constant(cells));
        let line = |(rank, scheme): (usize, &SchemeResult)| {
            let cells = columns.iter().map(|(_, cells)| cells[rank].clone());
            (scheme.scheme.clone(), cells.collect())
        };
        Grid {
            lines: comparison.schemes.iter().enumerate().map(line).collect(),
            metrics: columns.iter().map(|(metric, _)| *metric).collect(),
            same: same.iter().map(told).collect(),
        }
    }

    /// The metrics without a column, in a sentence.
    pub(super) fn constants(&self) -> Option<String> {
        (!self.same.is_empty()).then(|| format!("The same in every row: {}.", self.same.join(", ")))
    }
}

/// The place of each scheme in a metric among those under the same conditions; unmarked where no number is better than another.
fn standings(comparison: &Comparison, metric: &Metric) -> Vec<Standing> {
    let mut all = vec![Standing::Unmarked; comparison.schemes.len()];
    let Some(better) = metric.better else { return all };
    for contest in comparison.contests() {
        let of = |run: &RunResult| value(&run.rows, &metric.key, &[]);
        let judged = Judgement::of(comparison, &contest, (&metric.key, better), &of);
        for rank in contest.rivals {
            all[rank] = judged.as_ref().map_or(Standing::Unmarked, |judged| judged.standing(rank));
        }
    }
    all
}

/// The marks of a table over this many seeds in a sentence; none without marks.
pub(super) fn marks(cells: &[Shown], best: &str, seeds: usize) -> Option<String> {
    let any = |standing| cells.iter().any(|cell| cell.standing == standing);
    let few = match seeds {
        2..FEW_SEEDS => format!(" {seeds} seeds separate only large differences."),
        _ => String::new(),
    };
    let random = "statistically indistinguishable from it (p ≥ 0.05)";
    let packet = "equal to it within the time of one packet";
    let said = match [Standing::Alike, Standing::Close].map(any) {
        [false, false] => None,
        [true, false] => Some(random.to_string()),
        [false, true] => Some(packet.to_string()),
        [true, true] => Some(format!("{random}, or {packet}")),
    };
    let alike = said.map(|said| format!(" {} {said}.{few}", Standing::Alike.mark()));
    any(Standing::Best).then(|| {
        format!(
            "{best} the best mean under its conditions, by paired seeds with Holm's correction.{}",
            alike.unwrap_or_default()
        )
    })
}

/// The metrics of one link, group or class over the runs of a scheme.
pub(super) struct Measured {
    pub(super) labels: Labels,
    /// Each metric of the subject, over the runs where it is defined.
    pub(super) estimates: Vec<(&'static Metric, Estimate)>,
    /// The runs that have it, and all runs.
    seen: (usize, usize),
}

/// All links, groups or classes of a scheme, in order of appearance.
pub(super) fn measured(scheme: &SchemeResult, subject: Subject) -> Vec<Measured> {
    let mut all: Vec<(Labels, Vec<&Row>)> = Vec::new();
    let runs = scheme.distinct().len();
    for row in scheme.distinct().iter().flat_map(|run| &run.rows).filter(|row| subject.has(row)) {
        match all.iter_mut().find(|(labels, _)| *labels == row.labels) {
            Some((_, rows)) => rows.push(row),
            None => all.push((row.labels.clone(), vec![row])),
        }
    }
    let over = |(labels, rows): (Labels, Vec<&Row>)| {
        let estimate = |metric: &'static Metric| {
            let values = rows.iter().map(|row| row.value(&metric.key)).filter(|value| value.is_finite());
            let without = if metric.tally { runs.saturating_sub(rows.len()) } else { 0 };
            let values = values.chain(std::iter::repeat_n(0.0, without));
            (metric, Estimate::of(&values.collect::<Vec<_>>()))
        };
        let estimates = subject.metrics().iter().map(estimate).collect();
        Measured { labels, estimates, seen: (rows.len(), runs) }
    };
    all.into_iter().map(over).collect()
}

impl Measured {
    /// The estimate of a metric by its key.
    pub(super) fn estimate(&self, key: &str) -> Option<Estimate> {
        self.estimates.iter().find(|(metric, _)| metric.key == key).map(|(_, estimate)| *estimate)
    }

    /// Its name for people: a group with its congestion control, a class with its sizes, and in how many runs it was, if not in all.
    pub(super) fn name(&self, scheme: &SchemeResult) -> String {
        match self.seen {
            (seen, runs) if seen < runs => format!("{} (in {seen} of {runs} runs)", self.plain_name(scheme)),
            _ => self.plain_name(scheme),
        }
    }

    fn plain_name(&self, scheme: &SchemeResult) -> String {
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
        for (metric, estimate) in self.estimates.iter().filter(|(_, estimate)| estimate.mean.is_finite()) {
            map.serialize_entry(&metric.key, estimate)?;
        }
        map.end()
    }
}

/// A column for each link, group or class of each scheme, and a line for each metric that some of them have.
pub(super) struct Breakdown {
    /// The rank of the scheme, its name, and the name of the link, group or class.
    pub(super) columns: Vec<(usize, String, String)>,
    pub(super) lines: Vec<(&'static Metric, Vec<Shown>)>,
    /// Metrics that are the same in all of several columns, each with its number: `flows 50`.
    pub(super) same: Vec<String>,
}

impl Breakdown {
    /// Only the metrics that `wanted` accepts.
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
            let cells =
                || all.iter().map(|estimates| Shown::metric(&estimates[place].1, metric)).collect::<Vec<_>>();
            (defined && wanted(metric)).then(|| (metric, cells()))
        };
        let lines: Vec<(&'static Metric, Vec<Shown>)> =
            subject.metrics().iter().enumerate().filter_map(line).collect();
        let (same, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(_, cells)| is_constant(cells));
        Breakdown { columns, lines, same: same.iter().map(told).collect() }
    }
}

/// A metric with the number of all its cells: `flows 50`.
fn told((metric, cells): &(&'static Metric, Vec<Shown>)) -> String {
    let number = cells.first().map_or_else(String::new, Shown::text);
    format!("{} {number} {}", metric.short, metric.unit).trim_end().to_string()
}

/// Whether several cells are equal.
fn is_constant(cells: &[Shown]) -> bool {
    cells.len() > 1 && cells.windows(2).all(|pair| pair[0] == pair[1])
}

/// The reason why several runs are one, and the remedy.
pub(super) const NOTHING_RANDOM: &str =
    "nothing here is random, unless flows start in an interval, as `start = \"0s..5s\"`";

/// More cases than this are counted instead of being named.
const NAMED: usize = 3;

impl Comparison {
    /// A sentence on the numbers, as `Means … over 3 seeds (1, 2, 3).`, and on missing schemes.
    pub(super) fn caption(&self) -> String {
        let mut said = self.extent();
        let certain = self.schemes.iter().filter(|scheme| scheme.is_certain());
        match certain.map(|scheme| scheme.scheme.as_str()).collect::<Vec<_>>().as_slice() {
            [] => {}
            all if all.len() == self.schemes.len() => {
                said += &format!(" All seeds gave the same run: {NOTHING_RANDOM}.");
            }
            some if some.len() > NAMED => {
                let all = self.schemes.len();
                said += &format!(
                    " In {} of {all} cases nothing is random: all seeds gave the same run.",
                    some.len()
                );
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

    /// Planned schemes without a run, where each has its own scenario.
    fn without_a_run(&self) -> Vec<&str> {
        let scenarios = &self.manifest.scenario;
        // A row of a comparison with several factors has the name of its scenario as a level.
        let is_level = |name: &str, scheme: &SchemeResult| {
            let levels = self.factors.iter().zip(&scheme.levels);
            levels
                .into_iter()
                .any(|(factor, level)| factor.key == "scheme" && factor.levels[*level].text == name)
        };
        let ran = |name: &str| self.schemes.iter().any(|one| one.scheme == name || is_level(name, one));
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
                    format!("Means with 95 % confidence intervals over {done} {planned}.{lone}")
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
            format!(
                "Means with 95 % confidence intervals over {list}; no interval where every run has the same number."
            )
        } else {
            format!("One run, {list}: no confidence interval.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_mark_of_equals_by_few_seeds_says_how_few() {
        let cells = [Standing::Best, Standing::Alike].map(|standing| Shown::from("1").standing(standing));
        let said = |seeds| marks(&cells, "*", seeds).unwrap();
        assert!(said(3).ends_with("(p ≥ 0.05). 3 seeds separate only large differences."), "{}", said(3));
        assert!(!said(10).contains("tell little"));
        assert!(
            !marks(&cells[..1], "*", 3).unwrap().contains("tell little"),
            "nothing is marked as an equal"
        );
    }

    #[test]
    fn a_class_that_a_seed_lacks_counts_nothing_there_and_says_in_how_many_runs_it_was() {
        let mut comparison = example::comparison();
        for run in comparison.schemes[0].runs.iter_mut().filter(|run| run.seed > 1) {
            let row = Row::new([("group", "web".into()), ("class", "1MB".into())]);
            run.rows
                .push(row.with("completions", 3.0).with("completion_time_p50_ms", 10.0 * run.seed as f64));
        }
        let scheme = &comparison.schemes[0];
        let classes = measured(scheme, Subject::Class);
        let [class] = &classes[..] else { panic!("{} classes", classes.len()) };
        let mean = |key| class.estimate(key).unwrap().mean;
        assert_eq!((mean("completions"), mean("completion_time_p50_ms")), (2.0, 25.0));
        assert_eq!(class.name(scheme), "web, from 1MB (in 2 of 3 runs)");
        assert_eq!(measured(scheme, Subject::Group)[0].name(scheme), "forward (reno)");
    }
}
