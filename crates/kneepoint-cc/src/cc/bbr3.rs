// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BBRv3: BBR that heeds losses, leaves headroom, and probes for bandwidth as seldom as a small Reno flow would lose.
//!
//! N. Cardwell, I. Swett, J. Beshay (eds.), "BBR Congestion Control", draft-ietf-ccwg-bbr-06, 2026; §5.
//!
//! ```text
//! B = min(greatest delivery rate of this and the last cycle, B_lo)     T = smallest RTT of 10 s
//! pacing rate = 0.99 p B      W -> min(W + packets arrived, c B T + E, cap), at least 4
//!
//! E = max over 10 rounds (in Startup, over this one) of (arrived - B t), t since less than B t had arrived
//!
//! state     p      c      cap                   until
//! Startup   2.77   2      none                  the rate grew by less than 1/4 in each of 3 rounds, or too
//!                                               many of 6 or more packets are lost in a round of repair
//! Drain     0.5    2      I_hi, I_lo            in flight <= B T, or 3 rounds
//! Down      0.9    2      I_hi, I_lo            in flight <= B T and <= 0.85 I_hi
//! Cruise    1      2      0.85 I_hi, I_lo       2 to 3 s, or min(B T, W, 63) rounds less 0 or 1, after Up
//! Refill    1      2      I_hi                  a round; B_lo = I_lo = none as it begins
//! Up        1.25   2.25   I_hi                  the rate grew by less than 1/4 in each of 3 rounds without
//!                                               I_hi in the way, or too many are lost, or I_hi is in flight
//!                                               where too many were lost the last time
//! ProbeRTT  1      0.5    0.85 I_hi, I_lo       in flight <= B T / 2 for 200 ms and a round; entered after
//!                                               5 s without an RTT as small as the last one then
//!
//! too many lost: more than 2 % of the packets in flight when the packet acknowledged was sent
//! probing:  I_hi = max(in flight when 2 % was passed, 0.7 min(B T, W)), then Down
//! else, per round with a loss:  B_lo = max(rate of the round, 0.7 B_lo), from B
//!                               I_lo = max(arrived in a round trip, 0.7 I_lo), from W
//! Up with W = I_hi in flight:   I_hi += 1, 2, 4, ... packets a round
//! timeout:  W = 1 plus packets still in flight; after recovery, W as before
//! spurious: W, B_lo, I_lo, I_hi at least as before the recovery episode; if losses ended Startup or Up, Startup again or Refill
//! idle:     pacing rate = 0.99 B until the next acknowledgement, which begins no ProbeRTT
//! ```
//!
//! `W` window, `I` bounds of the packets in flight; `B` packets/s; `p`, `c` gains.
//!
//! Readings: hosts here send single packets, so the offload budget is no more than the least window, and lost
//! ranges are counted as packets; packets lost are counted when they are retransmitted; before the first RTT the
//! rate is that of a path of 1 ms, the first RTT corrects it; the echo of a mark counts as losses above the
//! threshold (§3.7: a mark must be treated as congestion, the draft does not say how); Drain obeys I_hi as the
//! table of §5.6.1 has it, not as the pseudocode.
//! Hosts that do not tell of undoing or of idleness (the papers') leave these out; where a ProbeRTT has lasted long enough as sending
//! begins again, the next acknowledgement ends it. Linux's BBRv3 of 2023 and drafts before -06 have no precautionary probe:
//! `precautionary = false`.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::delivery::Sample;
use super::{Ack, Cause, Control, Controller, Ecn, Loss, Resize, Start, Timeout};
use crate::rng::Rng;
use crate::units::{PacketRate, Span, Time};

use aggregation::Aggregation;
use bounds::Bounds;
use model::Model;
use phases::Mode;
use undo::Undo;

mod aggregation;
mod bounds;
mod model;
mod phases;
mod undo;

crate::settings! {
    /// BBRv3's parameters.
    pub struct Params {
        /// The fraction of the packets in flight that may be lost before the flight counts as too large.
        loss_threshold: f64 = 0.02, 0.0..=0.5;
        /// The least fraction that a round of losses leaves.
        beta: f64 = 0.7, 0.1..=0.99;
        /// The part of the greatest safe flight that is left to others.
        headroom: f64 = 0.15, 0.0..=0.9;
        /// Gain of the phase that probes for bandwidth.
        probe_gain: f64 = 1.25, 1.01..=10.0;
        /// The least time between such probes; the greatest is a second more.
        probe_wait: Span = Span::from_secs(2), Span::from_millis(1)..=Span::from_secs(3600);
        /// Rounds between such probes at most.
        probe_rounds: f64 = 63.0, 1.0..=1000000.0;
        /// After a probe that lost too much, stop the next one at the same level.
        precautionary: bool = true;
        /// The time for which the smallest round-trip time is trusted before it is measured again.
        probe_rtt_interval: Span = Span::from_secs(5), Span::from_millis(100)..=Span::from_secs(3600);
        /// The least window in packets.
        min_window: f64 = 4.0, 1.0..=100.0;
    }
}

