// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A table as Arrow: built once, and passed on by the Arrow C interface without a copy.
//!
//! A number that is not defined is null, as in the Parquet files of the command line; texts are UTF-8. The metadata of a column has
//! the definition of its metric.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ffi::{self, FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use kneepoint::measure::Subject;
use kneepoint::metric::{Better, Metric};
use kneepoint::report::PARTS;
use kneepoint::table::{Cell, Records, defined};
use kneepoint::visible::visible;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// A table. Dataframes read it by the Arrow C interface: `polars.DataFrame(rows)`, `pyarrow.table(rows)`.
#[pyclass(frozen, module = "kneepoint")]
pub struct Rows {
    batch: RecordBatch,
}

/// The suffix of a metric's key for the half width of its confidence interval.
const HALF_WIDTH: &str = "_half_width";

impl Rows {
    /// The records of a table with this name.
    pub fn new(name: &str, records: &Records) -> PyResult<Rows> {
        let columns = records.columns.iter().enumerate().map(|(place, column)| {
            let cells = records.rows.iter().map(|row| &row[place]);
            let array: ArrayRef = match records.is_text(place) {
                true => Arc::new(cells.map(Cell::known).collect::<StringArray>()),
                false => Arc::new(cells.map(Cell::number).collect::<Float64Array>()),
            };
            let field = Field::new(column, array.data_type().clone(), true);
            (Arc::new(field.with_metadata(definition(name, column))), array)
        });
        let (fields, arrays): (Vec<_>, Vec<_>) = columns.unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(broken)?;
        Ok(Rows { batch })
    }

    fn column(&self, name: &str) -> Option<&ArrayRef> {
        self.batch.column_by_name(name)
    }
}

