// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charts of a comparison.

use std::collections::BTreeMap;

use super::document::Figure;
use super::{Comparison, RunResult, SchemeResult, number};
use crate::chart::{Bar, Curve, Dot, Panel, bars, scatter, scheme_class};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::Row;
use crate::units::Span;

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

/// Panels over time, one for each scheme that has something to draw, all on one scale.
struct Sheet {
    /// Of its figures, before their numbers.
    name: &'static str,
    title: &'static str,
    /// The axis of what is drawn.
    axis: &'static str,
    greatest: (f64, f64),
}

impl Sheet {
    fn panels<T>(
        &self,
        comparison: &Comparison,
        all: Vec<Option<T>>,
        draw: impl Fn(&mut Panel, &str, usize, T),
    ) -> Vec<Figure> {
        let panel = |(rank, drawn): (usize, Option<T>)| {
            let (scheme, class) = (&comparison.schemes[rank].scheme, scheme_class(rank));
            let label = format!("{}, {scheme}", self.title);
            let mut panel = Panel::new(&label, PANEL, self.greatest, ("time, s", self.axis));
            shade(&mut panel, &comparison.schemes[rank], self.greatest.0);
            draw(&mut panel, &class, rank, drawn?);
            let name = format!("{}_{}", self.name, rank + 1);
            let drawing = panel.finish();
            Some(Figure { name, title: scheme.clone(), note: "", class: Some(class), drawing })
        };
        all.into_iter().enumerate().filter_map(panel).collect()
    }
}

/// Shades the measured part of a run, unless that is all of it.
fn shade(panel: &mut Panel, scheme: &SchemeResult, end: f64) {
    if let Some((from, to)) = scheme.measured.filter(|(from, to)| *from > 0.0 || *to < end) {
        panel.measured((from, to));
    }
}

/// The goodput of each group over time: a curve in the colour of the group's place.
pub(super) fn goodputs(comparison: &Comparison) -> Vec<Figure> {
    let mbit = |points: Vec<(f64, f64)>| points.into_iter().map(|(time, rate)| (time, 1e-6 * rate)).collect();
    let of = |scheme: &SchemeResult| -> Vec<Vec<(f64, f64)>> {
        curves(scheme, "throughput_bps").into_iter().map(mbit).collect()
    };
    let all: Vec<_> = comparison.schemes.iter().map(of).collect();
    let greatest = greatest(all.iter().flatten());
    let all = all.into_iter().map(|groups| (!groups.is_empty()).then_some(groups)).collect();
    let (title, axis) = ("Goodput over time", "goodput, Mbit/s");
    Sheet { name: "goodput", title, axis, greatest }.panels(comparison, all, |panel, _, _, groups| {
        for (place, points) in groups.iter().enumerate() {
            let [_, mean, _] = Curve::summed_up(points, INTERVALS);
            panel.line(&scheme_class(place), &mean);
        }
    })
}

/// The groups that [`goodputs`] shows, each with the class of its colour.
pub(super) fn goodput_key(comparison: &Comparison) -> Vec<(String, String)> {
    let series = comparison.schemes.iter().find_map(|scheme| scheme.series.as_ref());
    let columns = series.map_or(Vec::new(), |series| series.columns_of("throughput_bps"));
    let named = |(place, column): (usize, usize)| {
        (series.map_or("", |series| series.subject(column)).to_string(), scheme_class(place))
    };
    columns.into_iter().enumerate().map(named).collect()
}

/// The bottleneck's queue over time.
pub(super) fn queues(comparison: &Comparison) -> Vec<Figure> {
    let all = of_bottleneck(comparison, "queue_packets");
    let greatest = greatest(all.iter().flatten());
    let buffer = shared(comparison, "buffer_packets").filter(|buffer| *buffer <= 1.6 * greatest.1);
    let greatest = (greatest.0, greatest.1.max(buffer.unwrap_or(0.0)));
    let sheet = Sheet { name: "queue", title: "Queue over time", axis: "queue, packets", greatest };
    sheet.panels(comparison, all, |panel, class, rank, points| {
        if let Some(buffer) = buffer {
            panel.level(buffer, "buffer");
        }
        summed_up(panel, class, &points);
        if let Some(Ok(beside)) = &comparison.schemes[rank].theory {
            let theory = &beside.theory;
            let cut = |&(at, packets): &(f64, f64)| (at, packets.min(greatest.1));
            panel
                .line("fluid", &Curve::thinned(&theory.queue.iter().map(cut).collect::<Vec<_>>(), INTERVALS));
            if theory.rest_packets <= greatest.1 {
                panel.level(theory.rest_packets, "fluid equilibrium");
            }
        }
    })
}

