// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the simulator's Linux host with this machine's kernel.
//!
//! ```text
//! setting ─┬ kernel ─ packets at the emulated link ─┬ figures ─ table
//!          └ simulated ─ packets at the bottleneck ─┘
//! ```
//!
//! Managed queues are compared with a kernel in virtual time: [`queues`]; every controller and queue of Linux: [`virtual_time`].

mod copa;
mod figures;
mod kernel;
mod page;
mod queues;
mod quoted;
mod setting;
mod simulated;
mod virtual_time;

use std::sync::Mutex;
use std::thread;

use clap::Args;
use rayon::prelude::*;

use figures::{Figures, mean};
use kernel::Recorded;
use setting::Setting;

/// Arguments of `xtask linux`.
#[derive(Args)]
pub struct Arguments {
    /// Run the kernel now (as root) and keep the results.
    #[arg(long)]
    record: bool,
    /// Only settings whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Runs of each setting.
    #[arg(long, default_value_t = 3)]
    repetitions: u64,
    /// Settings that run on the kernel at the same time, each in namespaces of its own.
    #[arg(long, default_value_t = 1, value_name = "N")]
    at_once: usize,
    /// Write the tables of docs/linux.md.
    #[arg(long, conflicts_with_all = ["only", "trace"])]
    write: bool,
    /// Options of the simulated hosts, as lines of `[tcp]`.
    #[arg(long, default_value = "preset = \"linux\"")]
    tcp: String,
    /// Only managed queues, compared with a kernel in virtual time; with --write, only their section of the page.
    #[arg(long, conflicts_with_all = ["record", "trace", "tcp"])]
    queues: bool,
    /// Every controller and queue of Linux compared with a kernel in virtual time, and whether 98 % of the figures
    /// agree; with --write,
    /// docs/linux-queues.md.
    #[arg(long, conflicts_with_all = ["record", "trace", "queues"])]
    virtual_time: bool,
    /// With --virtual-time, also cells whose figures all agree.
    #[arg(long, requires = "virtual_time")]
    every: bool,
    /// Print the drops of a run, the kernel's and the simulator's.
    #[arg(long)]
    trace: bool,
    /// With --trace, also every packet up to this time in seconds.
    #[arg(long, requires = "trace")]
    until: Option<f64>,
}

/// A figure that is compared.
struct Compared {
    key: &'static str,
    of: fn(&Figures) -> f64,
    /// Whether two values agree.
    agrees: fn(f64, f64) -> bool,
    about: &'static str,
}

fn within(share: f64, a: f64, b: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// The figures, with the limits of agreement.
const COMPARED: [Compared; 7] = [
    Compared { key: "use", of: |it| it.utilization, agrees: |a, b| within(0.1, a, b), about: "10 %" },
    Compared { key: "queue", of: |it| it.queue, agrees: |a, b| within(0.1, a, b), about: "10 %" },
    Compared {
        key: "drops",
        of: |it| it.drops,
        agrees: |a, b| within(0.1, a, b) || (a - b).abs() <= 5.0,
        about: "10 %, or 5 packets",
    },
    Compared { key: "startup", of: |it| it.startup, agrees: |a, b| within(0.1, a, b), about: "10 %" },
    Compared { key: "to 90 %", of: |it| it.to_90, agrees: |a, b| within(0.1, a, b), about: "10 %" },
    Compared { key: "jain", of: |it| it.jain, agrees: |a, b| (a - b).abs() <= 0.1, about: "0.1" },
    Compared { key: "share", of: |it| it.share, agrees: |a, b| (a - b).abs() <= 0.1, about: "10 points" },
];

/// The agreement of a simulator's figure with the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Agreement {
    /// The means are within the limit.
    Close,
    /// They are not, but the ranges of the runs overlap.
    Scattered,
    /// Neither.
    Differs,
}

