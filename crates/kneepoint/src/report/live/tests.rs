// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of reports about a kernel and the simulator.

use super::super::format::{html, text};
use super::super::{csv, json};
use super::*;
use crate::scenario::parse;
use crate::study::live::{self, Live, on_linux};
use crate::study::{Packets, Records, Study};
use crate::units::Span;

fn record(packets: &Packets, seed: u64) -> Record {
    let (seen, outcome) = packets.run(seed);
    Record::simulated(seed, 0.0, outcome, seen)
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
        false,
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
    let text =
        |report: &Report| text::render(&document(report)).split_whitespace().collect::<Vec<_>>().join(" ");
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
    let text = text::render(&document(&report)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("2 of the simulator. Repeated because packets came late: 3 runs."), "{text}");
    assert!(text.contains("Spoiled to the end, and in no mean: 1 repetition."), "{text}");
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
