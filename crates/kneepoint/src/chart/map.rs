// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Heat map of a quantity over two parameters, with curves on top.
//!
//! A colour is a hue at some opacity over the background, so that it fades correctly in light and dark mode.

use super::axis::{Axis, Spacing};
use super::data::{self, Data};
use super::frame::{ABOVE, BELOW, Frame, Sides, room_for};
use super::paper::{Chart, Paper};
use super::scale::Scale;
use super::value::tip_number;
use super::{Anchor, Drawing, Pixels, space};

/// A heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Title.
    pub title: String,
    /// The axis of the columns.
    pub x: Axis,
    /// The axis of the rows.
    pub y: Axis,
    /// Column values, ascending.
    pub columns: Vec<f64>,
    /// Row values, ascending.
    pub rows: Vec<f64>,
    /// Cell values by row and column; NaN is grey.
    pub values: Vec<Vec<f64>>,
    /// The quantity with its unit.
    pub quantity: String,
    /// Colour scheme.
    pub colours: Colours,
    /// Curves on top.
    pub contours: Vec<Contour>,
}

/// Colour schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Diverging: one hue below zero, another above.
    Diverging,
    /// Sequential: from the background at the minimum to one hue at the maximum.
    Sequential,
}

/// A curve on a map: a boundary or level.
#[derive(Clone, Debug, PartialEq)]
pub struct Contour {
    /// Its name in the legend.
    pub name: String,
    /// Its segments, as returned by [`contour`](super::contour).
    pub lines: Vec<Vec<(f64, f64)>>,
    /// Whether it is dashed.
    pub dashed: bool,
}

const SIZE: (f64, f64) = (520.0, 360.0);
const LEGEND: f64 = 84.0;
const BAR: f64 = 14.0;
/// Most rows and columns of the table behind it.
const MOST_PLACES: usize = 20;
/// The most cells with a tooltip each.
const MOST_TIPS: usize = 2500;

/// Draws the chart.
pub fn map(chart: &Map) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Map {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper)
    }

    /// A row for each of its rows, the greatest first as in the picture; of fine maps a part.
    fn data(&self) -> Vec<Data> {
        let stride = |count: usize| count.div_ceil(MOST_PLACES).max(1);
        let (down, across) = (stride(self.rows.len()), stride(self.columns.len()));
        let row = |(at, values): (&f64, &Vec<f64>)| {
            let cells = values.iter().take(self.columns.len()).step_by(across);
            let cells = cells.map(|value| data::number_or_none(*value));
            [tip_number(*at)].into_iter().chain(cells).collect()
        };
        let mut rows: Vec<_> = self.rows.iter().zip(&self.values).step_by(down).map(row).collect();
        rows.reverse();
        let corner = format!("{} \\ {}", self.y.label, self.x.label);
        let columns = self.columns.iter().step_by(across).map(|at| tip_number(*at));
        let columns = [corner].into_iter().chain(columns).collect();
        let left_out = match (down, across) {
            (1, 1) => String::new(),
            _ => format!("One in {down} rows and one in {across} columns."),
        };
        let curves: Vec<&str> = self.contours.iter().map(|contour| contour.name.as_str()).collect();
        let curves =
            if curves.is_empty() { String::new() } else { format!(" Curves: {}.", curves.join(", ")) };
        let about =
            format!("{} as colours over {} and {}.{curves}", self.quantity, self.x.label, self.y.label);
        vec![Data { about, columns, rows, left_out, ..Data::default() }]
    }
}

fn drawn(chart: &Map, paper: &Paper) -> Drawing {
    let mut frame = framed(chart, paper);
    let range = range(chart);
    draw_cells(&mut frame, chart, range);
    let (at, size) = ((frame.left, frame.top), (frame.right - frame.left, frame.bottom - frame.top));
    let (across, up) = (frame.x, frame.y);
    frame.drawing.clipped(at, size, |drawing| {
        for (place, contour) in chart.contours.iter().enumerate() {
            for line in &contour.lines {
                let shown = |point: &&(f64, f64)| chart.x.shows(point.0) && chart.y.shows(point.1);
                let points: Vec<_> =
                    line.iter().filter(shown).map(|point| (across.at(point.0), up.at(point.1))).collect();
                draw_contour(drawing, place, contour.dashed, &points);
            }
        }
    });
    frame.drawing.rect("frame", at, size, 0.0);
    frame.draw_y(&chart.y, false);
    frame.draw_x(&chart.x);
    draw_legend(&mut frame, chart, range);
    let names: Vec<&str> = chart.contours.iter().map(|contour| contour.name.as_str()).collect();
    frame.draw_key(&names, false, &[], |drawing, place, (x, y)| {
        draw_contour(drawing, place, chart.contours[place].dashed, &[(x, y), (x + 24.0, y)]);
    });
    frame.drawing
}

