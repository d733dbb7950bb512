// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states of BBR, their gains, and the transitions between them.

use super::State;
use crate::cc::delivery::Sample;
use crate::rng::Rng;
use crate::units::Time;

/// Phases of ProbeBW.
const CYCLE: u64 = 8;
/// The pipe counts as full after this many rounds in which the rate grew by less than [`GROWTH`].
const FULL_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;

/// The state of BBR's machine. ProbeBW has the phase of its cycle and when that began; ProbeRTT has the end of the
/// time for which the window stays small, once it is small, and whether a round has passed since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw { phase: u64, since: Time },
    ProbeRtt { until: Option<Time>, round: bool },
}

impl State {
    pub(super) fn filled(&self) -> bool {
        self.full_rounds >= FULL_ROUNDS
    }

    /// p.
    pub(super) fn gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => self.params.startup_gain,
            Mode::Drain => 1.0 / self.params.startup_gain,
            Mode::ProbeBw { phase: 0, .. } if !self.policed() => self.params.probe_gain,
            Mode::ProbeBw { phase: 1, .. } if !self.policed() => 2.0 - self.params.probe_gain,
            Mode::ProbeBw { .. } | Mode::ProbeRtt { .. } => 1.0,
        }
    }

    pub(super) fn turn_cycle(&mut self, now: Time, before: f64, lost: bool) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let whole = now.since(since) > self.rtt;
        let then = || self.in_network(before, now);
        let over = match phase {
            0 if !self.policed() => {
                whole && (lost || then() + self.params.probe_slack >= self.target(self.params.probe_gain))
            }
            1 if !self.policed() => whole || then() <= self.target(1.0),
            _ => whole,
        };
        if over {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE, since: now };
        }
    }

    pub(super) fn judge_pipe(&mut self, sample: &Sample) {
        if self.filled() || !sample.round || sample.limited {
            return;
        }
        if self.rate >= GROWTH * self.full_rate {
            self.full_rate = self.rate;
            self.full_rounds = 0;
        } else {
            self.full_rounds += 1;
        }
    }

    pub(super) fn probe_bandwidth(&mut self, now: Time, rng: &mut Rng) {
        let phase = (CYCLE - rng.below(CYCLE - 1)) % CYCLE;
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    pub(super) fn drain(&mut self, now: Time, rng: &mut Rng) {
        if self.mode == Mode::Startup && self.filled() {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_network(self.in_flight, now) <= self.target(1.0) {
            self.probe_bandwidth(now, rng);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::tests::fresh;
    use super::*;

    #[test]
    fn startup_ends_after_three_rounds_without_a_quarter_more() {
        let mut state = *fresh().0;
        let mut after = |rate: f64| {
            state.rate = rate;
            state.judge_pipe(&Sample { round: true, ..Sample::default() });
            state.filled()
        };
        assert!(!after(100.0) && !after(124.0) && !after(124.0) && !after(125.0) && !after(150.0));
        assert!(!after(150.0) && after(150.0));
    }

    #[test]
    fn the_cycle_has_eight_gains_and_begins_with_any_but_the_second() {
        let mut state = *fresh().0;
        let gains: Vec<f64> = (0..CYCLE)
            .map(|phase| {
                state.mode = Mode::ProbeBw { phase, since: Time::ZERO };
                state.gain()
            })
            .collect();
        assert_eq!(gains, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let mut rng = Rng::stream(1, "cycle", 0);
        let mut begun = alloc::collections::BTreeSet::new();
        for _ in 0..700 {
            state.probe_bandwidth(Time::ZERO, &mut rng);
            begun.insert((state.gain() * 100.0) as u64);
        }
        assert_eq!(begun.into_iter().collect::<Vec<_>>(), [100, 125]);
    }
}
