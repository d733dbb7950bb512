// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Heat map of a quantity over the values of two parameters: a cell for each pair of values, with its number.
//!
//! Cells have equal widths for any values: a sweep of 10, 20, 50 and 100 has four columns. A [map](super::map) has
//! the places of numbers on its axes instead.

use super::data::{self, Data};
use super::frame::{ABOVE, BELOW, Frame, Room, Sides, room_for};
use super::paper::{Chart, Paper};
use super::scale::Scale;
use super::{Anchor, Drawing, Pixels, space};
use crate::table::{Estimate, number};

/// A heat map.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Title.
    pub title: String,
    /// The parameter of the columns with its unit, and its values.
    pub columns: (String, Vec<String>),
    /// The parameter of the rows with its unit, and its values, the lowest row first.
    pub rows: (String, Vec<String>),
    /// By row and column; NaN is grey.
    pub cells: Vec<Vec<Estimate>>,
    /// The quantity with its unit.
    pub quantity: String,
}

const SIZE: (f64, f64) = (520.0, 320.0);
const RIGHT: f64 = 14.0;
/// Ink is legible up to this opacity.
const STRONGEST: f64 = 0.65;
const FAINTEST: f64 = 0.04;
const TILE: f64 = 11.0;
/// The least range of colours, as a part of the greatest number, so that 99.7 % and 100 % have nearly the same colour.
const LEAST_APART: f64 = 0.05;
/// Digits of a number in a cell; its tip has its interval.
const DIGITS: i32 = 3;
/// The colour scale: its length and height.
const BAR: (f64, f64) = (180.0, 12.0);

/// Draws the chart.
pub fn heat(chart: &Heat) -> Drawing {
    Drawing::of(chart.clone())
}

impl Chart for Heat {
    fn draw(&self, paper: &Paper) -> Drawing {
        let (mut frame, range) = (area(self, paper), range(&[self]));
        draw(&mut frame, self, range);
        name_colours(&mut frame, self, range);
        Drawing { label: self.title.clone(), ..frame.drawing }
    }

    /// A row for each of its rows, the highest first as in the picture.
    fn data(&self) -> Vec<Data> {
        let corner = format!("{} \\ {}", self.rows.0, self.columns.0);
        let columns: Vec<&str> = [&corner].into_iter().chain(&self.columns.1).map(String::as_str).collect();
        let row = |(name, cells): (&String, &Vec<Estimate>)| {
            [name.clone()].into_iter().chain(cells.iter().map(data::shown)).collect()
        };
        let rows = self.rows.1.iter().zip(&self.cells).rev().map(row).collect();
        let about = format!("{} as colours over {} and {}.", self.quantity, self.columns.0, self.rows.0);
        vec![Data::new(about, &columns, rows)]
    }
}

/// The plot area of a chart by itself.
fn area(chart: &Heat, paper: &Paper) -> Frame {
    framed(&[chart], Room { size: paper.size(SIZE), above: ABOVE, below: BELOW, right: RIGHT })
}

/// The range of the colours of charts.
pub(super) fn range(charts: &[&Heat]) -> (f64, f64) {
    let cells = charts.iter().flat_map(|chart| chart.cells.iter().flatten());
    let numbers = cells.map(|cell| cell.mean).filter(|mean| mean.is_finite());
    let (least, greatest) =
        numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), mean| (mean.min(low), mean.max(high)));
    let apart = LEAST_APART * greatest.abs().max(least.abs());
    match greatest - least {
        width if width > apart => (least, greatest),
        width if width > 0.0 => (greatest - apart, greatest),
        0.0 => (least, least + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The plot area of charts with the same rows and columns.
pub(super) fn framed(charts: &[&Heat], room: Room) -> Frame {
    let (across, down) =
        charts.first().map_or((0, &[][..]), |first| (first.columns.1.len(), &first.rows.1[..]));
    let ticks: Vec<(f64, String)> = down.iter().map(|name| (0.0, name.clone())).collect();
    let (left, right) = (room_for(&ticks), room.size.0 - room.right);
    let (top, bottom) = (room.above, room.size.1 - room.below);
    Frame {
        drawing: Drawing::new(room.size.0, room.size.1, ""),
        x: Scale::new((0.0, across as f64), (left, right)),
        y: Scale::new((0.0, down.len() as f64), (bottom, top)),
        left,
        right,
        top,
        bottom,
        sides: Sides::ALL,
    }
}

/// Draws the chart in a plot area, without its colour scale.
pub(super) fn draw(frame: &mut Frame, chart: &Heat, range: (f64, f64)) {
    for (row, cells) in chart.cells.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            draw_cell(frame, chart, (row, column), cell, range);
        }
    }
    let (at, size) = ((frame.left, frame.top), (frame.right - frame.left, frame.bottom - frame.top));
    frame.drawing.rect("frame", at, size, 0.0);
    if frame.sides.left {
        for (place, name) in chart.rows.1.iter().enumerate() {
            let y = frame.y.at(place as f64 + 0.5);
            frame.drawing.text("tick", Anchor::End, (frame.left - 7.0, y + 3.5), name);
        }
    }
    if frame.sides.below {
        name_columns(frame, chart);
    }
    if frame.sides.names {
        frame.drawing.text("quantity", Anchor::Start, (0.0, 11.0), &chart.rows.0);
        let below = (frame.right, frame.bottom + 32.0);
        frame.drawing.text("quantity", Anchor::End, below, &chart.columns.0);
    }
}

