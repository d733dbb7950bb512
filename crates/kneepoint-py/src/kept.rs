// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files of kept runs that come from elsewhere: from workers, and from stores at a URL.

use std::path::PathBuf;

use kneepoint_bench::program;
use kneepoint_bench::store::{self, Fault, Store};
use pyo3::prelude::*;

use crate::errors;

/// The fault of a run's file, and whether it is damage; otherwise another version wrote it. None for one that can be
/// read.
type Wrong = Option<(String, bool)>;

fn wrong(fault: Option<Fault>) -> Wrong {
    fault.map(|fault| (fault.to_string(), matches!(fault, Fault::Damaged(_))))
}

/// The fault of the file of a run.
#[pyfunction]
pub fn fault(py: Python<'_>, name: &str, content: &[u8]) -> Wrong {
    py.detach(|| wrong(store::fault(name, content)))
}

/// Keeps the file of a run in a directory that there is, unless something is wrong with it.
#[pyfunction]
pub fn keep(py: Python<'_>, folder: PathBuf, name: &str, content: &[u8]) -> PyResult<Wrong> {
    // Opened once for each of thousands of files, it would be swept as often.
    let kept = py.detach(|| Store::at(&program::session(), Some(&folder)).take(name, content));
    kept.map(wrong).map_err(|failure| errors::of_failure(py, failure))
}
