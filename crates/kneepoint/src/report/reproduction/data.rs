// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an experiment observed, as a table for machines: one line for each metric under each combination of labels.

use crate::experiment::Reproduction;
use crate::table::Labels;
use crate::table::{Cell, Records};

/// Means over seeds with their intervals. `variant` is empty for the readings taken; an axis that says nothing of a
/// number is empty in its line.
pub fn estimates(outcome: &Reproduction) -> Records {
    let mut axes: Vec<&str> = Vec::new();
    for axis in outcome.frames.iter().flat_map(|frame| frame.axes()) {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    let mut rows = Vec::new();
    for (variant, frame) in outcome.experiment.variants.iter().zip(&outcome.frames) {
        for (labels, metric) in frame.cells() {
            let Some(estimate) = frame.estimate(metric, labels) else { continue };
            let label = |axis: &&str| Cell::Text(Labels::get(labels, *axis).cloned().unwrap_or_default());
            let mut row = vec![Cell::Text(variant.name.clone().unwrap_or_default())];
            row.extend(axes.iter().map(label));
            row.push(metric.into());
            row.push(estimate.mean.into());
            row.push(estimate.half_width.unwrap_or(f64::NAN).into());
            row.push((frame.replications(metric, labels).len() as f64).into());
            rows.push(row);
        }
    }
    let columns = ["variant"].into_iter().chain(axes).chain(["metric", "mean", "half_width", "seeds"]);
    Records { columns: columns.map(String::from).collect(), rows }
}