/// Compares.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    if arguments.queues {
        return if arguments.write {
            page::write_queues()
        } else {
            queues::print(arguments.only.as_deref()).map(|()| true)
        };
    }
    if arguments.virtual_time && arguments.write {
        return virtual_time::write(&arguments.tcp, arguments.repetitions);
    }
    if arguments.virtual_time {
        return virtual_time::print(
            arguments.only.as_deref(),
            &arguments.tcp,
            arguments.every,
            arguments.repetitions,
        );
    }
    let mut settings = setting::all();
    settings.retain(|one| arguments.only.as_ref().is_none_or(|only| one.name().contains(only)));
    if settings.is_empty() {
        return Err("no setting has such a name".into());
    }
    if (arguments.record || arguments.trace)
        && let Some(lack) = kernel::lacks(&settings)
    {
        return Err(format!("the kernel cannot be measured: {lack}"));
    }
    if arguments.trace {
        return settings.iter().try_for_each(|setting| trace(setting, arguments)).map(|()| true);
    }
    if arguments.record {
        record(&settings, arguments.repetitions, arguments.at_once)?;
    }
    let recorded = kernel::read()?;
    if arguments.write {
        return page::write(&settings, &recorded);
    }
    print(&pairs(&settings, &recorded, &arguments.tcp, SEEDS)?);
    Ok(true)
}

/// Seeds of the simulator.
const SEEDS: u64 = 5;

/// A setting with the figures of the kernel's runs, as far as it was measured, and of the simulator's.
struct Pair<'s> {
    setting: &'s Setting,
    kernel: Vec<Figures>,
    simulated: Vec<Figures>,
}

/// The simulator compared with the record, where hosts have these options.
fn pairs<'s>(
    settings: &'s [Setting],
    recorded: &[Recorded],
    tcp: &str,
    seeds: u64,
) -> Result<Vec<Pair<'s>>, String> {
    let pair = |setting: &'s Setting| {
        let kernel: Vec<Figures> = of(recorded, setting).map(|one| one.figures).collect();
        let simulated = (1..=seeds).map(|seed| Ok(simulated::run(setting, tcp, seed)?.0));
        Ok(Pair { setting, kernel, simulated: simulated.collect::<Result<_, String>>()? })
    };
    settings.par_iter().with_max_len(1).map(pair).collect()
}

impl Pair<'_> {
    /// The agreement of a figure; none where there is nothing to compare.
    fn agreement(&self, figure: &Compared) -> Option<Agreement> {
        let alone = self.setting.mix.len() == 1;
        if self.kernel.is_empty() || figure.key == "share" && alone {
            return None;
        }
        let [theirs, ours] = self.means().map(|mean| (figure.of)(&mean));
        if (figure.agrees)(theirs, ours) {
            return Some(Agreement::Close);
        }
        let range = |runs: &[Figures]| {
            let values = || runs.iter().map(figure.of);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((least, most), (lowest, highest)) = (range(&self.kernel), range(&self.simulated));
        let overlap = least <= highest && lowest <= most;
        Some(if overlap { Agreement::Scattered } else { Agreement::Differs })
    }

    /// The means of the kernel's runs and of the simulator's.
    fn means(&self) -> [Figures; 2] {
        [mean(&self.kernel), mean(&self.simulated)]
    }

    /// `0.987 / 0.991`
    fn numbers(&self, figure: &Compared) -> String {
        let [theirs, ours] = self.means().map(|mean| number((figure.of)(&mean)));
        format!("{theirs} / {ours}")
    }
}

/// The numbers of pairs that are close, scattered, and different in a figure.
fn tally(pairs: &[Pair], figure: &Compared) -> [usize; 3] {
    [Agreement::Close, Agreement::Scattered, Agreement::Differs]
        .map(|kind| pairs.iter().filter(|pair| pair.agreement(figure) == Some(kind)).count())
}

/// `0.987`, `413`.
fn number(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn of<'r>(recorded: &'r [Recorded], setting: &Setting) -> impl Iterator<Item = &'r Recorded> {
    let name = setting.name();
    recorded.iter().filter(move |one| one.setting == name && !one.spoiled)
}

