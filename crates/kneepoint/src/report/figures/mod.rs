// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charts of a comparison.

mod counts;
mod distribution;
mod headlines;
mod over_time;

pub(super) use counts::counts;
pub(super) use distribution::distribution;
pub(super) use headlines::{knee, metric_bars, metrics};
use over_time::{condition, shown};
pub(super) use over_time::{followed, peak, summed_up, timelines};

use super::{Comparison, RunResult, SchemeResult};
use crate::measure::Subject;
use crate::table::Row;
use crate::units::Span;

const HALF: (f64, f64) = (520.0, 330.0);
/// Intervals that a panel resolves: fewer than it has pixels.
const INTERVALS: usize = 300;

/// The part of a run that was measured, if that is not all until its end.
fn part(scheme: &SchemeResult, end: f64) -> Option<(f64, f64)> {
    scheme.measured.filter(|(from, to)| *from > 0.0 || *to < end)
}

/// How far apart the samples of the first run are.
pub(super) fn step(comparison: &Comparison) -> Option<Span> {
    let series = comparison.schemes.iter().find_map(|scheme| scheme.series.as_ref())?;
    let [first, second, ..] = series.rows.as_slice() else { return None };
    Some(Span::from_secs_f64(second.first()? - first.first()?))
}

/// The row of the first measured link.
pub(super) fn bottleneck(run: &RunResult) -> Option<&Row> {
    run.rows.iter().find(|row| Subject::Link.has(row))
}

/// The curves of a quantity over time, one per column.
fn curves(scheme: &SchemeResult, quantity: &str) -> Vec<Vec<(f64, f64)>> {
    let Some(series) = &scheme.series else { return Vec::new() };
    let Some(time) = series.columns_of("time_s").first().copied() else { return Vec::new() };
    let curve = |column: usize| -> Vec<(f64, f64)> {
        series.values(time).zip(series.values(column)).filter(|point| point.1.is_finite()).collect()
    };
    series.columns_of(quantity).into_iter().map(curve).filter(|points| !points.is_empty()).collect()
}

fn greatest<'a>(curves: impl Iterator<Item = &'a Vec<(f64, f64)>>) -> (f64, f64) {
    curves.flatten().fold((0.0, 0.0), |(x, y), point| (point.0.max(x), point.1.max(y)))
}

/// A metric of the bottleneck, if it is the same for all schemes.
fn shared(comparison: &Comparison, metric: &str) -> Option<f64> {
    let of = |scheme: &SchemeResult| Some(bottleneck(scheme.runs.first()?)?.value(metric));
    let all: Vec<Option<f64>> = comparison.schemes.iter().map(of).collect();
    let same = all.windows(2).all(|pair| pair[0] == pair[1]);
    all.first().copied().flatten().filter(|value| same && value.is_finite())
}
