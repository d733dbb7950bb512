// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The answer of a verb, for Python.

use std::sync::Arc;

use kneepoint::report::format::{html, text};
use kneepoint_bench::answer::{Answer as Answered, Series};
use kneepoint_bench::program::Program;
use kneepoint_bench::session::Session;
use pyo3::prelude::*;

use crate::errors;
use crate::rows::Rows;

/// The answer of a verb.
#[pyclass(frozen, module = "kneepoint._native")]
pub struct Answer {
    /// The report in the terminal's form.
    #[pyo3(get)]
    text: String,
    /// The report as a page.
    #[pyo3(get)]
    html: String,
    /// The outcome as `--json` prints it.
    #[pyo3(get)]
    json: String,
    /// Names and SVG files of the charts.
    #[pyo3(get)]
    figures: Vec<(String, String)>,
    /// The reason why runs are missing, if some are.
    #[pyo3(get)]
    unfinished: Option<String>,
    tables: Vec<(String, Py<Rows>)>,
    series: Series,
    /// The call, which later reads series.
    session: Arc<Session>,
    program: Arc<Program>,
}

impl Answer {
    /// The same with everything written.
    pub fn new(answer: Answered, (session, program): (Arc<Session>, Arc<Program>)) -> PyResult<Answer> {
        let Answered { document, json, tables, series, unfinished } = answer;
        let pictures = document.pictures().into_iter();
        let figures = pictures.map(|one| (one.name, one.drawing.standalone())).collect();
        let table = |(name, records): (String, _)| {
            let rows = Rows::new(&name, &records)?;
            Python::attach(|py| Ok((name, Py::new(py, rows)?)))
        };
        Ok(Answer {
            text: text::render(&document),
            html: html::render(&document),
            json,
            figures,
            unfinished,
            tables: tables.into_iter().map(table).collect::<PyResult<_>>()?,
            series,
            session,
            program,
        })
    }
}

#[pymethods]
impl Answer {
    /// Warnings since the last call of this, such as of damaged series.
    fn warnings(&self) -> Vec<String> {
        self.program.take_warnings()
    }

    /// Names of the tables, and of the series of runs.
    fn names(&self) -> Vec<String> {
        let tables = self.tables.iter().map(|(name, _)| name.as_str());
        tables.chain(self.series.names()).map(str::to_string).collect()
    }

    /// A table or a series by its name; the first table without one.
    #[pyo3(signature = (name = None))]
    fn table(&self, py: Python<'_>, name: Option<&str>) -> PyResult<Option<Py<Rows>>> {
        let found = match name {
            None => self.tables.first(),
            Some(name) => self.tables.iter().find(|(other, _)| other == name),
        };
        if let Some((_, rows)) = found {
            return Ok(Some(rows.clone_ref(py)));
        }
        let series = py.detach(|| name.map_or(Ok(None), |name| self.series.get(&self.session, name)));
        let Some(series) = series.map_err(|failure| errors::of_failure(py, failure))? else {
            return Ok(None);
        };
        Ok(Some(Py::new(py, Rows::new("series", &series)?)?))
    }
}
