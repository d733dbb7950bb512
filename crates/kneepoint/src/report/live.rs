// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts of a kernel compared with the simulator: the document, and records for machines.
//!
//! ```text
//! error = (predicted − measured) / measured
//! ```

mod document;

use super::{Comparison, Manifest, RunResult, SchemeResult, reproduction};
use crate::experiment::Claim;
use crate::keys::Shape;
use crate::measure::{RECEIVING, SENDING, Subject};
use crate::metric::Metric;
use crate::study::Record;
use crate::study::live::{Beside, Machine, Measured};
use crate::table::{Cell, Estimate, Labels, Records, Row, Table};
pub use document::document;

/// The metrics that are put side by side, by subject: of the first measured link, and of every group.
const METRICS: [(Subject, &[&str]); 2] = [
    (
        Subject::Link,
        &["utilization", "queue_mean_packets", "queueing_delay_mean_ms", "drops", "drop_ratio", "marks"],
    ),
    (
        Subject::Group,
        &[
            "goodput_bps",
            "jain_index",
            "rtt_mean_ms",
            "retransmissions",
            "timeouts",
            "completion_time_mean_ms",
        ],
    ),
];

/// The side of a kernel's hosts.
pub const KERNEL: &str = "kernel";

crate::keys! {
    /// Cases on both sides.
    #[derive(Clone, Debug)]
    pub struct Report {
        /// The title of the report.
        pub title: String,
        /// The place of the measured hosts: on this machine's kernel over an emulated link, or with their queues on a kernel in virtual time.
        pub hosts: String,
        /// Whether the hosts were in virtual time.
        pub virtual_time: bool,
        /// The kernel, or the name of a stack.
        pub side: String,
        /// Every claim on both sides; empty for a scenario without claims.
        pub claims: Vec<Judged>,
        /// One for each case.
        pub cases: Vec<Case>,
        /// Enough to repeat the runs.
        pub manifest: Manifest,
    }

    /// A claim on both sides.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Judged {
        /// The id of the claim.
        pub claim: String,
        /// The claim in words.
        pub text: String,
        /// Its verdict on the kernel.
        pub kernel: Finding,
        /// Its verdict in the simulator.
        pub simulator: Finding,
        /// The reason for a failure, if the experiment gives one; else null.
        pub reason: Option<String>,
    }

    /// The verdict on a claim.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Finding {
        /// Whether it holds.
        pub verdict: String,
        /// Whether the intervals of the runs confirm it.
        pub certain: bool,
        /// Our numbers.
        pub ours: String,
    }

    /// A case on both sides.
    #[derive(Clone, Debug)]
    pub struct Case {
        /// Its name.
        pub case: String,
        /// The congestion controls, by group.
        pub controls: Labels => Shape::Each("<group>", "The congestion control."),
        /// Metrics of the first measured link and of every group.
        pub metrics: Vec<Pair>,
        /// Processor time.
        pub processor: Vec<Processor>,
        /// The state of the machine in every run, spoiled ones included.
        pub repetitions: Vec<Repetition>,
        /// The runs of the kernel that count.
        pub measured: Vec<RunResult>,
        /// The simulator's.
        pub predicted: Vec<RunResult>,
        /// The state over time of the first run of either side.
        #[serde(skip)]
        pub series: [Option<Table>; 2],
    }

    /// A metric on both sides.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Pair {
        /// The link or the group.
        pub of: String,
        /// The metric.
        pub metric: String,
        /// The kernel's, in the unit of the metric.
        pub measured: Estimate,
        /// The simulator's.
        pub predicted: Estimate,
        /// The difference relative to the kernel's; null where that is 0.
        pub error: Option<f64>,
        #[serde(skip)]
        about: Metric,
    }

    /// Processor time per packet.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Processor {
        /// The group whose sending it is; null for receiving.
        pub group: Option<String>,
        /// The congestion control; empty where several share the time.
        pub control: String,
        /// Processor time.
        pub ns_per_packet: Estimate,
        /// The same relative to the reference's; null without one.
        pub relative: Option<f64>,
    }

    /// One run of the kernel.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Repetition {
        /// The number of the repetition.
        pub repetition: u64,
        #[serde(flatten)]
        machine: Machine,
    }
}

