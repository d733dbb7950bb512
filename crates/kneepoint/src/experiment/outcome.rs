// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An experiment and what its runs observed.

use super::{Experiment, Judgement, Pace, Verdict};
use crate::table::Frame;

/// An experiment after its runs.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// The experiment.
    pub experiment: Experiment,
    /// Its pace.
    pub pace: Pace,
    /// The observations of each variant.
    pub frames: Vec<Frame>,
}

/// The effort of several experiments together. Runs that they share are counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Runs that finished.
    pub runs: usize,
    /// Packets that bottlenecks carried in them.
    pub packets: u64,
    /// CPU time they took.
    pub cpu_seconds: f64,
}

impl Reproduction {
    /// The judgement of each claim under the readings taken.
    pub fn judgements(&self) -> Vec<Judgement> {
        self.under(0)
    }

    /// The judgement of each claim under the variant with this index.
    pub fn under(&self, variant: usize) -> Vec<Judgement> {
        self.experiment.claims.iter().map(|claim| claim.judge(&self.frames[variant])).collect()
    }

    /// The verdicts on the claim with this index under every alternative reading, with the alternative's name.
    pub fn alternatives(&self, claim: usize) -> Vec<(&str, Verdict)> {
        let named = self.experiment.variants.iter().zip(&self.frames).skip(1);
        let judged = named.filter(|(_, frame)| !frame.seeds().is_empty()).map(|(variant, frame)| {
            let verdict = self.experiment.claims[claim].judge(frame).verdict;
            (variant.name.as_deref().unwrap_or_default(), verdict)
        });
        judged.collect()
    }
}
