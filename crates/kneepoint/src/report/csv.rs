// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Comma-separated values (RFC 4180). Numbers read back as they were; one that does not exist is an empty field.

use super::Comparison;
use crate::measure::METRICS;
use crate::table::{Cell, Records, Table};

/// One line per scheme: each headline figure and its half width.
pub fn schemes(comparison: &Comparison) -> String {
    let heads =
        METRICS.iter().flat_map(|metric| [metric.key.to_string(), format!("{}_half_width", metric.key)]);
    let head = ["scheme".to_string(), "runs".to_string()].into_iter().chain(heads);
    let rows = comparison.schemes.iter().map(|scheme| {
        let mut row = vec![scheme.scheme.clone(), scheme.runs.len().to_string()];
        for estimate in scheme.estimates().0 {
            row.extend([number(estimate.mean), number(estimate.half_width.unwrap_or(f64::NAN))]);
        }
        row
    });
    written(head.collect(), rows)
}

/// One line per run: each headline figure of it, and what it cost.
pub fn runs(comparison: &Comparison) -> String {
    let costs = ["cpu_seconds", "bottleneck_packets", "events"];
    let head = ["scheme", "seed"].into_iter().chain(METRICS.iter().map(|metric| metric.key)).chain(costs);
    let rows = comparison.schemes.iter().flat_map(|scheme| {
        scheme.runs.iter().map(|run| {
            let mut row = vec![scheme.scheme.clone(), run.seed.to_string()];
            row.extend(METRICS.iter().map(|metric| number((metric.of)(&run.summary))));
            row.extend([number(run.cpu_seconds), run.bottleneck_packets.to_string(), run.events.to_string()]);
            row
        })
    });
    written(head.map(String::from).collect(), rows)
}

/// A table as it is.
pub fn table(table: &Table) -> String {
    written(table.columns.clone(), table.rows.iter().map(|row| row.iter().copied().map(number).collect()))
}

/// Records as they are.
pub fn records(records: &Records) -> String {
    written(records.columns.clone(), records.rows.iter().map(|row| row.iter().map(Cell::text).collect()))
}

fn number(value: f64) -> String {
    Cell::Number(value).text()
}

fn written(head: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for record in [head].into_iter().chain(rows) {
        // Writing to memory cannot fail, and every row is as long as the head.
        writer.write_record(&record).expect("rows are as long as their head");
    }
    let bytes = writer.into_inner().expect("memory takes whatever comes");
    String::from_utf8(bytes).expect("strings make strings")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    fn read(text: &str) -> Table {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns = reader.headers().unwrap().iter().map(String::from).collect();
        let value = |field: &str| if field.is_empty() { f64::NAN } else { field.parse().unwrap() };
        let rows = reader.records().map(|record| record.unwrap().iter().map(value).collect()).collect();
        Table { columns, rows }
    }

    #[test]
    fn a_table_reads_back_as_it_was() {
        let columns = vec!["time_s".into(), "queue_packets[a,\"b\"]".into()];
        let written = Table { columns, rows: vec![vec![0.1, 1.0 / 3.0], vec![1e-300, 6.02e23]] };
        assert_eq!(read(&table(&written)), written);
    }

    #[test]
    fn what_does_not_exist_is_an_empty_field() {
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
    fn runs_and_schemes_have_a_line_each() {
        let comparison = example::comparison();
        assert_eq!(runs(&comparison).lines().count(), 1 + 2 * 3);
        let schemes = schemes(&comparison);
        assert_eq!(schemes.lines().count(), 1 + 2);
        assert!(schemes.starts_with("scheme,runs,queue_mean_packets,queue_mean_packets_half_width,"));
    }
}
