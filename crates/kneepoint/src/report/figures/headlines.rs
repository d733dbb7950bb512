// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The headline metrics as bars, and two of them against one another.

use super::super::document::{Figure, Shown};
use super::super::{Comparison, RunResult, SchemeResult};
use crate::chart::{Bar, Dot, bars, scatter};
use crate::measure::headlines;
use crate::metric::Metric;
use crate::table::value;

/// Bars for each headline metric that is defined for some scheme.
pub(in super::super) fn metrics(comparison: &Comparison) -> Vec<Figure> {
    let bars =
        |metric: &'static Metric| metric_bars(comparison, metric, &|run| value(&run.rows, &metric.key, &[]));
    headlines().filter_map(bars).collect()
}

/// Bars of a metric of some part of the runs; none where no scheme has it.
pub(in super::super) fn metric_bars(
    comparison: &Comparison,
    metric: &Metric,
    of: &dyn Fn(&RunResult) -> f64,
) -> Option<Figure> {
    let bar = |(rank, scheme): (usize, &SchemeResult)| {
        let estimate = scheme.estimate_of(of);
        let (low, high) = metric.interval(&estimate);
        Bar {
            class: comparison.class_of(rank),
            name: scheme.scheme.clone(),
            shown: Shown::metric(&estimate, metric).text(),
            mean: estimate.mean * metric.scale,
            interval: (low * metric.scale, high * metric.scale),
        }
    };
    let all: Vec<Bar> = comparison.schemes.iter().enumerate().map(bar).collect();
    let title = with_unit(&metric.title, metric.unit);
    all.iter().any(|one| one.mean.is_finite()).then(|| Figure {
        name: metric.key.clone(),
        drawing: bars(&title, &all),
        title,
        note: "",
        class: None,
    })
}

fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.into() } else { format!("{title}, {unit}") }
}

/// Utilization against queueing delay: up and left is better, and the knee is the corner.
pub(in super::super) fn knee(comparison: &Comparison) -> Option<Figure> {
    let headline = |key: &str| headlines().find(|metric| metric.key == key);
    let (delay, utilization) = (headline("queueing_delay_mean_ms")?, headline("utilization")?);
    let scaled = |scheme: &SchemeResult, metric: &Metric| scheme.estimate(&metric.key).times(metric.scale);
    let dot = |(rank, scheme): (usize, &SchemeResult)| {
        let (x, y) = (scaled(scheme, delay), scaled(scheme, utilization));
        let interval = |metric: &Metric| {
            let (low, high) = metric.interval(&scheme.estimate(&metric.key));
            (low * metric.scale, high * metric.scale)
        };
        let dot = Dot::of(comparison.class_of(rank), &scheme.scheme, &x, &y)?;
        Some(dot.within(interval(delay), interval(utilization)))
    };
    let dots: Vec<Dot> = comparison.schemes.iter().enumerate().filter_map(dot).collect();
    let title = "Utilization against queueing delay";
    let names = ("mean queueing delay, ms", "utilization, %");
    (!dots.is_empty()).then(|| Figure {
        name: "utilization_against_delay".into(),
        title: title.into(),
        note: "Up and to the left is better: a busy link and an empty queue. Crosses are confidence intervals.",
        class: None,
        drawing: scatter(title, names, &dots),
    })
}
