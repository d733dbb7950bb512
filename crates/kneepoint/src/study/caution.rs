// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Cautions: questions that runs of this length, with these seeds, cannot answer, and the length or number that would
//! suffice.
//!
//! ```text
//! unsteady   a headline metric drifts inside the window: p < 0.01 after Holm, over all cases, and an error of 2 % at least
//! brief      the halves of the window differ by more than 15 %; by 6 % if it is shorter than fifty round trips
//! epochs     fewer than ten losses that flows repaired, in all runs: the mean covers a few sawteeth
//! tail       the longest transfer is a twentieth of the time of all: the mean covers a few transfers
//! percentile fewer than ten transfers beyond the percentile that the report shows
//! seeds      different seeds gave the same run
//! spurious   a quarter of the retransmitted segments had not been lost, of hosts that cannot tell a spurious timeout
//! ```
//!
//! Runs that several seeds have in common are counted once. A truncation is advised only if the rest passes the same test. A quantity that is unsteady is not called brief as well.
//! docs/precision.md has the rates of false alarms for random runs.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Record;
use super::compare::Compared;
use crate::link::{LinkSpec, loss};
use crate::measure::Subject;
use crate::spec::{Group, Valid};
use crate::table::paired::holm;
use crate::table::steady::{Drift, drift};
use crate::table::{Estimate, Row, number};
use crate::tcp::Recovery;

/// The probability of a false alarm of a study.
const LEVEL: f64 = 0.01;
/// A smaller error of a mean is not worth a word.
const WORTH: f64 = 0.02;
/// The greatest difference of a mean between the halves of a window, as a part of the mean: random scenarios beyond it are mostly far off
/// (docs/precision.md).
const HALVES: f64 = 0.15;
/// Likewise of a window of fewer than [`TRIPS`] round trips.
const HALVES_OF_FEW: f64 = 0.06;
const TRIPS: f64 = 50.0;
/// Fewer events than this say little of a mean over them.
pub const EVENTS: f64 = 10.0;
/// The greatest share of a single transfer.
const SHARE: f64 = 0.05;
/// The part of transfers beyond the highest percentile that reports show.
const BEYOND: f64 = 0.01;
/// The part of retransmitted segments that may be needless: a timeout at a loss resends some that arrive late.
const NEEDLESS: f64 = 0.25;

crate::choice! {
    /// The doubtful number.
    pub enum Doubt {
        /// The window is not steady.
        Unsteady = "unsteady",
        /// The window is too short for its halves to agree.
        Brief = "brief",
        /// There are few epochs of loss.
        Epochs = "epochs",
        /// The tail of a distribution is nearly unobserved.
        Tail = "tail",
        /// A percentile rests on few transfers.
        Percentile = "percentile",
        /// Seeds are not independent.
        Seeds = "seeds",
        /// Timeouts were spurious.
        Spurious = "spurious",
    }
}

crate::keys! {
    /// Questions that runs of this length, with these seeds, cannot answer.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct Caution {
        /// The kind: `unsteady`, `brief`, `epochs`, `tail`, `percentile`, `seeds` or `spurious`.
        pub kind: String,
        /// The case.
        pub case: String,
        /// The metric, or the group.
        pub subject: String,
        /// The number that gave rise to it: the relative error, the relative difference of the halves, losses, the share of one transfer, transfers beyond, runs that
        /// are alike, or the share of needless retransmissions.
        pub found: f64,
        /// The fault, and a sufficient setting.
        pub text: String,
    }
}

/// The runs of a case.
#[derive(Clone, Copy, Debug)]
pub struct Case<'c> {
    /// Its name.
    pub name: &'c str,
    /// Its spec.
    pub valid: &'c Valid,
    /// Its runs.
    pub runs: &'c [Record],
}

impl<'c> From<&'c Compared> for Case<'c> {
    fn from(compared: &'c Compared) -> Case<'c> {
        Case { name: &compared.name, valid: &compared.valid, runs: &compared.runs }
    }
}

