// SPDX-License-Identifier: Apache-2.0 OR MIT
//! C4: paces at the greatest rate that was seen to arrive, with a window for the greatest round trip, and yields earlier the faster it is.
//!
//! C. Huitema, S. Nandakumar, C. Jennings, "Specification of Christian's Congestion Control Code (C4)", draft-huitema-ccwg-c4-spec, text of
//! the authors' repository between revisions 00 and 04; revision 04 was not at hand.
//!
//! ```text
//! rate = a N            window = max(a N X, 2 packets)                                       §4.1
//! each sample r:        N <- max(N, r), but not while recovering from congestion             §3.1
//! each era, if a <= 1 in the era before:                                                     §3.2
//!   m <- least R of the era, or (7 m + that) / 8 where it is greater
//!   g  = min(greatest R of the era, m + 250 ms)
//!   X <- g, or (7 X + g) / 8 where it is smaller
//! Initial   a = 2:      to Recovery after 3 eras without a greater N, or at congestion        §4.2
//! Recovery  a = 15/16:  an era; then Initial after 3 successful pushes or at the first high jitter,
//!                       m < 2/5 X, else Cruising                                            §4.3
//! Cruising  a = 1:      4 eras, then Pushing, or Recovery at congestion                        §4.4
//! Pushing   a = 17/16, or 17/16 + 3/16 (1 - E/e) after a successful push: an era             §4.5
//! congestion while cruising: N <- (1 - b) N                                                    §5.6
//!   delay:  R > X + d      b = (R - X - d) / d     d = min(25 ms, (1/16 + 3/16 (1 - s)) X)     §5.2
//!   loss:   L > l          b = 1/4                 l = 0.02 + (1 - s) / 2                      §5.3
//!   marks:  E > e          b = (E - e) / e         e = (2 - s) 3/32                           §5.4
//! ```
//!
//! `N` nominal rate, `r` rate of arrival: packets/s; `X` nominal greatest round trip, `m` running least one, `R` round trips; `a` alpha; `b` no more
//! than 1/4; `L` smoothed share of lost packets, weight 1/16 per packet; `E` share of marks, weight 1/16 per acknowledgement, at once where it
//! is a half; `s` sensitivity: 0 up to 50 kB/s, 0.92 at 1 MB/s, 1 from 10 MB/s, linear between. A push succeeded if N rose without
//! congestion: at all, or after more than 17/16 by a quarter of what was expected. An era lasts until a packet sent in it is acknowledged.
//!
//! Readings: N grows with greater samples (the text prints the comparison the other way round, and says that samples only increase it). The
//! push after a success is 5/4 without marks, as in the table of §4.1; the printed formula would be 17/8. b of delays is the excess over
//! X + d in units of d (a parenthesis is missing). A sample's interval is the longer of sending and arrival, as in `delivery`. In
//! Initial congestion by delay counts if N did not grow for two eras, by loss after 20 packets. Losses that a timer alone finds change nothing
//! (§5.3.1), so a timeout does not either. Losses are counted as they are repaired. Sensitivity counts packets of `packet`.
//! Departures: the pacing quantum of 4 ms is the host's. Marks are echoed one by one, as for Prague.
//! Known weakness: flows take each other's queues for jitter, and X rises with them. Alone at 20 Mbit/s and 50 ms, on Linux's hosts and a buffer of
//! one BDP, a flow keeps 0.6 ms of queue and 97 % of the link; four of them keep 36 ms.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::delivery::Delivery;
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Bytes, PacketRate, Span};

use congestion::{Shares, Signal};

mod congestion;

crate::settings! {
    /// C4's parameters.
    pub struct Params {
        /// The size of a packet, for its sensitivity to rates in bytes per second.
        packet: Bytes = Bytes(1500), Bytes(64)..=Bytes(65_536);
        /// The most by which jitter may raise the nominal round trip.
        max_jitter: Span = Span::from_millis(250), Span::ZERO..=Span::from_secs(10);
        /// Eras of cruising between two pushes.
        cruise: u32 = 4, 1..=1000;
        /// Eras without a greater rate after which the initial state ends, and successful pushes that begin it again.
        patience: u32 = 3, 1..=1000;
        /// The greatest reduction of the rate by one signal.
        reduction: f64 = 0.25, 0.01..=0.99;
        /// The least window in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
    }
}

/// A push without a success before.
const GENTLE: f64 = 17.0 / 16.0;
/// What is added to it after a success.
const MORE: f64 = 3.0 / 16.0;
/// Packets before which a loss does not end the initial state.
const ENOUGH: u64 = 20;
/// The greatest window in packets: no path has more, and a wrong sample could give anything.
const MOST: f64 = 1e9;

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

/// Round trips of an era, in seconds.
#[derive(Clone, Copy, Debug)]
struct Era {
    least: f64,
    greatest: f64,
    /// The nominal rate when it began.
    rate: f64,
    /// The sender had nothing to send.
    limited: bool,
}

/// A C4 controller.
#[derive(Clone, Debug)]
pub struct C4(Box<State>);

