// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The recorded instruction counts, `crates/xtask/record.toml`: reading, comparing, tightening, writing.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::machine;

/// The file, from the root of the repository.
pub const FILE: &str = "crates/xtask/record.toml";

/// Percent by which a count may exceed its record.
pub const TOLERANCE: f64 = 1.0;

/// The unit of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// A packet that the bottleneck served.
    Packet,
    /// An acknowledgement that a controller received.
    Acknowledgement,
    /// A packet that the bottleneck served with this discipline.
    Queue,
    /// A packet that the bottleneck served with this explicit feedback.
    Feedback,
    /// A packet that the bottleneck served with this recovery in the senders.
    Recovery,
    /// A packet that the bottleneck served during or for this source of traffic.
    Source,
    /// A packet that the bottleneck served with this capacity.
    Capacity,
    /// A packet that the bottleneck served with these losses behind it.
    Loss,
}

/// One count.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its unit.
    pub per: Per,
    /// The case or the controller.
    pub name: &'static str,
    /// Instructions.
    pub count: f64,
}

/// The other inputs than sources that determine the counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Build {
    /// As `rustc --version` prints it.
    pub toolchain: String,
    /// The instruction set that the compiler may use.
    pub baseline: String,
    /// The folder of cargo's profile: `dist`, or `debug`.
    pub profile: String,
}

/// The record.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub build: Build,
    packet: BTreeMap<String, f64>,
    acknowledgement: BTreeMap<String, f64>,
    #[serde(default)]
    queue: BTreeMap<String, f64>,
    #[serde(default)]
    feedback: BTreeMap<String, f64>,
    #[serde(default)]
    recovery: BTreeMap<String, f64>,
    #[serde(default)]
    source: BTreeMap<String, f64>,
    #[serde(default)]
    capacity: BTreeMap<String, f64>,
    #[serde(default)]
    loss: BTreeMap<String, f64>,
    #[serde(default)]
    raised: Vec<Raised>,
}

/// Counts that were allowed to rise together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raised {
    /// The revision before the change.
    after: String,
    reason: String,
    /// Each count before and after it, under its unit and its name.
    counts: BTreeMap<String, (f64, f64)>,
}

impl Display for Per {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Per::Packet => "packet",
            Per::Acknowledgement => "acknowledgement",
            Per::Queue => "queue",
            Per::Feedback => "feedback",
            Per::Recovery => "recovery",
            Per::Source => "source",
            Per::Capacity => "capacity",
            Per::Loss => "loss",
        })
    }
}

impl Build {
    /// The build of this program.
    pub fn own() -> Build {
        Build {
            toolchain: machine::rustc(),
            baseline: baseline().into(),
            profile: profile().unwrap_or_else(|| "unknown".into()),
        }
    }
}

impl Display for Build {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} build by {} for {}", self.profile, self.toolchain, self.baseline)
    }
}

