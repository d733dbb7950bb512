// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CSV files of times and sizes.
//!
//! ```text
//! time_s,size_bytes     the header: a quantity and its unit for each column, in any order
//! 0.25,14600            a row; an empty cell where a quantity is left open
//! ```
//!
//! The header is required, because a number without a unit is a guess. Cells are not quoted. Blank lines are skipped.

use std::ops::RangeInclusive;

use crate::settings::{Raw, Refusal, Setting, read_within};
use crate::suggest::did_you_mean;

/// Rows of a file: ten thousand a second for more than a minute.
const MOST: usize = 1_000_000;

/// The quantity of a column: its name, and its units in headers and in scenarios.
pub(super) struct Quantity {
    name: &'static str,
    units: &'static [(&'static str, &'static str)],
}

pub(super) const TIME: Quantity =
    Quantity { name: "time", units: &[("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns")] };
pub(super) const START: Quantity = Quantity { name: "start", ..TIME };
pub(super) const STOP: Quantity = Quantity { name: "stop", ..TIME };
pub(super) const SIZE: Quantity =
    Quantity { name: "size", units: &[("bytes", "b"), ("kb", "kb"), ("mb", "mb")] };
/// A name, which has no unit.
pub(super) const GROUP: Quantity = Quantity { name: "group", units: &[("", "")] };

/// A row: for each quantity its cell, unless that is absent or empty.
pub(super) struct Cells<'t, const N: usize> {
    line: usize,
    cells: [Option<Cell<'t>>; N],
}

#[derive(Clone, Copy)]
struct Cell<'t> {
    text: &'t str,
    column: Column<'t>,
}

/// A column: its place and name in the header, its quantity by number, and the unit as scenarios write it.
#[derive(Clone, Copy)]
struct Column<'t> {
    place: usize,
    name: &'t str,
    quantity: usize,
    unit: &'static str,
}

/// Whether a text is the contents of a CSV file, not a value on one line.
pub(super) fn is_csv(text: &str) -> bool {
    text.is_empty() || text.contains(['\n', ','])
}

/// Reads every row with `read`. The first quantity is required. An error names the line, and the column if one is wrong.
pub(super) fn rows<const N: usize, T>(
    text: &str,
    quantities: &[Quantity; N],
    read: impl Fn(&Cells<N>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(content.lines()).filter(|(_, line)| !line.trim().is_empty());
    let mut lines = lines.map(|(number, line)| (number, line.split(',').map(str::trim).collect::<Vec<_>>()));
    let (number, names) = lines.next().unwrap_or((1, Vec::new()));
    let columns = header(&names, quantities).map_err(|wrong| format!("line {number}{wrong}"))?;
    let mut rows = Vec::new();
    for (line, row) in lines {
        if row.len() != columns.len() {
            let (cells, columns) = (row.len(), columns.len());
            return Err(format!("line {line}: expected {columns} cells as in the header, found {cells}"));
        }
        if rows.len() == MOST {
            return Err(format!("line {line}: more than {MOST} rows: leave the rest out"));
        }
        let mut cells = [None; N];
        for (column, cell) in columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
            cells[column.quantity] = Some(Cell { text: cell, column: *column });
        }
        rows.push(read(&Cells { line, cells })?);
    }
    if rows.is_empty() {
        return Err(format!("line {number}: no row follows the header: give at least one"));
    }
    Ok(rows)
}

/// The columns that a header declares. The error begins with the column.
fn header<'t, const N: usize>(
    names: &[&'t str],
    quantities: &[Quantity; N],
) -> Result<Vec<Column<'t>>, String> {
    let mut known = Vec::new();
    for (number, Quantity { name, units }) in quantities.iter().enumerate() {
        known.extend(units.iter().map(|(unit, short)| match *unit {
            "" => (name.to_string(), number, *short),
            _ => (format!("{name}_{unit}"), number, *short),
        }));
    }
    let remedy = |name: &str| did_you_mean(name, &known.iter().map(|known| &*known.0).collect::<Vec<_>>());
    if names.is_empty() {
        return Err(format!(": the file is empty: begin it with a header, as in `{}`", known[0].0));
    }
    let mut columns: Vec<Column> = Vec::new();
    for (place, name) in (1..).zip(names.iter().copied()) {
        let Some((_, quantity, unit)) = known.iter().find(|(known, ..)| known == name) else {
            let shown: String = name.chars().take(40).collect();
            return Err(format!(
                ", column {place}: unknown column `{shown}` in the header: {}",
                remedy(name)
            ));
        };
        if columns.iter().any(|other| other.quantity == *quantity) {
            return Err(format!(", column {place}: a second {}: leave one out", quantities[*quantity].name));
        }
        columns.push(Column { place, name, quantity: *quantity, unit });
    }
    match columns.iter().any(|column| column.quantity == 0) {
        true => Ok(columns),
        false => {
            let Quantity { name, units } = &quantities[0];
            let expected: Vec<String> = units.iter().map(|(unit, _)| format!("`{name}_{unit}`")).collect();
            Err(format!(": the header has no {name}: expected one of {}", expected.join(", ")))
        }
    }
}

