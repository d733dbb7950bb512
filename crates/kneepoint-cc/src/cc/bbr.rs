// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BBR: paces at the greatest rate at which packets arrived lately, with twice the smallest delay's worth in flight.
//!
//! N. Cardwell, Y. Cheng, C. S. Gunn, S. Hassas Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5) 2016; draft-cardwell-iccrg-bbr-congestion-control-00 (2017); as era linux, `tcp_bbr` of Linux 6.18.
//!
//! ```text
//! B = greatest delivery rate of 10 rounds             packets/s
//! T = smallest RTT of 10 s                            s
//! pacing rate = p B      W -> min(W + packets arrived, c B T + 3)
//!
//! state     p                            c      until
//! Startup   2/ln 2 = 2.885               2.885  B grew by less than 1/4 in each of 3 rounds
//! Drain     1/2.885 = 0.347              2.885  in flight <= B T + 3
//! ProbeBW   1.25 0.75 1 1 1 1 1 1        2      each for T; 1.25 until a loss or 1.25 B T + 3 in flight,
//!                                               0.75 until B T + 3 in flight at the latest after T
//! ProbeRTT  1                            1      W <= 4 for 200 ms and a round; entered after 10 s without
//!                                               an RTT as small as T
//! loss:     for a round W = in flight + packets arrived, then W falls by the packets retransmitted;
//!           when repaired W is as before
//! timeout:  W = 1;  when repaired W is as before
//! opening:  T = round trip of the handshake
//! ```
//!
//! `W` window, packets; `in flight` packets; `p`, `c` gains. The phase of ProbeBW to begin with is drawn among
//! all but the second.
//!
//! Readings: the allowance of three send quanta is three packets, for hosts here send one at a time; packets lost
//! are counted when they are retransmitted; without a handshake the rate is that of a path of 1 ms (§4.2.1) until the
//! first RTT corrects it (as Linux does).
//! Departures: the pace after an idle time is unchanged (§4.3.4.4 begins with gain 1), as no host reports the start of
//! sending. Without selective acknowledgements B is less certain.
//!
//! Era linux differs: the pace is 1 % below p B; a target is the product and 3 Q, whole and even, and 2 more in the first
//! phase of ProbeBW, where Q is a millisecond's packets at the pace, 2 to 64 KB of them; `W` goes to a target that has
//! `extra` more once the pipe is full: packets that arrived beyond B since they last were as many as B says, the
//! greatest of 5 to 10 rounds, at most 100 ms of B; Drain and ProbeBW count what is in the network when the next packets leave,
//! and these with it while p > 1; a timeout
//! makes Startup look for growth again; only a smaller RTT renews T, in whole microseconds; `W` falls by the lost
//! packets in any state, and an acknowledgement without new data leaves it unchanged; a rate sample takes the smallest
//! RTT of the
//! connection at least, not T; where two intervals of
//! 4 to 16 rounds have the same rate and lose a fifth, the path has a policer, whose rate replaces B with p = 1 for 48
//! rounds (`lt_bw`); the first flight is as good as not paced (Linux paces no connection's first ten packets). Departures are inferred from
//! acknowledgements, for no host reports them. Left out: whether an acknowledgement was delayed, when T has aged; gains in 256ths.

use alloc::{boxed::Box, vec::Vec};

