// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs experiments: every point, variant and seed.

use kneepoint::experiment::{Effort, Outcome, Pace, Variant};
use kneepoint::table::Frame;

use crate::failure::Failure;
use crate::library::Volume;
use crate::remembered::{self, Means, Remembered, Wanted};
use crate::store::Store;

/// How to run.
pub struct Manner {
    /// Which durations.
    pub pace: Pace,
    /// Whether alternative readings are run too.
    pub alternatives: bool,
    /// How to come by the runs.
    pub means: Means,
}

/// What came of it.
pub struct Conducted {
    /// What each experiment observed.
    pub outcomes: Vec<Outcome>,
    /// What the finished runs took.
    pub effort: Effort,
    /// Runs that were not finished.
    pub left: usize,
}

/// Runs what has to be run.
pub fn conduct(volumes: Vec<Volume>, store: &Store, manner: &Manner) -> Result<Conducted, Failure> {
    let wanted = volumes.iter().flat_map(|volume| runs(volume, manner)).collect();
    let known = remembered::settle(wanted, store, manner.means)?;
    let outcome = |volume: Volume| outcome(volume, &known, manner);
    Ok(Conducted {
        outcomes: volumes.into_iter().map(outcome).collect(),
        effort: known.effort(),
        left: known.left,
    })
}

/// The runs of an experiment, seed by seed, so that an interrupted experiment has all points on some seeds.
fn runs<'v>(volume: &'v Volume, manner: &Manner) -> Vec<Wanted<'v>> {
    let experiment = &volume.experiment;
    let variants = &experiment.variants[..if manner.alternatives { experiment.variants.len() } else { 1 }];
    let points = || variants.iter().flat_map(|variant| &variant.points);
    let one = |seed| points().map(move |point| Wanted::new(&point.work, seed));
    experiment.seeds.iter().flat_map(|seed| one(*seed)).collect()
}

fn outcome(volume: Volume, known: &Remembered, manner: &Manner) -> Outcome {
    let experiment = volume.experiment;
    // An alternative that was not asked for shares some runs with what was, which is not to have run it.
    let asked = if manner.alternatives { experiment.variants.len() } else { 1 };
    let frame = |(place, variant): (usize, &Variant)| {
        let mut frame = Frame::default();
        if place >= asked {
            return frame;
        }
        for seed in &experiment.seeds {
            for point in &variant.points {
                if let Some(record) = known.get(&point.work, *seed) {
                    frame.add(&point.labels, *seed, &record.rows);
                }
            }
        }
        frame
    };
    Outcome {
        frames: experiment.variants.iter().enumerate().map(frame).collect(),
        pace: manner.pace,
        experiment,
    }
}
