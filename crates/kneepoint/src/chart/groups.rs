// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Grouped vertical bars: one group per item, one bar per series.

use super::axis::Axis;
use super::data::{self, Data};
use super::frame::{ABOVE, BELOW, Frame, Mark, Room, Sides, TICK, diamond, room_for};
use super::paper::{Chart, Paper};
use super::value::{low_end, tip_number};
use super::{Anchor, Drawing, Escaped, Pixels, scheme_class, space};
use crate::table::Estimate;

/// A chart of grouped bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// Title.
    pub title: String,
    /// The axis of values.
    pub y: Axis,
    /// Names of the series: the bars of each group.
    pub series: Vec<String>,
    /// The place of each among all series of a study, of which some are shown: it decides the colour. Empty where all
    /// are shown. For a single series, the places of the groups, if they have their own colours.
    pub ranks: Vec<usize>,
    /// Groups from left to right.
    pub groups: Vec<Group>,
    /// Horizontal reference lines; vertical ones are ignored.
    pub marks: Vec<Mark>,
    /// Published numbers, each with its indices of the group and of the series.
    pub published: Vec<((usize, usize), f64)>,
}

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its label.
    pub name: String,
    /// One bar per series; NaN is omitted.
    pub bars: Vec<Estimate>,
}

const WIDTH: f64 = 520.0;
const PLOT: f64 = 256.0;
const RIGHT: f64 = 14.0;
/// The width in pixels of a bar that a halo would hide.
const NARROW: f64 = 12.0;
/// Rotation of labels too long to fit side by side, in degrees.
const LEAN: f64 = -35.0;

/// The longest label of a group, in pixels.
const LONGEST: f64 = 130.0;
/// Space between the lines of leaning labels, in pixels along the axis.
const LEANING: f64 = 22.0;

/// Draws the chart.
pub fn groups(chart: &Groups) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Groups {
    fn draw(&self, paper: &Paper) -> Drawing {
        let mut frame = area(self, paper);
        let marks = self.levels();
        let unnamed = draw(&mut frame, self, &marks);
        name_series(&mut frame, self, &unnamed);
        Drawing { label: self.title.clone(), ..frame.drawing }
    }

    fn data(&self) -> Vec<Data> {
        let published = |place: usize, series: usize| {
            let found = self.published.iter().find(|(at, _)| *at == (place, series));
            found
                .map_or(String::new(), |(_, value)| format!(" (published: {})", data::number_or_none(*value)))
        };
        let row = |(place, group): (usize, &Group)| {
            let bars = group.bars.iter().enumerate();
            let cells = bars.map(|(series, bar)| data::shown(bar) + &published(place, series));
            [group.name.clone()].into_iter().chain(cells).collect()
        };
        let several = self.series.len() > 1;
        let names = self.series.iter().map(|name| if several { name.as_str() } else { &self.y.label });
        let columns: Vec<&str> = ["group"].into_iter().chain(names).collect();
        let groups: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
        let about = format!("Bars of {} for {}.", self.y.label, groups.join(", "));
        vec![Data::new(about, &columns, self.groups.iter().enumerate().map(row).collect())]
    }
}

impl Groups {
    /// The place that decides the colour of a bar.
    fn rank_of(&self, group: usize, series: usize) -> usize {
        let own = self.series.len() == 1 && self.ranks.len() == self.groups.len();
        if own { self.ranks[group] } else { self.rank(series) }
    }

    /// The place of a series that decides its colour.
    fn rank(&self, place: usize) -> usize {
        self.ranks.get(place).copied().unwrap_or(place)
    }

    /// The reference lines that bars can be held against.
    pub(super) fn levels(&self) -> Vec<Mark> {
        self.marks.iter().filter(|mark| mark.on_y().is_some()).cloned().collect()
    }
}

