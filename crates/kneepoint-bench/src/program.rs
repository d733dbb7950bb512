// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A program around the laboratory, such as Python: remarks and warnings wait until it takes them, and it looks at the progress when it
//! likes. Terminal and signals are its own.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::failure::Failure;
use crate::session::{Bar, Caller, Given, Session, Spelling, lock};

/// A program that makes a call.
#[derive(Default)]
pub struct Program {
    told: Mutex<Vec<String>>,
    warned: Mutex<Vec<String>>,
    hushed: AtomicBool,
    tally: Mutex<Option<Arc<Tally>>>,
}

/// The progress of a call's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The work done, in its own units.
    pub done: u64,
    /// All of the work.
    pub total: u64,
    /// The number of runs that this is.
    pub message: String,
}

/// A session of a program without additional input.
pub fn session() -> Session {
    Session::new(Arc::<Program>::default(), Given::default())
}

impl Program {
    /// The progress of the runs, once there are any.
    pub fn progress(&self) -> Option<Progress> {
        lock(&self.tally).as_deref().map(Tally::progress)
    }

    /// The remarks since they were last taken.
    pub fn take_remarks(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.told))
    }

    /// Accepts no more remarks: later ones would repeat earlier ones.
    pub fn hush(&self) {
        self.hushed.store(true, Ordering::Relaxed);
    }

    /// The warnings since they were last taken.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.warned))
    }
}

impl Caller for Program {
    fn spelling(&self) -> Spelling {
        Spelling::Keywords
    }

    fn tell(&self, remark: &str) {
        if !self.hushed.load(Ordering::Relaxed) {
            lock(&self.told).push(remark.to_string());
        }
    }

    fn warn(&self, warning: &str) {
        lock(&self.warned).push(warning.to_string());
    }

    // It takes the answer.
    fn print(&self, _: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn read(&self, _: u64) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    // It has the flag.
    fn listen(&self, _: &Arc<AtomicBool>, _: &'static str) -> Result<(), Failure> {
        Ok(())
    }

    fn stopping(&self) {}

    fn bar(&self, total: u64) -> Arc<dyn Bar> {
        let tally = Arc::new(Tally { total: total.into(), ..Tally::default() });
        *lock(&self.tally) = Some(Arc::clone(&tally));
        tally
    }
}

/// Work that is counted.
#[derive(Default)]
struct Tally {
    total: AtomicU64,
    done: AtomicU64,
    message: Mutex<String>,
}

impl Tally {
    fn progress(&self) -> Progress {
        let [done, total] = [&self.done, &self.total].map(|count| count.load(Ordering::Relaxed));
        Progress { done, total, message: lock(&self.message).clone() }
    }
}

impl Bar for Tally {
    fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    fn set_done(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn add(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    fn say(&self, message: String) {
        *lock(&self.message) = message;
    }

    fn tick(&self) {}

    fn close(&self) {}
}
