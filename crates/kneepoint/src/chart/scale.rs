// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mapping from values to pixels, with ticks at round numbers.

/// A linear or logarithmic scale.
#[derive(Clone, Copy)]
pub(in super::super) struct Scale {
    /// Range of values, or of their base-10 logarithms.
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    /// Pixel for zero on a logarithmic scale.
    zero: Option<f64>,
}

/// Pixels between two numbers, one above the other.
const ROW: f64 = 24.0;

impl Scale {
    /// Maps the range to pixels. An empty range is widened to one unit.
    pub(super) fn new(range: (f64, f64), pixels: (f64, f64)) -> Scale {
        let (from, to) = range;
        let (from, to) = if to > from { (from, to) } else { (from, from + 1.0) };
        Scale { from, to, start: pixels.0, end: pixels.1, zero: None }
    }

    /// A logarithmic scale, with zero at its own pixel.
    pub(super) fn log(range: (f64, f64), pixels: (f64, f64), zero: f64) -> Scale {
        let decades = (libm::log10(range.0), libm::log10(range.1));
        Scale { zero: Some(zero), ..Scale::new(decades, pixels) }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        match self.zero {
            Some(zero) if value <= 0.0 => zero,
            Some(_) => self.place(libm::log10(value)),
            None => self.place(value),
        }
    }

    /// Whether the scale is logarithmic and reserves a place for zero.
    pub(super) fn has_zero_of_its_own(&self) -> bool {
        self.zero.is_some_and(|zero| zero != self.start)
    }

    fn place(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// About `count` round numbers in range, with labels.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        match self.zero {
            Some(_) => self.log_ticks(count),
            None => linear_ticks(self.from, self.to, count),
        }
    }

    /// About `count` ticks, and at least two: one number does not define a scale.
    pub(super) fn columns(&self, count: f64) -> Vec<(f64, String)> {
        const MOST: usize = 8;
        let wanted = (count as usize).max(2);
        let found = (wanted..MOST).map(|more| self.ticks(more)).find(|ticks| ticks.len() > 1);
        found.unwrap_or_else(|| self.ticks(wanted))
    }

    /// The number of ticks of a vertical axis with room for their numbers, up to `most`.
    pub(super) fn rows(&self, most: usize) -> usize {
        (((self.end - self.start).abs() / ROW) as usize).clamp(2, most)
    }

    /// Minor ticks of a logarithmic scale.
    pub(super) fn minor_ticks(&self) -> Vec<f64> {
        let few = self.zero.is_some() && self.to - self.from <= 10.0;
        if few { self.digits(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).map(value_of).collect() } else { Vec::new() }
    }

    /// Powers of ten: a subset if there are many, with multiples if there are few.
    fn log_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let decades: Vec<_> = self.digits(&[1]).collect();
        let stride = decades.len().div_ceil(count.max(1)).max(1) as i32;
        let ticks: Vec<_> = match decades.len() {
            0 | 1 => {
                let some: Vec<_> = self.digits(&[1, 2, 5]).collect();
                if some.len() < 3 { self.digits(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).collect() } else { some }
            }
            _ => decades.into_iter().filter(|(_, power)| power.rem_euclid(stride) == 0).collect(),
        };
        if ticks.len() < 2 {
            return linear_ticks(libm::pow(10.0, self.from), libm::pow(10.0, self.to), count);
        }
        let small = ticks.iter().any(|(_, power)| *power < -3);
        ticks.into_iter().map(|tick| (value_of(tick), log_label(tick, small))).collect()
    }

    /// The multiples of powers of ten in range, as digit and exponent.
    fn digits(&self, digits: &'static [i32]) -> impl Iterator<Item = (i32, i32)> {
        let powers = libm::floor(self.from) as i32..=libm::ceil(self.to) as i32;
        let (from, to) = (self.from - 1e-9, self.to + 1e-9);
        powers.flat_map(move |power| digits.iter().map(move |digit| (*digit, power))).filter(move |tick| {
            let decades = libm::log10(value_of(*tick));
            decades >= from && decades <= to
        })
    }
}

fn value_of((digit, power): (i32, i32)) -> f64 {
    f64::from(digit) * libm::pow(10.0, f64::from(power))
}

fn linear_ticks(from: f64, to: f64, count: usize) -> Vec<(f64, String)> {
    let step = round_step((to - from) / count.max(1) as f64);
    let (unit, prefix) = prefix_of(from.abs().max(to.abs()));
    let decimals = decimals(step / unit);
    let first = libm::ceil(from / step - 1e-9);
    let last = libm::floor(to / step + 1e-9);
    let label = |value: f64| match prefix {
        "" => format!("{:.decimals$}", value + 0.0),
        _ if value == 0.0 => "0".into(),
        _ => format!("{:.decimals$} {prefix}", value / unit),
    };
    (0..=(last - first).max(0.0) as u64)
        .map(|place| (first + place as f64) * step)
        .map(|value| (value, label(value)))
        .collect()
}

const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];

/// Unit and SI prefix for numbers up to `greatest`; no prefix below ten thousand.
fn prefix_of(greatest: f64) -> (f64, &'static str) {
    if !(1e4 - 1e-6..1e15).contains(&greatest) {
        return (1.0, "");
    }
    let thousands = libm::floor(libm::log10(greatest) / 3.0 + 1e-9);
    (libm::pow(1000.0, thousands), PREFIXES[thousands as usize])
}

