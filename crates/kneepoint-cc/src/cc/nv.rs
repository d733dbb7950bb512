// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP-NV: as Reno, unless packets wait: it compares its window with the product of the rate and the least delay.
//!
//! L. Brakmo, "TCP-NV: An Update to TCP-Vegas", 2010, as `tcp_nv` of Linux 6.12 has it.
//!
//! ```text
//! a = (a + r) / 2                       every round trip r
//! R = greatest of (packets that arrived since the packet answered was sent) / a, since the last decision
//! M = R base + pad                      base = least a of the last 5 s, pad = 10
//! once per round trip:
//!   W > M:       W -= 0.3 (W - M), at least 2, or W = M where it is no more than 2 above;  S = M,  W does not grow
//!                after 60 samples and 2 round trips, in the first slow start after 30; after 10 round trips without enough of them W
//!                does not grow either
//!   W <= M - 2:  W may grow, after 20 samples
//! W < S:  W += acked     W >= S:  a packet for every max(W, 4) · 2^k acknowledged
//! loss:   S = W = 0.8 W,  W does not grow until the next decision;  timeout: S = 0.8 W, W = 1, and k += 1, at most 8;
//!         8 decisions to grow take one from k
//! ```
//!
//! `W` window, `S` slow-start threshold, `M`, `pad`: packets; `base` least smoothed RTT, taken again every 3.75 to 6.25 s at random.
//!
//! Departure: `min_window` replaces the kernel's least window, which follows the bursts of offloading devices.

use alloc::{boxed::Box, vec::Vec};

use super::delivery::Delivery;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// TCP-NV's parameters.
    pub struct Params {
        /// Packets that may wait.
        pad: f64 = 10.0, 0.0..=10000.0;
        /// The window does not grow when it is closer than this to its bound.
        pad_buffer: f64 = 2.0, 0.0..=10000.0;
        /// The mean time after which the least delay is measured again.
        reset_period: Span = Span::from_secs(5), Span::from_millis(100)..=Span::from_secs(3600);
        /// The least window where nothing is lost, in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
        /// The fraction of the excess that a decision removes.
        decrease: f64 = 0.296875, 0.01..=1.0;
        /// The fraction of the window that a loss leaves.
        beta: f64 = 0.7998046875, 0.01..=0.99;
    }
}

/// Samples before a decision to shrink, and to shrink in the first slow start, and to grow.
const SHRINKS_AFTER: u32 = 60;
const STARTED_AFTER: u32 = 30;
const GROWS_AFTER: u32 = 20;
/// Round trips before a decision to shrink, and those after which growth stops without one.
const ROUNDS: u32 = 2;
const LONG: u32 = 10;
/// The first least delay is measured again after this.
const FIRST_RESET: Span = Span::from_secs(2);
/// k at most, and the decisions to grow that take one off.
const SLOWEST: u32 = 8;
const RECOVERS_AFTER: u32 = 8;
/// Packets acknowledged for one more in the window at least.
const FASTEST: f64 = 4.0;

/// A TCP-NV controller.
#[derive(Clone, Debug)]
pub struct Nv {
    params: Params,
    window: Window,
    delivery: Box<Delivery>,
    /// a, in seconds; zero before the first sample.
    average: f64,
    /// base, and the one that takes its place.
    base: f64,
    next_base: f64,
    reset: Option<Time>,
    /// R.
    rate: f64,
    samples: u32,
    rounds: u32,
    /// The round ends when this packet is acknowledged.
    last: u64,
    grows: bool,
    /// k.
    slowness: u32,
    /// Consecutive decisions to grow.
    good: u32,
    /// No decision until this packet is acknowledged.
    suspended: Option<u64>,
}

impl Nv {
    /// Forgets the evidence for a decision.
    fn decided(&mut self) {
        (self.rate, self.samples, self.rounds) = (0.0, 0, 0);
    }

    fn observe(&mut self, rtt: Span, arrived: f64, now: Time, rng: &mut Rng) {
        let sample = rtt.as_secs_f64();
        if self.average == 0.0 {
            (self.average, self.base) = (sample, 2.0 * sample);
        } else {
            self.average = (self.average + sample) / 2.0;
        }
        self.rate = self.rate.max(arrived / self.average);
        self.samples += 1;
        self.base = self.base.min(self.average);
        self.next_base = self.next_base.min(self.average);
        let reset = *self.reset.get_or_insert(now + FIRST_RESET);
        if now >= reset {
            (self.base, self.next_base) = (self.next_base, f64::INFINITY);
            let period = self.params.reset_period.0;
            self.reset = Some(now + Span(period / 512 * (384 + rng.below(256))));
        }
    }

    /// M.
    fn bound(&self) -> f64 {
        libm::floor(self.rate * self.base) + self.params.pad
    }

