// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers as charts show them.

use crate::table::{Estimate, number};

/// Visible lower end of an interval: a non-negative quantity has none below zero.
pub(super) fn low_end(estimate: &Estimate) -> f64 {
    let low = estimate.interval().0;
    if estimate.mean >= 0.0 { low.max(0.0) } else { low }
}

/// Whether a number reads well without an exponent.
pub(super) fn readable(value: f64) -> bool {
    value == 0.0 || (1e-4..1e7).contains(&value.abs())
}

/// A number for a tooltip.
pub(super) fn tip_number(value: f64) -> String {
    match value {
        _ if !readable(value) && value.is_finite() => format!("{value:.3e}"),
        _ if value == value.round() => number::plain(value),
        _ => number::significant(value, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64) -> Estimate {
        Estimate { mean, half_width: Some(3.0) }
    }

    #[test]
    fn an_interval_makes_no_room_below_zero_for_what_is_never_negative() {
        assert_eq!((low_end(&estimate(1.0)), low_end(&estimate(-1.0))), (0.0, -4.0));
    }

    #[test]
    fn a_number_has_an_exponent_only_where_it_needs_one() {
        assert_eq!([0.25, 12.0, 2e-7].map(tip_number), ["0.2500", "12", "2.000e-7"]);
    }
}
