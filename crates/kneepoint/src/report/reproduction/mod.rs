// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproductions of published figures: the document with the verdict on each claim, figures, and data for machines.

pub mod data;
mod document;
mod figure;
pub mod json;
mod shared;

pub use document::{document, ours};

use super::{Factor, Factors, number};
use crate::experiment::{CheckResult, Claim, Judgement, Verdict};
use crate::scenario::Settings;
use crate::study::Effort;
use crate::table::Estimate;
use crate::table::Labels;

/// A longer text of a comparison says less than its numbers.
const LONGEST_CHECK: usize = 160;

/// The grounds of a verdict, in a sentence or two.
pub fn reason(claim: &Claim, judgement: &Judgement) -> String {
    let believed = claim.reason.as_deref();
    match judgement.verdict {
        Verdict::Untestable => match &judgement.missing {
            Some(missing) => format!("no observations of {missing}"),
            None => believed.unwrap_or("no observations to test").to_string(),
        },
        Verdict::Holds => evidence(judgement),
        Verdict::Fails => {
            format!("{}. {}", evidence(judgement), believed.unwrap_or("The reason is not known yet"))
        }
    }
}

/// The number of points at which a claim holds, the number of comparisons that do, and the comparison that is closest to failing or fails by most.
pub(super) fn evidence(judgement: &Judgement) -> String {
    let points: Vec<bool> = judgement
        .points
        .chunk_by(|a, b| a.at == b.at)
        .map(|point| point.iter().all(|comparison| comparison.holds))
        .collect();
    let good = points.iter().filter(|good| **good).count();
    let by_margin = |a: &&CheckResult, b: &&CheckResult| relative(a).total_cmp(&relative(b));
    let Some(worst) = judgement.points.iter().min_by(by_margin) else { return String::new() };
    let place = match worst.at.is_empty() {
        true => String::new(),
        false => format!(" at {}", at(&worst.at)),
    };
    let count = match points.len() {
        1 => String::new(),
        all => format!("held at {good} of {all} points; "),
    };
    // Several comparisons at one point are distinguished by their text; one at several points by the place.
    let comparisons = judgement.points.len();
    let named = match (points.len(), comparisons) {
        (1, 2..) => {
            let met = judgement.points.iter().filter(|one| one.holds).count();
            let text =
                if worst.check.len() <= LONGEST_CHECK { format!("{}: ", worst.check) } else { String::new() };
            format!("{met} of {comparisons} comparisons hold; {text}")
        }
        _ => String::new(),
    };
    let doubt = if judgement.certain { "" } else { ", within the noise of the seeds" };
    format!(
        "{count}{named}{} against {}, {}{place}{doubt}",
        number::significant(worst.left, 3),
        number::significant(worst.right, 3),
        distance(&worst.margin),
    )
}

/// `short by 0.274 ± 0.011` or `with 0.02 to spare`: how far a comparison is from its other verdict.
fn distance(margin: &Estimate) -> String {
    let size = shown(&Estimate { mean: margin.mean.abs(), ..*margin });
    match margin.mean {
        mean if mean < 0.0 => format!("short by {size}"),
        mean if mean > 0.0 => format!("with {size} to spare"),
        _ => format!("a margin of {size}"),
    }
}

/// A margin relative to the compared values, so that comparisons of different quantities can be ordered.
fn relative(comparison: &CheckResult) -> f64 {
    comparison.margin.mean / comparison.left.abs().max(comparison.right.abs()).max(1e-12)
}

/// `bandwidth = 1 Mbit/s, link = r1-r2`
fn at(labels: &Labels) -> String {
    let case: Settings = labels.iter().map(|(axis, label)| (axis.clone(), label.clone())).collect();
    let told = |factor: &Factor| format!("{} = {}", factor.name, factor.levels[0].text);
    Factors::of(&[case]).factors.iter().map(told).collect::<Vec<_>>().join(", ")
}

/// `0.28 ± 0.01`
fn shown(estimate: &Estimate) -> String {
    match number::estimate(estimate, 1.0) {
        (mean, Some(half_width)) => format!("{mean} ± {half_width}"),
        (mean, None) => mean,
    }
}

/// `12 hold, 3 fail, 1 untestable`, over all claims.
pub fn tally<'a>(judgements: impl Iterator<Item = &'a Judgement>) -> String {
    let verdicts: Vec<Verdict> = judgements.map(|judgement| judgement.verdict).collect();
    let count = |verdict| verdicts.iter().filter(|one| **one == verdict).count();
    let (holds, fails) = (count(Verdict::Holds), count(Verdict::Fails));
    format!(
        "{} {}: {holds} hold, {fails} fail, {} untestable",
        verdicts.len(),
        if verdicts.len() == 1 { "claim" } else { "claims" },
        count(Verdict::Untestable)
    )
}

/// The cost: `96 runs of 1300 M packets, 210 s of CPU`.
pub fn effort(effort: &Effort) -> String {
    let packets = number::significant(effort.packets as f64 / 1e6, 3);
    let seconds = number::significant(effort.cpu_seconds, 3);
    format!("{} runs of {packets} M packets, {seconds} s of CPU", effort.runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_names_and_the_units_that_people_use() {
        let told = |axes: &[(&str, &str)]| {
            let labels = axes.iter().map(|(axis, label)| (axis.to_string(), label.to_string()));
            at(&labels.collect())
        };
        assert_eq!(
            told(&[("bandwidth", "100mbit"), ("link", "r1-r2")]),
            "bandwidth = 100 Mbit/s, link = r1-r2"
        );
        assert_eq!(told(&[("flows.long.count", "50"), ("topology.rtt", "20ms")]), "flows = 50, RTT = 20 ms");
        assert_eq!(told(&[("topology.buffer", "0.25bdp"), ("who", "both")]), "buffer = 0.25 BDP, who = both");
    }
}
