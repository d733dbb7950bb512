// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A comparison as tables for machines. Columns have the keys of metrics, which contain the units.

use super::{Comparison, RunResult, SchemeResult};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::{Cell, Records, Row, value};

/// One line per scheme: each headline metric and its half width.
pub fn schemes(comparison: &Comparison) -> Records {
    let heads = headlines().flat_map(|metric| [metric.key.clone(), format!("{}_half_width", metric.key)]);
    let head = ["scheme".to_string(), "runs".to_string()].into_iter().chain(heads);
    let rows = comparison.schemes.iter().map(|scheme| {
        let mut row = vec![Cell::Text(scheme.scheme.clone()), Cell::Number(scheme.runs.len() as f64)];
        for metric in headlines() {
            let estimate = scheme.estimate(&metric.key);
            row.extend([estimate.mean.into(), estimate.half_width.unwrap_or(f64::NAN).into()]);
        }
        row
    });
    Records { columns: head.collect(), rows: rows.collect() }
}

/// One line per run: all its metrics and its costs.
pub fn runs(comparison: &Comparison) -> Records {
    let costs = ["cpu_seconds", "bottleneck_packets", "events"];
    let metrics = || Subject::Run.metrics().iter();
    let keys = metrics().map(|metric| metric.key.as_str());
    let head = ["scheme", "seed"].into_iter().chain(keys).chain(costs);
    let rows = each(comparison).map(|(scheme, run)| {
        let mut row = begun(scheme, run);
        row.extend(metrics().map(|metric| Cell::Number(value(&run.rows, &metric.key, &[]))));
        row.extend([run.cpu_seconds, run.bottleneck_packets as f64, run.events as f64].map(Cell::Number));
        row
    });
    Records { columns: head.map(String::from).collect(), rows: rows.collect() }
}

/// One line per link, group or class of each run: all its metrics.
pub fn subjects(comparison: &Comparison, subject: Subject) -> Records {
    let keys = subject.metrics().iter().map(|metric| metric.key.as_str());
    let head = ["scheme", "seed"].into_iter().chain(subject.axes().iter().copied()).chain(keys);
    let line = |scheme: &SchemeResult, run: &RunResult, row: &Row| {
        let labels = subject.axes().iter().map(|axis| Cell::Text(row.label(axis).to_string()));
        let numbers = subject.metrics().iter().map(|metric: &Metric| Cell::Number(row.value(&metric.key)));
        begun(scheme, run).into_iter().chain(labels).chain(numbers).collect()
    };
    let rows = each(comparison).flat_map(|(scheme, run)| {
        run.rows.iter().filter(|row| subject.has(row)).map(move |row| line(scheme, run, row))
    });
    Records { columns: head.map(String::from).collect(), rows: rows.collect() }
}

/// Every run of every scheme.
fn each(comparison: &Comparison) -> impl Iterator<Item = (&SchemeResult, &RunResult)> {
    comparison.schemes.iter().flat_map(|scheme| scheme.runs.iter().map(move |run| (scheme, run)))
}

/// The first cells of a line about a run.
fn begun(scheme: &SchemeResult, run: &RunResult) -> Vec<Cell> {
    vec![Cell::Text(scheme.scheme.clone()), Cell::Number(run.seed as f64)]
}
