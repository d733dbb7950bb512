// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Live: measurements of a kernel's hosts over an emulated link, next to the simulator's predictions for the same
//! scenario.
//!
//! Both sides have the same network, the same transfers, the same starts and the same meter. A measured run that its machine
//! spoiled is kept apart: it is counted, and in no mean.

use super::{Frame, Packets, Record, Records, Study, Wanted, Work};
use crate::cc;
use crate::spec::{Builder, Invalid, Valid};
use crate::table::Row;
use crate::tcp::{Host, Options};

/// A run of a kernel's hosts.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its record, as of a simulated run; its seed is the number of the repetition.
    pub record: Record,
    /// The state of the machine.
    pub machine: Machine,
    /// Processor time of sending by group, and of receiving without a label: nanoseconds per packet.
    pub processor: Vec<Row>,
}

crate::keys! {
    /// The delays of a machine in a run.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Machine {
        /// The runs that it took, spoiled ones included.
        pub attempts: u32,
        /// The delay of packets relative to the link's clock: the median, the 99th percentile, the greatest.
        pub late_us: [f64; 3],
        /// The reason why the run does not count; null if it counts.
        pub spoiled: Option<String>,
        /// Packets greater than the MTU, which a queue takes for one.
        pub superpackets: u64,
        /// Packets that a host did not take from its device.
        pub refused: u64,
    }
}

/// Cases that were measured, and the seeds of their predictions.
#[derive(Clone, Debug)]
pub struct Live {
    /// A case, and its prediction for each seed.
    cases: Vec<(Case, Vec<Work>)>,
    seeds: Vec<u64>,
}

/// A measured case, to be predicted.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in the report.
    pub name: String,
    /// Its point of the sweep: axes and their values.
    pub labels: Vec<(String, String)>,
    /// Its spec.
    pub valid: Valid,
    /// Every run of it.
    pub measured: Vec<Measured>,
}

/// A case with both sides.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Its name in the report.
    pub name: String,
    /// Its point of the sweep.
    pub labels: Vec<(String, String)>,
    /// Its spec.
    pub valid: Valid,
    /// The runs that count, in the order of the repetitions.
    pub measured: Vec<Measured>,
    /// The spoiled runs.
    pub spoiled: Vec<Measured>,
    /// The known predictions, in the order of the seeds.
    pub predicted: Vec<Record>,
}

impl Live {
    /// Cases that are predicted with every seed.
    pub fn new(cases: impl IntoIterator<Item = Case>, seeds: Vec<u64>) -> Live {
        let both = |case: Case| {
            let works = seeds.iter().map(|seed| work(starting(&case.valid, *seed))).collect();
            (case, works)
        };
        Live { cases: cases.into_iter().map(both).collect(), seeds }
    }
}

impl Beside {
    /// The observations of the kernel and of the simulator, at all points.
    pub fn frames(all: &[Beside]) -> [Frame; 2] {
        let mut frames = [Frame::default(), Frame::default()];
        for Beside { labels, measured, predicted, .. } in all {
            for Measured { record, processor, .. } in measured {
                frames[0].add(labels, record.seed, &record.rows_over_time());
                frames[0].add(labels, record.seed, processor);
            }
            for record in predicted {
                frames[1].add(labels, record.seed, &record.rows_over_time());
            }
        }
        frames
    }
}

impl Study for Live {
    type Outcome = Vec<Beside>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        let with = |(place, seed): (usize, &u64)| {
            let seed = *seed;
            self.cases.iter().map(move |(_, works)| Wanted { work: &works[place], seed, series: true })
        };
        self.seeds.iter().enumerate().flat_map(with).collect()
    }

    fn outcome(&self, records: &Records) -> Vec<Beside> {
        let beside = |(case, works): &(Case, Vec<Work>)| {
            let (measured, spoiled) =
                case.measured.iter().cloned().partition(|one| one.machine.spoiled.is_none());
            let each = works.iter().zip(&self.seeds);
            let predicted = each.filter_map(|(work, seed)| records.by_seed(work)(*seed)).cloned();
            let Case { name, labels, valid, .. } = case.clone();
            Beside { name, labels, valid, measured, spoiled, predicted: predicted.collect() }
        };
        self.cases.iter().map(beside).collect()
    }
}

/// The case as one run has it: every member starts at the instant that this seed draws, in the kernel as in the prediction.
pub fn starting(valid: &Valid, seed: u64) -> Valid {
    valid.clone().with_starts(seed, "live-starts")
}

