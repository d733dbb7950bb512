// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Copa: moves its window towards the rate 1/(δ · queueing delay), and pushes harder against flows that fill buffers.
//!
//! V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018, §2.
//!
//! ```text
//! dq = standing - base        standing = least RTT of srtt/2,  base = least RTT of 10 s
//! target rate 1/(δ dq)        actual rate W / standing
//! each packet arrived:        W += v/(δ W) where the actual rate is no more than the target, else W -= v/(δ W)
//! before W first comes down:  W += 1 per packet arrived
//! once a window:              v doubles once W went the same way in three windows, and is 1 where it turned
//! the queue counts as empty   where dq <= 0.1 (greatest RTT of 4 srtt - base)
//! against buffer-fillers:     the queue was not empty for 5 srtt;
//!                             then 1/δ += 1 in each window without a loss, and halves at a loss
//! otherwise:                  δ = 0.5
//! pacing rate 2 W / standing
//! ```
//!
//! `W` window, 1/δ: packets; `v` velocity; times s; srtt as in RFC 6298. A flow alone keeps 1/δ packets waiting;
//! so flows of one kind share the link equally, because each keeps the same number.
//!
//! Readings: `v` is 1 as soon as the rate crosses the target against it, not only when a window ends (as in
//! Facebook's mvfst): else it is spent the wrong way, and the window swings by half. A window, for `v` and δ,
//! lasts srtt (as in the authors' code). No more than one packet is gained or lost per packet arrived (their code
//! halves `v` above δ W), and a window is not below two packets (likewise). Losses and marks count only against
//! buffer-fillers, one per recovery episode. A timeout starts over from two packets, and doubles up
//! to half of the window before. A sender without data does not grow its window.
//! Known weakness: a flow alone may take its own queue for a buffer-filler's. The queue swings between none and
//! five packets, and counts as empty below a tenth of that, half a packet. After some swings that leave a packet, 1/δ
//! rises with each window, and the queue does not empty again before a loss. At 10 Mbit/s and 20 ms, with every packet
//! acknowledged and a buffer of 4 BDP, a flow alone then keeps 43 ms of queue; with `competitive` false, 2.0 ms.
//! Departure: the authors' code also takes 3/10 off the window when many packets are lost, of which the paper
//! says nothing.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::extreme::Greatest;
use super::{Ack, Control, Controller, Loss, Start, Timeout};
use crate::rng::Rng;
use crate::units::{PacketRate, Span, Time};

crate::settings! {
    /// Copa's parameters.
    pub struct Params {
        /// δ: one over the packets that a flow keeps waiting.
        delta: f64 = 0.5, 0.001..=10.0;
        /// Push harder against flows that fill buffers.
        competitive: bool = true;
        /// The time for which the smallest round-trip time is remembered.
        rtt_window: Span = Span::from_secs(10), Span::from_millis(100)..=Span::from_secs(3600);
        /// The least window in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
    }
}

/// The fraction of the recent swing of the RTT that still counts as an empty queue.
const NEARLY_EMPTY: f64 = 0.1;
/// Smoothed round-trip times without an empty queue that indicate competitors, and over which the swing is measured.
const PATIENCE: f64 = 5.0;
const SWING: f64 = 4.0;
/// The velocity doubles after this many windows in one direction.
const STEADY: u32 = 3;

/// A Copa controller.
#[derive(Clone, Debug)]
pub struct Copa(Box<State>);

/// Times in nanoseconds.
#[derive(Clone, Debug)]
struct State {
    params: Params,
    window: f64,
    /// The window doubles once per round trip up to the threshold.
    doubles: bool,
    threshold: f64,
    srtt: f64,
    /// Of negated round-trip times.
    base: Greatest,
    standing: Greatest,
    highest: Greatest,
    queueing: f64,
    /// 1/δ.
    waiting: f64,
    velocity: f64,
    /// The start of a window, and its packets at that time.
    since: Time,
    began: f64,
    /// Whether the window grows, and for how many windows it has gone that way.
    upwards: bool,
    steady: u32,
    emptied: Time,
    competes: bool,
    /// A loss since this window began.
    lost: bool,
    delivered: u64,
}

impl State {
    fn least(filter: &Greatest) -> f64 {
        filter.get().map_or(0.0, |negated| -negated)
    }

