// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Comma-separated values (RFC 4180). Numbers read back as they were; an undefined one is an empty field.

use super::{Comparison, RunResult, SchemeResult};
use crate::measure::{Metric, Subject, headlines};
use crate::table::{Cell, Records, Row, Table, value};

/// One line per scheme: each headline metric and its half width.
pub fn schemes(comparison: &Comparison) -> String {
    let heads = headlines().flat_map(|metric| [metric.key.clone(), format!("{}_half_width", metric.key)]);
    let head = ["scheme".to_string(), "runs".to_string()].into_iter().chain(heads);
    let rows = comparison.schemes.iter().map(|scheme| {
        let mut row = vec![scheme.scheme.clone(), scheme.runs.len().to_string()];
        for metric in headlines() {
            let estimate = scheme.estimate(&metric.key);
            row.extend([number(estimate.mean), number(estimate.half_width.unwrap_or(f64::NAN))]);
        }
        row
    });
    written(head.collect(), rows)
}

/// One line per run: all its metrics and its costs.
pub fn runs(comparison: &Comparison) -> String {
    let costs = ["cpu_seconds", "bottleneck_packets", "events"];
    let metrics = || Subject::Run.metrics().iter();
    let keys = metrics().map(|metric| metric.key.as_str());
    let head = ["scheme", "seed"].into_iter().chain(keys).chain(costs);
    let rows = each(comparison).map(|(scheme, run)| {
        let mut row = vec![scheme.scheme.clone(), run.seed.to_string()];
        row.extend(metrics().map(|metric| number(value(&run.rows, &metric.key, &[]))));
        row.extend([number(run.cpu_seconds), run.bottleneck_packets.to_string(), run.events.to_string()]);
        row
    });
    written(head.map(String::from).collect(), rows)
}

/// One line per link, group or class of each run: all its metrics.
pub fn subjects(comparison: &Comparison, subject: Subject) -> String {
    let keys = subject.metrics().iter().map(|metric| metric.key.as_str());
    let head = ["scheme", "seed"].into_iter().chain(subject.axes().iter().copied()).chain(keys);
    let line = |scheme: &SchemeResult, run: &RunResult, row: &Row| {
        let labels = subject.axes().iter().map(|axis| row.label(axis).to_string());
        let numbers = subject.metrics().iter().map(|metric: &Metric| number(row.value(&metric.key)));
        [scheme.scheme.clone(), run.seed.to_string()].into_iter().chain(labels).chain(numbers).collect()
    };
    let rows = each(comparison).flat_map(|(scheme, run)| {
        run.rows.iter().filter(|row| subject.has(row)).map(move |row| line(scheme, run, row))
    });
    written(head.map(String::from).collect(), rows)
}

/// Every run of every scheme.
fn each(comparison: &Comparison) -> impl Iterator<Item = (&SchemeResult, &RunResult)> {
    comparison.schemes.iter().flat_map(|scheme| scheme.runs.iter().map(move |run| (scheme, run)))
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
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("fields are UTF-8")
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
    fn runs_and_schemes_have_a_line_each() {
        let comparison = example::comparison();
        let written = runs(&comparison);
        assert_eq!(written.lines().count(), 1 + 2 * 3);
        assert!(written.lines().next().is_some_and(|head| head.contains(",retransmission_rate,timeouts,")));
        let schemes = schemes(&comparison);
        assert_eq!(schemes.lines().count(), 1 + 2);
        assert!(schemes.starts_with("scheme,runs,queue_mean_packets,queue_mean_packets_half_width,"));
        let groups = subjects(&comparison, Subject::Group);
        assert_eq!(groups.lines().count(), 1 + 2 * 3 * 2);
        assert!(groups.starts_with("scheme,seed,group,flows,goodput_bps,"), "{groups}");
        assert_eq!(subjects(&comparison, Subject::Link).lines().count(), 1 + 2 * 3);
    }
}
