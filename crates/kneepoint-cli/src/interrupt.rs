// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ctrl-C: the first stops in an orderly way, the second at once.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::files::tell;
use crate::host;

static ASKED: AtomicBool = AtomicBool::new(false);
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Installs the handler for Ctrl-C and termination, once.
pub fn listen() -> Result<(), Failure> {
    listen_saying("stopping; finished runs are kept (again to stop at once)")
}

/// Installs the handler, which says this when it is asked to stop.
pub fn listen_saying(message: &'static str) -> Result<(), Failure> {
    // Within another program signals are that program's.
    if host::embedding().is_some() || LISTENING.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        // The progress bar leaves the cursor within its line.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        tell(format!("{line}{message}"));
    })
    .map_err(|error| Failure::run(format!("cannot listen for Ctrl-C: {error}"), "run it again"))
}

/// Whether a stop was requested.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed) || host::embedding().is_some_and(host::Host::asked)
}
