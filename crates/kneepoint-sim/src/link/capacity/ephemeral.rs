// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ephemeral: sessions that arrive and leave at random take their fair shares of the link and no buffer.
//!
//! A. Karnik and A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM Transactions on
//! Networking 13(1), 2005, sections III.A and V.A.
//!
//! ```text
//! packets have   C p / (N + p)              N → N + 1   at the rate λ, if N < N_max
//! a session has  C / (N + p)                N → N − 1   at the rate N ν C / (N + p)
//! ```
//!
//! With an epoch Δ, N changes only at its multiples, by the chain of the paper: at most one session arrives, with probability λ Δ,
//! and each of the n in progress leaves with probability
//!
//! ```text
//! q_n = 1 − exp(−ν C Δ / (n + p))
//! ```
//!
//! `C` the link's rate, bit/s; `N` sessions, none at first; `p` persistent flows; `λ` arrivals, 1/s; `1/ν` mean size of a session, bits;
//! `N_max` greatest number of sessions. Sizes are exponential.
//!
//! Readings: C and the sizes of sessions count the bits of whole packets, headers included. A session that arrives when there are N_max is
//! turned away; if one of them leaves at the same epoch, it is admitted. Without an epoch, arrivals are Poisson and sessions leave when
//! they are complete, the process that the paper's chain approximates; sizes without memory make N the process above.
//!
//! Departures: the paper has one persistent flow, p = 1. The capacity is rounded down to whole bit/s. A packet in transmission when N
//! changes continues at the new rate; in the paper's analysis none is in transmission at an epoch.

use std::borrow::Cow;

use super::transmitter::Transmitter;
use super::{Capacity, Facts, GREATEST};
use crate::rng::Rng;
use crate::settings::{Or, Without};
use crate::units::{Bytes, Interval, Span, Time};

crate::settings! {
    /// A capacity shared with ephemeral sessions. The link's `rate` is the capacity without them.
    pub struct Params {
        /// Mean number of sessions that arrive in a second.
        arrivals: f64 = 0.1, 0.0..=1000.0;
        /// The mean size of a session, with headers.
        session: Bytes = Bytes(100_000), Bytes(1)..=Bytes(1_000_000_000);
        /// The number of flows that send packets, each with the share of a session.
        persistent: u32 = 1, 1..=1_000_000;
        /// The greatest number of sessions in progress.
        max_sessions: u32 = 10, 0..=10_000;
        /// The interval at whose multiples sessions arrive and leave; without one they arrive and leave at any time.
        epoch: Or<Span, Without> = Or::WORD, Or::is(Span::from_millis(1))..=Or::is(Span::from_secs(1000));
    } check |params| {
        match params.epoch.get() {
            Some(epoch) if params.arrivals * epoch.as_secs_f64() > 1.0 => Err(format!(
                "epoch, {epoch}, has more than one arrival on average at {} arrivals per second: shorten it",
                params.arrivals
            )),
            _ => Ok(()),
        }
    }
}

/// The number of sessions from an instant on.
#[derive(Clone, Copy, Debug)]
struct Stage {
    at: u64,
    sessions: u32,
    /// Bit-nanoseconds that the link carries before it.
    carried: u128,
}

/// The number of sessions over time, known until `next` and continued as needed.
#[derive(Clone, Debug)]
struct Path {
    params: Params,
    /// The link's rate.
    rate: u64,
    rng: Rng,
    /// In order, the first at zero.
    stages: Vec<Stage>,
    /// The next instant at which sessions may arrive or leave.
    next: u64,
}

impl Path {
    fn new(params: Params, facts: Facts) -> Path {
        let rate = facts.rate.unwrap_or(GREATEST).0;
        let stages = vec![Stage { at: 0, sessions: 0, carried: 0 }];
        let mut path = Path { params, rate, rng: facts.rng, stages, next: 0 };
        path.next = path.change_after(0, 0);
        path
    }

