// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PI: a proportional-integral controller that holds the signal at a target.
//!
//! C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001; constants as in ns-2.35.
//!
//! ```text
//! e = x - target
//! p <- p + a e - b e',  within [0, 1];   e' <- e                   every 1/f
//! p = (K/m) e + I,   dI/dt = K e                                   continuously: C(s) = K (1 + s/m) / s
//! a = K/m + K/2f,  b = K/m - K/2f;   K = (a - b) f,  m = 2 K / (a + b)
//! ```
//!
//! `x` the queue in packets or the queueing delay, `target` in its unit, `a b` per unit of it; `f` sampling frequency,
//! `K` gain, 1/s per unit; `m` zero, rad/s. Before the first sample the queue was empty: e' = -target.
//!
//! Reading: ns-2's a and b are for f = 160 Hz, its clock runs at 170 Hz.

use super::Law;
use crate::units::Time;

crate::settings! {
    /// The controller's parameters, in the unit of the signal.
    pub struct Params {
        /// The signal to keep.
        target: f64 = 50.0, 0.0..=1000000000.0;
        /// The weight of the error now, per unit.
        a: f64 = 0.00001822, 0.0..=1000.0;
        /// The weight of the error one sample before, per unit.
        b: f64 = 0.00001816, 0.0..=1000.0;
    }
}

/// A sampled PI controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Pi {
    target: f64,
    a: f64,
    b: f64,
    /// The error at the latest sample.
    before: f64,
    probability: f64,
}

impl Pi {
    /// The probability if the signal were sampled now.
    #[inline]
    pub fn at(&self, signal: f64) -> f64 {
        let change = self.a * (signal - self.target) - self.b * self.before;
        (self.probability + change).clamp(0.0, 1.0)
    }
}

impl Law for Pi {
    type Params = Params;

    fn new(params: Params) -> Pi {
        let Params { target, a, b } = params;
        Pi { target, a, b, before: -target, probability: 0.0 }
    }

    #[inline]
    fn sample(&mut self, signal: f64, _: Time) {
        self.probability = self.at(signal);
        self.before = signal - self.target;
    }

    #[inline]
    fn probability(&self) -> f64 {
        self.probability
    }
}

/// The same controller in continuous time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuous {
    /// The signal to keep.
    pub target: f64,
    /// K, per second and unit of the signal.
    pub gain: f64,
    /// m, in rad/s.
    pub zero: f64,
    /// Hold the probability, and the integral with it, to [0, 1].
    pub clipped: bool,
}

impl Continuous {
    /// K and m of a controller that is sampled `frequency` times a second with weights `a` and `b`.
    pub fn gain_and_zero(a: f64, b: f64, frequency: f64) -> (f64, f64) {
        let gain = (a - b) * frequency;
        (gain, 2.0 * gain / (a + b))
    }

    /// The probability at this signal and integral.
    pub fn probability(&self, signal: f64, integral: f64) -> f64 {
        let p = self.gain / self.zero * (signal - self.target) + integral;
        if self.clipped { p.clamp(0.0, 1.0) } else { p }
    }

    /// The derivative of the integral, per second.
    pub fn growth(&self, signal: f64, integral: f64) -> f64 {
        let error = self.gain * (signal - self.target);
        let full = self.clipped && (integral <= 0.0 && error < 0.0 || integral >= 1.0 && error > 0.0);
        if full { 0.0 } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_follow_from_the_published_design() {
        // 160 Hz, 60 flows, 246 ms, 3750 packets/s, K = 9.6e-6.
        let (k, m, d): (f64, f64, f64) = (9.6e-6, 2.0 * 60.0 / (0.246 * 0.246 * 3750.0), 1.0 / 160.0);
        let (a, b) = (k / m + k * d / 2.0, k / m - k * d / 2.0);
        let Params { a: printed_a, b: printed_b, .. } = Params::default();
        assert!((a / printed_a - 1.0).abs() < 3e-3 && (b / printed_b - 1.0).abs() < 3e-3, "{a} {b}");
        let (gain, zero) = Continuous::gain_and_zero(a, b, 160.0);
        assert!((gain / k - 1.0).abs() < 1e-9 && (zero / m - 1.0).abs() < 1e-9, "{gain} {zero}");
    }

    #[test]
    fn sampled_often_it_is_the_continuous_controller() {
        let (gain, zero, frequency) = (0.01, 0.5, 1e4);
        let (half, ratio) = (gain / (2.0 * frequency), gain / zero);
        let mut sampled = Pi::new(Params { target: 0.0, a: ratio + half, b: ratio - half });
        let continuous = Continuous { target: 0.0, gain, zero, clipped: true };
        let (mut integral, mut signal) = (0.0, 0.0);
        for step in 0..100_000_u32 {
            signal = f64::from(step % 20_000) / 1e4;
            sampled.sample(signal, Time::ZERO);
            integral += continuous.growth(signal, integral) / frequency;
        }
        let expected = continuous.probability(signal, integral);
        assert!((sampled.probability() - expected).abs() < 1e-5, "{sampled:?} {expected}");
    }

    #[test]
    fn the_integral_stops_where_the_probability_is_clipped() {
        let law = Continuous { target: 1.0, gain: 0.5, zero: 1.0, clipped: true };
        assert_eq!((law.growth(0.0, 0.0), law.growth(2.0, 1.0), law.growth(2.0, 0.5)), (0.0, 0.0, 0.5));
        assert_eq!((law.probability(9.0, 0.0), law.probability(0.0, 0.0)), (1.0, 0.0));
        let free = Continuous { clipped: false, ..law };
        assert_eq!((free.growth(0.0, 0.0), free.probability(9.0, 0.0)), (-0.5, 4.0));
    }
}
