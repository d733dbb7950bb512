// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One object for each claim, for machines.
//!
//! ```text
//! { "experiment", "claim", "verdict", "ours", "published", "reason", "cause",
//!   "text", "certain", "pace", "seeds", "alternatives": { NAME: VERDICT },
//!   "points": [ { "at", "check", "left", "right", "margin", "half_width", "seeds", "holds" } ] }
//! ```
//!
//! `cause` is null for a claim that holds, else `publication`, `unstated`, `ours` or `unknown`.
//! `ours` is a number if the claim is about one, else an object of numbers by name; their intervals are in
//! `intervals` under the same names.

use serde_json::{Value, json};

use super::reason;
use crate::experiment::{Because, Claim, Judgement, Reproduction};

/// Every claim of every outcome.
pub fn claims(outcomes: &[Reproduction]) -> Vec<Value> {
    outcomes.iter().flat_map(of).collect()
}

/// Every claim of an outcome.
pub fn of(outcome: &Reproduction) -> Vec<Value> {
    let claims = outcome.experiment.claims.iter().enumerate();
    let judged = claims.zip(outcome.judgements()).zip(outcome.causes());
    judged
        .map(|(((place, claim), judgement), because)| one(outcome, place, claim, &judgement, because))
        .collect()
}

fn one(
    outcome: &Reproduction,
    place: usize,
    claim: &Claim,
    judgement: &Judgement,
    because: Option<Because>,
) -> Value {
    let alternatives = outcome.alternatives(place).into_iter();
    let alternatives: serde_json::Map<_, _> =
        alternatives.map(|(name, verdict)| (name.to_string(), verdict.name().into())).collect();
    let points = judgement.points.iter().map(|point| {
        json!({
            "at": point.at,
            "check": point.check,
            "left": point.left,
            "right": point.right,
            "margin": point.margin.mean,
            "half_width": point.margin.half_width,
            "seeds": point.sides.len(),
            "holds": point.holds,
        })
    });
    let by_name = |of: fn(&crate::table::Estimate) -> Value| -> Value {
        match judgement.ours.as_slice() {
            [] => Value::Null,
            [(_, alone)] => of(alone),
            several => several.iter().map(|(name, estimate)| (name.clone(), of(estimate))).collect(),
        }
    };
    json!({
        "experiment": outcome.experiment.id,
        "claim": claim.id,
        "verdict": judgement.verdict.name(),
        "ours": by_name(|estimate| estimate.mean.into()),
        "published": claim.published,
        "reason": reason(claim, judgement),
        "cause": because.map(|because| because.cause.name()),
        "text": claim.text,
        "tolerance": claim.tolerance,
        "certain": judgement.certain,
        "pace": outcome.pace.name(),
        "seeds": outcome.frames[0].seeds().len(),
        "intervals": by_name(|estimate| estimate.half_width.into()),
        "alternatives": alternatives,
        "points": points.collect::<Value>(),
    })
}