/// Runs every setting on the kernel, as many concurrently as requested, and keeps each when it is done.
fn record(settings: &[Setting], repetitions: u64, at_once: usize) -> Result<(), String> {
    let runs = (1..=repetitions).flat_map(|repetition| settings.iter().map(move |one| (one, repetition)));
    let left = Mutex::new(runs.enumerate());
    let all = settings.len() as u64 * repetitions;
    let record = Mutex::new(());
    let work = || {
        loop {
            let next = left.lock().expect("no panic inside").next();
            let Some((place, (setting, repetition))) = next else { return Ok(()) };
            let run = kernel::run(setting, repetition)?;
            let _alone = record.lock().expect("no panic inside");
            println!(
                "{} of {all}: {}: use {:.3}, drops {}, late {:.0} us at most{}",
                place + 1,
                run.setting,
                run.figures.utilization,
                run.figures.drops,
                run.late_max_us,
                if run.spoiled { ", SPOILED" } else { "" }
            );
            kernel::keep(&[run])?;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic inside"))
    })
}

fn print(pairs: &[Pair]) {
    print!("{:50}", "kernel / simulator");
    COMPARED.iter().for_each(|one| print!(" {:>17}", one.key));
    println!();
    for pair in pairs {
        print!("{:50}", pair.setting.name());
        for one in &COMPARED {
            let mark = match pair.agreement(one) {
                Some(Agreement::Close) => " ",
                Some(Agreement::Scattered) => "~",
                Some(Agreement::Differs) => "!",
                None => continue,
            };
            print!(" {:>16}{mark}", pair.numbers(one));
        }
        println!();
    }
    summaries(pairs).for_each(|line| println!("{line}"));
}

/// A line for each figure, and one for the drops with the limit that their scatter allows.
fn summaries<'p>(pairs: &'p [Pair]) -> impl Iterator<Item = String> + use<'p> {
    COMPARED.iter().map(|one| summary(pairs, one)).chain([drops_within_half(pairs)])
}

/// `drops: 54 of 60 within a factor of 1.5, or 5 packets`
fn drops_within_half(pairs: &[Pair]) -> String {
    let near =
        |[theirs, ours]: [f64; 2]| theirs.max(ours) <= 1.5 * theirs.min(ours) || (theirs - ours).abs() <= 5.0;
    let measured = || pairs.iter().filter(|pair| !pair.kernel.is_empty());
    let close = measured().filter(|pair| near(pair.means().map(|mean| mean.drops))).count();
    format!("`drops`: {close} of {} within a factor of 1.5, or 5 packets", measured().count())
}

/// `queue: 52 of 60 within 10 %, 5 beyond with overlapping runs, 3 different`
fn summary(pairs: &[Pair], figure: &Compared) -> String {
    let [close, scattered, different] = tally(pairs, figure);
    let all = close + scattered + different;
    let Compared { key, about, .. } = figure;
    format!(
        "`{key}`: {close} of {all} within {about}; {scattered} beyond, with overlapping runs; {different} different"
    )
}

/// Prints when packets were dropped, the kernel's and the simulator's.
fn trace(setting: &Setting, arguments: &Arguments) -> Result<(), String> {
    let theirs = kernel::measure(setting)?.watch;
    let (_, ours) = simulated::run(setting, &arguments.tcp, 1)?;
    println!("{}", setting.name());
    for (who, packets) in [("kernel", &theirs.passed), ("simulator", &ours.passed)] {
        if let Some(until) = arguments.until {
            let mut early: Vec<_> = packets.iter().filter(|one| one.at.as_secs_f64() < until).collect();
            early.sort_by_key(|one| one.at);
            for one in early {
                let waits = one.departs.since(one.at).as_millis_f64();
                println!("  {:.4} {} {:.1}", one.at.as_secs_f64(), one.transfer, waits);
            }
        }
        let dropped = packets.iter().filter(|one| one.departs == kneepoint::units::Time::NEVER);
        let times: Vec<String> =
            dropped.map(|one| format!("{:.3}:{}", one.at.as_secs_f64(), one.transfer)).collect();
        println!("{who}: {} drops\n  {}", times.len(), times.join(" "));
    }
    Ok(())
}
