// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the simulator's Linux host with this machine's kernel.
//!
//! ```text
//! setting ─┬ kernel ─ packets at the emulated link ─┬ figures ─ table
//!          └ simulated ─ packets at the bottleneck ─┘
//! ```

mod figures;
mod kernel;
mod page;
mod setting;
mod simulated;

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
    /// Write the tables of docs/linux-host.md.
    #[arg(long, conflicts_with_all = ["only", "trace"])]
    write: bool,
    /// Options of the simulated hosts, as lines of `[tcp]`.
    #[arg(long, default_value = "preset = \"linux\"")]
    tcp: String,
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

/// The figures, with the limits of what is called agreement.
const COMPARED: [Compared; 7] = [
    Compared { key: "use", of: |it| it.utilization, agrees: |a, b| within(0.1, a, b), about: "within 10 %" },
    Compared { key: "queue", of: |it| it.queue, agrees: |a, b| within(0.2, a, b), about: "within 20 %" },
    Compared {
        key: "drops",
        of: |it| it.drops,
        agrees: |a, b| a.max(b) <= 1.5 * a.min(b) || (a - b).abs() <= 5.0,
        about: "within a factor 1.5, or 5 packets",
    },
    Compared { key: "startup", of: |it| it.startup, agrees: |a, b| within(0.1, a, b), about: "within 10 %" },
    Compared { key: "to 90 %", of: |it| it.to_90, agrees: |a, b| within(0.1, a, b), about: "within 10 %" },
    Compared { key: "jain", of: |it| it.jain, agrees: |a, b| (a - b).abs() <= 0.1, about: "within 0.1" },
    Compared {
        key: "share",
        of: |it| it.share,
        agrees: |a, b| (a - b).abs() <= 0.1,
        about: "within 10 points",
    },
];

/// Compares.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
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
    let seeds = arguments.repetitions;
    if arguments.write {
        page::write(&settings, &recorded, seeds)?;
        return Ok(true);
    }
    print(&pairs(&settings, &recorded, &arguments.tcp, seeds)?);
    Ok(true)
}

/// A setting with the kernel's mean figures, where it was measured, and the simulator's.
struct Pair<'s> {
    setting: &'s Setting,
    kernel: Option<Figures>,
    simulated: Figures,
}

/// The simulator beside the record, where hosts have these options.
fn pairs<'s>(
    settings: &'s [Setting],
    recorded: &[Recorded],
    tcp: &str,
    seeds: u64,
) -> Result<Vec<Pair<'s>>, String> {
    let pair = |setting: &'s Setting| {
        let kernel: Vec<Figures> = of(recorded, setting).map(|one| one.figures).collect();
        let simulated = (1..=seeds).map(|seed| Ok(simulated::run(setting, tcp, seed)?.0));
        let simulated = mean(&simulated.collect::<Result<Vec<_>, String>>()?);
        Ok(Pair { setting, kernel: (!kernel.is_empty()).then(|| mean(&kernel)), simulated })
    };
    settings.par_iter().with_max_len(1).map(pair).collect()
}

impl Pair<'_> {
    /// Whether a figure agrees; none where there is nothing to compare.
    fn agrees(&self, figure: &Compared) -> Option<bool> {
        let alone = self.setting.mix.len() == 1;
        let kernel = self.kernel.as_ref().filter(|_| figure.key != "share" || !alone)?;
        Some((figure.agrees)((figure.of)(kernel), (figure.of)(&self.simulated)))
    }
}

/// How many pairs agree in a figure, and how many can be compared.
fn agreement(pairs: &[Pair], figure: &Compared) -> (usize, usize) {
    let judged: Vec<bool> = pairs.iter().filter_map(|pair| pair.agrees(figure)).collect();
    (judged.iter().filter(|agrees| **agrees).count(), judged.len())
}

/// `0.987`, `413`.
fn number(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn of<'r>(recorded: &'r [Recorded], setting: &Setting) -> impl Iterator<Item = &'r Recorded> {
    let name = setting.name();
    recorded.iter().filter(move |one| one.setting == name && !one.spoiled)
}

/// Runs every setting on the kernel, as many at once as wanted, and keeps each when it is done.
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
    print!("{:44}", "kernel / simulator");
    COMPARED.iter().for_each(|one| print!(" {:>15}", one.key));
    println!();
    for pair in pairs {
        print!("{:44}", pair.setting.name());
        for one in &COMPARED {
            let mark = match pair.agrees(one) {
                Some(true) => " ",
                Some(false) => "!",
                None => continue,
            };
            let theirs = pair.kernel.as_ref().map_or(0.0, one.of);
            let text = format!("{}/{}{mark}", number(theirs), number((one.of)(&pair.simulated)));
            print!(" {text:>15}");
        }
        println!();
    }
    for one in &COMPARED {
        let (agreed, compared) = agreement(pairs, one);
        println!("{:8} {agreed:2} of {compared:2} {}", one.key, one.about);
    }
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
