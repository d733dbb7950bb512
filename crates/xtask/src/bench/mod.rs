// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a packet: processor time, instructions, events and memory, compared with ns-2.
//!
//! Every run has its own process, so that its peak memory can be read. Runs of ns-2 alternate with ours, so that both are
//! exposed to the same load on the machine, and a ratio is the median over the rounds, as the machine's speed changes between
//! them.

pub mod acks;
mod case;
pub mod child;
mod effects;
mod instructions;
mod machine;
mod page;
pub mod parallel;
pub mod ratchet;
mod record;
mod scale;
mod study;
mod variants;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Serialize;

use crate::ns2;
use case::{BENCHMARKS, Benchmark, SECONDS};
use child::Timing;

/// The options of a benchmark.
#[derive(Args)]
pub struct Arguments {
    /// One short run of each case, without instructions and without ns-2.
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Write docs/performance.md too.
    #[arg(long, conflicts_with = "quick")]
    write: bool,
    /// Time only the cases whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Timed runs of each case.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Measure only the cost of an acknowledgement for each controller.
    #[arg(long, conflicts_with = "quick")]
    acks: bool,
    /// Measure only the cost of a packet with each discipline and each recovery.
    #[arg(long, conflicts_with_all = ["quick", "acks"])]
    variants: bool,
    /// Measure only the cost of a packet against the number of flows.
    #[arg(long, conflicts_with_all = ["quick", "acks", "variants"])]
    scale: bool,
    /// Measure only the cost of a packet on links that police, shape, grant, reorder, duplicate, corrupt or hand over.
    #[arg(long, conflicts_with_all = ["quick", "acks", "variants", "scale", "write"])]
    effects: bool,
    /// Measure only the overhead of a study: the start of `knee`, its use of the cores, its report.
    #[arg(long, conflicts_with_all = ["quick", "acks", "variants", "scale"])]
    study: bool,
    /// Measure only one large run on one thread and on two.
    #[arg(long, conflicts_with_all = ["quick", "acks", "variants", "scale", "study"])]
    parallel: bool,
    /// Do not run ns-2.
    #[arg(long)]
    no_ns2: bool,
    /// The program whose studies are timed [default: the `knee` beside this program].
    #[arg(long, value_name = "PROGRAM")]
    knee: Option<PathBuf>,
    /// Another build of this program to measure for comparison: the one with profile guidance.
    #[arg(long, value_name = "PROGRAM")]
    guided: Option<PathBuf>,
    /// Run each case, discipline, recovery and controller once, as training for profile guidance.
    #[arg(long, conflicts_with_all = ["quick", "acks", "variants", "write", "json"])]
    train: bool,
}

/// The measurements of a case.
#[derive(Serialize)]
pub struct Figures {
    /// The case's name.
    pub case: &'static str,
    /// Packets that the bottleneck served.
    pub packets: u64,
    /// Processor time per packet, the minimum of all runs.
    pub ns_per_packet_min: f64,
    /// The median of all runs.
    pub ns_per_packet_median: f64,
    /// Instructions per packet.
    pub instructions_per_packet: Option<f64>,
    /// Events of the engine per packet.
    pub events_per_packet: f64,
    /// Peak memory of the process.
    pub peak_mib: f64,
    /// The goal for the processor time per packet.
    pub goal_ns: Option<f64>,
    /// User time of ns-2 per packet, the minimum of all runs.
    pub ns2_ns_per_packet_min: Option<f64>,
    /// ns-2's time over ours, the median over the rounds.
    pub ns2_over_ours: Option<f64>,
    /// The build with profile guidance.
    pub guided: Option<Guided>,
}

/// The measurements of a case with profile guidance.
#[derive(Serialize)]
pub struct Guided {
    /// Processor time per packet, the minimum of all runs.
    pub ns_per_packet_min: f64,
    /// Instructions per packet.
    pub instructions_per_packet: Option<f64>,
    /// Its time over that of the plain build, the median over the rounds.
    pub over_plain: f64,
    /// ns-2's time over that build's, the median over the rounds.
    pub ns2_over_guided: Option<f64>,
}

