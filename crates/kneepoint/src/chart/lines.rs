// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Line chart over a parameter or time: one line per series with a band for its intervals, and a marker for each estimate.

use super::axis::{Axis, Spacing};
use super::data::{self, Data, Series};
use super::frame::{ABOVE, BELOW, Frame, Mark, Room, Sides, diamond, room_for, spot};
use super::paper::{Chart, Paper};
use super::space::Space;
use super::value::{low_end, readable, tip_number};
use super::{Anchor, Drawing, scheme_class};
use crate::table::Estimate;
use crate::table::number;

/// A line chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Title.
    pub title: String,
    /// The axis of the parameter.
    pub x: Axis,
    /// The axis of the quantity.
    pub y: Axis,
    /// Series.
    pub series: Vec<Line>,
    /// Reference lines.
    pub marks: Vec<Mark>,
    /// Published numbers: the place of the series that each is about, and its point.
    pub published: Vec<(usize, (f64, f64))>,
    /// The interval of x that was measured, if only a part was.
    pub measured: Option<(f64, f64)>,
}

/// A series of a line chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend; a single series without a name has no legend.
    pub name: String,
    /// Its place among all series of a study, of which some are shown: it decides the colour, and the order of the legend. Without
    /// one, the place among the shown series.
    pub rank: Option<usize>,
    /// Whether it is drawn broad and pale, so that a line on top of it leaves it visible.
    pub broad: bool,
    /// Points in drawing order. NaN leaves a gap.
    pub points: Vec<(f64, Estimate)>,
}

impl Line {
    /// A series without confidence intervals: a theory, a trajectory.
    pub fn exact(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Line {
        let exact = |(x, mean)| (x, Estimate { mean, half_width: None });
        Line { name: name.into(), rank: None, broad: false, points: points.into_iter().map(exact).collect() }
    }
}

impl Lines {
    /// The place of a series that decides its colour.
    fn rank(&self, place: usize) -> usize {
        self.series.get(place).and_then(|series| series.rank).unwrap_or(place)
    }
}

const SIZE: (f64, f64) = (520.0, 320.0);
const RIGHT: f64 = 14.0;
/// Keeps the markers at both ends off the frame.
const INSET: f64 = 8.0;
/// Series with more points are drawn without markers.
const MOST_SPOTS: usize = 48;

/// Draws the chart.
pub fn lines(chart: &Lines) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Lines {
    fn draw(&self, paper: &Paper) -> Drawing {
        let mut frame = area(self, paper);
        let unnamed = draw(&mut frame, self);
        name_series(&mut frame, self, &unnamed);
        Drawing { label: self.title.clone(), ..frame.drawing }
    }

    fn data(&self) -> Vec<Data> {
        let drawn = self.series.iter().map(|line| {
            let points = line.points.iter().filter(|point| shown(self, point));
            let points = points.map(|(x, estimate)| (*x, data::shown(estimate))).collect();
            Series { name: line.name.clone(), points }
        });
        let published = self.series.iter().enumerate().map(|(place, line)| {
            let own = self.published.iter().filter(|(about, point)| *about == place && in_view(self, *point));
            let mut points: Vec<_> = own.map(|(_, (x, y))| (*x, data::number_or_none(*y))).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            Series { name: format!("{} published", line.name).trim().into(), points }
        });
        let published = published.filter(|one| !one.points.is_empty());
        vec![Data::over(&self.x.label, &self.y.label, &drawn.chain(published).collect::<Vec<_>>())]
    }
}

/// Draws the chart in a plot area, without its legend; returns the reference lines without a label in the plot.
pub(super) fn draw<'c>(frame: &mut Frame, chart: &'c Lines) -> Vec<&'c str> {
    draw_measured(frame, chart);
    frame.draw_y(&chart.y, true);
    frame.draw_x(&chart.x);
    frame.draw_marks(&chart.marks);
    let mut taken = Vec::new();
    for (place, series) in chart.series.iter().enumerate() {
        draw_intervals(frame, chart, place, series);
        draw_line(frame, chart, place, series);
    }
    for (place, series) in chart.series.iter().enumerate() {
        taken.extend(draw_spots(frame, chart, place, series));
    }
    for (place, (x, y)) in chart.published.iter().filter(|(_, point)| in_view(chart, *point)) {
        let at = (frame.x.at(*x), frame.y.at(*y));
        let tip = format!("published: {}", tip_number(*y));
        frame.drawing.with_tip(&tip, |drawing| {
            diamond(drawing, &format!("told {}", scheme_class(chart.rank(*place))), at)
        });
        taken.push(Space::around(at));
    }
    if chart.series.iter().all(|series| !series.points.iter().any(|point| shown(chart, point))) {
        frame.draw_nothing();
    }
    frame.name_marks(&chart.marks, taken)
}

