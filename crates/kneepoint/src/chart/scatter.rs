// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scatter plot of two metrics: a labelled dot per scheme with both confidence intervals.

use super::scale::{Scale, from_zero};
use super::space::{self, Space};
use super::{Anchor, Drawing};
use crate::table::Estimate;

/// The dot of a scheme.
pub(in super::super) struct Dot {
    pub(in super::super) class: String,
    pub(in super::super) name: String,
    pub(in super::super) x: f64,
    pub(in super::super) x_interval: (f64, f64),
    pub(in super::super) y: f64,
    pub(in super::super) y_interval: (f64, f64),
}

impl Dot {
    /// The dot of two estimates; none where one is undefined.
    pub(in super::super) fn of(class: String, name: &str, x: &Estimate, y: &Estimate) -> Option<Dot> {
        let (x_interval, y_interval) = (x.interval(), y.interval());
        let defined = x.mean.is_finite() && y.mean.is_finite();
        defined.then(|| Dot { class, name: name.into(), x: x.mean, x_interval, y: y.mean, y_interval })
    }
}

const SIZE: (f64, f64) = (520.0, 330.0);
const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 36.0;
/// A label further from its dot than this is joined to it by a line.
const ADJACENT: f64 = 26.0;
/// Where else labels are tried, where dots are crowded.
const RADII: [f64; 6] = [36.0, 52.0, 70.0, 90.0, 115.0, 140.0];
const DIRECTIONS: [(f64, f64); 8] = [
    (1.0, 0.0),
    (0.87, 0.5),
    (0.87, -0.5),
    (0.5, 0.87),
    (0.5, -0.87),
    (-0.87, 0.5),
    (-0.87, -0.5),
    (-1.0, 0.0),
];

/// Draws the dots; x starts at zero, y near the lowest dot.
pub(in super::super) fn scatter(label: &str, names: (&str, &str), dots: &[Dot]) -> Drawing {
    let (width, height) = SIZE;
    let bottom = height - BELOW;
    let least = dots.iter().map(|dot| dot.y_interval.0).fold(f64::INFINITY, f64::min);
    let greatest = dots.iter().map(|dot| dot.y_interval.1).fold(f64::NEG_INFINITY, f64::max);
    let room = ((greatest - least) * 0.15).max(greatest.abs() * 1e-3);
    let rightmost = dots.iter().map(|dot| dot.x_interval.1).fold(0.0, f64::max);
    let x = Scale::new(from_zero(rightmost * 1.05), (LEFT, width - RIGHT));
    let y = Scale::new((least - room, greatest + room), (bottom, ABOVE));
    let mut drawing = Drawing::new(width, height, label);
    for (value, tick) in y.ticks(5) {
        drawing.line("grid", (LEFT, y.at(value)), (width - RIGHT, y.at(value)));
        drawing.text("tick", Anchor::End, (LEFT - 7.0, y.at(value) + 3.5), &tick);
    }
    drawing.line("axis", (LEFT, bottom), (width - RIGHT, bottom));
    for (value, tick) in x.ticks(8) {
        drawing.line("axis", (x.at(value), bottom), (x.at(value), bottom + 4.0));
        drawing.text("tick", Anchor::Middle, (x.at(value), bottom + 16.0), &tick);
    }
    drawing.text("quantity", Anchor::Start, (0.0, 11.0), names.1);
    drawing.text("quantity", Anchor::End, (width - RIGHT, height - 4.0), names.0);
    let places: Vec<(f64, f64)> = dots.iter().map(|dot| (x.at(dot.x), y.at(dot.y))).collect();
    let mut taken: Vec<Space> = places.iter().map(|place| Space::around(*place)).collect();
    for (dot, (left, top)) in dots.iter().zip(&places) {
        let class = format!("error {}", dot.class);
        let (west, east) = (x.at(dot.x_interval.0.max(0.0)), x.at(dot.x_interval.1));
        let (north, south) = (y.at(dot.y_interval.1), y.at(dot.y_interval.0));
        drawing.line(&class, (west, *top), (east, *top));
        drawing.line(&class, (*left, north), (*left, south));
        drawing.circle(&format!("dot {}", dot.class), (*left, *top), 5.5);
        taken.push(Space { from: (west, *top), to: (east, *top) });
        taken.push(Space { from: (*left, north), to: (*left, south) });
    }
    for (dot, place) in dots.iter().zip(&places) {
        let (anchor, at, space) = free_place(&dot.name, *place, &taken);
        let end = space.nearest(*place);
        if libm::hypot(end.0 - place.0, end.1 - place.1) > ADJACENT {
            drawing.line("axis", *place, end);
        }
        drawing.text(&format!("name ink {}", dot.class), anchor, at, &dot.name);
        taken.push(space);
    }
    drawing
}

/// The first position next to a dot, or else around it, where its label overlaps nothing; the right-hand one if there is none.
fn free_place(name: &str, (x, y): (f64, f64), taken: &[Space]) -> (Anchor, (f64, f64), Space) {
    let length = 7.5 * name.chars().count() as f64;
    let next = [
        (Anchor::Start, (x + 11.0, y + 4.5)),
        (Anchor::End, (x - 11.0, y + 4.5)),
        (Anchor::Start, (x + 8.0, y - 10.0)),
        (Anchor::Start, (x + 8.0, y + 20.0)),
        (Anchor::End, (x - 8.0, y - 10.0)),
        (Anchor::End, (x - 8.0, y + 20.0)),
        (Anchor::Middle, (x, y - 24.0)),
        (Anchor::Middle, (x, y + 34.0)),
    ];
    let around = RADII.into_iter().flat_map(|radius| {
        DIRECTIONS.map(|(across, down)| {
            let anchor = if across < 0.0 { Anchor::End } else { Anchor::Start };
            (anchor, (x + radius * across, y + radius * down + 4.5))
        })
    });
    let candidates: Vec<_> = next.into_iter().chain(around).collect();
    let inside = Space { from: (LEFT, 14.0), to: (SIZE.0, SIZE.1 - BELOW) };
    space::free(&candidates, length, inside, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_neighbours_do_not_cover_each_other() {
        let mut taken = vec![Space::around((300.0, 100.0)), Space::around((302.0, 103.0))];
        for place in [(300.0, 100.0), (302.0, 103.0)] {
            let (_, _, space) = free_place("reno/droptail", place, &taken);
            assert!(!taken.iter().any(|other| other.meets(&space)));
            taken.push(space);
        }
    }
}
