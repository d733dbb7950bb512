// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The eigenvalues of a real square matrix: to Hessenberg form, then the QR iteration.
//!
//! G. Golub, C. Van Loan, "Matrix Computations", 4th ed., 2013, §§7.4, 7.5.

use num_complex::Complex;

type C64 = Complex<f64>;

/// Iterations after which an eigenvalue is accepted.
const MOST: usize = 60;

/// All eigenvalues, in no order.
pub fn eigenvalues(mut matrix: Vec<Vec<f64>>) -> Vec<C64> {
    hessenberg(&mut matrix);
    let mut h: Vec<Vec<C64>> =
        matrix.iter().map(|row| row.iter().map(|entry| C64::from(*entry)).collect()).collect();
    let mut found = Vec::with_capacity(h.len());
    let (mut end, mut tried) = (h.len(), 0);
    while end > 0 {
        let last = end - 1;
        let begin = first_of_block(&h, last);
        if begin == last || tried == MOST {
            found.push(h[last][last]);
            (end, tried) = (last, 0);
        } else {
            // Now and then a shift out of turn breaks a cycle.
            let shift =
                if tried % 10 == 9 { h[last][last] + h[last][last - 1].l1_norm() } else { corner(&h, last) };
            sweep(&mut h, begin, end, shift);
            tried += 1;
        }
    }
    found
}

/// Gaussian elimination from both sides, with pivots: below the first subdiagonal all becomes zero.
fn hessenberg(a: &mut [Vec<f64>]) {
    let n = a.len();
    for m in 1..n.saturating_sub(1) {
        let Some(pivot) = (m..n).max_by(|i, j| a[*i][m - 1].abs().total_cmp(&a[*j][m - 1].abs())) else {
            return;
        };
        if a[pivot][m - 1] == 0.0 {
            continue;
        }
        a.swap(pivot, m);
        for row in a.iter_mut() {
            row.swap(pivot, m);
        }
        let chosen = a[m].clone();
        let factors: Vec<f64> = (m + 1..n).map(|i| a[i][m - 1] / chosen[m - 1]).collect();
        for (row, factor) in a[m + 1..].iter_mut().zip(&factors) {
            for (entry, above) in row.iter_mut().zip(&chosen) {
                *entry -= factor * above;
            }
        }
        for row in a.iter_mut() {
            row[m] += row[m + 1..].iter().zip(&factors).map(|(entry, factor)| factor * entry).sum::<f64>();
        }
    }
}

/// The beginning of the block that ends at `last`: below a subdiagonal entry that no longer counts.
fn first_of_block(h: &[Vec<C64>], last: usize) -> usize {
    let small = |k: &usize| {
        let beside = h[*k][*k].l1_norm() + h[k - 1][k - 1].l1_norm();
        h[*k][k - 1].l1_norm() <= f64::EPSILON * beside
    };
    (1..=last).rev().find(small).unwrap_or(0)
}

/// The eigenvalue of the last two rows and columns that is nearer to the last entry.
fn corner(h: &[Vec<C64>], last: usize) -> C64 {
    let (a, b, c, d) = (h[last - 1][last - 1], h[last - 1][last], h[last][last - 1], h[last][last]);
    let half = (a - d) * 0.5;
    let root = square_root(half * half + b * c);
    let far = if (half + root).norm_sqr() >= (half - root).norm_sqr() { half + root } else { half - root };
    if far == C64::ZERO { d } else { d - b * c / far }
}

/// The root in the right half plane, from square roots only, which round alike everywhere.
fn square_root(z: C64) -> C64 {
    let size = z.norm_sqr().sqrt();
    let (re, im) = ((0.5 * (size + z.re)).max(0.0).sqrt(), (0.5 * (size - z.re)).max(0.0).sqrt());
    C64::new(re, im.copysign(z.im))
}

