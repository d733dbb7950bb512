// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scatter plot of two metrics: a labelled dot per scheme with both confidence intervals.

use super::axis::{Axis, Spacing};
use super::data::{self, Data};
use super::legend::legend;
use super::paper::{Chart, Paper};
use super::scale::{Scale, from_zero};
use super::space::{self, Space};
use super::{Anchor, DISTINCT, Drawing, scheme_class};
use crate::table::Estimate;

/// The dot of a scheme.
#[derive(Clone)]
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

    /// With other intervals, as for bounded quantities.
    pub(in super::super) fn within(self, x_interval: (f64, f64), y_interval: (f64, f64)) -> Dot {
        Dot { x_interval, y_interval, ..self }
    }
}

const SIZE: (f64, f64) = (520.0, 330.0);
const LEFT: f64 = 46.0;
/// Keeps the first dot of a logarithmic axis off the frame.
const INSET: f64 = 8.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 36.0;
/// A label further from its dot than this is joined to it by a line.
const ADJACENT: f64 = 26.0;
/// Further label positions to try where dots are crowded.
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

/// Longest label next to a dot, in pixels.
const LONGEST: f64 = 170.0;
const LETTERS: f64 = 13.0;
/// More dots than this have their names in the legend rather than next to them.
const MOST_NAMES: usize = 16;

/// All of it, in percent.
const WHOLE: f64 = 100.0;

/// The chart: the names of its axes and its dots.
struct Scatter {
    label: String,
    names: (String, String),
    dots: Vec<Dot>,
}

/// Draws the dots; x starts at zero unless it is logarithmic, y near the lowest dot.
pub(in super::super) fn scatter(label: &str, names: (&str, &str), dots: &[Dot]) -> Drawing {
    let names = (names.0.into(), names.1.into());
    Drawing::of(Scatter { label: label.into(), names, dots: dots.to_vec() })
}

impl Chart for Scatter {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper.size(SIZE))
    }

    fn data(&self) -> Vec<Data> {
        let shown = |mean: f64, (low, high): (f64, f64)| {
            let half_width = Some((high - low) / 2.0).filter(|half_width| *half_width > 0.0);
            data::shown(&Estimate { mean, half_width })
        };
        let row =
            |dot: &Dot| vec![dot.name.clone(), shown(dot.x, dot.x_interval), shown(dot.y, dot.y_interval)];
        let (across, up) = &self.names;
        let about = format!("A dot of {up} against {across} for each name.");
        vec![Data::new(about, &["name", across, up], self.dots.iter().map(row).collect())]
    }
}

fn drawn(Scatter { label, names, dots }: &Scatter, (width, height): (f64, f64)) -> Drawing {
    let bottom = height - BELOW;
    let least = dots.iter().map(|dot| dot.y_interval.0).fold(f64::INFINITY, f64::min);
    let greatest = dots.iter().map(|dot| dot.y_interval.1).fold(f64::NEG_INFINITY, f64::max);
    let room = ((greatest - least) * 0.15).max(greatest.abs() * 1e-3);
    let rightmost = dots.iter().map(|dot| dot.x_interval.1).fold(0.0, f64::max);
    let across = Axis::spread(names.0.as_str(), dots.iter().map(|dot| dot.x));
    let x = match across.spacing {
        Spacing::Linear => Scale::new(from_zero(rightmost * 1.05), (LEFT, width - RIGHT)),
        // An interval that nearly reaches zero would stretch the axis over decades without data.
        Spacing::Log => {
            let ends: Vec<f64> = dots.iter().flat_map(|dot| [dot.x, dot.x_interval.1]).collect();
            across.scale(&ends, (LEFT + INSET, width - RIGHT), true)
        }
    };
    let y = Scale::new((least - room, greatest + room), (bottom, ABOVE));
    let mut drawing = Drawing::new(width, height, label);
    // The room above the greatest share of a whole has no number.
    let most = if names.1.ends_with('%') && greatest <= WHOLE { WHOLE } else { f64::INFINITY };
    for (value, tick) in y.ticks(y.rows(5)).into_iter().filter(|(value, _)| *value < most + 1e-9) {
        drawing.line("grid", (LEFT, y.at(value)), (width - RIGHT, y.at(value)));
        drawing.text("tick", Anchor::End, (LEFT - 7.0, y.at(value) + 3.5), &tick);
    }
    drawing.line("axis", (LEFT, bottom), (width - RIGHT, bottom));
    for (value, tick) in x.ticks((width / 64.0) as usize) {
        drawing.line("axis", (x.at(value), bottom), (x.at(value), bottom + 4.0));
        drawing.text("tick", Anchor::Middle, (x.at(value), bottom + 16.0), &tick);
    }
    drawing.text("quantity", Anchor::Start, (0.0, 11.0), &space::fitted(&names.1, width, 11.5));
    drawing.text(
        "quantity",
        Anchor::End,
        (width - RIGHT, height - 4.0),
        &space::fitted(&names.0, width - RIGHT, 11.5),
    );
    let places: Vec<(f64, f64)> = dots.iter().map(|dot| (x.at(dot.x), y.at(dot.y))).collect();
    let mut taken: Vec<Space> = places.iter().map(|place| Space::around(*place)).collect();
    for (dot, (left, top)) in dots.iter().zip(&places) {
        let class = format!("error {}", dot.class);
        let (west, east) = (x.at(dot.x_interval.0.max(0.0)).max(LEFT), x.at(dot.x_interval.1));
        let (north, south) = (y.at(dot.y_interval.1), y.at(dot.y_interval.0));
        drawing.line(&class, (west, *top), (east, *top));
        drawing.line(&class, (*left, north), (*left, south));
        drawing.circle(&format!("dot {}", dot.class), (*left, *top), 5.5);
        taken.push(Space { from: (west, *top), to: (east, *top) });
        taken.push(Space { from: (*left, north), to: (*left, south) });
    }
    let inside = Space { from: (LEFT, 14.0), to: (width, bottom) };
    let mut elsewhere = Vec::new();
    for (dot, place) in dots.iter().zip(&places) {
        let name = space::fitted(&dot.name, LONGEST, LETTERS * space::BOLD);
        let found = (dots.len() <= MOST_NAMES).then(|| free_place(&name, *place, inside, &taken)).flatten();
        let Some((anchor, at, space)) = found else {
            elsewhere.push(dot);
            continue;
        };
        let end = space.nearest(*place);
        if libm::hypot(end.0 - place.0, end.1 - place.1) > ADJACENT {
            drawing.line("axis", *place, end);
        }
        drawing.text(&format!("name ink {}", dot.class), anchor, at, &name);
        taken.push(space);
    }
    // Dots of the same grey have one entry.
    let grey = scheme_class(DISTINCT);
    let (rest, own): (Vec<&Dot>, Vec<&Dot>) = elsewhere.into_iter().partition(|dot| dot.class == grey);
    let more = format!("{} more", rest.len());
    let mut entries: Vec<(&str, &str)> =
        own.iter().map(|dot| (dot.name.as_str(), dot.class.as_str())).collect();
    if !rest.is_empty() {
        entries.push((&more, &grey));
    }
    let others: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    let key = legend(width, &others, |sample, place, (at, middle)| {
        sample.circle(&format!("dot {}", entries[place].1), (at + 12.0, middle), 5.5);
    });
    drawing.place(&key, (0.0, height));
    drawing.height += key.height;
    drawing
}

