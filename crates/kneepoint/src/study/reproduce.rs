// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproduce: published figures and tables, every point of every experiment with every seed.

use super::{Records, Study, Wanted, seed_by_seed};
use crate::experiment::{Experiment, Pace, Reproduction, Variant, bins};
use crate::table::Frame;

/// Experiments that are to be run.
#[derive(Clone, Debug)]
pub struct Reproduce {
    /// The experiments to run.
    pub experiments: Vec<Experiment>,
    /// Their durations.
    pub pace: Pace,
    /// Whether alternative readings are run too.
    pub alternatives: bool,
}

impl Reproduce {
    /// The number of variants to run. An alternative that is not requested has no results, even if it shares runs with one
    /// that is.
    fn asked(&self, experiment: &Experiment) -> usize {
        if self.alternatives { experiment.variants.len() } else { 1 }
    }
}

impl Study for Reproduce {
    type Outcome = Vec<Reproduction>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        let mut wanted = Vec::new();
        for experiment in &self.experiments {
            let variants = experiment.variants.iter().take(self.asked(experiment));
            let works = variants.flat_map(|variant| &variant.points).map(|point| &point.work);
            let runs = seed_by_seed(&experiment.seeds, works);
            wanted.extend(runs.into_iter().map(|run| Wanted { series: true, ..run }));
        }
        wanted
    }

    fn outcome(&self, records: &Records) -> Vec<Reproduction> {
        let frame = |variant: &Variant, experiment: &Experiment| {
            let every = experiment
                .seeds
                .iter()
                .flat_map(|seed| variant.points.iter().map(move |point| (*seed, point)));
            let runs = every.filter_map(|(seed, point)| {
                let record = records.get(&point.work, seed)?;
                Some((point.labels.as_slice(), seed, record.rows_over_time()))
            });
            bins::frame(experiment.bins.as_ref(), runs)
        };
        let outcome = |experiment: &Experiment| {
            let asked = experiment.variants.iter().take(self.asked(experiment));
            let mut frames: Vec<Frame> = asked.map(|variant| frame(variant, experiment)).collect();
            frames.resize(experiment.variants.len(), Frame::default());
            Reproduction { frames, pace: self.pace, experiment: experiment.clone() }
        };
        self.experiments.iter().map(outcome).collect()
    }
}