/// The folder of this program.
fn profile() -> Option<String> {
    Some(std::env::current_exe().ok()?.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// The highest level of x86-64 that this program was compiled for; elsewhere the architecture.
fn baseline() -> &'static str {
    match () {
        () if cfg!(target_feature = "avx512f") => "x86-64-v4",
        () if cfg!(target_feature = "avx2") => "x86-64-v3",
        () if cfg!(target_feature = "sse4.2") => "x86-64-v2",
        () => std::env::consts::ARCH,
    }
}

impl Record {
    /// A record without counts.
    pub fn empty(build: Build) -> Record {
        let [packet, acknowledgement, queue, feedback, recovery, source, capacity, loss] = Default::default();
        let raised = Vec::new();
        Record { build, packet, acknowledgement, queue, feedback, recovery, source, capacity, loss, raised }
    }

    /// Reads the file.
    pub fn read() -> Result<Record, String> {
        let text = std::fs::read_to_string(path()).map_err(|error| format!("{FILE}: {error}"))?;
        toml::from_str(&text).map_err(|error| format!("{FILE}: {error}"))
    }

    /// Reads the file as it was at a revision.
    pub fn at(revision: &str) -> Result<Record, String> {
        let place = format!("{revision}:{FILE}");
        let output = Command::new("git").args(["show", &place]).output();
        let output = output.map_err(|error| format!("git show {place}: {error}"))?;
        if !output.status.success() {
            return Err(format!("git show {place}: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let mut table: toml::Table =
            toml::from_slice(&output.stdout).map_err(|error| format!("{place}: {error}"))?;
        // The history may have an earlier form, and is not compared.
        table.remove("raised");
        toml::Value::Table(table).try_into().map_err(|error| format!("{place}: {error}"))
    }

    /// Writes the file, cases and controllers in the order of `figures`.
    pub fn write(&self, figures: &[Figure]) -> Result<(), String> {
        std::fs::write(path(), self.text(figures)).map_err(|error| format!("{FILE}: {error}"))
    }

    /// The recorded count; none for a new case or controller.
    pub fn count(&self, figure: &Figure) -> Option<f64> {
        self.table(figure.per).get(figure.name).copied()
    }

    /// The excess of a figure over its record, in percent.
    pub fn excess(&self, figure: &Figure) -> Option<f64> {
        self.count(figure).map(|count| 100.0 * (figure.count / count - 1.0))
    }

    /// Lowers the record to `figures`, and raises it where they exceed it by more than the tolerance; the error names
    /// the first of these if there is no reason. Small rises are not recorded, or they would add up unnoticed; a
    /// reason covers those above half the tolerance, which would pass here and fail where a path is a few bytes
    /// longer.
    pub fn ratchet(&self, figures: &[Figure], after: &str, reason: Option<&str>) -> Result<Record, String> {
        let mut next = Record { raised: self.raised.clone(), ..Record::empty(self.build.clone()) };
        let mut risen = BTreeMap::new();
        let least = if reason.is_some() { TOLERANCE / 2.0 } else { TOLERANCE };
        for figure in figures {
            let measured = (10.0 * figure.count).round() / 10.0;
            let before = self.count(figure);
            let count = match before {
                Some(from) if self.excess(figure).is_some_and(|excess| excess > least) => {
                    let name = format!("{} {}", figure.per, figure.name);
                    if reason.is_none() {
                        return Err(format!(
                            "{name} rises from {from} to {measured} instructions: `--reason TEXT` must say why"
                        ));
                    }
                    risen.insert(name, (from, measured));
                    measured
                }
                Some(from) => from.min(measured),
                None => measured,
            };
            next.table_mut(figure.per).insert(figure.name.into(), count);
        }
        let risen = reason.filter(|_| !risen.is_empty()).map(|reason| Raised {
            after: after.into(),
            reason: reason.into(),
            counts: risen,
        });
        next.raised.extend(risen);
        Ok(next)
    }

    fn table(&self, per: Per) -> &BTreeMap<String, f64> {
        match per {
            Per::Packet => &self.packet,
            Per::Acknowledgement => &self.acknowledgement,
            Per::Queue => &self.queue,
            Per::Feedback => &self.feedback,
            Per::Recovery => &self.recovery,
            Per::Source => &self.source,
            Per::Capacity => &self.capacity,
            Per::Loss => &self.loss,
        }
    }

    fn table_mut(&mut self, per: Per) -> &mut BTreeMap<String, f64> {
        match per {
            Per::Packet => &mut self.packet,
            Per::Acknowledgement => &mut self.acknowledgement,
            Per::Queue => &mut self.queue,
            Per::Feedback => &mut self.feedback,
            Per::Recovery => &mut self.recovery,
            Per::Source => &mut self.source,
            Per::Capacity => &mut self.capacity,
            Per::Loss => &mut self.loss,
        }
    }

    fn text(&self, figures: &[Figure]) -> String {
        let Build { toolchain, baseline, profile } = &self.build;
        let mut text = format!(
            "# SPDX-License-Identifier: Apache-2.0 OR MIT\n\
             # Instructions that `make ratchet` holds: {TOLERANCE} % more fails.\n\
             # Written by `make ratchet ARGS='--write --reason TEXT'`; a count that rises needs the reason.\n\n\
             [build]\ntoolchain = {toolchain:?}\nbaseline = {baseline:?}\nprofile = {profile:?}\n"
        );
        let tables = [
            (Per::Packet, "# For each packet that the bottleneck served."),
            (Per::Acknowledgement, "# For each acknowledgement that the controller received."),
            (Per::Queue, "# For each packet that the bottleneck served, with this discipline."),
            (Per::Feedback, "# For each packet that the bottleneck served, with this explicit feedback."),
            (
                Per::Recovery,
                "# For each packet that the bottleneck served, with this recovery in the senders.",
            ),
            (
                Per::Source,
                "# For each packet that the bottleneck served, with this source next to the long flows.",
            ),
            (Per::Capacity, "# For each packet that the bottleneck served, with this capacity."),
            (Per::Loss, "# For each packet that the bottleneck served, with these losses behind it."),
        ];
        for (per, title) in tables {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{title}\n[{per}]");
            for figure in figures.iter().filter(|figure| figure.per == per) {
                if let Some(count) = self.count(figure) {
                    let _ = writeln!(text, "{} = {count:.1}", figure.name);
                }
            }
        }
        for Raised { after, reason, counts } in &self.raised {
            let _ = writeln!(text, "\n[[raised]]\nafter = {after:?}\nreason = {reason:?}\n[raised.counts]");
            for (name, (from, to)) in counts {
                let _ = writeln!(text, "{name:?} = [{from:.1}, {to:.1}]");
            }
        }
        text
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("record.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(d100: f64, reno: f64) -> Vec<Figure> {
        vec![
            Figure { per: Per::Packet, name: "d100", count: d100 },
            Figure { per: Per::Acknowledgement, name: "reno", count: reno },
        ]
    }

    fn record() -> Record {
        let build = Build { toolchain: "rustc 1".into(), baseline: "x".into(), profile: "dist".into() };
        Record::empty(build).ratchet(&figures(2000.0, 60.0), "", None).unwrap()
    }

    #[test]
    fn the_committed_record_can_be_read() {
        let record = Record::read().unwrap();
        assert_eq!(record.build.profile, "dist");
    }

    #[test]
    fn a_record_reads_as_it_was_written_with_each_reason_once() {
        let first = record().ratchet(&figures(2100.0, 80.0), "abc", Some("a \"quoted\" reason")).unwrap();
        let raised = first.ratchet(&figures(2200.0, 80.0), "def", Some("another")).unwrap();
        let text = raised.text(&figures(0.0, 0.0));
        assert_eq!(toml::from_str::<Record>(&text).unwrap(), raised);
        let (_, history) = text.split_once("\n[[raised]]\n").unwrap();
        assert_eq!(
            history,
            "after = \"abc\"\nreason = \"a \\\"quoted\\\" reason\"\n[raised.counts]\n\
             \"acknowledgement reno\" = [60.0, 80.0]\n\"packet d100\" = [2000.0, 2100.0]\n\n\
             [[raised]]\nafter = \"def\"\nreason = \"another\"\n[raised.counts]\n\"packet d100\" = [2100.0, 2200.0]\n"
        );
    }

    #[test]
    fn a_count_falls_without_a_reason_and_rises_with_one() {
        let record = record();
        let lower = record.ratchet(&figures(1990.0, 60.0), "abc", None).unwrap();
        assert_eq!(lower.count(&figures(0.0, 0.0)[0]), Some(1990.0));
        let refused = record.ratchet(&figures(2021.0, 60.0), "abc", None).unwrap_err();
        assert!(refused.contains("d100 rises from 2000 to 2021"), "{refused}");
        let higher = record.ratchet(&figures(2021.0, 60.0), "abc", Some("a feature")).unwrap();
        assert_eq!(higher.count(&figures(0.0, 0.0)[0]), Some(2021.0));
    }

    #[test]
    fn small_rises_do_not_add_up() {
        let mut record = record();
        for _ in 0..3 {
            record = record.ratchet(&figures(2019.0, 60.5), "abc", None).unwrap();
        }
        assert_eq!(record, self::record());
    }

    #[test]
    fn a_reason_covers_what_stands_at_the_edge() {
        let raised = record().ratchet(&figures(2019.0, 60.2), "abc", Some("a feature")).unwrap();
        assert_eq!(raised.raised.len(), 1);
        assert_eq!(raised.count(&figures(0.0, 0.0)[0]), Some(2019.0));
    }

    #[test]
    fn what_was_never_recorded_exceeds_nothing() {
        let figure = Figure { per: Per::Acknowledgement, name: "d100", count: 1e9 };
        assert_eq!(record().excess(&figure), None);
    }
}