impl<'c> Case<'c> {
    /// Its runs without the repetitions of an earlier one, which add nothing to what is known.
    fn distinct(&self) -> Vec<&'c Record> {
        let mut known: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
        let runs = self.runs.iter().filter(|run| {
            let alike = known.entry(run.events).or_default();
            let new = alike.iter().all(|other| other.rows != run.rows);
            alike.extend(new.then_some(*run));
            new
        });
        runs.collect()
    }

    /// Whether several seeds all gave the same run, so that further ones will.
    fn is_certain(&self) -> bool {
        self.runs.len() > 1 && self.distinct().len() == 1
    }

    /// The beginning and the length of its window in seconds.
    fn window(&self) -> (f64, f64) {
        let window = self.valid.schedule().measure;
        (window.from.as_secs_f64(), window.span().as_secs_f64())
    }

    /// The remedy for a window that ends too early: a later one of twice the length, and of [`TRIPS`] round trips at least.
    fn later(&self) -> String {
        let (from, length) = self.window();
        let trip = trips(self).map_or(0.0, |trips| length / trips);
        let next = (2.0 * length).max(TRIPS * trip);
        format!("measure from {} s to {} s at least.", whole(from + next / 2.0), whole(from + 1.5 * next))
    }

    fn caution(&self, doubt: Doubt, subject: &str, found: f64, text: String) -> Caution {
        let (kind, case, subject) = (doubt.to_string(), self.name.to_string(), subject.to_string());
        Caution { kind, case, subject, found, text }
    }
}

/// All cautions about some cases, one of each kind: about the worst case.
pub fn of(cases: &[Case]) -> Vec<Caution> {
    let of_case = [epochs, tail, percentile, seeds, spurious];
    let each = cases.iter().flat_map(|case| of_case.map(|caution| caution(case)));
    let drifting = unsteady(cases);
    let told_already = |one: &Caution| {
        drifting.iter().any(|drift| (&drift.case, &drift.subject) == (&one.case, &one.subject))
    };
    let brief = cases.iter().filter_map(brief).filter(|one| !told_already(one));
    let all: Vec<Caution> = brief.chain(each.flatten()).chain(drifting.iter().cloned()).collect();
    let kind = |doubt: &Doubt| told(all.iter().filter(|one| one.kind == doubt.name()).collect(), *doubt);
    Doubt::ALL.iter().filter_map(kind).collect()
}

/// The worst of one kind, with the number of others.
fn told(mut alike: Vec<&Caution>, doubt: Doubt) -> Option<Caution> {
    let worse = |one: &&Caution, other: &&Caution| match doubt {
        Doubt::Epochs | Doubt::Percentile => one.found.total_cmp(&other.found),
        Doubt::Unsteady | Doubt::Brief | Doubt::Tail | Doubt::Seeds | Doubt::Spurious => {
            other.found.total_cmp(&one.found)
        }
    };
    alike.sort_by(worse);
    let (worst, others) = alike.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        1 => " The same applies to another number of this study.".into(),
        several => format!(" The same applies to {several} other numbers of this study."),
    };
    Some(Caution { text: format!("{}{more}", worst.text), ..(*worst).clone() })
}

/// A drift of a quantity of a case.
struct Found<'c> {
    case: &'c Case<'c>,
    column: String,
    drift: Drift,
    runs: Vec<Vec<f64>>,
}

/// The quantities that drift.
fn unsteady(cases: &[Case]) -> Vec<Caution> {
    let all: Vec<Found> = cases.iter().flat_map(drifts).collect();
    let p = holm(&all.iter().map(|found| found.drift.p).collect::<Vec<_>>());
    let real = all.iter().zip(p).filter(|(found, p)| *p < LEVEL && found.drift.bias() >= WORTH);
    real.map(|(found, _)| found.caution()).collect()
}

