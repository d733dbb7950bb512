// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs experiments: every point, variant and seed that is not kept already, each kept the moment it ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use kneepoint::experiment::{Effort, Frame, Outcome, Pace, Variant, Watch, Work};

use crate::campaign::{self, Finished, Job};
use crate::failure::Failure;
use crate::library::Volume;
use crate::machine;
use crate::store::{Record, Store};

/// How to run.
pub struct Manner {
    /// Which durations.
    pub pace: Pace,
    /// Whether alternative readings are run too.
    pub alternatives: bool,
    /// Runs side by side.
    pub workers: usize,
    /// Whether to run again what is kept.
    pub fresh: bool,
}

/// What is to be run: by name, so that experiments share what they have in common.
type Wanted<'v> = BTreeMap<String, (&'v Work, u64)>;

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
    let mut order: Vec<String> = Vec::new();
    let mut wanted = Wanted::new();
    for volume in &volumes {
        for (name, work, seed) in runs(volume, manner) {
            if let Entry::Vacant(place) = wanted.entry(name) {
                order.push(place.key().clone());
                place.insert((work, seed));
            }
        }
    }
    let mut known: BTreeMap<String, Record> = BTreeMap::new();
    if !manner.fresh {
        known.extend(order.iter().filter_map(|name| Some((name.clone(), store.get(name)?))));
    }
    let missing =
        order.iter().filter(|name| !known.contains_key(*name)).map(|name| (name.as_str(), wanted[name]));
    let missing: Vec<(&str, (&Work, u64))> = missing.collect();
    known.extend(compute(&missing, store)?);
    known.extend(simulate(&missing, store, manner.workers)?);
    let effort = Effort {
        runs: known.len(),
        packets: known.values().map(|record| record.bottleneck_packets).sum(),
        cpu_seconds: known.values().map(|record| record.cpu_seconds).sum(),
    };
    let left = order.len() - known.len();
    let outcome = |volume: Volume| outcome(volume, &known, manner);
    Ok(Conducted { outcomes: volumes.into_iter().map(outcome).collect(), effort, left })
}

/// The runs of an experiment: name, what to run, seed. Seed by seed, so that an interrupted experiment has all
/// points on some seeds.
fn runs<'v>(volume: &'v Volume, manner: &Manner) -> Vec<(String, &'v Work, u64)> {
    let experiment = &volume.experiment;
    let variants = &experiment.variants[..if manner.alternatives { experiment.variants.len() } else { 1 }];
    let points = || variants.iter().flat_map(|variant| &variant.points);
    let one =
        |seed| points().map(move |point| (Store::name(&point.work.identity(), seed), &point.work, seed));
    experiment.seeds.iter().flat_map(|seed| one(*seed)).collect()
}

/// Computations take no time to speak of, so they come first.
fn compute(missing: &[(&str, (&Work, u64))], store: &Store) -> Result<Vec<(String, Record)>, Failure> {
    let mut kept = Vec::new();
    for (name, (work, seed)) in missing {
        let Work::Computation(computation) = work else { continue };
        let began = machine::thread_cpu_time();
        let rows = computation.rows().map_err(|why| {
            Failure::run(format!("nothing can be computed: {why}"), "change the parameters under [compute]")
        })?;
        let cpu = machine::thread_cpu_time().saturating_sub(began);
        let record = Record::new(*seed, cpu, 0, rows);
        store.put(name, &record)?;
        kept.push((name.to_string(), record));
    }
    Ok(kept)
}

fn simulate(
    missing: &[(&str, (&Work, u64))],
    store: &Store,
    workers: usize,
) -> Result<Vec<(String, Record)>, Failure> {
    let simulations = missing.iter().filter_map(|(name, (work, seed))| match work {
        Work::Packets(packets) => Some((*name, packets, *seed)),
        Work::Computation(_) => None,
    });
    let simulations: Vec<_> = simulations.collect();
    let jobs = simulations.iter().enumerate();
    let jobs = jobs.map(|(case, (_, packets, seed))| Job { case, valid: &packets.valid, seed: *seed });
    let jobs: Vec<Job> = jobs.collect();
    let watch = |job: &Job| Ok(simulations[job.case].1.watch());
    let keep = |job: &Job, finished: Finished<Watch>| {
        let Finished { observer, outcome, cpu } = finished;
        let record = Record::new(job.seed, cpu, outcome.bottleneck_packets, observer.rows());
        store.put(simulations[job.case].0, &record)?;
        Ok(record)
    };
    let kept = campaign::run(&jobs, workers, watch, keep)?;
    let named = simulations.iter().map(|(name, ..)| name.to_string()).zip(kept);
    Ok(named.filter_map(|(name, record)| Some((name, record?))).collect())
}

fn outcome(volume: Volume, known: &BTreeMap<String, Record>, manner: &Manner) -> Outcome {
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
                if let Some(record) = known.get(&Store::name(&point.work.identity(), *seed)) {
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