/// The names of the columns, as many as have room; names that are not numbers are shortened in the middle.
fn name_columns(frame: &mut Frame, chart: &Heat) {
    let slot = frame.x.at(1.0) - frame.x.at(0.0);
    let shown = space::in_a_row(&chart.columns.1, slot - 4.0, TILE);
    let is_number = |name: &String| name.starts_with(|first: char| first.is_ascii_digit());
    let numbers = shown.iter().all(is_number);
    let shown: Vec<String> = match numbers {
        true => shown,
        false => shown.iter().map(|name| space::fitted(name, slot - 4.0, TILE)).collect(),
    };
    let middle = |place: usize| frame.x.at(place as f64 + 0.5);
    let covered: Vec<(f64, f64)> = shown
        .iter()
        .enumerate()
        .map(|(place, name)| (middle(place), space::length(name, TILE) / 2.0))
        .map(|(at, half)| (at - half, at + half))
        .collect();
    let kept = space::thinned(&covered, 2.0);
    for (place, name) in shown.iter().enumerate().filter(|(place, _)| kept[*place]) {
        let at = (frame.x.at(place as f64 + 0.5), frame.bottom + 17.0);
        frame.drawing.text("tick", Anchor::Middle, at, name);
    }
}

fn draw_cell(
    frame: &mut Frame,
    chart: &Heat,
    (row, column): (usize, usize),
    cell: &Estimate,
    range: (f64, f64),
) {
    // Whole pixels avoid gaps between neighbours.
    let [left, right] = [column, column + 1].map(|edge| frame.x.at(edge as f64).round());
    let [bottom, top] = [row, row + 1].map(|edge| frame.y.at(edge as f64).round());
    let (at, size) = ((left, top), (right - left, bottom - top));
    if !cell.mean.is_finite() {
        return frame.drawing.rect("hole", at, size, 0.0);
    }
    let (mean, half_width) = number::estimate(cell, 1.0);
    let interval = half_width.map(|half_width| format!(" ± {half_width}")).unwrap_or_default();
    let tip = format!("{}, {}: {mean}{interval}", chart.columns.1[column], chart.rows.1[row]);
    let shown = shortest([number::rounded(cell, 1.0), number::significant(cell.mean, DIGITS)]);
    let fits = space::length(&shown, TILE) < size.0 - 4.0 && size.1 > TILE + 4.0;
    frame.drawing.with_tip(&tip, |drawing| {
        colour(drawing, share(cell.mean, range), at, size);
        if fits {
            let middle = (left + size.0 / 2.0, top + size.1 / 2.0 + 4.0);
            drawing.text("tile", Anchor::Middle, middle, &shown);
        }
    });
}

fn shortest([one, other]: [String; 2]) -> String {
    if other.chars().count() < one.chars().count() { other } else { one }
}

fn share(value: f64, (least, greatest): (f64, f64)) -> f64 {
    (value - least) / (greatest - least)
}

fn colour(drawing: &mut Drawing, share: f64, at: (f64, f64), size: (f64, f64)) {
    let opacity = (100.0 * (FAINTEST + (STRONGEST - FAINTEST) * share)).round() / 100.0;
    drawing.add(format_args!(
        "<rect class=\"cell s0\" fill-opacity=\"{opacity}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        Pixels(at.0),
        Pixels(at.1),
        Pixels(size.0),
        Pixels(size.1)
    ));
}

