// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Texts and numbers in named columns.

use serde::Serialize;

use super::Table;

/// Texts and numbers in named columns; the names carry the units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// `predictor`, `bandwidth_bps`, `efficiency`, …
    pub columns: Vec<String>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// The content of one column of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A number; NaN without an observation. In every file one that is not finite is none: a null, an empty field.
    Number(f64),
}

/// A number, if it exists: neither NaN nor infinite.
pub fn defined(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

impl Records {
    /// Whether a column has texts. All of its cells are then written as texts.
    pub fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }
}

impl Cell {
    /// In a file: a number reads back unchanged, and a missing one is empty.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) => defined(*number).map_or(String::new(), |number| number.to_string()),
        }
    }

    /// The same, and empty for a missing number.
    pub fn known(&self) -> Option<String> {
        match self {
            Cell::Number(number) if defined(*number).is_none() => None,
            known => Some(known.text()),
        }
    }

    /// The number, if it exists; none for a text.
    pub fn number(&self) -> Option<f64> {
        if let Cell::Number(number) = self { defined(*number) } else { None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<&Table> for Records {
    fn from(table: &Table) -> Records {
        let row = |row: &Vec<f64>| row.iter().copied().map(Cell::Number).collect();
        Records { columns: table.columns.clone(), rows: table.rows.iter().map(row).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_makes_a_column_of_texts() {
        let records = Records {
            columns: vec!["predictor".into(), "share".into(), "threshold".into()],
            rows: vec![
                vec!["vegas".into(), 0.5.into(), 3.0.into()],
                vec!["card".into(), f64::NAN.into(), "none".into()],
            ],
        };
        assert_eq!([0, 1, 2].map(|column| records.is_text(column)), [true, false, true]);
        assert_eq!((records.rows[0][2].text(), records.rows[1][1].text()), ("3".into(), String::new()));
        assert_eq!([&records.rows[0][1], &records.rows[1][2]].map(Cell::number), [Some(0.5), None]);
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(Cell::Number) {
            assert_eq!((none.number(), none.known(), none.text()), (None, None, String::new()));
        }
    }
}
