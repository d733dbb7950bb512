// SPDX-License-Identifier: Apache-2.0 OR MIT
//! LEDBAT: uses the capacity that others leave, and yields to them, by holding the one-way queueing delay at a target.
//!
//! S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, "Low Extra Delay Background Transport (LEDBAT)", RFC 6817 (2012), §2.4.
//!
//! ```text
//! current = least of the last CURRENT_FILTER one-way delays
//! base    = least of the minima of the last BASE_HISTORY minutes
//! q       = current - base
//! each acknowledgement:  W += GAIN (TARGET - q) / TARGET · acked / W
//!                        W <- min(W, flight + ALLOWED_INCREASE), at least MIN_CWND
//! loss:                  W <- max(W / 2, MIN_CWND)         timeout: W = 1
//! ```
//!
//! `W` window, `flight` outstanding before this acknowledgement: packets; delays: time, between clocks that may differ
//! by a constant, which cancels. TARGET = 100 ms, GAIN = 1, CURRENT_FILTER = 4, BASE_HISTORY = 10,
//! ALLOWED_INCREASE = 1, MIN_CWND = 2.
//!
//! Readings: without slow start, as in the RFC's pseudocode. During recovery the window does not grow, nor follows
//! `flight` down. After a timeout the window grows as usual. Without timestamps one-way delays are unknown: q is
//! zero, and LEDBAT is Reno without slow start. Clock drift is not corrected.

use alloc::vec::Vec;

use super::base_delay::BaseDelay;
use super::delay::Signal;
use super::{Ack, Control, Controller, Loss, Start, Timeout};
use crate::rng::Rng;
use crate::units::Span;

crate::settings! {
    /// LEDBAT's parameters.
    pub struct Params {
        /// The queueing delay that it adds at most; the RFC allows 100 ms, and no more.
        target: Span = Span::from_millis(100), Span::from_micros(1)..=Span::from_secs(10);
        /// Packets gained per round trip without a queue; the RFC allows 1, and no more.
        gain: f64 = 1.0, 0.01..=100.0;
        /// Samples whose least is the current delay.
        current_filter: u32 = 4, 1..=1000;
        /// Minutes whose least is the base delay.
        base_history: u32 = 10, 1..=1000;
        /// Packets by which the window may exceed the packets outstanding.
        allowed_increase: f64 = 1.0, 0.0..=1000000.0;
        /// The least window, in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
        /// The fraction by which a loss reduces the window.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
        /// The delay that it watches: hosts without a receiver's clock have round trips.
        signal: Signal = Signal::OneWay;
    }
}

/// A LEDBAT controller.
#[derive(Clone, Debug)]
pub struct Ledbat {
    params: Params,
    window: f64,
    delays: BaseDelay,
}

impl Controller for Ledbat {
    type Params = Params;

    fn new(params: Params, start: Start) -> Ledbat {
        let delays = BaseDelay::new(params.current_filter, params.base_history);
        Ledbat { params, window: start.initial_window, delays }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(delay) = self.params.signal.sample(ack) {
            self.delays.observe(delay, ack.now);
        }
        let target = self.params.target.0 as f64;
        let off_target = (target - self.delays.queueing().0 as f64) / target;
        // It yields to delay even when it may not grow.
        let acked = if off_target > 0.0 { ack.credit } else { f64::from(ack.acked) };
        let change = self.params.gain * off_target * acked / self.window;
        let mut window = self.window + change;
        if !ack.recovering {
            let flight = f64::from(ack.in_flight) + f64::from(ack.acked);
            window = window.min(flight + self.params.allowed_increase);
        }
        self.window = window.max(self.params.min_window.min(self.window + change.max(0.0)));
    }

    fn on_loss(&mut self, loss: &Loss) {
        let left = loss.flight * (1.0 - self.params.loss_decrease);
        self.window = left.min(self.window).max(self.params.min_window.min(self.window));
    }

    fn on_timeout(&mut self, _: &Timeout) {
        self.window = 1.0;
    }

    #[inline]
    fn control(&self) -> Control {
        Control { window: self.window.max(1.0), pacing: None }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("base_delay_ms", self.delays.base().as_millis_f64()),
            ("queueing_delay_ms", self.delays.queueing().as_millis_f64()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn trace(window: f64) -> Trace<Ledbat> {
        let mut trace = Trace::new(Ledbat::new(Params::default(), Start::avoiding(window)));
        trace.one_way = Some(Span::from_millis(30));
        trace
    }

    /// Rounds with `queueing` milliseconds of queueing delay; the window after them.
    fn rounds(trace: &mut Trace<Ledbat>, queueing: u64, count: usize) -> f64 {
        trace.one_way = Some(Span::from_millis(30 + queueing));
        (0..count).map(|_| trace.round_trip()).last().unwrap()
    }

    #[test]
    fn the_window_gains_a_packet_a_round_without_a_queue_and_less_the_nearer_the_target() {
        let mut empty = trace(50.0);
        assert!((rounds(&mut empty, 0, 1) - 51.0).abs() < 0.02, "{}", empty.window());
        // (100 - 75) / 100 of a packet.
        let mut near = trace(50.0);
        rounds(&mut near, 0, 1);
        let before = rounds(&mut near, 75, 1);
        assert!((rounds(&mut near, 75, 1) - before - 0.25).abs() < 0.01, "{}", near.window());
    }

    #[test]
    fn beyond_the_target_it_shrinks_and_at_the_target_it_stays() {
        let mut trace = trace(50.0);
        rounds(&mut trace, 0, 1);
        let before = rounds(&mut trace, 100, 1);
        assert_eq!(rounds(&mut trace, 100, 5), before);
        // (100 - 300) / 100: two packets a round.
        let above = rounds(&mut trace, 300, 1);
        assert!((rounds(&mut trace, 300, 1) - above + 2.0).abs() < 0.1, "{above} to {}", trace.window());
        assert_eq!(rounds(&mut trace, 3000, 20), 2.0);
    }

    #[test]
    fn one_late_sample_of_four_is_noise() {
        let mut trace = trace(50.0);
        rounds(&mut trace, 0, 1);
        trace.one_way = Some(Span::from_millis(500));
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.controller.delays.queueing(), Span::ZERO);
    }

    #[test]
    fn the_base_forgets_what_is_ten_minutes_old() {
        let mut trace = trace(50.0);
        trace.ack(Span::from_millis(1));
        trace.one_way = Some(Span::from_millis(80));
        let queueing: Vec<u64> = (0..11)
            .map(|_| {
                for _ in 0..4 {
                    trace.ack(Span::from_secs(15));
                }
                trace.controller.delays.queueing().0 / 1_000_000
            })
            .collect();
        assert_eq!(queueing, [50, 50, 50, 50, 50, 50, 50, 50, 50, 0, 0]);
    }

    #[test]
    fn the_clocks_difference_cancels() {
        let mut trace = trace(50.0);
        for (delay, queueing) in [(5_000_030, 0), (5_000_055, 25)] {
            trace.one_way = Some(Span::from_millis(delay));
            for _ in 0..4 {
                trace.ack(Span::from_millis(1));
            }
            assert_eq!(trace.controller.delays.queueing(), Span::from_millis(queueing));
        }
    }

    #[test]
    fn a_loss_halves_down_to_two_packets_and_a_timeout_leaves_one() {
        let mut trace = trace(6.0);
        let windows = [0, 1, 2].map(|_| {
            trace.loss();
            trace.window()
        });
        assert_eq!(windows, [3.0, 2.0, 2.0]);
        trace.timeout();
        assert_eq!(trace.window(), 1.0);
    }
}
