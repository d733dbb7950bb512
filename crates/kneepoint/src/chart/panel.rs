// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Curves between two axes.

use super::data::{self, Data, Series};
use super::paper::{Chart, Paper};
use super::scale::{Scale, from_zero};
use super::space::{self, Space};
use super::{Anchor, Drawing};

/// A plot area for curves. Both axes start at zero.
pub(in super::super) struct Panel {
    label: String,
    size: (f64, f64),
    greatest: (f64, f64),
    names: (String, String),
    parts: Vec<Part>,
}

/// The content of a plot area.
enum Part {
    Line(String, Curve),
    Band(String, Curve, Curve),
    Measured((f64, f64)),
    Events(String, Vec<f64>),
    Mark(f64, String),
}

/// One quantity as a function of another.
#[derive(Clone)]
pub(in super::super) struct Curve {
    /// The name in the table behind the chart; without one, the name of the axis.
    name: String,
    points: Vec<(f64, f64)>,
}

const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 36.0;
const LETTERS: f64 = 11.0;

impl Panel {
    /// A plot area for x up to `greatest.0` and y up to `greatest.1`, with axis labels.
    pub(in super::super) fn new(
        label: &str,
        size: (f64, f64),
        greatest: (f64, f64),
        names: (&str, &str),
    ) -> Panel {
        let names = (names.0.into(), names.1.into());
        Panel { label: label.into(), size, greatest, names, parts: Vec::new() }
    }

    /// Draws a curve.
    pub(in super::super) fn line(&mut self, class: &str, curve: &Curve) {
        self.parts.push(Part::Line(class.into(), curve.clone()));
    }

    /// Fills the area between two curves.
    pub(in super::super) fn band(&mut self, class: &str, low: &Curve, high: &Curve) {
        self.parts.push(Part::Band(class.into(), low.clone(), high.clone()));
    }

    /// Shades the measured part of x.
    pub(in super::super) fn measured(&mut self, part: (f64, f64)) {
        self.parts.push(Part::Measured(part));
    }

    /// Marks instants on the upper edge, once for instants that share a pixel.
    pub(in super::super) fn events(&mut self, class: &str, times: &[f64]) {
        self.parts.push(Part::Events(class.into(), times.to_vec()));
    }

    /// Marks a value of x.
    pub(in super::super) fn mark(&mut self, value: f64, name: &str) {
        self.parts.push(Part::Mark(value, name.into()));
    }

    pub(in super::super) fn finish(self) -> Drawing {
        Drawing::of(self)
    }
}

impl Chart for Panel {
    fn draw(&self, paper: &Paper) -> Drawing {
        let mut plot = Plot::new(self, paper.size(self.size));
        // Names go where no curve is.
        let (marks, others): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| matches!(part, Part::Mark(..)));
        others.into_iter().chain(marks).for_each(|part| plot.draw(part));
        Drawing { unnamed: true, ..plot.drawing }
    }

    fn data(&self) -> Vec<Data> {
        let curves = self.parts.iter().flat_map(|part| match part {
            Part::Line(_, curve) => vec![curve],
            Part::Band(_, low, high) => vec![low, high],
            _ => Vec::new(),
        });
        let series = curves.map(|curve| {
            let points = curve.points.iter().map(|(x, y)| (*x, data::number_or_none(*y))).collect();
            Series { name: curve.name.clone(), points }
        });
        vec![Data::over(&self.names.0, &self.names.1, &series.collect::<Vec<_>>())]
    }
}

/// The plot area while it is drawn.
struct Plot {
    drawing: Drawing,
    x: Scale,
    y: Scale,
    right: f64,
    top: f64,
    bottom: f64,
    /// The areas already taken by names.
    taken: Vec<Space>,
    /// The places of the curves.
    curves: Vec<Space>,
}

