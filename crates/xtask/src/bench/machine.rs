// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The place, time and sources of a measurement.

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

/// The load average of the last minute, the measurement itself included.
pub fn load() -> String {
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").into()
}

/// Today's date in UTC.
pub fn date() -> String {
    printed("date", &["-u", "+%Y-%m-%d"])
}

/// The compiler, as it names itself.
pub fn rustc() -> String {
    printed("rustc", &["--version"])
}

/// The short name of the revision that is checked out.
pub fn revision() -> String {
    printed("git", &["rev-parse", "--short", "HEAD"])
}

/// The standard output of a command; `unknown` if it fails.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
    output.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}
