// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RED's law in a fluid model: a probability from an average queue or queueing delay.
//!
//! ```text
//! linear: p = pmax (x - min) / (max - min)                          however large or small
//! gentle: p = the same between 0 and pmax, then pmax + (1 - pmax) (x - max) / max, at most 1
//! ```

use super::theorem::Bottleneck;

crate::choice! {
    /// The shape of RED's law.
    pub enum Shape {
        /// The straight line, also below 0 and above 1, as the stability analyses take it.
        Linear = "linear",
        /// Held to [0, 1], and steeper from pmax at the upper threshold to 1 at twice it, as routers and PERT have it.
        Gentle = "gentle",
    }
}

/// A law with its thresholds.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Where the probability leaves 0.
    pub min: f64,
    /// Where it is `pmax`.
    pub max: f64,
    /// The probability at `max`.
    pub pmax: f64,
    /// Its shape.
    pub shape: Shape,
}

impl Law {
    /// Probability per unit of the average: L in equation (10).
    pub fn slope(&self) -> f64 {
        self.pmax / (self.max - self.min)
    }

    /// The probability at an average.
    pub fn probability(&self, average: f64) -> f64 {
        let line = self.slope() * (average - self.min);
        match self.shape {
            Shape::Linear => line,
            Shape::Gentle if average <= self.max => line.max(0.0),
            Shape::Gentle => (self.pmax + (1.0 - self.pmax) * (average - self.max) / self.max).min(1.0),
        }
    }

    /// The average at which the probability is `p`, if the law ever says so.
    pub fn average(&self, p: f64) -> Option<f64> {
        match self.shape {
            Shape::Linear => Some(self.min + p / self.slope()),
            Shape::Gentle if !(0.0..1.0).contains(&p) => None,
            Shape::Gentle if p <= self.pmax => Some(self.min + p / self.slope()),
            Shape::Gentle => Some(self.max * (1.0 + (p - self.pmax) / (1.0 - self.pmax))),
        }
    }

    /// Where flows come to rest under this law: the link with the round-trip time there, and the average.
    ///
    /// `base` has the round-trip time without the queue, to which each unit of the average adds `unit` seconds; none,
    /// where the round-trip time is held constant.
    pub fn rest(&self, base: Bottleneck, unit: f64) -> Result<(Bottleneck, f64), String> {
        // Longer round trips need fewer responses and so leave a shorter queue: one crossing.
        let average = |rtt: f64| self.average(Bottleneck { rtt, ..base }.probability());
        let beyond = |rtt: f64| base.rtt + unit * average(rtt).unwrap_or(2.0 * self.max) > rtt;
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
            let law = Law { min: 0.05, max: 0.1, pmax: 0.1, shape };
            for p in [0.01, 0.1, 0.55, 0.99] {
                let average = law.average(p).unwrap();
                assert!((law.probability(average) - p).abs() < 1e-12, "{shape} {p}");
            }
        }
    }

    #[test]
    fn only_the_line_goes_beyond_what_a_probability_can_be() {
        let line = Law { min: 0.05, max: 0.1, pmax: 0.1, shape: Shape::Linear };
        let gentle = Law { shape: Shape::Gentle, ..line };
        assert!((line.slope() - 2.0).abs() < 1e-12);
        assert!((line.probability(1.0) - 1.9).abs() < 1e-12 && (line.probability(0.0) + 0.1).abs() < 1e-12);
        assert_eq!((gentle.probability(1.0), gentle.probability(0.0)), (1.0, 0.0));
        assert_eq!((gentle.average(1.2), gentle.average(-0.1)), (None, None));
        assert!((gentle.probability(0.15) - 0.55).abs() < 1e-12);
    }
}
