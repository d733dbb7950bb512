// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gates: a congestion control tested like code.
//!
//! ```text
//! suites ─cases→ experiments with a subject ─Study→ rows ─claims→ judgements ─baseline, other scheme→ statuses
//! ```
//!
//! A suite is a folder of cases, and a case an experiment that leaves one sender open: the [subject](super::parse_for). A claim that
//! neither a bottleneck nor the laboratory can express has no check but a reason, and is not applicable. A verdict
//! belongs to the claim; a [baseline](baseline) and another scheme decide on its meaning ([`judge`]).

pub mod baseline;
mod judge;
pub mod settings;
pub mod suites;

pub use baseline::Baseline;
pub use judge::{Inferior, Limits, Move, Status};
pub use settings::Threshold;

use super::expression::Check;
use super::reproduce::Reproduce;
use super::{Claim, Experiment, Judgement, Pace, Reproduction, Scope, parse_for};
use crate::scenario::scheme::Scheme;
use crate::scenario::{Extensions, Fault, Files};
use crate::spec::Valid;
use crate::study::{Records, Study, Wanted, Work};
use crate::suggest::{closest, did_you_mean};
use baseline::KeptCase;
use suites::Carried;

/// The subject of a gate.
#[derive(Clone, Debug)]
pub struct Question {
    /// The scheme under test.
    pub subject: Scheme,
    /// Another scheme, below which it must not fall.
    pub against: Option<Scheme>,
    /// External algorithms that schemes and cases may name.
    pub extensions: Extensions,
    /// The cases.
    pub cases: Vec<Carried>,
    /// Thresholds of the gate's own.
    pub thresholds: Vec<Threshold>,
    /// The length of runs.
    pub pace: Pace,
    /// The number of seeds, if it is not each case's own.
    pub seeds: Option<u32>,
    /// The permitted movement of numbers.
    pub limits: Limits,
    /// The accepted outcome.
    pub baseline: Option<Baseline>,
    /// Whether these are only some cases of the gate, so that accepted cases may be missing.
    pub partial: bool,
}

/// A question that cannot be asked.
#[derive(Clone, Debug)]
pub enum Refused {
    /// A case has faults.
    Case {
        /// Its name in messages.
        origin: String,
        /// Its text.
        text: String,
        /// The faults.
        faults: Vec<Fault>,
    },
    /// Two cases have this name.
    Twice(String),
    /// A threshold for an unknown case; the message names the known cases.
    Threshold(String),
}

/// A gate whose cases are valid.
#[derive(Clone, Debug)]
pub struct Gate {
    question: Question,
    /// The experiments of the subject, and then the same ones of the other scheme.
    runs: Reproduce,
}

impl Question {
    /// The gate. `files` opens the files that cases name.
    pub fn plan(self, files: Files) -> Result<Gate, Refused> {
        let subjects = [&self.subject].into_iter().chain(&self.against);
        let mut experiments = Vec::new();
        for scheme in subjects {
            for case in &self.cases {
                let read = parse_for(scheme, &self.extensions, &case.text, self.pace, files);
                let experiment = read.map_err(|faults| Refused::Case {
                    origin: case.origin.clone(),
                    text: case.text.clone(),
                    faults,
                })?;
                experiments.push(self.seeded(experiment));
            }
        }
        let cases = &experiments[..self.cases.len()];
        let again =
            |(place, one): &(usize, &Experiment)| cases[..*place].iter().any(|other| other.id == one.id);
        if let Some((_, twice)) = cases.iter().enumerate().find(again) {
            return Err(Refused::Twice(twice.id.clone()));
        }
        for threshold in &self.thresholds {
            let of = |experiment: &&mut Experiment| experiment.id == threshold.case;
            let mut found = false;
            for experiment in experiments.iter_mut().filter(of) {
                let ids: Vec<&str> = experiment.claims.iter().map(|claim| claim.id.as_str()).collect();
                if let Some(near) = closest(&threshold.claim, &ids).filter(|near| *near != threshold.claim) {
                    return Err(Refused::Threshold(format!(
                        "`{}` has no claim `{}`: did you mean `{near}`? A claim of your own needs a name that is less like it",
                        threshold.case, threshold.claim
                    )));
                }
                replace(experiment, threshold);
                found = true;
            }
            if !found {
                let ids: Vec<&str> = experiments.iter().map(|one| one.id.as_str()).collect();
                let help = did_you_mean(&threshold.case, &ids);
                return Err(Refused::Threshold(format!("there is no case `{}`: {help}", threshold.case)));
            }
        }
        let runs =
            Reproduce { experiments, pace: self.pace, scope: Scope::Taken, doubted: None, held: Vec::new() };
        Ok(Gate { question: self, runs })
    }