/// Times every requested case.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let program = this()?;
    if arguments.train {
        return train(&program);
    }
    if arguments.acks {
        return section(arguments, &page::acks(&acks::measure()));
    }
    if arguments.variants {
        return section(arguments, &page::variants(&variants::measure()?));
    }
    if arguments.effects {
        return effects::run();
    }
    if arguments.parallel {
        return section(arguments, &page::parallel(&parallel::measure(arguments.repeat.max(1))?));
    }
    let beside = !arguments.quick && !arguments.no_ns2;
    if beside && !ns2::installed() {
        eprintln!("{}", ns2::missing("NO COMPARISON"));
    }
    let beside = beside && ns2::installed();
    if arguments.scale {
        return section(arguments, &page::scale(&scale::measure(beside)?));
    }
    let knee = arguments.knee.clone().unwrap_or_else(|| program.with_file_name("knee"));
    // Before minutes are spent on what comes first.
    if (arguments.study || arguments.write) && !knee.is_file() {
        return Err(format!("{} is not there: make it, or name one with --knee", knee.display()));
    }
    if arguments.study {
        return section(arguments, &page::study(&study::measure(&knee)?));
    }
    let wanted =
        |case: &&Benchmark| arguments.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
    let cases: Vec<&Benchmark> = BENCHMARKS.iter().filter(wanted).collect();
    let (repeat, seconds) = if arguments.quick { (1, 20) } else { (arguments.repeat.max(1), SECONDS) };
    let mut timed: Vec<Timed> =
        cases.iter().map(|case| Timed { case, ours: vec![], guided: vec![], theirs: vec![] }).collect();
    for round in 1..=repeat {
        for one in &mut timed {
            eprintln!("round {round} of {repeat}: {}", one.case.name);
            one.ours.push(timing(&program, one.case.name, seconds)?);
            if let Some(guided) = &arguments.guided {
                one.guided.push(timing(guided, one.case.name, seconds)?.ns_per_packet());
            }
            if let Some(theirs) = one.case.ns2_seconds.filter(|_| beside) {
                one.theirs.push(ns2_ns_per_packet(one.case, theirs)?);
            }
        }
    }
    let mut figures = Vec::new();
    for one in timed {
        let count = |measured: &Path| match arguments.quick {
            true => None,
            false => instructions(measured, one.case.name, one.case.counted),
        };
        let counts = (count(&program), arguments.guided.as_deref().and_then(count));
        figures.push(one.figures(counts));
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?);
    } else {
        print!("{}{}", page::table(&figures), page::guided(&figures));
    }
    if arguments.write {
        let sections = [
            page::scale(&scale::measure(beside)?),
            page::study(&study::measure(&knee)?),
            page::parallel(&parallel::measure(repeat)?),
            page::variants(&variants::measure()?),
            page::acks(&acks::measure()),
        ];
        page::write(&figures, &sections)?;
    }
    Ok(true)
}

/// Prints a section of the page, and writes it into the page if requested.
fn section(arguments: &Arguments, text: &str) -> Result<bool, String> {
    print!("{text}");
    if arguments.write {
        page::rewrite(text)?;
    }
    Ok(true)
}

/// The runs of a case.
struct Timed {
    case: &'static Benchmark,
    ours: Vec<Timing>,
    guided: Vec<f64>,
    theirs: Vec<f64>,
}

impl Timed {
    fn figures(self, (instructions_per_packet, counted): (Option<f64>, Option<f64>)) -> Figures {
        let ours: Vec<f64> = self.ours.iter().map(Timing::ns_per_packet).collect();
        let any = self.ours[0];
        let peak = self.ours.iter().map(|timing| timing.peak_kib).max().unwrap_or(0);
        Figures {
            case: self.case.name,
            packets: any.packets,
            ns_per_packet_min: least(&ours).unwrap_or(f64::NAN),
            ns_per_packet_median: median(&ours).unwrap_or(f64::NAN),
            instructions_per_packet,
            events_per_packet: any.events as f64 / any.packets as f64,
            peak_mib: peak as f64 / 1024.0,
            goal_ns: self.case.goal,
            ns2_ns_per_packet_min: least(&self.theirs),
            ns2_over_ours: ratio(&self.theirs, &ours),
            guided: least(&self.guided).map(|guided| Guided {
                ns_per_packet_min: guided,
                instructions_per_packet: counted,
                over_plain: ratio(&self.guided, &ours).unwrap_or(f64::NAN),
                ns2_over_guided: ratio(&self.theirs, &self.guided),
            }),
        }
    }
}

fn least(times: &[f64]) -> Option<f64> {
    times.iter().copied().min_by(f64::total_cmp)
}

fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (upper, lower) = (sorted.len() / 2, sorted.len().checked_sub(1)? / 2);
    Some((sorted[lower] + sorted[upper]) / 2.0)
}

/// The median over the rounds of the ratio of two runs of a round.
fn ratio(over: &[f64], under: &[f64]) -> Option<f64> {
    median(&over.iter().zip(under).map(|(over, under)| over / under).collect::<Vec<_>>())
}

/// This program.
fn this() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// Runs everything that is measured once.
fn train(program: &Path) -> Result<bool, String> {
    for case in &BENCHMARKS {
        timing(program, case.name, case.counted.1)?;
    }
    for variant in variants::all() {
        timing(program, &variant.path(), variants::COUNTED.1)?;
    }
    acks::train();
    Ok(true)
}

fn timing(program: &Path, case: &str, seconds: u32) -> Result<Timing, String> {
    let output = Command::new(program)
        .args(["bench-child", case, &seconds.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{case}: {error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// User time of ns-2 for each packet that its bottleneck served.
fn ns2_ns_per_packet(case: &Benchmark, seconds: u32) -> Result<f64, String> {
    let run = ns2::run(&case.setup(seconds), 1)?;
    let packets = run.row["departures_total"].as_f64().ok_or("ns printed no departures")?;
    Ok(1e9 * run.user_seconds / packets)
}

/// Instructions per packet; a message says if nothing can count them.
fn instructions(program: &Path, case: &str, seconds: (u32, u32)) -> Option<f64> {
    eprintln!("counting instructions: {case}");
    instructions::per_packet(program, case, seconds)
        .inspect_err(|error| eprintln!("NO INSTRUCTION COUNTS: {error}"))
        .ok()
}