/// Draws the chart in a plot area, without its legend; returns the reference lines without a label in the plot.
pub(super) fn draw<'m>(frame: &mut Frame, chart: &Groups, marks: &'m [Mark]) -> Vec<&'m str> {
    frame.draw_y(&chart.y, true);
    let slot = (frame.right - frame.left) / chart.groups.len().max(1) as f64;
    let thick = (slot * 0.8 / chart.series.len().max(1) as f64).min(40.0);
    for (place, group) in chart.groups.iter().enumerate() {
        let middle = frame.left + slot * (place as f64 + 0.5);
        let first = middle - thick * chart.series.len() as f64 / 2.0;
        for (series, (bar, name)) in group.bars.iter().zip(&chart.series).enumerate() {
            if chart.y.shows(bar.mean) {
                let tip = format!("{}, {name}: {}", group.name, tip_number(bar.mean));
                let left = first + thick * series as f64;
                let look = (scheme_class(chart.rank_of(place, series)), chart.y.possible(bar.interval()));
                draw_bar(frame, &look, bar.mean, (left, thick), &tip);
            }
        }
    }
    for ((group, series), value) in chart.published.iter().filter(|(_, value)| chart.y.shows(*value)) {
        let middle = frame.left + slot * (*group as f64 + 0.5);
        let x = middle + thick * (*series as f64 + 0.5 - chart.series.len() as f64 / 2.0);
        let at = (x, frame.y.at(*value));
        let tip = format!("published: {}", tip_number(*value));
        frame.drawing.with_tip(&tip, |drawing| diamond(drawing, "told", at));
    }
    if !chart.groups.iter().flat_map(|group| &group.bars).any(|bar| chart.y.shows(bar.mean)) {
        frame.draw_nothing();
    }
    let zero = frame.y.at(0.0);
    frame.drawing.line("axis", (frame.left, zero), (frame.right, zero));
    frame.draw_marks(marks);
    let unnamed = frame.name_marks(marks, Vec::new());
    if frame.sides.below {
        let deep = name_groups(frame, chart, slot);
        frame.bottom += deep - BELOW;
        frame.drawing.height = frame.bottom + BELOW;
    }
    unnamed
}

/// Draws the legend.
pub(super) fn name_series(frame: &mut Frame, chart: &Groups, marks: &[&str]) {
    let names: Vec<&str> = chart.series.iter().map(String::as_str).collect();
    let names = if names.len() > 1 { &names[..] } else { &[] };
    frame.draw_key(names, !chart.published.is_empty(), marks, |drawing, place, (x, y)| {
        drawing.rect(
            &format!("fill {}", scheme_class(chart.rank(place))),
            (x + 6.0, y - 6.0),
            (12.0, 12.0),
            2.0,
        );
    });
}

/// The plot area of a chart by itself.
fn area(chart: &Groups, paper: &Paper) -> Frame {
    let size = paper.size((WIDTH, ABOVE + PLOT + BELOW));
    framed(&[chart], &chart.y, Room { size, above: ABOVE, below: BELOW, right: RIGHT })
}

/// The plot area of charts with a common scale.
pub(super) fn framed(charts: &[&Groups], up: &Axis, room: Room) -> Frame {
    let upwards = |chart: &&Groups| -> Vec<f64> {
        let bars = chart.groups.iter().flat_map(|group| &group.bars);
        let ends = bars.flat_map(|bar| [bar.mean, low_end(bar), chart.y.possible(bar.interval()).1]);
        let base = if chart.y.spacing == super::Spacing::Linear { Some(0.0) } else { None };
        let told = chart.published.iter().map(|(_, value)| *value).filter(|value| chart.y.shows(*value));
        ends.chain(chart.marks.iter().filter_map(Mark::on_y)).chain(told).chain(base).collect()
    };
    let ys: Vec<f64> = charts.iter().flat_map(upwards).collect();
    let (top, bottom, right) = (room.above, room.size.1 - room.below, room.size.0 - room.right);
    let y = up.scale(&ys, (bottom, top), true);
    let left = room_for(&y.ticks(6));
    let x = super::scale::Scale::new((0.0, 1.0), (left, right));
    let drawing = Drawing::new(room.size.0, room.size.1, "");
    Frame { drawing, x, y, left, right, top, bottom, sides: Sides::ALL }
}

/// Draws a bar of a class with its interval.
fn draw_bar(
    frame: &mut Frame,
    (fill, (low, high)): &(String, (f64, f64)),
    mean: f64,
    (left, thick): (f64, f64),
    words: &str,
) {
    let (zero, end) = (frame.y.at(0.0), frame.y.at(mean));
    let (low, high) = (*low, *high);
    let (low, high, bottom) = (frame.y.at(low).min(frame.bottom), frame.y.at(high), frame.bottom);
    frame.drawing.with_tip(words, |drawing| {
        let (top, height) = (zero.min(end), (zero - end).abs());
        drawing.rect(&format!("fill {fill}"), (left + 0.5, top), (thick - 1.0, height), 1.0);
        // Too short to be visible.
        if low - high > 2.0 && low <= bottom {
            let middle = left + thick / 2.0;
            let cap = (thick / 4.0).min(3.5);
            // A halo around the whisker would hide a narrow bar.
            let classes = if thick < NARROW { &["whisker"][..] } else { &["halo", "whisker"] };
            for class in classes {
                drawing.line(class, (middle, low), (middle, high));
                for tip in [low, high] {
                    drawing.line(class, (middle - cap, tip), (middle + cap, tip));
                }
            }
        }
    });
}

