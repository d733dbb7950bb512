// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Losses, marks and retransmissions since the start of the run.

use super::super::document::{Block, Figure, Layout};
use super::super::{Comparison, SchemeResult};
use super::{HALF, INTERVALS, condition, curves, greatest, part, shown};
use crate::chart::{Curve, Panel};

/// Losses, marks and retransmissions below the colours of their curves, and which cases they are where others are left out.
pub(in super::super) fn counts(comparison: &Comparison) -> Vec<Block> {
    let count = comparison.contests().len();
    let told = condition(comparison).map(|at| Block::prose(format!("One of {count} conditions: {at}.")));
    let named = |rank: usize| (name(comparison, rank), comparison.class_of(rank));
    let key = Block::Key(shown(comparison).into_iter().map(named).collect());
    told.into_iter().chain([key, Block::Figures(Layout::Halves, charts(comparison))]).collect()
}

/// Drops and marks at the bottleneck, and retransmissions, summed from the start of the run: a curve per scheme. An
/// event that never happens has no figure.
fn charts(comparison: &Comparison) -> Vec<Figure> {
    // The bottleneck's is the first column; groups are added up.
    let quantities = [
        ("drops", 1, "Packets dropped", "By the bottleneck's queue, since the start of the first run."),
        ("marks", 1, "Packets marked", "By the bottleneck's queue, since the start of the first run."),
        (
            "retransmissions",
            usize::MAX,
            "Packets retransmitted",
            "By the senders of all groups, since the start of the first run.",
        ),
    ];
    let at = condition(comparison).map_or(String::new(), |at| format!(", {at}"));
    let figure = |(quantity, columns, title, note): (&'static str, usize, &str, &'static str)| {
        let sum = |rank: usize| (rank, running_sum(&comparison.schemes[rank], quantity, columns));
        let all: Vec<_> = shown(comparison).into_iter().map(sum).collect();
        let greatest = greatest(all.iter().map(|(_, points)| points));
        let title = format!("{title}{at}");
        let mut panel = Panel::new(&title, HALF, greatest, ("time, s", "packets"));
        if let Some(part) = comparison.schemes.first().and_then(|scheme| part(scheme, greatest.0)) {
            panel.measured(part);
        }
        for (rank, points) in all.iter().filter(|(_, points)| !points.is_empty()) {
            let curve = Curve::thinned(points, INTERVALS).named(name(comparison, *rank));
            panel.line(&comparison.class_of(*rank), &curve);
        }
        let (stem, drawing) = (quantity.into(), panel.finish());
        (greatest.1 > 0.0).then_some(Figure { name: stem, title, note, class: None, drawing })
    };
    quantities.into_iter().filter_map(figure).collect()
}

/// The name of a case among those that are shown.
fn name(comparison: &Comparison, rank: usize) -> String {
    match condition(comparison) {
        Some(_) => comparison.rival(rank),
        None => comparison.schemes[rank].scheme.clone(),
    }
}

/// The sum over this many columns of a quantity since the start of the run, by the time.
fn running_sum(scheme: &SchemeResult, quantity: &str, columns: usize) -> Vec<(f64, f64)> {
    let add = |(one, other): ((f64, f64), (f64, f64))| (one.0, one.1 + other.1);
    let all = curves(scheme, quantity).into_iter().take(columns);
    let counts = all.reduce(|sum, more| sum.into_iter().zip(more).map(add).collect()).unwrap_or_default();
    let mut sum = 0.0;
    let since = |(time, count)| {
        sum += count;
        (time, sum)
    };
    counts.into_iter().map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::{comparison, example};
    use super::*;

    #[test]
    fn of_many_conditions_one_is_shown_and_named_once() {
        let mut grid = example::grid();
        let series = example::comparison().schemes[0].series.clone();
        grid.schemes.iter_mut().for_each(|scheme| scheme.series.clone_from(&series));
        assert_eq!(charts(&grid)[0].title, "Packets dropped, buffer 0.5 BDP, RTT 20 ms");
        let document = comparison::document(&grid);
        let pictures = document.pictures();
        let drops = pictures.iter().find(|picture| picture.name == "drops").unwrap().drawing.standalone();
        for name in ["cubic", "reno", "bbr", "vegas"] {
            assert_eq!(drops.matches(&format!(">{name}</text>")).count(), 1, "{name}: {drops}");
        }
        let page = super::super::super::format::html::render(&document);
        assert!(page.contains("One of 9 conditions: buffer 0.5 BDP, RTT 20 ms."));
        assert!(!charts(&example::comparison())[0].title.contains(','), "two schemes are all shown");
    }
}
