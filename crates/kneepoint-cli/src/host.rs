// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The program that this library is part of. `knee` itself has a terminal, arguments and signals. Within another program, such as
//! Python, these belong to that program: it gives the words and the standard input, watches the progress, and asks to stop.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use indicatif::ProgressBar;
use kneepoint::scenario::Extensions;

static HOST: OnceLock<Host> = OnceLock::new();

/// Runs what a thread of this library does, within what the program around it needs for its algorithms there.
pub type Around = fn(&mut (dyn FnMut() + Send));

/// Another program around this library. It makes one call at a time.
#[derive(Default)]
pub struct Host {
    stop: AtomicBool,
    call: Mutex<Call>,
    around: OnceLock<Around>,
    told: Mutex<Vec<String>>,
    warned: Mutex<Vec<String>>,
    bar: Mutex<Option<ProgressBar>>,
}

#[derive(Default)]
struct Call {
    words: Vec<String>,
    input: Option<String>,
    share: Share,
    extensions: Extensions,
    planned: Vec<(String, u64)>,
}

/// Which of the runs that are not kept a call makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// All of them.
    #[default]
    All,
    /// None: it says which there are, and stops.
    None,
    /// Those with these names, and then it stops.
    Only(BTreeSet<String>),
}

/// How far the runs of a call are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The work that is done, in units of its own.
    pub done: u64,
    /// All of the work.
    pub total: u64,
    /// How many runs that is.
    pub message: String,
}

/// Leaves terminal, arguments and signals to the program that this library is part of, from now on.
pub fn embed() -> &'static Host {
    HOST.get_or_init(Host::default)
}

/// The program around this library, unless that is `knee`.
pub(crate) fn embedding() -> Option<&'static Host> {
    HOST.get()
}

/// The algorithms that the program around this library adds to those of the registries.
pub(crate) fn extensions() -> Extensions {
    embedding().map_or(Extensions::NONE, |host| lock(&host.call).extensions.clone())
}

/// An option as the caller writes it: `--store DIR` on the command line, `store="DIR"` in the program around this library.
pub(crate) fn option(name: &str, value: &str) -> String {
    match (embedding().is_some(), value.is_empty()) {
        (false, true) => format!("--{name}"),
        (false, false) => format!("--{name} {value}"),
        (true, true) => name.to_string(),
        (true, false) => format!("{name}=\"{value}\""),
    }
}

/// Does the work of a thread that makes runs.
pub(crate) fn work(mut work: impl FnMut() + Send) {
    match embedding().and_then(|host| host.around.get()) {
        Some(around) => around(&mut work),
        None => work(),
    }
}

impl Host {
    /// From now on threads that make runs work within this.
    pub fn surround(&self, around: Around) {
        // The first is that of the program.
        let _ = self.around.set(around);
    }

    /// Begins a call with these words, without the program's name, and what `-` reads. Words and scenarios may name the algorithms of
    /// `extensions`.
    pub fn begin(&self, words: &[String], input: Option<String>, share: Share, extensions: Extensions) {
        *lock(&self.call) = Call { words: words.to_vec(), input, share, extensions, planned: Vec::new() };
        *lock(&self.bar) = None;
        lock(&self.told).clear();
        self.stop.store(false, Ordering::Relaxed);
    }

    /// Asks the call to stop, as Ctrl-C does.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the runs are, once there are some.
    pub fn progress(&self) -> Option<Progress> {
        let bar = lock(&self.bar);
        let bar = bar.as_ref()?;
        Some(Progress { done: bar.position(), total: bar.length()?, message: bar.message() })
    }

    /// The runs that a call would have made, by name, with about how much work each is.
    pub fn take_planned(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut lock(&self.call).planned)
    }

    /// The remarks since they were last taken.
    pub fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.told))
    }

    /// The warnings since they were last taken. A call that follows does not take them back.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.warned))
    }

    pub(crate) fn asked(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, remark: &str) {
        lock(&self.told).push(remark.to_string());
    }

    pub(crate) fn warn(&self, warning: &str) {
        lock(&self.warned).push(warning.to_string());
    }

    pub(crate) fn show(&self, bar: &ProgressBar) {
        *lock(&self.bar) = Some(bar.clone());
    }

    pub(crate) fn share(&self) -> Share {
        lock(&self.call).share.clone()
    }

    pub(crate) fn plan(&self, runs: impl IntoIterator<Item = (String, u64)>) {
        lock(&self.call).planned.extend(runs);
    }

    pub(crate) fn words(&self) -> Vec<String> {
        lock(&self.call).words.clone()
    }

    pub(crate) fn input(&self) -> String {
        lock(&self.call).input.clone().unwrap_or_default()
    }
}

/// A lock that a panic does not poison.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
