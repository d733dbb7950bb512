// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproduce: published figures and tables, every point of every experiment with every seed.

use std::collections::BTreeSet;

use super::{Experiment, Judgement, Pace, Reproduction, Scope, Variant, Verdict, bins};
use crate::study::{Records, Study, Wanted, seed_by_seed};
use crate::table::Frame;

/// Experiments that are to be run.
#[derive(Clone, Debug)]
pub struct Reproduce {
    /// The experiments to run.
    pub experiments: Vec<Experiment>,
    /// Their durations.
    pub pace: Pace,
    /// Which readings are run.
    pub scope: Scope,
    /// The experiments whose other readings are run, by their ids; of all if there is no list.
    pub doubted: Option<BTreeSet<String>>,
}

/// Seeds of an experiment, at most, where a verdict is within the noise of fewer.
pub const MOST_SEEDS: usize = 20;

impl Reproduce {
    /// Doubts the experiments some of whose claims do not hold for certain; whether there are any new ones.
    fn doubt(&mut self, outcomes: &[Reproduction]) -> bool {
        let Some(doubted) = self.doubted.as_mut().filter(|_| self.scope == Scope::Single) else {
            return false;
        };
        let met = |judgement: &Judgement| judgement.verdict == Verdict::Holds && judgement.certain;
        let open = outcomes.iter().filter(|outcome| !outcome.judgements().iter().all(met));
        open.filter(|outcome| doubted.insert(outcome.experiment.id.clone())).count() > 0
    }

    /// Gives the experiments some of whose verdicts are within the noise of their seeds further ones: twice as many, and [`MOST_SEEDS`]
    /// at most; whether there are any.
    fn seed(&mut self, outcomes: &[Reproduction]) -> bool {
        let noisy = |outcome: &Reproduction| outcome.judgements().iter().any(|judgement| !judgement.certain);
        let open = self.experiments.iter_mut().zip(outcomes).filter(|(_, outcome)| noisy(outcome));
        let further = open.map(|(experiment, _)| {
            let had = experiment.seeds.len() + experiment.more.len();
            seed_further(experiment, had)
        });
        further.sum::<usize>() > 0
    }
}

/// Gives an experiment that has seeds so many further ones, but [`MOST_SEEDS`] in all; how many it got.
fn seed_further(experiment: &mut Experiment, count: usize) -> usize {
    let had = experiment.seeds.len() + experiment.more.len();
    let Some(last) = experiment.more.last().or(experiment.seeds.last()).copied() else { return 0 };
    let further = count.min(MOST_SEEDS.saturating_sub(had));
    experiment.more.extend((1..=further as u64).map(|step| last + step));
    further
}

impl Reproduce {
    /// Whether a variant is run.
    fn asks(&self, experiment: &Experiment, variant: &Variant) -> bool {
        let doubted = self.doubted.as_ref().is_none_or(|doubted| doubted.contains(&experiment.id));
        variant.within(if doubted { self.scope } else { Scope::Taken })
    }
}

/// The seeds of a variant: the readings taken alone have the further ones.
fn seeds<'e>(experiment: &'e Experiment, variant: &Variant) -> impl Iterator<Item = u64> + 'e {
    let more = experiment.more.iter().filter(|_| variant.name.is_none());
    experiment.seeds.iter().chain(more.collect::<Vec<_>>()).copied()
}

impl Study for Reproduce {
    type Outcome = Vec<Reproduction>;

