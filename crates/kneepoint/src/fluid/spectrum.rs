// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The modes of linear equations with a delay: exact local stability.
//!
//! D. Breda, S. Maset, R. Vermiglio, "Pseudospectral differencing methods for characteristic roots of delay differential
//! equations", SIAM J. Sci. Comput. 27(2) 2005.
//!
//! The solution as a function on [t - τ, t] is carried forward by d/dθ, with the equations as its boundary condition at
//! θ = 0. On M + 1 Chebyshev points that is a matrix, whose rightmost eigenvalues approach the rightmost roots of Δ(s);
//! Newton's method on Δ itself takes them to the last digits. Only the starting points are approximate.
//!
//! Every root with real part >= σ has |s| <= |A0| + |A1| e^(-στ), so few of them can matter, and
//! [`roots_right_of`] counts them by the argument principle, independently of the matrix.

use super::linear::{C64, Linear, size};

mod eigen;

/// Chebyshev intervals: first few, enough for smooth modes, then enough for fast ones.
const INTERVALS: [usize; 2] = [16, 40];
/// Modes that turn more than this in a delay need more intervals.
const TURNS: f64 = 5.0;
/// The number of the matrix's eigenvalues that are inspected more closely.
const CANDIDATES: usize = 12;

/// The rightmost modes, from the right; of each conjugate pair the one above the axis.
pub fn modes(linear: &Linear) -> Vec<C64> {
    let coarse = modes_with(linear, INTERVALS[0]);
    let resolved = coarse.first().is_some_and(|mode| size(*mode) * linear.delay < TURNS);
    if resolved { coarse } else { modes_with(linear, INTERVALS[1]) }
}

/// The rightmost mode: the system is stable, locally, if and only if its real part is negative.
pub fn rightmost(linear: &Linear) -> Option<C64> {
    modes(linear).first().copied()
}

fn modes_with(linear: &Linear, intervals: usize) -> Vec<C64> {
    let mut near = eigen::eigenvalues(generator(linear, intervals));
    // A real one may have been rounded off the axis.
    near.retain(|one| one.im >= -1e-6 * size(*one));
    near.sort_by(|a, b| b.re.total_cmp(&a.re));
    let mut found: Vec<C64> = Vec::new();
    for start in near.into_iter().take(CANDIDATES) {
        if let Some(root) = polish(linear, start) {
            let known = |other: &C64| size(root - other) < 1e-7 * (1.0 + size(root));
            if !found.iter().any(known) {
                found.push(root);
            }
        }
    }
    found.sort_by(|a, b| b.re.total_cmp(&a.re));
    found
}

/// Newton's method from an eigenvalue; nothing if it leads elsewhere, since that eigenvalue approximates no root.
fn polish(linear: &Linear, start: C64) -> Option<C64> {
    let mut root = start;
    for _ in 0..60 {
        let step = linear.characteristic(root) / linear.characteristic_slope(root);
        if !step.is_finite() {
            return None;
        }
        root -= step;
        if size(step) <= 1e-13 * (1.0 + size(root)) {
            break;
        }
    }
    let strayed = size(root - start) > 0.2 * (1.0 / linear.delay + size(start));
    let upper =
        C64::new(root.re, if root.im.abs() < 1e-9 * (1.0 + root.re.abs()) { 0.0 } else { root.im.abs() });
    (!strayed).then_some(upper)
}

/// The matrix that carries the last delay's worth of solution forward, on Chebyshev points from θ = 0 to θ = -τ.
fn generator(linear: &Linear, intervals: usize) -> Vec<Vec<f64>> {
    let points = intervals + 1;
    let at: Vec<f64> =
        (0..points).map(|i| libm::cos(std::f64::consts::PI * i as f64 / intervals as f64)).collect();
    let weight = |i: usize| {
        let end = if i == 0 || i == intervals { 2.0 } else { 1.0 };
        if i.is_multiple_of(2) { end } else { -end }
    };
    let scale = 2.0 / linear.delay;
    let closed = linear.closed();
    let mut matrix = vec![vec![0.0; 3 * points]; 3 * points];
    for row in 0..3 {
        for column in 0..3 {
            matrix[row][column] = linear.a0[row][column];
            matrix[row][3 * intervals + column] += closed[row][column];
        }
    }
    for i in 1..points {
        let mut sum = 0.0;
        for j in (0..points).filter(|j| *j != i) {
            let entry = scale * weight(i) / weight(j) / (at[i] - at[j]);
            sum += entry;
            for state in 0..3 {
                matrix[3 * i + state][3 * j + state] = entry;
            }
        }
        // Constants have no derivative.
        for state in 0..3 {
            matrix[3 * i + state][3 * i + state] = -sum;
        }
    }
    matrix
}

