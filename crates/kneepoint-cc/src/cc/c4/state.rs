// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states of C4, and the way from one to the next.
//!
//! draft-huitema-ccwg-c4-spec §3.2, §4, §5.6; equations in [`super`].

use super::super::Start;
use super::super::delivery::Delivery;
use super::Params;
use super::congestion::{self, Shares, Signal};

/// A push without a success before.
const GENTLE: f64 = 17.0 / 16.0;
/// What is added to it after a success.
const MORE: f64 = 3.0 / 16.0;
/// Packets before which a loss does not end the initial state.
const ENOUGH: u64 = 20;

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

/// Round trips of an era, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Era {
    pub least: f64,
    pub greatest: f64,
    /// The nominal rate when it began.
    rate: f64,
    /// The sender had nothing to send.
    pub limited: bool,
}

/// A flow.
#[derive(Clone, Debug)]
pub struct State {
    pub params: Params,
    pub initial_window: f64,
    pub delivery: Delivery,
    pub phase: Phase,
    /// N.
    pub rate: f64,
    /// X and m; zero before the first round trip.
    pub nominal: f64,
    pub running: f64,
    pub alpha: f64,
    /// Alpha of the era before.
    before: f64,
    pub era: Era,
    /// Eras in this phase, and the last ones without a greater rate.
    eras: u32,
    flat: u32,
    /// Successful pushes in a row, and alpha and N before the one that is judged.
    successes: u32,
    push: Option<(f64, f64)>,
    /// A signal in this recovery or at its beginning.
    pub congested: bool,
    /// Initial was begun again for high jitter.
    jittered: bool,
    pub shares: Shares,
}

impl Era {
    fn new(rate: f64) -> Era {
        Era { least: f64::INFINITY, greatest: 0.0, rate, limited: false }
    }
}

impl State {
    /// A fresh connection.
    pub fn new(params: Params, start: Start) -> State {
        State {
            params,
            initial_window: start.initial_window,
            delivery: Delivery::default(),
            phase: Phase::Initial,
            rate: 0.0,
            nominal: 0.0,
            running: f64::INFINITY,
            alpha: 2.0,
            before: 2.0,
            era: Era::new(0.0),
            eras: 0,
            flat: 0,
            successes: 0,
            push: None,
            congested: false,
            jittered: false,
            shares: Shares::default(),
        }
    }

    /// 1 - s.
    pub fn tolerance(&self) -> f64 {
        congestion::tolerance(self.rate * self.params.packet.0 as f64)
    }

    /// Answers a congestion signal.
    pub fn answer(&mut self, signal: Signal) {
        match self.phase {
            Phase::Initial => match signal {
                Signal::Delay(_) if self.flat < 2 => {}
                Signal::Loss if self.delivery.delivered() <= ENOUGH => {}
                _ => self.recover(true),
            },
            Phase::Recovery => self.congested = true,
            Phase::Cruising => {
                let share = match signal {
                    Signal::Loss => self.params.reduction,
                    Signal::Delay(excess) | Signal::Marks(excess) => excess.min(self.params.reduction),
                };
                self.rate *= 1.0 - share;
                self.recover(true);
            }
            Phase::Pushing => self.recover(true),
        }
    }

    fn recover(&mut self, congested: bool) {
        self.enter(Phase::Recovery, 15.0 / 16.0);
        self.congested = congested;
    }

    fn enter(&mut self, phase: Phase, alpha: f64) {
        self.phase = phase;
        self.before = self.alpha;
        self.alpha = alpha;
        (self.eras, self.flat) = (0, 0);
        self.era = Era::new(self.rate);
        self.delivery.begin_round();
    }

    /// An era ends.
    pub fn turn(&mut self) {
        let era = self.era;
        if self.before <= 1.0 && era.greatest > 0.0 {
            self.learn(era);
        }
        self.era = Era::new(self.rate);
        self.before = self.alpha;
        self.eras += 1;
        match self.phase {
            Phase::Initial => {
                if self.rate > era.rate {
                    self.flat = 0;
                } else if !era.limited {
                    self.flat += 1;
                }
                if self.flat >= self.params.patience {
                    self.recover(false);
                }
            }
            Phase::Recovery => self.resume(),
            Phase::Cruising if self.eras >= self.params.cruise && !era.limited => self.begin_push(),
            Phase::Cruising => {}
            Phase::Pushing => self.recover(false),
        }
    }

    /// Learns X and m from an era that was not pushed.
    fn learn(&mut self, era: Era) {
        let slowly = |old: f64, new: f64| (7.0 * old + new) / 8.0;
        self.running = if era.least < self.running { era.least } else { slowly(self.running, era.least) };
        if self.phase == Phase::Initial {
            return;
        }
        let greatest = era.greatest.min(self.running + self.params.max_jitter.as_secs_f64());
        self.nominal = if greatest > self.nominal { greatest } else { slowly(self.nominal, greatest) };
    }

    /// The end of a recovery.
    fn resume(&mut self) {
        let pushed = self.push.take();
        if let Some((alpha, rate)) = pushed {
            let wanted = if alpha <= GENTLE { 0.0 } else { 0.25 * (alpha - 1.0) };
            let succeeded = !self.congested && self.rate > rate * (1.0 + wanted);
            self.successes = if succeeded { self.successes + 1 } else { 0 };
        } else if self.congested {
            self.successes = 0;
        }
        self.shares.marked = 0.0;
        let jitter = !self.jittered && self.running < 0.4 * self.nominal;
        self.jittered |= jitter;
        if jitter || self.successes >= self.params.patience {
            self.successes = 0;
            self.enter(Phase::Initial, 2.0);
        } else {
            self.enter(Phase::Cruising, 1.0);
        }
    }

