// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The ephemeral sessions: a Markov chain that moves at the epochs, independent of the persistent session.
//!
//! ```text
//! p      = λ Δ                                 an arrival at an epoch
//! q_n    = 1 − exp(−ν μ Δ / (n + 1))           one of n sessions departs, 1/ν mean size in packets
//! b_n(j) = C(n, j) q_n^j (1 − q_n)^(n − j)     j of n depart
//! P(n, m) = p b_n(0)                            m = n + 1
//!           p b_n(n − m + 1) + (1 − p) b_n(n − m)   1 ≤ m ≤ n
//!           (1 − p) q_n^n                       m = 0 < n
//! mean fair rate = Σ π_n μ / (n + 1)
//! ```
//!
//! With N_max sessions an arrival that finds no room is lost; `blocking` says whether it finds the place of a session
//! that departs at the same epoch.

use super::params::{Blocking, Params};
use super::stationary::{Matrix, stationary};

/// The law of the number of sessions.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    rows: Vec<Vec<f64>>,
}

/// p: the probability of an arrival at an epoch.
pub(super) fn arrival(params: &Params) -> f64 {
    params.arrivals * params.delay.as_secs_f64()
}

/// q_n: the probability that one of `n` sessions departs.
pub(super) fn departure(params: &Params, n: u32) -> f64 {
    let size = params.session.0 as f64 / params.packet.0 as f64;
    -libm::expm1(-params.share(n) / size)
}

/// b_n(j) for j = 0 … n.
fn departures(n: u32, q: f64) -> Vec<f64> {
    let mut law = vec![1.0];
    for _ in 0..n {
        let mut next = vec![0.0; law.len() + 1];
        for (j, p) in law.iter().enumerate() {
            next[j] += p * (1.0 - q);
            next[j + 1] += p * q;
        }
        law = next;
    }
    law
}

impl Sessions {
    /// The law under `params`.
    pub(super) fn new(params: &Params) -> Sessions {
        let most = params.max_sessions as usize;
        let row = |n: usize| {
            let mut row = vec![0.0; most + 1];
            let full = n == most && params.readings.blocking == Blocking::BeforeDepartures;
            let p = if full { 0.0 } else { arrival(params) };
            for (j, b) in departures(n as u32, departure(params, n as u32)).into_iter().enumerate() {
                row[n - j] += (1.0 - p) * b;
                row[(n - j + 1).min(most)] += p * b;
            }
            row
        };
        Sessions { rows: (0..=most).map(row).collect() }
    }

    /// The numbers that can follow `n`, and their probabilities.
    pub(super) fn next(&self, n: u32) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.rows[n as usize].iter().enumerate().filter(|(_, p)| **p > 0.0).map(|(m, p)| (m as u32, *p))
    }

    /// The law `steps` epochs after there were `n`.
    pub(super) fn after(&self, n: u32, steps: u32) -> Vec<f64> {
        let mut law = vec![0.0; self.rows.len()];
        law[n as usize] = 1.0;
        for _ in 0..steps {
            let mut next = vec![0.0; law.len()];
            for (row, p) in self.rows.iter().zip(&law) {
                next.iter_mut().zip(row).for_each(|(sum, q)| *sum += p * q);
            }
            law = next;
        }
        law
    }

    /// The stationary law.
    pub(super) fn stationary(&self) -> Result<Vec<f64>, String> {
        let mut matrix = Matrix::default();
        for n in 0..self.rows.len() as u32 {
            matrix.push(self.next(n));
        }
        Ok(stationary(&matrix)?.law)
    }

    /// The mean fair rate of the persistent session in packets per delay.
    pub(super) fn mean_share(&self, params: &Params) -> Result<f64, String> {
        let law = self.stationary()?;
        Ok(law.iter().enumerate().map(|(n, p)| p * params.share(n as u32)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_is_that_of_the_header() {
        let params = Params::default();
        let (p, most) = (0.02, 10);
        let sessions = Sessions::new(&params);
        let choose = |n: u32, j: u32| (0..j).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
        for n in 0..most {
            // 100 packets a session and 20 packets a delay.
            let q = 1.0 - libm::exp(-20.0 / f64::from(n + 1) / 100.0);
            assert!((departure(&params, n) - q).abs() < 1e-12);
            let b = |j: u32| choose(n, j) * libm::pow(q, f64::from(j)) * libm::pow(1.0 - q, f64::from(n - j));
            for m in 0..=n + 1 {
                let expected = match m {
                    m if m == n + 1 => p * b(0),
                    0 => (1.0 - p) * b(n),
                    m => p * b(n - m + 1) + (1.0 - p) * b(n - m),
                };
                assert!((sessions.rows[n as usize][m as usize] - expected).abs() < 1e-12, "P({n}, {m})");
            }
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_few_arrivals_leave_the_link_alone() {
        for blocking in Blocking::ALL {
            let mut params = Params { arrivals: 4.5, ..Params::default() };
            params.readings.blocking = *blocking;
            for row in Sessions::new(&params).rows {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
        let quiet = Params { arrivals: 1e-6, ..Params::default() };
        assert!((Sessions::new(&quiet).mean_share(&quiet).unwrap() - 20.0).abs() < 0.01);
    }
}
