// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scenario parser returns a plan or faults within the text, for any text.
//!
//! `KNEE_FUZZ_CASES` sets the number of texts.

use std::panic::catch_unwind;

use kneepoint::experiment::{self, Pace};
use kneepoint::rng::Rng;
use kneepoint::scenario::{Fault, Plan, parse};
use kneepoint::study::Frame;

use crate::common::mutations::{cases, mutate, mutated};

const EXPERIMENTS: &[&str] = &[
    include_str!("../../../../experiments/pert/fig5.toml"),
    include_str!("../../../../experiments/pert/fig13bcd.toml"),
    include_str!("../../../../experiments/pert/fig6.toml"),
    include_str!("../../../../experiments/pert/tab1.toml"),
    include_str!("../../../../experiments/pert/fig12.toml"),
];

/// Asserts the properties of every result.
fn judge(text: &str, answer: &Result<Plan, Vec<Fault>>) {
    match answer {
        Ok(plan) => {
            assert!(!plan.cases.is_empty() && !plan.seeds.is_empty());
            for case in &plan.cases {
                let schedule = &case.valid.schedule();
                assert!(
                    schedule.measure.from < schedule.measure.to && schedule.measure.to <= schedule.duration
                );
                let nodes = case.valid.network().nodes.len() as u32;
                for (from, to) in case.valid.groups().iter().flat_map(|group| group.pairs.iter().copied()) {
                    assert!(from != to && from.0 < nodes && to.0 < nodes);
                }
            }
        }
        Err(faults) => assert_pointed(text, faults),
    }
}

/// Asserts the properties of all faults.
fn assert_pointed(text: &str, faults: &[Fault]) {
    assert!(!faults.is_empty());
    for fault in faults {
        assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
        assert!(!fault.message.is_empty() && fault.help.as_deref() != Some(""), "{fault:?}");
    }
}

#[test]
fn any_text_is_answered_with_a_plan_or_with_faults_that_point_into_it() {
    let cases = cases();
    let (mut read, mut refused) = (0u64, 0u64);
    for case in 0..cases {
        let text = mutated(case);
        let answer = catch_unwind(|| parse(&text));
        let answer = answer.unwrap_or_else(|_| panic!("case {case} panics:\n{text}"));
        judge(&text, &answer);
        *(if answer.is_ok() { &mut read } else { &mut refused }) += 1;
    }
    // Mutations that break all texts, or none, would test little.
    assert!(cases < 1000 || (read > cases / 50 && refused > cases / 50), "{read} read, {refused} refused");
}

#[test]
fn any_experiment_is_answered_with_points_and_claims_or_with_faults_that_point_into_it() {
    // A text with thousands of flows in its sweep takes longer to parse.
    let cases = cases() / 20;
    let (mut read, mut refused) = (0u64, 0u64);
    for case in 0..cases {
        let mut rng = Rng::stream(1, "experiment fuzz", case);
        let mut text = EXPERIMENTS[rng.below(EXPERIMENTS.len() as u64) as usize].to_string();
        for _ in 0..=rng.below(3) {
            text = mutate(&text, &mut rng);
        }
        let pace = if rng.chance(0.5) { Pace::Full } else { Pace::Quick };
        let answer = catch_unwind(|| experiment::parse(&text, pace));
        match answer.unwrap_or_else(|_| panic!("case {case} panics:\n{text}")) {
            Ok(experiment) => {
                assert!(!experiment.variants[0].points.is_empty() && !experiment.seeds.is_empty());
                // Nothing was observed: no claim can be decided, except claims that need no observation.
                for claim in &experiment.claims {
                    claim.judge(&Frame::default());
                }
                read += 1;
            }
            Err(faults) => {
                assert_pointed(&text, &faults);
                refused += 1;
            }
        }
    }
    assert!(cases < 1000 || (read > cases / 50 && refused > cases / 50), "{read} read, {refused} refused");
}
