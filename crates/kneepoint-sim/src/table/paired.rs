// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Two cases compared by their runs of the same seeds, and a correction for several comparisons at once.
//!
//! ```text
//! d = x(one) − x(other), seed by seed     t = mean(d) / (s(d) / √n)     p = 2·(1 − F(|t|, n − 1))     Student, paired
//! Holm: of m values in ascending order, the i-th times m − i + 1, at most 1, and at least the one before it
//! ```
//!
//! S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6, 1979. A quantity that no
//! seed changes is not random, and any difference in it is real: p = 0. A count is an exception, since several runs may share it by
//! chance. Where the numbers vary and their difference does not, its deviation is uninformative, and the sign test replaces
//! Student's: p = 2 / 2ⁿ.

use super::Estimate;
use super::statistics::student_p;

/// The probability below which a difference counts as more than noise.
pub const LEVEL: f64 = 0.05;

/// Differences within this part of their numbers are the rounding of sums.
const ROUNDING: f64 = 1e-9;

/// The differences of two cases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The mean difference, one minus other.
    pub difference: Estimate,
    /// The probability of so large a difference between equal cases; none with fewer than two seeds.
    pub p: Option<f64>,
}

impl Paired {
    /// Of the numbers of both cases, a pair for each seed; pairs with a number that does not exist are left out.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Paired {
        let pairs: Vec<(f64, f64)> =
            pairs.into_iter().filter(|(one, other)| one.is_finite() && other.is_finite()).collect();
        let size = pairs.iter().map(|(one, other)| one.abs().max(other.abs())).fold(0.0, f64::max);
        let differences: Vec<f64> = pairs.iter().map(|(one, other)| one - other).collect();
        let difference = Estimate::of(&differences);
        let p = match difference.half_width {
            None => None,
            Some(_) if differences.iter().all(|one| one.abs() <= ROUNDING * size) => Some(1.0),
            Some(_) if is_fixed(&pairs) => Some(0.0),
            Some(half_width) if half_width <= ROUNDING * size => {
                Some(libm::exp2(1.0 - differences.len() as f64))
            }
            Some(_) => Some(student(&differences, difference.mean)),
        };
        Paired { difference, p }
    }
}

/// Whether no seed changes a quantity, which is not a count.
fn is_fixed(pairs: &[(f64, f64)]) -> bool {
    let counts = |(one, other): &(f64, f64)| one.fract() == 0.0 && other.fract() == 0.0;
    pairs.windows(2).all(|two| two[0] == two[1]) && !pairs.iter().all(counts)
}

/// The probability that numbers with zero mean are so far from zero, or farther: Student's test, two-sided; zero if all are the same, and none
/// for fewer than two.
pub fn from_zero(numbers: &[f64]) -> Option<f64> {
    let estimate = Estimate::of(numbers);
    let half_width = estimate.half_width?;
    Some(match half_width <= ROUNDING * estimate.mean.abs() {
        true if estimate.mean == 0.0 => 1.0,
        true => 0.0,
        false => student(numbers, estimate.mean),
    })
}

/// Student's paired test, two-sided.
fn student(differences: &[f64], mean: f64) -> f64 {
    let count = differences.len() as f64;
    let squares: f64 = differences.iter().map(|one| (one - mean) * (one - mean)).sum();
    let error = libm::sqrt(squares / (count - 1.0) / count);
    student_p(mean / error, count - 1.0)
}

/// The probabilities of several comparisons after Holm's correction, in their order.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, other| probabilities[*one].total_cmp(&probabilities[*other]));
    let mut corrected = vec![f64::NAN; probabilities.len()];
    let mut least: f64 = 0.0;
    for (rank, place) in order.iter().enumerate() {
        least = least.max(probabilities[*place] * (probabilities.len() - rank) as f64).min(1.0);
        corrected[*place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's own data, Biometrika 6, 1908: additional hours of sleep under two drugs, t = 4.0621 with nine degrees of freedom.
    #[test]
    fn students_sleepers_differ_with_p_of_0_0028() {
        let one = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let other = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let paired = Paired::of(one.into_iter().zip(other));
        assert!((paired.difference.mean - 1.58).abs() < 1e-12);
        assert!((paired.p.unwrap() - 0.002_832_89).abs() < 1e-7, "{paired:?}");
    }

    #[test]
    fn numbers_are_as_far_from_zero_as_the_sleepers_differ_and_equal_ones_are_not_random() {
        let differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        assert!((from_zero(&differences).unwrap() - 0.002_832_89).abs() < 1e-7);
        assert_eq!(
            [from_zero(&[2.0, 2.0]), from_zero(&[0.0, 0.0]), from_zero(&[3.0])],
            [Some(0.0), Some(1.0), None]
        );
    }

    #[test]
    fn holm_multiplies_the_least_by_the_number_of_comparisons_and_keeps_the_order() {
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (ours, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((ours - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }

    #[test]
    fn equal_numbers_do_not_differ_and_a_constant_difference_is_as_sure_as_its_signs() {
        assert_eq!(Paired::of([(0.3, 0.1 + 0.2), (1.0, 1.0)]).p, Some(1.0));
        assert_eq!(Paired::of([(2.0, 1.0), (5.0, 4.0), (9.0, 8.0)]).p, Some(0.25));
    }

    #[test]
    fn what_no_seed_changes_is_not_random_unless_it_is_a_count() {
        assert_eq!(Paired::of([(1.0, 0.5954), (1.0, 0.5954)]).p, Some(0.0));
        assert_eq!(Paired::of([(1.0, 0.0), (1.0, 0.0)]).p, Some(0.5));
        assert_eq!(Paired::of([(0.5, 0.5), (0.5, 0.5)]).p, Some(1.0));
    }

    #[test]
    fn one_seed_and_undefined_numbers_say_nothing() {
        assert_eq!(Paired::of([(2.0, 1.0), (f64::NAN, 1.0)]).p, None);
        assert!(Paired::of([]).difference.mean.is_nan());
    }
}
