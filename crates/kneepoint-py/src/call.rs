// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A verb at work, with a session and its own thread. Python waits for it in short steps without the lock of the interpreter, and
//! looks at its signals and the progress between them. Several calls may work at the same time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Parser;
use kneepoint_bench::answer::Answer as Answered;
use kneepoint_bench::failure::Failure;
use kneepoint_bench::program::{Program, Progress};
use kneepoint_bench::session::{self, Caller, Given, Planned, Session, Share, lock};
use kneepoint_cli::Knee;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::algorithms::{self, Algorithm, Raised};
use crate::errors;
use crate::result::Answer;

/// The reason why there is no answer.
enum Refused {
    Words(String),
    Failed(Failure),
    /// Only a part of the runs was requested; these are still missing.
    Part(Vec<Planned>),
}

impl Refused {
    /// A verb that stopped without an error leaves runs to others.
    fn planned(self, session: &Session) -> Refused {
        match self {
            Refused::Failed(Failure::Said(0)) => Refused::Part(session.take_planned()),
            other => other,
        }
    }
}

/// A verb at work.
#[pyclass(frozen, module = "kneepoint._native")]
pub struct Call {
    session: Arc<Session>,
    program: Arc<Program>,
    outcome: Mutex<Outcome>,
    /// The failure of an algorithm, which the call raises before any other result.
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
    /// With `only` it makes and keeps the missing runs of these names, and with an empty list it names the missing ones; neither has an
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
        let program = Arc::<Program>::default();
        let (stop, around) = (raised.stop(), Some(algorithms::attended as session::Around));
        let given = Given { words, input, extensions, engines: Vec::new(), share, stop, around };
        let session = Arc::new(Session::new(Arc::clone(&program) as Arc<dyn Caller>, given));
        let (own, answering, (sender, receiver)) = (Arc::clone(&session), Arc::clone(&program), channel());
        std::thread::Builder::new().spawn(move || {
            let answer = answer(&own, &answering, files).map_err(|refused| refused.planned(&own));
            // The caller may have left.
            let _ = sender.send(answer);
        })?;
        Ok(Call { session, program, outcome: Mutex::new(Outcome::Coming(receiver)), raised })
    }

    /// Waits at most so long; returns whether the call has ended.
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

    /// Requests a stop, as Ctrl-C does; finished runs are kept.
    fn stop(&self) {
        self.session.stop();
    }

    /// Work done, all of the work, and how many runs that is; None before the first run.
    fn progress(&self) -> Option<(u64, u64, String)> {
        let Progress { done, total, message } = self.program.progress()?;
        Some((done, total, message))
    }

    /// Remarks of the verb since the last call.
    fn remarks(&self) -> Vec<String> {
        self.program.take_remarks()
    }

    /// Warnings since the last call of this, such as of damaged runs.
    fn warnings(&self) -> Vec<String> {
        self.program.take_warnings()
    }

    /// The answer, available once.
    fn answer(&self, py: Python<'_>) -> PyResult<Answer> {
        self.raised.check()?;
        match std::mem::replace(&mut *lock(&self.outcome), Outcome::Taken) {
            Outcome::Here(answer) => match *answer {
                Ok(answer) => Answer::new(answer, (Arc::clone(&self.session), Arc::clone(&self.program))),
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

/// The words of the call parsed and acted upon.
fn answer(session: &Session, program: &Program, files: bool) -> Result<Answered, Refused> {
    let parsed = |words: &[&str]| {
        let all = std::iter::once("knee").chain(words.iter().copied());
        Knee::try_parse_from(all).map_err(|error| Refused::Words(error.render().to_string()))
    };
    let mut left: Vec<&str> = session.words().iter().map(String::as_str).collect();
    if files {
        parsed(&left)?.act(session).map_err(Refused::Failed)?;
        // Runs just made are read back, which needs no message.
        program.hush();
        left.retain(|word| *word != "--fresh");
    }
    parsed(&left)?.answer(session).map_err(Refused::Failed)
}
