// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an experiment observed, as a table for machines: one line for each metric under each combination of labels.

use crate::experiment::{Labels, Outcome};

/// The columns besides the axes.
const COLUMNS: [&str; 5] = ["variant", "metric", "mean", "half_width", "seeds"];

/// Means over seeds with their intervals.
pub fn estimates(outcome: &Outcome) -> String {
    let mut axes: Vec<&str> = Vec::new();
    for axis in outcome.frames.iter().flat_map(|frame| frame.axes()) {
        if !axes.contains(&axis) {
            axes.push(axis);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and every record has as many fields as the first.
    let _ = writer.write_record(COLUMNS[..1].iter().chain(&axes).chain(&COLUMNS[1..]));
    for (variant, frame) in outcome.experiment.variants.iter().zip(&outcome.frames) {
        for (labels, metric) in frame.cells() {
            let Some(estimate) = frame.estimate(metric, labels) else { continue };
            let label = |axis: &&str| Labels::get(labels, *axis).cloned().unwrap_or_default();
            let half_width = estimate.half_width.map(|half_width| half_width.to_string());
            let numbers = [
                metric.to_string(),
                estimate.mean.to_string(),
                half_width.unwrap_or_default(),
                frame.seeds().len().to_string(),
            ];
            let name = variant.name.clone().unwrap_or_default();
            let record = std::iter::once(name).chain(axes.iter().map(label)).chain(numbers);
            let _ = writer.write_record(record);
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}