/// Every quantity of a case.
fn drifts<'c>(case: &'c Case<'c>) -> Vec<Found<'c>> {
    let tables: Vec<_> = case.distinct().into_iter().filter_map(|run| run.parts.as_ref()).collect();
    let Some(first) = tables.first() else { return Vec::new() };
    let found = |column: usize| {
        let runs: Vec<Vec<f64>> = tables.iter().map(|table| table.values(column).collect()).collect();
        Some(Found { case, column: first.columns[column].clone(), drift: drift(&runs)?, runs })
    };
    (1..first.columns.len()).filter_map(found).collect()
}

impl Found<'_> {
    fn caution(&self) -> Caution {
        let Drift { mean, late, .. } = self.drift;
        let (from, length) = self.case.window();
        let way = if mean > late { "above" } else { "below" };
        let percent = number::significant(100.0 * self.drift.bias(), 2);
        let remedy = match self.settles() {
            Some(part) => {
                let steady = from + part * length;
                format!(
                    "Steady from {} s on: measure from there to {} s.",
                    whole(steady),
                    whole(steady + length)
                )
            }
            None => format!("It does not settle before the middle of the window: {}", self.case.later()),
        };
        let name = named(&self.column);
        let case = self.case.name;
        let text = format!(
            "{name} of {case} is not steady: over the window {percent} % {way} its last half. {remedy}"
        );
        self.case.caution(Doubt::Unsteady, &self.column, self.drift.bias(), text)
    }

    /// The part of the window after which it is steady, if the rest passes the test.
    fn settles(&self) -> Option<f64> {
        let part = self.drift.settles?;
        let rest: Vec<Vec<f64>> = self
            .runs
            .iter()
            .map(|run| run[libm::round(part * run.len() as f64) as usize..].to_vec())
            .collect();
        drift(&rest).filter(|rest| rest.p >= LEVEL || rest.bias() < WORTH).map(|_| part)
    }
}

/// `Mean queue`, `Goodput in total of long`
fn named(column: &str) -> String {
    let (key, subject) = column.split_once('[').unwrap_or((column, ""));
    let subject = subject.trim_end_matches(']');
    let of_link = Subject::Link.metrics().iter().find(|metric| metric.key == key);
    let metric = of_link.filter(|_| subject == "bottleneck");
    let metric = metric.or_else(|| Subject::Group.metrics().iter().find(|one| one.key == key));
    let title = metric.map_or(key, |metric| metric.title.as_str());
    if subject == "bottleneck" { title.to_string() } else { format!("{title} of {subject}") }
}

/// Seconds without insignificant digits.
fn whole(seconds: f64) -> String {
    let steps = if seconds < 10.0 { 10.0 } else { 1.0 };
    (libm::ceil(steps * seconds) / steps).to_string()
}

/// The rows of each group in the runs of a case.
fn groups<'c>(case: &'c Case<'c>) -> impl Iterator<Item = (&'c str, Vec<&'c Row>)> {
    let runs = case.distinct();
    case.valid.groups().iter().map(move |group| {
        let own = |row: &&Row| Subject::Group.has(row) && row.label("group") == group.name;
        let rows = runs.iter().filter_map(|run| run.rows.iter().find(own));
        (group.name.as_str(), rows.collect())
    })
}

fn mean(rows: &[&Row], of: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
}

/// A window whose halves have different means, where transfers are long.
fn brief(case: &Case) -> Option<Caution> {
    let few = trips(case)? < TRIPS;
    let limit = if few { HALVES_OF_FEW } else { HALVES };
    let (column, found) = halves(case).max_by(|one, other| one.1.total_cmp(&other.1))?;
    let percent = |part: f64| number::plain(libm::round(100.0 * part));
    let text = format!(
        "Short window: {} of {} differs by {} % between its halves, and the limit{} is {} %: {}",
        named(&column),
        case.name,
        percent(found),
        if few { " with fewer than fifty round trips" } else { "" },
        percent(limit),
        case.later()
    );
    (found > limit).then(|| case.caution(Doubt::Brief, &column, found, text))
}

