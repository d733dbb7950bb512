// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states of BBRv3, their limits, and the transitions between them.
//!
//! draft-ietf-ccwg-bbr-06 §5.3, §5.5.10, and the table of §5.6.1.

use super::{STARTUP_GAIN, State};
use crate::cc::Ack;
use crate::cc::delivery::Sample;
use crate::rng::Rng;
use crate::units::{Span, Time};

/// Lost packets in a round that Startup heeds.
const STARTUP_LOSSES: f64 = 6.0;
/// Rounds that Drain lasts at most.
const DRAIN_ROUNDS: u64 = 3;
/// The time for which the window is kept small to measure the smallest round-trip time.
const PROBE_RTT: Span = Span::from_millis(200);

/// The state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Startup,
    /// The round in which it began.
    Drain(u64),
    Down,
    Cruise,
    Refill,
    Up,
    /// The time at which the window was small for long enough, once it is small; and whether a round has passed since.
    ProbeRtt(Option<Time>, bool),
}

impl Mode {
    /// Its number in series, in the order of the table: Startup is 0, ProbeRTT 6.
    pub fn number(self) -> f64 {
        match self {
            Mode::Startup => 0.0,
            Mode::Drain(_) => 1.0,
            Mode::Down => 2.0,
            Mode::Cruise => 3.0,
            Mode::Refill => 4.0,
            Mode::Up => 5.0,
            Mode::ProbeRtt(..) => 6.0,
        }
    }
}

impl State {
    /// Sending begins again with nothing in flight: idleness drained the queue, as ProbeRTT would have.
    pub(super) fn resume(&mut self, now: Time) {
        self.resumed = true;
        self.aggregation.begin(now);
        match self.mode {
            Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up => self.pace_at(1.0),
            // Long enough with a small window: the next acknowledgement ends it.
            Mode::ProbeRtt(Some(end), _) if now > end => {
                self.mode = Mode::ProbeRtt(Some(end), true);
                self.window = self.window.max(self.prior_window);
            }
            _ => {}
        }
    }

