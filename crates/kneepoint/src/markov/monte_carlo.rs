// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The same process by Monte Carlo: sessions one by one, the growth at each acknowledgement, each packet's departure.
//!
//! ```text
//! departure of a packet = max(arrival, departure of the one before) + 1/c,   c = μΔ/(N_k+1) packets per interval
//! throughput ≈ Σ V / (Σ U Δ),  efficiency ≈ Σ V / Σ c
//! ```
//!
//! It shares the parameters and slow start's mini-cycles with the solution, and nothing of the transition law, which it can therefore
//! contradict. Confidence intervals are computed from ratios of equal batches of cycles.

use std::collections::VecDeque;

use super::chain::{PARTS, limited};
use super::interval::Epoch;
use super::params::{
    AckInstant, AckSpacing, Blocking, Halved, Params, Protocol, Rounding, Service, SlowStart, Threshold,
};
use super::sessions::{arrival, departure};
use super::slow_start::{Attempt, Loss, TIMEOUT, ahead, half, recovery, repeat};
use super::{Estimate, Rng, Sampled};

/// Batches for the confidence intervals.
const BATCHES: u64 = 50;

/// Sums over cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// In intervals.
    time: f64,
    packets: f64,
    losses: f64,
    /// Packets of the fair rate.
    fair: f64,
}

/// The process, between two cycles.
struct Process<'a> {
    params: &'a Params,
    rng: Rng,
    at: Epoch,
    tally: Tally,
}

/// A loss: the window then, and the packets served since the epoch.
type Interval = Result<Epoch, Loss>;

/// The process over about `cycles` intervals and recoveries.
pub(super) fn simulate(params: &Params, cycles: u64, rng: Rng) -> Sampled {
    let at = Epoch { before: 0, window: 1.0, queue: 1, flight: 0, progress: 0.0 };
    let mut process = Process { params, rng, at, tally: Tally::default() };
    let each = cycles.div_ceil(BATCHES);
    // A batch to forget the start.
    let batches: Vec<Tally> = (0..=BATCHES).map(|_| process.batch(each)).skip(1).collect();
    let estimate =
        |ratio: &dyn Fn(&Tally) -> f64| Estimate::of(&batches.iter().map(ratio).collect::<Vec<_>>());
    let delay = params.delay.as_secs_f64();
    Sampled {
        throughput: estimate(&|sum| sum.packets / (sum.time * delay)),
        efficiency: estimate(&|sum| sum.packets / sum.fair),
        losses: estimate(&|sum| sum.losses / (sum.time * delay)),
    }
}

