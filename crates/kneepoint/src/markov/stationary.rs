// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The stationary law of a sparse transition matrix.
//!
//! ```text
//! π = π P,  Σ π = 1      ⇔      (I − Pᵀ + u 1ᵀ) π = u,  Σ u = 1
//! residual = Σ |π P − π|
//! ```
//!
//! The second form is regular if the chain has one closed class, and needs only products with P: BiCGStab (faer) solves it.
//! Powers of P then remove rounding errors. The last digits may differ between processors, whose vector units add in different orders.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::bicgstab::{BicgParams, bicgstab, bicgstab_scratch};
use faer::matrix_free::{IdentityPrecond, LinOp};
use faer::{Mat, MatMut, MatRef, Par};

/// The residual to reach.
const RESIDUAL: f64 = 1e-12;
/// The residual that is still accepted.
const ACCEPTED: f64 = 1e-10;
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
    fn step(&self, law: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut next = vec![0.0; self.len()];
        for from in 0..self.len() {
            let mass = law(from);
            if mass != 0.0 {
                self.row(from).for_each(|(to, p)| next[to as usize] += mass * p);
            }
        }
        next
    }
}

/// I − Pᵀ + u 1ᵀ with equal u.
#[derive(Debug)]
struct Regular<'a>(&'a Matrix);

impl LinOp<f64> for Regular<'_> {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }
    fn nrows(&self) -> usize {
        self.0.len()
    }
    fn ncols(&self) -> usize {
        self.0.len()
    }
    fn apply(&self, mut out: MatMut<'_, f64>, x: MatRef<'_, f64>, _: Par, _: &mut MemStack) {
        for column in 0..x.ncols() {
            let next = self.0.step(|i| x[(i, column)]);
            let mean = (0..x.nrows()).map(|i| x[(i, column)]).sum::<f64>() / x.nrows() as f64;
            for i in 0..x.nrows() {
                out[(i, column)] = x[(i, column)] - next[i] + mean;
            }
        }
    }
    fn conj_apply(&self, out: MatMut<'_, f64>, x: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, x, par, stack);
    }
}

/// The stationary law of `matrix`; the error names the residual that could not be reduced.
pub(super) fn stationary(matrix: &Matrix) -> Result<Stationary, String> {
    let count = matrix.len();
    let equal = Mat::from_fn(count, 1, |_, _| 1.0 / count as f64);
    let mut solution = equal.clone();
    let none = IdentityPrecond { dim: count };
    let mut memory = MemBuffer::new(bicgstab_scratch::<f64>(none, none, Regular(matrix), 1, Par::Seq));
    // A sum of absolute values is up to √n times the Euclidean norm, by which the solver stops.
    let tolerance = RESIDUAL / (count as f64).sqrt();
    // Without convergence the last approximation is as good a start for powers as any.
    let _ = bicgstab(
        solution.as_mut(),
        none,
        none,
        Regular(matrix),
        equal.as_ref(),
        BicgParams { abs_tolerance: tolerance, rel_tolerance: 0.0, max_iters: 2000, ..Default::default() },
        |_| {},
        Par::Seq,
        MemStack::new(&mut memory),
    );
    let usable = |x: f64| if x.is_finite() { x.max(0.0) } else { 1.0 };
    let mut law: Vec<f64> = (0..count).map(|i| usable(solution[(i, 0)])).collect();
    let mut residual = f64::INFINITY;
    for _ in 0..POWERS {
        let total: f64 = law.iter().sum();
        law.iter_mut().for_each(|p| *p /= total);
        let next = matrix.step(|i| law[i]);
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

    #[test]
    fn a_birth_and_death_chain_has_its_geometric_law() {
        let mut matrix = Matrix::default();
        let count = 30_u32;
        for i in 0..count {
            let (up, down) = (if i + 1 < count { 0.2 } else { 0.0 }, if i > 0 { 0.3 } else { 0.0 });
            let moves = [(i + 1, up), (i.wrapping_sub(1), down), (i, 1.0 - up - down)];
            matrix.push(moves.into_iter().filter(|(_, p)| *p > 0.0));
        }
        let Stationary { law, residual } = stationary(&matrix).unwrap();
        assert!(residual < 1e-10, "{residual}");
        for (i, pair) in law.windows(2).enumerate() {
            assert!((pair[1] / pair[0] - 2.0 / 3.0).abs() < 1e-6, "{i}: {pair:?}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-10);
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
