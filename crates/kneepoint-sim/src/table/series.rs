// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers in named columns.

use serde::{Deserialize, Serialize};

/// Numbers in named columns; the names carry the units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct Table {
    /// `time_s`, `queue_packets[r1-r2]`, …
    pub columns: Vec<String>,
    /// One number per column; NaN, which files have as `null`, where it is undefined.
    pub rows: Vec<Vec<f64>>,
}

/// A table as files have it: `null` is NaN, and a row may be of any length.
#[derive(Deserialize)]
struct Written {
    columns: Vec<String>,
    rows: Vec<Vec<Option<f64>>>,
}

impl TryFrom<Written> for Table {
    type Error = String;

    fn try_from(Written { columns, rows }: Written) -> Result<Table, String> {
        if let Some((place, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != columns.len()) {
            let (place, numbers, columns) = (place + 1, row.len(), columns.len());
            return Err(format!("row {place} has {numbers} numbers under {columns} columns"));
        }
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let rows = rows.into_iter().map(|row| row.into_iter().map(number).collect()).collect();
        Ok(Table { columns, rows })
    }
}

impl Table {
    /// The indices of the columns of one quantity: of `queue_packets[r1-r2]` for `queue_packets`.
    pub fn columns_of(&self, quantity: &str) -> Vec<usize> {
        let is_of = |column: &String| {
            column.strip_prefix(quantity).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        (0..self.columns.len()).filter(|place| is_of(&self.columns[*place])).collect()
    }

    /// The part of a column's name in brackets: `r1-r2`; the whole name if it has none.
    pub fn subject(&self, column: usize) -> &str {
        let name = &self.columns[column];
        name.split_once('[').map_or(name, |(_, subject)| subject.trim_end_matches(']'))
    }

    /// The part of a column's name before the brackets: `queue_packets`.
    pub fn quantity(&self, column: usize) -> &str {
        let name = &self.columns[column];
        name.split_once('[').map_or(name, |(quantity, _)| quantity)
    }

    /// The numbers of a column.
    pub fn values(&self, column: usize) -> impl Iterator<Item = f64> {
        self.rows.iter().map(move |row| row[column])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_numbers_are_null_in_files_and_read_back() {
        let columns = vec!["time_s".to_string(), "rtt_ms[a]".to_string()];
        let table = Table { columns, rows: vec![vec![0.1, f64::NAN], vec![0.2, 1.0 / 3.0]] };
        let text = serde_json::to_string(&table).unwrap();
        assert!(text.contains("[0.1,null]"), "{text}");
        let read: Table = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (read.rows[1].clone(), read.rows[0][0], read.columns),
            (table.rows[1].clone(), 0.1, table.columns)
        );
        assert!(read.rows[0][1].is_nan());
    }

    #[test]
    fn a_quantity_finds_its_columns_and_they_name_their_subjects() {
        let columns = ["time_s", "queue_packets[r1-r2]", "queue_packets[r2-r3]", "queue_packets_max[r1]"];
        let table =
            Table { columns: columns.map(String::from).to_vec(), rows: vec![vec![1.0, 2.0, 3.0, 4.0]] };
        assert_eq!(table.columns_of("queue_packets"), [1, 2]);
        assert_eq!(table.columns_of("time_s"), [0]);
        assert_eq!(table.subject(2), "r2-r3");
        assert_eq!(table.subject(0), "time_s");
        assert_eq!((table.quantity(0), table.quantity(1)), ("time_s", "queue_packets"));
        assert_eq!(table.values(2).collect::<Vec<_>>(), [3.0]);
    }

    #[test]
    fn a_row_that_is_shorter_or_longer_than_the_columns_is_refused() {
        for rows in ["[[1.0]]", "[[1.0,2.0],[1.0,2.0,3.0]]", "[[]]"] {
            let text = format!(r#"{{"columns":["time_s","rtt_ms[a]"],"rows":{rows}}}"#);
            let said = serde_json::from_str::<Table>(&text).unwrap_err().to_string();
            assert!(said.contains("under 2 columns"), "{said}");
        }
    }
}
