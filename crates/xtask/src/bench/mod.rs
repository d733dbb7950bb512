// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a packet: processor time, instructions, events and memory, compared with ns-2.
//!
//! Every run has its own process, so that its peak memory can be read. Runs of ns-2 alternate with ours, so that both
//! meet the same load on the machine.

pub mod acks;
mod case;
pub mod child;
mod instructions;
mod machine;
mod page;
pub mod ratchet;
mod record;
mod variants;

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
    /// Do not run ns-2.
    #[arg(long)]
    no_ns2: bool,
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
    /// ns-2's time over ours.
    pub ns2_over_ours: Option<f64>,
}

/// Times every case that is wanted.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    if arguments.acks {
        let costs = acks::measure();
        print!("{}", acks::table(&costs));
        if arguments.write {
            page::rewrite(&page::acks(&costs))?;
        }
        return Ok(true);
    }
    if arguments.variants {
        let section = page::variants(&variants::measure()?);
        print!("{section}");
        if arguments.write {
            page::rewrite(&section)?;
        }
        return Ok(true);
    }
    let wanted =
        |case: &&Benchmark| arguments.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
    let cases: Vec<&Benchmark> = BENCHMARKS.iter().filter(wanted).collect();
    let beside = !arguments.quick && !arguments.no_ns2;
    if beside && !ns2::installed() {
        eprintln!("{}", ns2::missing("NO COMPARISON"));
    }
    let beside = beside && ns2::installed();
    let (repeat, seconds) = if arguments.quick { (1, 20) } else { (arguments.repeat.max(1), SECONDS) };
    let mut timed: Vec<Timed> =
        cases.iter().map(|case| Timed { case, ours: vec![], theirs: vec![] }).collect();
    for round in 1..=repeat {
        for one in &mut timed {
            eprintln!("round {round} of {repeat}: {}", one.case.name);
            one.ours.push(timing(one.case.name, seconds)?);
            if let Some(theirs) = one.case.ns2_seconds.filter(|_| beside) {
                one.theirs.push(ns2_ns_per_packet(one.case, theirs)?);
            }
        }
    }
    let mut figures = Vec::new();
    for one in timed {
        let count = if arguments.quick { None } else { instructions(one.case.name, one.case.counted) };
        figures.push(one.figures(count));
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&figures).map_err(|error| error.to_string())?);
    } else {
        print!("{}", page::table(&figures));
    }
    if arguments.write {
        page::write(&figures, &variants::measure()?, &acks::measure())?;
    }
    Ok(true)
}

/// The runs of a case.
struct Timed {
    case: &'static Benchmark,
    ours: Vec<Timing>,
    theirs: Vec<f64>,
}

impl Timed {
    fn figures(mut self, instructions_per_packet: Option<f64>) -> Figures {
        self.ours.sort_by(|a, b| a.ns_per_packet().total_cmp(&b.ns_per_packet()));
        let least = self.ours[0];
        let theirs = self.theirs.iter().copied().min_by(f64::total_cmp);
        let peak = self.ours.iter().map(|timing| timing.peak_kib).max().unwrap_or(0);
        Figures {
            case: self.case.name,
            packets: least.packets,
            ns_per_packet_min: least.ns_per_packet(),
            ns_per_packet_median: self.ours[self.ours.len() / 2].ns_per_packet(),
            instructions_per_packet,
            events_per_packet: least.events as f64 / least.packets as f64,
            peak_mib: peak as f64 / 1024.0,
            goal_ns: self.case.goal,
            ns2_ns_per_packet_min: theirs,
            ns2_over_ours: theirs.map(|theirs| theirs / least.ns_per_packet()),
        }
    }
}

fn timing(case: &str, seconds: u32) -> Result<Timing, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
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

/// Instructions per packet; says so if nothing can count them.
fn instructions(case: &str, seconds: (u32, u32)) -> Option<f64> {
    eprintln!("counting instructions: {case}");
    instructions::per_packet(case, seconds)
        .inspect_err(|error| eprintln!("NO INSTRUCTION COUNTS: {error}"))
        .ok()
}
