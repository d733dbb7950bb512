// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the sender with this machine's kernel, script by script.
//!
//! ```text
//! seed ─ plan ─ kernel's socket, in closed loop with a path and a receiver ─ script ─ our sender, in open loop ─ report
//!          └──────────────── fewer impairments ───────────────────────────────────────── first difference ┘
//! ```

mod corpus;
mod features;
mod generator;
mod script;

use std::path::PathBuf;

use clap::Args;
use kneepoint_linux::live::missing;
use kneepoint_linux::player::Player;
use kneepoint_linux::player::record::Played;

use features::FEATURES;
use generator::{Case, Choice};

/// Arguments of `xtask fuzz-host`.
#[derive(Args)]
pub struct Arguments {
    /// Scripts.
    #[arg(long, default_value_t = 1000)]
    scripts: u64,
    /// The seed of the first; each has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Features that scripts may have; all without this.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    features: Vec<String>,
    /// Features of one script at most.
    #[arg(long, default_value_t = 3, value_name = "N")]
    together: u64,
    /// Congestion controls of the kernel.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_value = "reno,cubic")]
    controllers: Vec<String>,
    /// Connections at the same time.
    #[arg(long, default_value_t = 60, value_name = "N")]
    at_once: usize,
    /// Keep the scripts in this folder, one file each.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

impl Arguments {
    fn choice(&self) -> Result<Choice, String> {
        let features = match self.features.is_empty() {
            true => FEATURES.iter().collect(),
            false => self.features.iter().map(|name| features::named(name)).collect::<Result<_, _>>()?,
        };
        Ok(Choice { features, controllers: self.controllers.clone(), together: self.together })
    }
}

/// Compares.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let choice = arguments.choice()?;
    let controllers: Vec<&str> = arguments.controllers.iter().map(String::as_str).collect();
    if let Some(lack) = missing(&controllers) {
        return Err(format!("the kernel cannot be asked: {lack}"));
    }
    let seeds = arguments.seed..arguments.seed + arguments.scripts;
    let cases: Vec<Case> = seeds.map(|seed| generator::case(seed, &choice)).collect();
    let played = play(&cases, arguments.at_once)?;
    let kernel = corpus::kernel();
    let spoiled = played.iter().filter(|one| corpus::spoiled(one).is_some()).count();
    let mut why = std::collections::BTreeMap::new();
    for one in played.iter().filter_map(corpus::spoiled) {
        *why.entry(one).or_insert(0) += 1;
    }
    println!("{} scripts, {spoiled} spoiled {why:?}", played.len());
    let mut late: Vec<u64> = played.iter().map(|one| one.late.0 / 1000).collect();
    late.sort_unstable();
    println!("late us: median {} p90 {} p99 {}", late[late.len()/2], late[late.len()*9/10], late[late.len()*99/100]);
    if let Some(folder) = &arguments.keep {
        corpus::keep(folder, &cases, &played, &kernel)?;
    }
    Ok(true)
}

/// The cases as the kernel played them, in order.
fn play(cases: &[Case], at_once: usize) -> Result<Vec<Played>, String> {
    let failed = |error: std::io::Error| format!("the kernel could not be played to: {error}");
    let mut played: Vec<Option<Played>> = vec![None; cases.len()];
    for restart in [false, true] {
        let which: Vec<usize> =
            (0..cases.len()).filter(|at| cases[*at].plan.restart_after_idle == restart).collect();
        let player = Player::new(restart).map_err(failed)?;
        for some in which.chunks(10_000) {
            let plans = some.iter().map(|at| cases[*at].plan.clone()).collect();
            let done = player.play(plans, at_once, &|_| {}).map_err(failed)?;
            for (at, one) in some.iter().zip(done) {
                played[*at] = Some(one);
            }
        }
    }
    Ok(played.into_iter().flatten().collect())
}
