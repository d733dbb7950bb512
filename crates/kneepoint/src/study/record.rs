// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Records of runs, and the collection of them that a study reads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fingerprint::{self, Named};
use super::watch::{Yield, over_time};
use super::work::Work;
use crate::run::Outcome;
use crate::table::{Row, Table};

/// A run that a study requests.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The work.
    pub work: &'w Work,
    /// The seed.
    pub seed: u64,
    /// Whether the outcome needs the sampled series; if not, it need not stay in memory.
    pub series: bool,
}

impl Wanted<'_> {
    /// The name under which the run is kept.
    pub fn name(&self) -> String {
        fingerprint::name(self.work, self.seed)
    }

    /// Whether it may be kept for another process.
    pub fn lasts(&self) -> bool {
        fingerprint::lasts(self.work)
    }
}

/// The kept results of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The seed.
    pub seed: u64,
    /// CPU time that the run took.
    pub cpu_seconds: f64,
    /// Packets that the bottleneck served.
    pub bottleneck_packets: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// Numbers under labels.
    pub rows: Vec<Row>,
    /// The sampled state, if the run was sampled.
    pub series: Option<Table>,
    /// The headline metrics over equal parts of the measurement window, if a report shows the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Table>,
}

impl Record {
    /// The record of a simulation.
    pub fn simulated(seed: u64, cpu_seconds: f64, outcome: Outcome, observed: Yield) -> Record {
        let Yield { rows, mut series, mut parts } = observed;
        // Processors differ in the sign of a NaN, and JSON has none: a NaN is read back with the same sign as it is made.
        let tables = series.iter_mut().chain(&mut parts);
        let numbers = tables.flat_map(|table| table.rows.iter_mut().flatten());
        numbers.filter(|number| number.is_nan()).for_each(|number| *number = f64::NAN);
        let Outcome { bottleneck_packets, events, .. } = outcome;
        Record { seed, cpu_seconds, bottleneck_packets, events, rows, series, parts }
    }

    /// The record of a computation.
    pub fn computed(seed: u64, cpu_seconds: f64, rows: Vec<Row>) -> Record {
        Record { seed, cpu_seconds, bottleneck_packets: 0, events: 0, rows, series: None, parts: None }
    }

    /// The rows of the run, and of the sampled series.
    pub fn rows_over_time(&self) -> Vec<Row> {
        self.rows.iter().cloned().chain(self.series.iter().flat_map(over_time)).collect()
    }
}

/// Runs that are known, by name.
#[derive(Clone, Debug, Default)]
pub struct Records(BTreeMap<String, Record>);

impl Records {
    /// Takes in a run.
    pub fn insert(&mut self, name: String, record: Record) {
        self.0.insert(name, record);
    }

    /// Whether a run is known.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The known runs of a work, by seed. Hashing a work takes longer than finding a run, so it is done once for all seeds.
    pub fn by_seed<'r>(&'r self, work: &Work) -> impl Fn(u64) -> Option<&'r Record> + use<'r> {
        let named = Named::of(work);
        move |seed| self.0.get(&named.with(seed))
    }

    /// The known runs of a work, in the order of the seeds.
    pub fn of<'r>(&'r self, work: &Work, seeds: &'r [u64]) -> impl Iterator<Item = &'r Record> + use<'r> {
        let run = self.by_seed(work);
        seeds.iter().filter_map(move |seed| run(*seed))
    }

    /// The number of known runs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no run is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total cost of the runs.
    pub fn effort(&self) -> Effort {
        Effort {
            runs: self.0.len(),
            packets: self.0.values().map(|record| record.bottleneck_packets).sum(),
            cpu_seconds: self.0.values().map(|record| record.cpu_seconds).sum(),
        }
    }
}

/// The effort of several runs together. Runs that studies share are counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Runs that finished.
    pub runs: usize,
    /// Packets that bottlenecks carried in them.
    pub packets: u64,
    /// CPU time they took.
    pub cpu_seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;
    use crate::study::Packets;

    #[test]
    fn a_record_reads_back_what_was_written_to_the_last_bit() {
        let text = "[run]\nduration = '4s'\nsample = '100ms'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\n\
                    [[flows]]\ncount = 2\ncc = 'pert'\nstart = '1s'\n[[web]]\nsessions = 1\ncc = 'reno'\n[[cbr]]\nrate = '1mbit'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let packets = Packets { shown: true, ..Packets::from(valid) };
        let (seen, outcome) = packets.run(1);
        let record = Record::simulated(1, 0.5, outcome, seen);
        let written = serde_json::to_string(&record).unwrap();
        let read: Record = serde_json::from_str(&written).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
        assert_eq!((read.rows_over_time(), read.events), (record.rows_over_time(), record.events));
    }
}
