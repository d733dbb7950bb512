// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP-LP: yields to others at the first sign of a queue, by the delay from sender to receiver.
//!
//! A. Kuzmanovic, E. W. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003, §III; on Linux hosts as `tcp_lp` of Linux 6.12.
//!
//! ```text
//! s <- (1 - γ) s + γ d                     every acknowledgement's one-way delay d;  γ = 1/8
//! early sign:  s > dmin + δ (dmax - dmin)  δ = 0.15
//!   W = W / 2,  and an inference phase of 3 RTT in which W does not grow
//!   W = 1       at a sign within that phase, which begins again
//! else as Reno, in avoidance and at a loss
//! ```
//!
//! `W` window: packets; `dmin`, `dmax` least and greatest of all one-way delays so far. Clocks may differ by a constant.
//!
//! Readings: a sign counts once; the next one after a round trip can be of a queue that W no longer makes. Without timestamps
//! the round-trip time replaces the one-way delay.
//!
//! Linux differs: it takes the difference of both clocks for the one-way delay, and each connection's clock begins at random. It keeps eight times `s` in 32 bits,
//! which wrap where the difference is 2^29 ms or more, as in seven of eight connections: `s` then never exceeds `dmin`, and TCP-LP is Reno. In the eighth the first
//! sample counts as a sign, and later ones by chance; that is not modelled. Without timestamps there is no sample, and it is Reno, too.

use alloc::vec::Vec;

use super::delay::{Delay, Signal};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// TCP-LP's parameters.
    pub struct Params {
        /// δ: the part of the range of delays that is not a sign of a queue.
        threshold: f64 = 0.15, 0.0..=1.0;
        /// γ: the weight of a sample in the smoothed delay.
        weight: f64 = 0.125, 0.001..=1.0;
        /// Round trips for which the window does not grow after a sign.
        inference: f64 = 3.0, 0.0..=1000.0;
    }
}

/// A TCP-LP controller.
#[derive(Clone, Debug)]
pub struct Lp {
    params: Params,
    window: Window,
    delay: Delay,
    /// dmax.
    greatest: Span,
    /// The latest round-trip time.
    rtt: Span,
    /// The inference phase ends.
    infers: Time,
    /// The next sign counts when this packet is acknowledged.
    answered: u64,
    /// Whether it takes signs: Linux's does not.
    yields: bool,
}

impl Lp {
    /// The delay in an acknowledgement.
    fn sample(&self, ack: &Ack) -> Option<Span> {
        Signal::OneWay.sample(ack).or(ack.rtt).filter(|_| self.yields)
    }

    /// Whether this delay is a sign of a queue.
    fn sign(&mut self, delay: Span) -> bool {
        self.delay.observe(delay);
        self.greatest = self.greatest.max(delay);
        let least = self.delay.least().unwrap_or_default();
        let range = self.greatest.saturating_sub(least).0 as f64;
        self.delay.queueing().0 as f64 > self.params.threshold * range
    }

    fn yield_to_others(&mut self, ack: &Ack) {
        let again = ack.now < self.infers;
        let halved = libm::floor(self.window.packets / 2.0);
        self.window.packets = if again { 1.0 } else { halved.max(1.0) };
        // Low priority need not return quickly.
        self.window.ssthresh = self.window.ssthresh.min(self.window.packets.max(2.0));
        self.infers = ack.now + Span::from_secs_f64(self.params.inference * self.rtt.as_secs_f64());
        self.answered = ack.next;
    }
}

impl Controller for Lp {
    type Params = Params;

    fn new(params: Params, start: Start) -> Lp {
        Lp {
            delay: Delay::new(1.0 - params.weight),
            params,
            window: Window::new(start, InLinux::WholeLeft),
            greatest: Span::ZERO,
            rtt: Span::ZERO,
            infers: Time::ZERO,
            answered: 0,
            yields: start.version != Version::Linux,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.rtt = ack.rtt.unwrap_or(self.rtt);
        if let Some(delay) = self.sample(ack)
            && self.sign(delay)
            && ack.una >= self.answered
        {
            self.yield_to_others(ack);
        }
        if ack.now >= self.infers {
            self.window.grow(ack, 1.0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight / 2.0);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight / 2.0);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let least = self.delay.least().unwrap_or_default();
        let [smoothed, _] = Signal::OneWay.names();
        vec![
            (smoothed, self.delay.smoothed().as_millis_f64()),
            ("greatest_one_way_delay_ms", self.greatest.saturating_sub(least).as_millis_f64()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// A window of 40 packets on a path whose one-way delay has been 30 ms and once 130 ms.
    fn trace(version: Version) -> Trace<Lp> {
        let mut trace = Trace::new(Lp::new(Params::default(), Start { version, ..Start::avoiding(40.0) }));
        trace.one_way = Some(Span::from_millis(30));
        trace.controller.greatest = Span::from_millis(130);
        trace
    }

    #[test]
    fn a_sixth_of_the_range_is_a_sign_and_a_second_one_within_three_round_trips_leaves_a_packet() {
        let mut trace = trace(Version::Published);
        trace.round_trip();
        let before = trace.window();
        // s = 30 + 100 / 8 = 42.5 ms is below 30 + 15; then 53.4 ms is not.
        trace.one_way = Some(Span::from_millis(130));
        trace.ack(Span::from_millis(1));
        assert!(trace.window() >= before);
        trace.ack(Span::from_millis(1));
        let halved = trace.window();
        assert_eq!(halved, libm::floor((before + 1.0 / 40.0) / 2.0));
        // Earlier packets give no new information; the next round trip does.
        (0..39).for_each(|_| trace.ack(Span::from_micros(100)));
        assert_eq!(trace.window(), halved);
        (0..20).for_each(|_| trace.ack(Span::from_micros(100)));
        assert_eq!(trace.window(), 1.0);
    }

    #[test]
    fn the_window_grows_again_when_three_round_trips_have_passed() {
        let mut trace = trace(Version::Published);
        trace.round_trip();
        trace.one_way = Some(Span::from_millis(130));
        (0..2).for_each(|_| trace.ack(Span::from_millis(1)));
        let halved = trace.window();
        trace.one_way = Some(Span::from_millis(30));
        // 180 ms, during which the smoothed delay falls below the threshold.
        (0..170).for_each(|_| trace.ack(Span::from_millis(1)));
        assert_eq!(trace.window(), halved);
        (0..20).for_each(|_| trace.ack(Span::from_millis(1)));
        assert!(trace.window() > halved);
    }

    #[test]
    fn in_linux_nothing_is_a_sign() {
        for known in [None, Some(Span::ZERO), Some(Span::from_millis(130))] {
            let mut trace = trace(Version::Linux);
            trace.one_way = known;
            (0..300).for_each(|_| trace.ack(Span::from_millis(1)));
            assert!(trace.window() > 40.0);
        }
    }
}
