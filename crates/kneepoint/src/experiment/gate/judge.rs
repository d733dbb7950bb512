// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The judgement of a claim by a gate: by its own threshold, by the baseline, and by another scheme.
//!
//! ```text
//! moved   |mean(d)| > tolerance · max(|before|, |now|)   and   p < 0.05 after Holm's correction within the case
//!         d = now − before, seed by seed
//! worse   mean(m) − t(n−1, 0.975) s(m) / √n < −margin · max(|left|, |right|) of the other scheme
//!         m = margin of the subject − margin of the other, seed by seed
//! ```
//!
//! The first is a test of a difference: an unchanged number has no difference at all, since equal code produces identical bytes.
//! The second is a test of non-inferiority: it is the subject that must show that it is not worse, so few seeds and much noise
//! do not pass.

use super::baseline::KeptClaim;
use crate::experiment::claim::Sides;
use crate::experiment::{CheckResult, Judgement, Verdict};
use crate::table::paired::{LEVEL, Paired, holm};
use crate::table::{Estimate, Labels};

crate::choice! {
    /// The status of a claim in a gate.
    pub enum Status {
        /// It holds.
        Passed = "passed",
        /// It does not hold, and did before or never was accepted.
        Failed = "failed",
        /// Its numbers differ from the baseline.
        Moved = "moved",
        /// Its margin is smaller than the other scheme's.
        Worse = "worse",
        /// It does not hold, as in the baseline or with the other scheme.
        Known = "known",
        /// The subject or the laboratory cannot express it, for the reason given.
        NotApplicable = "not applicable",
        /// A number that it needs was not observed.
        Unjudged = "unjudged",
    }
}

impl Status {
    /// Whether it makes the gate fail.
    pub fn fails(self) -> bool {
        matches!(self, Status::Failed | Status::Moved | Status::Worse)
    }

    /// The status of an item with several: the gravest.
    pub fn of(several: impl Iterator<Item = Status>) -> Status {
        let gravity = |status: &Status| match status {
            Status::Failed => 6,
            Status::Moved => 5,
            Status::Worse => 4,
            Status::Unjudged => 3,
            Status::Known => 2,
            Status::Passed => 1,
            Status::NotApplicable => 0,
        };
        several.max_by_key(gravity).unwrap_or(Status::NotApplicable)
    }
}

/// A number that differs from the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The comparison, and the point.
    pub check: String,
    /// The point.
    pub at: Labels,
    /// The side, before.
    pub before: Estimate,
    /// The side, now.
    pub now: Estimate,
    /// The probability of so large a difference by chance.
    pub p: f64,
}

/// The permitted movement of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The change from the baseline, as a part of it.
    pub tolerance: f64,
    /// The shortfall against the other scheme, as a part of the number compared.
    pub margin: f64,
}

/// A side of a comparison that differs from the baseline, before its significance is known.
struct Candidate {
    claim: usize,
    moved: Move,
    far: bool,
}

/// The moves of each claim of a case. `kept` are the accepted claims, in the same order.
pub(super) fn moves(
    judgements: &[&Judgement],
    kept: &[Option<&KeptClaim>],
    tolerance: f64,
) -> Vec<Vec<Move>> {
    let mut candidates = Vec::new();
    for (claim, (judgement, accepted)) in judgements.iter().zip(kept).enumerate() {
        for (result, before) in
            judgement.points.iter().filter_map(|one| Some((one, accepted.as_ref()?.same(one)?)))
        {
            for side in [|one: &Sides| one.left, |one: &Sides| one.right] {
                candidates.extend(candidate(claim, result, &before.sides, side, tolerance));
            }
        }
    }
    let probabilities: Vec<f64> = candidates.iter().map(|one| one.moved.p).collect();
    let mut found = vec![Vec::new(); judgements.len()];
    for (Candidate { claim, moved, far }, p) in candidates.into_iter().zip(holm(&probabilities)) {
        if far && p < LEVEL {
            found[claim].push(Move { p, ..moved });
        }
    }
    found
}

fn candidate(
    claim: usize,
    result: &CheckResult,
    accepted: &[Sides],
    side: fn(&Sides) -> f64,
    tolerance: f64,
) -> Option<Candidate> {
    let pairs: Vec<(f64, f64)> = pairs(&result.sides, accepted, side).collect();
    let of = |which: fn(&(f64, f64)) -> f64| Estimate::of(&pairs.iter().map(which).collect::<Vec<_>>());
    let (now, before) = (of(|pair| pair.0), of(|pair| pair.1));
    let paired = Paired::of(pairs.iter().copied());
    let size = now.mean.abs().max(before.mean.abs());
    // A single seed gives no estimate of noise.
    let certain = if pairs.len() == 1 { Some(0.0) } else { None };
    let p = paired.p.or(certain)?;
    let moved = Move { check: result.check.clone(), at: result.at.clone(), before, now, p };
    Some(Candidate { claim, moved, far: paired.difference.mean.abs() > tolerance * size })
}

/// The numbers of the seeds that both have.
fn pairs<'s>(
    now: &'s [Sides],
    before: &'s [Sides],
    side: fn(&Sides) -> f64,
) -> impl Iterator<Item = (f64, f64)> + 's {
    now.iter().filter_map(move |one| {
        let other = before.iter().find(|other| other.seed == one.seed)?;
        Some((side(one), side(other)))
    })
}

/// A comparison in which the subject's margin is smaller than the other scheme's by more than is permitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferior {
    /// The comparison.
    pub check: String,
    /// The subject's additional margin: negative.
    pub difference: Estimate,
    /// The least permitted lower end of that, negative.
    pub allowed: f64,
}

/// The first such comparison.
pub(super) fn inferior(subject: &Judgement, other: &Judgement, margin: f64) -> Option<Inferior> {
    subject.points.iter().find_map(|result| {
        let same = other.points.iter().find(|one| one.check == result.check && one.at == result.at)?;
        let met = |one: &Sides| result.sign.margin(one.left, one.right);
        let differences: Vec<f64> = result
            .sides
            .iter()
            .filter_map(|one| {
                let there = same.sides.iter().find(|there| there.seed == one.seed)?;
                Some(met(one) - met(there))
            })
            .collect();
        let difference = Estimate::of(&differences);
        let allowed = -margin * same.left.abs().max(same.right.abs());
        (difference.interval().0 < allowed).then(|| Inferior {
            check: result.check.clone(),
            difference,
            allowed,
        })
    })
}

/// The status of a claim, from its verdict, its moves, the acceptances and the other scheme.
pub(super) fn status(
    judgement: &Judgement,
    moved: bool,
    kept: Option<&KeptClaim>,
    other: Option<(&Judgement, bool)>,
) -> Status {
    let excused = kept.is_some_and(KeptClaim::failed)
        || other.is_some_and(|(other, inferior)| other.verdict == Verdict::Fails && !inferior);
    match judgement.verdict {
        Verdict::Untestable if judgement.missing.is_some() => Status::Unjudged,
        Verdict::Untestable => Status::NotApplicable,
        Verdict::Fails if !excused => Status::Failed,
        _ if moved => Status::Moved,
        Verdict::Fails => Status::Known,
        Verdict::Holds if other.is_some_and(|(_, inferior)| inferior) => Status::Worse,
        Verdict::Holds => Status::Passed,
    }
}
