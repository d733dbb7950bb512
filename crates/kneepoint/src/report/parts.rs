// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The links, groups or classes of many rows: a line for each, under columns of factors and metrics. A few rows have a column each instead.

use super::document::{Column, Shown, Table, TableLine};
use super::grid::{Measured, measured};
use super::{Comparison, Factor, SchemeResult};
use crate::measure::Subject;
use crate::metric::Metric;

/// The table of a subject; none where no row has it.
pub(super) fn table(comparison: &Comparison, subject: Subject) -> Option<Table> {
    let of = |(rank, scheme)| measured(scheme, subject).into_iter().map(move |part| (rank, scheme, part));
    let all: Vec<(usize, &SchemeResult, Measured)> =
        comparison.schemes.iter().enumerate().flat_map(of).collect();
    let known = |metric: &&Metric| {
        let is_finite = |(_, _, part): &(usize, &SchemeResult, Measured)| {
            part.estimate(&metric.key).is_some_and(|estimate| estimate.mean.is_finite())
        };
        all.iter().any(is_finite)
    };
    let metrics: Vec<&Metric> = subject.metrics().iter().filter(known).collect();
    let line = |(rank, scheme, part): &(usize, &SchemeResult, Measured)| {
        let level = |(factor, level): (&Factor, &usize)| factor.levels[*level].text.clone();
        let mut names = comparison.factors.iter().zip(&scheme.levels).map(level).chain([part.name(scheme)]);
        let name = names.next().unwrap_or_default();
        let number = |metric: &&Metric| {
            part.estimate(&metric.key)
                .map_or_else(|| "".into(), |estimate| Shown::of(&estimate, metric.scale))
        };
        let cells = names.map(Shown::from).chain(metrics.iter().map(number)).collect();
        TableLine { class: comparison.class_of_row(*rank), ..TableLine::new(name, cells) }
    };
    let axis = subject.axes().first().copied().unwrap_or_default();
    let mut names = comparison.factors.iter().map(|factor| factor.name.as_str()).chain([axis]);
    let corner = names.next().unwrap_or_default().to_string();
    let column = |metric: &&Metric| Column {
        about: metric.title.clone(),
        ..Column::number(&metric.short, metric.unit)
    };
    (!all.is_empty()).then(|| Table {
        corner,
        columns: names.map(Column::text).chain(metrics.iter().map(column)).collect(),
        lines: all.iter().map(line).collect(),
        linked: false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn each_group_of_each_row_has_a_line_under_the_factors() {
        let groups = table(&example::grid(), Subject::Group).expect("groups");
        let titles: Vec<&str> = groups.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(
            (groups.corner.as_str(), &titles[..3]),
            ("congestion control", &["buffer", "RTT", "group"][..])
        );
        assert_eq!(groups.lines.len(), 36 * 2);
        let second: Vec<&str> = groups.lines[3].cells[..3].iter().map(|cell| cell.mean.as_str()).collect();
        assert_eq!(
            (groups.lines[3].name.as_str(), &second[..]),
            ("cubic", &["0.5 BDP", "80 ms", "noise"][..])
        );
        assert!(table(&example::grid(), Subject::Class).is_none());
    }
}
