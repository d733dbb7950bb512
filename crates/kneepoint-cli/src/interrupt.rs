// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Signals of the process: Ctrl-C, termination and hanging up. The first stops in an orderly way, the second immediately. A
//! signal that was ignored when the process started, as under `nohup`, stays ignored.
//!
//! The handling of signals belongs to the whole process: only this file changes it, and only for the program `knee`. A
//! handler
//! sets a flag of the session, which needs neither a thread nor rights.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::failure::Failure;

/// The exit status after an interruption.
const STATUS: c_int = 130;

/// Sets the flag when the process receives a request to stop, and ends the process at the second one.
pub fn raise(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
        // The first time the flag is not set yet.
        flag::register_conditional_shutdown(signal, STATUS, Arc::clone(stop))
            .and_then(|_| flag::register(signal, Arc::clone(stop)))
            .map_err(|error| {
                Failure::run(
                    format!("cannot listen for signal {signal}: {error}"),
                    "the machine forbids `sigaction`: run it outside of the sandbox that does",
                )
            })?;
    }
    Ok(())
}

/// A file that reaches its greatest size (`ulimit -f`) is an error of the write, and not the end of the process.
pub fn outlive_limits() {
    // Without a handler it stays the end.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

#[cfg(target_os = "linux")]
fn is_ignored(signal: c_int) -> bool {
    kneepoint_linux::signals::is_ignored(signal)
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_: c_int) -> bool {
    false
}
