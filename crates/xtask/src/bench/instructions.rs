// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instructions per packet, which no neighbour on the machine can inflate.
//!
//! Two runs of one case under valgrind, one longer than the other: the difference is steady state, without
//! setting up and without the flows' start.

use std::process::Command;

use super::case::Case;
use super::child::Timing;

/// Instructions per packet that the bottleneck served; the error says why there are none.
pub fn per_packet(case: &Case) -> Result<f64, String> {
    let (short, long) = case.counted;
    let (fewer, first) = counted(case, short)?;
    let (more, second) = counted(case, long)?;
    Ok((more - fewer) as f64 / (second.packets - first.packets) as f64)
}

fn counted(case: &Case, seconds: u32) -> Result<(u64, Timing), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["bench-child", case.name, &seconds.to_string()])
        .output()
        .map_err(|error| format!("valgrind does not start ({error}); Debian's package is `valgrind`"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let count = log
        .lines()
        .find_map(|line| line.split_once("I refs:").or_else(|| line.split_once("I   refs:")))
        .and_then(|(_, count)| count.trim().replace(',', "").parse().ok())
        .ok_or_else(|| format!("valgrind counted nothing: {}", log.lines().last().unwrap_or_default()))?;
    let timing = serde_json::from_slice(&output.stdout).map_err(|error| format!("the child: {error}"))?;
    Ok((count, timing))
}