/// The bottleneck's throughput over time.
pub(super) fn throughputs(comparison: &Comparison) -> Vec<Figure> {
    let mbit = |(time, rate): (f64, f64)| (time, 1e-6 * rate);
    let all = of_bottleneck(comparison, "link_throughput_bps").into_iter();
    let all: Vec<Option<Vec<_>>> = all.map(|points| Some(points?.into_iter().map(mbit).collect())).collect();
    let greatest = greatest(all.iter().flatten());
    let capacity = shared(comparison, "capacity_bps").map(|capacity| 1e-6 * capacity);
    // Where the capacity varies, its mean is a line through the curves that tells nothing.
    let capacity = capacity.filter(|capacity| greatest.1 <= 1.001 * capacity);
    let greatest = (greatest.0, greatest.1.max(capacity.unwrap_or(0.0)));
    let (title, axis) = ("Link throughput over time", "throughput, Mbit/s");
    Sheet { name: "link_throughput", title, axis, greatest }.panels(
        comparison,
        all,
        |panel, class, _, points| {
            if let Some(capacity) = capacity {
                panel.level(capacity, "mean capacity");
            }
            summed_up(panel, class, &points);
        },
    )
}

/// Drops and marks at the bottleneck, and retransmissions, summed from the start of the run: a curve per scheme. What never
/// happens has no figure.
pub(super) fn counts(comparison: &Comparison) -> Vec<Figure> {
    // That of the bottleneck is the first column; groups are added up.
    let quantities = [
        ("drops", 1, "Packets dropped", "By the bottleneck's queue, since the start of the first run."),
        ("marks", 1, "Packets marked", "By the bottleneck's queue, since the start of the first run."),
        (
            "retransmissions",
            usize::MAX,
            "Packets sent again",
            "By the senders of all groups, since the start of the first run.",
        ),
    ];
    let figure = |(quantity, columns, title, note): (&'static str, usize, &str, &'static str)| {
        let all: Vec<_> =
            comparison.schemes.iter().map(|scheme| running_sum(scheme, quantity, columns)).collect();
        let greatest = greatest(all.iter());
        let mut panel = Panel::new(title, HALF, greatest, ("time, s", "packets"));
        if let Some(scheme) = comparison.schemes.first() {
            shade(&mut panel, scheme, greatest.0);
        }
        for (rank, points) in all.iter().enumerate().filter(|(_, points)| !points.is_empty()) {
            panel.line(&scheme_class(rank), &Curve::thinned(points, INTERVALS));
        }
        let (name, title, drawing) = (quantity.into(), title.into(), panel.finish());
        (greatest.1 > 0.0).then_some(Figure { name, title, note, class: None, drawing })
    };
    quantities.into_iter().filter_map(figure).collect()
}

/// The sum over so many columns of a quantity since the start of the run, by the time.
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

/// How far apart the samples of the first run are.
pub(super) fn step(comparison: &Comparison) -> Option<Span> {
    let series = comparison.schemes.iter().find_map(|scheme| scheme.series.as_ref())?;
    let [first, second, ..] = series.rows.as_slice() else { return None };
    Some(Span::from_secs_f64(second.first()? - first.first()?))
}

/// The range of each interval, and its mean.
fn summed_up(panel: &mut Panel, class: &str, points: &[(f64, f64)]) {
    let [low, mean, high] = Curve::summed_up(points, INTERVALS);
    panel.band(class, &low, &high);
    panel.line(class, &mean);
}

/// The windows of a few flows over time.
pub(super) fn windows(comparison: &Comparison) -> Vec<Figure> {
    let all: Vec<_> = comparison.schemes.iter().map(|scheme| curves(scheme, "window_packets")).collect();
    let cut = usual_height(&all);
    let (end, highest) = greatest(all.iter().flatten());
    let (title, axis) = ("Windows over time", "window, packets");
    let all = all.into_iter().map(|flows| (!flows.is_empty()).then_some(flows)).collect();
    let sheet = Sheet { name: "window", title, axis, greatest: (end, highest.min(cut)) };
    sheet.panels(comparison, all, |panel, class, _, flows| {
        for (place, points) in flows.iter().enumerate().rev() {
            let shade = if place == 0 { class.to_string() } else { format!("{class} other") };
            let points: Vec<_> = points.iter().map(|&(time, window)| (time, window.min(cut))).collect();
            panel.line(&shade, &Curve::thinned(&points, INTERVALS));
        }
    })
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
    if let Some(buffer) = shared(comparison, "buffer_packets").filter(|buffer| *buffer <= longest) {
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

/// The curve of a quantity of the bottleneck, by scheme.
fn of_bottleneck(comparison: &Comparison, quantity: &str) -> Vec<Option<Vec<(f64, f64)>>> {
    comparison.schemes.iter().map(|scheme| curves(scheme, quantity).into_iter().next()).collect()
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
