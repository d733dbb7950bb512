// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ns-2 on this machine: availability, output and CPU time of a run.

use std::path::PathBuf;
use std::process::{Command, Output};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use crate::setting::Setup;

/// Printed if `ns` is missing.
pub fn missing(what: &str) -> String {
    let line = "=".repeat(70);
    format!(
        "{line}\n{what}: ns-2 is not here, `ns` is not on the path.\nOn Debian: apt-get install ns2\n{line}"
    )
}

/// Whether `ns` is in PATH.
pub fn installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("ns").is_file())
}

/// A run of ns-2.
pub struct Run {
    /// Standard output of the script.
    pub row: Value,
    /// User time of the process in seconds, to the clock tick.
    pub user_seconds: f64,
}

/// Runs a script of `validation/ns2`.
pub fn run(setup: &Setup, seed: u64) -> Result<Run, String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns2").join(&setup.script);
    let before = children_user_seconds();
    let output = Command::new("ns")
        .arg(script)
        .args(setup.arguments())
        .arg(format!("seed={seed}"))
        .output()
        .map_err(|error| format!("ns: {error}"))?;
    let user_seconds = children_user_seconds() - before;
    Ok(Run { row: row("ns", &output)?, user_seconds })
}

/// The row that a script printed.
pub fn row(program: &str, output: &Output) -> Result<Value, String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.strip_prefix("JSON "));
    let line = line
        .ok_or_else(|| format!("{program} printed no result: {}", String::from_utf8_lossy(&output.stderr)))?;
    serde_json::from_str(line).map_err(|error| format!("{program}: {error}"))
}

/// User time of all terminated children.
fn children_user_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system counts children's time");
    usage.user_time().num_microseconds() as f64 / 1e6
}