    /// Learns a round-trip time.
    fn observe(&mut self, now: Time, rtt: Span) {
        let sample = rtt.0 as f64;
        self.srtt = if self.srtt == 0.0 { sample } else { 0.875 * self.srtt + 0.125 * sample };
        self.standing.update(now.0, (self.srtt / 2.0) as u64, -sample);
        self.base.update(now.0, self.params.rtt_window.0, -sample);
        let highest = self.highest.update(now.0, (SWING * self.srtt) as u64, sample);
        let base = Self::least(&self.base);
        self.queueing = (Self::least(&self.standing) - base).max(0.0);
        if self.queueing <= NEARLY_EMPTY * (highest - base) {
            self.emptied = now;
        }
        let patience = Span((PATIENCE * self.srtt) as u64);
        self.competes = self.params.competitive && now.since(self.emptied) > patience;
        if !self.competes {
            self.waiting = 1.0 / self.params.delta;
        }
    }

    /// Whether the actual rate is no more than the target: W / standing <= 1 / (δ dq).
    fn below_target(&self) -> bool {
        self.window * self.queueing <= Self::least(&self.standing) * self.waiting
    }

    fn move_window(&mut self, packets: f64, limited: bool) {
        let below = self.below_target();
        self.doubles &= below && self.window < self.threshold;
        if self.velocity > 1.0 && below != self.upwards {
            // Velocity gathered in one direction must not be used in the other.
            (self.velocity, self.upwards, self.steady) = (1.0, below, 0);
            self.began = self.window;
        }
        let step = if self.doubles { packets } else { packets * self.velocity * self.waiting / self.window };
        if !below {
            self.window = (self.window - step.min(packets)).max(self.params.min_window);
        } else if !limited {
            self.window += step.min(packets);
        }
    }

    /// A window ends.
    fn turn(&mut self) {
        let upwards = self.window > self.began;
        self.steady = if upwards == self.upwards { self.steady + 1 } else { 1 };
        self.upwards = upwards;
        if self.doubles || self.steady < STEADY {
            self.velocity = 1.0;
        } else {
            self.velocity = (2.0 * self.velocity).min(self.window / self.waiting).max(1.0);
        }
        if self.competes && !self.lost {
            self.waiting += 1.0;
        }
    }

    fn begin_window(&mut self, now: Time) {
        self.since = now;
        self.began = self.window;
        self.lost = false;
    }
}

impl Controller for Copa {
    type Params = Params;

