// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Works × seeds, run or remembered: what is kept is not run again, and what is run is kept the moment it ends.

use std::collections::{BTreeMap, BTreeSet};

use kneepoint::experiment::{Effort, Packets, Watch, Work};

use crate::campaign::{self, Finished, Job};
use crate::failure::Failure;
use crate::machine;
use crate::store::{Record, Store};

/// A run that somebody wants.
pub struct Wanted<'w> {
    name: String,
    work: &'w Work,
    seed: u64,
}

impl Wanted<'_> {
    /// A run of `work`.
    pub fn new(work: &Work, seed: u64) -> Wanted<'_> {
        Wanted { name: Store::name(&work.identity(), seed), work, seed }
    }
}

/// How to come by runs.
#[derive(Clone, Copy)]
pub struct Means {
    /// Runs side by side.
    pub workers: usize,
    /// Whether to run again what is kept.
    pub fresh: bool,
}

/// Runs that are known.
pub struct Remembered {
    records: BTreeMap<String, Record>,
    /// Runs that were not finished.
    pub left: usize,
}

impl Remembered {
    /// What came of a run.
    pub fn get(&self, work: &Work, seed: u64) -> Option<&Record> {
        self.records.get(&Store::name(&work.identity(), seed))
    }

    /// What the known runs took.
    pub fn effort(&self) -> Effort {
        Effort {
            runs: self.records.len(),
            packets: self.records.values().map(|record| record.bottleneck_packets).sum(),
            cpu_seconds: self.records.values().map(|record| record.cpu_seconds).sum(),
        }
    }
}

/// Comes by all runs that are wanted, in order; one that is wanted twice is run once.
pub fn settle(mut wanted: Vec<Wanted>, store: &Store, means: Means) -> Result<Remembered, Failure> {
    let mut met = BTreeSet::new();
    wanted.retain(|one| met.insert(one.name.clone()));
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    if !means.fresh {
        records.extend(wanted.iter().filter_map(|one| Some((one.name.clone(), store.get(&one.name)?))));
    }
    let missing: Vec<&Wanted> = wanted.iter().filter(|one| !records.contains_key(&one.name)).collect();
    records.extend(compute(&missing, store)?);
    records.extend(simulate(&missing, store, means.workers)?);
    let left = wanted.len() - records.len();
    Ok(Remembered { records, left })
}

/// Computations take no time to speak of, so they come first.
fn compute(missing: &[&Wanted], store: &Store) -> Result<Vec<(String, Record)>, Failure> {
    let mut kept = Vec::new();
    for Wanted { name, work, seed } in missing {
        let Work::Computation(computation) = work else { continue };
        let began = machine::thread_cpu_time();
        let rows = computation.rows().map_err(|why| {
            Failure::run(format!("nothing can be computed: {why}"), "change the parameters under [compute]")
        })?;
        let cpu = machine::thread_cpu_time().saturating_sub(began);
        let record = Record::new(*seed, cpu, 0, rows);
        store.put(name, &record)?;
        kept.push((name.clone(), record));
    }
    Ok(kept)
}

fn simulate(missing: &[&Wanted], store: &Store, workers: usize) -> Result<Vec<(String, Record)>, Failure> {
    let simulations = missing.iter().filter_map(|one| match one.work {
        Work::Packets(packets) => Some((one.name.as_str(), &**packets, one.seed)),
        Work::Computation(_) => None,
    });
    let simulations: Vec<(&str, &Packets, u64)> = simulations.collect();
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