impl Process<'_> {
    fn batch(&mut self, cycles: u64) -> Tally {
        self.tally = Tally::default();
        (0..cycles).for_each(|_| self.cycle());
        self.tally
    }

    /// The sessions of the interval that begins, after `n` in the last.
    fn sessions(&mut self, n: u32) -> u32 {
        let q = departure(self.params, n);
        let departed = (0..n).filter(|_| self.rng.chance(q)).count() as u32;
        let arrives = self.rng.chance(arrival(self.params));
        let most = self.params.max_sessions;
        let refused = self.params.readings.blocking == Blocking::BeforeDepartures && n == most;
        let next = (n - departed + u32::from(arrives && !refused)).min(most);
        self.tally.time += 1.0;
        self.tally.fair += self.params.share(next);
        next
    }

    fn cycle(&mut self) {
        let at = self.at;
        let now = self.sessions(at.before);
        self.tally.packets += f64::from(at.flight);
        match self.interval(&at, now, &|_| 1.0 / at.window) {
            Ok(next) => self.at = next,
            Err(loss) => {
                self.tally.packets += f64::from(ahead(self.params, loss.served));
                self.tally.losses += 1.0;
                self.recover(
                    now,
                    if self.params.readings.halved == Halved::Loss { loss.window } else { at.window },
                );
            }
        }
        self.at.window = limited(self.params, self.at.before, self.at.window);
    }

    /// The timeout and slow start after a loss at `window` in an interval with `now` sessions.
    fn recover(&mut self, now: u32, window: f64) {
        const { assert!(TIMEOUT == 3) }
        let first = self.sessions(now);
        let second = self.sessions(first);
        let frozen = self.sessions(second);
        let ssthresh = match (self.params.protocol, self.params.readings.threshold) {
            (Protocol::Tcp, _) => half(window),
            (Protocol::Ratcp, Threshold::Timeout) => self.params.rate_window(first),
            (Protocol::Ratcp, Threshold::Recovery) => self.params.rate_window(second),
        };
        let recovered = match self.params.readings.slow_start {
            SlowStart::Packets => repeat(self.params, ssthresh, |ssthresh| self.slow_start(frozen, ssthresh)),
            SlowStart::MiniCycles | SlowStart::LongMiniCycles => recovery(self.params, frozen, ssthresh),
        };
        self.tally.packets += f64::from(recovered.delivered);
        self.tally.losses += f64::from(recovered.losses);
        let last = (1..recovered.intervals).fold(frozen, |sessions, _| self.sessions(sessions));
        self.at = Epoch { before: last, progress: self.rounded(recovered.epoch.progress), ..recovered.epoch };
    }

    fn slow_start(&mut self, sessions: u32, ssthresh: f64) -> Attempt {
        let mut at = Epoch { before: sessions, window: 1.0, queue: 1, flight: 0, progress: 0.0 };
        let mut acknowledged = 0;
        let mut intervals = 0;
        loop {
            let next = self.interval(&at, sessions, &|window| if window < ssthresh { 1.0 } else { 0.0 });
            acknowledged += at.flight;
            match next {
                Err(loss) => {
                    let sent = acknowledged + loss.served + self.params.buffer;
                    return Attempt { intervals, sent, acknowledged, result: Err(loss) };
                }
                Ok(next) => at = next,
            }
            intervals += 1;
            if at.window >= ssthresh {
                return Attempt {
                    intervals,
                    sent: acknowledged + at.queue + at.flight,
                    acknowledged,
                    result: Ok(at),
                };
            }
        }
    }

    /// Progress in parts of a packet, at random with the same mean.
    fn rounded(&mut self, progress: f64) -> f64 {
        let parts = progress * PARTS;
        let up = self.rng.chance(parts - libm::floor(parts + 1e-9));
        (libm::floor(parts + 1e-9) + f64::from(u8::from(up))) / PARTS
    }

    /// An interval, packet by packet.
    fn interval(&mut self, at: &Epoch, now: u32, grows: &dyn Fn(f64) -> f64) -> Interval {
        let readings = &self.params.readings;
        let (service, buffer) = (1.0 / self.params.share(now), self.params.buffer as usize);
        let fraction = at.window + 1e-9 - libm::floor(at.window + 1e-9);
        let up = match readings.rounding {
            Rounding::Floor => false,
            Rounding::Mean => self.rng.chance(fraction),
            Rounding::Ceiling => fraction > 2e-9,
        };
        let allowed = (at.window + 1e-9) as u32 + u32::from(up);
        let mut outstanding = at.queue + at.flight;
        let mut departures: VecDeque<f64> =
            (1..=at.queue).map(|place| (f64::from(place) - at.progress) * service).collect();
        let (mut window, mut served) = (at.window, 0);
        let (slot, instant) = match (readings.ack_spacing, readings.ack_instant) {
            (AckSpacing::Even, instant) => (1.0 / f64::from(at.flight), instant),
            (AckSpacing::Link, instant) => {
                let slot = 1.0 / self.params.share(at.before);
                (if slot * f64::from(at.flight) > 1.0 { 1.0 / f64::from(at.flight) } else { slot }, instant)
            }
        };
        let part = match instant {
            AckInstant::Start => 0.0,
            AckInstant::Middle => 0.5,
            AckInstant::End => 1.0,
        };
        for ack in 0..=at.flight {
            // Before the first acknowledgement, packets that a rounded window left unsent.
            let (time, packets) = if ack == 0 {
                (0.0, allowed.saturating_sub(outstanding))
            } else if outstanding > allowed {
                outstanding -= 1;
                continue;
            } else {
                let more = self.rng.chance(grows(window));
                window += f64::from(u8::from(more));
                (slot * (f64::from(ack - 1) + part), 1 + u32::from(more))
            };
            for _ in 0..packets {
                while departures.front().is_some_and(|departure| *departure <= time + 1e-9) {
                    departures.pop_front();
                    served += 1;
                }
                if departures.len() >= buffer {
                    return Err(Loss { window, served });
                }
                let begin = departures.back().map_or(time, |last| last.max(time));
                departures.push_back(begin + service);
            }
            if ack == 0 {
                outstanding += packets;
            }
        }
        while departures.front().is_some_and(|departure| *departure <= 1.0 + 1e-9) {
            departures.pop_front();
            served += 1;
        }
        let progress = match departures.front() {
            Some(departure) if readings.service == Service::Carried => 1.0 - (departure - 1.0) / service,
            _ => 0.0,
        };
        let progress = self.rounded(progress.clamp(0.0, 1.0));
        Ok(Epoch { before: now, window, queue: departures.len() as u32, flight: served, progress })
    }
}