/// The number of modes right of `sigma`, with multiplicity: the winding number of Δ along that line.
pub fn roots_right_of(linear: &Linear, sigma: f64) -> usize {
    let sum = |matrix: &[[f64; 3]; 3]| matrix.iter().flatten().map(|entry| entry.abs()).sum::<f64>();
    let most = sum(&linear.a0) + sum(&linear.closed()) * libm::exp(-sigma * linear.delay);
    let at = |frequency: f64| linear.characteristic(C64::new(sigma, frequency));
    let top = 1e4 * (most + sigma.abs() + 1.0);
    let mut turned = 0.0;
    let (mut frequency, mut here, mut step) = (0.0, at(0.0), 0.01 / linear.delay);
    while frequency < top {
        let next = at(frequency + step);
        let turn = argument(next / here);
        if turn.abs() > 0.2 && step > 1e-12 * top {
            step *= 0.5;
            continue;
        }
        turned += turn;
        frequency += step;
        here = next;
        // Never so long that a turn of the delay passes unseen while it matters.
        step = (1.3 * step).min(if frequency < 10.0 * most { 0.3 / linear.delay } else { f64::INFINITY });
    }
    let right = 1.5 - turned / std::f64::consts::PI;
    (right + 0.5).max(0.0) as usize
}

/// The angle of a complex number in (-π, π].
pub fn argument(z: C64) -> f64 {
    libm::atan2(z.im, z.re)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = -a x(t - 1), with two independent states.
    fn scalar(a: f64) -> Linear {
        let mut linear = Linear {
            a0: [[0.0; 3]; 3],
            a1: [[0.0; 3]; 3],
            b: [1.0, 0.0, 0.0],
            c: [-a, 0.0, 0.0],
            delay: 1.0,
        };
        linear.a0[1][1] = -30.0;
        linear.a0[2][2] = -40.0;
        linear
    }

    #[test]
    fn a_delayed_decay_swings_above_1_over_e_and_grows_above_half_pi() {
        // At a = π/2 the mode is jπ/2; at a = 1/e it is -1, twice.
        let at = |a: f64| rightmost(&scalar(a)).unwrap();
        let boundary = at(std::f64::consts::FRAC_PI_2);
        assert!(size(boundary - C64::new(0.0, std::f64::consts::FRAC_PI_2)) < 1e-12, "{boundary}");
        assert!(at(1.57).re < 0.0 && at(1.572).re > 0.0);
        let e = libm::exp(1.0);
        assert!(at(0.999 / e).im == 0.0 && at(1.001 / e).im > 0.0);
        assert!((at(1.0 / e).re + 1.0).abs() < 1e-6, "{}", at(1.0 / e));
        // s = -e^(-s) at a = 1: -0.31813 + 1.33724j, the known value of Lambert's W at -1.
        assert!(size(at(1.0) - C64::new(-0.318131505204764, 1.337235701430689)) < 1e-12, "{}", at(1.0));
    }

    #[test]
    fn every_mode_is_a_root_and_the_argument_principle_counts_as_many() {
        for a in [0.2, 0.36, 0.5, 1.0, 1.6, 3.0, 8.0] {
            let linear = scalar(a);
            let found = modes(&linear);
            for sigma in [-1.5, -0.5, 0.0, 0.7] {
                let right: usize = found
                    .iter()
                    .filter(|mode| mode.re > sigma)
                    .map(|mode| if mode.im > 0.0 { 2 } else { 1 })
                    .sum();
                assert_eq!(roots_right_of(&linear, sigma), right, "a = {a}, right of {sigma}: {found:?}");
            }
        }
    }
}
