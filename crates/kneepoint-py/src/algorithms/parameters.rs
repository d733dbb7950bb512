// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters declared in Python: a default, which determines the type, and optionally a range and a sentence.
//!
//! ```text
//! True → true or false    3 → whole number    0.5 → number    "5ms", "10mbit", "1500B" → time, rate, data
//! ```
//!
//! Python gets numbers: times in seconds, rates in bits per second, data in bytes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kneepoint::settings::{self, Assign, Field, Raw, Refusal, Setting, describe_range, read_within};
use kneepoint::units::{Bytes, Rate, Span};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};

use super::lasting;
use crate::errors;

/// A parameter as Python declares it.
#[derive(FromPyObject)]
pub struct Declared {
    name: String,
    default: Py<PyAny>,
    least: Option<Py<PyAny>>,
    most: Option<Py<PyAny>>,
    about: String,
}

/// The parameters of an algorithm.
struct Declaration {
    fields: Vec<Field>,
    defaults: Vec<Value>,
    ranges: Vec<Option<(Value, Value)>>,
}

/// The same with values.
#[derive(Clone)]
pub struct Parameters {
    declaration: &'static Declaration,
    values: Vec<Value>,
}

macro_rules! values {
    ($($kind:ident: $type:ty, $given:ident => $python:expr;)*) => {
        /// A value of a parameter.
        #[derive(Clone, Debug)]
        enum Value {
            $( $kind($type), )*
        }

        impl Value {
            /// Reads another value of the same type.
            fn read(&self, raw: &Raw, range: Option<&(Value, Value)>) -> Result<Value, Refusal> {
                match self {
                    $( Value::$kind(_) => {
                        let range = match range {
                            Some((Value::$kind(least), Value::$kind(most))) => Some(*least..=*most),
                            _ => None,
                        };
                        read_within::<$type>(raw, range).map(Value::$kind)
                    } )*
                }
            }

            /// Its declaration, where it is the default.
            fn field(&self, name: &str, about: &str, range: Option<&(Value, Value)>) -> Field {
                let (kind, json) = match self {
                    $( Value::$kind(_) => (<$type as Setting>::KIND, <$type as Setting>::JSON), )*
                };
                let range = match range {
                    $( Some((Value::$kind(least), Value::$kind(most))) => describe_range(Some(*least..=*most)), )*
                    _ => None,
                };
                Field {
                    name: lasting(name),
                    kind,
                    choices: &[],
                    json,
                    values: settings::Values::Written {
                        default: lasting(&self.written()),
                        range: range.as_deref().map(lasting),
                    },
                    doc: lasting(about),
                }
            }

            fn written(&self) -> String {
                match self {
                    $( Value::$kind(value) => value.to_string(), )*
                }
            }

            fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                match self {
                    $( Value::$kind($given) => {
                        use pyo3::IntoPyObjectExt;
                        $python.into_py_any(py)
                    } )*
                }
            }
        }
    };
}
values! {
    Flag: bool, value => value;
    Whole: u64, value => value;
    Number: f64, value => value;
    Time: Span, value => value.as_secs_f64();
    Rate: Rate, value => value.as_f64();
    Data: Bytes, value => value.0;
}

impl Parameters {
    /// Declares these, with their defaults.
    pub fn declare(py: Python<'_>, declared: Vec<Declared>) -> PyResult<Parameters> {
        let mut declaration = Declaration { fields: Vec::new(), defaults: Vec::new(), ranges: Vec::new() };
        for Declared { name, default, least, most, about } in declared {
            let refused = |why: String| {
                let message = format!("parameter `{name}`: {why}");
                errors::exception(py, "UsageError", (message, None::<String>))
            };
            let default = value(default.bind(py)).map_err(&refused)?;
            let end = |end: Py<PyAny>| match default.read(&raw(end.bind(py))?, None) {
                Ok(value) => Ok(value),
                Err(Refusal::Value(why)) => Err(why),
                Err(Refusal::Unknown) => Err(String::new()),
            };
            let range = match (least, most) {
                (Some(least), Some(most)) => {
                    Some((end(least).map_err(&refused)?, end(most).map_err(&refused)?))
                }
                (None, None) => None,
                _ => return Err(refused("a range has two ends: give `least` and `most`".to_string())),
            };
            if let Err(Refusal::Value(why)) = default.read(&raw_of(&default), range.as_ref()) {
                return Err(refused(format!("the default {why}")));
            }
            declaration.fields.push(default.field(&name, &about, range.as_ref()));
            declaration.defaults.push(default);
            declaration.ranges.push(range);
        }
        let declaration = declaration.lasting();
        Ok(Parameters { declaration, values: declaration.defaults.clone() })
    }