    fn seeded(&self, mut experiment: Experiment) -> Experiment {
        if let (Some(count), Some(first)) = (self.seeds, experiment.seeds.first().copied()) {
            experiment.seeds = (first..first + u64::from(count)).collect();
        }
        experiment
    }
}

impl Gate {
    /// Makes cases not applicable whose scenario is unfit for the hosts that run it, of which `unfit` returns the reason, and claims
    /// about metrics that these hosts leave `unseen`.
    #[must_use]
    pub fn without(
        mut self,
        unfit: &dyn Fn(&Valid) -> Option<String>,
        unseen: &dyn Fn(&Valid) -> &'static [&'static str],
    ) -> Gate {
        for experiment in &mut self.runs.experiments {
            let points = experiment.variants.iter().flat_map(|variant| &variant.points);
            let scenarios: Vec<&Valid> = points
                .filter_map(|point| match &point.work {
                    Work::Packets(packets) => Some(&packets.valid),
                    Work::Computation(_) => None,
                })
                .collect();
            let reason = scenarios.iter().find_map(|valid| unfit(valid));
            let unseen: Vec<&str> = scenarios.iter().flat_map(|valid| unseen(valid)).copied().collect();
            if reason.is_some() {
                experiment.seeds.clear();
            }
            for claim in &mut experiment.claims {
                let lacking = || {
                    let mut named = claim.checks.iter().flat_map(Check::references);
                    let named = named.find(|named| unseen.contains(&named.metric.as_str()))?;
                    Some(format!("the hosts do not tell `{}`", named.metric))
                };
                if let Some(why) = reason.clone().or_else(lacking) {
                    claim.checks.clear();
                    claim.ours.clear();
                    claim.reason = Some(why);
                }
            }
        }
        self
    }
}

/// Puts a threshold into the place of the claim of its name, or adds it.
fn replace(experiment: &mut Experiment, threshold: &Threshold) {
    let Threshold { claim: id, checks, reason, .. } = threshold;
    let place = experiment.claims.iter().position(|claim| claim.id == *id);
    let old = place.map(|place| experiment.claims.remove(place));
    let text = old.as_ref().map_or_else(|| "A threshold of the gate.".to_string(), |old| old.text.clone());
    let claim = Claim {
        id: id.clone(),
        text,
        checks: checks.clone(),
        each: old.as_ref().map_or_else(Vec::new, |old| old.each.clone()),
        need: old.as_ref().map_or(super::claim::Need::All, |old| old.need),
        tolerance: String::new(),
        ours: Vec::new(),
        published: None,
        reason: Some(reason.clone()).filter(|reason| !reason.is_empty()),
        cause: super::Cause::Unknown,
    };
    experiment.claims.insert(place.unwrap_or(experiment.claims.len()), claim);
}

/// The outcome of a gate.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The subject.
    pub subject: String,
    /// The other scheme, if there is one.
    pub against: Option<String>,
    /// The length of the runs.
    pub pace: Pace,
    /// Whether there was an accepted outcome of this pace to compare with.
    pub has_baseline: bool,
    /// Accepted cases that no longer exist.
    pub gone: Vec<String>,
    /// The cases, in the order of the suites.
    pub cases: Vec<CaseOutcome>,
}

/// The outcome of a case.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// Its suite.
    pub suite: String,
    /// The experiment's id.
    pub id: String,
    /// The place of its text.
    pub origin: String,
    /// Its title, its source and the words of it.
    pub title: String,
    /// Document and section.
    pub source: String,
    /// The words of the document.
    pub quote: String,
    /// Its seeds.
    pub seeds: usize,
    /// Its claims.
    pub claims: Vec<ClaimOutcome>,
}

