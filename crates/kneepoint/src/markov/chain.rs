// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The embedded chain: the states that can be reached, their transitions, and the length and reward of their cycles.
//!
//! ```text
//! cycle         U = 1 without a loss, 3 + S with one                 intervals
//! reward        V = D_k without a loss, D_k + packets ahead + V_ss with one
//! throughput    E_π[V] / (E_π[U] Δ)                                  (3)
//! ```
//!
//! N_k follows from N_{k−1} alone, so a state is kept before N_k is drawn: (N_{k−1}, W_k, B_k, D_k), which with N_k is the paper's (W^r, W, N, B, D)
//! with W^r = μΔ/(N_{k−1}+1) + δ. The stationary law of the paper's chain is π(N_{k−1}, W, B, D) P(N_{k−1}, N_k), without approximation. After a loss
//! only N_k and the slow-start threshold matter: these are separate states, passed in no time. The search begins with one packet in an idle network.
//!
//! With `service = carried` the progress of the packet in service is another component, in twelfths; the twelfth above or below is drawn so that the
//! mean is exact.

use std::collections::BTreeMap;

use super::interval::{self, Epoch};
use super::params::{Halved, Params, Protocol, Threshold};
use super::sessions::Sessions;
use super::slow_start::{TIMEOUT, ahead, half, recovery};
use super::stationary::Matrix;

/// The resolution of progress, in parts of a packet.
pub(super) const PARTS: f64 = 12.0;

/// The most states that a search keeps.
const LIMIT: usize = 4_000_000;

/// A state of the embedded chain, in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Congestion avoidance.
    Avoidance {
        before: u32,
        /// W in units of 10⁻⁹ packets.
        window: u64,
        queue: u32,
        flight: u32,
        /// In parts of a packet.
        progress: u8,
    },
    /// A loss in an interval with that many sessions, and TCP's threshold.
    Loss { before: u32, ssthresh: u32 },
}

/// Expected values of a state's cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    /// U, in intervals.
    pub length: f64,
    /// V, in packets.
    pub reward: f64,
    /// Losses.
    pub losses: f64,
    /// W, where the cycle is one of congestion avoidance.
    pub window: Option<f64>,
    /// States of the paper that it represents: the numbers that N_k can be.
    pub states: usize,
}

/// The embedded chain.
#[derive(Debug)]
pub(super) struct Chain {
    pub matrix: Matrix,
    /// By state.
    pub cycles: Vec<Cycle>,
}

/// A search under way.
struct Search<'a> {
    params: &'a Params,
    sessions: &'a Sessions,
    numbers: BTreeMap<State, u32>,
    found: Vec<State>,
}

/// A row under construction.
type Row = BTreeMap<u32, f64>;

/// The chain of `params`; the error says that it is too large.
pub(super) fn chain(params: &Params, sessions: &Sessions) -> Result<Chain, String> {
    let mut search = Search { params, sessions, numbers: BTreeMap::new(), found: Vec::new() };
    search.number(State::Avoidance { before: 0, window: 1_000_000_000, queue: 1, flight: 0, progress: 0 });
    let mut chain = Chain { matrix: Matrix::default(), cycles: Vec::new() };
    while let Some(state) = search.found.get(chain.cycles.len()).copied() {
        let mut row = Row::new();
        let cycle = match state {
            State::Avoidance { before, window, queue, flight, progress } => {
                let window = window as f64 / 1e9;
                let epoch = Epoch { before, window, queue, flight, progress: f64::from(progress) / PARTS };
                search.avoidance(&epoch, &mut row)
            }
            State::Loss { before, ssthresh } => search.loss(before, f64::from(ssthresh), &mut row),
        };
        chain.cycles.push(cycle);
        chain.matrix.push(row);
        if search.found.len() > LIMIT {
            return Err(format!(
                "more than {LIMIT} states: lower max_sessions, buffer, or the bandwidth-delay product"
            ));
        }
    }
    Ok(chain)
}

/// The window after the rate window of `before` sessions has limited it.
pub(super) fn limited(params: &Params, before: u32, window: f64) -> f64 {
    match params.protocol {
        Protocol::Ratcp => window.min(params.rate_window(before)),
        Protocol::Tcp => window,
    }
}