/// Draws the legend.
pub(super) fn name_series(frame: &mut Frame, chart: &Lines, marks: &[&str]) {
    let mut order: Vec<usize> = (0..chart.series.len()).collect();
    order.sort_by_key(|place| chart.rank(*place));
    let names: Vec<&str> = order.iter().map(|place| chart.series[*place].name.as_str()).collect();
    let named = if names.iter().all(|name| name.is_empty()) { &[] } else { &names[..] };
    frame.draw_key(named, !chart.published.is_empty(), marks, |drawing, place, (x, y)| {
        let place = order[place];
        drawing.path(&style(chart, place), [(x, y), (x + 24.0, y)].into_iter(), false);
        if has_spots(&chart.series[place]) {
            spot(drawing, chart.rank(place), (x + 12.0, y));
        }
    });
}

/// The plot area of a chart by itself.
fn area(chart: &Lines, paper: &Paper) -> Frame {
    let room = Room { size: paper.size(SIZE), above: ABOVE, below: BELOW, right: RIGHT };
    framed(&[chart], (&chart.x, &chart.y), room)
}

/// The plot area of charts with common scales.
pub(super) fn framed(charts: &[&Lines], (across, up): (&Axis, &Axis), room: Room) -> Frame {
    let points = |chart: &Lines| -> Vec<(f64, Estimate)> {
        let all = chart.series.iter().flat_map(|series| &series.points);
        all.filter(|point| shown(chart, point)).copied().collect()
    };
    let along = |chart: &&Lines| -> Vec<f64> {
        points(chart).iter().map(|point| point.0).chain(chart.marks.iter().filter_map(Mark::on_x)).collect()
    };
    let upwards = |chart: &&Lines| -> Vec<f64> {
        let ends = points(chart).into_iter().flat_map(|(_, estimate)| match chart.y.spacing {
            Spacing::Linear => [estimate.mean, low_end(&estimate), chart.y.possible(estimate.interval()).1],
            // An interval that nearly reaches zero would stretch a logarithmic axis over decades without data.
            Spacing::Log => [estimate.mean, estimate.mean, chart.y.possible(estimate.interval()).1],
        });
        let told = chart.published.iter().map(|(_, (_, y))| *y).filter(|y| chart.y.shows(*y));
        ends.chain(chart.marks.iter().filter_map(Mark::on_y)).chain(told).collect()
    };
    let xs: Vec<f64> = charts.iter().flat_map(along).collect();
    let ys: Vec<f64> = charts.iter().flat_map(upwards).collect();
    let (top, bottom, right) = (room.above, room.size.1 - room.below, room.size.0 - room.right);
    let y = up.scale(&ys, (bottom, top), true);
    let left = room_for(&y.ticks(6));
    let x = across.scale(&xs, (left + INSET, right - INSET), false);
    let drawing = Drawing::new(room.size.0, room.size.1, "");
    Frame { drawing, x, y, left, right, top, bottom, sides: Sides::ALL }
}

fn shown(chart: &Lines, (x, estimate): &(f64, Estimate)) -> bool {
    chart.x.shows(*x) && chart.y.shows(estimate.mean)
}

fn has_spots(series: &Line) -> bool {
    series.points.len() <= MOST_SPOTS
}

/// The classes of a series' line.
fn style(chart: &Lines, place: usize) -> String {
    let broad = if chart.series[place].broad { " broad" } else { "" };
    format!("line {}{broad}", scheme_class(chart.rank(place)))
}

fn draw_line(frame: &mut Frame, chart: &Lines, place: usize, series: &Line) {
    let class = style(chart, place);
    for stretch in series.points.split(|point| !shown(chart, point)).filter(|stretch| stretch.len() > 1) {
        let points = stretch.iter().map(|(x, estimate)| (frame.x.at(*x), frame.y.at(estimate.mean)));
        frame.drawing.path(&class, points, false);
    }
}

fn in_view(chart: &Lines, (x, y): (f64, f64)) -> bool {
    chart.x.shows(x) && chart.y.shows(y)
}

