// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Statistics over seeds and over flows.
//!
//! ```text
//! half width = t(n-1, 0.975) · s / sqrt(n)      95 % confidence, Student
//! J = (Σ x)² / (n · Σ x²)                       Jain, Chiu and Hawe, DEC-TR-301, 1984
//! ```

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::keys::{Keyed, Shape};

/// A mean and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean; NaN if it is undefined for one of the runs.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval; one run has none.
    pub half_width: Option<f64>,
}

impl Keyed for Estimate {
    const SHAPE: Shape = Shape::Estimate;
}

impl Estimate {
    /// The estimate from independent `values`, one per run.
    pub fn of(values: &[f64]) -> Estimate {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        if values.len() < 2 || mean.is_nan() {
            return Estimate { mean, half_width: None };
        }
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let half_width = student_t(count - 1.0) * deviation / count.sqrt();
        Estimate { mean, half_width: Some(half_width) }
    }

    /// The estimate in another unit.
    pub fn times(&self, scale: f64) -> Estimate {
        let half_width = self.half_width.map(|half_width| half_width * scale);
        Estimate { mean: self.mean * scale, half_width }
    }

    /// The ends of the interval; both are the mean if there is none.
    pub fn interval(&self) -> (f64, f64) {
        let half_width = self.half_width.unwrap_or(0.0);
        (self.mean - half_width, self.mean + half_width)
    }

    /// The part of the interval that lies within bounds: for proportions that lie within the bounds themselves.
    pub fn within(&self, bounds: Bounds) -> (f64, f64) {
        let (low, high) = self.interval();
        match self.mean.is_nan() {
            true => (low, high),
            false => (low.max(bounds.least).min(self.mean), high.min(bounds.most).max(self.mean)),
        }
    }
}

/// The numbers that a quantity may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// None is less.
    pub least: f64,
    /// None is greater.
    pub most: f64,
}

impl Bounds {
    /// For differences: any number.
    pub const NONE: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY };
    /// Thresholds for counts, times and rates.
    pub const POSITIVE: Bounds = Bounds { least: 0.0, most: f64::INFINITY };
    /// Of fractions.
    pub const FRACTION: Bounds = Bounds { least: 0.0, most: 1.0 };
}

/// The 97.5 % quantile of Student's distribution with `freedom` degrees of freedom.
pub(super) fn student_t(freedom: f64) -> f64 {
    let quantile = StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.inverse_cdf(0.975));
    // The last digits of the root search vary between machines, but identical bytes require identical digits.
    (quantile * 1e9).round() / 1e9
}

/// The probability of a number at least as far from zero under Student's distribution.
pub(super) fn student_p(t: f64, freedom: f64) -> f64 {
    let below = StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |student| student.cdf(-libm::fabs(t)));
    // The last digits vary between machines, but identical bytes require identical digits.
    libm::round(2.0 * below * 1e12) / 1e12
}

/// Jain's fairness index: 1 for equal shares, 1/n if one flow gets everything; NaN without flows or goodput.
pub fn jain_index(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_t_quantiles_are_those_of_the_tables() {
        for (freedom, tabled) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (29.0, 2.045), (999.0, 1.962)]
        {
            assert!((student_t(freedom) - tabled).abs() < 5e-4, "{freedom}: {}", student_t(freedom));
        }
    }

    #[test]
    fn three_runs_of_9_10_and_11_are_10_within_4_303_over_root_3() {
        let estimate = Estimate::of(&[9.0, 10.0, 11.0]);
        assert_eq!(estimate.mean, 10.0);
        let half_width = estimate.half_width.unwrap();
        assert!((half_width - 4.302_652_730 / 3f64.sqrt()).abs() < 1e-8, "{half_width}");
        assert_eq!(estimate.interval(), (10.0 - half_width, 10.0 + half_width));
    }

    #[test]
    fn an_interval_stays_within_the_bounds_of_its_quantity_and_holds_the_mean() {
        let rare = Estimate { mean: 4.0, half_width: Some(10.0) };
        assert_eq!(rare.within(Bounds::POSITIVE), (0.0, 14.0));
        assert_eq!(rare.within(Bounds::NONE), (-6.0, 14.0));
        assert_eq!(Estimate { mean: 0.75, half_width: Some(0.5) }.within(Bounds::FRACTION), (0.25, 1.0));
        assert_eq!(Estimate { mean: 1.5, half_width: Some(0.5) }.within(Bounds::FRACTION), (1.0, 1.5));
    }

    #[test]
    fn one_run_has_no_half_width_and_json_says_null() {
        let estimate = Estimate::of(&[7.5]);
        assert_eq!(estimate, Estimate { mean: 7.5, half_width: None });
        assert_eq!(serde_json::to_string(&estimate).unwrap(), r#"{"mean":7.5,"half_width":null}"#);
        assert_eq!(
            serde_json::to_string(&Estimate::of(&[1.0, f64::NAN])).unwrap(),
            r#"{"mean":null,"half_width":null}"#
        );
    }

    #[test]
    fn jain_is_one_for_equals_one_nth_for_one_and_nine_tenths_for_two_to_one() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0]), 1.0);
        assert_eq!(jain_index(&[8.0, 0.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain_index(&[2.0, 1.0]), 0.9);
        assert!(jain_index(&[]).is_nan());
    }
}
