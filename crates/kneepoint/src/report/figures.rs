// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charts of a comparison.

use std::collections::BTreeMap;

use super::document::Figure;
use super::{Comparison, RunResult, SchemeResult, number};
use crate::chart::{Bar, Curve, Dot, Panel, bars, scatter, scheme_class};
use crate::measure::{Metric, Subject, headlines};
use crate::table::Row;

const PANEL: (f64, f64) = (360.0, 220.0);
const HALF: (f64, f64) = (520.0, 330.0);
/// Intervals that a panel tells apart: fewer than it has pixels.
const INTERVALS: usize = 300;

/// Bars for each headline metric that is defined for some scheme.
pub(super) fn metrics(comparison: &Comparison) -> Vec<Figure> {
    headlines().filter_map(|metric| metric_bars(comparison, metric)).collect()
}

fn metric_bars(comparison: &Comparison, metric: &Metric) -> Option<Figure> {
    let bar = |(rank, scheme): (usize, &SchemeResult)| {
        let estimate = scheme.estimate(&metric.key);
        let shown = match number::estimate(&estimate, metric.scale) {
            (mean, Some(half_width)) => format!("{mean} ± {half_width}"),
            (mean, None) => mean,
        };
        let (low, high) = estimate.interval();
        Bar {
            class: scheme_class(rank),
            name: scheme.scheme.clone(),
            shown,
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
pub(super) fn knee(comparison: &Comparison) -> Option<Figure> {
    let headline = |key: &str| headlines().find(|metric| metric.key == key);
    let (delay, utilization) = (headline("queueing_delay_mean_ms")?, headline("utilization")?);
    let scaled = |scheme: &SchemeResult, metric: &Metric| scheme.estimate(&metric.key).times(metric.scale);
    let dot = |(rank, scheme): (usize, &SchemeResult)| {
        let (x, y) = (scaled(scheme, delay), scaled(scheme, utilization));
        Dot::of(scheme_class(rank), &scheme.scheme, &x, &y)
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

/// The bottleneck's queue over time: a panel per scheme, all on one scale.
pub(super) fn queues(comparison: &Comparison) -> Vec<Figure> {
    let sampled = |scheme: &SchemeResult| curves(scheme, "queue_packets").into_iter().next();
    let all: Vec<_> = comparison.schemes.iter().map(sampled).collect();
    let greatest = greatest(all.iter().flatten());
    let buffer = buffer_packets(comparison).filter(|buffer| *buffer <= 1.6 * greatest.1);
    let greatest = (greatest.0, greatest.1.max(buffer.unwrap_or(0.0)));
    let panel = |(rank, points): (usize, Option<Vec<(f64, f64)>>)| {
        let scheme = &comparison.schemes[rank].scheme;
        let class = scheme_class(rank);
        let label = format!("Queue over time, {scheme}");
        let mut panel = Panel::new(&label, PANEL, greatest, ("time, s", "queue, packets"));
        if let Some(buffer) = buffer {
            panel.level(buffer, "buffer");
        }
        let [low, mean, high] = Curve::summed_up(&points?, INTERVALS);
        panel.band(&class, &low, &high);
        panel.line(&class, &mean);
        if let Some(Ok(beside)) = &comparison.schemes[rank].theory {
            let theory = &beside.theory;
            let cut = |&(at, packets): &(f64, f64)| (at, packets.min(greatest.1));
            panel
                .line("fluid", &Curve::thinned(&theory.queue.iter().map(cut).collect::<Vec<_>>(), INTERVALS));
            if theory.rest_packets <= greatest.1 {
                panel.level(theory.rest_packets, "fluid equilibrium");
            }
        }
        let name = format!("queue_{}", rank + 1);
        Some(Figure { name, title: scheme.clone(), note: "", class: Some(class), drawing: panel.finish() })
    };
    all.into_iter().enumerate().filter_map(panel).collect()
}

/// The windows of a few flows over time: a panel per scheme, all on one scale.
pub(super) fn windows(comparison: &Comparison) -> Vec<Figure> {
    let all: Vec<_> = comparison.schemes.iter().map(|scheme| curves(scheme, "window_packets")).collect();
    let cut = usual_height(&all);
    let (end, highest) = greatest(all.iter().flatten());
    let greatest = (end, highest.min(cut));
    let panel = |(rank, flows): (usize, Vec<Vec<(f64, f64)>>)| {
        let scheme = &comparison.schemes[rank].scheme;
        let class = scheme_class(rank);
        let label = format!("Windows over time, {scheme}");
        let mut panel = Panel::new(&label, PANEL, greatest, ("time, s", "window, packets"));
        for (place, points) in flows.iter().enumerate().rev() {
            let shade = if place == 0 { class.clone() } else { format!("{class} other") };
            let points: Vec<_> = points.iter().map(|&(time, window)| (time, window.min(cut))).collect();
            panel.line(&shade, &Curve::thinned(&points, INTERVALS));
        }
        let name = format!("window_{}", rank + 1);
        let drawing = panel.finish();
        (!flows.is_empty()).then_some(Figure {
            name,
            title: scheme.clone(),
            note: "",
            class: Some(class),
            drawing,
        })
    };
    all.into_iter().enumerate().filter_map(panel).collect()
}

/// A height that cuts off the rare peaks of slow start, beside which nothing else could be seen.
fn usual_height(all: &[Vec<Vec<(f64, f64)>>]) -> f64 {
    let mut heights: Vec<f64> = all.iter().flatten().flatten().map(|point| point.1).collect();
    heights.sort_by(f64::total_cmp);
    heights.get(heights.len() * 995 / 1000).map_or(1.0, |height| 1.15 * height)
}

/// The flows that [`windows`] shows: `forward/0`, the first of them drawn in full colour.
pub(super) fn followed_flows(comparison: &Comparison) -> Vec<String> {
    let series = comparison.schemes.iter().find_map(|scheme| scheme.series.as_ref());
    series.map_or(Vec::new(), |series| {
        let columns = series.columns_of("window_packets").into_iter();
        columns.map(|column| series.subject(column).to_string()).collect()
    })
}

/// The distribution of the bottleneck's queue over time: a curve per scheme over all its runs.
pub(super) fn distribution(comparison: &Comparison) -> Option<Figure> {
    let all: Vec<Vec<(f64, f64)>> = comparison.schemes.iter().map(cumulated).collect();
    let longest = all.iter().flatten().map(|point| point.0).fold(0.0, f64::max);
    let title = "Distribution of the queue's length";
    let names = ("queue, packets", "fraction of the time that it was no longer");
    let mut panel = Panel::new(title, HALF, (longest, 1.0), names);
    if let Some(buffer) = buffer_packets(comparison).filter(|buffer| *buffer <= longest) {
        panel.mark(buffer, "buffer");
    }
    for (rank, points) in all.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
        panel.line(&scheme_class(rank), &Curve::new(points.clone()));
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

/// The buffer of the bottleneck, if it is the same for all schemes.
fn buffer_packets(comparison: &Comparison) -> Option<f64> {
    let of = |scheme: &SchemeResult| Some(bottleneck(scheme.runs.first()?)?.value("buffer_packets"));
    let buffers: Vec<Option<f64>> = comparison.schemes.iter().map(of).collect();
    let same = buffers.windows(2).all(|pair| pair[0] == pair[1]);
    buffers.first().copied().flatten().filter(|buffer| same && buffer.is_finite())
}