    fn new(params: Params, start: Start) -> Copa {
        let waiting = 1.0 / params.delta;
        Copa(Box::new(State {
            params,
            window: start.initial_window,
            doubles: true,
            threshold: start.initial_ssthresh,
            srtt: 0.0,
            base: Greatest::default(),
            standing: Greatest::default(),
            highest: Greatest::default(),
            queueing: 0.0,
            waiting,
            velocity: 1.0,
            since: Time::ZERO,
            began: start.initial_window,
            upwards: true,
            steady: 0,
            emptied: Time::ZERO,
            competes: false,
            lost: false,
            delivered: 0,
        }))
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        let state = &mut *self.0;
        // A packet acknowledged a second time, after a timeout, still shows that one arrived.
        let packets = (ack.delivered.saturating_sub(state.delivered) as f64).max(f64::from(ack.acked.min(1)));
        state.delivered = state.delivered.max(ack.delivered);
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Span::ZERO) {
            state.observe(ack.now, rtt);
        }
        state.move_window(packets, ack.limited);
        if ack.now.since(state.since).0 as f64 >= state.srtt {
            state.turn();
            state.begin_window(ack.now);
        }
    }

    fn on_loss(&mut self, _: &Loss) {
        let state = &mut *self.0;
        if state.competes {
            state.waiting = (state.waiting / 2.0).max(1.0 / state.params.delta);
        }
        state.lost = true;
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let state = &mut *self.0;
        state.waiting = 1.0 / state.params.delta;
        state.threshold = state.window / 2.0;
        state.window = state.window.min(state.params.min_window);
        state.doubles = true;
        state.velocity = 1.0;
        state.steady = 0;
        state.begin_window(timeout.now);
    }

    fn control(&self) -> Control {
        let state = &self.0;
        let standing = State::least(&state.standing);
        let pacing = (standing > 0.0).then(|| PacketRate(2.0 * state.window / (standing * 1e-9)));
        Control { window: state.window, pacing }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        vec![
            ("queueing_ms", state.queueing / 1e6),
            ("delta", 1.0 / state.waiting),
            ("velocity", state.velocity),
            ("competes", f64::from(state.competes)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::tests::Path;
    use super::*;

    fn fresh(params: Params) -> Copa {
        Copa::new(params, Start::new(10.0))
    }

    /// The mean number of queued packets on a path of 1000 packets/s and 100 ms over ten seconds, and the number of arrivals.
    fn waiting(delta: f64) -> (f64, u64) {
        let controller = fresh(Params { delta, ..Params::default() });
        let mut path = Path::new(controller, 1000.0, Span::from_millis(100));
        path.until(|path| path.now >= Span::from_secs(5).after_start());
        let (mut sum, mut samples, before) = (0.0, 0.0, path.delivered);
        path.until(|path| {
            sum += path.queue();
            samples += 1.0;
            path.now >= Span::from_secs(15).after_start()
        });
        (sum / samples, path.delivered - before)
    }

    #[test]
    fn the_target_is_a_rate_of_one_over_delta_and_the_queueing_delay() {
        let mut state = *fresh(Params::default()).0;
        state.observe(Time::ZERO, Span::from_millis(100));
        state.observe(Span::from_secs(1).after_start(), Span::from_millis(102));
        // 1 / (0.5 · 2 ms) = 1000 packets/s, which is 102 packets in 102 ms.
        for (window, below) in [(101.9, true), (102.1, false)] {
            state.window = window;
            assert_eq!(state.below_target(), below, "{window}");
        }
    }

    #[test]
    fn a_flow_alone_keeps_some_packets_waiting_and_the_link_busy() {
        // §3: between none and 2.5/δ packets, where the velocity stays one.
        for delta in [0.5, 0.1] {
            let (mean, delivered) = waiting(delta);
            assert!(mean > 0.5 / delta && mean < 2.5 / delta, "{mean}");
            assert!(delivered > 9_500, "{delivered}");
        }
    }

    #[test]
    fn the_velocity_doubles_after_three_windows_one_way_and_is_one_after_a_turn() {
        let mut state = *fresh(Params::default()).0;
        (state.doubles, state.window) = (false, 100.0);
        let mut after = |change: f64| {
            state.begin_window(Time::ZERO);
            state.window += change;
            state.turn();
            state.velocity
        };
        let upwards: Vec<f64> = (0..8).map(|_| after(1.0)).collect();
        // No more than δ W = 54.
        assert_eq!(upwards, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 54.0]);
        assert_eq!((after(-1.0), after(-1.0), after(-1.0)), (1.0, 1.0, 2.0));
    }

    #[test]
    fn a_queue_that_is_never_empty_makes_it_push_and_a_loss_halves_what_it_pushes() {
        let mut copa = fresh(Params::default());
        let at = |millis| Span::from_millis(millis).after_start();
        copa.0.observe(at(0), Span::from_millis(100));
        for millis in 1..2_000 {
            copa.0.observe(at(millis), Span::from_millis(150));
        }
        assert!(copa.0.competes);
        for packets in [3.0, 4.0, 5.0] {
            copa.0.turn();
            assert_eq!(copa.0.waiting, packets);
        }
        let loss = Loss { now: at(2_000), flight: 10.0, una: 0, next: 10 };
        copa.on_loss(&loss);
        assert_eq!(copa.0.waiting, 2.5);
        copa.0.turn();
        assert_eq!(copa.0.waiting, 2.5, "not in a window with a loss");
        copa.on_loss(&loss);
        assert_eq!(copa.0.waiting, 2.0, "no less than by default");
        copa.0.turn();
        copa.0.observe(at(2_001), Span::from_millis(100));
        assert!(!copa.0.competes && copa.0.waiting == 2.0);
    }

    #[test]
    fn packets_leave_at_twice_the_windows_rate() {
        let mut copa = fresh(Params::default());
        copa.0.observe(Time::ZERO, Span::from_millis(100));
        assert_eq!(copa.control().pacing, Some(PacketRate(200.0)));
    }
}