    /// The number of mean sessions that fit into a session's capacity of one second.
    fn departures(&self, sessions: u32) -> f64 {
        let share = self.rate as f64 / (f64::from(sessions) + f64::from(self.params.persistent));
        share / (8.0 * self.params.session.0 as f64)
    }

    fn arrivals(&self, sessions: u32) -> f64 {
        if sessions < self.params.max_sessions { self.params.arrivals } else { 0.0 }
    }

    /// The next time at which the number of sessions may change.
    fn change_after(&mut self, now: u64, sessions: u32) -> u64 {
        let wait = match self.params.epoch.get() {
            Some(epoch) => *epoch,
            None => {
                let changes = self.arrivals(sessions) + f64::from(sessions) * self.departures(sessions);
                if changes == 0.0 {
                    Span::MAX
                } else {
                    Span::from_secs_f64(self.rng.exponential(1.0 / changes))
                }
            }
        };
        now.saturating_add(wait.0)
    }

    /// The number of sessions after the next instant at which it may change.
    fn change(&mut self, sessions: u32) -> u32 {
        let Some(epoch) = self.params.epoch.get().map(|epoch| epoch.as_secs_f64()) else {
            let arrivals = self.arrivals(sessions);
            let departures = f64::from(sessions) * self.departures(sessions);
            let arrived = self.rng.chance(arrivals / (arrivals + departures));
            return if arrived { sessions + 1 } else { sessions - 1 };
        };
        let leaves = -libm::expm1(-epoch * self.departures(sessions));
        let arrived = self.rng.chance(epoch * self.params.arrivals);
        let staying = (0..sessions).filter(|_| !self.rng.chance(leaves)).count() as u32;
        (staying + u32::from(arrived)).min(self.params.max_sessions)
    }

    /// Continues the path beyond an instant.
    fn reach(&mut self, to: u64) {
        while self.next <= to && self.next < u64::MAX {
            let Stage { sessions, .. } = *self.stage(self.next);
            let changed = self.change(sessions);
            if changed != sessions {
                let carried = self.carried(self.next);
                self.stages.push(Stage { at: self.next, sessions: changed, carried });
            }
            self.next = self.change_after(self.next, changed);
        }
    }

    /// The stage at an instant that the path has reached.
    fn stage(&self, at: u64) -> &Stage {
        &self.stages[self.stages.partition_point(|stage| stage.at <= at) - 1]
    }

    /// The capacity for packets, bit/s.
    fn rate(&self, sessions: u32) -> u64 {
        let persistent = u64::from(self.params.persistent);
        let flows = persistent + u64::from(sessions);
        // A link that cannot give each flow one bit per second still works.
        ((u128::from(self.rate) * u128::from(persistent) / u128::from(flows)) as u64).max(1)
    }

    /// The rate at an instant, and an instant until which it holds.
    fn rate_at(&mut self, at: u64) -> (u64, u64) {
        self.reach(at);
        let place = self.stages.partition_point(|stage| stage.at <= at);
        let until = self.stages.get(place).map_or(self.next, |stage| stage.at);
        (self.rate(self.stages[place - 1].sessions), until)
    }

    /// Bit-nanoseconds before an instant that the path has reached.
    fn carried(&self, to: u64) -> u128 {
        let stage = self.stage(to);
        stage.carried + u128::from(self.rate(stage.sessions)) * u128::from(to - stage.at)
    }
}

/// A link shared with ephemeral sessions.
#[derive(Clone, Debug)]
pub struct Ephemeral {
    path: Path,
    transmitter: Transmitter,
}

impl Capacity for Ephemeral {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Ephemeral {
        Ephemeral { path: Path::new(params, facts), transmitter: Transmitter::default() }
    }

    fn ready(&mut self, now: Time) -> Time {
        self.path.reach(now.0);
        now
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        self.transmitter.send(at, size, |now| self.path.rate_at(now))
    }