impl<const N: usize> Cells<'_, N> {
    /// The value of a quantity, if the row has one.
    pub fn get<T: Setting>(&self, quantity: usize, range: RangeInclusive<T>) -> Result<Option<T>, String> {
        let Some(Cell { text, column: Column { place, name, unit, .. } }) = self.cells[quantity] else {
            return Ok(None);
        };
        let line = self.line;
        let wrong = |why: &str| format!("line {line}, column {place} ({name}): {why}");
        let Some(number) = text.parse().ok().filter(|number: &f64| number.is_finite()) else {
            let (shown, allowed): (String, _) = (text.chars().take(40).collect(), T::describe(&range));
            return Err(wrong(&format!("expected a number of {unit}, {allowed}, found `{shown}`")));
        };
        // Printed without an exponent, as scenarios write numbers.
        match read_within(&Raw::Text(format!("{number}{unit}")), Some(range)) {
            Ok(value) => Ok(Some(value)),
            Err(Refusal::Value(why)) => Err(wrong(&why)),
            Err(Refusal::Unknown) => Err(wrong("unknown")),
        }
    }

    /// The text of a quantity without a unit, if the row has one.
    pub fn text(&self, quantity: usize) -> Option<&str> {
        self.cells[quantity].map(|cell| cell.text)
    }

    /// The fault of the row as a whole.
    pub fn wrong(&self, why: &str) -> String {
        format!("line {}: {why}", self.line)
    }

    /// The value of the first quantity, which every row needs.
    pub fn first<T: Setting>(&self, range: RangeInclusive<T>) -> Result<T, String> {
        let absent = || format!("line {}: the first quantity of the file is empty: fill it in", self.line);
        self.get(0, range)?.ok_or_else(absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, Span};

    fn read(text: &str) -> Result<Vec<(Span, Option<Bytes>)>, String> {
        rows(text, &[TIME, SIZE], |cells| {
            let at = cells.first(Span::ZERO..=Span::from_secs(100))?;
            Ok((at, cells.get(1, Bytes(1)..=Bytes(1_000_000))?))
        })
    }

    #[test]
    fn columns_have_units_and_any_order() {
        let expected = [(Span::from_millis(1500), Some(Bytes(2000))), (Span::ZERO, None)];
        assert_eq!(read("time_s,size_bytes\n1.5,2000\n0,\n").unwrap(), expected);
        assert_eq!(read("\u{feff}size_kb, time_ms\r\n2, 1.5e3\r\n\r\n,0\r\n").unwrap(), expected);
        assert_eq!(read("time_us\n10\n").unwrap(), [(Span::from_micros(10), None)]);
    }

    #[test]
    fn a_fault_names_line_column_value_range_and_remedy() {
        for (text, wrong) in [
            ("", "line 1: the file is empty: begin it with a header, as in `time_s`"),
            ("size_bytes\n1\n", "line 1: the header has no time"),
            ("0.5,100\n", "line 1, column 1: unknown column `0.5` in the header: expected one of `time_s`"),
            (
                "time_s,size_byte\n",
                "line 1, column 2: unknown column `size_byte` in the header: did you mean `size_bytes`?",
            ),
            ("time_s,time_ms\n", "line 1, column 2: a second time: leave one out"),
            ("time_s\n\n", "line 1: no row follows the header"),
            ("time_s,size_kb\n1\n", "line 2: expected 2 cells as in the header, found 1"),
            ("time_s,size_kb\n,1\n", "line 2: the first quantity of the file is empty"),
            (
                "time_s,size_kb\n1,1\n\n1,x\n",
                "line 4, column 2 (size_kb): expected a number of kb, 1b to 1mb, found `x`",
            ),
            ("time_s\nNaN\n", "line 2, column 1 (time_s): expected a number of s, "),
            ("time_s\n-1\n", "line 2, column 1 (time_s): `-1s` is out of range"),
            ("time_s\n101\n", "line 2, column 1 (time_s): \"101s\" is outside the allowed range, 0s to 100s"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(wrong), "{text:?}: {error}");
        }
    }
}
