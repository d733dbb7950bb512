// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instruction counts, which other load on the machine does not change.
//!
//! The difference of a longer and a shorter run under valgrind is steady state: set-up and the start of the flows
//! cancel.

use std::path::Path;
use std::process::{Command, Output};

use super::child::Timing;

/// Instructions per packet that the bottleneck served in a case, from runs of this many seconds by a build of this program; the error
/// says why they cannot be counted.
pub fn per_packet(program: &Path, case: &str, (short, long): (u32, u32)) -> Result<f64, String> {
    let run = |seconds: u32| -> Result<(u64, Timing), String> {
        let (count, output) = counted(program, &["bench-child", case, &seconds.to_string()])?;
        Ok((count, serde_json::from_slice(&output).map_err(|error| format!("the child: {error}"))?))
    };
    let (fewer, first) = run(short)?;
    let (more, second) = run(long)?;
    Ok((more - fewer) as f64 / (second.packets - first.packets) as f64)
}

/// Misses of the caches for each packet that the bottleneck served.
pub struct Misses {
    /// Of the first level, reads and writes of data.
    pub first: f64,
    /// Of the last level, reads and writes of data.
    pub last: f64,
}

/// [`per_packet`] for misses, in caches that `options` describe to cachegrind.
pub fn misses_per_packet(
    program: &Path,
    case: &str,
    (short, long): (u32, u32),
    options: &[&str],
) -> Result<Misses, String> {
    let run = |seconds: u32| -> Result<(f64, f64, f64), String> {
        let output = cachegrind(program, options, &["bench-child", case, &seconds.to_string()])?;
        let timing: Timing =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("the child: {error}"))?;
        let (first, last) = (figure(&output, "D1  misses:")?, figure(&output, "LLd misses:")?);
        Ok((first as f64, last as f64, timing.packets as f64))
    };
    let (before, after) = (run(short)?, run(long)?);
    let packets = after.2 - before.2;
    // The longer run may have a few misses less, of thousands at its start.
    let between = |fewer: f64, more: f64| (more - fewer).max(0.0) / packets;
    Ok(Misses { first: between(before.0, after.0), last: between(before.1, after.1) })
}

/// Instructions of a program with `arguments`, and its standard output.
pub fn counted(program: &Path, arguments: &[&str]) -> Result<(u64, Vec<u8>), String> {
    let output = cachegrind(program, &["--cache-sim=no"], arguments)?;
    let count = figure(&output, "I refs:").or_else(|_| figure(&output, "I   refs:"))?;
    Ok((count, output.stdout))
}

fn cachegrind(program: &Path, options: &[&str], arguments: &[&str]) -> Result<Output, String> {
    Command::new("valgrind")
        .args(["--tool=cachegrind", "--cachegrind-out-file=/dev/null"])
        .args(options)
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind does not start ({error}); on Debian: apt-get install valgrind"))
}

/// The first number behind a name in the summary.
fn figure(output: &Output, name: &str) -> Result<u64, String> {
    let log = String::from_utf8_lossy(&output.stderr);
    let number =
        log.lines().find_map(|line| line.split_once(name)?.1.split_whitespace().next().map(str::to_string));
    number
        .and_then(|number| number.replace(',', "").parse().ok())
        .ok_or_else(|| format!("valgrind counted nothing: {}", log.lines().last().unwrap_or_default()))
}
