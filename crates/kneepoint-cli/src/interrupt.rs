// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ctrl-C, termination and hanging up: the first stops in an orderly way, the second at once. A signal
//! that was ignored when the process started, as under `nohup`, stays ignored.
//!
//! A handler sets a flag, which needs neither a thread nor rights; the first reader of the flag prints the message.

use std::ffi::c_int;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::failure::Failure;
use crate::files::tell;
use crate::host;

/// The exit status of what was interrupted.
const STATUS: c_int = 130;
static ASKED: AtomicBool = AtomicBool::new(false);
/// What is said of it; set while somebody listens.
static MESSAGE: OnceLock<&str> = OnceLock::new();
static SAID: AtomicBool = AtomicBool::new(false);

/// Installs the handler for Ctrl-C and termination, once.
pub fn listen() -> Result<(), Failure> {
    listen_saying("stopping; finished runs are kept (again to stop at once)")
}

/// Installs the handler; this is said when it was asked to stop.
pub fn listen_saying(message: &'static str) -> Result<(), Failure> {
    // Within another program signals are that program's.
    if host::embedding().is_some() || MESSAGE.set(message).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
        // The first time the flag is not set yet.
        flag::register_conditional_shutdown(signal, STATUS, &ASKED)
            .and_then(|_| flag::register(signal, &ASKED))
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
    static REACHED: AtomicBool = AtomicBool::new(false);
    // Without a handler it stays the end.
    let _ = flag::register(SIGXFSZ, &REACHED);
}

#[cfg(target_os = "linux")]
fn is_ignored(signal: c_int) -> bool {
    kneepoint_linux::signals::is_ignored(signal)
}

#[cfg(not(target_os = "linux"))]
fn is_ignored(_: c_int) -> bool {
    false
}

/// Whether a stop was requested.
pub fn asked() -> bool {
    if host::embedding().is_some_and(host::Host::asked) {
        return true;
    }
    let asked = ASKED.load(Ordering::Relaxed);
    if asked && !SAID.swap(true, Ordering::Relaxed) {
        // The progress bar leaves the cursor within its line.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        tell(format!("{line}{}", MESSAGE.get().unwrap_or(&"stopping")));
    }
    asked
}