/// The outcome of a claim.
#[derive(Clone, Debug)]
pub struct ClaimOutcome {
    /// The claim.
    pub claim: Claim,
    /// Its outcome.
    pub status: Status,
    /// Its judgement.
    pub judgement: Judgement,
    /// Numbers that differ from the baseline.
    pub moves: Vec<Move>,
    /// The shortfall of its margin against the other scheme's, if that is too large.
    pub worse: Option<Inferior>,
}

impl CaseOutcome {
    /// The gravest status of its claims.
    pub fn status(&self) -> Status {
        Status::of(self.claims.iter().map(|claim| claim.status))
    }
}

impl Outcome {
    /// The gravest status of its cases.
    pub fn status(&self) -> Status {
        Status::of(self.cases.iter().map(CaseOutcome::status))
    }

    /// The number of cases with a status.
    pub fn count(&self, status: Status) -> usize {
        self.cases.iter().filter(|case| case.status() == status).count()
    }

    /// The exit status: 0 if nothing failed, 1 if a case did, 2 if one could not be judged.
    pub fn exit_status(&self) -> u8 {
        match self.status() {
            status if status.fails() => 1,
            Status::Unjudged => 2,
            _ => 0,
        }
    }
}

impl Study for Gate {
    type Outcome = Outcome;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        self.runs.wanted()
    }

    fn outcome(&self, records: &Records) -> Outcome {
        let all = self.runs.outcome(records);
        let (ours, others) = all.split_at(self.question.cases.len());
        let kept = self.question.baseline.as_ref().and_then(|baseline| baseline.of(self.question.pace));
        let cases = self.question.cases.iter().zip(ours).enumerate().map(|(place, (carried, run))| {
            let accepted = kept.and_then(|ids| ids.get(&run.experiment.id));
            self.case(carried, run, accepted, others.get(place))
        });
        let cases: Vec<CaseOutcome> = cases.collect();
        let gone = |id: &&String| !self.question.partial && !cases.iter().any(|case| case.id == **id);
        Outcome {
            subject: self.question.subject.name.clone(),
            against: self.question.against.as_ref().map(|scheme| scheme.name.clone()),
            pace: self.question.pace,
            has_baseline: kept.is_some(),
            gone: kept.into_iter().flat_map(|accepted| accepted.keys()).filter(gone).cloned().collect(),
            cases,
        }
    }
}

impl Gate {
    /// Texts of the cases under their names.
    pub fn texts(&self) -> impl Iterator<Item = (String, String)> {
        self.question.cases.iter().map(|case| (case.origin.clone(), case.text.clone()))
    }

    fn case(
        &self,
        carried: &Carried,
        run: &Reproduction,
        accepted: Option<&KeptCase>,
        other: Option<&Reproduction>,
    ) -> CaseOutcome {
        let limits = self.question.limits;
        let judgements = run.judgements();
        let others = other.map(Reproduction::judgements);
        let claims = &run.experiment.claims;
        let kept: Vec<_> =
            claims.iter().map(|claim| accepted.and_then(|accepted| accepted.get(&claim.id))).collect();
        let moved = judge::moves(&judgements.iter().collect::<Vec<_>>(), &kept, limits.tolerance);
        let mut told = Vec::new();
        for (place, (judgement, moves)) in judgements.into_iter().zip(moved).enumerate() {
            let there = others.as_ref().map(|others| &others[place]);
            let worse = there.and_then(|there| judge::inferior(&judgement, there, limits.margin));
            let beside = there.map(|there| (there, worse.is_some()));
            let status = judge::status(&judgement, !moves.is_empty(), kept[place], beside);
            told.push(ClaimOutcome { claim: claims[place].clone(), status, judgement, moves, worse });
        }
        let Experiment { id, title, source, quote, seeds, .. } = run.experiment.clone();
        let origin = carried.origin.clone();
        CaseOutcome {
            suite: carried.suite.clone(),
            id,
            origin,
            title,
            source,
            quote,
            seeds: seeds.len(),
            claims: told,
        }
    }
}

#[cfg(test)]
mod tests;
