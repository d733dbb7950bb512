// SPDX-License-Identifier: Apache-2.0 OR MIT
//! JSON: a list of objects, each a row whose keys are the names of columns.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::rows::{Column, Columns, Rows};
use super::{Form, Recognised, Recording, shown};

/// A number, or something in its place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Number(f64),
    Other(IgnoredAny),
}

/// Reads a list of rows.
pub(super) fn read(content: &str) -> Result<Recognised, String> {
    let rows: Vec<BTreeMap<String, Cell>> = serde_json::from_str(content).map_err(|error| {
        // Its message ends with the place.
        let (line, column) = (error.line(), error.column());
        let told = error.to_string();
        let told = told.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&told);
        format!(
            "line {line}, column {}: {}: expected a list of objects, as in [{{\"duration_ms\": 1000, \"bandwidth_kbps\": 700}}]",
            column.max(1),
            shown(told)
        )
    })?;
    let names: Vec<&str> = rows.iter().take(1).flatten().map(|(name, _)| name.as_str()).collect();
    if names.is_empty() {
        return Err("the trace is empty: give at least one object with a time and a rate".into());
    }
    let (columns, ignored) = Columns::of(&names).map_err(|why| format!("entry 1{why}"))?;
    let mut kept = Rows::new(&columns);
    for (place, row) in rows.iter().enumerate() {
        let number = |column: &Column| match row.get(column.name) {
            Some(Cell::Number(number)) if number.is_finite() => Ok(*number),
            Some(_) => Err("this is not a number".into()),
            None => Err("the key is missing, which the first entry has".into()),
        };
        kept.add(&columns, number, |column, why| {
            format!("entry {}, `{}`: {why}", place + 1, shown(column.name))
        })?;
    }
    Ok(Recognised { form: Form::Json, recording: Recording::Course(kept.course(&columns)?), ignored })
}
