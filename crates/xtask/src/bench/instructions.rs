// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instruction counts, which other load on the machine does not change.
//!
//! The difference of a longer and a shorter run under valgrind is steady state: set-up and the start of the flows
//! cancel.

use std::process::Command;

use super::child::Timing;

/// Instructions per packet that the bottleneck served in a case, from runs of so many seconds; the error says why they cannot be counted.
pub fn per_packet(case: &str, (short, long): (u32, u32)) -> Result<f64, String> {
    let run = |seconds: u32| -> Result<(u64, Timing), String> {
        let (count, output) = counted(&["bench-child", case, &seconds.to_string()])?;
        Ok((count, serde_json::from_slice(&output).map_err(|error| format!("the child: {error}"))?))
    };
    let (fewer, first) = run(short)?;
    let (more, second) = run(long)?;
    Ok((more - fewer) as f64 / (second.packets - first.packets) as f64)
}

/// Instructions of this program with `arguments`, and its standard output.
pub fn counted(arguments: &[&str]) -> Result<(u64, Vec<u8>), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind does not start ({error}); on Debian: apt-get install valgrind"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let count = log
        .lines()
        .find_map(|line| line.split_once("I refs:").or_else(|| line.split_once("I   refs:")))
        .and_then(|(_, count)| count.trim().replace(',', "").parse().ok())
        .ok_or_else(|| format!("valgrind counted nothing: {}", log.lines().last().unwrap_or_default()))?;
    Ok((count, output.stdout))
}
