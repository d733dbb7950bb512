// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Steadiness: whether a measured quantity has a mean that a longer run would have, too, and how precisely one run
//! estimates it.
//!
//! A run is a series of means over equal parts of its window.
//!
//! ```text
//! Λj = √(2/n) · Σ x(t) · cos(π·j·(t + ½)/n)         of a stationary series almost independent, each with its long-run variance
//! Ω  = Σ Λj² / q, j from 1 to q = 0.4 · n^(2/3)     that variance, with q degrees of freedom
//! mean ± t(q) · √(Ω/n)                              of one run
//!
//! early   mean of the first fifth − mean of the last half, Ω from the last halves       Geweke, 1992
//! trend   Λ1 against Λ2 … Λ(q+1)                                                        Müller and Watson, 2008
//! p = 2 · the smaller of both, over all seeds: Ω from within the runs and from between them, by their degrees of freedom
//! ```
//!
//! Cosines: E. Lazarus, D. Lewis, J. Stock, M. Watson, "HAR Inference: Recommendations for Practice", J. Business & Economic Statistics 36, 2018.
//! Early against late: J. Geweke, "Evaluating the Accuracy of Sampling-Based Approaches …", Bayesian Statistics 4, 1992. Trend: U. Müller,
//! M. Watson, "Testing Models of Low-Frequency Variability", Econometrica 76, 2008. The two see different failures: a short transient moves the
//! first fifth and hardly the slowest cosine, and a slow one moves that alone.
//!
//! The start of steadiness is found by MSER-5 (K. White, "An Effective Truncation Heuristic for Bias Reduction in
//! Simulation Output", Simulation 69,
//! 1997): the truncation with the least standard error of the mean of the rest. Its minimum in the last half means that there is none.

use super::Estimate;
use super::statistics::{student_p, student_t};

/// The least number of parts of a window for any conclusion.
pub const LEAST_PARTS: usize = 20;

/// The j-th cosine coefficient of a series.
fn cosine(series: &[f64], j: usize) -> f64 {
    let count = series.len() as f64;
    let angle = |place: usize| std::f64::consts::PI * j as f64 * (place as f64 + 0.5) / count;
    let sum: f64 = series.iter().enumerate().map(|(place, value)| value * libm::cos(angle(place))).sum();
    libm::sqrt(2.0 / count) * sum
}

/// The number of cosines that estimate the long-run variance of a series of this length: more have less noise and more
/// bias.
fn cosines(count: usize) -> usize {
    (libm::round(0.4 * libm::cbrt(count as f64 * count as f64)) as usize).max(1)
}

/// The sum of the squares of cosine coefficients, each of which has the long-run variance.
fn squares(series: &[f64], from: usize, count: usize) -> f64 {
    (from..from + count).map(|j| cosine(series, j)).map(|one| one * one).sum()
}

fn mean(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / series.len() as f64
}

/// The mean of one run and its 95 % interval, from the series of its parts. None for fewer than [`LEAST_PARTS`].
pub fn within(series: &[f64]) -> Option<Estimate> {
    let known = series.len() >= LEAST_PARTS && series.iter().all(|value| value.is_finite());
    known.then(|| {
        let freedom = cosines(series.len());
        let variance = squares(series, 1, freedom) / freedom as f64;
        let half_width = student_t(freedom as f64) * libm::sqrt(variance / series.len() as f64);
        Estimate { mean: mean(series), half_width: Some(half_width) }
    })
}

/// A change of a quantity inside the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The probability of so great a change in a stationary quantity.
    pub p: f64,
    /// The mean of the whole window.
    pub mean: f64,
    /// The mean of its last half.
    pub late: f64,
    /// The part of the window, from 0 to 1, after which it is steady by MSER-5; none where that is not before its middle.
    pub settles: Option<f64>,
}

impl Drift {
    /// The relative difference between the mean of the window and the mean of its last half.
    pub fn bias(&self) -> f64 {
        (self.mean / self.late - 1.0).abs()
    }
}