/// Gain of Startup: 4 ln 2.
const STARTUP_GAIN: f64 = 2.77;
/// The fraction by which the pace stays below the rate.
const PACING_MARGIN: f64 = 0.01;
/// The round-trip time presumed before the first is known.
const PRESUMED_RTT: f64 = 0.001;

/// A BBRv3 controller.
#[derive(Clone, Debug)]
pub struct Bbr3(Box<State>);

#[derive(Clone, Debug)]
struct State {
    params: Params,
    initial_window: f64,
    mode: Mode,
    model: Model,
    bounds: Bounds,
    aggregation: Aggregation,
    undo: Undo,
    /// B.
    rate: f64,
    /// The pipe was full once.
    filled: bool,
    /// A mark was echoed.
    marked: bool,
    /// Sending began again after idleness, and nothing was acknowledged since.
    resumed: bool,
    /// Arriving packets were sent while probing, no losses were answered yet; the last of them arrive in this round.
    probe_sample: bool,
    probe_ends: bool,
    /// The last probe lost too much; this one stopped at the same level.
    too_high: bool,
    stopped_early: bool,
    /// The start of the cycle, the time that it waits, and the round from which it counts.
    cycle: Time,
    wait: Span,
    wait_round: u64,
    pacing: f64,
    window: f64,
    /// The window before a recovery episode or ProbeRTT.
    prior_window: f64,
    in_flight: f64,
    /// In flight before this acknowledgement.
    before: f64,
    /// The packet whose acknowledgement ends the recovery episode; the round in which it began.
    repair: Option<(u64, u64)>,
}

impl State {
    /// `gain` products of rate and delay.
    fn target(&self, gain: f64) -> f64 {
        self.target_with(gain, 0.0)
    }

    /// The same plus this many packets.
    fn target_with(&self, gain: f64, more: f64) -> f64 {
        let unknown = self.model.rtt == Span::MAX || self.rate == 0.0;
        let product =
            if unknown { self.initial_window } else { gain * self.rate * self.model.rtt.as_secs_f64() };
        (product + more).max(self.params.min_window)
    }

    fn pace_at(&mut self, gain: f64) {
        let rate = gain * self.rate * (1.0 - PACING_MARGIN);
        if rate > 0.0 && (self.filled || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    fn set_pacing(&mut self, first_rtt: Option<Span>) {
        if let Some(rtt) = first_rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.pacing = STARTUP_GAIN * self.initial_window / rtt.as_secs_f64();
        }
        self.pace_at(self.gains().0);
    }

    fn save_window(&mut self) {
        let alone = self.repair.is_none() && !matches!(self.mode, Mode::ProbeRtt(..));
        self.prior_window = if alone { self.window } else { self.prior_window.max(self.window) };
    }

    fn set_window(&mut self, ack: &Ack, sample: &Sample) {
        if self.repair.take_if(|(end, _)| ack.una >= *end).is_some() {
            self.window = self.window.max(self.prior_window);
        }
        let extra = self.aggregation.surplus(self.model.delivery.rounds(), self.filled);
        let target = self.target_with(self.gains().1, extra) + if self.mode == Mode::Up { 2.0 } else { 0.0 };
        if self.filled {
            self.window = (self.window + sample.newly).min(target);
        } else if self.window < target || (self.model.delivery.delivered() as f64) < self.initial_window {
            self.window += sample.newly;
        }
        if matches!(self.mode, Mode::ProbeRtt(..)) {
            self.window = self.window.min(self.target(self.gains().1));
        }
        self.window = self.window.max(self.params.min_window).min(self.cap());
    }
}

impl Controller for Bbr3 {
    type Params = Params;

    const STEERS_RECOVERY: bool = true;

