// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A setting on this machine's kernel, and the record of such runs.

use std::path::{Path, PathBuf};

use kneepoint::link::NodeId;
use kneepoint::units::Span;
use kneepoint_linux::live::{Outcome, Plan, Transfer, experiment, missing};
use serde::{Deserialize, Serialize};

use super::figures::{Figures, figures};
use super::setting::{STAGGER, Setting};
use super::simulated::{self, Packets};

/// The record, one run a line.
const FILE: &str = "validation/linux/results.jsonl";
/// Attempts at a run that the link's lateness does not spoil.
const ATTEMPTS: usize = 3;

/// A recorded run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorded {
    pub setting: String,
    pub repetition: u64,
    #[serde(flatten)]
    pub figures: Figures,
    /// The link's lateness in microseconds: 99th percentile and greatest.
    pub late_p99_us: f64,
    pub late_max_us: f64,
    /// Whether lateness spoiled it.
    pub spoiled: bool,
    pub kernel: String,
}

/// The requirements that this machine lacks.
pub fn lacks(settings: &[Setting]) -> Option<String> {
    let controls: Vec<&str> =
        settings.iter().flat_map(|setting| setting.mix.iter().map(|(cc, _)| *cc)).collect();
    missing(&controls)
}

/// Packets and counters of a run.
pub fn measure(setting: &Setting) -> Result<Outcome<Packets>, String> {
    let valid = simulated::valid(setting, "preset = \"linux\"")?;
    let pairs = valid.groups().iter().map(|group| group.pairs[0]);
    let transfer = |((place, control), way): ((usize, &&str), (NodeId, NodeId))| {
        Transfer::endless(control, STAGGER * place as u64, place as u32, way)
    };
    let transfers: Vec<Transfer> = setting.controls().iter().enumerate().zip(pairs).map(transfer).collect();
    let plan = Plan { transfers, ..Plan::default() };
    experiment(&valid, 1, plan, Packets::of(setting), &|| false)
        .map_err(|error| format!("{}: {error}", setting.name()))
}

/// A run, repeated where the link was late.
pub fn run(setting: &Setting, repetition: u64) -> Result<Recorded, String> {
    let mut recorded = once(setting, repetition)?;
    for _ in 1..ATTEMPTS {
        if !recorded.spoiled {
            break;
        }
        recorded = once(setting, repetition)?;
    }
    Ok(recorded)
}

fn once(setting: &Setting, repetition: u64) -> Result<Recorded, String> {
    let Outcome { watch, retransmissions, late, .. } = measure(setting)?;
    let again: u32 = retransmissions.iter().sum();
    let micros = |span: Span| span.0 as f64 / 1e3;
    Ok(Recorded {
        setting: setting.name(),
        repetition,
        figures: figures(setting, &watch.passed, f64::from(again)),
        late_p99_us: micros(late.p99),
        late_max_us: micros(late.max),
        spoiled: late.spoils(setting.rtt()).is_some(),
        kernel: kernel(),
    })
}

fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = release.trim().split(['-', '+']).next().unwrap_or_default();
    version.into()
}

/// The recorded runs.
pub fn read() -> Result<Vec<Recorded>, String> {
    let text = std::fs::read_to_string(path()).map_err(|error| format!("{FILE}: {error}"))?;
    let line =
        |(place, line)| serde_json::from_str(line).map_err(|error| format!("{FILE}:{}: {error}", place + 1));
    text.lines().enumerate().map(line).collect()
}

/// Keeps runs; they replace earlier runs with the same settings and repetitions.
pub fn keep(runs: &[Recorded]) -> Result<(), String> {
    let mut all = read().unwrap_or_default();
    all.retain(|old| {
        !runs.iter().any(|new| (&new.setting, new.repetition) == (&old.setting, old.repetition))
    });
    all.extend_from_slice(runs);
    let lines: Vec<String> = all
        .iter()
        .map(|one| serde_json::to_string(one).map_err(|error| error.to_string()))
        .collect::<Result<_, _>>()?;
    std::fs::write(path(), lines.join("\n") + "\n").map_err(|error| format!("{FILE}: {error}"))
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)
}
