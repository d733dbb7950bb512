// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gates of the registered controllers, kept in `docs/gates.json`; `docs` writes their pages from it.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::cc::REGISTRY;
use kneepoint::experiment::Pace;
use kneepoint::experiment::gate::{Gate, Limits, Outcome, Question, suites};
use kneepoint::report::gate::why;
use kneepoint::scenario::{Extensions, scheme};
use kneepoint::study::{Record, Records, Study, Wanted, Work};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The controllers to test.
#[derive(Args)]
pub struct Arguments {
    /// Controllers, instead of all; the others keep their outcomes.
    names: Vec<String>,
    /// Files of `knee gate run SCHEME --suite SUITE --json`: outcomes of controllers that other hosts have. Nothing is run.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    outcomes: Vec<PathBuf>,
}

/// A suite with the controllers that are tested by it; all of the registry where none is named.
const TESTED: &[(&str, &[&str])] = &[("rfc9743", &[]), ("bbr-draft", &["bbr3", "bbr"])];

/// Schemes of controllers that need their own queue.
const SCHEMES: &[(&str, &str)] =
    &[("dctcp", "dctcp/step"), ("prague", "prague/dualpi2"), ("ratcp-rem", "ratcp-rem/rem:ecn=true")];

/// The outcome of a suite for a scheme.
#[derive(Serialize, Deserialize, Clone)]
pub struct Kept {
    /// The suite.
    pub suite: String,
    /// The controller.
    pub controller: String,
    /// The scheme that was run.
    pub scheme: String,
    /// The cases, in the order of the suite.
    pub cases: Vec<KeptCase>,
}

/// The outcome of a case.
#[derive(Serialize, Deserialize, Clone)]
pub struct KeptCase {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Document and section.
    pub source: String,
    /// The gravest status of its claims.
    pub status: String,
    /// The reason why it is not passed: each claim that did not.
    pub why: Vec<String>,
}

/// The place of outcomes.
pub fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gates.json")
}

/// The kept outcomes.
pub fn read() -> Vec<Kept> {
    let text = std::fs::read_to_string(place()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Runs the gates, and keeps their outcomes.
pub fn run_all(arguments: &Arguments) -> Result<bool, String> {
    let before = read();
    let mut kept = Vec::new();
    let mut others =
        arguments.outcomes.iter().map(|file| told(file)).collect::<Result<Vec<Kept>, String>>()?;
    let ran_again =
        |old: &Kept| others.iter().any(|new| (&new.suite, &new.controller) == (&old.suite, &old.controller));
    let elsewhere =
        |old: &&Kept| REGISTRY.iter().all(|entry| entry.name != old.controller) && !ran_again(old);
    let unasked: Vec<Kept> = before.iter().filter(elsewhere).cloned().collect();
    others.extend(unasked);
    others.sort_by(|one, other| one.controller.cmp(&other.controller));
    for (suite, own) in TESTED {
        for entry in REGISTRY.iter().filter(|entry| own.is_empty() || own.contains(&entry.name)) {
            let old = before.iter().find(|old| old.suite == *suite && old.controller == entry.name);
            let all = arguments.names.is_empty() && arguments.outcomes.is_empty();
            let asked = all || arguments.names.iter().any(|name| name == entry.name);
            match old {
                Some(old) if !asked => kept.push(old.clone()),
                _ => kept.push(one(suite, entry.name)?),
            }
        }
        kept.extend(others.extract_if(.., |other| other.suite == *suite));
    }
    let text = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())? + "\n";
    std::fs::write(place(), text).map_err(|error| error.to_string())?;
    println!("wrote docs/gates.json; `cargo run -p xtask -- docs` writes the pages");
    Ok(true)
}

/// An outcome as the program tells it.
fn told(file: &Path) -> Result<Kept, String> {
    let wrong = |what: &str| format!("{}: {what}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(&error.to_string()))?;
    let told: Value = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    let part = |of: &Value, key: &str| of[key].as_str().map(String::from).ok_or_else(|| wrong(key));
    let list = |of: &Value, key: &str| of[key].as_array().cloned().ok_or_else(|| wrong(key));
    let case = |case: &Value| -> Result<KeptCase, String> {
        let claims = list(case, "claims")?;
        let open = claims.iter().filter(|claim| claim["status"] != "passed");
        let why = |claim| {
            Ok(format!("{} {}: {}", part(claim, "claim")?, part(claim, "status")?, part(claim, "why")?))
        };
        Ok(KeptCase {
            id: part(case, "case")?,
            title: part(case, "title")?,
            source: part(case, "source")?,
            status: part(case, "status")?,
            why: open.map(why).collect::<Result<_, String>>()?,
        })
    };
    let cases = list(&told, "cases")?;
    Ok(Kept {
        suite: cases.first().map(|first| part(first, "suite")).transpose()?.unwrap_or_default(),
        controller: part(&told, "subject")?,
        scheme: part(&told, "subject")?,
        cases: cases.iter().map(case).collect::<Result<_, String>>()?,
    })
}

fn one(suite: &str, controller: &str) -> Result<Kept, String> {
    let scheme =
        SCHEMES.iter().find(|(name, _)| *name == controller).map_or(controller, |(_, scheme)| scheme);
    let question = Question {
        subject: scheme::parse(scheme)?,
        against: None,
        extensions: Extensions::NONE,
        cases: suites::cases(suite)?,
        thresholds: Vec::new(),
        pace: Pace::Full,
        seeds: None,
        limits: Limits { tolerance: 0.0, margin: 0.0 },
        baseline: None,
        partial: false,
    };
    let files = |named: &str| Err(format!("a case of a suite names no files: `{named}`"));
    let gate = question.plan(&files).map_err(|why| format!("{why:?}"))?;
    let outcome = gate.outcome(&records(&gate));
    println!("{suite:<10} {controller:<14} {}", outcome.status());
    Ok(Kept {
        suite: suite.into(),
        controller: controller.into(),
        scheme: scheme.into(),
        cases: outcome.cases.iter().map(|case| kept(case, &outcome)).collect(),
    })
}

fn kept(case: &kneepoint::experiment::gate::CaseOutcome, outcome: &Outcome) -> KeptCase {
    let open = case.claims.iter().filter(|claim| claim.status.name() != "passed");
    let told = open.map(|claim| format!("{} {}: {}", claim.claim.id, claim.status, why(claim, outcome)));
    KeptCase {
        id: case.id.clone(),
        title: case.title.clone(),
        source: case.source.clone(),
        status: case.status().to_string(),
        why: told.collect(),
    }
}

/// Every run that a gate requests, on all cores.
fn records(gate: &Gate) -> Records {
    let wanted = gate.wanted();
    let made: Vec<(String, Record)> = wanted.par_iter().map(record).collect();
    let mut records = Records::default();
    made.into_iter().for_each(|(name, record)| records.insert(name, record));
    records
}

fn record(wanted: &Wanted) -> (String, Record) {
    let record = match wanted.work {
        Work::Packets(packets) => {
            let (seen, outcome) = packets.run(wanted.seed);
            Record::simulated(wanted.seed, 0.0, outcome, seen)
        }
        Work::Computation(computation) => {
            Record::computed(wanted.seed, 0.0, computation.rows().unwrap_or_default())
        }
    };
    (wanted.name(), record)
}