#[derive(Clone, Debug)]
struct State {
    params: Params,
    initial_window: f64,
    delivery: Delivery,
    phase: Phase,
    /// N.
    rate: f64,
    /// X and m; zero before the first round trip.
    nominal: f64,
    running: f64,
    alpha: f64,
    /// Alpha of the era before.
    before: f64,
    era: Era,
    /// Eras in this phase, and the last ones without a greater rate.
    eras: u32,
    flat: u32,
    /// Successful pushes in a row, and alpha and N before the one that is judged.
    successes: u32,
    push: Option<(f64, f64)>,
    /// A signal in this recovery or at its beginning.
    congested: bool,
    /// Initial was begun again for high jitter.
    jittered: bool,
    shares: Shares,
}

impl Era {
    fn new(rate: f64) -> Era {
        Era { least: f64::INFINITY, greatest: 0.0, rate, limited: false }
    }
}

impl State {
    fn patience(&self) -> f64 {
        congestion::patience(self.rate * self.params.packet.0 as f64)
    }

    fn answer(&mut self, signal: Signal) {
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
    fn turn(&mut self) {
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
        let calm = (1.0 - self.shares.marked / congestion::mark_threshold(self.patience())).max(0.0);
        let alpha = if self.successes > 0 { GENTLE + MORE * calm } else { GENTLE };
        self.push = Some((alpha, self.rate));
        self.enter(Phase::Pushing, alpha);
    }
}

impl Controller for C4 {
    type Params = Params;

    const MARKS: Marks = Marks::Scalable;
    const STEERS_RECOVERY: bool = true;

    fn new(params: Params, start: Start) -> C4 {
        C4(Box::new(State {
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
        }))
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        let state = &mut *self.0;
        let least = if state.running.is_finite() { state.running } else { 0.0 };
        let sample = state.delivery.on_ack(ack, Span::from_secs_f64(0.5 * least));
        state.era.limited |= ack.limited;
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Span::ZERO) {
            let rtt = rtt.as_secs_f64();
            if state.nominal == 0.0 {
                (state.nominal, state.running) = (rtt, rtt);
            }
            state.era.least = state.era.least.min(rtt);
            state.era.greatest = state.era.greatest.max(rtt);
        }
        if let Some(rate) = sample.rate.filter(|_| !(state.phase == Phase::Recovery && state.congested)) {
            state.rate = state.rate.max(rate);
        }
        let patience = state.patience();
        if let Some(signal) = state.shares.observe(ack, &sample, patience, state.nominal) {
            state.answer(signal);
        }
        if sample.round {
            state.turn();
        }
    }

    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, _: &Timeout) {}

    fn on_ecn(&mut self, _: &Ecn) {}

    fn control(&self) -> Control {
        let state = &self.0;
        if state.rate == 0.0 || state.nominal == 0.0 {
            return Control { window: state.initial_window, pacing: None };
        }
        let rate = state.alpha * state.rate;
        let window = (rate * state.nominal).clamp(state.params.min_window, MOST);
        Control { window, pacing: Some(PacketRate(rate)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        vec![
            ("phase", state.phase as u8 as f64),
            ("nominal_rate_pps", state.rate),
            ("nominal_max_rtt_ms", 1e3 * state.nominal),
            ("running_min_rtt_ms", if state.running.is_finite() { 1e3 * state.running } else { 0.0 }),
            ("alpha", state.alpha),
            ("loss_share", state.shares.lost),
            ("mark_share", state.shares.marked),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::tests::Path;
    use super::*;

    fn fresh() -> C4 {
        C4::new(Params::default(), Start::new(10.0))
    }

    /// 1000 packets/s, 1.5 MB/s, over 100 ms.
    fn path() -> Path<C4> {
        Path::new(fresh(), 1000.0, Span::from_millis(100))
    }

    fn seconds(path: &mut Path<C4>, seconds: u64) {
        path.until(|path| path.now >= Span::from_secs(seconds).after_start());
    }

    /// Cruising at 1000 packets of 1000 bytes a second with a nominal round trip of 100 ms.
    fn cruising() -> State {
        let mut state = *fresh().0;
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
    fn alone_it_fills_the_link_and_keeps_a_short_queue() {
        let mut path = path();
        seconds(&mut path, 5);
        let before = path.delivered;
        let mut most = 0.0_f64;
        path.until(|path| {
            most = most.max(path.queue());
            path.now >= Span::from_secs(25).after_start()
        });
        let share = (path.delivered - before) as f64 / 20_000.0;
        assert!(share > 0.95, "{share}");
        // A push of an era adds a sixteenth of 100 packets.
        assert!(most < 20.0, "{most}");
    }

    #[test]
    fn the_initial_state_doubles_and_ends_three_eras_after_the_link_is_full() {
        let mut path = path();
        path.until(|path| path.controller.0.phase != Phase::Initial);
        let state = &path.controller.0;
        assert!((950.0..1050.0).contains(&state.rate), "{}", state.rate);
        // 10, 20, 40, 80 packets and full after four round trips.
        let trips = path.now.as_secs_f64() / 0.1;
        assert!((6.0..16.0).contains(&trips), "{trips}");
    }

    #[test]
    fn a_timeout_changes_nothing() {
        let mut c4 = C4(Box::new(cruising()));
        let before = c4.control();
        c4.on_timeout(&Timeout {
            now: Span::from_secs(2).after_start(),
            flight: 100.0,
            reported: false,
            next: 300,
        });
        assert_eq!(c4.control(), before);
    }
}