fn framed(chart: &Map, paper: &Paper) -> Frame {
    let (width, height) = paper.size(SIZE);
    let (top, bottom, right) = (ABOVE, height - BELOW, width - LEGEND);
    let y = chart.y.edge_scale(&chart.rows, (bottom, top));
    let left = room_for(&y.ticks(6));
    let x = chart.x.edge_scale(&chart.columns, (left, right));
    let drawing = Drawing::new(width, height, &chart.title);
    Frame { drawing, x, y, left, right, top, bottom, sides: Sides::ALL }
}

impl Axis {
    /// The scale that spans the cells around `values`.
    fn edge_scale(&self, values: &[f64], pixels: (f64, f64)) -> Scale {
        let edges = self.edges(values);
        match (edges.first(), edges.last(), self.spacing) {
            (Some(first), Some(last), Spacing::Linear) => Scale::new((*first, *last), pixels),
            (Some(first), Some(last), Spacing::Log) => Scale::log((*first, *last), pixels, pixels.0),
            _ => Scale::new((0.0, 1.0), pixels),
        }
    }

    /// Outer edges of the cells around `values`, halfway between neighbours in axis units.
    fn edges(&self, values: &[f64]) -> Vec<f64> {
        let spaced: Vec<f64> = values.iter().map(|value| self.spaced(*value)).collect();
        let count = spaced.len();
        let edge = |place: usize| match place {
            _ if count == 1 => spaced[0] + place as f64 - 0.5,
            0 => spaced[0] - (spaced[1] - spaced[0]) / 2.0,
            _ if place == count => spaced[count - 1] + (spaced[count - 1] - spaced[count - 2]) / 2.0,
            _ => (spaced[place - 1] + spaced[place]) / 2.0,
        };
        let value = |place: f64| match self.spacing {
            Spacing::Linear => place,
            Spacing::Log => libm::pow(10.0, place),
        };
        if count == 0 { Vec::new() } else { (0..=count).map(edge).map(value).collect() }
    }
}

/// The range of the colour scale.
fn range(chart: &Map) -> (f64, f64) {
    let finite = chart.values.iter().flatten().copied().filter(|value| value.is_finite());
    let (least, greatest) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (value.min(low), value.max(high)));
    match chart.colours {
        _ if least > greatest => (0.0, 1.0),
        Colours::Diverging => {
            let most = greatest.abs().max(least.abs());
            let most = if most > 0.0 { most } else { 1.0 };
            (-most, most)
        }
        Colours::Sequential if least == greatest => (least, least + 1.0),
        Colours::Sequential => (least, greatest),
    }
}

/// Hue and opacity of a value; opacity in steps of 1/50.
fn colour(colours: Colours, (least, greatest): (f64, f64), value: f64) -> (&'static str, u32) {
    let (hue, share) = match colours {
        Colours::Diverging if value < 0.0 => ("s0", value / least),
        Colours::Diverging => ("s1", value / greatest),
        Colours::Sequential => ("s0", (value - least) / (greatest - least)),
    };
    (hue, (50.0 * share).round() as u32)
}

fn draw_cells(frame: &mut Frame, chart: &Map, range: (f64, f64)) {
    let (x_edges, y_edges) = (chart.x.edges(&chart.columns), chart.y.edges(&chart.rows));
    let tips = chart.columns.len() * chart.rows.len() <= MOST_TIPS;
    // Whole pixels avoid gaps between neighbours.
    let (x, y) = (frame.x, frame.y);
    let x_at = |edge: usize| x.at(x_edges[edge]).round();
    for (row, values) in chart.values.iter().enumerate().take(chart.rows.len()) {
        let (top, bottom) = (y.at(y_edges[row + 1]).round(), y.at(y_edges[row]).round());
        let values = &values[..values.len().min(chart.columns.len())];
        let mut column = 0;
        while column < values.len() {
            let own = |value: f64| value.is_finite().then(|| colour(chart.colours, range, value));
            let Some((hue, opacity)) = own(values[column]) else {
                let (left, right) = (x_at(column), x_at(column + 1));
                frame.drawing.rect("hole", (left, top), (right - left, bottom - top), 0.0);
                column += 1;
                continue;
            };
            let same =
                values[column..].iter().take_while(|value| own(**value) == Some((hue, opacity))).count();
            let end = column + if tips { 1 } else { same };
            let (left, right) = (x_at(column), x_at(end));
            let at = ((left, top), (right - left, bottom - top));
            if tips {
                let [at_x, at_y, value] =
                    [chart.columns[column], chart.rows[row], values[column]].map(tip_number);
                frame.drawing.with_tip(&format!("{at_x}, {at_y}: {value}"), |drawing| {
                    cell(drawing, (hue, opacity), at)
                });
            } else {
                cell(&mut frame.drawing, (hue, opacity), at);
            }
            column = end;
        }
    }
}

fn cell(drawing: &mut Drawing, (hue, opacity): (&str, u32), (at, size): ((f64, f64), (f64, f64))) {
    drawing.add(format_args!(
        "<rect class=\"cell {hue}\" fill-opacity=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        f64::from(opacity) / 50.0,
        Pixels(at.0),
        Pixels(at.1),
        Pixels(size.0),
        Pixels(size.1)
    ));
}