    fn new(params: Params, start: Start) -> Bbr3 {
        Bbr3(Box::new(State {
            params,
            initial_window: start.initial_window,
            mode: Mode::Startup,
            model: Model::new(),
            bounds: Bounds::new(),
            aggregation: Aggregation::new(),
            undo: Undo::new(),
            rate: 0.0,
            filled: false,
            marked: false,
            resumed: false,
            probe_sample: false,
            probe_ends: false,
            too_high: false,
            stopped_early: false,
            cycle: Time::ZERO,
            wait: Span::ZERO,
            wait_round: 0,
            pacing: STARTUP_GAIN * start.initial_window / PRESUMED_RTT,
            window: start.initial_window,
            prior_window: 0.0,
            in_flight: 0.0,
            before: 0.0,
            repair: None,
        }))
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        let state = &mut *self.0;
        let least = state.model.rtt;
        let first_rtt = ack.rtt.filter(|_| least == Span::MAX);
        let sample = state.model.delivery.on_ack(ack, if first_rtt.is_some() { Span::ZERO } else { least });
        state.in_flight = f64::from(ack.in_flight);
        state.before = state.in_flight + sample.newly;
        state.note_losses(&sample, ack.now, rng);
        let ended = state.model.learn_rate(&sample);
        let probes = matches!(state.mode, Mode::Startup | Mode::Refill | Mode::Up);
        if ended && !probes && state.model.lost > 0.0 {
            let from = (state.model.rate(), state.window);
            state.bounds.lower(from, state.model.latest, state.params.beta);
        }
        let round = state.model.delivery.rounds();
        state.aggregation.learn(ack.now, sample.newly, state.rate, state.window, round);
        state.model.judge_growth(&sample);
        state.filled |= state.model.full();
        state.leave_startup(&sample, ended);
        state.leave_drain(ack.now, rng);
        state.turn_cycle(&sample, ack.now, rng);
        let expired = state.model.learn_rtt(ack, state.params.probe_rtt_interval);
        state.probe_rtt(ack, &sample, expired, rng);
        if ended {
            state.model.begin_round(&sample);
        }
        state.rate = state.model.rate().min(state.bounds.rate_lo);
        state.set_pacing(first_rtt);
        state.set_window(ack, &sample);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.save();
        self.0.repair = Some((loss.next, self.0.model.delivery.rounds()));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // A timeout within a recovery episode begins none.
        if timeout.reported {
            self.0.save_window()
        } else {
            self.0.save()
        }
        self.0.window = 1.0;
        self.0.repair = Some((timeout.next, self.0.model.delivery.rounds()));
    }

    fn on_ecn(&mut self, _: &Ecn) {
        self.0.marked = true;
    }

    fn on_resize(&mut self, resize: &Resize) {
        match resize.cause {
            Cause::Undo => self.0.restore(),
            Cause::Timeout => self.0.window = resize.window,
            // Idleness is answered by a pace, not by a smaller window.
            Cause::Idle => {}
        }
    }

    fn on_resume(&mut self, now: Time, _: Span) {
        self.0.resume(now);
    }

