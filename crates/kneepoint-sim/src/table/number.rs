// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers for people: significant digits only. Files for machines have all of them.
//!
//! ```text
//! 12.3 ± 0.4     a mean and half its confidence interval: two digits of that, and five of the mean at most
//! 4 (0–14)       a mean and its interval, where a bound of the quantity cuts it: no count is less than zero
//! 100            no interval: a single run, the same number in every run, or an interval below the last digit
//! 3.2 × 10⁻⁸     a number with more than six zeros behind the point
//! ```

use std::fmt;

use super::{Bounds, Estimate};

/// The placeholder for a number that does not exist.
pub const NONE: &str = "–";

/// Between thousands: a narrow space at which no line breaks.
const THIN: char = '\u{202f}';

/// A number of things: `1 flow`, `3 flows`.
pub fn counted(number: impl fmt::Display, what: &str) -> String {
    let number = number.to_string();
    let end = if number == "1" { "" } else { "s" };
    format!("{number} {what}{end}")
}

/// A confidence interval as people read it.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// The same to both sides: its half width.
    Even(String),
    /// From one number to another, where a bound of the quantity cuts it.
    Between(String, String),
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Spread::Even(half_width) => write!(f, "± {half_width}"),
            Spread::Between(low, high) => write!(f, "({low}–{high})"),
        }
    }
}

/// `value` to `digits` significant digits.
pub fn significant(value: f64, digits: i32) -> String {
    match value.is_finite() {
        false => NONE.into(),
        true if value != 0.0 && value.abs() < SMALL => tiny(value, digits),
        true => fixed(value, places(value, digits).max(0)),
    }
}

/// A whole number without decimals, except for the rounding of a sum; any other to four significant digits.
pub fn plain(value: f64) -> String {
    let whole = value == 0.0 || value.abs() >= SMALL && (value - value.round()).abs() <= 1e-9 * value.abs();
    if whole { fixed(value, 0) } else { significant(value, 4) }
}

/// A difference with its sign, to this many decimals: `+1.2`, and `0.0` without one.
pub fn signed(value: f64, decimals: i32) -> String {
    let text = fixed(value, decimals);
    let zero = !text.contains(|digit| ('1'..='9').contains(&digit));
    if value > 0.0 && !zero { format!("+{text}") } else { text }
}

/// A mean and its half width, for a quantity without bounds.
pub fn estimate(estimate: &Estimate, scale: f64) -> (String, Option<String>) {
    match quoted(estimate, scale, Bounds::NONE) {
        (mean, Some(Spread::Even(half_width))) => (mean, Some(half_width)),
        (mean, _) => (mean, None),
    }
}

/// A mean times `scale` and its interval, both to the last digit that the interval leaves any meaning. The bounds apply
/// to the quantity before scaling.
pub fn quoted(estimate: &Estimate, scale: f64, bounds: Bounds) -> (String, Option<Spread>) {
    let Estimate { mean, half_width } = estimate.times(scale);
    let known = |half: &f64| half.is_finite() && mean.is_finite();
    // Equal runs differ only by the rounding of their sum.
    let varies = |half: &f64| *half > 1e-9 * mean.abs();
    let Some(half_width) = half_width.filter(known).filter(varies) else { return (plain(mean), None) };
    let (low, high) = estimate.within(bounds);
    if mean.abs() < SMALL && half_width < SMALL {
        let end = |end: f64| if end == 0.0 { fixed(end, 0) } else { tiny(end * scale, 2) };
        return (tiny(mean, 2), Some(Spread::Between(end(low), end(high))));
    }
    // Two digits of the interval say enough, and of the decimals of the mean as many as make five digits.
    let most = if mean == 0.0 { MOST_DECIMALS } else { places(mean, 5).max(0) };
    let decimals = places(half_width, 2).min(most);
    let end = |end: f64| match end == bounds.least || end == bounds.most {
        true => plain(end * scale),
        false => fixed(end * scale, decimals),
    };
    let spread = match fixed(half_width, decimals) {
        nothing if is_zero(&nothing) => return (plain(mean), None),
        _ if cut(estimate, bounds) => Spread::Between(end(low), end(high)),
        shown => Spread::Even(shown),
    };
    (fixed(mean, decimals), Some(spread))
}

/// A mean times `scale` in a sentence, without its interval: to the first digit of that, but two digits at least; three without one.
pub fn rounded(estimate: &Estimate, scale: f64) -> String {
    let Estimate { mean, half_width } = estimate.times(scale);
    match half_width {
        _ if !mean.is_finite() || mean.abs() < SMALL => plain(mean),
        Some(half_width) if half_width > 1e-9 * mean.abs() => {
            fixed(mean, places(half_width, 1).max(places(mean, 2)).min(places(mean, 5).max(0)))
        }
        _ if mean == libm::round(mean) => plain(mean),
        _ => significant(mean, 3),
    }
}

/// Whether a bound shortens the interval.
fn cut(estimate: &Estimate, bounds: Bounds) -> bool {
    let (low, high) = estimate.interval();
    low < bounds.least || high > bounds.most
}

/// A number with a thin space between its thousands, from five digits on, as journals set it: `18 750`.
pub fn grouped(number: &str) -> String {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let begin = number.find(|c: char| c.is_ascii_digit()).unwrap_or(number.len());
    let (sign, rest) = number.split_at(begin);
    let (whole, after) = rest.split_at(digits(rest));
    if whole.len() < 5 {
        return number.into();
    }
    let mut text = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(THIN);
        }
        text.push(digit);
    }
    text + after
}

/// Numbers below this have a power of ten: six decimals would show fewer than three of their digits.
const SMALL: f64 = 1e-5;