impl Plot {
    /// The axes.
    fn new(panel: &Panel, (width, height): (f64, f64)) -> Plot {
        let (right, top, bottom) = (width - RIGHT, ABOVE, height - BELOW);
        let x = Scale::new((0.0, panel.greatest.0), (LEFT, right));
        let y = Scale::new(from_zero(panel.greatest.1), (bottom, top));
        let mut drawing = Drawing::new(width, height, &panel.label);
        for (value, tick) in y.ticks(y.rows(5)) {
            let class = if value == 0.0 { "axis" } else { "grid" };
            drawing.line(class, (LEFT, y.at(value)), (right, y.at(value)));
            drawing.text("tick", Anchor::End, (LEFT - 7.0, y.at(value) + 3.5), &tick);
        }
        for (value, tick) in x.ticks(((width - LEFT) / 60.0) as usize) {
            drawing.line("axis", (x.at(value), bottom), (x.at(value), bottom + 4.0));
            drawing.text("tick", Anchor::Middle, (x.at(value), bottom + 16.0), &tick);
        }
        let (across, up) = &panel.names;
        let up = space::fitted(up, width, 11.5);
        let above = Space { from: (0.0, 0.0), to: (space::length(&up, 11.5), 14.0) };
        drawing.text("quantity", Anchor::Start, (0.0, 11.0), &up);
        drawing.text("quantity", Anchor::End, (right, height - 4.0), &space::fitted(across, right, 11.5));
        Plot { drawing, x, y, right, top, bottom, taken: vec![above], curves: Vec::new() }
    }

