// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A plot area with two axes, ticks, reference lines and a legend.

use super::axis::Axis;
use super::legend::legend;
use super::scale::Scale;
use super::space::{self, Space};
use super::{Anchor, DISTINCT, Drawing, Key, scheme_class};

/// A plot area between two axes.
pub(super) struct Frame {
    pub(super) drawing: Drawing,
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) sides: Sides,
}

/// Text around a plot area: small multiples have ticks on the outside alone, and the names of their axes once.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Sides {
    /// Ticks at the left.
    pub(super) left: bool,
    /// Ticks below.
    pub(super) below: bool,
    /// The names of both axes.
    pub(super) names: bool,
}

impl Sides {
    /// A plot area by itself.
    pub(super) const ALL: Sides = Sides { left: true, below: true, names: true };
}

/// The size of a drawing in pixels, and the margins around its plot area; the left one is for the ticks.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) size: (f64, f64),
    pub(super) above: f64,
    pub(super) below: f64,
    pub(super) right: f64,
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
/// More levels than this are not marked one by one, and none with longer numbers.
const MOST_LEVELS: usize = 8;
const LONGEST_LEVEL: usize = 6;
/// Pixels between two numbers at an axis.
const APART: f64 = 6.0;

/// Width of the column of tick labels with its margin.
pub(super) fn room_for(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, label)| space::length(label, TICK)).fold(28.0, f64::max) + 14.0
}

impl Frame {
    /// The same plot area with nothing in it yet.
    pub(super) fn blank(&self, sides: Sides) -> Frame {
        let Drawing { width, height, .. } = self.drawing;
        let Frame { x, y, left, right, top, bottom, .. } = *self;
        Frame { drawing: Drawing::new(width, height, ""), x, y, left, right, top, bottom, sides }
    }

    /// Draws the y axis with grid lines and its label.
    pub(super) fn draw_y(&mut self, axis: &Axis, grid: bool) {
        let (left, right) = (self.left, self.right);
        let zero = self.y.has_zero_of_its_own().then(|| (0.0, "0".to_string()));
        for (value, tick) in self.y.ticks(self.y.rows(6)).into_iter().chain(zero) {
            let at = self.y.at(value);
            if grid {
                self.drawing.line("grid", (left, at), (right, at));
            } else {
                self.drawing.line("axis", (left - 4.0, at), (left, at));
            }
            if self.sides.left {
                self.drawing.text("tick", Anchor::End, (left - 7.0, at + 3.5), &tick);
            }
        }
        for value in self.y.minor_ticks() {
            self.drawing.line("axis", (left - 3.0, self.y.at(value)), (left, self.y.at(value)));
        }
        if self.sides.names {
            let label = space::fitted(&axis.label, self.drawing.width, 11.5);
            self.drawing.text("quantity", Anchor::Start, (0.0, 11.0), &label);
        }
    }