#[pymethods]
impl Rows {
    /// The table as an ArrowArrayStream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer that wants other types converts them.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// The table as an ArrowArray of structs, with its schema.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let (array, _): (FFI_ArrowArray, _) =
            ffi::to_ffi(&StructArray::from(self.batch.clone()).into_data()).map_err(broken)?;
        Ok((self.__arrow_c_schema__(py)?, PyCapsule::new_with_value(py, array, c"arrow_array")?))
    }

    /// The schema alone.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The names of the columns, which contain the units.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The definitions of the columns that have one, by name.
    #[getter]
    fn definitions(&self) -> BTreeMap<String, BTreeMap<String, String>> {
        let schema = self.batch.schema();
        let defined = schema.fields().iter().filter(|field| !field.metadata().is_empty());
        defined.map(|field| (field.name().clone(), field.metadata().clone().into())).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column as a list; NaN for a number that is not defined, None for a text.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let array = self.column(column).ok_or_else(|| {
            let names = self.columns();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let close = kneepoint::suggest::did_you_mean(column, &names);
            pyo3::exceptions::PyKeyError::new_err(format!("no column is called `{column}`; {close}"))
        })?;
        let any = array.as_any();
        match (any.downcast_ref::<Float64Array>(), any.downcast_ref::<StringArray>()) {
            (Some(numbers), _) => numbers
                .iter()
                .map(|number| number.unwrap_or(f64::NAN))
                .collect::<Vec<_>>()
                .into_bound_py_any(py),
            (_, Some(texts)) => texts.iter().collect::<Vec<_>>().into_bound_py_any(py),
            _ => Err(PyTypeError::new_err("columns are of numbers or texts")),
        }
    }

    /// A `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Rows>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// A `pyarrow.Table`.
    fn to_pyarrow<'py>(slf: &Bound<'py, Rows>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.getattr("table")?.call1((slf,))
    }

    /// A `pandas.DataFrame`.
    fn to_pandas<'py>(slf: &Bound<'py, Rows>) -> PyResult<Bound<'py, PyAny>> {
        let frame = slf.py().import("pandas")?.getattr("DataFrame")?;
        // Before pandas 3, by way of a table of pyarrow.
        match frame.getattr_opt("from_arrow")? {
            Some(from_arrow) => from_arrow.call1((slf,)),
            None => Rows::to_pyarrow(slf)?.call_method0("to_pandas"),
        }
    }

    /// Only this library makes tables, but they can be copied between processes.
    fn __reduce__<'py>(slf: &Bound<'py, Rows>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let rows = slf.get();
        let column = |field: &Arc<Field>| -> PyResult<_> {
            let values = rows.__getitem__(slf.py(), field.name())?.unbind();
            Ok((field.name().clone(), values, field.metadata().clone().into()))
        };
        let schema = rows.batch.schema();
        let parts = schema.fields().iter().map(column).collect::<PyResult<Vec<_>>>()?;
        Ok((slf.py().get_type::<Rows>().getattr("_from_columns")?, (parts,)))
    }

    /// The inverse of `__reduce__`.
    #[staticmethod]
    fn _from_columns(
        py: Python<'_>,
        columns: Vec<(String, Py<PyAny>, BTreeMap<String, String>)>,
    ) -> PyResult<Rows> {
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (name, values, metadata) in columns {
            let (kind, array): (_, ArrayRef) = match values.extract::<Vec<f64>>(py) {
                Ok(numbers) => {
                    (DataType::Float64, Arc::new(numbers.into_iter().map(defined).collect::<Float64Array>()))
                }
                Err(_) => {
                    (DataType::Utf8, Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>(py)?)))
                }
            };
            fields.push(Field::new(name, kind, true).with_metadata(metadata));
            arrays.push(array);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(broken)?;
        Ok(Rows { batch })
    }

    fn __repr__(&self) -> String {
        format!(
            "Rows({} × {}: {})",
            self.batch.num_rows(),
            self.batch.num_columns(),
            self.columns().join(", ")
        )
    }

    /// The first rows as a table of HTML, with the definitions of columns as tooltips.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 20;
        let columns = self.columns();
        let definitions = self.definitions();
        let values = PyDict::new(py);
        for column in &columns {
            values.set_item(column, self.__getitem__(py, column)?)?;
        }
        let mut html = String::from("<table><thead><tr>");
        for column in &columns {
            let title = definitions.get(column).and_then(|known| known.get("title")).cloned();
            let title = escaped(&title.unwrap_or_default());
            html += &format!("<th title=\"{title}\">{}</th>", escaped(column));
        }
        html += "</tr></thead><tbody>";
        for row in 0..self.batch.num_rows().min(SHOWN) {
            html += "<tr>";
            for column in &columns {
                let cell = values.as_any().get_item(column)?.get_item(row)?.str()?.to_string();
                html += &format!("<td>{}</td>", escaped(&cell));
            }
            html += "</tr>";
        }
        html += "</tbody></table>";
        if self.batch.num_rows() > SHOWN {
            html += &format!("<p>{SHOWN} of {} rows</p>", self.batch.num_rows());
        }
        Ok(html)
    }
}

/// The function that makes a table again.
type Parts = (Vec<(String, Py<PyAny>, BTreeMap<String, String>)>,);

/// The definition of the metric in a column of a table; nothing for labels.
fn definition(table: &str, column: &str) -> BTreeMap<String, String> {
    let (key, half) = column.strip_suffix(HALF_WIDTH).map_or((column, false), |key| (key, true));
    let part = PARTS.iter().find(|(name, _)| *name == table).map(|(_, subject)| *subject);
    let own = part.unwrap_or(Subject::Run);
    let of = |subject: Subject| subject.metrics().iter().find(|metric| metric.key == key);
    let Some(metric) = of(own).or_else(|| Subject::ALL.iter().copied().find_map(of)) else {
        return BTreeMap::new();
    };
    let Metric { title, unit, scale, better, .. } = metric;
    let title = if half { format!("{title}: half width of the confidence interval") } else { title.clone() };
    let better = better.map(|better| match better {
        Better::Less => "less",
        Better::More => "more",
    });
    let facts = [
        ("title", Some(title)),
        ("unit_for_people", (!unit.is_empty()).then(|| unit.to_string())),
        ("factor_to_unit_for_people", (*scale != 1.0).then(|| scale.to_string())),
        ("better", better.filter(|_| !half).map(str::to_string)),
    ];
    facts.into_iter().filter_map(|(name, fact)| Some((name.to_string(), fact?))).collect()
}

fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn broken(error: arrow_schema::ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("the table cannot be handed over: {error}"))
}