    fn draw(&mut self, part: &Part) {
        match part {
            Part::Line(class, curve) => {
                let points: Vec<_> = curve.points.iter().map(|point| self.at(*point)).collect();
                self.curves.extend(space::along(points.iter().copied()));
                self.drawing.path(&format!("line {class}"), points.into_iter(), false);
            }
            Part::Band(class, low, high) => {
                let outline = high.points.iter().chain(low.points.iter().rev());
                let points: Vec<_> = outline.map(|point| self.at(*point)).collect();
                self.drawing.path(&format!("band {class}"), points.into_iter(), true);
            }
            Part::Measured(part) => self.measured(*part),
            Part::Events(class, times) => self.events(class, times),
            Part::Mark(value, name) => {
                let x = self.x.at(*value);
                self.drawing.line("mark", (x, self.top), (x, self.bottom));
                let rows = [self.top + 9.0, self.top + 24.0, self.top + 39.0, self.bottom - 8.0];
                let places = rows.map(|row| [(Anchor::End, (x - 5.0, row)), (Anchor::Start, (x + 5.0, row))]);
                self.name("note", name, places.as_flattened());
            }
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    fn measured(&mut self, (from, to): (f64, f64)) {
        let edge = |value: f64| self.x.at(value).clamp(LEFT, self.right);
        let (left, right) = (edge(from), edge(to));
        let size = (right - left, self.bottom - self.top);
        self.drawing.with_tip("measured", |drawing| drawing.rect("measured", (left, self.top), size, 0.0));
        let over = self.top - 4.0;
        let places = [(Anchor::End, (right, over)), (Anchor::End, (right - 4.0, self.bottom - 6.0))];
        self.name("tick", "measured", &places);
    }

    fn events(&mut self, class: &str, times: &[f64]) {
        let mut places: Vec<i64> = times.iter().map(|at| self.x.at(*at).round() as i64).collect();
        places.dedup();
        for place in places {
            let x = place as f64;
            self.drawing.line(&format!("error {class}"), (x, self.top), (x, self.top + 9.0));
        }
    }

    /// Writes a name at the first place free of names and curves, else on a curve, or nowhere if all places are taken.
    fn name(&mut self, class: &str, name: &str, places: &[(Anchor, (f64, f64))]) {
        let inside = Space { from: (0.0, 0.0), to: (self.right + RIGHT, self.bottom) };
        let (long, taken) = (space::length(name, LETTERS), [&self.taken[..], &self.curves].concat());
        let found = space::free(places, long, inside, &taken);
        let found = found.or_else(|| space::free(places, long, inside, &self.taken));
        if let Some((anchor, at, space)) = found {
            self.drawing.text(class, anchor, at, name);
            self.taken.push(space);
        }
    }
}

impl Curve {
    /// A curve through points.
    pub(in super::super) fn new(points: Vec<(f64, f64)>) -> Curve {
        Curve { name: String::new(), points }
    }

    /// With the name that it has in the table behind the chart.
    pub(in super::super) fn named(self, name: impl Into<String>) -> Curve {
        Curve { name: name.into(), ..self }
    }

    /// Its points.
    pub(in super::super) fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Minimum, mean and maximum over each of `count` intervals of `points`.
    pub(in super::super) fn summed_up(points: &[(f64, f64)], count: usize) -> [Curve; 3] {
        let intervals = || points.chunks(points.len().div_ceil(count).max(1));
        let through = |name: &str, of: fn(&mut dyn Iterator<Item = f64>) -> f64| {
            let point = |interval: &[(f64, f64)]| {
                (interval[interval.len() / 2].0, of(&mut interval.iter().map(|point| point.1)))
            };
            Curve::new(intervals().map(point).collect()).named(name)
        };
        [
            through("least", |values| values.fold(f64::INFINITY, f64::min)),
            through("mean", |values| {
                let (number, sum) =
                    values.fold((0.0, 0.0), |(number, sum), value| (number + 1.0, sum + value));
                sum / number
            }),
            through("greatest", |values| values.fold(f64::NEG_INFINITY, f64::max)),
        ]
    }

    /// The first point and the extremes of each of `count` intervals of `points`, in order: a sawtooth keeps its
    /// peaks.
    pub(in super::super) fn thinned(points: &[(f64, f64)], count: usize) -> Curve {
        let mut kept = Vec::new();
        for interval in points.chunks(points.len().div_ceil(count).max(1)) {
            let extreme = |greater: fn(f64, f64) -> bool| {
                (0..interval.len())
                    .reduce(
                        |best, place| if greater(interval[place].1, interval[best].1) { place } else { best },
                    )
                    .unwrap_or(0)
            };
            let mut places = [0, extreme(|a, b| a < b), extreme(|a, b| a > b)];
            places.sort_unstable();
            let distinct = places.iter().zip([None].into_iter().chain(places.iter().map(Some)));
            kept.extend(
                distinct.filter(|(place, last)| Some(*place) != *last).map(|(place, _)| interval[*place]),
            );
        }
        Curve::new(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_sawtooth_keeps_its_peaks() {
        let saw: Vec<(f64, f64)> = (0..10_000).map(|step| (f64::from(step), f64::from(step % 997))).collect();
        let thinned = Curve::thinned(&saw, 100);
        assert!(thinned.points.len() <= 300);
        assert_eq!(thinned.points.iter().filter(|point| point.1 == 996.0).count(), 10);
        assert!(thinned.points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn names_of_two_marks_near_each_other_have_places_of_their_own() {
        let mut panel = Panel::new("Queue", (360.0, 220.0), (100.0, 1.0), ("queue, packets", "share"));
        panel.mark(60.0, "buffer");
        panel.mark(60.5, "limit");
        let body = panel.finish().body;
        let row = |name: &str| {
            let end = body.find(&format!(">{name}</text>")).expect(name);
            body[body[..end].rfind("<text").expect("a begin")..end].to_string()
        };
        assert!(row("buffer").contains("\"end\"") && row("limit").contains("\"start\""), "{body}");
    }

    #[test]
    fn a_name_keeps_clear_of_curves_where_it_can() {
        let mut panel = Panel::new("Queue", (360.0, 220.0), (100.0, 1.0), ("queue, packets", "share"));
        panel.mark(60.0, "buffer");
        let high: Vec<(f64, f64)> = (0..=60).map(|x| (f64::from(x), 0.97)).collect();
        panel.line("s0", &Curve::new(high));
        let body = panel.finish().body;
        let end = body.find(">buffer</text>").expect("a name");
        let name = &body[body[..end].rfind("<text").expect("a begin")..end];
        assert!(name.contains("\"start\""), "{name}");
        // Curves on both sides of the upper edge leave the lower one.
        let mut full = Panel::new("Queue", (360.0, 220.0), (100.0, 1.0), ("queue, packets", "share"));
        full.mark(60.0, "buffer");
        for at in [0.75, 0.8, 0.85, 0.9, 0.95, 1.0] {
            full.line("s0", &Curve::new(vec![(0.0, at), (100.0, at)]));
        }
        let drawn = full.finish().body;
        let close = drawn.find(">buffer</text>").expect("a name");
        let lowest = format!("y=\"{}\"", 220.0 - BELOW - 8.0);
        assert!(drawn[drawn[..close].rfind("<text").expect("a begin")..close].contains(&lowest), "{drawn}");
    }

    #[test]
    fn intervals_have_a_minimum_a_mean_and_a_maximum() {
        let points: Vec<(f64, f64)> = (0..10).map(|step| (f64::from(step), f64::from(step))).collect();
        let [least, mean, greatest] = Curve::summed_up(&points, 2);
        assert_eq!(least.points, [(2.0, 0.0), (7.0, 5.0)]);
        assert_eq!(mean.points, [(2.0, 2.0), (7.0, 7.0)]);
        assert_eq!(greatest.points, [(2.0, 4.0), (7.0, 9.0)]);
    }
}
