// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A gate for machines.

use std::collections::BTreeMap;

use super::why;
use crate::experiment::CheckResult;
use crate::experiment::gate::{CaseOutcome, ClaimOutcome, Outcome, Status};
use crate::keys::Shape;
use crate::report::Manifest;

crate::keys! {
    /// The outcome of a gate.
    #[derive(Clone, Debug)]
    pub struct Told {
        /// The scheme under test.
        pub subject: String,
        /// The other scheme; null without one.
        pub against: Option<String>,
        /// `full`, or `quick` for shortened runs.
        pub pace: String,
        /// The gravest status of a case.
        pub status: String,
        /// The exit status: 0, 1 or 2.
        pub exit_status: u32,
        /// The number of cases by status.
        pub counts: BTreeMap<String, usize> => Shape::Each("<status>", "The number of cases."),
        /// One for each case.
        pub cases: Vec<Case>,
        /// Accepted cases that no longer exist.
        pub gone: Vec<String>,
        /// Enough to repeat the runs.
        pub manifest: Manifest,
    }

    /// A case.
    #[derive(Clone, Debug)]
    pub struct Case {
        /// Its suite.
        pub suite: String,
        /// Its id.
        pub case: String,
        /// Its title.
        pub title: String,
        /// Document and section.
        pub source: String,
        /// The words of the document.
        pub quote: String,
        /// The gravest status of its claims.
        pub status: String,
        /// The number of seeds.
        pub seeds: usize,
        /// One for each claim.
        pub claims: Vec<Claim>,
    }

    /// A claim of a case.
    #[derive(Clone, Debug)]
    pub struct Claim {
        /// Its name within the case.
        pub claim: String,
        /// Its text.
        pub text: String,
        /// `passed`, `failed`, `moved`, `worse`, `known`, `not applicable` or `unjudged`.
        pub status: String,
        /// `holds`, `fails` or `untestable`, regardless of acceptances.
        pub verdict: String,
        /// Whether the confidence intervals confirm the verdict.
        pub certain: bool,
        /// The grounds of the status.
        pub why: String,
        /// One for each comparison at each point.
        pub checks: Vec<Check>,
    }

    /// A comparison.
    #[derive(Clone, Debug)]
    pub struct Check {
        /// The point of the sweep, by axis.
        pub at: BTreeMap<String, String> => Shape::Each("<axis>", "The label along the axis."),
        /// As written.
        pub check: String,
        /// Its left side.
        pub left: f64,
        /// Its right side.
        pub right: f64,
        /// Its margin; negative where it fails.
        pub margin: f64,
        /// Half the width of the 95 % confidence interval of the margin; null with one seed.
        pub half_width: Option<f64>,
        /// Whether it holds.
        pub holds: bool,
    }
}

/// The outcome of a gate, for machines.
pub fn told(outcome: &Outcome, manifest: &Manifest) -> Told {
    let counts = Status::ALL.iter().map(|status| (status.name().to_string(), outcome.count(*status)));
    Told {
        subject: outcome.subject.clone(),
        against: outcome.against.clone(),
        pace: outcome.pace.name().into(),
        status: outcome.status().name().into(),
        exit_status: outcome.exit_status().into(),
        counts: counts.collect(),
        cases: outcome.cases.iter().map(|one| case(one, outcome)).collect(),
        gone: outcome.gone.clone(),
        manifest: manifest.clone(),
    }
}

fn case(case: &CaseOutcome, outcome: &Outcome) -> Case {
    Case {
        suite: case.suite.clone(),
        case: case.id.clone(),
        title: case.title.clone(),
        source: case.source.clone(),
        quote: case.quote.clone(),
        status: case.status().name().into(),
        seeds: case.seeds,
        claims: case.claims.iter().map(|one| claim(one, outcome)).collect(),
    }
}

fn claim(claim: &ClaimOutcome, outcome: &Outcome) -> Claim {
    Claim {
        claim: claim.claim.id.clone(),
        text: claim.claim.text.clone(),
        status: claim.status.name().into(),
        verdict: claim.judgement.verdict.name().into(),
        certain: claim.judgement.certain,
        why: why(claim, outcome),
        checks: claim.judgement.points.iter().map(check).collect(),
    }
}

fn check(result: &CheckResult) -> Check {
    Check {
        at: result.at.clone(),
        check: result.check.clone(),
        left: result.left,
        right: result.right,
        margin: result.margin.mean,
        half_width: result.margin.half_width,
        holds: result.holds,
    }
}
