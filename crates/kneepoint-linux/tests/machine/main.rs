// SPDX-License-Identifier: Apache-2.0 OR MIT
//! This machine's kernel, as root, else skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "kernels run in real time")]

#[cfg(feature = "bpf")]
mod kernel;
mod player;
#[cfg(feature = "bpf")]
mod programs;
#[cfg(feature = "bpf")]
mod ratcp;
#[cfg(feature = "bpf")]
mod router;

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kernel is one, so tests that change it or measure its time take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints it whether or not the test passes: output of the macros is hidden for a passing test.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
