// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A session: all state of a call of the laboratory. None of it belongs to the process, so that several calls work in one process at
//! the same time.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};

use kneepoint::cc;
use kneepoint::report::json;
use kneepoint::scenario::{Extensions, Fault, Plan};
use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint::visible::visible;
use serde::Serialize;

use crate::failure::Failure;

/// Runs the work of a thread that makes runs, in the context that the caller's algorithms need.
pub type Around = fn(&mut (dyn FnMut() + Send));

/// A run to be made: its name, about how much work it is, and the bytes of memory that it takes.
pub type Planned = (String, u64, u64);

/// The missing runs that a call makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Share {
    /// All of them.
    #[default]
    All,
    /// None: lists the existing ones, and stops.
    None,
    /// The ones with these names, and then it stops.
    Only(BTreeSet<String>),
}

/// The caller's notation of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `--store DIR`
    Dashes,
    /// `store="DIR"`
    Keywords,
}

impl Spelling {
    /// An option, with a value unless that is empty.
    pub fn option(self, name: &str, value: &str) -> String {
        match (self, value.is_empty()) {
            (Spelling::Dashes, true) => format!("--{name}"),
            (Spelling::Dashes, false) => format!("--{name} {value}"),
            (Spelling::Keywords, true) => name.to_string(),
            (Spelling::Keywords, false) => format!("{name}=\"{value}\""),
        }
    }
}

/// Progress in the caller's form. Workers share it.
pub trait Bar: Send + Sync {
    /// All of the work, in its own units.
    fn set_total(&self, total: u64);
    /// This much of the work is done.
    fn set_done(&self, done: u64);
    /// This much more of the work is done.
    fn add(&self, done: u64);
    /// The number of runs that this is.
    fn say(&self, message: String);
    /// Shows the time that passes also while no work is reported.
    fn tick(&self);
    /// The work has ended.
    fn close(&self);
}

