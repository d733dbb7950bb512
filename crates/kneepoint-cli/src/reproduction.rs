// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs experiments: every point, variant and seed that is not kept already, each kept the moment it ends.

use std::collections::{BTreeMap, BTreeSet};

use kneepoint::experiment::{Frame, Outcome, Pace, Packets};

use crate::campaign::{self, Finished, Job};
use crate::failure::Failure;
use crate::library::Volume;
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
type Wanted<'v> = BTreeMap<String, (&'v Packets, u64)>;

/// Runs what has to be run and gives what was observed, and how many runs were not finished.
pub fn conduct(
    volumes: Vec<Volume>,
    store: &Store,
    manner: &Manner,
) -> Result<(Vec<Outcome>, usize), Failure> {
    let mut order: Vec<String> = Vec::new();
    let mut wanted = Wanted::new();
    for volume in &volumes {
        for (name, work, seed) in runs(volume, manner) {
            if !wanted.contains_key(&name) {
                order.push(name.clone());
                wanted.insert(name, (work, seed));
            }
        }
    }
    let mut known: BTreeMap<String, Record> = BTreeMap::new();
    if !manner.fresh {
        known.extend(order.iter().filter_map(|name| Some((name.clone(), store.get(name)?))));
    }
    let missing: Vec<&String> = order.iter().filter(|name| !known.contains_key(*name)).collect();
    known.extend(simulate(&missing, &wanted, store, manner.workers)?);
    let left = order.len() - known.len();
    let outcome = |volume: Volume| outcome(volume, &known, manner);
    Ok((volumes.into_iter().map(outcome).collect(), left))
}

/// The runs of an experiment: name, what to run, seed. Seed by seed, so that an interrupted experiment has all
/// points on some seeds.
fn runs<'v>(volume: &'v Volume, manner: &Manner) -> Vec<(String, &'v Packets, u64)> {
    let experiment = &volume.experiment;
    let variants = &experiment.variants[..if manner.alternatives { experiment.variants.len() } else { 1 }];
    let points = || variants.iter().flat_map(|variant| &variant.points);
    let one =
        |seed| points().map(move |point| (Store::name(&point.work.identity(), seed), &point.work, seed));
    experiment.seeds.iter().flat_map(|seed| one(*seed)).collect()
}

fn simulate(
    missing: &[&String],
    wanted: &Wanted,
    store: &Store,
    workers: usize,
) -> Result<Vec<(String, Record)>, Failure> {
    let jobs = missing.iter().enumerate().map(|(case, name)| {
        let (work, seed) = wanted[*name];
        Job { case, valid: &work.valid, seed }
    });
    let jobs = jobs.collect::<Vec<_>>();
    let watch = |job: &Job| Ok(wanted[missing[job.case]].0.watch());
    let keep = |job: &Job, finished: Finished<_>| {
        let Finished { observer, outcome, cpu } = finished;
        let watch: kneepoint::experiment::Watch = observer;
        let record = Record {
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            seed: job.seed,
            cpu_seconds: cpu.as_secs_f64(),
            bottleneck_packets: outcome.bottleneck_packets,
            rows: watch.rows(),
        };
        store.put(missing[job.case], &record)?;
        Ok(record)
    };
    let kept = campaign::run(&jobs, workers, watch, keep)?;
    let named = missing.iter().map(|name| name.to_string()).zip(kept);
    Ok(named.filter_map(|(name, record)| Some((name, record?))).collect())
}

fn outcome(volume: Volume, known: &BTreeMap<String, Record>, manner: &Manner) -> Outcome {
    let wanted: BTreeSet<String> = runs(&volume, manner).into_iter().map(|(name, ..)| name).collect();
    let finished: Vec<&Record> = wanted.iter().filter_map(|name| known.get(name)).collect();
    let experiment = volume.experiment;
    let frame = |variant: &kneepoint::experiment::Variant| {
        let mut frame = Frame::default();
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
        frames: experiment.variants.iter().map(frame).collect(),
        pace: manner.pace,
        runs: finished.len(),
        planned: wanted.len(),
        packets: finished.iter().map(|record| record.bottleneck_packets).sum(),
        cpu_seconds: finished.iter().map(|record| record.cpu_seconds).sum(),
        experiment,
    }
}
