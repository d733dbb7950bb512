// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares Linux hosts behind managed queues with a kernel in virtual time.
//!
//! ```text
//! validation/linux-queues/settings.json ─┬ run.py, User-Mode Linux → results.jsonl ─┬ table
//!                                        └ scenario → run → rows ───────────────────╯
//! ```
//!
//! Both measure the middle half of a run whose flows start in its first eighth, as `knee compare` does.

mod page;
mod simulated;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use page::section;

const SETTINGS: &str = "validation/linux-queues/settings.json";
const RESULTS: &str = "validation/linux-queues/results.jsonl";
/// Seeds of the simulator: as many as of the kernel.
const SEEDS: u64 = 3;

/// A bottleneck with equal flows.
#[derive(Clone, Debug, Deserialize)]
pub struct Setting {
    /// `10 cubic, fq-codel, 1 Mbit/s, 100 ms`.
    pub name: String,
    /// The controller of every flow.
    cc: String,
    flows: u32,
    rate_mbit: u64,
    rtt_ms: u64,
    duration_s: u64,
    /// The queue as a scheme names it; none where none of our queues is like the kernel's.
    queue: Option<String>,
}

/// The compared figures of one run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Figures {
    jain: f64,
    drop_ratio: f64,
    mark_ratio: f64,
    utilization: f64,
    /// The time that the mean backlog takes at the link's rate.
    delay_ms: f64,
    timeouts: f64,
}

/// A run of the kernel.
#[derive(Debug, Deserialize)]
struct Recorded {
    setting: String,
    kernel: String,
    #[serde(flatten)]
    figures: Figures,
}

/// A figure that is compared.
struct Compared {
    key: &'static str,
    of: fn(&Figures) -> f64,
    /// Whether two values agree.
    agrees: fn(f64, f64) -> bool,
    about: &'static str,
    show: fn(f64) -> String,
}

fn within(share: f64, a: f64, b: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

fn thousandths(value: f64) -> String {
    format!("{value:.3}")
}

fn percent(value: f64) -> String {
    format!("{:.2}", value * 100.0)
}

/// The figures, with the limits of agreement.
const COMPARED: [Compared; 6] = [
    Compared {
        key: "Jain",
        of: |it| it.jain,
        agrees: |a, b| (a - b).abs() <= 0.02,
        about: "0.02",
        show: thousandths,
    },
    Compared {
        key: "dropped, %",
        of: |it| it.drop_ratio,
        agrees: |a, b| within(0.15, a, b) || (a - b).abs() <= 0.001,
        about: "15 %, or 0.1 points",
        show: percent,
    },
    Compared {
        key: "marked, %",
        of: |it| it.mark_ratio,
        agrees: |a, b| within(0.15, a, b) || (a - b).abs() <= 0.001,
        about: "15 %, or 0.1 points",
        show: percent,
    },
    Compared {
        key: "use",
        of: |it| it.utilization,
        agrees: |a, b| (a - b).abs() <= 0.02,
        about: "0.02",
        show: thousandths,
    },
    Compared {
        key: "delay, ms",
        of: |it| it.delay_ms,
        agrees: |a, b| within(0.15, a, b) || (a - b).abs() <= 1.0,
        about: "15 %, or 1 ms",
        show: |value| format!("{value:.1}"),
    },
    Compared {
        key: "timeouts",
        of: |it| it.timeouts,
        agrees: |a, b| within(0.25, a, b) || (a - b).abs() <= 2.0,
        about: "a quarter, or 2",
        show: |value| format!("{value:.0}"),
    },
];

/// A setting with the figures of the kernel's runs and of the simulator's, which is empty where it has no such queue.
struct Pair {
    setting: Setting,
    kernel: Vec<Figures>,
    simulated: Vec<Figures>,
}

/// All pairs, and the kernel's version.
fn pairs(only: Option<&str>) -> Result<(Vec<Pair>, String), String> {
    let mut settings = settings()?;
    settings.retain(|one| only.is_none_or(|only| one.name.contains(only)));
    if settings.is_empty() {
        return Err(format!("no setting of {SETTINGS} has such a name"));
    }
    let recorded = recorded()?;
    let pair = |setting: Setting| {
        let runs = recorded.iter().filter(|one| one.setting == setting.name);
        let kernel = runs.map(|one| one.figures).collect();
        Ok(Pair { kernel, simulated: simulated::runs(&setting, SEEDS)?, setting })
    };
    let pairs = settings.into_par_iter().with_max_len(1).map(pair).collect::<Result<_, String>>()?;
    Ok((pairs, recorded.first().map_or_else(String::new, |one| one.kernel.clone())))
}

impl Pair {
    /// Whether a figure agrees; none where there is nothing to compare.
    fn agrees(&self, figure: &Compared) -> Option<bool> {
        let [theirs, ours] = [&self.kernel, &self.simulated].map(|runs| mean(runs, figure));
        Some((figure.agrees)(theirs?, ours?))
    }

    /// `0.987 / 0.991`, or `0.987 / –` where the simulator has no such queue.
    fn numbers(&self, figure: &Compared) -> String {
        let [theirs, ours] = [&self.kernel, &self.simulated]
            .map(|runs| mean(runs, figure).map_or_else(|| "–".into(), figure.show));
        format!("{theirs} / {ours}")
    }
}

fn mean(runs: &[Figures], figure: &Compared) -> Option<f64> {
    (!runs.is_empty()).then(|| runs.iter().map(figure.of).sum::<f64>() / runs.len() as f64)
}

/// Prints the comparison of the settings with this in their name.
pub fn print(only: Option<&str>) -> Result<(), String> {
    let (pairs, _) = pairs(only)?;
    print!("{:60}", "kernel / simulator");
    COMPARED.iter().for_each(|one| print!(" {:>17}", one.key));
    println!();
    for pair in &pairs {
        print!("{:60}", pair.setting.name);
        for one in &COMPARED {
            let mark = if pair.agrees(one) == Some(false) { '!' } else { ' ' };
            print!(" {:>16}{mark}", pair.numbers(one));
        }
        println!();
    }
    COMPARED.iter().for_each(|one| println!("{}", summary(&pairs, one)));
    Ok(())
}

/// ``Jain``: 36 of 40 within 0.02.
fn summary(pairs: &[Pair], figure: &Compared) -> String {
    let agreed: Vec<bool> = pairs.iter().filter_map(|pair| pair.agrees(figure)).collect();
    let close = agreed.iter().filter(|one| **one).count();
    format!("`{}`: {close} of {} within {}", figure.key, agreed.len(), figure.about)
}

fn settings() -> Result<Vec<Setting>, String> {
    let text = read(SETTINGS)?;
    serde_json::from_str(&text).map_err(|error| format!("{SETTINGS}: {error}"))
}

fn recorded() -> Result<Vec<Recorded>, String> {
    fn line<T: DeserializeOwned>((place, line): (usize, &str)) -> Result<T, String> {
        serde_json::from_str(line).map_err(|error| format!("{RESULTS}:{}: {error}", place + 1))
    }
    read(RESULTS)?.lines().enumerate().map(line).collect()
}

fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(path(file)).map_err(|error| format!("{file}: {error}"))
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_run_is_of_a_setting_that_the_simulator_can_read() {
        let settings = settings().unwrap();
        for one in recorded().unwrap() {
            assert!(settings.iter().any(|setting| setting.name == one.setting), "{}", one.setting);
        }
        for setting in settings {
            assert!(simulated::valid(&setting).is_ok(), "{}", setting.name);
        }
    }
}