    /// p and c.
    pub(super) fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, 2.0),
            Mode::Drain(_) => (0.5, 2.0),
            Mode::Down => (0.9, 2.0),
            Mode::Cruise | Mode::Refill => (1.0, 2.0),
            Mode::Up => (self.params.probe_gain, self.params.probe_gain + 1.0),
            Mode::ProbeRtt(..) => (1.0, 0.5),
        }
    }

    /// The greatest flight that the state allows.
    pub(super) fn cap(&self) -> f64 {
        let lasting = match self.mode {
            Mode::Startup => return f64::INFINITY,
            Mode::Cruise | Mode::ProbeRtt(..) => self.bounds.with_headroom(self.params.headroom),
            Mode::Drain(_) | Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_hi,
        };
        lasting.min(self.bounds.inflight_lo).max(self.params.min_window)
    }

    fn too_many_lost(&self, sample: &Sample) -> bool {
        sample.lost_since > self.params.loss_threshold * sample.sent_among
    }

    /// Whether I_hi is the limit on sending.
    fn hits_bound(&self) -> bool {
        self.window >= self.bounds.inflight_hi && self.before + 1.0 > self.window
    }

    /// Losses passed the threshold: the flight was too large.
    fn heed_probe(&mut self, safe: f64, sample: &Sample, now: Time, rng: &mut Rng) {
        self.too_high = true;
        self.probe_sample = false;
        if !sample.limited {
            self.bounds.inflight_hi = safe.max(self.target(1.0).min(self.window) * self.params.beta);
        }
        if self.mode == Mode::Up {
            self.undo.ended = Some(Mode::Up);
            self.go_down(now, rng);
        }
    }

    pub(super) fn note_losses(&mut self, sample: &Sample, now: Time, rng: &mut Rng) {
        let marked = core::mem::take(&mut self.marked);
        if sample.lost == 0.0 && !marked {
            return;
        }
        self.model.lose(sample.lost.max(f64::from(marked)));
        if marked && self.mode == Mode::Startup {
            self.fill();
        }
        if self.probe_sample && (marked || self.too_many_lost(sample)) {
            let threshold = self.params.loss_threshold;
            let (flight, lost) = (sample.sent_among - sample.lost, sample.lost_since - sample.lost);
            let safe = flight + (threshold * flight - lost) / (1.0 - threshold);
            self.heed_probe(safe.max(1.0), sample, now, rng);
        }
    }

    /// Losses or marks say that the pipe is full.
    fn fill(&mut self) {
        self.filled = true;
        self.bounds.inflight_hi = self.target(1.0).max(self.model.latest.1);
    }

    pub(super) fn leave_startup(&mut self, sample: &Sample, ended: bool) {
        let repaired = self.repair.is_some_and(|(_, round)| self.model.delivery.rounds() > round);
        let losses = self.model.lost >= STARTUP_LOSSES && self.too_many_lost(sample);
        if self.mode == Mode::Startup && ended && repaired && losses {
            self.undo.ended = Some(Mode::Startup);
            self.fill();
        }
        if self.mode == Mode::Startup && self.filled {
            self.mode = Mode::Drain(self.model.delivery.rounds());
        }
    }

    pub(super) fn leave_drain(&mut self, now: Time, rng: &mut Rng) {
        let Mode::Drain(began) = self.mode else { return };
        if self.in_flight <= self.target(1.0) || self.model.delivery.rounds() > began + DRAIN_ROUNDS {
            self.go_down(now, rng);
        }
    }

    fn go_down(&mut self, now: Time, rng: &mut Rng) {
        self.model.begin_round(&Sample::default());
        self.wait_round = self.model.delivery.rounds().saturating_sub(rng.below(2));
        self.wait = self.params.probe_wait + Span::from_secs_f64(rng.uniform());
        self.cycle = now;
        self.probe_ends = true;
        self.model.delivery.begin_round();
        self.mode = Mode::Down;
    }

    pub(super) fn refill(&mut self) {
        self.bounds.forget();
        self.bounds.calm();
        self.stopped_early = false;
        self.probe_ends = false;
        self.model.delivery.begin_round();
        self.mode = Mode::Refill;
    }

    fn go_up(&mut self, sample: &Sample) {
        self.probe_sample = true;
        self.model.delivery.begin_round();
        self.model.watch_growth(sample.rate.unwrap_or(0.0));
        self.mode = Mode::Up;
        self.bounds.steepen(self.window);
    }

    /// Follows the outcome of a probe; returns whether it determined the next phase.
    fn adapt_long_term(&mut self, sample: &Sample) -> bool {
        if sample.round && self.probe_ends {
            (self.probe_sample, self.probe_ends) = (false, false);
            if matches!(self.mode, Mode::Down | Mode::Cruise | Mode::Refill | Mode::Up) {
                if !sample.limited {
                    self.model.forget_cycle();
                }
                if self.stopped_early && !self.too_high {
                    self.refill();
                    return true;
                }
            }
        }
        if self.bounds.inflight_hi.is_finite() && sample.prior.is_some() && !self.too_many_lost(sample) {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(sample.sent_among);
            if self.mode == Mode::Up && self.hits_bound() {
                self.bounds.grow(sample.newly);
                if sample.round {
                    self.bounds.steepen(self.window);
                }
            }
        }
        false
    }

    pub(super) fn turn_cycle(&mut self, sample: &Sample, now: Time, rng: &mut Rng) {
        if !self.filled || self.adapt_long_term(sample) {
            return;
        }
        match self.mode {
            Mode::Down | Mode::Cruise if self.time_to_probe(now) => self.refill(),
            Mode::Down if self.drained() => self.mode = Mode::Cruise,
            Mode::Refill if sample.round => self.go_up(sample),
            Mode::Up => self.leave_up(sample, now, rng),
            _ => {}
        }
    }

    fn drained(&self) -> bool {
        let spared = self.bounds.with_headroom(self.params.headroom).max(self.params.min_window);
        self.in_flight <= spared.min(self.target(1.0))
    }

    fn time_to_probe(&self, now: Time) -> bool {
        let rounds = self.target(1.0).min(self.window).min(self.params.probe_rounds);
        now.since(self.cycle) > self.wait || (self.model.delivery.rounds() - self.wait_round) as f64 >= rounds
    }

    fn leave_up(&mut self, sample: &Sample, now: Time, rng: &mut Rng) {
        if self.time_to_go_down(sample) {
            self.too_high = false;
            self.go_down(now, rng);
        }
    }

    fn time_to_go_down(&mut self, sample: &Sample) -> bool {
        if self.params.precautionary && self.too_high && self.before + 1.0 > self.bounds.inflight_hi {
            self.stopped_early = true;
            return true;
        }
        if self.hits_bound() {
            // The bound limits the rate.
            self.model.watch_growth(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.model.full()
    }

    pub(super) fn probe_rtt(&mut self, ack: &Ack, sample: &Sample, expired: bool, rng: &mut Rng) {
        let resumed = core::mem::take(&mut self.resumed);
        if expired && !resumed && !matches!(self.mode, Mode::ProbeRtt(..)) {
            self.save_window();
            self.mode = Mode::ProbeRtt(None, false);
            self.probe_ends = true;
            self.model.delivery.begin_round();
        }
        let Mode::ProbeRtt(until, round) = self.mode else { return };
        // At so small a window the delivery rate does not show the path's rate.
        self.model.delivery.limit(ack.in_flight);
        let Some(end) = until else {
            if self.in_flight <= self.target(0.5) {
                self.mode = Mode::ProbeRtt(Some(ack.now + PROBE_RTT), round);
                self.model.delivery.begin_round();
            }
            return;
        };
        let round = round || sample.round;
        self.mode = Mode::ProbeRtt(until, round);
        if round && ack.now > end {
            self.model.recent_since = ack.now;
            self.window = self.window.max(self.prior_window);
            self.bounds.forget();
            if self.filled {
                self.go_down(ack.now, rng);
                self.mode = Mode::Cruise;
            } else {
                self.mode = Mode::Startup;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr3;
    use super::*;
    use crate::cc::{Controller, Start};

    #[test]
    fn every_state_has_the_gains_of_the_table() {
        let mut state = *Bbr3::new(Default::default(), Start::new(10.0)).0;
        let table = [
            (Mode::Startup, (2.77, 2.0)),
            (Mode::Drain(0), (0.5, 2.0)),
            (Mode::Down, (0.9, 2.0)),
            (Mode::Cruise, (1.0, 2.0)),
            (Mode::Refill, (1.0, 2.0)),
            (Mode::Up, (1.25, 2.25)),
            (Mode::ProbeRtt(None, false), (1.0, 0.5)),
        ];
        for (mode, gains) in table {
            state.mode = mode;
            assert_eq!(state.gains(), gains, "{mode:?}");
        }
    }
}