impl Search<'_> {
    /// The number of a state.
    fn number(&mut self, state: State) -> u32 {
        let next = self.found.len() as u32;
        let number = *self.numbers.entry(state).or_insert(next);
        if number == next {
            self.found.push(state);
        }
        number
    }

    /// Adds the transition to an epoch.
    fn reach(&mut self, row: &mut Row, probability: f64, epoch: &Epoch) {
        let parts = epoch.progress * PARTS;
        let floor = libm::floor(parts + 1e-9);
        let up = if parts - floor > 1e-9 { parts - floor } else { 0.0 };
        let window = (limited(self.params, epoch.before, epoch.window) * 1e9).round() as u64;
        for (share, progress) in [(1.0 - up, floor), (up, floor + 1.0)] {
            if share > 0.0 {
                let to = self.number(State::Avoidance {
                    before: epoch.before,
                    window,
                    queue: epoch.queue,
                    flight: epoch.flight,
                    progress: progress as u8,
                });
                *row.entry(to).or_default() += probability * share;
            }
        }
    }

    /// An interval of congestion avoidance.
    fn avoidance(&mut self, epoch: &Epoch, row: &mut Row) -> Cycle {
        let sessions = self.sessions;
        let mut cycle =
            Cycle { reward: f64::from(epoch.flight), window: Some(epoch.window), ..Cycle::default() };
        for (now, p) in sessions.next(epoch.before) {
            let law = interval::avoidance(self.params, epoch, now);
            for end in &law.ends {
                cycle.length += p * end.probability;
                let (window, queue, flight, progress) = (end.window, end.queue, end.flight, end.progress);
                self.reach(row, p * end.probability, &Epoch { before: now, window, queue, flight, progress });
            }
            for lost in &law.losses {
                cycle.reward += p * lost.probability * f64::from(ahead(self.params, lost.served));
                let ssthresh = match (self.params.protocol, self.params.readings.halved) {
                    (Protocol::Ratcp, _) => 0,
                    (Protocol::Tcp, Halved::Loss) => half(lost.window) as u32,
                    (Protocol::Tcp, Halved::Epoch) => half(epoch.window) as u32,
                };
                let to = self.number(State::Loss { before: now, ssthresh });
                *row.entry(to).or_default() += p * lost.probability;
            }
            cycle.states += 1;
        }
        cycle
    }

    /// The timeout and the recovery from a loss between t_k and t_{k+1} with N_k = `before`; `halved` is TCP's threshold.
    fn loss(&mut self, before: u32, halved: f64, row: &mut Row) -> Cycle {
        let sessions = self.sessions;
        // By threshold and by the sessions at the beginning of slow start: the recovery depends only on these.
        let mut starts: BTreeMap<(u64, u32), f64> = BTreeMap::new();
        for (first, p_first) in sessions.next(before) {
            for (second, p_second) in sessions.next(first) {
                let ssthresh = match (self.params.protocol, self.params.readings.threshold) {
                    (Protocol::Tcp, _) => halved,
                    (Protocol::Ratcp, Threshold::Timeout) => self.params.rate_window(first),
                    (Protocol::Ratcp, Threshold::Recovery) => self.params.rate_window(second),
                };
                for (third, p_third) in sessions.next(second) {
                    *starts.entry((ssthresh.to_bits(), third)).or_default() += p_first * p_second * p_third;
                }
            }
        }
        let mut cycle = Cycle { losses: 1.0, ..Cycle::default() };
        for ((ssthresh, frozen), probability) in starts {
            let recovered = recovery(self.params, frozen, f64::from_bits(ssthresh));
            cycle.length += probability * f64::from(TIMEOUT + recovered.intervals);
            cycle.reward += probability * f64::from(recovered.delivered);
            cycle.losses += probability * f64::from(recovered.losses);
            let law = sessions.after(frozen, recovered.intervals - 1);
            for (last, p) in law.into_iter().enumerate().filter(|(_, p)| *p > 0.0) {
                self.reach(row, probability * p, &Epoch { before: last as u32, ..recovered.epoch });
            }
        }
        cycle
    }
}