    fn control(&self) -> Control {
        Control { window: self.0.window, pacing: Some(PacketRate(self.0.pacing)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        let known = |bound: f64| if bound.is_finite() { bound } else { 0.0 };
        let rtt = if state.model.rtt == Span::MAX { Span::ZERO } else { state.model.rtt };
        vec![
            ("phase", state.mode.number()),
            ("filled", f64::from(state.filled)),
            ("rate_pps", state.rate),
            ("max_rate_pps", state.model.rate()),
            ("rate_lo_pps", known(state.bounds.rate_lo)),
            ("min_rtt_ms", rtt.as_millis_f64()),
            ("inflight_packets", state.in_flight),
            ("window_packets", state.window),
            ("extra_acked_packets", state.aggregation.surplus(state.model.delivery.rounds(), state.filled)),
            ("pacing_gain", state.gains().0),
            ("inflight_hi_packets", known(state.bounds.inflight_hi)),
            ("inflight_lo_packets", known(state.bounds.inflight_lo)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::tests::Path;
    use super::*;

    fn fresh() -> Bbr3 {
        Bbr3::new(Params::default(), Start::new(10.0))
    }

    /// A path of 1000 packets/s and 100 ms, at rest.
    fn cruising() -> Path<Bbr3> {
        let mut path = Path::new(fresh(), 1000.0, Span::from_millis(100));
        path.until(|path| path.controller.0.mode == Mode::Cruise);
        path
    }

    #[test]
    fn a_cycle_goes_down_cruises_refills_for_a_round_and_probes() {
        let mut path = cruising();
        path.until(|path| matches!(path.controller.0.mode, Mode::ProbeRtt(..)));
        path.until(|path| path.controller.0.mode == Mode::Cruise);
        let began = path.now;
        let mut seen = vec![Mode::Cruise];
        path.until(|path| {
            let mode = path.controller.0.mode;
            if seen.last() != Some(&mode) {
                seen.push(mode);
            }
            seen.len() == 5
        });
        assert_eq!(seen, [Mode::Cruise, Mode::Refill, Mode::Up, Mode::Down, Mode::Cruise]);
        // 2 to 3 s, then a round and at least three more.
        let took = (path.now - began).as_secs_f64();
        assert!((2.0..5.0).contains(&took), "{took}");
        assert!((path.pacing() - 990.0).abs() < 15.0, "1 % below the rate: {}", path.pacing());
    }

    #[test]
    fn every_five_seconds_half_a_product_is_in_flight_for_a_fifth_of_a_second() {
        let mut path = cruising();
        let probing = |at: &Path<Bbr3>| matches!(at.controller.0.mode, Mode::ProbeRtt(..));
        path.until(probing);
        assert!((path.window() - 50.5).abs() < 2.0, "{}", path.window());
        path.until(|path| path.in_flight() <= path.window());
        let small = path.now;
        path.until(|path| !probing(path));
        let lasted = (path.now - small).as_millis_f64();
        assert!((190.0..=330.0).contains(&lasted), "{lasted}");
        assert_eq!(path.controller.0.mode, Mode::Cruise);
        let ended = path.now;
        path.until(|path| path.now > ended + Span::from_secs(1));
        path.until(probing);
        assert!((4.9..5.5).contains(&(path.now - ended).as_secs_f64()));
    }

    #[test]
    fn losses_while_it_cruises_bound_the_flight_until_the_next_probe() {
        let mut path = cruising();
        let before = path.window();
        path.lose(5);
        path.until(|path| path.controller.0.bounds.inflight_lo.is_finite());
        // More than 0.7 W arrive in a round trip.
        let state = &path.controller.0;
        assert!(state.bounds.inflight_lo >= 0.7 * before.min(110.0) && path.window() < before);
        assert!(state.bounds.inflight_hi.is_infinite());
        path.until(|path| path.controller.0.mode == Mode::Refill);
        assert!(path.controller.0.bounds.inflight_lo.is_infinite());
    }

    #[test]
    fn two_hundredths_lost_while_it_probes_bound_the_flight_and_leave_headroom() {
        let mut path = cruising();
        path.until(|path| path.controller.0.mode == Mode::Up);
        let flight = path.in_flight();
        path.lose(8);
        path.until(|path| path.controller.0.mode == Mode::Down);
        let state = &path.controller.0;
        let bound = state.bounds.inflight_hi;
        assert!(bound <= flight + 2.0 && bound >= 0.7 * 101.0 && state.too_high, "{bound} {flight}");
        path.until(|path| path.controller.0.mode == Mode::Cruise);
        assert!(path.window() <= 0.85 * path.controller.0.bounds.inflight_hi + 1e-9, "{}", path.window());
    }

    #[test]
    fn six_idle_seconds_are_as_good_as_a_search_for_the_smallest_round_trip() {
        let path = cruising();
        let now = path.now + Span::from_secs(6);
        let ack = Ack {
            now: now + Span::from_millis(110),
            rtt: Some(Span::from_millis(110)),
            one_way: None,
            acked: 1,
            delivered: path.delivered + 1,
            resent: 0,
            marked: 0,
            credit: 1.0,
            limited: false,
            una: path.delivered + 1,
            next: path.next,
            in_flight: 3,
            recovering: false,
        };
        let after = |told: bool| {
            let mut controller = path.controller.clone();
            if told {
                controller.on_resume(now, Span::from_secs(6));
                let state = &controller.0;
                assert!((state.pacing - 0.99 * state.rate).abs() < 1e-9);
            }
            controller.on_ack(&ack, &mut Rng::stream(1, "idle", 0));
            controller.0.mode
        };
        assert!(matches!(after(false), Mode::ProbeRtt(..)));
        assert_eq!(after(true), Mode::Refill);
    }

    #[test]
    fn a_mark_in_startup_ends_it() {
        let mut path = Path::new(fresh(), 1000.0, Span::from_millis(100));
        path.until(|path| path.delivered > 20);
        path.controller.on_ecn(&Ecn { now: path.now, flight: 10.0, next: path.next });
        path.until(|path| path.controller.0.mode != Mode::Startup);
        assert!(path.delivered < 30 && path.controller.0.bounds.inflight_hi.is_finite());
    }
}
