// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A plot area with two axes, ticks, reference lines and a legend.

use super::axis::Axis;
use super::scale::Scale;
use super::space::{self, Space};
use super::{Anchor, Drawing, Key, scheme_class};

/// A plot area between two axes.
pub(super) struct Frame {
    pub(super) drawing: Drawing,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// A reference line: a threshold, an equilibrium.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    name: String,
    at: Level,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    X(f64),
    Y(f64),
}

impl Mark {
    /// A vertical line at a value of x.
    pub fn x(at: f64, name: impl Into<String>) -> Mark {
        Mark { name: name.into(), at: Level::X(at) }
    }

    /// A horizontal line at a value of y.
    pub fn y(at: f64, name: impl Into<String>) -> Mark {
        Mark { name: name.into(), at: Level::Y(at) }
    }

    pub(super) fn on_x(&self) -> Option<f64> {
        if let Level::X(at) = self.at { Some(at) } else { None }
    }

    pub(super) fn on_y(&self) -> Option<f64> {
        if let Level::Y(at) = self.at { Some(at) } else { None }
    }
}

pub(super) const ABOVE: f64 = 26.0;
pub(super) const BELOW: f64 = 38.0;
pub(super) const TICK: f64 = 11.0;
const KEY_LINE: f64 = 19.0;

/// Width of the column of tick labels with its margin.
pub(super) fn room_for(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, label)| space::length(label, TICK)).fold(28.0, f64::max) + 14.0
}

impl Frame {
    /// Draws the y axis with grid lines and its label.
    pub(super) fn draw_y(&mut self, axis: &Axis, grid: bool) {
        let (left, right) = (self.left, self.right);
        let zero = self.y.has_zero_of_its_own().then(|| (0.0, "0".to_string()));
        for (value, tick) in self.y.ticks(6).into_iter().chain(zero) {
            let at = self.y.at(value);
            if grid {
                self.drawing.line("grid", (left, at), (right, at));
            } else {
                self.drawing.line("axis", (left - 4.0, at), (left, at));
            }
            self.drawing.text("tick", Anchor::End, (left - 7.0, at + 3.5), &tick);
        }
        for value in self.y.minor_ticks() {
            self.drawing.line("axis", (left - 3.0, self.y.at(value)), (left, self.y.at(value)));
        }
        self.drawing.text("quantity", Anchor::Start, (0.0, 11.0), &axis.label);
    }

