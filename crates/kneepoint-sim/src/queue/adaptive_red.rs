// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive RED: RED whose probability follows the load, so that the average queue stays in a target range.
//!
//! S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue Management", 2001, §3; automatic parameters as in ns-2.35.
//!
//! ```text
//! half a second after the last change, at an arrival:
//!   avg < min + 0.4 (max - min) and max_p > bottom:  max_p <- 0.9 max_p
//!   avg > max - 0.4 (max - min) and max_p < top:     max_p <- max_p + min(0.01, max_p / 4)
//! top = 0.5,  bottom = min(0.01, 80000 / rate)
//! ```
//!
//! `avg min max` as in RED: packets or bytes; `rate` in bit/s, so that 1 / bottom is at least the packets of
//! 1000 bytes that 100 ms carry.
//!
//! Readings, as ns-2: max_p adapts as packets arrive, not by a timer; an average inside the range does not put
//! off the next change; a last step may pass `bottom` or `top`. The paper's `time_constant` is `1s`.

use super::red::{self, Red};
use super::{Arrival, Decision, Discipline, Facts};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// Adaptive RED's parameters; zero is automatic where the sentence says so.
    pub struct Params {
        ..red: red::Params;
        /// The time for which max_p stays constant after a change.
        interval: Span = Span::from_millis(500), Span::from_millis(1)..=Span::from_secs(1000);
        /// The most that is added to max_p at once; never more than a quarter of it.
        increase: f64 = 0.01, 0.0001..=1.0;
        /// The factor of a reduction of max_p.
        decrease: f64 = 0.9, 0.1..=0.9999;
        /// The max_p from which it no longer grows.
        top: f64 = 0.5, 0.0001..=1.0;
        /// The max_p to which it no longer shrinks; 0 is min(0.01, 80000 / rate).
        bottom: f64 = 0.0, 0.0..=1.0;
    }
}

/// The beginning and the end of the target range within the range of the thresholds.
const MARGIN: f64 = 0.4;

/// An adaptive RED queue's judgement.
#[derive(Clone, Debug)]
pub struct AdaptiveRed {
    red: Red,
    /// The target range of the average queue.
    target: (f64, f64),
    changed: Time,
    interval: Span,
    increase: f64,
    decrease: f64,
    top: f64,
    bottom: f64,
}

impl AdaptiveRed {
    fn adapt(&mut self, now: Time) {
        if now <= self.changed + self.interval {
            return;
        }
        let (average, max_p) = (self.red.average(), self.red.max_p());
        if average < self.target.0 && max_p > self.bottom {
            self.red.set_max_p(max_p * self.decrease);
            self.changed = now;
        } else if average > self.target.1 && max_p < self.top {
            // A step past 1 is not a probability.
            self.red.set_max_p((max_p + self.increase.min(0.25 * max_p)).min(1.0));
            self.changed = now;
        }
    }
}

impl Discipline for AdaptiveRed {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> AdaptiveRed {
        let red = Red::new(params.red, facts);
        let (min, max) = red.thresholds();
        let margin = MARGIN * (max - min);
        let automatic = (80_000.0 / facts.rate.as_f64()).min(0.01);
        AdaptiveRed {
            red,
            target: (min + margin, max - margin),
            changed: Time::ZERO,
            interval: params.interval,
            increase: params.increase,
            decrease: params.decrease,
            top: params.top,
            bottom: if params.bottom > 0.0 { params.bottom } else { automatic },
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.red.observe(arrival);
        self.adapt(arrival.now);
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
    use super::super::tests::{agrees, arrival, link, packet};
    use super::*;

    #[test]
    fn the_automatic_bottom_is_that_of_ns_2() {
        // Printed by ns-2.35 (bottom_ 0), six digits each; a link below 8 Mbit/s keeps 0.01.
        for (mbit, bottom) in [(1, 0.01), (100, 0.0008), (150, 0.000533333), (500, 0.00016)] {
            let red = AdaptiveRed::new(Params::default(), link(mbit, 0.06));
            assert!(agrees(red.bottom, bottom), "{mbit} mbit: {}", red.bottom);
        }
    }

    /// max_p after arrivals every millisecond at a standing queue of `packets`.
    fn adapted(params: Params, packets: u32, millis: u64) -> f64 {
        let red = red::Params { weight: 1.0, min_threshold: 5.0, max_threshold: 15.0, ..params.red };
        let mut red = AdaptiveRed::new(Params { red, ..params }, link(100, 0.06));
        let (packet, mut rng) = (packet(), Rng::stream(1, "red", 0));
        for milli in 0..=millis {
            red.on_arrival(&arrival(&packet, packets, Time(milli * 1_000_000)), &mut rng);
        }
        red.red.max_p()
    }

    #[test]
    fn the_probability_steps_every_half_second_outside_the_target_range() {
        let after = |packets, millis| adapted(Params::default(), packets, millis);
        assert_eq!(after(20, 500), 0.1);
        assert!((after(20, 501) - 0.11).abs() < 1e-12);
        assert!((after(20, 1002) - 0.12).abs() < 1e-12);
        assert!((after(3, 1002) - 0.081).abs() < 1e-12);
        // The target range of thresholds 5 and 15 is 9 to 11.
        assert_eq!((after(9, 5000), after(11, 5000)), (0.1, 0.1));
        assert!(after(8, 501) < 0.1 && after(12, 501) > 0.1);
    }

    #[test]
    fn a_small_probability_grows_by_a_quarter_and_stops_a_step_past_its_bounds() {
        let red = red::Params { max_p: 0.01, ..red::Params::default() };
        let low = Params { red, ..Params::default() };
        assert!((adapted(low, 20, 501) - 0.0125).abs() < 1e-12);
        let top = adapted(Params::default(), 20, 60_000);
        assert!((0.5..0.51).contains(&top), "{top}");
        // Down from 0.1 by tenths, until one passes 0.0008.
        let bottom = adapted(Params::default(), 2, 60_000);
        assert!((0.00072..=0.0008).contains(&bottom), "{bottom}");
    }
}