/// One QR step with a shift on the block of rows `begin` to `end`, by rotations.
fn sweep(h: &mut [Vec<C64>], begin: usize, end: usize, shift: C64) {
    for (k, row) in h.iter_mut().enumerate().take(end).skip(begin) {
        row[k] -= shift;
    }
    let mut rotations = Vec::with_capacity(end - begin);
    for k in begin..end - 1 {
        let (x, y) = (h[k][k], h[k + 1][k]);
        let size = (x.norm_sqr() + y.norm_sqr()).sqrt();
        let (c, s) = if size == 0.0 { (C64::ONE, C64::ZERO) } else { (x / size, y / size) };
        let (above, below) = h.split_at_mut(k + 1);
        for (upper, lower) in above[k][k..end].iter_mut().zip(&mut below[0][k..end]) {
            let (u, l) = (*upper, *lower);
            *upper = c.conj() * u + s.conj() * l;
            *lower = c * l - s * u;
        }
        rotations.push((c, s));
    }
    for (k, (c, s)) in (begin..).zip(rotations) {
        for row in &mut h[begin..(k + 2).min(end)] {
            let (left, right) = (row[k], row[k + 1]);
            row[k] = left * c + right * s;
            row[k + 1] = right * c.conj() - left * s.conj();
        }
    }
    for (k, row) in h.iter_mut().enumerate().take(end).skip(begin) {
        row[k] += shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(matrix: Vec<Vec<f64>>) -> Vec<C64> {
        let mut found = eigenvalues(matrix);
        found.sort_by(|a, b| a.re.total_cmp(&b.re).then(a.im.total_cmp(&b.im)));
        found
    }

    #[test]
    fn a_companion_matrix_has_the_roots_of_its_polynomial() {
        // (x - 1)(x + 2)(x² - 2x + 5) = x⁴ - x³ + x² + 9x - 10.
        let companion = vec![
            vec![1.0, -1.0, -9.0, 10.0],
            vec![1.0, 0.0, 0.0, 0.0],
            vec![0.0, 1.0, 0.0, 0.0],
            vec![0.0, 0.0, 1.0, 0.0],
        ];
        let found = sorted(companion);
        for expected in [(-2.0, 0.0), (1.0, -2.0), (1.0, 0.0), (1.0, 2.0)].map(|(re, im)| C64::new(re, im)) {
            assert!(found.iter().any(|got| (got - expected).l1_norm() < 1e-12), "{expected}: {found:?}");
        }
    }

    #[test]
    fn the_second_difference_has_its_known_spectrum() {
        let n = 30;
        let mut matrix = vec![vec![0.0; n]; n];
        for i in 0..n {
            matrix[i][i] = 2.0;
            if i > 0 {
                (matrix[i][i - 1], matrix[i - 1][i]) = (-1.0, -1.0);
            }
        }
        for (k, got) in sorted(matrix).iter().enumerate() {
            let expected = 2.0 - 2.0 * libm::cos(std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64);
            assert!((got.re - expected).abs() < 1e-12 && got.im.abs() < 1e-12, "{k}: {got}, {expected}");
        }
    }

    #[test]
    fn a_matrix_without_zeros_has_the_eigenvalues_it_was_made_of() {
        // P diag(1, 2, 3, 4, 5) P⁻¹ with P = I + u vᵀ, whose inverse is I - u vᵀ / (1 + vᵀu).
        let (u, v) = ([1.0, -2.0, 0.5, 3.0, 1.5], [0.5, 1.0, -1.0, 2.0, 0.25]);
        let product: f64 = u.iter().zip(&v).map(|(a, b)| a * b).sum();
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let entry = |i: usize, j: usize| -> f64 {
            let part = |k: usize| {
                (unit(i, k) + u[i] * v[k]) * (k + 1) as f64 * (unit(k, j) - u[k] * v[j] / (1.0 + product))
            };
            (0..5).map(part).sum()
        };
        let found = sorted((0..5).map(|i| (0..5).map(|j| entry(i, j)).collect()).collect());
        for (k, got) in found.iter().enumerate() {
            assert!((got - (k + 1) as f64).l1_norm() < 1e-10, "{found:?}");
        }
    }

    #[test]
    fn a_cycle_has_the_roots_of_one() {
        // A cycle of five: the fifth roots of one.
        let cycle =
            (0..5).map(|i| (0..5).map(|j| if (i + 1) % 5 == j { 1.0 } else { 0.0 }).collect()).collect();
        let found = sorted(cycle);
        assert!(found.iter().all(|root| (root.norm_sqr() - 1.0).abs() < 1e-12), "{found:?}");
        assert!((found[4] - 1.0).l1_norm() < 1e-12 && found.iter().sum::<C64>().l1_norm() < 1e-12);
    }
}