/// `3.2 × 10⁻⁸`
fn tiny(value: f64, digits: i32) -> String {
    let text = format!("{value:.*e}", (digits - 1).max(0) as usize);
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    format!("{number} × 10{}", exponent.chars().map(raised).collect::<String>())
}

/// More decimals are zeros or noise.
const MOST_DECIMALS: i32 = 6;

/// The number of decimals that show `digits` significant digits of `value`; negative where digits before the point are too many.
fn places(value: f64, digits: i32) -> i32 {
    if value == 0.0 {
        return 0;
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    (digits - 1 - magnitude).min(MOST_DECIMALS)
}

/// To this many decimals: 18 754 to -1 of them is 18750.
fn fixed(value: f64, decimals: i32) -> String {
    let unit = libm::exp10(f64::from(-decimals.min(0)));
    let text = match decimals < 0 {
        true => format!("{:.0}", libm::round(value / unit) * unit),
        false => format!("{value:.*}", decimals as usize),
    };
    // A rounded -0.04 is 0.0, without the sign.
    if text.starts_with('-') && is_zero(&text) { text[1..].into() } else { text }
}

/// Whether all digits of a number are zero.
fn is_zero(text: &str) -> bool {
    !text.contains(|digit| ('1'..='9').contains(&digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mean: f64, half_width: f64, bounds: Bounds) -> String {
        match quoted(&Estimate { mean, half_width: Some(half_width) }, 1.0, bounds) {
            (mean, Some(spread)) => format!("{mean} {spread}"),
            (mean, None) => mean,
        }
    }

    #[test]
    fn the_half_width_decides_how_many_digits_mean_something() {
        for (mean, half_width, text) in [
            (123.456, 4.321, "123.5 ± 4.3"),
            (0.012345, 0.000678, "0.01235 ± 0.00068"),
            (18_754.4, 312.0, "18750 ± 310"),
            (1_234_567.0, 89.0, "1234567 ± 89"),
            (0.0, 0.25, "0.00 ± 0.25"),
            (-0.04, 1.2, "0.0 ± 1.2"),
        ] {
            assert_eq!(shown(mean, half_width, Bounds::NONE), text);
        }
    }

    #[test]
    fn an_interval_that_no_digit_shows_is_not_written_as_zero() {
        for (mean, half_width, text) in
            [(99.98, 0.000123, "99.98"), (4.807_712, 1e-6, "4.808"), (100.0, 0.0, "100"), (1.0, 1e-17, "1")]
        {
            assert_eq!(shown(mean, half_width, Bounds::NONE), text);
        }
    }

    #[test]
    fn an_interval_ends_at_the_bounds_of_its_quantity() {
        assert_eq!(shown(4.0, 10.0, Bounds::POSITIVE), "4 (0–14)");
        assert_eq!(shown(14.0, 10.0, Bounds::POSITIVE), "14 ± 10");
        assert_eq!(shown(0.97, 0.05, Bounds::FRACTION), "0.970 (0.920–1)");
        let share = quoted(&Estimate { mean: 0.9998, half_width: Some(0.0004) }, 100.0, Bounds::FRACTION);
        assert_eq!(share, ("99.980".into(), Some(Spread::Between("99.940".into(), "100".into()))));
    }

    #[test]
    fn a_sentence_has_the_digits_that_are_sure() {
        let said = |mean, half_width| rounded(&Estimate { mean, half_width }, 1.0);
        assert_eq!(
            [said(12.304, Some(0.13)), said(99.427, Some(0.08)), said(31.0, Some(10.0))],
            ["12.3", "99.43", "31"]
        );
        assert_eq!([said(12.2345, None), said(100.0, Some(0.0)), said(0.0, None)], ["12.2", "100", "0"]);
    }

    #[test]
    fn a_number_alone_shows_four_digits_a_whole_one_no_decimals_and_none_a_dash() {
        let alone = |mean| estimate(&Estimate { mean, half_width: None }, 1.0).0;
        assert_eq!([3.0, 2.999_999_999_999_9, 3.5, 18_750.4].map(alone), ["3", "3", "3.500", "18750"]);
        assert_eq!(estimate(&Estimate { mean: 2.0 / 3.0, half_width: None }, 100.0), ("66.67".into(), None));
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(estimate(&Estimate { mean: none, half_width: Some(none) }, 1.0), (NONE.into(), None));
            assert_eq!(estimate(&Estimate { mean: 3.0, half_width: Some(none) }, 1.0), ("3".into(), None));
        }
        let plain = [420.0, 1.0 / 3.0, 8.933_656_59, f64::NAN].map(plain);
        assert_eq!(plain, ["420", "0.3333", "8.934", NONE]);
    }

    #[test]
    fn a_tiny_number_has_a_power_of_ten() {
        assert_eq!(significant(-0.000_000_04, 3), "-4.00 × 10⁻⁸");
        assert_eq!((plain(3.2e-12), plain(0.0)), ("3.200 × 10⁻¹²".into(), "0".into()));
        assert_eq!(shown(3e-8, 4e-8, Bounds::POSITIVE), "3.0 × 10⁻⁸ (0–7.0 × 10⁻⁸)");
        assert_eq!(significant(0.0, 3), "0");
    }

    #[test]
    fn a_difference_has_its_sign_unless_it_is_zero() {
        assert_eq!([1.23, -1.27, -0.04, 0.04].map(|value| signed(value, 1)), ["+1.2", "-1.3", "0.0", "0.0"]);
    }

    #[test]
    fn thousands_are_set_apart_from_five_digits_on() {
        for (number, text) in [
            ("9999", "9999"),
            ("18750", "18\u{202f}750"),
            ("-1234567.25", "-1\u{202f}234\u{202f}567.25"),
            ("pie", "pie"),
            (NONE, NONE),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