/// The groups of long transfers.
fn long<'c>(case: &'c Case<'c>) -> impl Iterator<Item = (&'c str, Vec<&'c Row>)> {
    groups(case).filter(|(_, rows)| rows.iter().any(|row| row.value("flows").is_finite()))
}

/// The round trips in the window, of the group of long transfers that has the fewest.
fn trips(case: &Case) -> Option<f64> {
    let (_, length) = case.window();
    let of = |rows: &[&Row]| length / (mean(rows, |row| row.value("rtt_mean_ms")) / 1e3);
    long(case).map(|(_, rows)| of(&rows)).filter(|trips| trips.is_finite()).min_by(f64::total_cmp)
}

/// The difference between both halves of the window, as a part of their mean and over all runs: of the queue, taken as one packet at least, of
/// the throughput, and of the goodput of long transfers.
fn halves<'c>(case: &'c Case<'c>) -> impl Iterator<Item = (String, f64)> {
    let tables: Vec<_> = case.distinct().into_iter().filter_map(|run| run.parts.as_ref()).collect();
    let goodput = long(case).map(|(group, _)| (format!("goodput_bps[{group}]"), 0.0));
    let of_link = [("queue_mean_packets", 1.0), ("throughput_bps", 0.0)];
    let of_link = of_link.map(|(key, least)| (format!("{key}[bottleneck]"), least));
    of_link.into_iter().chain(goodput).filter_map(move |(name, least)| {
        let column = tables.first()?.columns.iter().position(|column| *column == name)?;
        let over = |range: fn(usize) -> std::ops::Range<usize>| {
            let parts = tables.iter().flat_map(|table| {
                let values: Vec<f64> = table.values(column).collect();
                values[range(values.len())].to_vec()
            });
            Estimate::of(&parts.collect::<Vec<_>>()).mean
        };
        let (first, last) = (over(|parts| 0..parts / 2), over(|parts| parts / 2..parts));
        let found = (last - first).abs() / f64::midpoint(first, last).max(least);
        found.is_finite().then_some((name, found))
    })
}

/// Few losses that flows repaired. Where no flow recovered from a loss, losses do not govern the window.
fn epochs(case: &Case) -> Option<Caution> {
    let length = case.valid.schedule().measure.span().as_secs_f64();
    let found = groups(case).filter_map(|(group, rows)| {
        let listed = rows.iter().filter(|row| row.value("flows").is_finite());
        let epochs: f64 = listed.map(|row| row.value("repairs") + row.value("timeouts")).sum();
        (epochs > 0.0 && epochs < EVENTS).then_some((group, epochs))
    });
    let (group, epochs) = found.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let seeds = format!(", or {} seeds", libm::ceil(case.distinct().len() as f64 * EVENTS / epochs));
    let (runs, seeds) = if case.is_certain() { ("each run", String::new()) } else { ("all runs", seeds) };
    Some(case.caution(
        Doubt::Epochs,
        group,
        epochs,
        format!(
            "Few losses: {group} of {} recovered {} times in {runs}, timeouts included; ten times need a window of {} s{seeds}.",
            case.name,
            number::plain(epochs),
            whole(length * EVENTS / epochs)
        ),
    ))
}

