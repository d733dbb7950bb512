// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Self-configuring RED: RED whose probability is divided when the average queue falls out of the thresholds, and multiplied when it rises out.
//!
//! W. Feng, D. Kandlur, D. Saha, K. Shin, "A Self-Configuring RED Gateway", INFOCOM 1999, §III, Figure 4.
//!
//! ```text
//! every arrival:
//!   avg < min, and it was not last time it left the thresholds:   max_p <- max_p / divisor
//!   avg > max, and it was not:                                    max_p <- max_p factor
//! ```
//!
//! `avg min max` as in RED: packets or bytes; max_p stays within 0.0001 and 1, the range of the parameter.
//!
//! Readings: a second crossing of one threshold counts where the average was between both meanwhile, as in the figure and in
//! ns-2. The state of an empty queue at the start is below, so nothing changes before the average has risen; ns-2 begins
//! above and divides at the first arrival.
//! Departure: the paper sets no bounds to max_p.

use super::red::{self, Red};
use super::{Arrival, Decision, Discipline, Facts};
use crate::rng::Rng;
use crate::units::Time;

crate::settings! {
    /// Self-configuring RED's parameters; zero is automatic where the sentence says so.
    pub struct Params {
        ..red: red::Params;
        /// The divisor of max_p when the average falls below the minimum threshold.
        divisor: f64 = 3.0, 1.0..=1000.0;
        /// The factor of max_p when the average rises above the maximum threshold.
        factor: f64 = 2.0, 1.0..=1000.0;
    }
}

/// The bounds of max_p.
const BOUNDS: (f64, f64) = (0.0001, 1.0);

/// The range of the average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Below,
    Between,
    Above,
}

/// A self-configuring RED queue's judgement.
#[derive(Clone, Debug)]
pub struct SelfConfiguringRed {
    red: Red,
    zone: Zone,
    divisor: f64,
    factor: f64,
}

impl SelfConfiguringRed {
    fn adapt(&mut self) {
        let (average, (min, max)) = (self.red.average(), self.red.thresholds());
        let (zone, factor) = if average < min {
            (Zone::Below, 1.0 / self.divisor)
        } else if average > max {
            (Zone::Above, self.factor)
        } else {
            (Zone::Between, 1.0)
        };
        if zone != self.zone {
            self.zone = zone;
            self.red.set_max_p((self.red.max_p() * factor).clamp(BOUNDS.0, BOUNDS.1));
        }
    }
}

impl Discipline for SelfConfiguringRed {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> SelfConfiguringRed {
        let Params { red, divisor, factor } = params;
        SelfConfiguringRed { red: Red::new(red, facts), zone: Zone::Below, divisor, factor }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.red.observe(arrival);
        self.adapt();
        self.red.judge(arrival, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.red.state()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet};
    use super::*;

    /// max_p after each of these queues, in packets, with thresholds of 5 and 15.
    fn adapted<const N: usize>(max_p: f64, queues: [u32; N]) -> [f64; N] {
        let red = red::Params {
            weight: 1.0,
            min_threshold: 5.0,
            max_threshold: 15.0,
            max_p,
            ..red::Params::default()
        };
        let mut red = SelfConfiguringRed::new(Params { red, ..Params::default() }, link(100, 0.06));
        let (packet, mut rng) = (packet(), Rng::stream(1, "red", 0));
        queues.map(|packets| {
            red.on_arrival(&arrival(&packet, packets, Time::ZERO), &mut rng);
            red.red.max_p()
        })
    }

    fn close<const N: usize>(got: [f64; N], expected: [f64; N]) -> bool {
        got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12)
    }

    #[test]
    fn the_probability_changes_once_each_time_the_average_leaves_the_thresholds() {
        let got = adapted(0.1, [0, 10, 20, 20, 10, 20, 3, 3, 10, 2]);
        let after = [0.1, 0.1, 0.2, 0.2, 0.2, 0.4, 0.4 / 3.0, 0.4 / 3.0, 0.4 / 3.0, 0.4 / 9.0];
        assert!(close(got, after), "{got:?}");
        // A length at a threshold counts as between the two.
        assert!(close(adapted(0.1, [15, 5, 16, 4]), [0.1, 0.1, 0.2, 0.2 / 3.0]));
    }

    #[test]
    fn it_stays_a_probability_and_above_zero() {
        assert_eq!(adapted(0.4, [20, 10, 20, 10, 20]), [0.8, 0.8, 1.0, 1.0, 1.0]);
        let low = adapted(0.0006, [10, 0, 10, 0, 10, 0]);
        assert!((low[1] - 0.0002).abs() < 1e-12 && low[3] == 0.0001 && low[5] == 0.0001, "{low:?}");
    }
}
