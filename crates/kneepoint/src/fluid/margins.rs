// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How far a loop is from instability: gain and phase margins of its open-loop gain ℓ(jω).
//!
//! ```text
//! phase margin = 180° + arg ℓ(jω)   where |ℓ(jω)| = 1, the smallest
//! gain margin  = 1 / |ℓ(jω)|        where arg ℓ(jω) = -180° - k 360°, the smallest
//! ```
//!
//! The argument is followed from low frequencies, where it lies in (-270°, 90°], so a margin below -180° is reported as it is.
//! A loop whose open equations are stable, as all of these are but for integrators, is stable if its phase margin is
//! positive and it crosses |ℓ| = 1 once.

use std::f64::consts::PI;

use super::linear::{C64, size};
use super::spectrum::argument;

/// Margins with the frequencies where they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    /// The phase margin in degrees, and the crossover in rad/s; nothing if the gain never crosses 1.
    pub phase: Option<(f64, f64)>,
    /// The gain margin as a ratio, and its frequency in rad/s; nothing if the phase never crosses.
    pub gain: Option<(f64, f64)>,
}

/// Frequencies looked at, as multiples of 1/RTT, and how many.
const FROM: f64 = 1e-7;
const TO: f64 = 300.0;
const POINTS: u32 = 4000;

/// The margins of a loop gain, which matters around one over the round-trip time.
pub fn margins(gain: impl Fn(f64) -> C64, rtt: f64) -> Margins {
    let ratio = libm::exp(libm::log(TO / FROM) / f64::from(POINTS));
    let mut frequency = FROM / rtt;
    let mut here = gain(frequency);
    let mut phase = argument(here);
    if phase > 0.5 * PI {
        phase -= 2.0 * PI;
    }
    let mut margins = Margins::default();
    for _ in 0..POINTS {
        let next_frequency = frequency * ratio;
        let next = gain(next_frequency);
        let next_phase = phase + argument(next / here);
        // Between two points both logarithms are nearly straight.
        let (level, next_level) = (libm::log(size(here)), libm::log(size(next)));
        if level * next_level <= 0.0 && level != next_level {
            let at = crossing(&gain, frequency, next_frequency, |z| libm::log(size(z)));
            let turned = phase + argument(gain(at) / here);
            keep(&mut margins.phase, 180.0 + turned.to_degrees(), at);
        }
        let cycle = |angle: f64| (angle / (2.0 * PI) + 0.5).floor();
        if cycle(phase) != cycle(next_phase) {
            // ℓ crosses the negative real axis.
            let at = crossing(&gain, frequency, next_frequency, |z| z.im);
            keep(&mut margins.gain, 1.0 / size(gain(at)), at);
        }
        (frequency, here, phase) = (next_frequency, next, next_phase);
    }
    margins
}

fn keep(least: &mut Option<(f64, f64)>, margin: f64, at: f64) {
    if least.is_none_or(|(other, _)| margin < other) {
        *least = Some((margin, at));
    }
}

/// The frequency between two where `of` the gain changes its sign.
fn crossing(gain: &impl Fn(f64) -> C64, low: f64, high: f64, of: impl Fn(C64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    let begins = of(gain(low)) > 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        *if (of(gain(middle)) > 0.0) == begins { &mut low } else { &mut high } = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::super::linear::exp;
    use super::*;

    #[test]
    fn an_integrator_with_a_delay_has_its_textbook_margins() {
        // ℓ = a e^(-sτ) / s: crossover a, phase margin 90° - a τ, gain margin π / (2 a τ) at π / (2 τ).
        let (a, delay) = (3.0, 0.2);
        let margins = margins(|w| exp(C64::new(0.0, -w * delay)) * a / C64::new(0.0, w), delay);
        let (phase, crossover) = margins.phase.unwrap();
        assert!((phase - (90.0 - 0.6_f64.to_degrees())).abs() < 1e-6 && (crossover - a).abs() < 1e-9);
        let (gain, frequency) = margins.gain.unwrap();
        assert!((gain - PI / 1.2).abs() < 1e-6 && (frequency - PI / 0.4).abs() < 1e-6, "{margins:?}");
    }

    #[test]
    fn a_double_integrator_with_a_lag_has_a_negative_margin_and_a_weak_loop_has_none() {
        let late = |w: f64| exp(C64::new(0.0, -w)) / C64::new(-w * w, 0.0);
        let (phase, _) = margins(late, 1.0).phase.unwrap();
        assert!((phase + 1.0_f64.to_degrees()).abs() < 1e-6, "{phase}");
        let weak = margins(|w| C64::new(0.5, 0.0) / C64::new(1.0, w), 1.0);
        assert_eq!((weak.phase, weak.gain), (None, None));
    }
}
