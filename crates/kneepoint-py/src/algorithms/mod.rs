// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms written in Python, as extensions of the registries.
//!
//! | file | what it does |
//! |---|---|
//! | `body.rs` | an object of Python that takes calls, until one of them fails |
//! | `parameters.rs` | parameters declared in Python |
//! | `draws.rs` | the random stream of a run, lent for a call |
//! | `controller.rs`, `queue.rs`, `source.rs` | the three contracts: signals for Python, answers from it |
//!
//! Signals have the names of the Rust contract, with units: times end in `_s`, rates in `_bps`, data in `_bytes`; windows are packets.

mod body;
mod controller;
mod draws;
mod parameters;
mod queue;
mod source;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use kneepoint::scenario::Extensions;
use kneepoint::settings::External;
use pyo3::prelude::*;

use body::{Class, Definition};
pub use body::{Raised, within};
use parameters::Parameters;

use crate::errors;

/// An algorithm as `kneepoint.algorithms` describes it.
#[derive(FromPyObject)]
pub struct Algorithm {
    kind: Class,
    name: String,
    about: String,
    /// A hash of its code. Without one its runs are not kept.
    version: Option<String>,
    parameters: Vec<parameters::Declared>,
    make: Py<PyAny>,
}

/// Adds the signals to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<draws::Draws>()?;
    controller::add_to(module)?;
    queue::add_to(module)?;
    source::add_to(module)
}

/// Raises faults of algorithms: a name that is taken, a parameter out of its range, a source that cannot be made.
#[pyfunction]
pub fn check_algorithms(py: Python<'_>, algorithms: Vec<Algorithm>) -> PyResult<()> {
    let raised = Arc::new(Raised::default());
    extensions(py, algorithms, &raised).map(drop)
}

/// The algorithms as extensions. Exceptions of their code go to `raised`.
pub fn extensions(py: Python<'_>, algorithms: Vec<Algorithm>, raised: &Arc<Raised>) -> PyResult<Extensions> {
    let mut known = Extensions::NONE;
    for algorithm in algorithms {
        let Algorithm { kind, name, about, version, parameters, make } = algorithm;
        let parameters = Parameters::declare(py, parameters)?;
        let (name, version) = (lasting(&name), version.as_deref().map(lasting));
        let header = lasting(&about.lines().map(|line| format!("//! {line}\n")).collect::<String>());
        let definition = Arc::new(Definition { class: kind, name, make, raised: Arc::clone(raised) });
        let added = match kind {
            Class::Controller => {
                known.controller(external(definition, header, parameters, version, controller::make))
            }
            Class::Queue => known.queue(external(definition, header, parameters, version, queue::make)),
            Class::Source => known.source(external(definition, header, parameters, version, source::make)),
        };
        // The name of a source that could not be made is not to blame.
        raised.check()?;
        known = added.map_err(|why| errors::exception(py, "UsageError", (why, None::<String>)))?;
    }
    Ok(known)
}

/// An external algorithm, whose objects `make` creates.
fn external<C: 'static, A: 'static>(
    definition: Arc<Definition>,
    source: &'static str,
    parameters: Parameters,
    version: Option<&'static str>,
    make: fn(&Arc<Definition>, &Parameters, C) -> A,
) -> External<C, A> {
    let name = definition.name;
    let of = move |given: Parameters, context: C| make(&definition, &given, context);
    let external = External::with(name, source, parameters, of);
    match version {
        Some(version) => external.versioned(version),
        None => external,
    }
}

/// Does the work of a thread that calls Python often. Without a call around them all, each would make and destroy what the interpreter
/// keeps for a thread, which takes longer than most calls.
pub fn attended(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// A text that lasts as long as the process, as names of algorithms do; one copy of each.
fn lasting(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let text: &'static str = text.to_string().leak();
    texts.insert(text);
    text
}
