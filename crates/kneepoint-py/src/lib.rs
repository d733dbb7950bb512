// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The laboratory in Python: the verbs of `knee` in this process, and their rows over the Arrow C interface.
//!
//! | file | what it does |
//! |---|---|
//! | `call.rs` | a verb at work on its own thread, so that Python stays with its signals |
//! | `episode.rs` | a run in steps, with one transfer steered from outside |
//! | `result.rs` | what a verb found out |
//! | `rows.rs` | a table as Arrow, and the definitions of its columns |
//! | `words.rs` | the verbs and their options, for signatures and stubs |
//! | `algorithms/` | controllers, queue disciplines and sources of traffic written in Python |
//! | `kept.rs` | files of kept runs that come from elsewhere |
//! | `errors.rs` | failures as exceptions |

mod algorithms;
mod call;
mod episode;
mod errors;
mod kept;
mod result;
mod rows;
mod words;

use pyo3::prelude::*;

/// The native part of the package `kneepoint`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<call::Call>()?;
    module.add_class::<episode::Episode>()?;
    module.add_class::<result::Answer>()?;
    module.add_class::<rows::Rows>()?;
    algorithms::add_to(module)?;
    module.add_function(wrap_pyfunction!(algorithms::check_algorithms, module)?)?;
    module.add_function(wrap_pyfunction!(kept::fault, module)?)?;
    module.add_function(wrap_pyfunction!(kept::keep, module)?)?;
    module.add_function(wrap_pyfunction!(words::verbs, module)?)?;
    module.add_function(wrap_pyfunction!(words::schema, module)?)?;
    module.add_function(wrap_pyfunction!(words::check, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
