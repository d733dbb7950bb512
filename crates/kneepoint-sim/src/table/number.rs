// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers for people: as many digits as mean something. Files for machines have all of them.

use super::Estimate;

/// What stands for a number that does not exist.
pub const NONE: &str = "–";

/// `value` to `digits` significant digits, without an exponent.
pub fn significant(value: f64, digits: i32) -> String {
    if value.is_finite() { fixed(value, decimals(value, digits)) } else { NONE.into() }
}

/// A whole number without decimals, but for the rounding of a sum; any other to four significant digits.
pub fn plain(value: f64) -> String {
    let whole = (value - value.round()).abs() <= 1e-9 * value.abs();
    if whole { fixed(value, 0) } else { significant(value, 4) }
}

/// A mean and its half width, both to the last significant decimal of the half width: two significant
/// digits of it, and five of the mean at most. Without a half width, or with a negligible one, the mean is [`plain`].
pub fn estimate(estimate: &Estimate, scale: f64) -> (String, Option<String>) {
    let mean = estimate.mean * scale;
    match estimate.half_width.map(|half_width| half_width * scale).filter(|half_width| half_width.is_finite())
    {
        Some(half_width) if mean.is_finite() && half_width > 1e-9 * mean.abs() => {
            let places = decimals(half_width, 2).min(decimals(mean, 5));
            (fixed(mean, places), Some(fixed(half_width, places)))
        }
        // Equal runs differ by nothing but the rounding of their sum.
        Some(_) if mean.is_finite() => (plain(mean), Some("0".into())),
        _ => (plain(mean), None),
    }
}

/// How many decimals show `digits` significant digits of `value`; six at most.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 {
        return 0;
    }
    let magnitude = libm::floor(libm::log10(value.abs())) as i32;
    (digits - 1 - magnitude).clamp(0, 6) as usize
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // A rounded -0.04 is 0.0, without the sign.
    if text.starts_with('-') && !text.contains(|digit| ('1'..='9').contains(&digit)) {
        text[1..].into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mean: f64, half_width: f64) -> String {
        let (mean, half_width) = estimate(&Estimate { mean, half_width: Some(half_width) }, 1.0);
        format!("{mean} ± {}", half_width.unwrap())
    }

    #[test]
    fn the_half_width_decides_how_many_digits_mean_something() {
        assert_eq!(shown(123.456, 4.321), "123.5 ± 4.3");
        assert_eq!(shown(0.012345, 0.000678), "0.01235 ± 0.00068");
        assert_eq!(shown(18_750.4, 312.0), "18750 ± 312");
        assert_eq!(shown(99.98, 0.000123), "99.980 ± 0.000");
        assert_eq!(shown(0.0, 0.0), "0 ± 0");
        assert_eq!(shown(1.0, 1e-17), "1 ± 0");
    }

    #[test]
    fn a_number_alone_shows_four_digits_a_whole_one_no_decimals_and_none_a_dash() {
        let alone = |mean| estimate(&Estimate { mean, half_width: None }, 1.0).0;
        assert_eq!([3.0, 2.999_999_999_999_9, 3.5, 18_750.4].map(alone), ["3", "3", "3.500", "18750"]);
        assert_eq!(estimate(&Estimate { mean: 2.0 / 3.0, half_width: None }, 100.0), ("66.67".into(), None));
        assert_eq!(estimate(&Estimate { mean: f64::NAN, half_width: None }, 1.0), (NONE.into(), None));
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(estimate(&Estimate { mean: none, half_width: Some(none) }, 1.0), (NONE.into(), None));
            assert_eq!(estimate(&Estimate { mean: 3.0, half_width: Some(none) }, 1.0), ("3".into(), None));
        }
        assert_eq!(significant(-0.000_000_04, 3), "0.000000");
        assert_eq!(
            (plain(420.0), plain(1.0 / 3.0), plain(f64::NAN)),
            ("420".into(), "0.3333".into(), NONE.into())
        );
    }
}
