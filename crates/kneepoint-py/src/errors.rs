// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Failures as exceptions of `kneepoint.errors`: the class gives the kind, the message is the command line's.

use kneepoint::visible::visible;
use kneepoint_bench::failure::{Complaint, Failure, line_and_column};
use kneepoint_cli::failure::render_faults_plainly;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// The module of the exceptions.
const ERRORS: &str = "kneepoint.errors";

/// An exception of a class with these arguments.
pub fn exception<'py>(py: Python<'py>, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = || py.import(ERRORS)?.getattr(class)?.call1(arguments);
    made().map_or_else(|error| error, PyErr::from_value)
}

/// Message and remedy, whose characters are all visible.
fn told(complaint: &Complaint) -> (String, Option<String>) {
    let shown = |text: &str| visible(text).into_owned();
    (shown(complaint.message()), complaint.remedy().map(shown))
}

/// The exception for a failure.
pub fn of_failure(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Usage(complaint) => exception(py, "UsageError", told(&complaint)),
        Failure::Run(complaint) => exception(py, "RunError", told(&complaint)),
        Failure::Scenario { origin, text, faults } => {
            let fault = |fault: &kneepoint::scenario::Fault| {
                let (line, column) = line_and_column(&text, fault.span.start);
                (line, column, fault.message.clone(), fault.help.clone()).into_py_any(py)
            };
            match faults.iter().map(fault).collect::<PyResult<Vec<_>>>() {
                Ok(told) => {
                    let message = render_faults_plainly(&origin, &text, &faults);
                    exception(py, "ScenarioError", (message, origin, text, told))
                }
                Err(error) => error,
            }
        }
        Failure::Interrupted(message) => exception(py, "Interrupted", (message, None::<Py<PyAny>>)),
        Failure::Left(left) => {
            let remedy = "call it again without `shard` when the other shards are done";
            exception(py, "RunError", (left.text(), remedy))
        }
        Failure::ReaderLeft | Failure::Said(_) => {
            exception(py, "RunError", ("the verb stopped without a message", None::<String>))
        }
    }
}