/// Draws the colour scale below the plot area, with the quantity next to it.
pub(super) fn name_colours(frame: &mut Frame, chart: &Heat, range: (f64, f64)) {
    const STEPS: usize = 40;
    let (left, top) = (frame.left, frame.bottom + BELOW + 6.0);
    let scale = Scale::new(range, (left, left + BAR.0));
    let wide = BAR.0 / STEPS as f64;
    for step in 0..STEPS {
        let at = (left + wide * step as f64, top);
        colour(&mut frame.drawing, (step as f64 + 0.5) / STEPS as f64, at, (wide, BAR.1));
    }
    frame.drawing.rect("frame", (left, top), BAR, 0.0);
    for (value, tick) in scale.ticks(4) {
        let x = scale.at(value);
        frame.drawing.line("axis", (x, top + BAR.1), (x, top + BAR.1 + 4.0));
        frame.drawing.text("tick", Anchor::Middle, (x, top + BAR.1 + 16.0), &tick);
    }
    frame.drawing.height = top + BAR.1 + 20.0;
    let beside = left + BAR.0 + 16.0;
    if beside + space::length(&chart.quantity, 11.5) < frame.drawing.width {
        frame.drawing.text("quantity", Anchor::Start, (beside, top + 10.0), &chart.quantity);
    } else {
        frame.drawing.text("quantity", Anchor::Start, (left, frame.drawing.height + 12.0), &chart.quantity);
        frame.drawing.height += 16.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays() -> Heat {
        let cell = |mean| Estimate { mean, half_width: Some(0.5) };
        Heat {
            title: "Delay".into(),
            columns: ("RTT, ms".into(), ["10", "20", "100"].map(String::from).to_vec()),
            rows: ("buffer, BDP".into(), ["0.5", "2"].map(String::from).to_vec()),
            cells: vec![vec![cell(1.0), cell(2.0), cell(f64::NAN)], vec![cell(4.0), cell(8.0), cell(9.0)]],
            quantity: "queueing delay, ms".into(),
        }
    }

    #[test]
    fn every_pair_of_values_has_a_cell_with_its_number_and_what_is_none_is_grey() {
        let body = heat(&delays()).body;
        assert_eq!((body.matches("class=\"tile\"").count(), body.matches("\"hole\"").count()), (5, 1));
        assert!(body.contains("<title>20, 2: 8.00 ± 0.50</title>") && !body.contains("NaN"), "{body}");
        for name in ["RTT, ms", "buffer, BDP", "queueing delay, ms", "100", "0.5"] {
            assert!(body.contains(&format!(">{name}</text>")), "{name}");
        }
    }

    #[test]
    fn the_lowest_row_is_at_the_bottom_and_columns_are_alike() {
        let chart = delays();
        let frame = area(&chart, &Paper::default());
        assert_eq!((frame.y.at(0.0), frame.y.at(2.0)), (frame.bottom, frame.top));
        assert_eq!(frame.x.at(2.0) - frame.x.at(1.0), frame.x.at(1.0) - frame.x.at(0.0));
    }

    #[test]
    fn numbers_of_narrow_columns_are_whole() {
        let columns = ("RTT".to_string(), ["20 ms", "60 ms", "120 ms"].map(String::from).to_vec());
        let drawn = Chart::draw(&Heat { columns, ..delays() }, &Paper::wide(150.0)).body;
        for name in ["20 ms", "60", "120"] {
            assert!(drawn.contains(&format!(">{name}</text>")), "{name}: {drawn}");
        }
    }

    #[test]
    fn numbers_that_are_nearly_alike_have_nearly_one_colour_and_three_digits() {
        let cell = |mean, half_width| Estimate { mean, half_width: Some(half_width) };
        let shares = Heat { cells: vec![vec![cell(99.7, 0.1), cell(100.0, 0.1)]; 2], ..delays() };
        assert_eq!(range(&[&shares]), (95.0, 100.0));
        let drops = Heat { cells: vec![vec![cell(0.015573, 0.000056), cell(1.6266, 0.006)]; 2], ..delays() };
        let body = heat(&drops).body;
        assert!(body.contains(">0.0156</text>") && body.contains(">1.63</text>"), "{body}");
    }

    #[test]
    fn charts_side_by_side_have_one_range_of_colours() {
        let mut other = delays();
        other.cells[0][0].mean = -3.0;
        assert_eq!(range(&[&delays(), &other]), (-3.0, 9.0));
        assert_eq!(range(&[]), (0.0, 1.0));
    }
}