/// The caller: a person at a terminal, or a program.
pub trait Caller: Send + Sync {
    /// Their notation of options.
    fn spelling(&self) -> Spelling;
    /// Takes a remark.
    fn tell(&self, remark: &str);
    /// Takes a warning, which is always shown.
    fn warn(&self, warning: &str);
    /// Takes the outcome as text, if text is requested.
    fn print(&self, text: &str) -> Result<(), Failure>;
    /// Returns the input of `-`, at most this many bytes.
    fn read(&self, most: u64) -> io::Result<Vec<u8>>;
    /// Sets the flag from now on when the user asks to stop, and prints `message` then.
    fn listen(&self, stop: &Arc<AtomicBool>, message: &'static str) -> Result<(), Failure>;
    /// The call has noticed the request to stop.
    fn stopping(&self);
    /// Shows the progress of this much work.
    fn bar(&self, total: u64) -> Arc<dyn Bar>;
}

/// Another engine than the simulator's, for scenarios that name controllers which only its hosts have.
pub trait Engine: Send + Sync {
    /// Whether this is such a controller.
    fn has(&self, controller: &cc::Config) -> bool;
    /// The reason why it cannot run a scenario with one, if there is one.
    fn refuse(&self, valid: &Valid) -> Option<String>;
    /// What a reader must know of runs with this controller, if anything.
    fn remark(&self, controller: &cc::Config) -> Option<String>;
    /// Makes a run, which `watch` observes as it does a simulation; fails as soon as `stop` says so.
    fn run(
        &self,
        valid: &Valid,
        seed: u64,
        watch: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failure>;
    /// Metrics of which its hosts tell nothing.
    fn unseen(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Additional input of a caller.
#[derive(Default)]
pub struct Given {
    /// The words of the call, without the program's name.
    pub words: Vec<String>,
    /// The input of `-`, if it is already known.
    pub input: Option<String>,
    /// Algorithms of theirs, which words and scenarios may name.
    pub extensions: Extensions,
    /// The engines that run some of them.
    pub engines: Vec<Arc<dyn Engine>>,
    /// The runs that are made.
    pub share: Share,
    /// The flag by which the call is stopped.
    pub stop: Arc<AtomicBool>,
    /// A wrapper around the work of each simulating thread.
    pub around: Option<Around>,
}

/// A call of the laboratory.
pub struct Session {
    caller: Arc<dyn Caller>,
    words: Vec<String>,
    input: OnceLock<String>,
    extensions: Extensions,
    engines: Vec<Arc<dyn Engine>>,
    share: Share,
    stop: Arc<AtomicBool>,
    around: Option<Around>,
    planned: Mutex<Vec<Planned>>,
    few_threads: Once,
}

impl Session {
    /// A call of this caller.
    pub fn new(caller: Arc<dyn Caller>, given: Given) -> Session {
        let Given { words, input, extensions, engines, share, stop, around } = given;
        Session {
            caller,
            words,
            input: input.map_or_else(OnceLock::new, OnceLock::from),
            extensions,
            engines,
            share,
            stop,
            around,
            planned: Mutex::default(),
            few_threads: Once::new(),
        }
    }

    /// Whether the caller is a program, which takes answers and may change its directory meanwhile.
    pub fn is_embedded(&self) -> bool {
        self.spelling() == Spelling::Keywords
    }

    /// The caller's notation of options.
    pub fn spelling(&self) -> Spelling {
        self.caller.spelling()
    }

    /// An option in the caller's notation.
    pub fn option(&self, name: &str, value: &str) -> String {
        self.spelling().option(name, value)
    }

    /// The words of the call.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The caller's algorithms.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The engine that has this controller, if the simulator's hosts do not.
    pub fn engine_of(&self, controller: &cc::Config) -> Option<&dyn Engine> {
        self.engines.iter().map(AsRef::as_ref).find(|engine| engine.has(controller))
    }

    /// The engine of this scenario, if it is not the simulator's.
    pub fn engine(&self, valid: &Valid) -> Option<&dyn Engine> {
        valid.groups().iter().filter_map(|group| group.cc.as_ref()).find_map(|one| self.engine_of(one))
    }

    /// The reason why the hosts of a scenario's controllers cannot run it, if there is one.
    pub fn unfit(&self, valid: &Valid) -> Option<String> {
        let controllers = || valid.groups().iter().filter_map(|group| group.cc.as_ref());
        let engine = self.engine(valid)?;
        let other = controllers().find(|one| !engine.has(one) && self.engine_of(one).is_some());
        other.map_or_else(
            || engine.refuse(valid),
            |other| Some(format!("`{}` runs in other hosts than the other controllers", other.name())),
        )
    }

    /// The reasons why the hosts of its controllers cannot run a plan, each at the name of such a controller in the text of the plan.
    pub fn misfits(&self, text: &str, plan: &Plan) -> Vec<Fault> {
        let mut faults: Vec<Fault> = Vec::new();
        for valid in plan.cases.iter().map(|case| &case.valid) {
            let Some(why) = self.unfit(valid) else { continue };
            let controllers = valid.groups().iter().filter_map(|group| group.cc.as_ref());
            let mut named = controllers.filter(|one| self.engine_of(one).is_some()).map(cc::Config::name);
            let span =
                named.find_map(|name| text.find(name).map(|at| at..at + name.len())).unwrap_or_default();
            let fault = Fault::at(span, why, "leave that out, or name a controller of the laboratory");
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        faults
    }

    /// Refuses controllers that the simulator's hosts lack, which `what` needs.
    pub fn simulated<'c>(
        &self,
        controllers: impl IntoIterator<Item = &'c cc::Config>,
        what: &str,
    ) -> Result<(), Failure> {
        let other = controllers.into_iter().find(|one| self.engine_of(one).is_some());
        other.map_or(Ok(()), |other| {
            let message =
                format!("{what} needs the simulator's hosts, and `{}` runs in its own", other.name());
            Err(Failure::usage(message, "name a controller of the laboratory, such as `cubic`"))
        })
    }

    /// The input of `-`, up to this number of bytes.
    pub fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        match self.input() {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.caller.read(most),
        }
    }

    /// Keeps the text, which can be read only once, for later readers.
    pub fn keep_input(&self, text: &str) {
        let _ = self.input.set(text.to_string());
    }

    /// The text of `-`, if it is already known.
    pub fn input(&self) -> Option<&str> {
        self.input.get().map(String::as_str)
    }

    /// Makes a remark. Control characters are shown as escapes.
    pub fn tell(&self, remark: impl AsRef<str>) {
        self.tell_styled(&visible(remark.as_ref()));
    }

    /// The same for a text with colours, whose inserted parts are made visible.
    pub fn tell_styled(&self, remark: &str) {
        self.caller.tell(remark);
    }

    /// Warns. Control characters are shown as escapes.
    pub fn warn(&self, warning: impl AsRef<str>) {
        self.caller.warn(&visible(warning.as_ref()));
    }

    /// Reports once the number of threads, where it is less than requested.
    pub fn tell_of_threads(&self, remark: impl FnOnce() -> String) {
        self.few_threads.call_once(|| self.tell(remark()));
    }

    /// Prints the outcome; control characters are shown as escapes, which JSON reads back.
    pub fn print(&self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.caller.print(&visible(text.as_ref()))
    }

    /// Prints an outcome as a JSON object with its version.
    pub fn print_json(&self, outcome: &impl Serialize) -> Result<(), Failure> {
        self.print(json::render(outcome))
    }

    /// Lets the caller stop the call from now on.
    pub fn listen(&self) -> Result<(), Failure> {
        self.listen_saying("stopping; finished runs are kept (again to stop at once)")
    }

    /// The same; this is printed when they do.
    pub fn listen_saying(&self, message: &'static str) -> Result<(), Failure> {
        self.caller.listen(&self.stop, message)
    }

    /// Whether the call must stop.
    pub fn asked(&self) -> bool {
        let asked = self.stop.load(Ordering::Relaxed);
        if asked {
            self.caller.stopping();
        }
        asked
    }

    /// Asks the call to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Shows the progress of this much work.
    pub fn bar(&self, total: u64) -> Arc<dyn Bar> {
        self.caller.bar(total)
    }

    /// Does the work of a thread that makes runs.
    pub fn work(&self, mut work: impl FnMut() + Send) {
        match self.around {
            Some(around) => around(&mut work),
            None => work(),
        }
    }

    /// The runs that the call makes.
    pub fn share(&self) -> &Share {
        &self.share
    }

    /// Notes runs that the call leaves to others.
    pub fn plan(&self, runs: impl IntoIterator<Item = Planned>) {
        lock(&self.planned).extend(runs);
    }

    /// The runs that were left to others.
    pub fn take_planned(&self) -> Vec<Planned> {
        std::mem::take(&mut lock(&self.planned))
    }
}

/// A lock that is not poisoned by a panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
