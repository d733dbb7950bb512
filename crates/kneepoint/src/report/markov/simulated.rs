// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The analysis compared with a Monte Carlo of its own process and with packets.

use super::{DIGITS, PACKETS, axis_title, chosen, figure, label, x_axis};
use crate::chart::{Axis, Drawing, Line, Lines, lines, sheet};
use crate::markov::Sampled;
use crate::report::document::{Block, Column, Section, Shown, Table, TableLine};
use crate::study::markov::{Outcome, Point};
use crate::table::number::{NONE, signed, significant};

/// A difference as a percentage with its sign.
pub(super) fn percent(fraction: f64) -> String {
    if fraction.is_finite() { signed(100.0 * fraction, 2) } else { NONE.into() }
}

/// The reference for the analysis: its name and its numbers.
pub(super) type Other = (&'static str, fn(&Point) -> Option<Sampled>);
pub(super) const OTHERS: [Other; 2] = [("drawn", |point| point.drawn), ("packets", |point| point.packets)];

/// The quantities that some point has.
pub(super) fn others(outcome: &Outcome) -> Vec<Other> {
    let any = |other: &Other| outcome.points.iter().any(|point| (other.1)(point).is_some());
    OTHERS.into_iter().filter(any).collect()
}

/// The analysis compared with drawings and packets: a table for each case, the errors, and a figure.
pub(super) fn beside(outcome: &Outcome) -> Vec<Section> {
    let others = others(outcome);
    if others.is_empty() {
        return Vec::new();
    }
    let columns = || {
        let mut columns = vec![Column::number("analysis", "packets/s")];
        for (name, _) in &others {
            columns.push(Column::number(*name, "packets/s"));
            columns.push(Column::number("above", "%"));
        }
        columns
    };
    let line = |point: &&Point| {
        let mut cells: Vec<Shown> = vec![significant(PACKETS.at(point), DIGITS).into()];
        for (_, of) in &others {
            let sampled = of(point);
            cells.push(
                sampled.map_or_else(|| significant(f64::NAN, 1).into(), |it| Shown::of(&it.throughput, 1.0)),
            );
            cells.push(percent(sampled.map_or(f64::NAN, |it| point.excess(&it))).into());
        }
        TableLine::new(label(point.place.at), cells)
    };
    let table = |case: usize| {
        let lines = chosen(outcome, case).iter().map(line).collect();
        let table = Table { corner: axis_title(outcome), columns: columns(), lines, linked: false };
        Section::new(format!("{} and simulation", outcome.cases[case].name), vec![Block::Table(table)])
    };
    let mut sections: Vec<Section> = (0..outcome.cases.len()).map(table).collect();
    let summary = Block::Table(errors(outcome, &others));
    let mut blocks = vec![Block::prose(explained(&others)), summary];
    if outcome.along.is_some() {
        blocks.push(figure("simulation", "Analysis, drawings and packets", "", panels(outcome, &others)));
    }
    sections.push(Section::new("Error of the analysis", blocks));
    sections
}

fn explained(others: &[Other]) -> String {
    let sentence = |name: &str| match name {
        "drawn" => "Drawings follow the model of the analysis, so they differ by chance alone.",
        _ => "Packets cross a dumbbell with the same parameters, with TCP's timers and without intervals.",
    };
    let sentences = others.iter().map(|(name, _)| sentence(name));
    sentences
        .chain(["Above: by how much the analysis is. ± is the half width of a 95 % interval."])
        .collect::<Vec<_>>()
        .join(" ")
}

/// The mean and the greatest differences of each case.
fn errors(outcome: &Outcome, others: &[Other]) -> Table {
    let columns = others.iter().flat_map(|(name, _)| {
        [format!("above {name}"), "mean size".into(), "greatest".into()]
            .map(|title| Column::number(title, "%"))
    });
    let line = |case: usize| {
        let points = chosen(outcome, case);
        let cells = others.iter().flat_map(|(_, of)| {
            let error = Errors::of(points.iter().copied(), *of);
            [percent(error.mean), significant(100.0 * error.size, 3), percent(error.greatest)]
                .map(Shown::from)
        });
        TableLine::new(&outcome.cases[case].name, cells.collect())
    };
    Table {
        corner: "session".into(),
        columns: columns.collect(),
        lines: (0..outcome.cases.len()).map(line).collect(),
        linked: false,
    }
}

/// The excess of the analysis over another result, as fractions of that, over several points.
pub(super) struct Errors {
    pub(super) mean: f64,
    /// The mean of the absolute values.
    pub(super) size: f64,
    /// The value of greatest magnitude.
    pub(super) greatest: f64,
}

impl Errors {
    pub(super) fn of<'p>(
        points: impl Iterator<Item = &'p Point>,
        other: fn(&Point) -> Option<Sampled>,
    ) -> Errors {
        let all: Vec<f64> = points.filter_map(|point| Some(point.excess(&other(point)?))).collect();
        let mean = |of: fn(f64) -> f64| all.iter().copied().map(of).sum::<f64>() / all.len() as f64;
        let greatest = all.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        Errors { mean: mean(|it| it), size: mean(f64::abs), greatest: greatest.unwrap_or(f64::NAN) }
    }
}

/// A panel for each case: the throughput of the analysis, of drawings and of packets.
fn panels(outcome: &Outcome, others: &[Other]) -> Drawing {
    let panel = |case: usize| {
        let points = chosen(outcome, case);
        let exact = points.iter().filter_map(|point| Some((point.place.at?, PACKETS.at(point))));
        let series = |(name, of): &Other| {
            let sampled = points.iter().filter_map(|point| Some((point.place.at?, of(point)?.throughput)));
            Line { name: (*name).into(), rank: None, broad: false, points: sampled.collect() }
        };
        lines(&Lines {
            title: outcome.cases[case].name.clone(),
            x: x_axis(outcome),
            y: Axis::linear(PACKETS.title_and_unit()).holding(0.0, 0.0),
            series: [Line::exact("analysis", exact)].into_iter().chain(others.iter().map(series)).collect(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        })
    };
    let panels: Vec<Drawing> = (0..outcome.cases.len()).map(panel).collect();
    sheet("Analysis, drawings and packets", &panels, 2)
}
