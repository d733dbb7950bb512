// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The binary as seen by a user: output, files, errors, interruption.

#[cfg(target_os = "linux")]
mod abreast;
mod book;
mod browsing;
mod budgeting;
#[cfg(target_os = "linux")]
mod capturing;
mod coexisting;
mod commands;
mod comparing;
mod damaging;
mod dividing;
mod documented;
mod drawing;
mod drilling;
#[cfg(target_os = "linux")]
mod emulating;
mod figures;
mod fluid;
mod fuzz;
mod gating;
mod hostile;
mod hunting;
mod identifying;
#[cfg(target_os = "linux")]
mod limits;
mod manners;
mod markov;
mod naming;
mod paths;
mod plotting;
mod predicting;
#[cfg(target_os = "linux")]
mod quic;
mod refusing;
mod renewing;
#[cfg(target_os = "linux")]
mod replaying;
mod reproducing;
#[cfg(target_os = "linux")]
mod rights;
mod running;
mod sessions;
mod stopping;
mod telling;
mod tracing;
#[cfg(target_os = "linux")]
mod virtual_time;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Prints a line whether or not the test passes: the output of macros is hidden for a passing test.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The command `knee` with these arguments.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knee"));
    command.args(arguments).stdin(Stdio::null()).env_remove("COLUMNS");
    command
}

/// Runs it in `directory`.
fn knee(directory: &Path, arguments: &[&str]) -> Output {
    command(arguments).current_dir(directory).output().expect("knee starts")
}

/// Runs it in `directory` with `input` on standard input.
fn knee_reading(directory: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("knee starts");
    // It may exit before it has read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("knee ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Whether a command succeeded, or failed only because a busy machine was late with the packets of its emulated link: that
/// counts as a failure, but its traffic, measurements and files are there.
fn carried(output: &Output) -> bool {
    let late = "not a valid emulation: one packet in a hundred";
    output.status.success() || output.status.code() == Some(1) && stderr(output).contains(late)
}

/// Parses standard output as JSON.
fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
}

/// Asserts the exit status and that standard error contains all of these.
#[track_caller]
fn assert_refuses(output: &Output, status: i32, sayings: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{said}");
    for saying in sayings {
        assert!(said.contains(saying), "`{saying}` is missing from:\n{said}");
    }
}

/// Keeps a run with other numbers, as if it had been made with them.
fn keep_otherwise(path: &Path, from: &str, to: &str) {
    const CHECKSUM: &str = ",\"sha256\":\"";
    let text = std::fs::read_to_string(path).expect("a kept run");
    let body = text.split(CHECKSUM).next().unwrap_or_default().replace(from, to);
    let sum: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(path, format!("{body}{CHECKSUM}{sum}\"}}\n")).expect("a store");
}

/// Names in a directory, sorted; none if it does not exist.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>();
    names.sort();
    names
}