    fn again(&mut self, outcomes: &Vec<Reproduction>) -> Option<&'static str> {
        let further = self.pace == Pace::Full && (self.doubt(outcomes) | self.seed(outcomes));
        further.then_some(
            "where a claim does not hold for certain, other readings are run, and more seeds where it is within the noise",
        )
    }

    fn every_round(&mut self) {
        if self.pace == Pace::Full {
            self.doubted = None;
            self.experiments.iter_mut().for_each(|experiment| {
                seed_further(experiment, MOST_SEEDS);
            });
        }
    }

    fn wanted(&self) -> Vec<Wanted<'_>> {
        let mut wanted = Vec::new();
        for experiment in &self.experiments {
            // An alternative that is not requested has no results, even if it shares runs with one that is.
            let asked: Vec<&Variant> =
                experiment.variants.iter().filter(|variant| self.asks(experiment, variant)).collect();
            let works = asked.iter().flat_map(|variant| &variant.points).map(|point| &point.work);
            let runs = seed_by_seed(&experiment.seeds, works);
            let taken = asked[..1].iter().flat_map(|variant| &variant.points).map(|point| &point.work);
            let runs = runs.into_iter().chain(seed_by_seed(&experiment.more, taken));
            wanted.extend(runs.map(|run| Wanted { series: true, ..run }));
        }
        wanted
    }

    fn outcome(&self, records: &Records) -> Vec<Reproduction> {
        let frame = |variant: &Variant, experiment: &Experiment| {
            let points: Vec<_> =
                variant.points.iter().map(|point| (&point.labels, records.by_seed(&point.work))).collect();
            let every =
                seeds(experiment, variant).flat_map(|seed| points.iter().map(move |point| (seed, point)));
            let runs = every.filter_map(|(seed, (labels, run))| {
                Some((labels.as_slice(), seed, run(seed)?.rows_over_time()))
            });
            bins::frame(experiment.bins.as_ref(), runs)
        };
        let outcome = |experiment: &Experiment| {
            let frames = experiment.variants.iter().map(|variant| {
                if self.asks(experiment, variant) { frame(variant, experiment) } else { Frame::default() }
            });
            Reproduction { frames: frames.collect(), pace: self.pace, experiment: experiment.clone() }
        };
        self.experiments.iter().map(outcome).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::parse;
    use crate::study::Record;
    use crate::table::Row;

    const TEXT: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"

[run]
duration = "2s"
seeds = 2

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
cc = "reno"

[[reading]]
about = "The rate."
taken = "1 Mbit/s."

[[reading.alternative]]
name = "10 Mbit/s"

[reading.alternative.set]
"topology.rate" = "10mbit"

[[claim]]
id = "used"
text = "Half is used."
check = "utilization > 0.5"
"#;

    fn study(pace: Pace) -> Reproduce {
        let experiments = vec![parse(TEXT, pace).expect("an experiment")];
        Reproduce { experiments, pace, scope: Scope::Single, doubted: Some(BTreeSet::new()) }
    }

    fn names(study: &Reproduce) -> BTreeSet<String> {
        study.wanted().iter().map(Wanted::name).collect()
    }

    /// The runs that each round wants, where the one with each seed uses this part of the link.
    fn rounds(study: &mut Reproduce, used: impl Fn(u64) -> f64) -> Vec<BTreeSet<String>> {
        let mut rounds = Vec::new();
        loop {
            let mut records = Records::default();
            for run in study.wanted() {
                let rows = vec![Row::new([]).with("utilization", used(run.seed))];
                records.insert(run.name(), Record::computed(run.seed, 0.0, rows));
            }
            rounds.push(names(study));
            let outcome = study.outcome(&records);
            if study.again(&outcome).is_none() {
                return rounds;
            }
        }
    }

    #[test]
    fn a_round_follows_where_a_claim_is_in_doubt_and_wants_more_than_the_one_before() {
        let noisy = |seed| if seed % 2 == 0 { 0.7 } else { 0.32 };
        let every: [(&dyn Fn(u64) -> f64, _, &[usize]); 4] = [
            (&|_| 0.9, Pace::Full, &[2]),
            // The other reading with each seed.
            (&|_| 0.1, Pace::Full, &[2, 4]),
            (&noisy, Pace::Full, &[2, 6, 10, 18, 22]),
            (&noisy, Pace::Quick, &[2]),
        ];
        for (used, pace, expected) in every {
            let rounds = rounds(&mut study(pace), used);
            assert_eq!(rounds.iter().map(BTreeSet::len).collect::<Vec<_>>(), expected);
            assert!(rounds.windows(2).all(|pair| pair[0].is_subset(&pair[1])));
        }
    }

    #[test]
    fn every_round_is_what_the_rounds_may_want() {
        for pace in [Pace::Full, Pace::Quick] {
            let last = rounds(&mut study(pace), |seed| if seed % 2 == 0 { 0.7 } else { 0.32 }).pop();
            let mut all = study(pace);
            all.every_round();
            assert_eq!(last, Some(names(&all)));
        }
    }
}
