// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The outcome of a gate: the document, data for machines, and the formats of tools that show tests.

mod document;
pub mod github;
mod json;
pub mod junit;
pub mod sarif;

pub use document::{document, pictures};
pub use json::{Told, told};

use super::number;
use super::reproduction::{evidence, reason};
use crate::experiment::Verdict;
use crate::experiment::gate::{ClaimOutcome, Inferior, Move, Outcome, Status};
use crate::table::Estimate;

/// The grounds of a status, in a sentence or two.
pub fn why(claim: &ClaimOutcome, outcome: &Outcome) -> String {
    let believed = claim.claim.reason.as_deref().map_or(String::new(), |reason| format!(". {reason}"));
    let grounds = match claim.judgement.verdict {
        Verdict::Fails => format!("{}{believed}", evidence(&claim.judgement)),
        _ => reason(&claim.claim, &claim.judgement),
    };
    match claim.status {
        Status::Moved => {
            let moves: Vec<String> = claim.moves.iter().map(moved).collect();
            format!("{}. knee gate accept accepts it", moves.join("; "))
        }
        Status::Worse => claim.worse.as_ref().map_or(grounds, |worse| inferior(worse, outcome)),
        Status::Known if outcome.against.is_some() && !outcome.has_baseline => {
            format!("{grounds}, as with {}", outcome.against.as_deref().unwrap_or_default())
        }
        Status::Known => format!("{grounds} (as accepted)"),
        _ => grounds,
    }
}

fn moved(Move { check, at, before, now, .. }: &Move) -> String {
    let place: Vec<String> = at.iter().map(|(axis, label)| format!("{axis} = {label}")).collect();
    let place = if place.is_empty() { String::new() } else { format!(" at {}", place.join(", ")) };
    format!("now {}, was {}: {check}{place}", shown(now), shown(before))
}

fn inferior(Inferior { check, difference, allowed }: &Inferior, outcome: &Outcome) -> String {
    format!(
        "met by {} more than by {}, where {} at the lower end of the interval is enough: {check}",
        shown(difference),
        outcome.against.as_deref().unwrap_or_default(),
        number::significant(*allowed, 3),
    )
}

fn shown(estimate: &Estimate) -> String {
    match number::estimate(estimate, 1.0) {
        (mean, Some(half_width)) => format!("{mean} ± {half_width}"),
        (mean, None) => mean,
    }
}

/// `12 cases: 10 passed, 1 failed, 1 not applicable`, without the statuses that no case has.
pub fn tally(outcome: &Outcome) -> String {
    let counts = Status::ALL.iter().map(|status| (outcome.count(*status), status));
    let counts: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, status)| format!("{count} {status}")).collect();
    let cases = outcome.cases.len();
    format!("{cases} case{}: {}", if cases == 1 { "" } else { "s" }, counts.join(", "))
}

/// Every claim that makes the gate fail, or that could not be judged: its case's file, a title, and the reason.
pub fn failures(outcome: &Outcome) -> Vec<(&str, String, String)> {
    let mut found = Vec::new();
    for case in &outcome.cases {
        for claim in &case.claims {
            if claim.status.fails() || claim.status == Status::Unjudged {
                let title = format!("{} {}: {}", case.id, claim.claim.id, claim.status);
                found.push((
                    case.origin.as_str(),
                    title,
                    format!("{} {}", claim.claim.text, why(claim, outcome)),
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
