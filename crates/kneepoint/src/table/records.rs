// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Texts and numbers in named columns.

use super::Table;

/// Texts and numbers in named columns; the names carry the units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// `predictor`, `bandwidth_bps`, `efficiency`, …
    pub columns: Vec<String>,
    /// One cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// What stands in one column of one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A number; NaN without an observation.
    Number(f64),
}

impl Records {
    /// Whether a column has texts. All of its cells are then written as texts.
    pub fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Text(_)))
    }
}

impl Cell {
    /// As a file has it: a number reads back as it was, and one that does not exist is empty.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) if number.is_finite() => number.to_string(),
            Cell::Number(_) => String::new(),
        }
    }

    /// The number; NaN for a text.
    pub fn number(&self) -> f64 {
        if let Cell::Number(number) = self { *number } else { f64::NAN }
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
        assert!(records.rows[1][2].number().is_nan());
    }
}
