// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An object of Python that receives calls, until one of them fails. A failure stops the call of the laboratory and is raised by it.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kneepoint::rng::Rng;
use kneepoint::units::Time;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use super::draws::Draws;
use super::parameters::Parameters;
use crate::errors;

/// The first failure of an algorithm in a call of the laboratory.
#[derive(Default)]
pub struct Raised {
    first: Mutex<Option<PyErr>>,
    stop: Arc<AtomicBool>,
}

impl Raised {
    /// The flag that a failure sets, by which the call is stopped.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Raises the failure, if there is one.
    pub fn check(&self) -> PyResult<()> {
        self.lock().take().map_or(Ok(()), Err)
    }

    fn set(&self, error: PyErr) {
        let mut first = self.lock();
        if first.is_none() {
            *first = Some(error);
        }
        // A later one is dropped outside the lock: its destructor may be code of Python.
        drop(first);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kind of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Controller,
    Queue,
    Source,
}

impl Class {
    const ALL: [Class; 3] = [Class::Controller, Class::Queue, Class::Source];

    /// The word for it in Python and in messages.
    fn word(self) -> &'static str {
        match self {
            Class::Controller => "controller",
            Class::Queue => "queue",
            Class::Source => "source",
        }
    }
}

impl FromPyObject<'_, '_> for Class {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Class> {
        let given: String = object.extract()?;
        let found = Class::ALL.into_iter().find(|class| class.word() == given);
        found.ok_or_else(|| {
            let words = Class::ALL.map(Class::word).join(", ");
            PyValueError::new_err(format!("`{given}` is not a kind of algorithm; expected one of {words}"))
        })
    }
}

/// State shared by the objects of an algorithm.
pub struct Definition {
    pub class: Class,
    pub name: &'static str,
    pub make: Py<PyAny>,
    pub raised: Arc<Raised>,
}

/// The reason why a call failed.
pub enum Trouble {
    /// The code raised an exception.
    Raised(PyErr),
    /// The code answered with something that is not allowed; the remedy.
    Wrong(String, &'static str),
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Trouble {
        Trouble::Raised(error)
    }
}

/// The outcome of a call.
pub type Outcome<T> = Result<T, Trouble>;

/// A call: the method, and the time in the run.
#[derive(Clone, Copy, Debug)]
pub struct At(pub &'static str, pub Time);

impl fmt::Display for At {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let At(method, now) = self;
        write!(out, "{method} at {} s", now.as_secs_f64())
    }
}

thread_local! {
    /// Whether the code of an algorithm is running on this thread.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether an algorithm is the caller. A verb there would need the cores and the memory of the algorithm's own run.
pub fn within() -> bool {
    WITHIN.get()
}

/// Does something with the code of an algorithm.
fn attach<T>(act: impl FnOnce(Python<'_>) -> T) -> T {
    let before = WITHIN.replace(true);
    let done = Python::attach(act);
    WITHIN.set(before);
    done
}

/// An object of Python with the stream from which it draws.
pub struct Body {
    definition: Arc<Definition>,
    /// Nothing after a failure.
    object: Option<(Py<PyAny>, Py<Draws>)>,
}

impl Body {
    /// Makes an object, `make(context, **parameters)`; `read` asks once for its description.
    pub fn new<T>(
        definition: &Arc<Definition>,
        parameters: &Parameters,
        context: impl FnOnce(Python<'_>, Py<Draws>) -> PyResult<Py<PyAny>>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> Outcome<T>,
    ) -> (Body, Option<T>) {
        let made = attach(|py| {
            let make = || -> Outcome<_> {
                let draws = Py::new(py, Draws::default())?;
                let context = context(py, draws.clone_ref(py))?;
                let object = definition.make.bind(py).call((context,), Some(&parameters.keywords(py)?))?;
                let told = read(&object)?;
                Ok(((object.unbind(), draws), told))
            };
            make().map_err(|trouble| definition.fail(py, &"__init__", trouble)).ok()
        });
        let (object, told) = made.unzip();
        (Body { definition: Arc::clone(definition), object }, told)
    }

    /// Calls the object, if no call of it has failed. It can draw from `rng` meanwhile.
    pub fn call<T>(
        &mut self,
        at: At,
        rng: Option<&mut Rng>,
        act: impl FnOnce(&Bound<'_, PyAny>) -> Outcome<T>,
    ) -> Option<T> {
        let (object, draws) = self.object.as_ref()?;
        let answer = attach(|py| {
            let object = object.bind(py);
            let acted = match rng {
                None => act(object),
                Some(rng) => {
                    draws.get().lend(rng);
                    let acted = act(object);
                    draws.get().give_back(rng);
                    acted
                }
            };
            acted.map_err(|trouble| self.definition.fail(py, &at, trouble)).ok()
        });
        if answer.is_none() {
            self.object = None;
        }
        answer
    }

    /// An object that is wrong for a reason that only several calls show.
    pub fn refuse(&mut self, at: At, wrong: String, remedy: &'static str) {
        Python::attach(|py| self.definition.fail(py, &at, Trouble::Wrong(wrong, remedy)));
        self.object = None;
    }
}

/// A copy has a copy of the object, which draws from its own stream.
impl Clone for Body {
    fn clone(&self) -> Body {
        let object = self.object.as_ref().and_then(|pair| {
            Python::attach(|py| {
                let copy = || -> Outcome<_> {
                    let pair = (pair.0.bind(py), pair.1.bind(py));
                    let copied = py.import("copy")?.call_method1("deepcopy", (pair,))?;
                    Ok(copied.extract::<(Py<PyAny>, Py<Draws>)>()?)
                };
                copy().map_err(|trouble| self.definition.fail(py, &"__deepcopy__", trouble)).ok()
            })
        });
        Body { definition: Arc::clone(&self.definition), object }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} in Python", self.definition.name)
    }
}

impl Definition {
    /// Records why a call failed, as the exception that the laboratory raises.
    fn fail(&self, py: Python<'_>, at: &dyn fmt::Display, trouble: Trouble) {
        let Definition { class, name, .. } = self;
        let what = format!("the {} `{name}`", class.word());
        let error = match trouble {
            // A request to stop is not a failure of the algorithm.
            Trouble::Raised(error) if !error.is_instance_of::<PyException>(py) => error,
            Trouble::Raised(cause) => {
                let message = format!("{what} failed in {at}: {cause}");
                let remedy = "the traceback of its cause, `__cause__`, shows the line";
                let error = errors::exception(py, "RunError", (message, remedy));
                error.set_cause(py, Some(cause));
                error
            }
            Trouble::Wrong(wrong, remedy) => {
                let message = format!("{what}, after {at}: {wrong}");
                errors::exception(py, "RunError", (message, remedy))
            }
        };
        self.raised.set(error);
    }
}

/// An attribute that is one of these names, the first without it.
pub fn choice<T: Copy>(object: &Bound<'_, PyAny>, attribute: &str, names: &[(&str, T)]) -> Outcome<T> {
    let Some(given) = object.getattr_opt(attribute)? else { return Ok(names[0].1) };
    let text = given.extract::<String>().unwrap_or_default();
    names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names = names.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let message = format!("{attribute} is {}; expected one of {names}", shown(&given));
        Trouble::Wrong(message, "set it as an attribute of the class, or leave it out for the first")
    })
}

/// A value as Python shows it.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "something that cannot be shown".to_string(), |text| text.to_string())
}
