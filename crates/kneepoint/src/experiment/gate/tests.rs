// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gates of one case whose numbers are given.

use super::*;
use crate::scenario::{files, scheme};
use crate::study::Record;
use crate::table::Row;

const CASE: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"
quote = "e"

[run]
duration = "2s"
seeds = 3

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
name = "subject"
cc = "subject"

[[claim]]
id = "used"
text = "The link is used."
check = "utilization >= 0.8"

[[claim]]
id = "paths"
text = "Several paths."
reason = "A connection has one path here."
"#;

fn question() -> Question {
    Question {
        subject: scheme::parse("reno").unwrap(),
        against: None,
        extensions: Extensions::NONE,
        cases: vec![Carried { suite: "a".into(), origin: "a/b.toml".into(), text: CASE.into() }],
        thresholds: Vec::new(),
        pace: Pace::Full,
        seeds: None,
        limits: Limits { tolerance: 0.02, margin: 0.05 },
        baseline: None,
        partial: false,
    }
}

/// The outcome where the subject uses this part of the link with each seed, and the other scheme that part.
fn outcome(question: Question, subject: [f64; 3], other: [f64; 3]) -> Outcome {
    let gate = question.plan(&files::none).unwrap();
    let mut records = Records::default();
    let wanted = gate.wanted();
    for (place, run) in wanted.iter().enumerate() {
        let used = if place < 3 { subject } else { other }[place % 3];
        let rows = vec![Row::new([]).with("utilization", used)];
        records.insert(run.name(), Record::computed(run.seed, 0.0, rows));
    }
    gate.outcome(&records)
}

fn status(outcome: &Outcome) -> (Status, u8) {
    (outcome.cases[0].claims[0].status, outcome.exit_status())
}

const GOOD: [f64; 3] = [0.90, 0.92, 0.94];
const BAD: [f64; 3] = [0.70, 0.72, 0.74];

#[test]
fn a_claim_alone_passes_or_fails_and_what_cannot_be_expressed_is_not_applicable() {
    let good = outcome(question(), GOOD, GOOD);
    assert_eq!(status(&good), (Status::Passed, 0));
    assert_eq!(good.cases[0].claims[1].status, Status::NotApplicable);
    assert_eq!(status(&outcome(question(), BAD, BAD)), (Status::Failed, 1));
    assert_eq!(status(&outcome(question(), [f64::NAN; 3], GOOD)), (Status::Unjudged, 2));
}

#[test]
fn a_threshold_of_the_gate_takes_the_place_of_a_claim() {
    let check = crate::experiment::expression::Check::parse("utilization >= 0.6").unwrap();
    let threshold = |case: &str| Threshold {
        case: case.into(),
        claim: "used".into(),
        checks: vec![check.clone()],
        reason: String::new(),
    };
    let lower = Question { thresholds: vec![threshold("a-b")], ..question() };
    assert_eq!(status(&outcome(lower, BAD, BAD)), (Status::Passed, 0));
    let lost = Question { thresholds: vec![threshold("a-c")], ..question() }.plan(&files::none);
    assert!(matches!(lost, Err(Refused::Threshold(why)) if why.contains("did you mean `a-b`")));
}

#[test]
fn a_number_that_moved_fails_until_it_is_accepted_and_a_known_failure_does_not() {
    let accepted = |numbers| Some(Baseline::default().accepting(&outcome(question(), numbers, numbers)));
    let against = |before, now| {
        let question = Question { baseline: accepted(before), ..question() };
        status(&outcome(question, now, now))
    };
    assert_eq!(against(GOOD, GOOD), (Status::Passed, 0));
    assert_eq!(against(BAD, BAD), (Status::Known, 0));
    assert_eq!(against(GOOD, BAD), (Status::Failed, 1));
    // 5 % more with each seed is beyond the tolerance of 2 %, 1 % is not.
    assert_eq!(against(GOOD, GOOD.map(|used| 1.05 * used)), (Status::Moved, 1));
    assert_eq!(against(GOOD, GOOD.map(|used| 1.01 * used)), (Status::Passed, 0));
    // As far on average, but not with every seed: within the noise.
    assert_eq!(against(GOOD, [1.10, 0.85, 0.95]), (Status::Passed, 0));
}

#[test]
fn one_that_is_no_worse_than_another_scheme_passes_and_one_that_is_does_not() {
    let beside = |subject, other| {
        let against = Some(scheme::parse("cubic").unwrap());
        status(&outcome(Question { against, ..question() }, subject, other))
    };
    assert_eq!(beside(GOOD, GOOD.map(|used| used + 0.02)), (Status::Passed, 0));
    assert_eq!(beside(GOOD, GOOD.map(|used| used + 0.06)), (Status::Worse, 1));
    assert_eq!(beside(BAD, BAD), (Status::Known, 0));
    assert_eq!(beside(BAD, GOOD), (Status::Failed, 1));
    // Equal on average, but too noisy to show it.
    assert_eq!(beside([0.82, 0.92, 1.0], [0.92, 0.82, 1.0]), (Status::Worse, 1));
}

#[test]
fn a_baseline_keeps_the_other_pace_and_names_what_is_no_more() {
    let full = outcome(question(), GOOD, GOOD);
    let quick = outcome(Question { pace: Pace::Quick, ..question() }, BAD, BAD);
    let both = Baseline::default().accepting(&full).accepting(&quick);
    assert_eq!(both.paces.keys().collect::<Vec<_>>(), ["full", "quick"]);
    let mut older = both;
    if let Some(cases) = older.paces.get_mut("full") {
        cases.insert("a-old".into(), KeptCase::new());
    }
    let asked = |partial| Question { baseline: Some(older.clone()), partial, ..question() };
    let ids = |outcome: &Outcome| {
        older.clone().accepting(outcome).paces["full"].keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let whole = outcome(asked(false), GOOD, GOOD);
    assert_eq!((whole.gone.join(" "), whole.has_baseline), ("a-old".to_string(), true));
    assert_eq!(ids(&whole), "a-b");
    // A gate of some cases says nothing about the others, and keeps them.
    let part = outcome(asked(true), GOOD, GOOD);
    assert!(part.gone.is_empty());
    assert_eq!(ids(&part), "a-b a-old");
}
