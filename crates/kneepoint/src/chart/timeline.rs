// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Quantities over one time axis, one above another, with the events of the run above all of them.

mod events;
mod strip;

use super::axis::Axis;
use super::data::{Data, Series, number_or_none};
use super::panel::Curve;
use super::paper::{Chart, Paper};
use super::scale::Scale;
use super::{Anchor, Drawing, space};
pub(in super::super) use events::{Happening, Kind};

/// Quantities over time.
#[derive(Clone, Default)]
pub(in super::super) struct Timeline {
    /// Its title.
    pub title: String,
    /// The end of the time axis, in seconds.
    pub end: f64,
    /// The part of it that was measured, if that is not all.
    pub measured: Option<(f64, f64)>,
    /// The quantities, from top to bottom.
    pub strips: Vec<Strip>,
    /// The events, in order.
    pub happenings: Vec<Happening>,
}

/// A quantity over time.
#[derive(Clone)]
pub(in super::super) struct Strip {
    /// Its axis, which holds the range that is shown; a curve that leaves it is cut off, and its peak is given in
    /// words.
    pub axis: Axis,
    /// Its curves.
    pub curves: Vec<Trace>,
    /// Its reference lines.
    pub levels: Vec<(f64, String)>,
}

/// A curve of a strip.
#[derive(Clone)]
pub(in super::super) struct Trace {
    /// Its name in the legend; a curve that the axis describes has none.
    pub name: String,
    /// The class of its colour.
    pub class: String,
    /// The line.
    pub line: Curve,
    /// The range around it.
    pub band: Option<(Curve, Curve)>,
    /// Its greatest value with the instant, before any thinning.
    pub peak: (f64, f64),
}

/// The width of a timeline, and the height of one of its plots.
const WIDTH: f64 = 720.0;
const PLOT: f64 = 118.0;
const RIGHT: f64 = 14.0;
/// Height of a row of words, and the space below a plot.
const ROW: f64 = 18.0;
const GAP: f64 = 10.0;
const BELOW: f64 = 38.0;
const TICK: f64 = 11.0;

/// Lowest and highest plot.
const PLOTS: (f64, f64) = (44.0, 300.0);

/// Draws it.
pub(in super::super) fn timeline(chart: &Timeline) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Timeline {
    fn draw(&self, paper: &Paper) -> Drawing {
        let width = paper.width(WIDTH);
        let usual = PLOT * (0.5 + 0.5 * width / WIDTH).min(1.2);
        let plot = usual + paper.added() / self.strips.len().max(1) as f64;
        drawn(self, width, plot.clamp(PLOTS.0, PLOTS.1))
    }

    fn data(&self) -> Vec<Data> {
        let point = |point: &(f64, f64)| (point.0, number_or_none(point.1));
        let series = |trace: &Trace| Series {
            name: trace.name.clone(),
            points: trace.line.points().iter().map(point).collect(),
        };
        let strip = |strip: &Strip| {
            let all: Vec<Series> = strip.curves.iter().map(series).collect();
            let title = format!("{}: {}", self.title, strip.axis.label);
            Data { title, ..Data::over("time, s", &strip.axis.label, &all) }
        };
        self.strips.iter().map(strip).chain(events::data(self)).collect()
    }
}

