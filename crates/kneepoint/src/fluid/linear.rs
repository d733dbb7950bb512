// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A model close to its equilibrium, as linear equations with one delay.
//!
//! ```text
//! x'(t) = A0 x(t) + A1 x(t - τ) + b p(t),   p(t) = c x(t - τ)          the loop, and its closing term
//! Δ(s) = det(s I - A0 - (A1 + b c) e^(-sτ))                            its roots are the modes
//! ℓ(s) = -c e^(-sτ) (s I - A0 - A1 e^(-sτ))⁻¹ b                        the loop's gain: Δ = Δ_open (1 + ℓ)
//! ```
//!
//! The matrices are derivatives of the model's own equations, by five-point differences. A delay that depends on the
//! state is constant to first order, because the delayed state is constant at the equilibrium.

use num_complex::Complex;

use super::{Equilibrium, Model, State};

/// A complex number.
pub type C64 = Complex<f64>;
/// Three rows of three.
pub type Matrix<T> = [[T; 3]; 3];

/// Linear equations with one delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// The undelayed part.
    pub a0: Matrix<f64>,
    /// The delayed part with the loop open: the probability is held.
    pub a1: Matrix<f64>,
    /// The effect of the probability.
    pub b: State,
    /// The states' effect on the probability, after the delay.
    pub c: State,
    /// The delay in seconds.
    pub delay: f64,
}

/// e^z, the same on every machine.
pub fn exp(z: C64) -> C64 {
    let size = libm::exp(z.re);
    C64::new(size * libm::cos(z.im), size * libm::sin(z.im))
}

/// |z|, from operations that round alike on every machine.
pub fn size(z: C64) -> f64 {
    z.norm_sqr().sqrt()
}

impl Linear {
    /// The model's equations at an equilibrium.
    pub fn of(model: &impl Model, at: &Equilibrium) -> Linear {
        let (here, p) = (&at.state, at.probability);
        let a0 = columns(here, |now| model.derivative(now, here, p));
        let a1 = columns(here, |past| model.derivative(here, past, p));
        let b = slope(p, |p| model.derivative(here, here, p));
        let c = columns(here, |past| [model.probability(past), 0.0, 0.0])[0];
        Linear { a0, a1, b, c, delay: model.delay(here) }
    }

    /// The delayed part with the loop closed.
    pub fn closed(&self) -> Matrix<f64> {
        std::array::from_fn(|i| std::array::from_fn(|j| self.a1[i][j] + self.b[i] * self.c[j]))
    }

    /// s I - A0 - A e^(-sτ).
    fn matrix(&self, s: C64, a: &Matrix<f64>) -> Matrix<C64> {
        let late = exp(-s * self.delay);
        std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let own = if i == j { s } else { C64::ZERO };
                own - self.a0[i][j] - late * a[i][j]
            })
        })
    }

    /// Δ(s), whose roots are the modes.
    pub fn characteristic(&self, s: C64) -> C64 {
        determinant(&self.matrix(s, &self.closed()))
    }

    /// Δ'(s).
    pub fn characteristic_slope(&self, s: C64) -> C64 {
        let a = self.closed();
        let matrix = self.matrix(s, &a);
        let late = exp(-s * self.delay) * self.delay;
        // A determinant is linear in each row.
        let with_row = |row: usize| {
            let mut changed = matrix;
            changed[row] = std::array::from_fn(|j| {
                let own = if row == j { C64::ONE } else { C64::ZERO };
                own + late * a[row][j]
            });
            determinant(&changed)
        };
        (0..3).map(with_row).sum()
    }

    /// ℓ(jω).
    pub fn gain(&self, frequency: f64) -> C64 {
        let s = C64::new(0.0, frequency);
        let open = self.matrix(s, &self.a1);
        // Cramer: with b in place of a column.
        let answer = |column: usize| {
            let mut changed = open;
            for (row, b) in changed.iter_mut().zip(self.b) {
                row[column] = C64::from(b);
            }
            determinant(&changed) * self.c[column]
        };
        -exp(-s * self.delay) * (0..3).map(answer).sum::<C64>() / determinant(&open)
    }
}

fn determinant(m: &Matrix<C64>) -> C64 {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}

/// The derivative of `f` at `x`.
fn slope(x: f64, f: impl Fn(f64) -> State) -> State {
    let h = 1e-3 * x.abs().max(1e-6);
    let [back2, back, on, on2] = [-2.0, -1.0, 1.0, 2.0].map(|steps| f(x + steps * h));
    std::array::from_fn(|i| (back2[i] - 8.0 * back[i] + 8.0 * on[i] - on2[i]) / (12.0 * h))
}

/// The matrix of derivatives of `f` with respect to each state.
fn columns(at: &State, f: impl Fn(&State) -> State) -> Matrix<f64> {
    let column = |j: usize| {
        slope(at[j], |x| {
            let mut moved = *at;
            moved[j] = x;
            f(&moved)
        })
    };
    let columns = [column(0), column(1), column(2)];
    std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]))
}
