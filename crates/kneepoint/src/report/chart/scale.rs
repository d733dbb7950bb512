// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From numbers to pixels, with ticks at round numbers.

/// A linear scale.
#[derive(Clone, Copy)]
pub(in super::super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Shows `from` at pixel `start` and `to` at pixel `end`. A range of nothing shows a unit around it.
    pub(super) fn new(range: (f64, f64), pixels: (f64, f64)) -> Scale {
        let (from, to) = range;
        let (from, to) = if to > from { (from, to) } else { (from, from + 1.0) };
        Scale { from, to, start: pixels.0, end: pixels.1 }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// About `count` round numbers in range, with the decimals that they need.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let step = round_step((self.to - self.from) / count as f64);
        let decimals = decimals(step);
        let first = libm::ceil(self.from / step - 1e-9);
        let last = libm::floor(self.to / step + 1e-9);
        (0..=(last - first).max(0.0) as u64)
            .map(|place| (first + place as f64) * step)
            .map(|value| (value, format!("{:.decimals$}", value + 0.0)))
            .collect()
    }
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let fraction = least / power;
    let digit = [1.0, 2.0, 2.5, 5.0].into_iter().find(|digit| fraction <= *digit + 1e-9).unwrap_or(10.0);
    digit * power
}

/// How many decimals show multiples of `step` as they are.
fn decimals(step: f64) -> usize {
    let shifted = |decimals: &usize| step * libm::pow(10.0, *decimals as f64);
    let whole = |decimals: &usize| (shifted(decimals) - shifted(decimals).round()).abs() < 1e-6;
    (0..9).find(whole).unwrap_or(9)
}

/// A range from zero that holds `greatest` and ends at a round number.
pub(super) fn from_zero(greatest: f64) -> (f64, f64) {
    if !(greatest > 0.0 && greatest.is_finite()) {
        return (0.0, 1.0);
    }
    let step = round_step(greatest / 8.0);
    (0.0, step * libm::ceil(greatest / step - 1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: f64, to: f64, count: usize) -> Vec<String> {
        Scale::new((from, to), (0.0, 100.0)).ticks(count).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_show_the_decimals_they_need() {
        assert_eq!(labels(0.0, 1125.0, 5), ["0", "250", "500", "750", "1000"]);
        assert_eq!(labels(0.0, 1.0, 4), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(99.2, 100.1, 5), ["99.2", "99.4", "99.6", "99.8", "100.0"]);
        assert_eq!(labels(7.0, 7.0, 1), ["7", "8"]);
    }

    #[test]
    fn a_range_from_zero_holds_the_greatest() {
        assert_eq!(from_zero(612.0), (0.0, 700.0));
        assert_eq!(from_zero(0.0), (0.0, 1.0));
        assert_eq!(from_zero(f64::NAN), (0.0, 1.0));
    }

    #[test]
    fn a_scale_may_run_upwards() {
        let scale = Scale::new((0.0, 10.0), (100.0, 20.0));
        assert_eq!((scale.at(0.0), scale.at(10.0), scale.at(5.0)), (100.0, 20.0, 60.0));
    }
}
