// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The numbers of a figure as tables: a line for each label along x.

use super::super::document::{Block, Column, Shown, Table, TableLine};
use super::quantity::{Quantity, quantities};
use super::view::View;

/// One table of all quantities where there is a single series, else one of each.
pub(super) fn of(view: &View) -> Vec<Block> {
    let wanted = &view.observed.figure.tables.0;
    let shown: Vec<Quantity> =
        quantities(wanted, |text: &str| Quantity::of(text, view.observed.scaled)).collect();
    match view.series.as_slice() {
        _ if shown.is_empty() => Vec::new(),
        [single] => {
            let columns = shown.iter().map(|one| one.column(one.short.clone()));
            let cells = |x: &String| shown.iter().map(|one| cell(view, one, x, single)).collect();
            vec![table(view, columns.collect(), cells)]
        }
        several => {
            let of_one = |one: &Quantity| {
                let columns = several.iter().flatten().map(|name| one.column(name.clone()));
                let cells = |x: &String| several.iter().map(|series| cell(view, one, x, series)).collect();
                [Block::prose(format!("{}:", one.title)), table(view, columns.collect(), cells)]
            };
            shown.iter().flat_map(of_one).collect()
        }
    }
}

fn table(view: &View, columns: Vec<Column>, cells: impl Fn(&String) -> Vec<Shown>) -> Block {
    let figure = view.observed.figure;
    let lines = view.xs.iter().map(|x| TableLine::new(x.clone(), cells(x)));
    Block::Table(Table {
        corner: view.axis_name(&figure.x.0, &figure.label.0),
        columns,
        lines: lines.collect(),
        linked: false,
    })
}

fn cell(view: &View, shown: &Quantity, x: &str, series: &Option<String>) -> Shown {
    Shown::of(&view.estimate(shown, x, series), shown.scale)
}