use super::delivery::{Delivery, Sample};
use super::extreme::Greatest;
use super::{Ack, Control, Controller, Ecn, Loss, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{PacketRate, Span, Time};

use linux::Aggregation;
use phases::Mode;

mod linux;
mod phases;
mod policing;
mod window;

crate::choice! {
    /// The version of BBR.
    pub enum Era {
        /// The draft's, or Linux's where the host asks for Linux's controllers.
        Auto = "auto",
        /// The draft of 2017.
        Draft = "draft",
        /// Linux 6.18.
        Linux = "linux",
    }
}

crate::settings! {
    /// BBR's parameters.
    pub struct Params {
        /// Whose rules.
        era: Era = Era::Auto;
        /// Gain of Startup: 2/ln 2 doubles the rate every round.
        startup_gain: f64 = 2.885, 1.01..=10.0;
        /// Windows that may be in flight while bandwidth is probed, in products of rate and delay.
        cwnd_gain: f64 = 2.0, 1.0..=10.0;
        /// Gain of the probing phase; the next phase drains the surplus of this one.
        probe_gain: f64 = 1.25, 1.01..=1.9;
        /// Packets by which the flight that ends that phase may fall short. Zero for a real sender; `knee identify` uses 1, since a candidate that
        /// misses the target by a packet would probe for another cycle.
        probe_slack: f64 = 0.0, 0.0..=100.0;
        /// The number of rounds for which the greatest delivery rate is remembered.
        rate_rounds: u64 = 10, 1..=1000;
        /// The time for which the smallest round-trip time is trusted.
        rtt_window: Span = Span::from_secs(10), Span::from_millis(100)..=Span::from_secs(3600);
        /// The time for which the window then stays small to measure it again.
        probe_rtt: Span = Span::from_millis(200), Span::from_millis(1)..=Span::from_secs(10);
        /// The least window outside recovery, and the window of ProbeRTT, in packets.
        min_window: f64 = 4.0, 1.0..=100.0;
    }
}

/// Packets beyond the product of rate and delay that a target allows.
const QUANTA: f64 = 3.0;
/// The round-trip time presumed before the first is known.
const PRESUMED_RTT: f64 = 0.001;
/// Nanoseconds.
const MICROSECOND: u64 = 1000;
/// The part of its rate at which Linux paces.
const LINUX_PACE: f64 = 0.99;

/// A BBR controller.
#[derive(Clone, Debug)]
pub struct Bbr(Box<State>);

#[derive(Clone, Debug)]
struct State {
    params: Params,
    /// In era linux.
    linux: Option<Box<Aggregation>>,
    /// The part of p B at which it paces.
    margin: f64,
    initial_window: f64,
    mode: Mode,
    delivery: Delivery,
    rates: Greatest,
    /// B, packets per second; zero before the first sample.
    rate: f64,
    /// B, or the rate of a policer in its place.
    bandwidth: f64,
    /// T.
    rtt: Span,
    rtt_since: Time,
    /// The rate when it last grew, and rounds since; the pipe is full once these are enough.
    full_rate: f64,
    full_rounds: u32,
    pacing: f64,
    /// The pace is that of a presumed path.
    presumes: bool,
    window: f64,
    /// The window before a recovery episode or ProbeRTT.
    prior_window: f64,
    in_flight: f64,
    /// The packet whose acknowledgement ends the recovery episode.
    repair: Option<u64>,
    /// The repair is in its first round: as many packets leave as arrive.
    conserves: bool,
}

impl State {
    /// `gain` products of rate and delay, and the packets that the host's granularity adds.
    #[inline]
    fn target(&self, gain: f64) -> f64 {
        if self.linux.is_some() { self.linux_target(gain, 0.0) } else { self.draft_target(gain) }
    }

    #[inline]
    fn draft_target(&self, gain: f64) -> f64 {
        if self.rtt == Span::MAX || self.bandwidth == 0.0 {
            return self.initial_window;
        }
        gain * self.bandwidth * self.rtt.as_secs_f64() + QUANTA
    }

    fn learn_rate(&mut self, sample: &Sample) {
        let Some(rate) = sample.rate else { return };
        if rate >= self.rate || !sample.limited {
            self.rate = self.rates.update(self.delivery.rounds(), self.params.rate_rounds, rate);
            self.bandwidth = self.rate;
        }
    }

    fn learn_rtt(&mut self, ack: &Ack) {
        let expired = self.rtt < Span::MAX && ack.now.since(self.rtt_since) > self.params.rtt_window;
        if let Some(rtt) = ack.rtt
            && (expired || self.is_less(rtt))
        {
            self.rtt = rtt;
            self.rtt_since = ack.now;
        }
        if expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save_window();
            self.mode = Mode::ProbeRtt { until: None, round: false };
        }
    }

    /// The least time in which a packet can be acknowledged: T, or in era linux the smallest RTT of the connection.
    fn least_rtt(&mut self, ack: &Ack) -> Span {
        match &mut self.linux {
            None => self.rtt,
            Some(linux) => linux.least_rtt(ack.rtt),
        }
    }

    /// Whether a round-trip time renews T.
    fn is_less(&self, rtt: Span) -> bool {
        if self.linux.is_some() { rtt.0 / MICROSECOND < self.rtt.0 / MICROSECOND } else { rtt <= self.rtt }
    }

    fn probe_rtt(&mut self, ack: &Ack, sample: &Sample, rng: &mut Rng) {
        let Mode::ProbeRtt { until, round } = &mut self.mode else { return };
        // At so small a window the delivery rate does not show the path's rate.
        self.delivery.limit(ack.in_flight);
        let Some(end) = *until else {
            if self.in_flight <= self.params.min_window {
                *until = Some(ack.now + self.params.probe_rtt);
                self.delivery.begin_round();
            }
            return;
        };
        *round |= sample.round;
        if *round && ack.now > end {
            self.rtt_since = ack.now;
            self.window = self.window.max(self.prior_window);
            if self.filled() { self.probe_bandwidth(ack.now, rng) } else { self.mode = Mode::Startup }
        }
    }

    fn set_pacing(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt.filter(|rtt| self.presumes && *rtt > Span::ZERO) {
            self.presumes = false;
            self.pacing = self.margin * self.params.startup_gain * self.initial_window / rtt.as_secs_f64();
        }
        let rate = self.margin * self.gain() * self.bandwidth;
        if rate > 0.0 && (self.filled() || rate > self.pacing) {
            self.pacing = rate;
        }
    }
}