/// Draws a curve with a halo: the first in ink, others in colours that no cell has.
fn draw_contour(drawing: &mut Drawing, place: usize, dashed: bool, points: &[(f64, f64)]) {
    let class = match place % 4 {
        0 => "contour",
        1 => "line s2",
        2 => "line s6",
        _ => "line s4",
    };
    let dash = if dashed { " dashed" } else { "" };
    drawing.path("under", points.iter().copied(), false);
    drawing.path(&format!("{class}{dash}"), points.iter().copied(), false);
}

/// Draws the colour scale with ticks, minimum at the bottom.
fn draw_legend(frame: &mut Frame, chart: &Map, range: (f64, f64)) {
    const STEPS: u32 = 50;
    let left = frame.right + 20.0;
    let scale = Scale::new(range, (frame.bottom, frame.top));
    let bound = |step: u32| range.0 + (range.1 - range.0) * f64::from(step) / f64::from(STEPS);
    for step in 0..STEPS {
        let colour = colour(chart.colours, range, (bound(step) + bound(step + 1)) / 2.0);
        let (bottom, top) = (scale.at(bound(step)).round(), scale.at(bound(step + 1)).round());
        cell(&mut frame.drawing, colour, ((left, top), (BAR, bottom - top)));
    }
    frame.drawing.rect("frame", (left, frame.top), (BAR, frame.bottom - frame.top), 0.0);
    for (value, tick) in scale.ticks(scale.rows(5)) {
        frame.drawing.line("axis", (left + BAR, scale.at(value)), (left + BAR + 4.0, scale.at(value)));
        frame.drawing.text("tick", Anchor::Start, (left + BAR + 7.0, scale.at(value) + 3.5), &tick);
    }
    let (width, height) = (frame.drawing.width, frame.drawing.height);
    let room = width - space::length(&chart.y.label, 11.5) - 16.0;
    // A long label goes below the scale, where the legend leaves a line free.
    let at = if space::length(&chart.quantity, 11.5) < room { 11.0 } else { height };
    frame.drawing.text("quantity", Anchor::End, (width, at), &space::fitted(&chart.quantity, width, 11.5));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damping() -> Map {
        Map {
            title: "Damping".into(),
            x: Axis::log("gain"),
            y: Axis::linear("delay, ms"),
            columns: vec![1.0, 10.0, 100.0],
            rows: vec![10.0, 20.0],
            values: vec![vec![-1.0, 0.0, 0.5], vec![-2.0, f64::NAN, 1.0]],
            quantity: "real part, 1/s".into(),
            colours: Colours::Diverging,
            contours: vec![Contour {
                name: "theory".into(),
                lines: vec![vec![(1.0, 10.0), (500.0, 25.0)]],
                dashed: true,
            }],
        }
    }

    #[test]
    fn cells_end_half_way_between_their_neighbours() {
        let edges = Axis::linear("").edges(&[10.0, 20.0, 40.0]);
        assert_eq!(edges, [5.0, 15.0, 30.0, 50.0]);
        let ratios = Axis::log("").edges(&[1.0, 100.0]);
        assert!(
            ratios.iter().zip([0.1, 10.0, 1000.0]).all(|(edge, exact)| (edge / exact - 1.0).abs() < 1e-12)
        );
        assert_eq!(Axis::linear("").edges(&[7.0]), [6.5, 7.5]);
    }

    #[test]
    fn zero_is_the_paper_and_the_signs_have_different_hues() {
        let of = |value| colour(Colours::Diverging, (-2.0, 2.0), value);
        assert_eq!([of(-2.0), of(-1.0), of(0.0), of(0.5)], [("s0", 50), ("s0", 25), ("s1", 0), ("s1", 13)]);
        assert_eq!(colour(Colours::Sequential, (4.0, 8.0), 5.0), ("s0", 13));
    }

    #[test]
    fn every_number_has_a_cell_and_what_is_none_has_none() {
        let body = map(&damping()).body;
        assert_eq!(body.matches("<g><title>").count(), 5);
        assert_eq!(body.matches("\"hole\"").count(), 1);
        assert!(body.contains("<title>100, 20: 1</title>") && !body.contains("NaN"));
        assert!(body.contains(">theory</text>") && body.contains("contour dashed"));
        assert_eq!(body.matches("<svg").count(), body.matches("</svg>").count());
    }

    #[test]
    fn a_large_map_joins_equal_cells() {
        let places: Vec<f64> = (0..60).map(f64::from).collect();
        let values = vec![vec![1.0; 60]; 60];
        let chart = Map { x: Axis::linear(""), columns: places.clone(), rows: places, values, ..damping() };
        assert_eq!(map(&chart).body.matches("cell s1").count(), 60 + 25);
    }

    #[test]
    fn a_map_of_nothing_is_still_a_chart() {
        let chart = Map { columns: vec![], rows: vec![], values: vec![], contours: vec![], ..damping() };
        assert!(!map(&chart).standalone().contains("NaN"));
    }
}
