// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A comparison as tables for machines. A row begins with its levels, a column for each factor; then columns have the keys of metrics,
//! which contain the units.

use super::{Comparison, RunResult, SchemeResult};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::{Cell, Records, Row, value};

/// One line per scheme: each headline metric and its half width.
pub fn schemes(comparison: &Comparison) -> Records {
    let heads = headlines().flat_map(|metric| [metric.key.clone(), format!("{}_half_width", metric.key)]);
    let rows = comparison.schemes.iter().map(|scheme| {
        let mut row = levels(comparison, scheme);
        row.push(Cell::Number(scheme.runs.len() as f64));
        for metric in headlines() {
            let estimate = scheme.estimate(&metric.key);
            row.extend([estimate.mean.into(), estimate.half_width.unwrap_or(f64::NAN).into()]);
        }
        row
    });
    Records {
        columns: headed(comparison, ["runs".to_string()].into_iter().chain(heads)),
        rows: rows.collect(),
    }
}

/// One line per run: all its metrics and its costs.
pub fn runs(comparison: &Comparison) -> Records {
    let costs = ["cpu_seconds", "bottleneck_packets", "events"];
    let metrics = || Subject::Run.metrics().iter();
    let keys = metrics().map(|metric| metric.key.as_str());
    let head = ["seed"].into_iter().chain(keys).chain(costs).map(String::from);
    let rows = each(comparison).map(|(scheme, run)| {
        let mut row = begun(comparison, scheme, run);
        row.extend(metrics().map(|metric| Cell::Number(value(&run.rows, &metric.key, &[]))));
        row.extend([run.cpu_seconds, run.bottleneck_packets as f64, run.events as f64].map(Cell::Number));
        row
    });
    Records { columns: headed(comparison, head), rows: rows.collect() }
}

/// One line per link, group or class of each run: all its metrics.
pub fn subjects(comparison: &Comparison, subject: Subject) -> Records {
    let keys = subject.metrics().iter().map(|metric| metric.key.as_str());
    let head = ["seed"].into_iter().chain(subject.axes().iter().copied()).chain(keys).map(String::from);
    let line = |scheme: &SchemeResult, run: &RunResult, row: &Row| {
        let labels = subject.axes().iter().map(|axis| Cell::Text(row.label(axis).to_string()));
        let numbers = subject.metrics().iter().map(|metric: &Metric| Cell::Number(row.value(&metric.key)));
        begun(comparison, scheme, run).into_iter().chain(labels).chain(numbers).collect()
    };
    let rows = each(comparison).flat_map(|(scheme, run)| {
        run.rows.iter().filter(|row| subject.has(row)).map(move |row| line(scheme, run, row))
    });
    Records { columns: headed(comparison, head), rows: rows.collect() }
}

/// Every run of every scheme.
fn each(comparison: &Comparison) -> impl Iterator<Item = (&SchemeResult, &RunResult)> {
    comparison.schemes.iter().flat_map(|scheme| scheme.runs.iter().map(move |run| (scheme, run)))
}

/// The columns of the factors, and those after them.
fn headed(comparison: &Comparison, columns: impl Iterator<Item = String>) -> Vec<String> {
    comparison.factors.iter().map(|factor| factor.column.clone()).chain(columns).collect()
}

/// The levels of a scheme.
fn levels(comparison: &Comparison, scheme: &SchemeResult) -> Vec<Cell> {
    let levels = comparison.factors.iter().zip(&scheme.levels);
    levels.map(|(factor, level)| factor.cell(*level)).collect()
}

/// The first cells of a line about a run.
fn begun(comparison: &Comparison, scheme: &SchemeResult, run: &RunResult) -> Vec<Cell> {
    let mut cells = levels(comparison, scheme);
    cells.push(Cell::Number(run.seed as f64));
    cells
}

#[cfg(test)]
mod tests {
    use super::super::output::{Definition, table};
    use super::super::{PARTS, example};
    use super::*;

    #[test]
    fn a_row_begins_with_its_levels_in_columns_that_computers_can_sort() {
        let grid = example::grid();
        let summary = schemes(&grid);
        assert_eq!(summary.columns[..4], ["cc", "buffer_bdp", "rtt_ms", "runs"]);
        assert_eq!((summary.rows.len(), &summary.rows[5][..2]), (36, &["cubic".into(), 1.0.into()][..]));
        assert_eq!((&summary.rows[5][2], summary.is_text(1)), (&200.0.into(), false));
        assert_eq!(runs(&grid).columns[..4], ["cc", "buffer_bdp", "rtt_ms", "seed"]);
        assert_eq!(subjects(&grid, Subject::Group).columns[2..5], ["rtt_ms", "seed", "group"]);
    }

    #[test]
    fn every_column_is_that_of_a_factor_or_is_defined_by_its_own_name() {
        let grid = example::grid();
        let parts = PARTS.map(|(name, subject)| (name, subjects(&grid, subject)));
        let all = [("summary", schemes(&grid)), ("runs", runs(&grid))].into_iter().chain(parts);
        for (name, records) in all {
            let definitions = table(name).expect("a table").definitions();
            let own = |column: &String| definitions.iter().any(|one: &Definition| one.path == *column);
            let undefined: Vec<&String> = records.columns.iter().filter(|column| !own(column)).collect();
            assert_eq!(undefined, ["cc", "buffer_bdp", "rtt_ms"], "{name}");
        }
    }
}
