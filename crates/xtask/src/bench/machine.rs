// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a measurement was made on, and when.

use std::fs::read_to_string;
use std::process::Command;

/// The processor's name.
pub fn processor() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    model.map_or("unknown processor", |model| model.trim_start_matches([' ', '\t', ':'])).into()
}

/// The kernel's release.
pub fn kernel() -> String {
    read_to_string("/proc/sys/kernel/osrelease").map_or("unknown".into(), |release| release.trim().into())
}

/// Processes ready to run in the last minute: what the measurement had to share the machine with.
pub fn load() -> String {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").into()
}

/// Today, as `date` says.
pub fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}