/// Draws it with this width and this height of its plots.
fn drawn(chart: &Timeline, width: f64, plot: f64) -> Drawing {
    let ticks = |strip: &Strip| strip.scale((plot, 0.0)).ticks(strip::ticks(plot));
    let room = |strip: &Strip| {
        ticks(strip).iter().map(|(_, label)| space::length(label, TICK)).fold(24.0, f64::max) + 14.0
    };
    let left = chart.strips.iter().map(room).fold(0.0, f64::max);
    let right = width - RIGHT;
    let x = Scale::new((0.0, chart.end), (left, right));
    let mut drawing = Drawing::new(width, 0.0, &chart.title);
    let mut at = events::lane(&mut drawing, chart, &x);
    let mut bottom = at;
    for strip in &chart.strips {
        let top = at + strip.head(&mut drawing, (left, right), at);
        bottom = top + plot;
        strip.draw(&mut drawing, chart, &x, (left, right), (top, bottom));
        events::lines(&mut drawing, chart, &x, (top, bottom));
        at = bottom + GAP;
    }
    drawing.line("axis", (left, bottom), (right, bottom));
    for (value, tick) in x.ticks(((right - left) / 64.0) as usize) {
        drawing.line("axis", (x.at(value), bottom), (x.at(value), bottom + 4.0));
        drawing.text("tick", Anchor::Middle, (x.at(value), bottom + 16.0), &tick);
    }
    drawing.text("quantity", Anchor::End, (right, bottom + 32.0), "time, s");
    drawing.height = bottom + BELOW;
    events::key(&mut drawing, chart);
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(name: &str, class: &str, points: &[(f64, f64)]) -> Trace {
        let peak = points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        Trace { name: name.into(), class: class.into(), line: Curve::new(points.to_vec()), band: None, peak }
    }

    fn chart() -> Timeline {
        let window = Strip {
            axis: Axis::linear("window, packets").holding(0.0, 100.0),
            curves: vec![
                trace("long/0", "s0", &[(0.0, 10.0), (1.0, 7000.0), (2.0, 80.0)]),
                trace("long/1", "s1", &[(0.0, 10.0), (2.0, 60.0)]),
            ],
            levels: vec![],
        };
        let queue = Strip {
            axis: Axis::linear("queue, packets").holding(0.0, 50.0),
            curves: vec![trace("", "s0", &[(0.0, 0.0), (2.0, 40.0)])],
            levels: vec![(50.0, "buffer".into())],
        };
        let event =
            |at: f64, kind, name: &str| Happening { at, kind, class: String::new(), name: name.into() };
        Timeline {
            title: "cubic".into(),
            end: 2.0,
            measured: Some((1.0, 2.0)),
            strips: vec![window, queue],
            happenings: vec![
                event(0.0, Kind::Start, "1 flow starts: long"),
                event(1.5, Kind::Delay, "delay 50 ms"),
            ],
        }
    }

    #[test]
    fn each_curve_has_a_name_and_the_time_axis_is_drawn_once() {
        let body = timeline(&chart()).body;
        for name in ["long/0", "long/1", "window, packets", "queue, packets", "buffer", "time, s", "measured"]
        {
            assert_eq!(body.matches(&format!(">{name}</text>")).count(), 1, "{name}: {body}");
        }
        assert_eq!(body.matches("class=\"line s0\"").count(), 2 + 1, "two curves and a sample");
    }

    #[test]
    fn a_peak_above_the_axis_is_told() {
        let body = timeline(&chart()).body;
        assert!(body.contains(">peak 7000, cut off</text>"), "{body}");
        let mut low = chart();
        low.strips[0].curves.truncate(0);
        assert!(!timeline(&low).body.contains("cut off"));
    }

    #[test]
    fn events_are_marked_named_and_explained() {
        let body = timeline(&chart()).body;
        assert!(body.contains("<title>1.500 s: delay 50 ms</title>") && body.contains(">delay 50 ms</text>"));
        assert!(
            body.contains(">the delay changes</text>") && body.contains(">a flow starts</text>"),
            "{body}"
        );
        assert!(!body.contains(">timeout</text>"));
        let quiet = Timeline { happenings: vec![], ..chart() };
        assert!(timeline(&quiet).height < timeline(&chart()).height);
    }

    #[test]
    fn the_numbers_behind_it_are_a_table_for_each_quantity_and_one_of_the_events() {
        let data = chart().data();
        let titles: Vec<&str> = data.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(titles, ["cubic: window, packets", "cubic: queue, packets", "events"]);
        assert_eq!(data[2].rows, [["0", "1 flow starts: long"], ["1.500", "delay 50 ms"]]);
    }

    #[test]
    fn a_narrow_paper_has_a_chart_as_narrow() {
        let narrow = chart().draw(&Paper::wide(300.0));
        assert!(narrow.width == 300.0 && narrow.height < timeline(&chart()).height);
    }

    #[test]
    fn a_chart_without_a_strip_is_still_a_drawing() {
        let svg = timeline(&Timeline::default()).standalone();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