/// One transfer with a large share of the whole time.
fn tail(case: &Case) -> Option<Caution> {
    let found = groups(case).filter_map(|(group, rows)| {
        let all: f64 =
            rows.iter().map(|row| row.value("completions") * row.value("completion_time_mean_ms")).sum();
        let longest = rows.iter().map(|row| row.value("completion_time_max_ms")).fold(0.0, f64::max);
        let count: f64 = rows.iter().map(|row| row.value("completions")).sum();
        let share = longest / all;
        (share.is_finite() && share > SHARE).then_some((group, share, count))
    });
    let (group, share, count) = found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    let percent = number::significant(100.0 * share, 2);
    Some(case.caution(
        Doubt::Tail,
        group,
        share,
        format!(
            "Incomplete tail: the longest of {count} transfers of {group} of {} took {percent} % of the time of all. Compare medians, \
             or run at least {} transfers: {} times the {}time.",
            case.name,
            libm::ceil(count * share / SHARE),
            number::significant(share / SHARE, 2),
            if case.is_certain() { "" } else { "seeds or the " }
        ),
    ))
}

/// A percentile that rests on few transfers.
fn percentile(case: &Case) -> Option<Caution> {
    let found = groups(case).filter_map(|(group, rows)| {
        let beyond = BEYOND * mean(&rows, |row| row.value("completions"));
        let shown = rows.iter().any(|row| row.value("completion_time_p99_ms").is_finite());
        (shown && beyond < EVENTS).then_some((group, beyond))
    });
    let (group, beyond) = found.min_by(|one, other| one.1.total_cmp(&other.1))?;
    let length = case.valid.schedule().measure.span().as_secs_f64();
    Some(case.caution(
        Doubt::Percentile,
        group,
        beyond,
        format!(
            "Few transfers: a run has {} of {group} of {} beyond the 99th percentile; ten need a window of {} s.",
            number::significant(beyond, 2),
            case.name,
            whole(length * EVENTS / beyond)
        ),
    ))
}

/// Some seeds that gave the same run. If all did, nothing is random, and the report says so.
fn seeds(case: &Case) -> Option<Caution> {
    let distinct = case.distinct().len();
    let alike = case.runs.len() - distinct;
    (alike > 0 && distinct > 1).then(|| case.caution(
        Doubt::Seeds,
        "seeds",
        alike as f64,
        format!(
            "Seeds are not independent: {alike} of {} runs of {} repeat another one. Let flows start at random (`start = \"0s..1s\"`), or \
             give hosts jitter; with as many seeds the interval is that of {distinct} runs.",
            case.runs.len(),
            case.name
        ),
    ))
}

/// Segments that hosts without timestamps retransmitted although no link lost them, after timeouts. A loss that no measured link counts is none
/// to judge by.
fn spurious(case: &Case) -> Option<Caution> {
    let plain = |group: &Group| group.tcp.as_ref().is_some_and(|tcp| tcp.recovery != Recovery::Rack);
    let unseen =
        |link: &LinkSpec| !link.measured && (link.loss != loss::Config::default() || link.effects.is_some());
    if !case.valid.groups().iter().any(plain) || case.valid.network().links.iter().any(unseen) {
        return None;
    }
    let runs = case.distinct();
    let sum = |subject: Subject, keys: &[&str]| -> f64 {
        let rows = runs.iter().flat_map(|run| &run.rows).filter(|row| subject.has(row));
        rows.flat_map(|row| keys.iter().map(|key| row.value(key))).filter(|number| number.is_finite()).sum()
    };
    let timeouts = sum(Subject::Group, &["timeouts"]);
    let lost = sum(Subject::Link, &["drops", "drops_channel", "corrupted"]);
    let needless = 1.0 - lost / sum(Subject::Group, &["retransmissions"]);
    (timeouts >= EVENTS && needless > NEEDLESS).then(|| case.caution(
        Doubt::Spurious,
        "retransmissions",
        needless,
        format!(
            "Spurious timeouts: {} % of the segments that {} retransmitted had not been lost, after {timeouts} timeouts in all runs. The \
             paper's hosts take a delay that jumps for a loss; Linux's detect it: `--tcp linux`, or `preset = \"linux\"` in [tcp], with \
             `cubic` or `reno` instead of `sack` or `newreno`.",
            number::significant(100.0 * needless, 2),
            case.name
        ),
    ))
}

#[cfg(test)]
mod tests;
