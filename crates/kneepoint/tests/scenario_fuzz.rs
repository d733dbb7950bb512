// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scenario parser returns a plan or faults within the text, for any text.
//!
//! `KNEE_FUZZ_CASES` sets the number of texts.

use std::panic::catch_unwind;

use kneepoint::experiment::{self, Pace};
use kneepoint::rng::Rng;
use kneepoint::scenario::{Fault, Plan, example, parse};
use kneepoint::table::Frame;

const SCENARIOS: &[&str] = &[
    include_str!("../../../scenarios/comparison.toml"),
    include_str!("../../../scenarios/mixed-rtt.toml"),
    include_str!("../../../scenarios/parking-lot.toml"),
    include_str!("../../../scenarios/web.toml"),
    include_str!("../../../scenarios/satellite.toml"),
    include_str!("../../../scenarios/coexistence.toml"),
    "[topology]\nkind = \"graph\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\n\
     rate = \"1mbit\"\ndelay = \"5ms\"\nloss = \"uniform:p=0.1\"\n[[flows]]\ncc = \"tahoe\"\nfrom = \"a\"\nto = \"b\"\n\
     [[cbr]]\nfrom = \"b\"\nto = \"a\"\n\
     [[onoff]]\ncc = \"reno\"\nmodel = \"turns\"\n\
     [[arrivals]]\ncc = \"reno\"\nlist = [\"1s 10kb\", \"2s\"]\n",
];

const EXPERIMENTS: &[&str] = &[
    include_str!("../../../experiments/pert/fig5.toml"),
    include_str!("../../../experiments/pert/fig13bcd.toml"),
    include_str!("../../../experiments/pert/fig6.toml"),
    include_str!("../../../experiments/pert/tab1.toml"),
    include_str!("../../../experiments/pert/fig12.toml"),
];

/// Values at the edges of ranges.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "1e300",
    "-0.0",
    "nan",
    "inf",
    "9223372036854775807",
    "99999999999999999999",
    "4294967296",
    "100000",
    "0x10",
    "true",
    "\"\"",
    "\"0s\"",
    "\"1ns\"",
    "\"1000000s\"",
    "\"9007199254740992ns\"",
    "\"1bit\"",
    "\"1000gbit\"",
    "\"10000bdp\"",
    "\"0.001bdp\"",
    "\"16777216pkt\"",
    "\"1b\"",
    "\"0s..0s\"",
    "\"5s..1s\"",
    "\"auto\"",
    "\"never\"",
    "\"unlimited\"",
    "\"*\"",
    "[]",
    "[1, \"x\"]",
    "{}",
    "{ kind = \"reno\" }",
    "\"ä\\u0000\"",
    "1979-05-27",
    "\"reno:increase=1,\"",
    "\"/\"",
    "[[[]]]",
    "\"r0\"",
    "\"r18446744073709551616\"",
];

/// A random change.
fn mutate(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = rng.below(lines.len().max(1) as u64) as usize;
    let other = rng.below(lines.len().max(1) as u64) as usize;
    let extreme = EXTREMES[rng.below(EXTREMES.len() as u64) as usize];
    match rng.below(8) {
        0 => return flip(text, rng),
        1 if !lines.is_empty() => {
            lines.remove(line);
        }
        2 if !lines.is_empty() => lines.insert(other, lines[line]),
        3 if !lines.is_empty() => lines.swap(line, other),
        4 => return swap_tokens(text, rng),
        5 | 6 if !lines.is_empty() => {
            let value = match lines[line].split_once('=') {
                Some((key, _)) => format!("{key}= {extreme}"),
                None => extreme.to_string(),
            };
            lines[line] = &value;
            return lines.join("\n");
        }
        _ => return cut(text, rng),
    }
    lines.join("\n")
}

fn flip(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=rng.below(3) {
        if !bytes.is_empty() {
            let place = rng.below(bytes.len() as u64) as usize;
            bytes[place] = rng.below(256) as u8;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn swap_tokens(text: &str, rng: &mut Rng) -> String {
    let mut tokens: Vec<&str> = text.split_inclusive([' ', '\n', '=', ',', '"', '.', '[', ']']).collect();
    if !tokens.is_empty() {
        let mut pick = || rng.below(tokens.len() as u64) as usize;
        let (one, other) = (pick(), pick());
        tokens.swap(one, other);
    }
    tokens.concat()
}

/// Removes or repeats a part of the text.
fn cut(text: &str, rng: &mut Rng) -> String {
    let mut ends = [rng.below(text.len() as u64 + 1) as usize, rng.below(text.len() as u64 + 1) as usize];
    ends.sort_unstable();
    let [from, to] = ends.map(|end| text.floor_char_boundary(end));
    let to = text.floor_char_boundary(to.min(from + 80));
    let repeated = if rng.chance(0.5) { &text[from..to] } else { "" };
    format!("{}{repeated}{repeated}{}", &text[..from], &text[to..])
}

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

/// The number of texts.
fn cases() -> u64 {
    std::env::var("KNEE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000)
}

#[test]
fn any_text_is_answered_with_a_plan_or_with_faults_that_point_into_it() {
    let cases = cases();
    let example = example();
    let seeds: Vec<&str> = SCENARIOS.iter().copied().chain([example.as_str()]).collect();
    let (mut read, mut refused) = (0u64, 0u64);
    for case in 0..cases {
        let mut rng = Rng::stream(1, "scenario fuzz", case);
        let mut text = seeds[rng.below(seeds.len() as u64) as usize].to_string();
        for _ in 0..=rng.below(4) {
            text = mutate(&text, &mut rng);
        }
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
                // Nothing was observed: whatever is claimed cannot be told, but for what needs no observation.
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
