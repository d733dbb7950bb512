// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the sender with this machine's kernel, script by script.
//!
//! ```text
//! seed ─ case ─ kernel's socket, in closed loop with a path and a receiver ─ script ─ our sender, in open loop ─ report
//!          └──────────────── simpler cases ────────────────────────────────────────── first difference ┘
//! ```

mod corpus;
mod features;
mod generator;
mod judge;
mod report;
mod script;
mod shrink;

use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use kneepoint_linux::live::missing;
use kneepoint_linux::player::Player;
use kneepoint_linux::player::record::Played;
use rayon::prelude::*;

use features::FEATURES;
use generator::{Case, Choice};
use judge::Verdict;
use report::Entry;

/// Arguments of `xtask fuzz-host`.
#[derive(Args)]
pub struct Arguments {
    /// Scripts.
    #[arg(long, default_value_t = 1000)]
    scripts: u64,
    /// The seed of the first; each has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Features that scripts may have, of those that --list names; all without this.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    features: Vec<String>,
    /// Features of one script at most.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    together: u64,
    /// Congestion controls of the kernel.
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_value = "reno,cubic")]
    controllers: Vec<String>,
    /// Connections at the same time.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    at_once: u64,
    /// Keep the scripts in this folder, one file each.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Judge the scripts of this folder; needs neither root nor kernel.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "shrink", "scripts", "seed", "controllers"])]
    replay: Option<PathBuf>,
    /// Of a replay, only scripts whose names contain this.
    #[arg(long, value_name = "TEXT", requires = "replay")]
    only: Option<String>,
    /// Print the first difference of this many scripts.
    #[arg(long, default_value_t = 0, value_name = "N")]
    show: usize,
    /// Shrink this many differing scripts as far as possible, and print them.
    #[arg(long, default_value_t = 0, value_name = "N")]
    shrink: usize,
    /// Fail where fewer of a hundred scripts are identical.
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    require: f64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Print the features.
    #[arg(long)]
    list: bool,
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
    if arguments.list {
        FEATURES.iter().for_each(|feature| println!("{:<12}{}", feature.name, feature.about));
        return Ok(true);
    }
    let entries = match &arguments.replay {
        Some(folder) => replayed(&corpus::read(folder, arguments.only.as_deref())?),
        None => live(arguments)?,
    };
    let differing = entries.iter().filter_map(|entry| match &entry.verdict {
        Verdict::Different(first) => Some((&entry.name, first)),
        _ => None,
    });
    for (name, first) in differing.take(arguments.show) {
        println!("{name}: {}\n{}", first.kind, first.text);
    }
    match arguments.json {
        true => println!("{:#}", report::json(&entries)),
        false => println!("{}", report::text(&entries)),
    }
    Ok(report::agrees(&entries, arguments.require))
}

/// Scripts with their names, judged.
fn replayed(scripts: &[(String, String)]) -> Vec<Entry> {
    let judged =
        scripts.par_iter().map(|(name, text)| Entry { name: name.clone(), verdict: judge::judge(text) });
    judged.collect()
}

/// Plays to the kernel, and judges what it sent.
fn live(arguments: &Arguments) -> Result<Vec<Entry>, String> {
    let choice = arguments.choice()?;
    let controllers: Vec<&str> = arguments.controllers.iter().map(String::as_str).collect();
    if let Some(lack) = missing(&controllers) {
        return Err(format!("the kernel cannot be played to: {lack} (--replay DIR needs no kernel)"));
    }
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.scripts);
    let cases: Vec<Case> = seeds.map(|seed| generator::case(seed, &choice)).collect();
    let at_once = arguments.at_once as usize;
    let scripts = record(&cases, at_once)?;
    if let Some(folder) = &arguments.keep {
        corpus::write(folder, &scripts)?;
    }
    let entries = judged(&scripts);
    let differs = |entry: &Entry| matches!(entry.verdict, Verdict::Different(_));
    let differing = cases.iter().zip(&entries).filter(|(_, entry)| differs(entry));
    for (case, _) in differing.take(arguments.shrink) {
        print_smallest(case, at_once)?;
    }
    Ok(entries)
}

/// A name with a script, or with the reason why it is not credible.
type Recorded = (String, Result<String, String>);

fn judged(scripts: &[Recorded]) -> Vec<Entry> {
    let verdict = |script: &Result<String, String>| match script {
        Ok(text) => judge::judge(text),
        Err(why) => Verdict::Spoiled(why.clone()),
    };
    let entry = |(name, script): &Recorded| Entry { name: name.clone(), verdict: verdict(script) };
    scripts.par_iter().map(entry).collect()
}

/// The scripts of cases, in their order.
fn record(cases: &[Case], at_once: usize) -> Result<Vec<Recorded>, String> {
    let kernel = corpus::kernel();
    let all = play(cases, at_once)?;
    let script = |(case, played): (&Case, Played)| {
        let script = match corpus::spoiled(&played) {
            Some(why) => Err(why),
            None => Ok(script::text(case, &played, &kernel)),
        };
        (case.name(), script)
    };
    Ok(cases.iter().zip(all).map(script).collect())
}

/// Plays of one player at most: each connection has its port.
const PLAYS: usize = 10_000;

/// Cases as the kernel played them, in their order.
fn play(cases: &[Case], at_once: usize) -> Result<Vec<Played>, String> {
    let failed = |error: std::io::Error| format!("the kernel could not be played to: {error}");
    let bar = ProgressBar::new(cases.len() as u64);
    bar.set_style(
        ProgressStyle::with_template("{pos}/{len} scripts, {eta} left")
            .unwrap_or(ProgressStyle::default_bar()),
    );
    let mut played: Vec<Option<Played>> = vec![None; cases.len()];
    for restart in [false, true] {
        let idle = |at: &usize| cases[*at].plan.restart_after_idle == restart;
        let which: Vec<usize> = (0..cases.len()).filter(idle).collect();
        for some in which.chunks(PLAYS) {
            let player = Player::new(restart).map_err(failed)?;
            let plans = some.iter().map(|at| cases[*at].plan.clone()).collect();
            let done = player.play(plans, at_once, &|| bar.inc(1)).map_err(failed)?;
            for (at, one) in some.iter().zip(done) {
                played[*at] = Some(one);
            }
        }
    }
    bar.finish_and_clear();
    Ok(played.into_iter().flatten().collect())
}

/// Prints the smallest script found that still differs.
fn print_smallest(case: &Case, at_once: usize) -> Result<(), String> {
    let differs = |cases: &[Case]| {
        let entries = judged(&record(cases, at_once)?);
        Ok(entries.iter().map(|entry| matches!(entry.verdict, Verdict::Different(_))).collect())
    };
    let smallest = shrink::shrink(case.clone(), differs)?;
    for (name, script) in record(&[smallest], at_once)? {
        let text = script.map_err(|why| format!("{name}: {why}"))?;
        match judge::judge(&text) {
            Verdict::Different(first) => println!("{text}\n{}\n", first.text),
            _ => println!(
                "{text}\nThis time it does not differ: it depends on when the kernel's timers expire.\n"
            ),
        }
    }
    Ok(())
}