/// Draws the group labels, rotated if they do not fit, and returns their height.
fn name_groups(frame: &mut Frame, chart: &Groups, slot: f64) -> f64 {
    let shown = |group: &Group| space::fitted(&group.name, LONGEST, TICK);
    let longest = chart.groups.iter().map(|group| space::length(&shown(group), TICK)).fold(0.0, f64::max);
    let lean = longest > slot - 6.0;
    // Where even slanted labels would touch, every second one or fewer are shown.
    let stride = if lean { (LEANING / slot).ceil().max(1.0) as usize } else { 1 };
    for (place, group) in chart.groups.iter().enumerate().step_by(stride) {
        let x = frame.left + slot * (place as f64 + 0.5);
        if lean {
            // Cosine of the rotation: a label never begins left of the drawing.
            let name = space::fitted(&shown(group), (x - 4.0) / 0.82, TICK);
            let (x, y) = (Pixels(x + 4.0), Pixels(frame.bottom + 14.0));
            frame.drawing.add(format_args!(
                "<text class=\"tick\" text-anchor=\"end\" x=\"{x}\" y=\"{y}\" transform=\"rotate({LEAN} {x} {y})\">{}</text>",
                Escaped(&name)
            ));
        } else {
            frame.drawing.text("tick", Anchor::Middle, (x, frame.bottom + 16.0), &shown(group));
        }
    }
    // Sine of the rotation, plus the height of the letters.
    if lean { 18.0 + 0.58 * longest } else { 22.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(names: &[&str]) -> Groups {
        let bar = |mean| Estimate { mean, half_width: Some(0.1) };
        let group =
            |name: &&str| Group { name: name.to_string(), bars: vec![bar(0.5), bar(f64::NAN), bar(0.25)] };
        Groups {
            title: "Shares".into(),
            y: Axis::linear("share"),
            series: ["low", "middle", "high"].map(String::from).to_vec(),
            ranks: Vec::new(),
            groups: names.iter().map(group).collect(),
            marks: vec![Mark::y(1.0, "all")],
            published: Vec::new(),
        }
    }

    #[test]
    fn a_bar_reaches_from_zero_to_its_number() {
        let chart = shares(&["a", "b"]);
        let frame = area(&chart, &Paper::default());
        assert_eq!((frame.y.at(0.0), frame.y.at(1.0)), (ABOVE + PLOT, ABOVE));
        let body = groups(&chart).body;
        assert_eq!(body.matches("<rect class=\"fill s0\"").count(), 2 + 1);
        assert_eq!(body.matches("<rect class=\"fill s1\"").count(), 1, "only in the key");
        assert_eq!(body.matches(&format!("height=\"{}\"", PLOT / 2.0)).count(), 2);
        assert_eq!(body.matches(&format!("height=\"{}\"", PLOT / 4.0)).count(), 2);
        assert!(body.contains("<title>b, high: 0.2500</title>") && !body.contains("NaN"));
    }

    #[test]
    fn an_interval_ends_where_the_quantity_does_and_a_series_has_the_colour_of_its_rank() {
        let mut chart = shares(&["a"]);
        chart.groups[0].bars =
            vec![Estimate { mean: 0.9, half_width: Some(0.5) }, Estimate { mean: 0.2, half_width: None }];
        (chart.series, chart.ranks) = (vec!["low".into(), "high".into()], vec![3, 1]);
        chart.y = Axis::linear("share").bounded(0.0, 1.0);
        let body = groups(&chart).body;
        let frame = area(&chart, &Paper::default());
        assert_eq!(frame.y.at(1.0), ABOVE, "the axis ends at one");
        let whiskers: Vec<&str> = body.lines().filter(|line| line.contains("class=\"whisker\"")).collect();
        let top = format!("y2=\"{}\"", Pixels(ABOVE));
        assert!(whiskers[0].contains(&top), "{whiskers:?}");
        assert_eq!((body.matches("fill s3").count(), body.matches("fill s0").count()), (2, 0), "{body}");
    }

    #[test]
    fn names_that_do_not_fit_lean_and_make_room() {
        let short = groups(&shares(&["a", "b"]));
        let long = groups(&shares(&["a rather long name"; 9]));
        assert!(!short.body.contains("rotate") && long.body.matches("rotate").count() == 9);
        assert!(long.height > short.height + 50.0);
    }
}