/// The window of measurement, behind everything else.
fn draw_measured(frame: &mut Frame, chart: &Lines) {
    let Some((from, to)) = chart.measured else { return };
    let (left, right) = (frame.x.at(from).max(frame.left), frame.x.at(to).min(frame.right));
    if right - left > 1.0 {
        let size = (right - left, frame.bottom - frame.top);
        frame.drawing.with_tip("measured", |drawing| drawing.rect("measured", (left, frame.top), size, 0.0));
        frame.drawing.text("tick", Anchor::End, (right - 3.0, frame.top - 4.0), "measured");
    }
}

/// The intervals of a series as a band; of an estimate without neighbours, as a whisker.
fn draw_intervals(frame: &mut Frame, chart: &Lines, place: usize, series: &Line) {
    let certain = |estimate: &Estimate| estimate.half_width.is_none_or(|half_width| !half_width.is_finite());
    let interval = |within: &Frame, (at, estimate): &(f64, Estimate)| {
        let (low, high) = chart.y.possible(estimate.interval());
        (within.x.at(*at), within.y.at(low).min(within.bottom), within.y.at(high).max(within.top - 6.0))
    };
    for stretch in series.points.split(|point| !shown(chart, point) || certain(&point.1)) {
        match stretch {
            [] => {}
            [alone] => {
                let class = format!("error {}", scheme_class(chart.rank(place)));
                let (x, low, high) = interval(frame, alone);
                frame.drawing.line(&class, (x, low), (x, high));
            }
            several => {
                let ends: Vec<_> = several.iter().map(|point| interval(frame, point)).collect();
                let up = ends.iter().map(|(x, low, _)| (*x, *low));
                let back = ends.iter().rev().map(|(x, _, high)| (*x, *high));
                frame.drawing.path(
                    &format!("band {}", scheme_class(chart.rank(place))),
                    up.chain(back),
                    true,
                );
            }
        }
    }
}

/// Draws the markers and returns the space they cover.
fn draw_spots(frame: &mut Frame, chart: &Lines, place: usize, series: &Line) -> Vec<Space> {
    if !has_spots(series) {
        return Vec::new();
    }
    let mut covered = Vec::new();
    for point in series.points.iter().filter(|point| shown(chart, point)) {
        let at = (frame.x.at(point.0), frame.y.at(point.1.mean));
        frame.drawing.with_tip(&tip(&series.name, point), |drawing| spot(drawing, chart.rank(place), at));
        covered.push(Space::around(at));
    }
    covered
}