/// Label of a digit times a power of ten: `0.002`, `50`, `5 k`, `100 M`, or `2·10⁻⁵` if there are `small` numbers.
fn log_label((digit, power): (i32, i32), small: bool) -> String {
    match power {
        0..15 => {
            let zeros = "0".repeat(power as usize % 3);
            format!("{digit}{zeros} {}", PREFIXES[power as usize / 3]).trim_end().into()
        }
        -3..0 if !small => format!("{:.*}", -power as usize, value_of((digit, power))),
        _ => {
            let plain = power.to_string();
            let raised = plain.chars().map(|sign| match sign {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                other => char::from_u32('⁰' as u32 + (other as u32 - '0' as u32)).unwrap_or(other),
            });
            let factor = if digit == 1 { String::new() } else { format!("{digit}·") };
            format!("{factor}10{}", raised.collect::<String>())
        }
    }
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `least`.
pub(super) fn round_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let fraction = least / power;
    let digit = [1.0, 2.0, 2.5, 5.0].into_iter().find(|digit| fraction <= *digit + 1e-9).unwrap_or(10.0);
    digit * power
}

/// Decimals needed to show multiples of `step`.
fn decimals(step: f64) -> usize {
    let shifted = |decimals: &usize| step * libm::pow(10.0, *decimals as f64);
    let whole = |decimals: &usize| (shifted(decimals) - shifted(decimals).round()).abs() < 1e-6;
    (0..9).find(whole).unwrap_or(9)
}

/// A range from zero to a round number that contains `greatest`.
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
    fn an_axis_across_has_two_numbers_at_least() {
        let across = |to: f64, count: f64| Scale::new((0.0, to), (0.0, 100.0)).columns(count).len();
        assert_eq!([across(120.0, 1.1), across(9.0, 0.0), across(150.0, 3.0)], [2, 2, 4]);
    }

    #[test]
    fn great_numbers_have_a_prefix() {
        assert_eq!(labels(0.0, 150e6, 3), ["0", "50 M", "100 M", "150 M"]);
        assert_eq!(labels(0.0, 2e6, 4), ["0", "0.5 M", "1.0 M", "1.5 M", "2.0 M"]);
        assert_eq!(labels(0.0, 10_000.0, 2), ["0", "5 k", "10 k"]);
        assert_eq!(labels(-2e9, 2e9, 4), ["-2 G", "-1 G", "0", "1 G", "2 G"]);
    }

    fn log_labels(from: f64, to: f64, count: usize) -> Vec<String> {
        let scale = Scale::log((from, to), (0.0, 100.0), 0.0);
        scale.ticks(count).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn a_logarithmic_scale_has_a_tick_for_each_decade() {
        assert_eq!(log_labels(1e6, 1e9, 5), ["1 M", "10 M", "100 M", "1 G"]);
        assert_eq!(log_labels(5e-6, 0.2, 8), ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(log_labels(1e-3, 1.0, 8), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(log_labels(1.0, 1000.0, 5), ["1", "10", "100", "1 k"]);
        assert_eq!(log_labels(1e-16, 1.0, 5), ["10⁻¹⁶", "10⁻¹²", "10⁻⁸", "10⁻⁴", "1"]);
    }

    #[test]
    fn less_than_two_decades_have_ticks_between() {
        assert_eq!(log_labels(2.0, 60.0, 5), ["2", "5", "10", "20", "50"]);
        assert_eq!(log_labels(2e-5, 6e-5, 5), ["2·10⁻⁵", "3·10⁻⁵", "4·10⁻⁵", "5·10⁻⁵", "6·10⁻⁵"]);
        assert_eq!(log_labels(21.0, 44.0, 5), ["30", "40"]);
        assert_eq!(log_labels(31.0, 39.0, 4), ["32", "34", "36", "38"]);
    }

    #[test]
    fn a_decade_is_a_third_of_three_and_zero_has_its_own_place() {
        let scale = Scale::log((1.0, 1000.0), (200.0, 50.0), 218.0);
        assert_eq!(
            [1.0, 10.0, 100.0, 1000.0].map(|value| scale.at(value).round()),
            [200.0, 150.0, 100.0, 50.0]
        );
        assert_eq!(scale.at(0.0), 218.0);
        assert!(scale.at(f64::NAN).is_nan());
        assert_eq!(scale.minor_ticks().len(), 28);
    }

    #[test]
    fn a_range_from_zero_holds_the_greatest() {
        assert_eq!(from_zero(612.0), (0.0, 700.0));
        assert_eq!(from_zero(0.0), (0.0, 1.0));
        assert_eq!(from_zero(f64::NAN), (0.0, 1.0));
    }

    #[test]
    fn a_low_axis_has_fewer_numbers() {
        let rows = |height: f64| Scale::new((0.0, 1.0), (height, 0.0)).rows(6);
        assert_eq!([20.0, 100.0, 256.0].map(rows), [2, 4, 6]);
    }

    #[test]
    fn a_scale_may_run_upwards() {
        let scale = Scale::new((0.0, 10.0), (100.0, 20.0));
        assert_eq!((scale.at(0.0), scale.at(10.0), scale.at(5.0)), (100.0, 20.0, 60.0));
    }
}
