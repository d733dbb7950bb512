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
//! X + d in units of d (a parenthesis is missing). Samples are those of `delivery`: the later of the sending and the arrival interval. In
//! Initial congestion by delay counts if N did not grow for two eras, by loss after 20 packets. Losses that a timer alone finds change nothing
//! (§5.3.1), so a timeout does not either. Losses are counted as they are repaired. Sensitivity counts packets of `packet`.
//! Departures: the pacing quantum of 4 ms is the host's. Marks are echoed one by one, as for Prague.
//! Known weakness: flows take each other's queues for jitter, and X rises with them. Alone at 20 Mbit/s and 50 ms, on Linux's hosts and a buffer of
//! one BDP, a flow keeps 0.6 ms of queue and 97 % of the link; four of them keep 36 ms.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::delivery::{Delivery, Sample};
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Bytes, PacketRate, Span};

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

/// Rates in bytes per second, and the sensitivity at each.
const SENSITIVITY: [(f64, f64); 3] = [(50_000.0, 0.0), (1_000_000.0, 0.92), (10_000_000.0, 1.0)];
/// A push without a success before.
const GENTLE: f64 = 17.0 / 16.0;
/// What is added to it after a success.
const MORE: f64 = 3.0 / 16.0;
/// The weight of a packet in the share of losses, and of an acknowledgement in that of marks.
const WEIGHT: f64 = 1.0 / 16.0;
/// Packets before which a loss does not end the initial state.
const ENOUGH: u64 = 20;

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Initial,
    Recovery,
    Cruising,
    Pushing,
}

/// A congestion signal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Signal {
    Delay(f64),
    Loss,
    Marks(f64),
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
    /// L and E.
    losses: f64,
    marks: f64,
}

impl Era {
    fn new(rate: f64) -> Era {
        Era { least: f64::INFINITY, greatest: 0.0, rate, limited: false }
    }
}

/// s.
fn sensitivity(bytes_per_second: f64) -> f64 {
    let [first, .., last] = SENSITIVITY;
    if bytes_per_second <= first.0 {
        return first.1;
    }
    let between = SENSITIVITY.windows(2).find(|pair| bytes_per_second <= pair[1].0);
    between.map_or(last.1, |pair| {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        low + (high - low) * (bytes_per_second - from) / (to - from)
    })
}

impl State {
    /// 1 - s.
    fn patience(&self) -> f64 {
        1.0 - sensitivity(self.rate * self.params.packet.0 as f64)
    }

    /// e.
    fn mark_threshold(&self) -> f64 {
        (1.0 + self.patience()) * 3.0 / 32.0
    }

    /// The signal in this acknowledgement.
    fn signal(&mut self, ack: &Ack, sample: &Sample) -> Option<Signal> {
        self.losses *= libm::pow(1.0 - WEIGHT, sample.newly);
        for _ in 0..(sample.lost as u64).min(1000) {
            self.losses += WEIGHT * (1.0 - self.losses);
        }
        if sample.newly > 0.0 {
            let share = (f64::from(ack.marked) / sample.newly).min(1.0);
            self.marks = if share >= 0.5 { share } else { self.marks + WEIGHT * (share - self.marks) };
        }
        let margin = (self.nominal * (1.0 + 3.0 * self.patience()) / 16.0).min(0.025);
        let excess = ack.rtt.map_or(0.0, |rtt| rtt.as_secs_f64() - self.nominal - margin);
        let most = self.mark_threshold();
        if sample.lost > 0.0 && self.losses > 0.02 + 0.5 * self.patience() {
            Some(Signal::Loss)
        } else if ack.marked > 0 && self.marks > most {
            Some(Signal::Marks((self.marks - most) / most))
        } else {
            (excess > 0.0 && self.nominal > 0.0).then(|| Signal::Delay(excess / margin))
        }
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
        self.marks = 0.0;
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
        let calm = (1.0 - self.marks / self.mark_threshold()).max(0.0);
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
            losses: 0.0,
            marks: 0.0,
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
        if let Some(signal) = state.signal(ack, &sample) {
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
        Control { window: (rate * state.nominal).max(state.params.min_window), pacing: Some(PacketRate(rate)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        vec![
            ("phase", state.phase as u8 as f64),
            ("nominal_rate_pps", state.rate),
            ("nominal_max_rtt_ms", 1e3 * state.nominal),
            ("running_min_rtt_ms", if state.running.is_finite() { 1e3 * state.running } else { 0.0 }),
            ("alpha", state.alpha),
            ("loss_share", state.losses),
            ("mark_share", state.marks),
        ]
    }
}

#[cfg(test)]
mod tests;
