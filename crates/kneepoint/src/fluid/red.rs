// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RED's law in a fluid model: its continuation as a straight line, its inverse, and the equilibrium under it.
//!
//! ```text
//! linear: p = pmax (x - min) / (max - min)                          however large or small
//! gentle: p = that of [`law::red`](crate::law::red) with end = 2 max
//! ```

use super::theorem::Bottleneck;
use crate::law::red::{Curve, Params as Points};

crate::choice! {
    /// The shape of RED's law.
    pub enum Shape {
        /// The straight line, also below 0 and above 1, as the stability analyses take it.
        Linear = "linear",
        /// Held to [0, 1], and steeper from pmax at the upper threshold to 1 at twice it, as routers and PERT have it.
        Gentle = "gentle",
    }
}

/// RED's law and its continuation.
#[derive(Clone, Debug)]
pub struct Red {
    curve: Curve,
    shape: Shape,
}

impl Red {
    /// The law through (min, 0) and (max, pmax).
    pub fn new(min: f64, max: f64, max_p: f64, shape: Shape) -> Red {
        Red { curve: Curve::new(Points { min, max, end: 2.0 * max, max_p }), shape }
    }

    /// The probability at `max`.
    pub fn pmax(&self) -> f64 {
        self.curve.points().max_p
    }

    /// Probability per unit of the average: L in equation (10).
    pub fn slope(&self) -> f64 {
        let Points { min, max, max_p, .. } = *self.curve.points();
        max_p / (max - min)
    }

    /// The probability at an average.
    pub fn probability(&self, average: f64) -> f64 {
        match self.shape {
            Shape::Linear => self.slope() * (average - self.curve.points().min),
            Shape::Gentle => self.curve.at(average),
        }
    }

    /// The average at which the probability is `p`, if there is one.
    pub fn average(&self, p: f64) -> Option<f64> {
        let Points { min, max, max_p, .. } = *self.curve.points();
        match self.shape {
            Shape::Linear => Some(min + p / self.slope()),
            Shape::Gentle if !(0.0..1.0).contains(&p) => None,
            Shape::Gentle if p <= max_p => Some(min + p / self.slope()),
            Shape::Gentle => Some(max * (1.0 + (p - max_p) / (1.0 - max_p))),
        }
    }

    /// The equilibrium of flows under this law: the link with the round-trip time there, and the average.
    ///
    /// `base` has the round-trip time without the queue, to which each unit of the average adds `unit` seconds; none,
    /// where the round-trip time is held constant.
    pub fn rest(&self, base: Bottleneck, unit: f64) -> Result<(Bottleneck, f64), String> {
        // Longer round trips need fewer responses and so leave a shorter queue: one crossing.
        let average = |rtt: f64| self.average(Bottleneck { rtt, ..base }.probability());
        let beyond = |rtt: f64| base.rtt + unit * average(rtt).unwrap_or(self.curve.points().end) > rtt;
        let (mut low, mut high) = (base.rtt, base.rtt);
        while beyond(high) {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            *if beyond(middle) { &mut low } else { &mut high } = middle;
        }
        let at = Bottleneck { rtt: high, ..base };
        average(high).map(|average| (at, average)).ok_or_else(|| {
            let (needed, window) = (at.probability(), at.window());
            format!("no equilibrium: a window of {window:.3} packets needs the probability {needed:.3}, which this law never has")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_undoes_the_probability() {
        for shape in [Shape::Linear, Shape::Gentle] {
            let law = Red::new(0.05, 0.1, 0.1, shape);
            for p in [0.01, 0.1, 0.55, 0.99] {
                let average = law.average(p).unwrap();
                assert!((law.probability(average) - p).abs() < 1e-12, "{shape} {p}");
            }
        }
    }

    #[test]
    fn only_the_line_goes_beyond_what_a_probability_can_be() {
        let [line, gentle] = [Shape::Linear, Shape::Gentle].map(|shape| Red::new(0.05, 0.1, 0.1, shape));
        assert!((line.slope() - 2.0).abs() < 1e-12);
        assert!((line.probability(1.0) - 1.9).abs() < 1e-12 && (line.probability(0.0) + 0.1).abs() < 1e-12);
        assert_eq!((gentle.probability(1.0), gentle.probability(0.0)), (1.0, 0.0));
        assert_eq!((gentle.average(1.2), gentle.average(-0.1)), (None, None));
        assert!((gentle.probability(0.15) - 0.55).abs() < 1e-12);
    }
}
