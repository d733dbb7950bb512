// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The part of the time for which the queue had each length.

use std::collections::BTreeMap;

use super::super::document::Figure;
use super::super::{Comparison, SchemeResult};
use super::{HALF, bottleneck, shared};
use crate::chart::{Curve, Panel};
use crate::measure::Subject;

/// The distribution of the bottleneck's queue over time: a curve per scheme over all its runs.
pub(in super::super) fn distribution(comparison: &Comparison) -> Option<Figure> {
    let all: Vec<Vec<(f64, f64)>> = comparison.schemes.iter().map(cumulated).collect();
    let longest = all.iter().flatten().map(|point| point.0).fold(0.0, f64::max);
    let title = "Distribution of the queue's length";
    let names = ("queue, packets", "CDF over time");
    let mut panel = Panel::new(title, HALF, (longest, 1.0), names);
    if let Some(buffer) = shared(comparison, "buffer_packets").filter(|buffer| *buffer <= longest) {
        panel.mark(buffer, "buffer");
    }
    for (rank, points) in all.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
        let curve = Curve::new(points.clone()).named(&comparison.schemes[rank].scheme);
        panel.line(&comparison.class_of(rank), &curve);
    }
    let any = all.iter().any(|points| !points.is_empty());
    any.then(|| Figure {
        name: "queue_distribution".into(),
        title: title.into(),
        note: "Weighted by time, over all runs. A curve further to the left is a shorter queue.",
        class: None,
        drawing: panel.finish(),
    })
}

/// Steps of the mean distribution over the runs, up to the length that the queue almost never exceeds.
fn cumulated(scheme: &SchemeResult) -> Vec<(f64, f64)> {
    let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
    for run in &scheme.runs {
        let Some(bottleneck) = bottleneck(run) else { continue };
        let lengths = run.rows.iter().filter(|row| Subject::Length.has(row));
        for row in lengths.filter(|row| row.label("link") == bottleneck.label("link")) {
            if let Ok(length) = row.label("bin").parse() {
                *shares.entry(length).or_default() +=
                    row.value("queue_length_share") / scheme.runs.len() as f64;
            }
        }
    }
    let longest = shares.last_key_value().map(|(length, _)| *length);
    let (mut points, mut sum, mut drawn) = (Vec::new(), 0.0, 0.0);
    for (length, share) in shares {
        let next = sum + share;
        // A step lower than half a pixel need not be drawn.
        if next - drawn > 0.002 || Some(length) == longest {
            points.extend([(length as f64, sum), (length as f64, next)]);
            drawn = next;
        }
        sum = next;
        if sum > 0.9995 {
            break;
        }
    }
    points
}
