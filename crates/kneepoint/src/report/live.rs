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
    /// or
    /// else of the first that has any.
    pub fn new(
        [title, hosts, side]: [String; 3],
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
        Report { title, hosts, side, claims, cases, manifest }
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
mod tests {
    use super::super::format::{html, text};
    use super::super::{csv, json};
    use super::*;
    use crate::run::run;
    use crate::scenario::parse;
    use crate::study::live::{self, Live, on_linux};
    use crate::study::{Packets, Records, Study};
    use crate::units::Span;

    fn record(packets: &Packets, seed: u64) -> Record {
        let (watch, outcome) = run(&packets.valid, seed, packets.watch(seed));
        Record::simulated(seed, 0.0, outcome, watch.finish())
    }

    /// Reno and PERT, "measured" by the simulator.
    fn report() -> Report {
        let text = "[run]\nduration = '4s'\nsample = '50ms'\n[tcp]\npreset = 'linux'\n[topology]\nkind = 'dumbbell'\n\
                    rate = '5mbit'\nbuffer = '20pkt'\n[[flows]]\nname = 'old'\ncc = 'reno'\n[[flows]]\nname = 'new'\ncc = 'pert'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let valid = on_linux(valid.with_sample(Some(Span::from_millis(50))).unwrap()).unwrap().0;
        let packets = Packets { shown: true, ..Packets::from(valid.clone()) };
        let measured = |seed, spoiled: Option<&str>| Measured {
            record: record(&packets, seed),
            machine: Machine { attempts: 2, spoiled: spoiled.map(String::from), ..Machine::default() },
            processor: vec![
                Row::new([("group", "old".to_string())]).with(SENDING, 1000.0 + seed as f64),
                Row::new([("group", "new".to_string())]).with(SENDING, 1500.0 + seed as f64),
                Row::new([]).with(RECEIVING, 3000.0),
            ],
        };
        let runs = vec![measured(11, None), measured(12, None), measured(13, Some("late"))];
        let case = live::Case { name: "a <case>".into(), labels: Vec::new(), valid, measured: runs };
        let study = Live::new([case], vec![1, 2]);
        let mut records = Records::default();
        for wanted in study.wanted() {
            records.insert(wanted.name(), record(&packets, wanted.seed));
        }
        let manifest = Manifest { notes: vec!["A note.".into()], ..Manifest::default() };
        let experiment = format!(
            "[experiment]\nid = 'a-b'\ntitle = 'c'\nsource = 'd'\n{text}\
             [[claim]]\nid = 'queue'\ntext = 'Some wait.'\ncheck = 'queue_mean_packets[link=r1-r2] > 0'\n\
             [[claim]]\nid = 'cost'\ntext = 'New costs more.'\n\
             check = 'sending_ns_per_packet[group=new] > sending_ns_per_packet[group=old]'\n"
        );
        let claims = crate::experiment::parse(&experiment, crate::experiment::Pace::Full).unwrap().claims;
        Report::new(
            ["Live", "Hosts of a kernel", KERNEL].map(String::from),
            study.outcome(&records),
            &claims,
            "reno",
            manifest,
        )
    }

    #[test]
    fn the_error_is_relative_to_the_kernel_and_zeros_on_both_sides_are_left_out() {
        let report = report();
        let metrics = &report.cases[0].metrics;
        assert!(!metrics.iter().any(|pair| pair.metric == "marks"));
        let drops = metrics.iter().find(|pair| pair.metric == "drops").unwrap();
        let (theirs, ours) = (drops.measured.mean, drops.predicted.mean);
        assert!(theirs > 0.0 && (drops.error.unwrap() - (ours / theirs - 1.0)).abs() < 1e-12);
        let of = |group: &str| metrics.iter().filter(|pair| pair.of == group).count();
        assert!(of("old") >= 3 && of("new") >= 3);
    }

    #[test]
    fn claims_are_judged_by_both_sides_and_by_processor_time_in_the_kernel_alone() {
        let report = report();
        let [queue, cost] = &report.claims[..] else { panic!("{:?}", report.claims) };
        assert_eq!((queue.kernel.verdict.as_str(), queue.simulator.verdict.as_str()), ("holds", "holds"));
        assert_eq!((cost.kernel.verdict.as_str(), cost.simulator.verdict.as_str()), ("holds", "untestable"));
        let text = text::render(&document(&report));
        assert!(text.contains("Some wait.") && text.contains("untestable"), "{text}");
    }

    #[test]
    fn equal_runs_of_the_simulator_are_named_with_the_remedy() {
        let text = |report: &Report| {
            text::render(&document(report)).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut report = report();
        assert!(!text(&report).contains("all the same"));
        let one = report.cases[0].predicted[0].clone();
        report.cases[0].predicted.fill(one);
        let equal = "runs are all the same: nothing here is random, unless flows start in an interval";
        assert!(text(&report).contains(equal));
    }

    #[test]
    fn processor_time_is_relative_to_the_reference_and_spoiled_runs_are_in_no_mean() {
        let report = report();
        let [old, new, receiving] = &report.cases[0].processor[..] else { panic!("three lines") };
        assert_eq!((old.ns_per_packet.mean, old.relative), (1011.5, Some(1.0)));
        assert!((new.relative.unwrap() - 1511.5 / 1011.5).abs() < 1e-12);
        assert_eq!((&receiving.group, receiving.control.as_str(), receiving.relative), (&None, "", None));
        let text = text::render(&document(&report));
        assert!(text.contains("2 runs of the kernel, 2 of the simulator. 3 runs were repeated"), "{text}");
        assert!(text.contains("1 repetitions stayed spoiled"), "{text}");
        assert_eq!(report.cases[0].repetitions.len(), 3);
    }

    #[test]
    fn the_terminal_has_at_most_80_columns_and_the_page_has_charts_of_both_sides() {
        let report = report();
        let text = text::render(&document(&report));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let document = document(&report);
        let page = html::render(&document);
        html::tests::check(&page);
        assert!(page.contains("a &lt;case&gt;, kernel") && page.contains("a &lt;case&gt;, simulator"));
        assert_eq!(document.figures().len(), 2, "the course of either side");
        let csv = csv::records(&records(&report));
        assert_eq!(csv.lines().count(), 1 + report.cases[0].metrics.len());
        let read: serde_json::Value = serde_json::from_str(&json::render(&report)).unwrap();
        assert!(read["cases"][0]["metrics"][0]["measured"]["mean"].is_number());
        assert_eq!(read["cases"][0]["repetitions"][2]["spoiled"], "late");
    }
}
