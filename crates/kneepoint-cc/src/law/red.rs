// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RED: a probability that is zero up to a threshold, linear up to a second, and steeper or certain beyond.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4) 1993, §4; gentle: S. Floyd, 2000; at end hosts: S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, Figure 5.
//!
//! ```text
//! p = 0                                             x <= min
//!     max_p (x - min) / (max - min)                 min <= x < max
//!     max_p + (1 - max_p) (x - max) / (end - max)   max <= x < end
//!     1                                             x >= end
//! ```
//!
//! `x` the average queue, in packets or bytes, or the average queueing delay; `min max end` in its unit. Gentle RED has
//! end = 2 max, the first RED end = max.
//!
//! Three forms of the same equations precompute different terms, and so differ in the last bit:
//! [`Curve::new`] divides late, as the fluid models do, [`Curve::factored`] multiplies by 1/(max - min), as ns-2 does,
//! and [`Curve::sloped`] computes both slopes once, for hosts that evaluate the curve at every acknowledgement.

use super::Law;
use crate::units::Time;

crate::settings! {
    /// The points of the curve, in the unit of the signal.
    pub struct Params {
        /// The signal at which the probability begins to rise.
        min: f64 = 5.0, 0.0..=1000000000.0;
        /// The signal at which the probability is `max_p`.
        max: f64 = 15.0, 0.0..=1000000000.0;
        /// The signal at which the probability is 1; `max` itself makes it jump there.
        end: f64 = 30.0, 0.0..=1000000000.0;
        /// The probability at `max`.
        max_p: f64 = 0.1, 0.0..=1.0;
    }
    check |points| {
        let Params { min, max, end, .. } = points;
        if min < max && max <= end {
            Ok(())
        } else {
            Err(format!("min = {min}, max = {max}, end = {end}: they must be in order, as in 5, 15, 30"))
        }
    }
}

/// The probability as a function of the signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    points: Params,
    /// Between min and max, p = rise.0 (x - min) rise.1.
    rise: (f64, f64),
    /// Between max and end, p = max_p + climb.0 (x - max) / climb.1.
    climb: (f64, f64),
}

impl Curve {
    /// The curve through (min, 0), (max, max_p) and (end, 1).
    pub fn new(points: Params) -> Curve {
        let rise = (points.max_p / (points.max - points.min), 1.0);
        let climb = (1.0 - points.max_p, points.end - points.max);
        Curve { points, rise, climb }
    }

    /// The same as a router computes it; `width` is max - min.
    pub fn factored(points: Params, width: f64) -> Curve {
        Curve { rise: (points.max_p, 1.0 / width), ..Curve::new(points) }
    }

    /// The same with both slopes computed once; end is above max.
    pub fn sloped(points: Params) -> Curve {
        let slope = (1.0 - points.max_p) / (points.end - points.max);
        Curve { climb: (slope, 1.0), ..Curve::new(points) }
    }

    /// The points of the curve.
    pub fn points(&self) -> &Params {
        &self.points
    }

    /// The probability at `signal`.
    #[inline]
    pub fn at(&self, signal: f64) -> f64 {
        let Params { min, max, end, max_p } = self.points;
        if signal <= min {
            0.0
        } else if signal < max {
            self.rise.0 * (signal - min) * self.rise.1
        } else if signal < end {
            (max_p + self.climb.0 * (signal - max) / self.climb.1).min(1.0)
        } else {
            1.0
        }
    }
}

/// The curve with its latest signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// The probability as a function of the signal.
    pub curve: Curve,
    signal: f64,
}

impl From<Curve> for Red {
    fn from(curve: Curve) -> Red {
        Red { curve, signal: 0.0 }
    }
}

impl Law for Red {
    type Params = Params;

    fn new(params: Params) -> Red {
        Red::from(Curve::new(params))
    }

    #[inline]
    fn sample(&mut self, signal: f64, _: Time) {
        self.signal = signal;
    }

    #[inline]
    fn probability(&self) -> f64 {
        self.curve.at(self.signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_probability_is_linear_then_gentle_or_certain() {
        let jump = Params { end: 15.0, ..Params::default() };
        let gentle = |average| Curve::new(Params::default()).at(average);
        for (average, probability) in
            [(0.0, 0.0), (5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (40.0, 1.0)]
        {
            assert!((gentle(average) - probability).abs() < 1e-12, "{average}: {}", gentle(average));
        }
        assert!((Curve::new(jump.clone()).at(14.0) - 0.09).abs() < 1e-12);
        assert_eq!(Curve::new(jump).at(15.0), 1.0);
    }

    #[test]
    fn the_three_forms_agree_but_for_rounding() {
        let points = Params { min: 30.0481, max: 90.1442, end: 180.2884, max_p: 0.05 };
        let forms = [
            Curve::new(points.clone()),
            Curve::factored(points.clone(), points.max - points.min),
            Curve::sloped(points),
        ];
        for signal in (0..2000).map(|step| f64::from(step) / 10.0) {
            let [late, factored, sloped] = [0, 1, 2].map(|form: usize| forms[form].at(signal));
            assert!((late - factored).abs() < 1e-15 && (late - sloped).abs() < 1e-15, "{signal}");
        }
    }

    #[test]
    fn points_out_of_order_are_refused() {
        let message = Params { max: 40.0, ..Params::default() }.check().unwrap_err();
        assert!(message.contains("max = 40, end = 30"), "{message}");
    }
}
