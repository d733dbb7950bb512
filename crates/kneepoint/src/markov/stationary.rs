// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The stationary law of a sparse transition matrix.
//!
//! ```text
//! π = π P,  Σ π = 1      ⇔      (I − Pᵀ + u 1ᵀ) π = u,  Σ u = 1
//! residual = Σ |π P − π|
//! ```
//!
//! The second form is regular if the chain has one closed class, and needs only products with P: BiCGStab solves it (van der Vorst,
//! SIAM J. Sci. Stat. Comput. 13 (1992) 631, without a preconditioner). Powers of P then remove rounding errors.

/// The residual to reach.
const RESIDUAL: f64 = 1e-12;
/// The residual that is still accepted.
const ACCEPTED: f64 = 1e-10;
/// Steps of the solver.
const STEPS: usize = 2000;
/// Powers of P after the solver.
const POWERS: usize = 20_000;

/// The rows of a transition matrix, one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    /// The end of each row in the lists.
    ends: Vec<usize>,
    to: Vec<u32>,
    probability: Vec<f64>,
}

/// A stationary law.
#[derive(Clone, Debug)]
pub(super) struct Stationary {
    pub law: Vec<f64>,
    /// Σ |π P − π|.
    pub residual: f64,
}

impl Matrix {
    /// Adds a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        for (to, probability) in row {
            self.to.push(to);
            self.probability.push(probability);
        }
        self.ends.push(self.to.len());
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of entries.
    pub(super) fn entries(&self) -> usize {
        self.to.len()
    }

    /// Row `from`.
    fn row(&self, from: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let begin = if from == 0 { 0 } else { self.ends[from - 1] };
        let range = begin..self.ends[from];
        self.to[range.clone()].iter().copied().zip(self.probability[range].iter().copied())
    }

    /// `law` one step later.
    fn step(&self, law: &[f64]) -> Vec<f64> {
        let mut next = vec![0.0; self.len()];
        for (from, &mass) in law.iter().enumerate().filter(|(_, mass)| **mass != 0.0) {
            self.row(from).for_each(|(to, p)| next[to as usize] += mass * p);
        }
        next
    }

    /// (I − Pᵀ + u 1ᵀ) x with equal u.
    fn regular(&self, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        x.iter().zip(self.step(x)).map(|(x, next)| x - next + mean).collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// x + factor · y
fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y);
}

/// The solution of A x = b from x = b on, to a residual of Euclidean norm `tolerance`; without convergence, the last approximation.
fn bicgstab(apply: impl Fn(&[f64]) -> Vec<f64>, b: &[f64], tolerance: f64) -> Vec<f64> {
    let mut x = b.to_vec();
    let mut r = b.to_vec();
    add(&mut r, -1.0, &apply(&x));
    let (shadow, mut p) = (r.clone(), r.clone());
    for _ in 0..STEPS {
        if norm(&r) <= tolerance {
            break;
        }
        let v = apply(&p);
        let rho = dot(&shadow, &r);
        let alpha = rho / dot(&shadow, &v);
        add(&mut x, alpha, &p);
        add(&mut r, -alpha, &v);
        if norm(&r) <= tolerance {
            break;
        }
        let t = apply(&r);
        let omega = dot(&t, &r) / dot(&t, &t);
        add(&mut x, omega, &r);
        add(&mut r, -omega, &t);
        let beta = dot(&shadow, &r) / rho * alpha / omega;
        add(&mut p, -omega, &v);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
    }
    x
}

/// The stationary law of `matrix`; the error names the residual that could not be reduced.
pub(super) fn stationary(matrix: &Matrix) -> Result<Stationary, String> {
    let count = matrix.len();
    // A sum of absolute values is up to √n times the Euclidean norm, the solver's stopping criterion.
    let tolerance = RESIDUAL / (count as f64).sqrt();
    let mut law = bicgstab(|x| matrix.regular(x), &vec![1.0 / count as f64; count], tolerance);
    // Any result of the solver is a good start for powers.
    law.iter_mut().for_each(|p| *p = if p.is_finite() { p.max(0.0) } else { 1.0 });
    let mut residual = f64::INFINITY;
    for _ in 0..POWERS {
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        let next = matrix.step(&law);
        let before = residual;
        residual = next.iter().zip(&law).map(|(a, b)| (a - b).abs()).sum();
        law = next;
        if residual <= RESIDUAL || residual <= ACCEPTED && residual > 0.999 * before {
            break;
        }
    }
    if residual > ACCEPTED {
        return Err(format!(
            "the stationary law of {count} states did not converge: residual {residual:.1e}"
        ));
    }
    Ok(Stationary { law, residual })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn birth_and_death(count: u32) -> Matrix {
        let mut matrix = Matrix::default();
        for i in 0..count {
            let (up, down) = (if i + 1 < count { 0.2 } else { 0.0 }, if i > 0 { 0.3 } else { 0.0 });
            let moves = [(i + 1, up), (i.wrapping_sub(1), down), (i, 1.0 - up - down)];
            matrix.push(moves.into_iter().filter(|(_, p)| *p > 0.0));
        }
        matrix
    }

    #[test]
    fn a_birth_and_death_chain_has_its_geometric_law() {
        let Stationary { law, residual } = stationary(&birth_and_death(30)).unwrap();
        assert!(residual < 1e-10, "{residual}");
        for (i, pair) in law.windows(2).enumerate() {
            assert!((pair[1] / pair[0] - 2.0 / 3.0).abs() < 1e-6, "{i}: {pair:?}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-10);
    }

    #[test]
    fn the_solver_solves_what_it_is_given() {
        for count in [1, 2, 3, 10, 30] {
            let matrix = birth_and_death(count);
            let b: Vec<f64> = (0..count).map(|i| f64::from(i % 7) / 7.0).collect();
            let mut rest = b.clone();
            add(&mut rest, -1.0, &matrix.regular(&bicgstab(|x| matrix.regular(x), &b, 1e-12)));
            assert!(norm(&rest) < 1e-11, "{count}: {}", norm(&rest));
        }
    }

    #[test]
    fn a_periodic_chain_has_a_stationary_law() {
        let mut matrix = Matrix::default();
        for i in 0..7 {
            matrix.push([((i + 1) % 7, 1.0)]);
        }
        for p in stationary(&matrix).unwrap().law {
            assert!((p - 1.0 / 7.0).abs() < 1e-9);
        }
    }
}