impl Report {
    /// The report of an outcome. Processor times are relative to the congestion control `reference`: of the same case,
    /// or else of the first that has any.
    pub fn new(
        [title, hosts, side]: [String; 3],
        virtual_time: bool,
        outcome: Vec<Beside>,
        claims: &[Claim],
        reference: &str,
        manifest: Manifest,
    ) -> Report {
        let claims = judged(claims, &outcome);
        let mut cases: Vec<Case> = outcome.into_iter().map(case).collect();
        let base = |case: &Case, sending: bool| {
            let same = |one: &&Processor| one.control == reference && one.group.is_some() == sending;
            case.processor.iter().find(same).map(|one| one.ns_per_packet.mean)
        };
        let usual = [false, true].map(|sending| cases.iter().find_map(|case| base(case, sending)));
        for case in &mut cases {
            let own = [false, true].map(|sending| base(case, sending).or(usual[usize::from(sending)]));
            for one in case.processor.iter_mut().filter(|one| !one.control.is_empty()) {
                let divisor = own[usize::from(one.group.is_some())];
                one.relative =
                    divisor.map(|divisor| one.ns_per_packet.mean / divisor).filter(|part| part.is_finite());
            }
        }
        Report { title, hosts, virtual_time, side, claims, cases, manifest }
    }

    /// Both sides of each case as schemes of a comparison, for its charts.
    fn comparison(&self) -> Comparison {
        let scheme = |case: &Case, side: usize| SchemeResult {
            scheme: format!("{}, {}", case.case, ["kernel", "simulator"][side]),
            levels: Vec::new(),
            controls: case.controls.clone(),
            runs: [&case.measured, &case.predicted][side].clone(),
            measured: None,
            series: case.series[side].clone(),
            theory: None,
        };
        let schemes = self.cases.iter().flat_map(|case| [scheme(case, 0), scheme(case, 1)]);
        Comparison::of_schemes(self.title.clone(), schemes.collect(), self.manifest.clone())
    }
}

/// Claims by the observations of either side.
fn judged(claims: &[Claim], outcome: &[Beside]) -> Vec<Judged> {
    let frames = Beside::frames(outcome);
    let one = |claim: &Claim| {
        let [kernel, simulator] = [&frames[0], &frames[1]].map(|frame| {
            let judgement = claim.judge(frame);
            let ours = reproduction::ours(&judgement, None);
            Finding { verdict: judgement.verdict.to_string(), certain: judgement.certain, ours }
        });
        Judged {
            claim: claim.id.clone(),
            text: claim.text.clone(),
            kernel,
            simulator,
            reason: claim.reason.clone(),
        }
    };
    claims.iter().map(one).collect()
}

fn case(beside: Beside) -> Case {
    let Beside { name, valid, mut measured, spoiled, mut predicted, .. } = beside;
    let controlled = valid.groups().iter().filter_map(|group| Some((&group.name, group.cc.as_ref()?)));
    let controls: Labels = controlled.map(|(group, cc)| (group.clone(), cc.name().to_string())).collect();
    let series = [
        measured.first_mut().and_then(|one| one.record.series.take()),
        predicted.first_mut().and_then(|one| one.series.take()),
    ];
    let machine = |one: &Measured| Repetition { repetition: one.record.seed, machine: one.machine.clone() };
    let mut repetitions: Vec<Repetition> = measured.iter().chain(&spoiled).map(machine).collect();
    repetitions.sort_by_key(|one| one.repetition);
    let processor = processor(&measured, &controls);
    let measured: Vec<RunResult> = measured.into_iter().map(|one| result(one.record)).collect();
    let predicted: Vec<RunResult> = predicted.into_iter().map(result).collect();
    let metrics = pairs(&measured, &predicted);
    Case { case: name, controls, metrics, processor, repetitions, measured, predicted, series }
}

fn result(record: Record) -> RunResult {
    let Record { seed, cpu_seconds, bottleneck_packets, events, rows, .. } = record;
    RunResult { seed, cpu_seconds, bottleneck_packets, events, rows }
}

