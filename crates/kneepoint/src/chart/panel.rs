// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Curves between two axes.

use super::scale::{Scale, from_zero};
use super::{Anchor, Drawing};

/// A plot area for curves. Both axes start at zero.
pub(in super::super) struct Panel {
    drawing: Drawing,
    x: Scale,
    y: Scale,
    top: f64,
    bottom: f64,
}

/// One quantity as a function of another.
pub(in super::super) struct Curve {
    points: Vec<(f64, f64)>,
}

const LEFT: f64 = 46.0;
const RIGHT: f64 = 12.0;
const ABOVE: f64 = 24.0;
const BELOW: f64 = 36.0;

impl Panel {
    /// A plot area for x up to `greatest.0` and y up to `greatest.1`, with axis labels.
    pub(in super::super) fn new(
        label: &str,
        size: (f64, f64),
        greatest: (f64, f64),
        names: (&str, &str),
    ) -> Panel {
        let (width, height) = size;
        let (top, bottom) = (ABOVE, height - BELOW);
        let x = Scale::new((0.0, greatest.0), (LEFT, width - RIGHT));
        let y = Scale::new(from_zero(greatest.1), (bottom, top));
        let mut drawing = Drawing::new(width, height, label);
        for (value, tick) in y.ticks(5) {
            let class = if value == 0.0 { "axis" } else { "grid" };
            drawing.line(class, (LEFT, y.at(value)), (width - RIGHT, y.at(value)));
            drawing.text("tick", Anchor::End, (LEFT - 7.0, y.at(value) + 3.5), &tick);
        }
        for (value, tick) in x.ticks(((width - LEFT) / 60.0) as usize) {
            drawing.line("axis", (x.at(value), bottom), (x.at(value), bottom + 4.0));
            drawing.text("tick", Anchor::Middle, (x.at(value), bottom + 16.0), &tick);
        }
        drawing.text("quantity", Anchor::Start, (0.0, 11.0), names.1);
        drawing.text("quantity", Anchor::End, (width - RIGHT, height - 4.0), names.0);
        Panel { drawing, x, y, top, bottom }
    }

    /// Draws a curve.
    pub(in super::super) fn line(&mut self, class: &str, curve: &Curve) {
        let (x, y) = (self.x, self.y);
        let points = curve.points.iter().map(|point| (x.at(point.0), y.at(point.1)));
        self.drawing.path(&format!("line {class}"), points, false);
    }

    /// Fills the area between two curves.
    pub(in super::super) fn band(&mut self, class: &str, low: &Curve, high: &Curve) {
        let (x, y) = (self.x, self.y);
        let outline = high.points.iter().chain(low.points.iter().rev());
        let points = outline.map(|point| (x.at(point.0), y.at(point.1)));
        self.drawing.path(&format!("band {class}"), points, true);
    }

    /// Shades the measured part of x.
    pub(in super::super) fn measured(&mut self, (from, to): (f64, f64)) {
        let edge = |value: f64| self.x.at(value).clamp(LEFT, self.drawing.width - RIGHT);
        let (left, right) = (edge(from), edge(to));
        let size = (right - left, self.bottom - self.top);
        self.drawing.with_tip("measured", |drawing| drawing.rect("measured", (left, self.top), size, 0.0));
        self.drawing.text("tick", Anchor::End, (right, self.top - 4.0), "measured");
    }

    /// Marks instants on the upper edge, those that share a pixel once.
    pub(in super::super) fn events(&mut self, class: &str, times: &[f64]) {
        let mut places: Vec<i64> = times.iter().map(|at| self.x.at(*at).round() as i64).collect();
        places.dedup();
        for place in places {
            let x = place as f64;
            self.drawing.line(&format!("error {class}"), (x, self.top), (x, self.top + 9.0));
        }
    }

    /// Marks a value of x.
    pub(in super::super) fn mark(&mut self, value: f64, name: &str) {
        let x = self.x.at(value);
        self.drawing.line("mark", (x, self.top), (x, self.bottom));
        self.drawing.text("tick", Anchor::End, (x - 5.0, self.top + 9.0), name);
    }

    /// Marks a value of y.
    pub(in super::super) fn level(&mut self, value: f64, name: &str) {
        let (y, end) = (self.y.at(value), self.drawing.width - RIGHT);
        self.drawing.line("mark", (LEFT, y), (end, y));
        self.drawing.text("tick", Anchor::End, (end, y - 4.0), name);
    }

    pub(in super::super) fn finish(self) -> Drawing {
        self.drawing
    }
}

impl Curve {
    /// A curve through points.
    pub(in super::super) fn new(points: Vec<(f64, f64)>) -> Curve {
        Curve { points }
    }

    /// Minimum, mean and maximum over each of `count` intervals of `points`.
    pub(in super::super) fn summed_up(points: &[(f64, f64)], count: usize) -> [Curve; 3] {
        let intervals = || points.chunks(points.len().div_ceil(count).max(1));
        let through = |of: fn(&mut dyn Iterator<Item = f64>) -> f64| {
            let point = |interval: &[(f64, f64)]| {
                (interval[interval.len() / 2].0, of(&mut interval.iter().map(|point| point.1)))
            };
            Curve { points: intervals().map(point).collect() }
        };
        [
            through(|values| values.fold(f64::INFINITY, f64::min)),
            through(|values| {
                let (number, sum) =
                    values.fold((0.0, 0.0), |(number, sum), value| (number + 1.0, sum + value));
                sum / number
            }),
            through(|values| values.fold(f64::NEG_INFINITY, f64::max)),
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
        Curve { points: kept }
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
    fn intervals_have_a_minimum_a_mean_and_a_maximum() {
        let points: Vec<(f64, f64)> = (0..10).map(|step| (f64::from(step), f64::from(step))).collect();
        let [least, mean, greatest] = Curve::summed_up(&points, 2);
        assert_eq!(least.points, [(2.0, 0.0), (7.0, 5.0)]);
        assert_eq!(mean.points, [(2.0, 2.0), (7.0, 7.0)]);
        assert_eq!(greatest.points, [(2.0, 4.0), (7.0, 9.0)]);
    }
}