/// The prediction of a case.
fn work(valid: Valid) -> Work {
    Work::Packets(Box::new(Packets { shown: true, ..Packets::from(valid) }))
}

/// The case with Linux hosts, which keep the size of their packets and whether they use ECN; and the settings of the
/// scenario that a kernel cannot follow.
pub fn on_linux(valid: Valid) -> Result<(Valid, Vec<String>), Invalid> {
    let mut builder: Builder = valid.into_builder();
    let mut notes = Vec::new();
    for group in &mut builder.groups {
        let (Some(tcp), Some(cc)) = (&mut group.tcp, &group.cc) else { continue };
        let linux = Options { payload: tcp.payload, ecn: tcp.ecn, ..Options::of(Host::Linux) };
        if *tcp != linux {
            let of = if tcp.preset == Host::Linux { "options of its own" } else { "another host" };
            notes.push(format!("{}: the scenario's [tcp] has {of}; both sides use Linux's", group.name));
            *tcp = linux;
        }
        if cc::Config::named(cc.name()).as_ref() != Some(cc) {
            let name = cc.name();
            notes.push(format!(
                "{}: parameters of {name} apply to the prediction; the kernel's are those it was loaded with",
                group.name
            ));
        }
    }
    Ok((builder.build()?, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;

    fn valid(tcp: &str) -> Valid {
        let text = format!(
            "[run]\nduration = '3s'\n[tcp]\n{tcp}\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\n\
             [[flows]]\nname = 'a'\ncc = 'reno'\n[[flows]]\nname = 'b'\ncc = {{ kind = 'pert', pmax = 0.1 }}\n"
        );
        parse(&text).unwrap().cases.remove(0).valid
    }

    fn measured(valid: &Valid, seed: u64, spoiled: Option<&str>) -> Measured {
        let Work::Packets(packets) = work(valid.clone()) else { panic!("packets") };
        let (seen, outcome) = packets.run(seed);
        let record = Record::simulated(seed, 0.0, outcome, seen);
        let machine = Machine { spoiled: spoiled.map(String::from), ..Machine::default() };
        Measured { record, machine, processor: Vec::new() }
    }

    #[test]
    fn hosts_become_those_of_linux_and_what_is_lost_by_that_is_said() {
        let (linux, notes) = on_linux(valid("preset = 'linux'")).unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("b: parameters of pert apply to the prediction"), "{notes:?}");
        let (paper, losses) = on_linux(valid("payload = '500b'\ndupthresh = 4")).unwrap();
        assert_eq!(losses.iter().filter(|note| note.contains("another host")).count(), 2, "{losses:?}");
        let tcp = |one: &Valid| one.groups()[0].tcp.clone().unwrap();
        assert_eq!((tcp(&linux).payload.0, tcp(&paper).payload.0), (1448, 500));
        assert_eq!(tcp(&paper).recovery, tcp(&linux).recovery);
    }

    #[test]
    fn spoiled_runs_are_kept_apart_and_missing_predictions_are_left_out() {
        let valid = on_linux(valid("preset = 'linux'")).unwrap().0;
        let runs =
            vec![measured(&valid, 1, None), measured(&valid, 2, Some("late")), measured(&valid, 3, None)];
        let labels = vec![("scheme".to_string(), "reno".to_string())];
        let case = Case { name: "a case".into(), labels: labels.clone(), valid, measured: runs };
        let study = Live::new([case], vec![7, 8]);
        let wanted = study.wanted();
        assert_eq!(
            wanted.iter().map(|one| (one.seed, one.series)).collect::<Vec<_>>(),
            [(7, true), (8, true)]
        );
        let mut records = Records::default();
        let Work::Packets(packets) = wanted[1].work else { panic!("packets") };
        let (seen, simulated) = packets.run(8);
        records.insert(wanted[1].name(), Record::simulated(8, 0.0, simulated, seen));
        let outcome = study.outcome(&records);
        let [theirs, ours] = Beside::frames(&outcome);
        assert_eq!((theirs.seeds(), ours.seeds()), (&[1, 3][..], &[8][..]));
        let [beside] = &outcome[..] else { panic!("one case") };
        assert_eq!(beside.labels, labels);
        let seeds = |all: &[Measured]| all.iter().map(|one| one.record.seed).collect::<Vec<_>>();
        assert_eq!((seeds(&beside.measured), seeds(&beside.spoiled)), (vec![1, 3], vec![2]));
        assert_eq!(beside.predicted.iter().map(|one| one.seed).collect::<Vec<_>>(), [8]);
    }
}
