// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scores of two predictors on one flow, in words and files.

use super::super::format::{html, text};
use super::super::json;
use super::super::{Factors, SCHEMA_VERSION};
use super::*;
use crate::predict::{Laboratory, Sample, parse};
use crate::units::{Span, Time};

fn predictions() -> Predictions {
    let configs = [parse("rtt").unwrap(), parse("dual").unwrap()];
    let mut laboratory = Laboratory::new(&configs, 1.0, 10.0, 2);
    for (now, rtt) in [(0, 60), (100, 80), (200, 80), (400, 60)] {
        let (now, rtt) = (Time(now * 1_000_000), Span::from_millis(rtt));
        laboratory.observe(&Sample { now, rtt, window: 1.0, one_way: None, acked: 1 });
        if now == Time(200_000_000) {
            laboratory.lose(Time(201_000_000), Judge::Flow);
        }
    }
    let scores = laboratory.finish();
    let watch = |seed| WatchedRun { seed: Some(seed), scores: scores.clone() };
    let watched = WatchedFlow {
        case: "rate=<1>".into(),
        levels: vec![0],
        flow: "long/0".into(),
        judges: vec![Judge::Flow, Judge::Queue],
        runs: vec![watch(1), watch(2)],
        chance: Vec::new(),
        course: None,
    };
    let case = vec![("topology.rate".to_string(), "1mbit".to_string())];
    Predictions {
        title: "A path".into(),
        factors: Factors::of(&[case]).factors,
        cases: vec![watched],
        notes: vec!["By hand.".into()],
    }
}

#[test]
fn text_has_a_line_for_each_predictor_and_judge_and_says_which_was_best() {
    let text = text::render(&document(&predictions()));
    assert_eq!(text.lines().filter(|line| line.starts_with("rtt ")).count(), 2, "{text}");
    assert!(text.contains("balance 1.00"), "{text}");
    let lead = document(&predictions()).about.plain();
    assert!(lead.starts_with("Against the flow's own losses, "), "the answer is first: {lead}");
    assert!(text.contains("all drops at the queue, no predictor foresaw"), "{text}");
    assert!(text.contains("rtt               100 ") && text.ends_with("\nBy hand.\n"), "{text}");
}

#[test]
fn a_capture_has_the_interval_of_its_episodes_and_says_when_they_are_too_few() {
    // Five of ten: Wilson's interval is 0.237 to 0.763.
    assert!((wilson((5, 10)).unwrap() - 0.2634).abs() < 5e-4);
    assert_eq!(wilson((0, 0)), None);
    let mut predictions = predictions();
    let watched = &mut predictions.cases[0];
    (watched.judges, watched.course) = (vec![Judge::Flow], Some(Course::default()));
    watched.runs.truncate(1);
    watched.runs[0].seed = None;
    watched.chance = vec![watched.runs[0].scores.clone()];
    assert!(watched.verdict(Judge::Flow).contains("too few"));
    // Twelve of sixteen: 0.505 to 0.898.
    for score in &mut watched.runs[0].scores {
        score.counts = [0, 12, 0, 4, 4, 0];
        score.efficiency = 0.75;
    }
    let text = text::render(&document(&predictions));
    assert!(text.contains("by chance") && text.contains("75 ± 24") && !text.contains("too few"), "{text}");
}

#[test]
fn a_predictor_that_is_always_high_is_not_the_best() {
    let mut predictions = predictions();
    let watched = &mut predictions.cases[0];
    assert!(watched.best(Judge::Flow).0.contains(&"rtt"));
    for score in watched.runs.iter_mut().flat_map(|run| &mut run.scores) {
        if score.predictor == "rtt" {
            score.counts = [1, 9, 0, 0, 0, 9];
        }
    }
    assert!(!watched.best(Judge::Flow).0.contains(&"rtt"));
    assert!(watched.verdict(Judge::Flow).ends_with("do not punish: rtt."));
}

#[test]
fn csv_has_a_line_for_each_score_and_leaves_out_what_does_not_exist() {
    let text = super::super::csv::records(&records(&predictions()));
    assert_eq!(text.lines().count(), 1 + 2 * 2 * 2);
    assert!(text.contains("\n1,long/0,2,rtt,flow,1,1,1,0,0,0,1,0,0,1\n"), "{text}");
    assert!(text.contains("\n1,long/0,1,rtt,queue,1,0,0,0,1,0,0,1,,0\n"), "{text}");
}

#[test]
fn the_page_has_a_chart_for_each_measure_and_judge_and_keeps_names_text() {
    let document = document(&predictions());
    let page = html::render(&document);
    html::tests::check(&page);
    assert_eq!(page.matches("<svg").count(), 3 * 2);
    assert!(page.contains("rate=&lt;1&gt;: long/0") && !page.contains("rate=<1>"));
    let mut names: Vec<&str> = document.figures().iter().map(|figure| figure.name.as_str()).collect();
    names.dedup();
    assert_eq!(names.len(), 3 * 2);
}

#[test]
fn json_reads_back() {
    let document: serde_json::Value = serde_json::from_str(&json::render(&predictions())).unwrap();
    assert_eq!(document["schema_version"], SCHEMA_VERSION);
    let score = &document["cases"][0]["runs"][1]["scores"][0];
    assert_eq!((&score["predictor"], &score["judged_by"]), (&"rtt".into(), &"flow".into()));
    assert_eq!(score["efficiency"], 1.0);
    assert!(document["cases"][0]["runs"][0]["scores"][1]["false_negatives"].is_null());
}
