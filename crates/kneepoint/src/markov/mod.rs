// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RATCP-OldTahoe and TCP-OldTahoe as a Markov renewal process: solved numerically, and by Monte Carlo.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control with Explicit Rate Feedback", IEEE/ACM Transactions on Networking 13(1), 2005, §III and §VIII.
//!
//! A persistent session shares a link with ephemeral ones, each of which takes exactly its fair share and none of the buffer.
//! At the epochs t_k = kΔ, one round-trip propagation delay apart, the process is (W^r, W, N, B, D): rate window, congestion
//! window, ephemeral sessions, packets in the buffer, and packets and acknowledgements in propagation; TCP has no W^r.
//!
//! | file | subject |
//! |---|---|
//! | `params` | parameters, and the readings of the sentences that the paper leaves open |
//! | `sessions` | N: arrivals and departures at the epochs |
//! | `interval` | from one epoch to the next: growth, service, loss |
//! | `slow_start` | recovery after a timeout, in mini-cycles |
//! | `chain` | the states that can be reached, their transitions, lengths and rewards |
//! | `stationary` | the stationary law of the chain |
//! | `monte_carlo` | the same process by drawing |
//! | [`theory`] | laws of the throughput at a given loss probability |
//!
//! The default chain has 4180 states for RATCP and 6039 for TCP and takes less than 0.1 s and a few megabytes. States grow in proportion
//! to N_max and less than in proportion to the buffer, which RATCP hardly fills, and transitions a little faster; at four times the product
//! of bandwidth and delay there are six and three times as many states. Carried service multiplies both by about ten.
//!
//! Approximations in addition to the paper's: branches of an interval with a probability below 1e-12 are left out, and carried service is kept in
//! twelfths of a packet, with the mean kept exactly. The paper's own assumptions remain: sessions move only at epochs, a loss is detected three
//! intervals later, the rate does not change during slow start, and windows do not adapt to it then. An efficiency above 1 can follow: three
//! intervals are less time than the link needs for a full buffer at a small fair rate.

mod chain;
mod interval;
mod monte_carlo;
mod params;
mod sessions;
mod slow_start;
mod stationary;
pub mod theory;

pub use params::{
    AckInstant, AckSpacing, Ahead, Blocking, Halved, PRESETS, Params, Preset, Protocol, Readings, Rounding,
    Service, SlowStart, SlowStartReward, Threshold,
};

use serde::Serialize;

use crate::rng::Rng;
use crate::settings::{Raw, Settings};
use crate::table::Estimate;
use chain::Cycle;
use sessions::Sessions;

crate::keys! {
    /// The long-run behaviour of the persistent session.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Solution {
        /// Packets delivered.
        #[serde(rename = "throughput_pps")]
        pub throughput: f64,
        /// The throughput over the mean fair rate.
        pub efficiency: f64,
        /// Loss events: each ends in a timeout.
        #[serde(rename = "losses_per_s")]
        pub losses: f64,
        /// Loss events per packet transmitted.
        pub loss_probability: f64,
        /// The mean window at the epochs of congestion avoidance.
        #[serde(rename = "mean_window_packets")]
        pub mean_window: f64,
        /// The mean fair rate.
        #[serde(rename = "fair_rate_pps")]
        pub fair_rate: f64,
        /// States of congestion avoidance.
        pub states: usize,
        /// Transitions of positive probability out of them.
        pub transitions: usize,
        /// The sum of the absolute differences between the stationary law and its image under the transition matrix.
        pub residual: f64,
    }

    /// Estimates by simulation, with 95 % confidence intervals.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sampled {
        /// Packets delivered.
        #[serde(rename = "throughput_pps")]
        pub throughput: Estimate,
        /// The throughput over the mean fair rate.
        pub efficiency: Estimate,
        /// Loss events.
        #[serde(rename = "losses_per_s")]
        pub losses: Estimate,
    }
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
    params.check()?;
    let sessions = Sessions::new(params);
    let chain = chain::chain(params, &sessions)?;
    let stationary = stationary::stationary(&chain.matrix)?;
    let mean = |value: &dyn Fn(&Cycle) -> f64| -> f64 {
        stationary.law.iter().zip(&chain.cycles).map(|(p, cycle)| p * value(cycle)).sum()
    };
    let delay = params.delay.as_secs_f64();
    let seconds = mean(&|cycle| cycle.length) * delay;
    let throughput = mean(&|cycle| cycle.reward) / seconds;
    let losses = mean(&|cycle| cycle.losses) / seconds;
    let avoidance = mean(&|cycle| f64::from(u8::from(cycle.window.is_some())));
    let fair_rate = sessions.mean_share(params)? / delay;
    Ok(Solution {
        throughput,
        efficiency: throughput / fair_rate,
        losses,
        loss_probability: losses / (throughput + losses),
        mean_window: mean(&|cycle| cycle.window.unwrap_or(0.0)) / avoidance,
        fair_rate,
        states: chain.cycles.iter().map(|cycle| cycle.states).sum(),
        transitions: chain.matrix.entries(),
        residual: stationary.residual,
    })
}

/// The same model by drawing `cycles` intervals or recoveries; errors are [`solve`]'s.
pub fn simulate(params: &Params, cycles: u64, rng: Rng) -> Result<Sampled, String> {
    params.check()?;
    Ok(monte_carlo::simulate(params, cycles, rng))
}

/// The solution for every change of a single reading from the ones in `params`.
pub fn sensitivity(params: &Params) -> Vec<Sensitivity> {
    let mut all = Vec::new();
    for field in Readings::fields() {
        for (value, about) in field.choices {
            if params.get(field.name).as_deref() != Some(value) {
                let mut changed = params.clone();
                let set = changed.set(field.name, &Raw::Text((*value).to_string()));
                debug_assert!(set.is_ok(), "{} = {value}: {set:?}", field.name);
                all.push(Sensitivity { reading: field.name, value, about, solution: solve(&changed) });
            }
        }
    }
    all
}