impl Controller for Bbr {
    type Params = Params;

    const STEERS_RECOVERY: bool = true;

    fn new(params: Params, start: Start) -> Bbr {
        let linux = match params.era {
            Era::Auto => start.version == Version::Linux,
            era => era == Era::Linux,
        };
        let mut state = State {
            linux: linux.then(Box::default),
            margin: if linux { LINUX_PACE } else { 1.0 },
            params,
            initial_window: start.initial_window,
            mode: Mode::Startup,
            delivery: Delivery::default(),
            rates: Greatest::default(),
            rate: 0.0,
            bandwidth: 0.0,
            rtt: Span::MAX,
            rtt_since: Time::ZERO,
            full_rate: 0.0,
            full_rounds: 0,
            pacing: 0.0,
            presumes: true,
            window: start.initial_window,
            prior_window: 0.0,
            in_flight: 0.0,
            repair: None,
            conserves: false,
        };
        state.pacing = state.margin * state.params.startup_gain * state.initial_window / PRESUMED_RTT;
        Bbr(Box::new(state))
    }

    fn on_opened(&mut self, now: Time, rtt: Span) {
        let state = &mut *self.0;
        (state.rtt, state.rtt_since) = (state.rtt.min(rtt), now);
        if let Some(linux) = &mut state.linux {
            linux.least_rtt(Some(rtt));
        } else {
            state.set_pacing(Some(rtt));
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        let state = &mut *self.0;
        let first = state.rtt == Span::MAX && ack.rtt.is_some();
        let least = state.least_rtt(ack);
        let sample = state.delivery.on_ack(ack, if first { Span::ZERO } else { least });
        state.in_flight = f64::from(ack.in_flight);
        state.learn_rate(&sample);
        if state.linux.is_some() {
            state.learn_departures(ack);
            if sample.rate.is_some() {
                state.police(ack.now, (sample.lost > 0.0, sample.limited, sample.round), Some(rng));
            }
            state.learn_aggregation(ack.now, &sample);
        }
        state.turn_cycle(ack.now, state.in_flight + sample.newly, sample.lost > 0.0);
        state.judge_pipe(&sample);
        state.drain(ack.now, rng);
        state.learn_rtt(ack);
        state.probe_rtt(ack, &sample, rng);
        state.set_pacing(ack.rtt);
        state.set_window(ack, &sample);
    }

    fn on_loss(&mut self, loss: &Loss) {
        let state = &mut *self.0;
        state.save_window();
        state.window = state.window.min(state.in_flight + 1.0).max(1.0);
        state.repair = Some(loss.next);
        state.conserves = true;
        state.delivery.begin_round();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let state = &mut *self.0;
        state.save_window();
        state.window = 1.0;
        if state.linux.is_some() {
            state.full_rate = 0.0;
            state.police(timeout.now, (true, false, true), None);
        }
        state.repair = Some(timeout.next);
        state.conserves = false;
    }

    /// It ignores marks.
    fn on_ecn(&mut self, _: &Ecn) {}

    fn control(&self) -> Control {
        Control { window: self.0.window, pacing: Some(PacketRate(self.0.pacing)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        let rtt = if state.rtt == Span::MAX { Span::ZERO } else { state.rtt };
        vec![("rate_pps", state.rate), ("min_rtt_ms", rtt.as_millis_f64()), ("pacing_gain", state.gain())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::tests::Path;
    use super::*;

    pub(super) fn fresh() -> Bbr {
        Bbr::new(Params::default(), Start::new(10.0))
    }

    #[test]
    fn it_begins_with_the_round_trip_of_the_handshake_for_ten_seconds() {
        let (opened, later) = (Span::from_millis(60), Span::from_millis(61));
        for version in [Version::Published, Version::Linux] {
            let mut bbr = Bbr::new(Params::default(), Start { version, ..Start::new(10.0) });
            let unpaced = bbr.control().pacing.unwrap().0;
            bbr.on_opened(Time::ZERO, opened);
            // Linux paces no connection's first ten packets; the draft's rate is 2.885 · 10 / 60 ms.
            let pace = bbr.control().pacing.unwrap().0;
            if version == Version::Linux {
                assert_eq!(pace, unpaced)
            } else {
                assert_eq!(pace.round(), 481.0)
            }
            let mut path = Path::new(bbr, 1000.0, later);
            path.until(|path| path.now >= Span::from_secs(9).after_start());
            assert_eq!(path.controller.0.rtt, opened);
            path.until(|path| path.now >= Span::from_secs(12).after_start());
            assert!(path.controller.0.rtt >= later);
        }
    }

    /// A path of 1000 packets/s and 100 ms: 100 packets.
    fn path() -> Path<Bbr> {
        Path::new(fresh(), 1000.0, Span::from_millis(100))
    }

    pub(super) fn phase(bbr: &Bbr) -> Option<u64> {
        if let Mode::ProbeBw { phase, .. } = bbr.0.mode { Some(phase) } else { None }
    }

    #[test]
    fn the_first_pace_is_that_of_a_path_of_a_millisecond_and_the_first_rtt_corrects_it() {
        let mut path = path();
        assert_eq!(path.pacing(), 2.885 * 10.0 / 0.001);
        path.until(|path| path.delivered > 0);
        // 2.885 · 10 / 0.101: the first packet takes a millisecond to be sent.
        assert!((path.pacing() - 2.885 * 10.0 / 0.101).abs() < 1e-6, "{}", path.pacing());
    }

    #[test]
    fn startup_doubles_and_drain_takes_back_what_it_queued() {
        let mut path = path();
        path.until(|path| path.controller.0.filled());
        assert!((path.controller.0.rate - 1000.0).abs() < 15.0, "{}", path.controller.0.rate);
        assert_eq!((path.controller.0.gain() * 1e3).round(), 347.0);
        assert!(path.now < Span::from_millis(1500).after_start(), "{:?}", path.now);
        // 2.885 and three bandwidth-delay products, one of which is the path.
        assert!(path.in_flight() > 200.0 && path.in_flight() <= 2.885 * 101.0 * 1.015 + 3.0);
        path.until(|path| phase(&path.controller).is_some());
        assert!(path.in_flight() <= 1.02 * 101.0 + 3.0, "{}", path.in_flight());
    }

    #[test]
    fn at_rest_two_products_and_three_may_be_in_flight_and_few_wait() {
        let mut path = path();
        path.until(|path| path.now >= Span::from_secs(5).after_start());
        let (mut most, mut waiting, mut delivered) = (0.0_f64, 0.0_f64, path.delivered);
        path.until(|path| {
            most = most.max(path.in_flight());
            waiting = waiting.max(path.queue());
            path.now >= Span::from_secs(9).after_start()
        });
        let state = &path.controller.0;
        assert!((state.window - (2.0 * state.rate * 0.101 + 3.0)).abs() < 1e-9, "{}", state.window);
        assert!(most <= 1.6 * 101.0 && waiting <= 0.6 * 101.0, "{most} {waiting}");
        delivered = path.delivered - delivered;
        assert!(delivered >= 3990, "{delivered}");
    }

    #[test]
    fn after_ten_seconds_four_packets_for_a_fifth_of_a_second_see_the_path_empty() {
        let mut path = path();
        let probing = |at: &Path<Bbr>| matches!(at.controller.0.mode, Mode::ProbeRtt { .. });
        path.until(probing);
        let began = path.now;
        assert!(began > Span::from_secs(10).after_start() && path.window() == 4.0);
        path.until(|path| path.in_flight() <= 4.0);
        let small = path.now;
        path.until(|path| !probing(path));
        let lasted = path.now.since(small).as_millis_f64();
        assert!((200.0..=310.0).contains(&lasted), "{lasted}");
        assert_eq!(path.controller.0.rtt, Span::from_millis(101));
        assert!(path.window() > 200.0, "the window is what it was: {}", path.window());
    }

    #[test]
    fn a_loss_lets_out_what_arrives_and_afterwards_the_window_is_what_it_was() {
        let mut path = path();
        path.until(|path| path.now >= Span::from_secs(5).after_start());
        let (before, in_flight) = (path.window(), path.in_flight());
        path.lose(1);
        assert!(path.window() <= in_flight + 1.0, "{}", path.window());
        path.until(|path| !path.recovering());
        path.step();
        assert!(path.window() >= before, "{} {before}", path.window());
        let (now, next) = (path.now, path.next);
        path.controller.on_timeout(&Timeout { now, flight: before, reported: false, next });
        assert_eq!(path.window(), 1.0);
    }
}
