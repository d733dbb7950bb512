// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The program `knee` as a caller of the laboratory: standard streams, signals, and a bar on the terminal.

use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use kneepoint::scenario::Extensions;
use kneepoint_bench::session::{Bar, Caller, Given, Session, Spelling};

use crate::failure::Failure;
use crate::{hosts, interrupt};

/// The standard streams of the process, and its signals.
#[derive(Default)]
pub struct Console {
    /// Reports a request to stop; set while there is a listener.
    message: OnceLock<&'static str>,
    said: AtomicBool,
}

/// The session of the program's own command line, with these algorithms besides the laboratory's. The error says which name is taken.
pub fn session(known: Extensions) -> Result<Session, String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let given = Given { words: words.collect(), ..hosts::given(known)? };
    Ok(Session::new(Arc::new(Console::default()), given))
}

/// Tells a person at the terminal something, where there is no session.
pub fn tell(remark: &str) {
    // Standard error may be closed.
    let _ = writeln!(anstream::stderr(), "{remark}");
}

impl Caller for Console {
    fn spelling(&self) -> Spelling {
        Spelling::Dashes
    }

    fn tell(&self, remark: &str) {
        tell(remark);
    }

    fn warn(&self, warning: &str) {
        tell(warning);
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        let ending = if text.ends_with('\n') { "" } else { "\n" };
        let mut stdout = anstream::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.write_all(ending.as_bytes()))
            .and_then(|()| stdout.flush())
            .map_err(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => Failure::ReaderLeft,
                _ => Failure::output(&error),
            })
    }

    fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        io::stdin().take(most).read_to_end(&mut bytes).map(|_| bytes)
    }

    fn listen(&self, stop: &Arc<AtomicBool>, message: &'static str) -> Result<(), Failure> {
        match self.message.set(message) {
            Ok(()) => interrupt::raise(stop),
            // The first one listens to the end.
            Err(_) => Ok(()),
        }
    }

    fn stopping(&self) {
        if !self.said.swap(true, Ordering::Relaxed) {
            // The progress bar leaves the cursor within its line.
            let line = if io::stderr().is_terminal() { "\n" } else { "" };
            tell(&format!("{line}{}", self.message.get().unwrap_or(&"stopping")));
        }
    }

    fn bar(&self, total: u64) -> Arc<dyn Bar> {
        let shown = io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        // The template is a constant that the library accepts; the default style is an acceptable fallback.
        let style = ProgressStyle::with_template("{msg}  {wide_bar} {percent}%  {left}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.with_key("left", left));
        Arc::new(Drawn(bar))
    }
}

/// The remaining time, which is unknown at the beginning.
fn left(state: &ProgressState, to: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(to, "{:#} left", HumanDuration(state.eta()));
    }
}

/// A bar on the terminal.
struct Drawn(ProgressBar);

impl Bar for Drawn {
    fn set_total(&self, total: u64) {
        self.0.set_length(total);
    }

    fn set_done(&self, done: u64) {
        self.0.set_position(done);
    }

    fn add(&self, done: u64) {
        self.0.inc(done);
    }

    fn say(&self, message: String) {
        self.0.set_message(message);
    }

    fn tick(&self) {
        // Its thread would be a panic where there can be none.
        if Builder::new().spawn(|| {}).is_ok() {
            self.0.enable_steady_tick(Duration::from_secs(1));
        }
    }

    fn close(&self) {
        self.0.finish_and_clear();
    }
}