/// The first position next to a dot, or else around it, where its label overlaps nothing.
fn free_place(
    name: &str,
    (x, y): (f64, f64),
    inside: Space,
    taken: &[Space],
) -> Option<(Anchor, (f64, f64), Space)> {
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
    space::free(&candidates, space::length(name, LETTERS * space::BOLD), inside, taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(name: &str, x: f64, y: f64) -> Dot {
        Dot { class: "s0".into(), name: name.into(), x, x_interval: (x, x), y, y_interval: (y, y) }
    }

    #[test]
    fn names_of_neighbours_do_not_cover_each_other() {
        let mut taken = vec![Space::around((300.0, 100.0)), Space::around((302.0, 103.0))];
        let inside = Space { from: (0.0, 0.0), to: SIZE };
        for place in [(300.0, 100.0), (302.0, 103.0)] {
            let (_, _, space) = free_place("reno/droptail", place, inside, &taken).expect("room");
            assert!(!taken.iter().any(|other| other.meets(&space)));
            taken.push(space);
        }
    }

    #[test]
    fn names_without_room_are_in_the_legend() {
        let few = scatter("", ("x", "y"), &[dot("reno", 1.0, 1.0), dot("cubic", 2.0, 2.0)]);
        assert_eq!(few.height, SIZE.1);
        let names: Vec<String> = (0..40).map(|place| format!("case {place}")).collect();
        let dots: Vec<Dot> = names.iter().map(|name| dot(name, 1.0, 1.0)).collect();
        let many = scatter("", ("x", "y"), &dots);
        for name in &names {
            assert_eq!(many.body.matches(&format!(">{name}</text>")).count(), 1, "{name}");
        }
        assert!(many.height > SIZE.1 + 100.0);
        let grey = dots.into_iter().enumerate().map(|(place, dot)| Dot { class: scheme_class(place), ..dot });
        let body = scatter("", ("x", "y"), &grey.collect::<Vec<_>>()).body;
        assert!(body.contains(">case 15</text>") && !body.contains(">case 16</text>"), "{body}");
        assert!(body.contains(">24 more</text>"));
    }

    #[test]
    fn there_is_no_number_above_a_whole_and_delays_of_three_decades_have_powers_of_ten() {
        let shares = [dot("a", 8.0, 99.965), dot("b", 17.0, 100.0)];
        let body = scatter("", ("delay, ms", "utilization, %"), &shares).body;
        assert!(body.contains(">100.00</text>") && !body.contains(">100.01</text>"), "{body}");
        let wide = [dot("a", 0.1, 99.0), dot("b", 90.0, 100.0)];
        let log = scatter("", ("delay, ms", "utilization, %"), &wide).body;
        assert!([">0.1</text>", ">1</text>", ">10</text>"].iter().all(|tick| log.contains(tick)), "{log}");
        assert!(!log.contains("NaN"), "{log}");
    }
}