fn tip(name: &str, (x, estimate): &(f64, Estimate)) -> String {
    let value = match number::estimate(estimate, 1.0) {
        (mean, Some(half_width)) if readable(estimate.mean) => format!("{mean} ± {half_width}"),
        _ => tip_number(estimate.mean),
    };
    let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
    format!("{name}{}: {value}", tip_number(*x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half_width: f64) -> Estimate {
        Estimate { mean, half_width: Some(half_width) }
    }

    fn loss() -> Lines {
        let points =
            vec![(1e6, estimate(0.1, 0.05)), (1e7, estimate(0.0, 0.0)), (1e8, estimate(0.001, 0.002))];
        Lines {
            title: "Loss <rate>".into(),
            x: Axis::log("bandwidth, bit/s"),
            y: Axis::log("loss"),
            series: vec![
                Line { name: "pert".into(), rank: None, broad: false, points },
                Line::exact("theory", [(1e6, 0.01), (1e8, 0.01)]),
            ],
            marks: vec![Mark::y(0.05, "threshold"), Mark::x(3e6, "knee")],
            published: Vec::new(),
            measured: None,
        }
    }

    #[test]
    fn a_zero_on_a_logarithmic_axis_is_a_spot_at_the_bottom_edge() {
        let drawing = lines(&loss());
        assert_eq!(drawing.body.matches("<circle class=\"spot s0\"").count(), 3 + 1, "with the key");
        let bottom = format!("cy=\"{}\"", SIZE.1 - BELOW);
        assert_eq!(drawing.body.matches(&bottom).count(), 1, "{}", drawing.body);
        assert!(drawing.body.contains(">0</text>"));
    }

    #[test]
    fn each_point_tells_its_numbers_and_each_series_is_in_the_key() {
        let body = lines(&loss()).body;
        assert!(body.contains("<title>pert, 1000000: 0.100 ± 0.050</title>"), "{body}");
        for name in ["pert", "theory", "threshold", "knee", "1 M", "10 M", "100 M"] {
            assert!(body.contains(&format!(">{name}</text>")), "{name}");
        }
    }

    #[test]
    fn a_gap_splits_the_line_and_leaves_no_spot() {
        let mut chart = loss();
        chart.series =
            vec![Line::exact("", [(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 3.0)])];
        let body = lines(&chart).body;
        assert_eq!(body.matches("<path class=\"line s0\"").count(), 2);
        assert_eq!(body.matches("<circle class=\"spot s0\"").count(), 4);
        assert!(!body.contains("NaN") && !body.contains("inf"));
    }

    #[test]
    fn a_linear_chart_puts_a_point_where_it_can_be_computed() {
        let series = vec![Line::exact("", [(0.0, 0.0), (5.0, 40.0), (10.0, 80.0)])];
        let chart = Lines { x: Axis::linear("t"), y: Axis::linear("q"), series, marks: vec![], ..loss() };
        let frame = area(&chart, &Paper::default());
        let middle = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        assert_eq!((frame.x.at(5.0), frame.y.at(40.0)), middle);
    }

    #[test]
    fn published_numbers_are_open_diamonds_and_widen_the_axis() {
        let chart = Lines { published: vec![(0, (1e7, 0.9)), (1, (1e8, f64::NAN))], ..loss() };
        let body = lines(&chart).body;
        assert_eq!(body.matches("<path class=\"told s0\"").count(), 1, "{body}");
        assert!(
            body.contains("<title>published: 0.9000</title>") && body.contains(">published</text>"),
            "{body}"
        );
        let (with, without) = (area(&chart, &Paper::default()), area(&loss(), &Paper::default()));
        assert!(with.y.at(0.1) > without.y.at(0.1), "0.9 is above all else");
    }

    #[test]
    fn intervals_are_a_band_and_the_measured_window_is_shaded() {
        let chart = Lines { measured: Some((2e6, 5e7)), ..loss() };
        let body = lines(&chart).body;
        assert_eq!(
            (body.matches("class=\"band s0\"").count(), body.matches("class=\"error").count()),
            (1, 0)
        );
        assert_eq!((body.matches("class=\"measured\"").count(), body.matches(">measured<").count()), (1, 2));
        assert!(!lines(&loss()).body.contains("measured"));
    }

    #[test]
    fn panels_with_the_same_series_share_a_key() {
        let told = Lines { published: vec![(0, (1e7, 0.02))], ..loss() };
        let body = super::super::sheet("both", &[lines(&loss()), lines(&told)], 2).body;
        for name in ["pert", "theory", "published"] {
            assert_eq!(body.matches(&format!(">{name}</text>")).count(), 1, "{name}: {body}");
        }
        let mut other = loss();
        other.series.truncate(1);
        other.series[0].name = "sack".into();
        let apart = super::super::sheet("each its own", &[lines(&loss()), lines(&other)], 2).body;
        assert!(apart.contains(">pert</text>") && apart.contains(">sack</text>"));
    }

    #[test]
    fn a_few_levels_are_marked_themselves_where_they_have_room() {
        let ticks = |levels: &[f64], width: f64| {
            let series = vec![Line::exact("", levels.iter().map(|level| (*level, *level)))];
            let x = Axis::linear("RTT, ms").at(levels);
            let chart = Lines { x, y: Axis::linear(""), series, marks: Vec::new(), ..loss() };
            Chart::draw(&chart, &Paper::wide(width)).body
        };
        // Numbers upwards end at their places.
        let has = |body: &str, tick: &str| {
            let texts = body.split("</text>").filter(|text| text.contains("text-anchor=\"middle\""));
            texts.into_iter().any(|text| text.ends_with(&format!(">{tick}")))
        };
        let rtts = ticks(&[20.0, 60.0, 125.0], 300.0);
        assert!(["20", "60", "125"].iter().all(|tick| has(&rtts, tick)) && !has(&rtts, "100"), "{rtts}");
        let crowded = ticks(&[1.0, 2.0, 3.0, 4.0, 1000.0], 300.0);
        assert!(has(&crowded, "500") && !has(&crowded, "3"), "{crowded}");
        let many: Vec<f64> = (1..=20).map(f64::from).collect();
        assert!(!has(&ticks(&many, 600.0), "19"), "round numbers of a long sweep");
    }

    #[test]
    fn nothing_to_show_is_still_a_chart() {
        let chart = Lines { series: vec![], marks: vec![], ..loss() };
        let svg = lines(&chart).standalone();
        assert!(!svg.contains("NaN") && !svg.contains("inf\""));
        assert!(svg.contains("Loss &lt;rate&gt;") && svg.contains("no data"));
    }
}