/// The metrics that are defined on either side.
fn pairs(measured: &[RunResult], predicted: &[RunResult]) -> Vec<Pair> {
    let Some(first) = measured.first().or(predicted.first()) else { return Vec::new() };
    let mut pairs = Vec::new();
    for (subject, keys) in METRICS {
        let axis = subject.axes()[0];
        let mut names: Vec<&str> =
            first.rows.iter().filter(|row| subject.has(row)).map(|row| row.label(axis)).collect();
        if subject == Subject::Link {
            names.truncate(1);
        }
        let metrics: Vec<&Metric> =
            keys.iter().filter_map(|key| subject.metrics().iter().find(|one| one.key == *key)).collect();
        for of in names {
            pairs.extend(metrics.iter().filter_map(|metric| {
                let [theirs, ours] = [measured, predicted].map(|runs| estimate(runs, subject, of, metric));
                pair(of, metric, theirs, ours)
            }));
        }
    }
    pairs
}

/// A metric of a link or a group over runs.
fn estimate(runs: &[RunResult], subject: Subject, of: &str, metric: &Metric) -> Estimate {
    let one = |run: &RunResult| {
        let same = run.rows.iter().find(|row| subject.has(row) && row.label(subject.axes()[0]) == of);
        same.map_or(f64::NAN, |row| row.value(&metric.key))
    };
    Estimate::of(&runs.iter().map(one).collect::<Vec<_>>())
}

/// None where there is nothing to show: neither side defines it, or it is zero on both.
fn pair(of: &str, metric: &Metric, measured: Estimate, predicted: Estimate) -> Option<Pair> {
    let nothing = |mean: f64| mean.is_nan() || mean == 0.0;
    if nothing(measured.mean) && nothing(predicted.mean) {
        return None;
    }
    let error = (predicted.mean - measured.mean) / measured.mean;
    let error = Some(error).filter(|error| error.is_finite());
    let (of, key) = (of.to_string(), metric.key.clone());
    Some(Pair { of, metric: key, measured, predicted, error, about: metric.clone() })
}

fn processor(measured: &[Measured], controls: &Labels) -> Vec<Processor> {
    let Some(first) = measured.first() else { return Vec::new() };
    let mut kinds: Vec<&String> = controls.values().collect();
    kinds.dedup();
    let shared = if let &[only] = kinds.as_slice() { only.clone() } else { String::new() };
    let line = |row: &Row| {
        let group = row.labels.get("group").cloned();
        let key = if group.is_some() { SENDING } else { RECEIVING };
        let same = |one: &Measured| {
            let found = one.processor.iter().find(|other| other.labels == row.labels);
            found.map_or(f64::NAN, |other| other.value(key))
        };
        Processor {
            control: group
                .as_ref()
                .map_or(Some(&shared), |group| controls.get(group))
                .cloned()
                .unwrap_or_default(),
            group,
            ns_per_packet: Estimate::of(&measured.iter().map(same).collect::<Vec<_>>()),
            relative: None,
        }
    };
    first.processor.iter().map(line).collect()
}

/// A line for each case and metric.
pub fn records(report: &Report) -> Records {
    let columns = [
        "case",
        "of",
        "metric",
        "measured",
        "measured_half_width",
        "predicted",
        "predicted_half_width",
        "error",
    ];
    let row = |case: &Case, pair: &Pair| {
        let Pair { of, metric, measured, predicted, error, .. } = pair;
        let texts = [&case.case, of, metric].map(|text| Cell::from(text.as_str()));
        let half = |estimate: &Estimate| estimate.half_width.unwrap_or(f64::NAN);
        let numbers =
            [measured.mean, half(measured), predicted.mean, half(predicted), error.unwrap_or(f64::NAN)];
        texts.into_iter().chain(numbers.map(Cell::from)).collect()
    };
    let rows = report.cases.iter().flat_map(|case| case.metrics.iter().map(move |pair| row(case, pair)));
    Records { columns: columns.map(String::from).into(), rows: rows.collect() }
}

#[cfg(test)]
mod tests;
