// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An experiment and what its runs observed.

use super::{Experiment, Judgement, Pace, Verdict};
use crate::table::Frame;

/// An experiment after its runs.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was to be shown.
    pub experiment: Experiment,
    /// How long it was allowed to take.
    pub pace: Pace,
    /// What was observed, for each variant.
    pub frames: Vec<Frame>,
}

/// What experiments took together. They share runs, and each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Runs that finished.
    pub runs: usize,
    /// Packets that bottlenecks carried in them.
    pub packets: u64,
    /// CPU time they took.
    pub cpu_seconds: f64,
}

impl Outcome {
    /// What became of each claim under the readings taken.
    pub fn judgements(&self) -> Vec<Judgement> {
        self.under(0)
    }

    /// What became of each claim under a variant, by its place.
    pub fn under(&self, variant: usize) -> Vec<Judgement> {
        self.experiment.claims.iter().map(|claim| claim.judge(&self.frames[variant])).collect()
    }

    /// The verdicts on a claim, by its place, under every alternative reading: the alternative's name and what became.
    pub fn alternatives(&self, claim: usize) -> Vec<(&str, Verdict)> {
        let named = self.experiment.variants.iter().zip(&self.frames).skip(1);
        let judged = named.filter(|(_, frame)| !frame.seeds().is_empty()).map(|(variant, frame)| {
            let verdict = self.experiment.claims[claim].judge(frame).verdict;
            (variant.name.as_deref().unwrap_or_default(), verdict)
        });
        judged.collect()
    }
}