    fn bits(&self, window: Interval) -> f64 {
        let mut path = Cow::Borrowed(&self.path);
        if path.next <= window.to.0 {
            path.to_mut().reach(window.to.0);
        }
        (path.carried(window.to.0) - path.carried(window.from.0)) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::units::Rate;

    /// The paper's link, as far as its numbers are known, with 100 packets of 1000 bytes a session.
    const RATE: Rate = Rate(800_000);

    fn params(arrivals: f64, max_sessions: u32) -> Params {
        Params { arrivals, max_sessions, ..Params::default() }
    }

    fn path(params: Params, seed: u64) -> Path {
        Path::new(params, Facts::new(Some(RATE), seed, 0))
    }

    fn secs(secs: u64) -> u64 {
        secs * 1_000_000_000
    }

    /// Mean of independent values, and its standard error.
    fn estimate(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
        (mean, (square / (count - 1.0) / count).sqrt())
    }

    /// The stationary law of births at λ and deaths at N ν C / (N + p).
    fn stationary(params: &Params) -> Vec<f64> {
        let persistent = f64::from(params.persistent);
        let whole = RATE.as_f64() / (8.0 * params.session.0 as f64);
        let mut law = vec![1.0];
        for n in 1..=params.max_sessions {
            let n = f64::from(n);
            law.push(law[law.len() - 1] * params.arrivals / (whole * n / (n + persistent)));
        }
        let sum: f64 = law.iter().sum();
        law.iter().map(|weight| weight / sum).collect()
    }

    #[test]
    fn the_number_of_sessions_has_the_stationary_law_of_births_and_deaths() {
        for params in [params(0.5, 10), params(2.0, 10), Params { persistent: 4, ..params(0.8, 6) }] {
            let (from, to) = (secs(200), secs(5200));
            let mut shares = vec![Vec::new(); params.max_sessions as usize + 1];
            let mut rates = Vec::new();
            for seed in 0..40 {
                let mut path = path(params.clone(), seed);
                path.reach(to);
                let mut share = vec![0.0; shares.len()];
                let ends = path.stages.iter().skip(1).map(|stage| stage.at).chain([to]);
                for (stage, end) in path.stages.iter().zip(ends) {
                    let held = end.min(to).saturating_sub(stage.at.max(from));
                    share[stage.sessions as usize] += held as f64 / (to - from) as f64;
                }
                shares.iter_mut().zip(share).for_each(|(all, one)| all.push(one));
                rates.push((path.carried(to) - path.carried(from)) as f64 / (to - from) as f64);
            }
            let law = stationary(&params);
            let fair = |n: usize| {
                RATE.as_f64() * f64::from(params.persistent) / (n as f64 + f64::from(params.persistent))
            };
            let mean_rate: f64 = law.iter().enumerate().map(|(n, weight)| weight * fair(n)).sum();
            for (n, (values, expected)) in shares.iter().zip(&law).enumerate() {
                let (mean, error) = estimate(values);
                assert!((mean - expected).abs() < 3.5 * error + 1e-4, "{n}: {mean} ± {error}, {expected}");
                assert!(error < 0.01);
            }
            let (mean, error) = estimate(&rates);
            assert!((mean - mean_rate).abs() < 3.5 * error, "{mean} ± {error}, {mean_rate}");
            assert!(error < 0.01 * mean_rate);
        }
    }

    /// P(n, m) of the paper: one arrival with probability p, binomial departures; the last state takes what would exceed it.
    fn transition(params: &Params, n: u32, m: u32) -> f64 {
        let epoch = params.epoch.get().unwrap().as_secs_f64();
        let arrival = params.arrivals * epoch;
        let packets = RATE.as_f64() * epoch / (8.0 * params.session.0 as f64);
        let leaves = 1.0 - libm::exp(-packets / f64::from(n + params.persistent));
        let binomial = |k: u32| {
            let ways: f64 = (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product();
            ways * libm::pow(leaves, f64::from(k)) * libm::pow(1.0 - leaves, f64::from(n - k))
        };
        let unbounded = |after: u32| {
            let with = if (1..=n + 1).contains(&after) { arrival * binomial(n + 1 - after) } else { 0.0 };
            with + if after <= n { (1.0 - arrival) * binomial(n - after) } else { 0.0 }
        };
        unbounded(m) + if m == params.max_sessions { unbounded(m + 1) } else { 0.0 }
    }

    #[test]
    fn with_an_epoch_steps_have_the_probabilities_of_the_chain() {
        let epoch = Or::is(Span::from_millis(200));
        let params = Params { epoch, ..params(0.8, 4) };
        let mut path = path(params.clone(), 1);
        let steps = 200_000;
        let at = |step: u64| step * 200_000_000;
        path.reach(at(steps));
        assert!(path.stages.iter().all(|stage| stage.at.is_multiple_of(200_000_000)));
        let mut counts = [[0_u32; 5]; 5];
        for step in 0..steps {
            counts[path.stage(at(step)).sessions as usize][path.stage(at(step + 1)).sessions as usize] += 1;
        }
        for (n, row) in (0..).zip(&counts) {
            let visits = f64::from(row.iter().sum::<u32>());
            assert!(visits > 5_000.0, "{n}: {visits}");
            let law: Vec<f64> = (0..5).map(|m| transition(&params, n, m)).collect();
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for (m, (count, p)) in row.iter().zip(&law).enumerate() {
                let error = (p * (1.0 - p) / visits).sqrt();
                let frequency = f64::from(*count) / visits;
                assert!((frequency - p).abs() <= 3.5 * error, "{n} to {m}: {frequency}, {p} ± {error}");
            }
        }
    }

    #[test]
    fn an_epoch_as_short_as_a_packet_has_the_law_of_the_continuous_process() {
        let params = Params { epoch: Or::is(Span::from_millis(10)), ..params(0.5, 10) };
        let values: Vec<f64> = (0..40)
            .map(|seed| {
                let mut path = path(params.clone(), seed);
                path.reach(secs(2200));
                (path.carried(secs(2200)) - path.carried(secs(200))) as f64 / secs(2000) as f64
            })
            .collect();
        let law = stationary(&params);
        let expected: f64 =
            (1..).zip(&law).map(|(flows, weight)| weight * RATE.as_f64() / f64::from(flows)).sum();
        let (mean, error) = estimate(&values);
        assert!(
            (mean - expected).abs() < 3.5 * error && error < 0.02 * expected,
            "{mean} ± {error}, {expected}"
        );
    }

    #[test]
    fn a_packet_continues_at_the_rate_of_the_changed_number_of_sessions() {
        let mut link = Ephemeral::new(params(0.5, 10), Facts::new(Some(RATE), 1, 0));
        link.path.reach(secs(1000));
        let [first, second, ..] = link.path.stages[1..] else { panic!("too few arrivals") };
        assert_eq!((first.sessions, first.carried), (1, 800_000 * u128::from(first.at)));
        assert!(second.at - first.at > 20_000_000, "let the seed give two sessions in turn");
        // 1000 bytes take 10 ms alone: 5 ms of them before the session arrives, and twice the rest after.
        let (start, end) = link.send(Time(first.at - 5_000_000), 1000);
        assert_eq!((start.0, end.0), (first.at - 5_000_000, first.at + 10_000_000));
    }

    #[test]
    fn a_link_without_arrivals_has_its_rate() {
        for epoch in [Or::WORD, Or::is(Span::from_millis(200))] {
            let mut link = Ephemeral::new(Params { epoch, ..params(0.0, 10) }, Facts::new(Some(RATE), 1, 0));
            let window = Interval { from: Time(secs(3)), to: Time(secs(1003)) };
            assert_eq!(link.bits(window), 8e8);
            assert_eq!(link.send(Time(secs(5)), 1000), (Time(secs(5)), Time(secs(5) + 10_000_000)));
        }
    }

    #[test]
    fn a_probability_of_arrival_above_one_is_refused() {
        let epoch = Or::is(Span::from_secs(1));
        assert!(Params { epoch: epoch.clone(), ..params(1.0, 10) }.check().is_ok());
        assert!(Params { epoch, ..params(1.5, 10) }.check().unwrap_err().contains("shorten"));
    }
}