    /// Draws the x axis with its label.
    pub(super) fn draw_x(&mut self, axis: &Axis) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        self.drawing.line("axis", (left, bottom), (right, bottom));
        let levels = self.levels(axis);
        let are_levels = levels.is_some();
        let zero = self.x.has_zero_of_its_own().then(|| (0.0, "0".to_string()));
        let ticks: Vec<(f64, String)> =
            levels.unwrap_or_else(|| zero.into_iter().chain(self.x.columns((right - left) / 64.0)).collect());
        for ((value, tick), kept) in ticks.iter().zip(self.has_room(&ticks)) {
            let at = self.x.at(*value);
            self.drawing.line("axis", (at, bottom), (at, bottom + 5.0));
            if kept && self.sides.below {
                self.drawing.text("tick", Anchor::Middle, (at, bottom + 17.0), tick);
            }
        }
        for value in self.x.minor_ticks().into_iter().filter(|_| !are_levels) {
            self.drawing.line("axis", (self.x.at(value), bottom), (self.x.at(value), bottom + 3.0));
        }
        if self.sides.names {
            let label = space::fitted(&axis.label, right, 11.5);
            self.drawing.text("quantity", Anchor::End, (right, bottom + 32.0), &label);
        }
    }

    /// The numbers that were measured at, where the numbers of all but a few of them have room.
    fn levels(&self, axis: &Axis) -> Option<Vec<(f64, String)>> {
        let few = (2..=MOST_LEVELS).contains(&axis.levels.len());
        let plain = |level: &f64| *level == 0.0 || (1e-3..1e4).contains(&level.abs());
        let ticks: Vec<(f64, String)> = axis.levels.iter().map(|level| (*level, level.to_string())).collect();
        let short = ticks.iter().all(|(_, tick)| tick.len() <= LONGEST_LEVEL);
        let kept = self.has_room(&ticks).iter().filter(|kept| **kept).count();
        (few && short && axis.levels.iter().all(plain) && kept * 3 > ticks.len() * 2).then_some(ticks)
    }

    /// The ticks of the x axis with room for their numbers.
    fn has_room(&self, ticks: &[(f64, String)]) -> Vec<bool> {
        let covered: Vec<(f64, f64)> = ticks
            .iter()
            .map(|(value, tick)| (self.x.at(*value), space::length(tick, TICK) / 2.0))
            .map(|(at, half)| (at - half, at + half))
            .collect();
        space::thinned(&covered, APART)
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

    /// Labels the reference lines where nothing else is, and returns the names that have no such place.
    pub(super) fn name_marks<'m>(&mut self, marks: &'m [Mark], mut taken: Vec<Space>) -> Vec<&'m str> {
        let mut left_out = Vec::new();
        let inside = Space { from: (self.left, self.top - 6.0), to: (self.right + 4.0, self.bottom) };
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        for mark in marks {
            let long = space::length(&mark.name, TICK);
            let found = match mark.at {
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
            match found {
                Some((anchor, at, space)) => {
                    self.drawing.text("note", anchor, at, &mark.name);
                    taken.push(space);
                }
                None => left_out.push(mark.name.as_str()),
            }
        }
        left_out
    }

    /// Draws the legend below the plot: the series, a note on series drawn in grey, the sign of published numbers, if
    /// there are any, and reference lines without a label in the plot.
    pub(super) fn draw_key(
        &mut self,
        names: &[&str],
        published: bool,
        marks: &[&str],
        sample: impl Fn(&mut Drawing, usize, (f64, f64)),
    ) {
        let (own, rest) = names.split_at(names.len().min(DISTINCT));
        let more = (!rest.is_empty()).then(|| format!("{} more", rest.len()));
        let published = published.then_some("published");
        let others = own.len() + usize::from(more.is_some());
        let all: Vec<&str> = own
            .iter()
            .copied()
            .chain(more.as_deref())
            .chain(published)
            .chain(marks.iter().copied())
            .collect();
        let told = published.map(|_| others);
        let key = legend(self.drawing.width, &all, |drawing, place, (x, y)| match place {
            _ if place < others => sample(drawing, place, (x, y)),
            _ if Some(place) == told => diamond(drawing, "told", (x + 12.0, y)),
            _ => drawing.line("mark", (x, y), (x + 24.0, y)),
        });
        if !key.body.is_empty() {
            let above = (self.drawing.body.len(), self.drawing.height);
            let top = self.bottom + BELOW;
            self.drawing.place(&key, (0.0, top));
            self.drawing.height = top + key.height;
            self.drawing.key = Some(Key { body: key.body, height: key.height, above });
        }
    }

    /// Writes in the middle of the plot why it is empty.
    pub(super) fn draw_nothing(&mut self) {
        let middle = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        let words = if self.sides.names { "no data: no run observed this" } else { "no data" };
        self.drawing.text("quantity", Anchor::Middle, middle, words);
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