    /// Draws the x axis with its label.
    pub(super) fn draw_x(&mut self, axis: &Axis) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        self.drawing.line("axis", (left, bottom), (right, bottom));
        let zero = self.x.has_zero_of_its_own().then(|| (0.0, "0".to_string()));
        for (value, tick) in self.x.ticks(((right - left) / 64.0) as usize).into_iter().chain(zero) {
            let at = self.x.at(value);
            self.drawing.line("axis", (at, bottom), (at, bottom + 5.0));
            self.drawing.text("tick", Anchor::Middle, (at, bottom + 17.0), &tick);
        }
        for value in self.x.minor_ticks() {
            self.drawing.line("axis", (self.x.at(value), bottom), (self.x.at(value), bottom + 3.0));
        }
        self.drawing.text("quantity", Anchor::End, (right, bottom + 32.0), &axis.label);
    }

    /// Draws the reference lines.
    pub(super) fn draw_marks(&mut self, marks: &[Mark]) {
        for mark in marks {
            match mark.at {
                Level::X(at) if at.is_finite() => {
                    let x = self.x.at(at);
                    self.drawing.line("mark", (x, self.top), (x, self.bottom));
                }
                Level::Y(at) if at.is_finite() => {
                    let y = self.y.at(at);
                    self.drawing.line("mark", (self.left, y), (self.right, y));
                }
                _ => {}
            }
        }
    }

    /// Labels the reference lines where they overlap the least.
    pub(super) fn name_marks(&mut self, marks: &[Mark], mut taken: Vec<Space>) {
        let inside = Space { from: (self.left, self.top - 6.0), to: (self.right + 4.0, self.bottom) };
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        for mark in marks {
            let long = space::length(&mark.name, TICK);
            let (anchor, at, space) = match mark.at {
                Level::X(at) if at.is_finite() => {
                    let x = self.x.at(at);
                    let rows = [top + 9.0, top + 24.0, top + 39.0, bottom - 8.0, bottom - 23.0];
                    let beside = |row: usize| (Anchor::Start, (x + 5.0, rows[row]));
                    let before = |row: usize| (Anchor::End, (x - 5.0, rows[row]));
                    let places = [
                        beside(0),
                        before(0),
                        beside(1),
                        before(1),
                        beside(2),
                        before(2),
                        beside(3),
                        before(3),
                        beside(4),
                        before(4),
                    ];
                    space::free(&places, long, inside, &taken)
                }
                Level::Y(at) if at.is_finite() => {
                    let y = self.y.at(at);
                    let (over, under, middle) = (y - 5.0, y + 13.0, (left + right) / 2.0);
                    let places = [
                        (Anchor::End, (right, over)),
                        (Anchor::End, (right, under)),
                        (Anchor::Start, (left + 4.0, over)),
                        (Anchor::Start, (left + 4.0, under)),
                        (Anchor::Middle, (middle, over)),
                        (Anchor::Middle, (middle, under)),
                    ];
                    space::free(&places, long, inside, &taken)
                }
                _ => continue,
            };
            self.drawing.text("note", anchor, at, &mark.name);
            taken.push(space);
        }
    }

    /// Draws the legend below the plot, in as many rows as it takes: the series, and after them what published numbers look like, if there
    /// are any.
    pub(super) fn draw_key(
        &mut self,
        names: &[&str],
        published: bool,
        sample: impl Fn(&mut Drawing, usize, (f64, f64)),
    ) {
        let mut key = Drawing::new(self.drawing.width, 0.0, "");
        let (mut at, mut row) = (0.0, 14.0);
        let published = published.then_some("published");
        for (place, name) in names.iter().copied().chain(published).enumerate() {
            let long = 30.0 + space::length(name, 12.0) + 16.0;
            if at > 0.0 && at + long - 16.0 > self.drawing.width {
                (at, row) = (0.0, row + KEY_LINE);
            }
            match place < names.len() {
                true => sample(&mut key, place, (at, row - 4.0)),
                false => diamond(&mut key, "told", (at + 12.0, row - 4.0)),
            }
            key.text("entry", Anchor::Start, (at + 30.0, row), name);
            at += long;
        }
        if !key.body.is_empty() {
            let above = (self.drawing.body.len(), self.drawing.height);
            let (top, height) = (self.bottom + BELOW, row + 6.0);
            self.drawing.place(&key, (0.0, top));
            self.drawing.height = top + height;
            self.drawing.key = Some(Key { body: key.body, height, above });
        }
    }

    /// Says in the middle of the plot that there is nothing in it, and why.
    pub(super) fn draw_nothing(&mut self) {
        let middle = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        self.drawing.text("quantity", Anchor::Middle, middle, "no data: no run observed this");
    }
}

const SHAPES: [&[(f64, f64)]; 6] = [
    &[],
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
    &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    &[(0.0, 1.2), (1.15, -0.85), (-1.15, -0.85)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
];

/// The marker of a series: six shapes and eight colours distinguish twenty-four.
pub(super) fn spot(drawing: &mut Drawing, place: usize, (x, y): (f64, f64)) {
    const RADIUS: f64 = 4.0;
    let class = format!("spot {}", scheme_class(place));
    match SHAPES[place % SHAPES.len()] {
        [] => drawing.circle(&class, (x, y), RADIUS),
        corners => {
            let corners = corners.iter().map(|corner| (x + RADIUS * corner.0, y + RADIUS * corner.1));
            drawing.path(&class, corners, true);
        }
    }
}

/// The marker of a published number: an open diamond.
pub(super) fn diamond(drawing: &mut Drawing, class: &str, (x, y): (f64, f64)) {
    const HALF: f64 = 5.5;
    drawing.path(class, [(x, y - HALF), (x + HALF, y), (x, y + HALF), (x - HALF, y)].into_iter(), true);
}
