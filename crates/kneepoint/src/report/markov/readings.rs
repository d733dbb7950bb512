// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The effect of each reading of the paper.

use super::simulated::{Errors, others, percent};
use super::{DIGITS, EFFICIENCY, chosen};
use crate::report::document::{Block, Column, Section, Shown, Table, TableLine};
use crate::study::markov::{Change, Outcome, Point};
use crate::table::number::significant;

/// A line for each change of the readings: its effect, and its distance from drawings and packets.
pub(super) fn readings(outcome: &Outcome) -> Vec<Section> {
    let others = others(outcome);
    let all: Vec<Option<&Change>> =
        [None].into_iter().chain(outcome.changes().into_iter().map(Some)).collect();
    let mean = |points: &[&Point]| {
        points.iter().map(|point| EFFICIENCY.at(point)).sum::<f64>() / points.len() as f64
    };
    let name = |change: Option<&Change>| change.map_or("as chosen".to_string(), |change| change.name.clone());
    let table = |case: usize| {
        let base = chosen(outcome, case);
        let line = |change: &Option<&Change>| {
            let points: Vec<&Point> = outcome.line(case, *change).collect();
            let pairs = points.iter().zip(&base);
            let changes = pairs.map(|(here, there)| EFFICIENCY.at(here) / EFFICIENCY.at(there) - 1.0);
            let greatest = changes.max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(f64::NAN);
            let mut cells = vec![significant(mean(&points), DIGITS), percent(greatest)];
            for (other, of) in &others {
                let errors = Errors::of(points.iter().copied(), *of);
                match *other {
                    "drawn" => {
                        cells.extend([percent(errors.greatest), within(&points).into()]);
                    }
                    _ => cells.extend([percent(errors.mean), significant(100.0 * errors.size, 3)]),
                }
            }
            TableLine {
                about: change.map_or(String::new(), |change| change.about.to_string()),
                ..TableLine::new(name(*change), cells.into_iter().map(Shown::from).collect())
            }
        };
        let mut columns = vec![Column::number("efficiency", ""), Column::number("change", "%")];
        for (other, _) in &others {
            columns.extend(match *other {
                "drawn" => [Column::number("above drawn", "%"), Column::text("in 1 %")],
                _ => [Column::number("above packets", "%"), Column::number("mean size", "%")],
            });
        }
        let lines = all.iter().map(line).collect();
        let table = Table { corner: "reading".into(), columns, lines, linked: false };
        Section::new(outcome.cases[case].name.clone(), vec![Block::Table(table)])
    };
    let drawn = "A drawing that differs by more than 1 %, but by less than the half width of its own interval, leaves it unclear.";
    let drawn = others.iter().any(|(other, _)| *other == "drawn").then(|| Block::prose(drawn));
    let about = match outcome.along {
        Some(_) => {
            "Each line changes one reading, or takes all of a preset. The efficiency and the errors are means over \
                    the axis; the change and the difference from drawings are the greatest."
        }
        None => "Each line changes one reading, or takes all of a preset.",
    };
    let introduction = Section::new("Readings", [Block::prose(about)].into_iter().chain(drawn).collect());
    let sections = [introduction].into_iter().chain((0..outcome.cases.len()).map(table));
    sections.chain(nearest(outcome, &all, &name)).collect()
}

/// Whether the analysis is within 1 % of the Monte Carlo results; a result outside that but within their intervals is undecided.
fn within(points: &[&Point]) -> &'static str {
    let drawn = |point: &&Point| {
        let drawn = point.drawn?;
        let width = drawn.throughput.half_width.unwrap_or(f64::INFINITY) / drawn.throughput.mean;
        Some((point.excess(&drawn).abs(), width))
    };
    let outside = points.iter().filter_map(drawn).filter(|(error, _)| *error > 0.01);
    let mut outside = outside.collect::<Vec<_>>();
    let any = !outside.is_empty();
    outside.retain(|(error, width)| error > width);
    match (any, outside.is_empty()) {
        (false, _) => "yes",
        (true, true) => "unclear",
        (true, false) => "no",
    }
}

/// The readings in order of their distance from packets, over all cases and points.
fn nearest(
    outcome: &Outcome,
    changes: &[Option<&Change>],
    name: &dyn Fn(Option<&Change>) -> String,
) -> Option<Section> {
    let of = |point: &Point| point.packets;
    let all = |change: Option<&Change>| {
        let points = outcome.points.iter().filter(move |point| point.place.change.as_ref() == change);
        Errors::of(points, of)
    };
    let mut ranked: Vec<(Option<&Change>, Errors)> =
        changes.iter().map(|change| (*change, all(*change))).collect();
    ranked.retain(|(_, errors)| errors.size.is_finite());
    ranked.sort_by(|(_, a), (_, b)| a.size.total_cmp(&b.size));
    let line = |(change, errors): &(Option<&Change>, Errors)| {
        let cells = [significant(100.0 * errors.size, 3), percent(errors.mean), percent(errors.greatest)];
        TableLine::new(name(*change), cells.map(Shown::from).to_vec())
    };
    let titles = ["mean size of the error", "mean error", "greatest"];
    let table = Table {
        corner: "reading".into(),
        columns: titles.map(|title| Column::number(title, "%")).into(),
        lines: ranked.iter().map(line).collect(),
        linked: false,
    };
    let about = "The error of the throughput, over all sessions and points.";
    let blocks = vec![Block::prose(about), Block::Table(table)];
    (!ranked.is_empty()).then(|| Section::new("Nearest to the packets", blocks))
}
