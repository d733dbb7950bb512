// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Markov-renewal analysis of RATCP-OldTahoe and TCP-OldTahoe, solved numerically.

mod params;

pub use params::{
    AckInstant, AckSpacing, Ahead, Blocking, Halved, PRESETS, Params, Preset, Protocol, Readings, Rounding, Service,
    SlowStart, SlowStartReward, Threshold,
};

use serde::Serialize;

use crate::rng::Rng;
use crate::table::Estimate;

/// The long-run behaviour of the persistent session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// Packets per second delivered.
    pub throughput: f64,
    /// The throughput over the mean fair rate.
    pub efficiency: f64,
    /// Loss events per second: each ends in a timeout.
    pub losses: f64,
    /// Loss events per packet transmitted.
    pub loss_probability: f64,
    /// The mean window at the epochs of congestion avoidance, in packets.
    pub mean_window: f64,
    /// The mean fair rate, in packets per second.
    pub fair_rate: f64,
    /// States (N_{k-1}, W_k, N_k, B_k, D_k) of congestion avoidance.
    pub states: usize,
    /// Transitions of positive probability out of them, as they are kept.
    pub transitions: usize,
    /// The sum of the absolute differences between the stationary law and its image under the transition matrix.
    pub residual: f64,
}

/// Estimates by simulation, with 95 % confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sampled {
    /// Packets per second delivered.
    pub throughput: Estimate,
    /// The throughput over the mean fair rate.
    pub efficiency: Estimate,
    /// Loss events per second.
    pub losses: Estimate,
}

/// The effect of one reading that differs from the given ones.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// The reading, as it is set.
    pub reading: &'static str,
    /// Its other value.
    pub value: &'static str,
    /// The sentence of documentation of that value.
    pub about: &'static str,
    /// The solution with it.
    pub solution: Result<Solution, String>,
}

/// The solution of the analysis; the error says which parameters do not fit together.
pub fn solve(params: &Params) -> Result<Solution, String> {
    let _ = params;
    Err("not written yet".to_string())
}

/// The same model by drawing `cycles` intervals or recoveries; the error is that of [`solve`].
pub fn simulate(params: &Params, cycles: u64, rng: Rng) -> Result<Sampled, String> {
    let _ = (params, cycles, rng);
    Err("not written yet".to_string())
}

/// The solution for every change of a single reading from those of `params`.
pub fn sensitivity(params: &Params) -> Vec<Sensitivity> {
    let _ = params;
    Vec::new()
}