/// The change of a quantity over the window in several runs, each a series of as many parts; none where some are undefined or there are
/// fewer than [`LEAST_PARTS`].
pub fn drift(runs: &[Vec<f64>]) -> Option<Drift> {
    let count = runs.first()?.len();
    let known = |run: &Vec<f64>| run.len() == count && run.iter().all(|value| value.is_finite());
    if count < LEAST_PARTS || !runs.iter().all(known) {
        return None;
    }
    let means: Vec<f64> =
        (0..count).map(|part| mean(&runs.iter().map(|run| run[part]).collect::<Vec<_>>())).collect();
    let settled = settled(&means);
    Some(Drift {
        p: (2.0 * early(runs).min(trend(runs))).min(1.0),
        mean: mean(&means),
        late: mean(&means[count / 2..]),
        settles: (settled < count / 2).then(|| settled as f64 / count as f64),
    })
}

/// The probability of the difference between the first fifth and the last half.
fn early(runs: &[Vec<f64>]) -> f64 {
    let count = runs[0].len();
    let (first, half) = (count / 5, count - count / 2);
    let freedom = cosines(half);
    let scale = 1.0 / first as f64 + 1.0 / half as f64;
    let differences = runs.iter().map(|run| mean(&run[..first]) - mean(&run[count - half..]));
    let inside = runs.iter().map(|run| scale * squares(&run[count - half..], 1, freedom)).sum();
    pooled(&differences.collect::<Vec<_>>(), inside, freedom)
}

/// The probability of the slowest cosine relative to the next ones.
fn trend(runs: &[Vec<f64>]) -> f64 {
    let freedom = cosines(runs[0].len());
    let inside = runs.iter().map(|run| squares(run, 2, freedom)).sum();
    pooled(&runs.iter().map(|run| cosine(run, 1)).collect::<Vec<_>>(), inside, freedom)
}

/// The probability of the mean of one number of each run under the hypothesis that it is zero. The variance of such a number is known from
/// within the runs, by the sum of this many squares of each, and from between them.
fn pooled(numbers: &[f64], inside: f64, each: usize) -> f64 {
    let (runs, centre) = (numbers.len() as f64, mean(numbers));
    let between: f64 = numbers.iter().map(|number| (number - centre) * (number - centre)).sum();
    let freedom = runs * each as f64 + runs - 1.0;
    let error = libm::sqrt((inside + between) / freedom / runs);
    // Nothing varies.
    if error <= 1e-12 * numbers.iter().map(|number| number.abs()).fold(0.0, f64::max) || error == 0.0 {
        return 1.0;
    }
    student_p(centre / error, freedom)
}

