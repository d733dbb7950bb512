// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `gate.toml`: the subject, the suites and the thresholds of a gate.

use crate::experiment::expression::Check;
use crate::experiment::sections::{Names, Words};
use crate::fault::{Fault, Faults};
use crate::scenario::reader::{Shape, settings};
use crate::scenario::tree::Table;

crate::settings! {
    /// The subject of a gate, and its criteria.
    pub struct Asked {
        /// The scheme under test, as `knee compare` takes it.
        subject: Words = Words::default();
        /// The suites, and files of cases of your own that end in `.toml`, relative to this file.
        suites: Names = Names::default();
        /// The file of the baseline, relative to this file.
        baseline: Words = Words::default();
        /// The permitted movement of a number from the baseline, as a part of it.
        tolerance: f64 = 0.02, 0.0..=1.0;
        /// Another scheme: no claim may have a smaller margin than with this one, and one that this one fails too is
        /// not a failure.
        against: Words = Words::default();
        /// The permitted shortfall of a claim's margin against the other scheme's, as a part of the compared number.
        margin: f64 = 0.05, 0.0..=1.0;
        /// Seeds of each case; 0 for the case's own.
        seeds: u32 = 0, 0..=1000;
    }
}

crate::settings! {
    /// A threshold of the gate's own.
    pub struct ThresholdParams {
        /// The case, as in `rfc9743-wired`.
        case: Words = Words::default();
        /// The claim that it replaces, or the name of a new one.
        claim: Words = Words::default();
        /// The comparisons.
        check: Names = Names::default();
        /// The reason why it is not the case's own.
        reason: Words = Words::default();
    }
}

/// A threshold of the gate's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The case.
    pub case: String,
    /// The claim that it replaces, or the name of a new one.
    pub claim: String,
    /// The comparisons.
    pub checks: Vec<Check>,
    /// The reason why it is not the case's own.
    pub reason: String,
}

/// The name of the baseline's file where none is given.
const BASELINE: &str = "gate.json";

/// Reads a `gate.toml`. The error holds every fault found, in order of place.
pub fn parse(text: &str) -> Result<(Asked, Vec<Threshold>), Vec<Fault>> {
    let mut faults = Faults::default();
    let root = crate::scenario::root(text, &mut faults);
    let read = root.map(|root| read(&root, &mut faults));
    match read {
        Some(read) if faults.is_empty() => Ok(read),
        _ => Err(faults.finish(text)),
    }
}

fn read(root: &Table, faults: &mut Faults) -> (Asked, Vec<Threshold>) {
    let shape = Shape { place: "the gate", besides: &["threshold"], required: &["subject", "suites"] };
    let mut asked: Asked = settings(root, shape, faults);
    if asked.baseline.0.is_empty() {
        asked.baseline = Words(BASELINE.into());
    }
    let tables = root.tables("threshold", faults);
    let thresholds = tables.into_iter().map(|table| threshold(table, faults)).collect();
    (asked, thresholds)
}

fn threshold(table: &Table, faults: &mut Faults) -> Threshold {
    let required = &["case", "claim", "check"];
    let shape = Shape { place: "[[threshold]]", besides: &[], required };
    let ThresholdParams { case, claim, check, reason } = settings(table, shape, faults);
    let mut checks = Vec::new();
    for text in &check.0 {
        match Check::parse(text) {
            Ok(parsed) => checks.push(parsed),
            Err(wrong) => faults.add_with_help(
                table.place("check"),
                format!("check: `{text}`: {}", wrong.message),
                "write it as in `utilization >= 0.9`",
            ),
        }
    }
    Threshold { case: case.0, claim: claim.0, checks, reason: reason.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_needs_a_subject_and_suites_and_may_have_thresholds() {
        let whole = "subject = \"pert\"\nsuites = [\"rfc9743\"]\n[[threshold]]\ncase = \"rfc9743-wired\"\nclaim = \"used\"\n\
                     check = \"utilization >= 0.8\"\n";
        let (asked, thresholds) = parse(whole).unwrap();
        assert_eq!((asked.subject.0.as_str(), asked.baseline.0.as_str()), ("pert", "gate.json"));
        assert_eq!((asked.tolerance, thresholds[0].checks.len()), (0.02, 1));
        let wrong =
            parse("subjet = \"pert\"\n[[threshold]]\ncase = \"a\"\nclaim = \"b\"\ncheck = \"1 =< 2\"\n");
        let told: Vec<String> = wrong.unwrap_err().iter().map(|fault| fault.message.clone()).collect();
        assert!(told.iter().any(|one| one.contains("no field `subjet`")), "{told:?}");
        assert!(told.iter().any(|one| one.contains("needs `suites`")), "{told:?}");
        assert!(told.iter().any(|one| one.contains("1 =< 2")), "{told:?}");
    }
}
