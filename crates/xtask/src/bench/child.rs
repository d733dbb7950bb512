// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One timed run in its own process, so that its peak memory can be read.

use clap::Args;
use kneepoint::measure::Meter;
use kneepoint::run::run;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::case::Benchmark;
use super::variants::Variant;

/// The arguments of the child process.
#[derive(Args)]
pub struct Arguments {
    /// The case or the variant.
    case: String,
    /// Seconds to simulate.
    seconds: u32,
}

/// The output of the child process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// Processor time of the run, set-up excluded.
    pub cpu_ns: u64,
    /// Packets that the bottleneck served.
    pub packets: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// Peak memory of the process.
    pub peak_kib: u64,
}

impl Timing {
    /// Nanoseconds of processor time for each packet that the bottleneck served.
    pub fn ns_per_packet(&self) -> f64 {
        self.cpu_ns as f64 / self.packets as f64
    }
}

/// Runs a case once and prints its timing.
pub fn run_once(arguments: &Arguments) -> Result<bool, String> {
    let (name, seconds) = (&arguments.case, arguments.seconds);
    let (valid, watched) = match (Variant::at(name), Benchmark::named(name)) {
        (Some(variant), _) => (variant.scenario(seconds)?, false),
        (None, Some(case)) => (case.scenario(seconds)?, case.watched),
        (None, None) => return Err(format!("no case is called {name}")),
    };
    let before = cpu_ns();
    let outcome = if watched { run(&valid, 1, Meter::new(&valid, 1)).1 } else { run(&valid, 1, ()).1 };
    let timing = Timing {
        cpu_ns: cpu_ns() - before,
        packets: outcome.bottleneck_packets,
        events: outcome.events,
        peak_kib: peak_kib().unwrap_or(0),
    };
    println!("{}", serde_json::to_string(&timing).map_err(|error| error.to_string())?);
    Ok(true)
}

/// Processor time of this process, which other load on the machine affects little.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).expect("every Unix has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// `VmHWM` of this process; none where there is no `/proc`.
pub fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}
