// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instructions, which no neighbour on the machine can inflate.
//!
//! Two runs of one child under valgrind, one longer than the other: the difference is steady state, without
//! setting up and without the flows' start.

use std::process::Command;

use super::case::Case;
use super::child::Timing;

/// Instructions per packet that the bottleneck served; the error says why there are none.
pub fn per_packet(case: &Case) -> Result<f64, String> {
    let (short, long) = case.counted;
    let run = |seconds: u32| -> Result<(u64, Timing), String> {
        let (count, output) = counted(&["bench-child", case.name, &seconds.to_string()])?;
        Ok((count, serde_json::from_slice(&output).map_err(|error| format!("the child: {error}"))?))
    };
    let (fewer, first) = run(short)?;
    let (more, second) = run(long)?;
    Ok((more - fewer) as f64 / (second.packets - first.packets) as f64)
}

/// Instructions of this program with `arguments`, and what it printed.
pub fn counted(arguments: &[&str]) -> Result<(u64, Vec<u8>), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind does not start ({error}); Debian's package is `valgrind`"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let count = log
        .lines()
        .find_map(|line| line.split_once("I refs:").or_else(|| line.split_once("I   refs:")))
        .and_then(|(_, count)| count.trim().replace(',', "").parse().ok())
        .ok_or_else(|| format!("valgrind counted nothing: {}", log.lines().last().unwrap_or_default()))?;
    Ok((count, output.stdout))
}