    fn begin_push(&mut self) {
        let calm = (1.0 - self.shares.marked / congestion::mark_threshold(self.tolerance())).max(0.0);
        let alpha = if self.successes > 0 { GENTLE + MORE * calm } else { GENTLE };
        self.push = Some((alpha, self.rate));
        self.enter(Phase::Pushing, alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// Cruising at 1000 packets of 1000 bytes a second with a nominal round trip of 100 ms.
    fn cruising() -> State {
        let mut state = State::new(Params::default(), Start::new(10.0));
        state.params.packet = Bytes(1000);
        (state.rate, state.nominal, state.running) = (1000.0, 0.1, 0.1);
        state.enter(Phase::Cruising, 1.0);
        state
    }

    #[test]
    fn while_cruising_a_signal_reduces_by_its_excess_up_to_a_quarter_and_else_by_nothing() {
        for (signal, left) in
            [(Signal::Delay(0.1), 900.0), (Signal::Marks(3.0), 750.0), (Signal::Loss, 750.0)]
        {
            let mut state = cruising();
            state.answer(signal);
            assert_eq!((state.rate, state.phase, state.congested), (left, Phase::Recovery, true));
            state.answer(signal);
            assert_eq!(state.rate, left, "once");
            let mut pushing = cruising();
            pushing.begin_push();
            pushing.answer(signal);
            assert_eq!((pushing.rate, pushing.phase), (1000.0, Phase::Recovery));
        }
    }

    #[test]
    fn the_nominal_round_trip_rises_at_once_and_falls_by_eighths() {
        let mut state = cruising();
        let era = |least: f64, greatest: f64| Era { least, greatest, rate: 1000.0, limited: false };
        state.learn(era(0.08, 0.14));
        assert_eq!((state.running, state.nominal), (0.08, 0.14));
        state.learn(era(0.16, 0.10));
        assert!((state.running - 0.09).abs() < 1e-12 && (state.nominal - 0.135).abs() < 1e-12);
        // No more than 250 ms above the running least.
        state.learn(era(0.09, 1.0));
        assert!((state.nominal - 0.34).abs() < 1e-12, "{}", state.nominal);
    }

    #[test]
    fn pushes_are_gentle_until_one_succeeds_and_three_successes_start_over() {
        let mut state = cruising();
        for (alpha, rate) in [(17.0 / 16.0, 1001.0), (1.25, 1001.0 * 1.07), (1.25, 1001.0 * 1.07 * 1.07)] {
            state.begin_push();
            assert!((state.alpha - alpha).abs() < 1e-12, "{}", state.alpha);
            state.rate = rate;
            state.turn();
            assert_eq!((state.phase, state.alpha), (Phase::Recovery, 15.0 / 16.0));
            state.turn();
        }
        assert_eq!((state.phase, state.alpha), (Phase::Initial, 2.0));
        // By 5/4 the rate must rise by more than a sixteenth.
        let mut lame = cruising();
        (lame.successes, lame.rate) = (1, 1000.0);
        lame.begin_push();
        lame.rate = 1062.0;
        lame.turn();
        lame.turn();
        assert_eq!((lame.phase, lame.successes), (Phase::Cruising, 0));
    }

    #[test]
    fn a_push_is_the_gentler_the_more_packets_are_marked() {
        // e = (2 - 0.92) 3/32 at 1 MB/s: half of it is half of 3/16.
        let mut state = cruising();
        (state.successes, state.shares.marked) = (1, 0.10125 / 2.0);
        state.begin_push();
        assert!((state.alpha - (17.0 / 16.0 + 3.0 / 32.0)).abs() < 1e-12, "{}", state.alpha);
    }

    #[test]
    fn an_era_without_data_to_send_neither_ends_cruising_nor_counts_as_flat() {
        let mut state = cruising();
        for _ in 0..10 {
            state.era.limited = true;
            state.turn();
        }
        assert_eq!(state.phase, Phase::Cruising);
        state.turn();
        assert_eq!(state.phase, Phase::Pushing);
        let mut initial = State::new(Params::default(), Start::new(10.0));
        for limited in [true, true, true, false, false] {
            initial.era.limited = limited;
            initial.turn();
        }
        assert_eq!((initial.phase, initial.flat), (Phase::Initial, 2));
        initial.turn();
        assert_eq!(initial.phase, Phase::Recovery);
    }

    #[test]
    fn early_signals_leave_the_initial_state_alone() {
        let mut state = State::new(Params::default(), Start::new(10.0));
        state.answer(Signal::Delay(1.0));
        state.answer(Signal::Loss);
        assert_eq!((state.phase, state.delivery.delivered()), (Phase::Initial, 0));
        (0..2).for_each(|_| state.turn());
        state.answer(Signal::Delay(1.0));
        assert_eq!(state.phase, Phase::Recovery);
    }

    #[test]
    fn high_jitter_begins_again_once() {
        let mut state = cruising();
        for phase in [Phase::Initial, Phase::Cruising] {
            state.recover(false);
            (state.running, state.nominal) = (0.039, 0.1);
            state.turn();
            assert_eq!(state.phase, phase);
        }
    }
}
