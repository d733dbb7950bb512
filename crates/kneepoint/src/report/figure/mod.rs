// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Figures of the factors: a panel for each metric, drawn along one axis, with a line for each label of a second, and
//! small multiples for a third and a fourth. Experiments, scenarios and comparisons use the same drawing.
//!
//! ```text
//! Frame, FigureSpec ─view→ axes and labels ─panel→ Lines · Groups · Heat ─→ a chart of each metric, or facets of it
//!   ▲        ▲
//!   │        └ choice: omitted settings follow from the factors
//!   └ numbers under labels
//! ```

mod axis;
mod check;
mod choice;
mod panel;
mod paper;
mod quantity;
mod study;
mod tables;
mod view;

pub use check::{Parts, check};
pub use choice::{Chosen, Misfit, joined, settle};
pub use paper::paper;
pub use study::{block, of, of_experiment};

use super::Factor;
use super::document::Block;
use crate::chart::{self, Drawing};
use crate::experiment::expression::Reference;
use crate::scenario::FigureSpec;
use crate::study::Frame;
use quantity::{Quantity, quantities};
use view::View;

/// The inputs of a figure.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'o> {
    /// How it is drawn.
    pub figure: &'o FigureSpec,
    /// The observations.
    pub frame: &'o Frame,
    /// The axes that have names and units for people; labels of other axes are shown unchanged.
    pub factors: &'o [Factor],
    /// Published numbers with their quantities.
    pub published: &'o [(Reference, f64)],
    /// The interval of the run that is measured, in seconds.
    pub measured: Option<(f64, f64)>,
    /// Whether numbers are in the units of tables; otherwise in the units of files, as published numbers are.
    pub scaled: bool,
}

/// All panels on one sheet; none if the axis of x is empty.
pub fn sheet(observed: &Observed, title: &str) -> Option<Drawing> {
    let view = View::of(observed)?;
    let panels = panels(&view);
    let columns = if panels.len() > 1 && observed.figure.facet.0.is_empty() { 2 } else { 1 };
    Some(chart::sheet(title, &panels, columns))
}

/// A panel for each metric, and for each series a panel with two metrics as axes.
fn panels(view: &View) -> Vec<Drawing> {
    let FigureSpec { panels, plane, .. } = view.observed.figure;
    let of = |text: &str| Quantity::of(text, view.observed.scaled);
    let mut drawn: Vec<Drawing> =
        quantities(&panels.0, of).map(|shown| panel::drawing(view, &shown)).collect();
    let plane: Vec<Quantity> = quantities(&plane.0, of).collect();
    if let [across, up] = plane.as_slice() {
        drawn.extend((0..view.series.len()).map(|series| panel::plane(view, across, up, series)));
    }
    drawn
}

/// The tables of the figure: one of all quantities where there is a single series, else one of each.
pub fn tables(observed: &Observed) -> Vec<Block> {
    View::of(observed).map_or(Vec::new(), |view| tables::of(&view))
}