    /// A round is over.
    fn decide(&mut self) {
        self.rounds += 1;
        let (bound, window) = (self.bound(), self.window.packets);
        if window > bound {
            self.shrink(window, bound);
        } else if window <= bound - self.params.pad_buffer && self.samples >= GROWS_AFTER {
            self.grows = true;
            self.good += 1;
            if self.slowness > 0 && self.good > RECOVERS_AFTER {
                self.slowness -= 1;
                self.good = 0;
            }
            self.decided();
        }
        self.window.packets = self.window.packets.max(self.params.min_window);
    }

    fn shrink(&mut self, window: f64, bound: f64) {
        if self.rounds < ROUNDS {
            return;
        }
        let enough = if self.window.ssthresh == f64::INFINITY { STARTED_AFTER } else { SHRINKS_AFTER };
        if self.samples < enough {
            self.grows &= enough == STARTED_AFTER || self.rounds <= LONG;
            return;
        }
        self.grows = false;
        self.window.ssthresh = bound;
        let much = window - bound;
        let taken = libm::floor(much * self.params.decrease).max(2.0);
        self.window.packets = if much > 2.0 { window - taken } else { bound };
        self.good = 0;
        self.decided();
    }

    fn suspend(&mut self, next: u64) {
        self.suspended = Some(next);
        self.grows = false;
    }
}

impl Controller for Nv {
    type Params = Params;

    fn new(params: Params, start: Start) -> Nv {
        Nv {
            params,
            window: Window::new(start, InLinux::WholeLeft),
            delivery: Box::default(),
            average: 0.0,
            base: f64::INFINITY,
            next_base: f64::INFINITY,
            reset: None,
            rate: 0.0,
            samples: 0,
            rounds: 0,
            last: 0,
            grows: true,
            slowness: 0,
            good: 0,
            suspended: None,
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        let sample = self.delivery.on_ack(ack, Span::ZERO);
        if self.suspended.take_if(|end| ack.una >= *end).is_some() {
            (self.good, self.average, self.last) = (0, 0.0, ack.una);
            self.decided();
        }
        if let Some(rtt) = ack.rtt.filter(|_| self.suspended.is_none() && sample.delivered > 0.0) {
            self.observe(rtt, sample.delivered, ack.now, rng);
            if ack.una > self.last {
                self.last = ack.next;
                self.decide();
            }
        }
        if self.grows {
            let slower = f64::from(1_u32 << self.slowness);
            self.window.grow_for_each(ack, |window| window.max(FASTEST) * slower);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * self.params.beta);
        self.suspend(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight * self.params.beta);
        self.slowness = (self.slowness + 1).min(SLOWEST);
        self.suspend(timeout.next);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let base = if self.base.is_finite() { self.base * 1e3 } else { 0.0 };
        vec![("base_rtt_ms", base), ("bound_packets", if base > 0.0 { self.bound() } else { 0.0 })]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// A controller in avoidance that has seen this many samples of a rate in packets per second, on a path of 100 ms.
    fn seen(window: f64, rate: f64, samples: u32) -> Nv {
        let nv = Nv::new(Params::default(), Start::avoiding(window));
        Nv { rate, samples, base: 0.1, average: 0.1, rounds: 1, ..nv }
    }

    #[test]
    fn the_bound_is_what_the_rate_and_the_least_delay_call_for_and_ten_packets() {
        let nv = seen(80.0, 500.0, 100);
        assert_eq!(nv.bound(), 60.0);
    }

    #[test]
    fn three_tenths_of_what_is_too_much_are_taken_off_and_growth_stops() {
        let mut nv = seen(80.0, 500.0, 60);
        nv.decide();
        // 80 - 0.297 · 20.
        assert_eq!((nv.window.packets, nv.window.ssthresh, nv.grows), (75.0, 60.0, false));
        let mut near = seen(62.0, 500.0, 60);
        near.decide();
        assert_eq!(near.window.packets, 60.0);
    }

    #[test]
    fn too_few_samples_decide_nothing() {
        let mut nv = seen(80.0, 500.0, 59);
        nv.decide();
        assert_eq!((nv.window.packets, nv.grows, nv.samples), (80.0, true, 59));
        (0..9).for_each(|_| nv.decide());
        assert_eq!((nv.window.packets, nv.grows), (80.0, false));
    }

    #[test]
    fn between_bound_and_bound_less_two_nothing_changes_and_below_the_window_may_grow() {
        let fate = |window| {
            let mut nv = Nv { grows: false, ..seen(window, 500.0, 20) };
            nv.decide();
            (nv.window.packets, nv.grows)
        };
        assert_eq!([59.0, 58.0].map(fate), [(59.0, false), (58.0, true)]);
    }

    #[test]
    fn a_loss_leaves_four_fifths_and_a_timeout_slows_growth_down() {
        let mut trace = Trace::new(Nv::new(Params::default(), Start::avoiding(100.0)));
        trace.loss();
        assert!((trace.window() - 79.98).abs() < 0.01, "{}", trace.window());
        assert!(!trace.controller.grows);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.slowness), (1.0, 1));
    }
}
