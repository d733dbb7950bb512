// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproduce: published figures and tables, every point of every experiment with every seed.

use std::collections::BTreeSet;

use super::{Records, Study, Wanted, seed_by_seed};
use crate::experiment::{Experiment, Judgement, Pace, Reproduction, Scope, Variant, Verdict, bins};
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
    /// Doubts the experiments some of whose claims do not hold for certain. Those within the noise of their seeds get further
    /// ones: twice as many, and [`MOST_SEEDS`] at most. Whether there is more to run.
    pub fn again(&mut self, outcomes: &[Reproduction]) -> bool {
        let mut any = false;
        if let Some(doubted) = self.doubted.as_mut().filter(|_| self.scope == Scope::Single) {
            let met = |judgement: &Judgement| judgement.verdict == Verdict::Holds && judgement.certain;
            for outcome in outcomes.iter().filter(|outcome| !outcome.judgements().iter().all(met)) {
                any |= doubted.insert(outcome.experiment.id.clone());
            }
        }
        for (experiment, outcome) in self.experiments.iter_mut().zip(outcomes) {
            let had = experiment.seeds.len() + experiment.more.len();
            if outcome.judgements().iter().any(|judgement| !judgement.certain) {
                any |= seed_further(experiment, had) > 0;
            }
        }
        any
    }

    /// Wants every run that [`Reproduce::again`] might, whatever the outcomes are.
    pub fn doubt_all(&mut self) {
        self.doubted = None;
        for experiment in &mut self.experiments {
            seed_further(experiment, MOST_SEEDS);
        }
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