/// The number of parts whose removal leaves the mean with the least standard error.
fn settled(series: &[f64]) -> usize {
    let error = |from: usize| {
        let rest = &series[from..];
        let centre = mean(rest);
        rest.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>()
            / (rest.len() * rest.len()) as f64
    };
    // The error of very few parts is small by chance: at least five remain.
    let all = (0..series.len().saturating_sub(4)).map(|from| (from, error(from)));
    all.fold((0, f64::INFINITY), |best, one| if one.1 < best.1 { one } else { best }).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn normal(rng: &mut Rng) -> f64 {
        libm::log(rng.lognormal(libm::exp(0.5), 1.0))
    }

    /// A stationary series of sixty parts with this correlation of neighbours, around `mean`.
    fn series(rng: &mut Rng, correlation: f64, mean: f64) -> Vec<f64> {
        let mut now = normal(rng) / libm::sqrt(1.0 - correlation * correlation);
        let mut next = || {
            let value = mean + now;
            now = correlation * now + normal(rng);
            value
        };
        (0..60).map(|_| next()).collect()
    }

    #[test]
    fn the_cosines_of_noise_have_its_variance_and_a_cosine_is_found_alone() {
        let wave: Vec<f64> = (0..60)
            .map(|place| libm::cos(3.0 * std::f64::consts::PI * (place as f64 + 0.5) / 60.0))
            .collect();
        let found: Vec<f64> = (1..6).map(|j| cosine(&wave, j)).collect();
        // √(2/n) · n/2
        assert!((found[2] - libm::sqrt(30.0)).abs() < 1e-9);
        assert!([0, 1, 3, 4].iter().all(|other| found[*other].abs() < 1e-9), "{found:?}");
        assert_eq!([20, 30, 60, 120].map(cosines), [3, 4, 6, 10]);
        let mut rng = Rng::stream(1, "cosines", 0);
        let mean = (0..2000).map(|_| squares(&series(&mut rng, 0.0, 0.0), 1, 6) / 6.0).sum::<f64>() / 2000.0;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
    }

    /// For one run, where its pieces are independent after some parts.
    #[test]
    fn ninety_three_to_ninety_seven_of_a_hundred_intervals_of_one_run_hold_its_mean() {
        for (place, correlation) in [0.0, 0.3, 0.6].into_iter().enumerate() {
            let mut rng = Rng::stream(2, "within", place as u64);
            let holds = |_: &u32| {
                let (low, high) =
                    within(&series(&mut rng, correlation, 5.0)).map_or((9.0, 9.0), |one| one.interval());
                low <= 5.0 && 5.0 <= high
            };
            let held = (0..4000).filter(holds).count() as f64 / 4000.0;
            assert!((0.93..=0.97).contains(&held), "{correlation}: {held}");
        }
    }

    #[test]
    fn fewer_than_two_of_a_hundred_stationary_quantities_seem_to_drift() {
        for (place, (correlation, runs)) in [(0.0, 1), (0.3, 3), (0.5, 10)].into_iter().enumerate() {
            let mut rng = Rng::stream(3, "drift", place as u64);
            let alarm = |_: &u32| {
                let all: Vec<Vec<f64>> = (0..runs).map(|_| series(&mut rng, correlation, 0.0)).collect();
                drift(&all).is_some_and(|drift| drift.p < 0.01)
            };
            let alarms = (0..2000).filter(alarm).count() as f64 / 2000.0;
            assert!(alarms < 0.02, "{correlation}, {runs} runs: {alarms}");
        }
    }

    #[test]
    fn a_transient_is_found_whether_short_or_as_long_as_the_window() {
        for (place, time) in [3.0, 15.0, 60.0].into_iter().enumerate() {
            let mut rng = Rng::stream(4, "transient", place as u64);
            let found = |_: &u32| {
                let run = |draws: &mut Rng| -> Vec<f64> {
                    let decays = |(part, value): (usize, f64)| value + 6.0 * libm::exp(-(part as f64) / time);
                    series(draws, 0.3, 10.0).into_iter().enumerate().map(decays).collect()
                };
                let all: Vec<Vec<f64>> = (0..3).map(|_| run(&mut rng)).collect();
                drift(&all).is_some_and(|drift| drift.p < 0.01)
            };
            let found = (0..500).filter(found).count() as f64 / 500.0;
            assert!(found > 0.95, "{time} parts: {found}");
        }
    }

    #[test]
    fn steadiness_begins_where_a_step_ends_and_does_not_where_the_series_grows_to_the_end() {
        let step: Vec<f64> =
            (0..60).map(|place| if place < 12 { 20.0 } else { 10.0 + f64::from(place % 2) }).collect();
        let drift_of_step = drift(std::slice::from_ref(&step)).unwrap();
        assert_eq!(drift_of_step.settles, Some(0.2));
        assert!((drift_of_step.mean - 12.4).abs() < 1e-9 && (drift_of_step.late - 10.5).abs() < 1e-9);
        assert!((drift_of_step.bias() - 1.9 / 10.5).abs() < 1e-9);
        let ramp: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(drift(&[ramp]).unwrap().settles, None);
    }

    #[test]
    fn nothing_is_said_of_what_does_not_vary_or_is_unknown() {
        assert_eq!(drift(&[vec![3.0; 60], vec![3.0; 60]]).map(|drift| drift.p), Some(1.0));
        assert_eq!(drift(&[vec![f64::NAN; 60]]), None);
        assert_eq!(drift(&[vec![1.0; 19]]), None);
        assert_eq!((drift(&[]), within(&[1.0, 2.0])), (None, None));
    }
}
