// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A verb at work on a thread of its own. Python waits for it in short steps without the lock of the interpreter, and looks at its
//! signals and the progress between them.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Parser;
use kneepoint_cli::Knee;
use kneepoint_cli::answer::Answer as Answered;
use kneepoint_cli::failure::Failure;
use kneepoint_cli::host::{self, Progress, Share};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::algorithms::{self, Algorithm, Raised};
use crate::errors;
use crate::result::Answer;

/// One call at a time works; others wait their turn. Each uses every core anyway.
static TURN: Mutex<()> = Mutex::new(());

/// Where a call is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Working,
    Stopped,
}

/// Why there is no answer.
enum Refused {
    Words(String),
    Failed(Failure),
    /// Only a part of the runs was asked for; these are still missing, with about how much work each is.
    Part(Vec<(String, u64)>),
}

impl Refused {
    /// A verb that stopped without an error leaves runs to others.
    fn planned(self, host: &host::Host) -> Refused {
        match self {
            Refused::Failed(Failure::Said(0)) => Refused::Part(host.take_planned()),
            other => other,
        }
    }
}

/// A verb at work.
#[pyclass(frozen, module = "kneepoint._native")]
pub struct Call {
    stage: Arc<Mutex<Stage>>,
    outcome: Mutex<Outcome>,
    /// The failure of an algorithm, which the call raises whatever else it found.
    raised: Arc<Raised>,
}

enum Outcome {
    Coming(Receiver<Result<Answered, Refused>>),
    Here(Box<Result<Answered, Refused>>),
    Lost,
    Taken,
}

#[pymethods]
impl Call {
    /// Starts a verb with these words of the command line; `-` reads `input`. With `files` it also writes what the command line writes.
    /// With `only` it makes and keeps the missing runs of these names, and with none of them it says which are missing; neither has an
    /// answer. Words and scenarios may name the algorithms.
    #[new]
    #[pyo3(signature = (words, input = None, files = false, only = None, algorithms = Vec::new()))]
    fn new(
        py: Python<'_>,
        words: Vec<String>,
        input: Option<String>,
        files: bool,
        only: Option<Vec<String>>,
        algorithms: Vec<Algorithm>,
    ) -> PyResult<Call> {
        if algorithms::within() {
            let message = "an algorithm cannot call a verb: its own run is under way";
            return Err(errors::exception(
                py,
                "UsageError",
                (message, "call it before the run, and keep the answer"),
            ));
        }
        let raised = Arc::new(Raised::default());
        let extensions = algorithms::extensions(py, algorithms, &raised)?;
        let share = match only {
            None => Share::All,
            Some(names) if names.is_empty() => Share::None,
            Some(names) => Share::Only(names.into_iter().collect()),
        };
        let host = host::embed();
        host.surround(algorithms::attended);
        let stage = Arc::new(Mutex::new(Stage::Waiting));
        let (own, failed, (sender, receiver)) = (Arc::clone(&stage), Arc::clone(&raised), channel());
        std::thread::spawn(move || {
            let _turn = lock(&TURN);
            {
                let mut now = lock(&own);
                host.begin(&words, input, share, extensions);
                failed.stop_the_call();
                match *now {
                    // Asked to stop before it began.
                    Stage::Stopped => host.stop(),
                    _ => *now = Stage::Working,
                }
            }
            let answer = answer(&words, files).map_err(|refused| refused.planned(host));
            *lock(&own) = Stage::Stopped;
            // The caller may have left.
            let _ = sender.send(answer);
        });
        Ok(Call { stage, outcome: Mutex::new(Outcome::Coming(receiver)), raised })
    }

    /// Waits at most so long; whether the call has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        py.detach(|| {
            let mut outcome = lock(&self.outcome);
            let Outcome::Coming(receiver) = &*outcome else { return true };
            let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            *outcome = match receiver.recv_timeout(limit) {
                Ok(answer) => Outcome::Here(Box::new(answer)),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => Outcome::Lost,
            };
            true
        })
    }

    /// Asks it to stop, as Ctrl-C does; finished runs are kept.
    fn stop(&self) {
        let mut stage = lock(&self.stage);
        if *stage == Stage::Working {
            host::embed().stop();
        }
        *stage = Stage::Stopped;
    }

    /// Work done, all of the work, and how many runs that is; None before the first run.
    fn progress(&self) -> Option<(u64, u64, String)> {
        let working = *lock(&self.stage) == Stage::Working;
        let Progress { done, total, message } = host::embed().progress().filter(|_| working)?;
        Some((done, total, message))
    }

    /// What the verb remarked since it was last asked.
    fn remarks(&self) -> Vec<String> {
        host::embed().take_remarks()
    }

    /// Warnings since they were last asked for, such as of damaged runs.
    fn warnings(&self) -> Vec<String> {
        host::embed().take_warnings()
    }

    /// What was found out, once.
    fn answer(&self, py: Python<'_>) -> PyResult<Answer> {
        self.raised.check()?;
        match std::mem::replace(&mut *lock(&self.outcome), Outcome::Taken) {
            Outcome::Here(answer) => match *answer {
                Ok(answer) => Answer::new(answer),
                Err(Refused::Words(message)) => {
                    Err(errors::exception(py, "UsageError", (message, None::<String>)))
                }
                Err(Refused::Part(missing)) => Err(errors::exception(py, "Part", (missing,))),
                Err(Refused::Failed(failure)) => Err(errors::of_failure(py, failure)),
            },
            Outcome::Lost => Err(PyRuntimeError::new_err(
                "the laboratory broke down; please report this with the call that did it",
            )),
            Outcome::Coming(_) | Outcome::Taken => {
                Err(PyRuntimeError::new_err("wait for the call first, and take its answer once"))
            }
        }
    }
}

/// The words parsed and acted upon.
fn answer(given: &[String], files: bool) -> Result<Answered, Refused> {
    let parsed = |words: &[&str]| {
        let all = std::iter::once("knee").chain(words.iter().copied());
        Knee::try_parse_from(all).map_err(|error| Refused::Words(error.render().to_string()))
    };
    let mut left: Vec<&str> = given.iter().map(String::as_str).collect();
    if files {
        parsed(&left)?.act().map_err(Refused::Failed)?;
        // What was just made is read back.
        left.retain(|word| *word != "--fresh");
    }
    parsed(&left)?.answer().map_err(Refused::Failed)
}

/// A lock that a panic does not poison.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
