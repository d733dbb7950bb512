// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An experiment and the observations of its runs.

use std::collections::BTreeMap;

use super::{Cause, Experiment, Judgement, Pace, Point, Scope, Variant, Verdict};
use crate::study::{Frame, Work};
use crate::table::Labels;

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

/// The reason why a claim does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Because<'a> {
    /// The kind of reason.
    pub cause: Cause,
    /// The other readings under which it holds.
    pub under: Vec<&'a str>,
}

impl Reproduction {
    /// The judgement of each claim under the readings taken.
    pub fn judgements(&self) -> Vec<Judgement> {
        self.under(0)
    }

    /// Whether further seeds are not expected to change a verdict, under the readings taken and any other that was run.
    pub fn decided(&self) -> bool {
        let run = self.frames.iter().filter(|frame| !frame.seeds().is_empty());
        run.into_iter().all(|frame| self.experiment.claims.iter().all(|claim| claim.decided(frame)))
    }

    /// The points of the readings taken whose runs leave a verdict within the noise of their seeds, each with the number of these.
    pub fn doubted(&self) -> BTreeMap<&Labels, usize> {
        let mut doubted = BTreeMap::new();
        for (point, seeds) in self.experiment.claims.iter().flat_map(|claim| claim.doubted(&self.frames[0])) {
            let most = doubted.entry(point).or_default();
            *most = seeds.max(*most);
        }
        doubted
    }

    /// The claims that its seeds do not decide under the readings taken, by their ids. Computations take no seed.
    pub fn open(&self) -> Vec<&str> {
        let computed = |point: &Point| matches!(point.work, Work::Computation(_));
        if self.experiment.variants[0].points.iter().all(computed) {
            return Vec::new();
        }
        let open = self.experiment.claims.iter().filter(|claim| !claim.decided(&self.frames[0]));
        open.map(|claim| claim.id.as_str()).collect()
    }

    /// The judgement of each claim under the variant with this index.
    pub fn under(&self, variant: usize) -> Vec<Judgement> {
        self.experiment.claims.iter().map(|claim| claim.judge(&self.frames[variant])).collect()
    }

    /// The reason why each claim does not hold or cannot be tested; none for claims that hold.
    pub fn causes(&self) -> Vec<Option<Because<'_>>> {
        let judged = self.judgements().into_iter().enumerate();
        judged.map(|(claim, judgement)| self.cause(claim, judgement.verdict)).collect()
    }

    fn cause(&self, claim: usize, verdict: Verdict) -> Option<Because<'_>> {
        let declared = self.experiment.claims[claim].cause;
        match (verdict, declared) {
            (Verdict::Holds, _) => None,
            (_, Cause::Unknown) => {
                let holds = |(_, other): &(&str, Verdict)| *other == Verdict::Holds;
                let under: Vec<&str> =
                    self.alternatives(claim).into_iter().filter(holds).map(|(name, _)| name).collect();
                let cause = if under.is_empty() { Cause::Unknown } else { Cause::Unstated };
                Some(Because { cause, under })
            }
            _ => Some(Because { cause: declared, under: Vec::new() }),
        }
    }

    /// The verdicts on the claim with this index under every alternative reading, with the alternative's name.
    pub fn alternatives(&self, claim: usize) -> Vec<(&str, Verdict)> {
        let alone = |(variant, _): &(&Variant, &Frame)| variant.within(Scope::Single);
        let named = self.experiment.variants.iter().zip(&self.frames).skip(1).filter(alone);
        let judged = named.filter(|(_, frame)| !frame.seeds().is_empty()).map(|(variant, frame)| {
            let verdict = self.experiment.claims[claim].judge(frame).verdict;
            (variant.name.as_deref().unwrap_or_default(), verdict)
        });
        judged.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment;
    use crate::table::Row;

    const CLAIMS: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"

[run]
duration = "2s"

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
name = "long"
cc = "reno"

[sweep]
scheme = ["pert"]

[[reading]]
about = "The rate."
taken = "1 Mbit/s."

[[reading.alternative]]
name = "10 Mbit/s"

[reading.alternative.set]
"topology.rate" = "10mbit"

[[claim]]
id = "met"
text = "It holds."
check = "utilization > 0"

[[claim]]
id = "open"
text = "It holds at the other rate."
check = "utilization > 0.5"

[[claim]]
id = "odd"
text = "It cannot hold."
check = "utilization > 1"

[[claim]]
id = "wrong"
text = "More than everything."
check = "utilization > 1"
cause = "publication"
"#;

    #[test]
    fn a_claim_that_holds_under_another_reading_is_unstated() {
        let experiment = experiment::parse(CLAIMS, Pace::Full).expect("an experiment");
        let frame = |used| {
            let mut frame = Frame::default();
            frame.add(&[], 1, &[Row::new([]).with("utilization", used)]);
            frame
        };
        let outcome = Reproduction { experiment, pace: Pace::Full, frames: vec![frame(0.4), frame(0.6)] };
        let because = |cause, under: &[&'static str]| Some(Because { cause, under: under.to_vec() });
        let expected = [
            None,
            because(Cause::Unstated, &["10 Mbit/s"]),
            because(Cause::Unknown, &[]),
            because(Cause::Publication, &[]),
        ];
        assert_eq!(outcome.causes(), expected);
    }
}
