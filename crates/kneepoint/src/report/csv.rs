// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Comma-separated values (RFC 4180). Numbers read back unchanged; an undefined one is an empty field.
//!
//! Spreadsheets take a text that begins with one of a few characters for a formula. Such a text, unless it is a number, has an apostrophe before it
//! (OWASP, "CSV Injection"), and one that has apostrophes before such a character has one more: without the first apostrophe it is the text.
//!
//! Characters that act are escapes, as everywhere else ([`visible`](mod@crate::visible)): people look at these files with `cat`, `less` and
//! editors. Programs that need the characters unchanged can read Parquet or JSON.

use crate::table::{Cell, Records, Table};
use crate::visible::visible;

/// A table as it is.
pub fn table(table: &Table) -> String {
    written(table.columns.clone(), table.rows.iter().map(|row| row.iter().copied().map(number).collect()))
}

/// Records unchanged.
pub fn records(records: &Records) -> String {
    written(records.columns.clone(), records.rows.iter().map(|row| row.iter().map(field).collect()))
}

/// The table of numbers that [`table`] wrote; the error names the place that is not one. Names that had an apostrophe put before them,
/// or escapes, keep these.
pub fn read(text: &str) -> Result<Table, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| error.to_string())?.iter().map(String::from).collect();
    let number = |(place, field): (usize, &str)| match field {
        "" => Ok(f64::NAN),
        number => number
            .parse()
            .map_err(|_| format!("`{}` in column {} is not a number", visible(number), place + 1)),
    };
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let numbers = record.iter().enumerate().map(number).collect::<Result<Vec<f64>, String>>();
        numbers.map_err(|why| format!("line {line}: {why}"))
    };
    Ok(Table { columns, rows: reader.records().map(row).collect::<Result<_, String>>()? })
}

fn field(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => harmless(text),
        number => number.text(),
    }
}

/// The first characters of formulas.
const FORMULAS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A text that no spreadsheet takes for a formula, and no terminal for a command.
fn harmless(text: &str) -> String {
    let text = visible(text);
    let begins = text.trim_start_matches('\'').starts_with(FORMULAS);
    if begins && text.parse::<f64>().is_err() { format!("'{text}") } else { text.into_owned() }
}

fn number(value: f64) -> String {
    Cell::Number(value).text()
}

fn written(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in [head.iter().map(|name| harmless(name)).collect()].into_iter().chain(rows) {
        // Writing to memory cannot fail, and every row is as long as the head.
        writer.write_record(&record).expect("rows are as long as their head");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("fields are UTF-8")
}

#[cfg(test)]
mod tests {
    use super::super::{example, tables};
    use super::*;
    use crate::measure::Subject;
    use crate::visible::acts;

    #[test]
    fn a_table_reads_back_as_it_was() {
        let columns = vec!["time_s".into(), "queue_packets[a,\"b\"]".into()];
        let written = Table { columns, rows: vec![vec![0.1, 1.0 / 3.0], vec![1e-300, 6.02e23]] };
        assert_eq!(read(&table(&written)).unwrap(), written);
        let undefined = read("a,b\n,2\n").unwrap();
        assert!(undefined.rows[0][0].is_nan() && undefined.rows[0][1] == 2.0);
    }

    #[test]
    fn a_damaged_table_says_where() {
        for (damaged, place) in [("a,b\n1,2\n3,x\n", "line 3: `x` in column 2"), ("a,b\n1\n", "line: 2")] {
            let said = read(damaged).unwrap_err();
            assert!(said.contains(place), "{said}");
        }
    }

    #[test]
    fn undefined_numbers_are_empty_fields() {
        let written = Table { columns: vec!["a".into(), "b".into()], rows: vec![vec![f64::NAN, 2.0]] };
        assert_eq!(table(&written), "a,b\n,2\n");
    }

    #[test]
    fn texts_stand_beside_numbers() {
        let rows = vec![vec!["a, b".into(), 0.1.into()], vec!["c".into(), f64::NAN.into()]];
        let written = Records { columns: vec!["name".into(), "x".into()], rows };
        assert_eq!(records(&written), "name,x\n\"a, b\",0.1\nc,\n");
    }

    #[test]
    fn no_text_is_a_formula_and_each_can_be_had_back() {
        let texts = [
            "=1+2", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x", "＝1", "-1.5", "+3e4", "a=b",
            "'a", "", "-inf",
        ];
        let rows = texts.iter().map(|text| vec![(*text).into(), (-1.0).into()]).collect();
        let written = records(&Records { columns: vec!["=name".into(), "x".into()], rows });
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(written.as_bytes());
        let cells: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_string()).collect();
        assert_eq!(cells[0], "'=name");
        for (text, cell) in texts.iter().zip(&cells[1..]) {
            assert!(!cell.starts_with(FORMULAS) || cell.parse::<f64>().is_ok(), "{cell:?}");
            let back = cell.strip_prefix('\'').filter(|rest| harmless(rest) == *cell);
            assert_eq!(back.unwrap_or(cell), visible(text), "{cell:?}");
        }
        assert!(written.contains(",-1\n"), "a number stays one: {written}");
    }

    #[test]
    fn no_character_acts_and_what_is_around_it_stays_in_its_cell() {
        let acting =
            (0..=0x2_ffff).filter_map(char::from_u32).filter(|one| acts(*one) || "\t\n".contains(*one));
        let texts: Vec<String> = acting.map(|one| format!("a,{one}\"b")).collect();
        let rows = texts.iter().map(|text| vec![text.as_str().into(), 1.0.into()]).collect();
        let written = records(&Records { columns: vec!["x\u{1b}[2J".into(), "y\u{202e}".into()], rows });
        assert!(!written.contains(acts) && written.starts_with("x\\u001b[2J,y\\u202e\n"));
        let mut reader = csv::Reader::from_reader(written.as_bytes());
        let cells: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_string()).collect();
        assert!(texts.len() > 100 && cells.len() == texts.len());
        for (text, cell) in texts.iter().zip(&cells) {
            assert_eq!(*cell, visible(text));
        }
    }

    #[test]
    fn runs_and_schemes_have_a_line_each() {
        let comparison = example::comparison();
        let written = records(&tables::runs(&comparison));
        assert_eq!(written.lines().count(), 1 + 2 * 3);
        assert!(written.lines().next().is_some_and(|head| head.contains(",retransmission_rate,timeouts,")));
        let schemes = records(&tables::schemes(&comparison));
        assert_eq!(schemes.lines().count(), 1 + 2);
        assert!(schemes.starts_with("scheme,runs,queue_mean_packets,queue_mean_packets_half_width,"));
        let groups = records(&tables::subjects(&comparison, Subject::Group));
        assert_eq!(groups.lines().count(), 1 + 2 * 3 * 2);
        assert!(groups.starts_with("scheme,seed,group,flows,goodput_bps,"), "{groups}");
        assert_eq!(tables::subjects(&comparison, Subject::Link).rows.len(), 2 * 3);
    }
}