    /// Arguments by name.
    pub fn keywords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let keywords = PyDict::new(py);
        for (field, value) in self.declaration.fields.iter().zip(&self.values) {
            keywords.set_item(field.name, value.clone().into_python(py)?)?;
        }
        Ok(keywords)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.declaration.fields.iter().position(|field| field.name == name)
    }
}

impl Assign for Parameters {
    fn declared(&self) -> &'static [Field] {
        &self.declaration.fields
    }
    fn assign(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
        let place = self.place(name).ok_or(Refusal::Unknown)?;
        self.values[place] = self.values[place].read(raw, self.declaration.ranges[place].as_ref())?;
        Ok(())
    }
    fn written(&self, name: &str) -> Option<String> {
        self.place(name).map(|place| self.values[place].written())
    }
    fn agree(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Declaration {
    /// The same, for as long as the process lasts; one of each.
    fn lasting(self) -> &'static Declaration {
        static KNOWN: Mutex<BTreeMap<String, &'static Declaration>> = Mutex::new(BTreeMap::new());
        let described = format!("{:?} {:?} {:?}", self.fields, self.defaults, self.ranges);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(described).or_insert_with(|| Box::leak(Box::new(self)))
    }
}

/// A default, whose type is the parameter's.
fn value(given: &Bound<'_, PyAny>) -> Result<Value, String> {
    match raw(given)? {
        Raw::Bool(value) => Ok(Value::Flag(value)),
        Raw::Integer(value) => match u64::try_from(value) {
            Ok(value) => Ok(Value::Whole(value)),
            Err(_) => Err(format!("{value} is not a whole number from 0 up: write {value}.0 for a number")),
        },
        Raw::Float(value) if value.is_finite() => Ok(Value::Number(value)),
        Raw::Text(text) => {
            let time = text.parse().map(Value::Time).ok();
            let rate = || text.parse().map(Value::Rate).ok();
            let data = || text.parse().map(Value::Data).ok();
            let read = time.or_else(rate).or_else(data);
            read.ok_or_else(|| {
                format!("`{text}` is not a time, rate or data: write \"5ms\", \"10mbit\" or \"1500B\"")
            })
        }
        other => Err(format!("{other} is not a value of a parameter")),
    }
}

/// A value in a scenario's form.
fn raw(given: &Bound<'_, PyAny>) -> Result<Raw, String> {
    let read = || -> PyResult<Option<Raw>> {
        Ok(if given.is_instance_of::<PyBool>() {
            Some(Raw::Bool(given.extract()?))
        } else if given.is_instance_of::<PyInt>() {
            Some(Raw::Integer(given.extract()?))
        } else if given.is_instance_of::<PyFloat>() {
            Some(Raw::Float(given.extract()?))
        } else {
            given.extract::<String>().ok().map(Raw::Text)
        })
    };
    let told = read().map_err(|error| error.to_string())?;
    told.ok_or_else(|| format!("{given} is neither true or false, a number nor text"))
}

fn raw_of(value: &Value) -> Raw {
    match value {
        Value::Flag(value) => Raw::Bool(*value),
        Value::Whole(value) => i64::try_from(*value).map_or(Raw::Float(*value as f64), Raw::Integer),
        Value::Number(value) => Raw::Float(*value),
        Value::Time(_) | Value::Rate(_) | Value::Data(_) => Raw::Text(value.written()),
    }
}
