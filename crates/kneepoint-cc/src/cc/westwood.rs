// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Westwood+: continues after a loss from the rate that the path delivered, not from half the window.
//!
//! L. A. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control", ACM CCR 34(2) 2004, §2.
//!
//! ```text
//! once per round trip:  b = packets delivered in it / its duration
//!                       B <- h B + (1 - h) b;   the first sample sets B
//! loss:                 S = max(B · base, 2);   W = S
//! timeout:              S likewise;             W = 1
//! between losses:       as Reno
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `B` rate: packets/s; `base` the smallest round-trip time: s; h = 0.9.
//!
//! Readings: a round trip is the smoothed one, and at least 50 ms, below which Linux takes no sample (`least_interval`).
//! The filter lags behind slow start, so the first loss of a connection may leave much less than the path holds. Packets that
//! selective acknowledgements report are delivered. A loss never widens the window, and before the first sample it halves.
//! On Linux hosts as `tcp_westwood` of Linux 6.12 (`westwood/linux.rs`), which filters twice with h = 7/8 in whole bytes per tick,
//! and sets the window at the end of recovery.

use alloc::vec::Vec;

use super::delay::Delay;
use super::window::{FLOOR_AFTER_LOSS, InLinux, Window};
use super::{Ack, Cause, Control, Controller, Ecn, Loss, Resize, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

mod linux;

crate::settings! {
    /// Westwood+'s parameters.
    pub struct Params {
        /// The weight of the past in the filtered rate.
        history: f64 = 0.9, 0.0..=0.9999;
        /// The least time over which a rate is measured.
        least_interval: Span = Span::from_millis(50), Span::from_micros(1)..=Span::from_secs(10);
    }
}

/// A Westwood+ controller.
#[derive(Clone, Debug)]
pub struct Westwood {
    params: Params,
    window: Window,
    delay: Delay,
    /// B in packets per second, once there was a sample.
    rate: Option<f64>,
    /// The start of the current sample, and the packets delivered by then.
    began: Option<(Time, u64)>,
    /// On Linux hosts.
    kernel: Option<linux::Kernel>,
}

impl Westwood {
    /// Takes a sample of the rate, if the last is a round trip ago.
    #[inline]
    fn measure(&mut self, ack: &Ack) {
        let Some((began, before)) = self.began else {
            self.began = Some((ack.now, ack.delivered));
            return;
        };
        let span = ack.now.since(began);
        if span < self.delay.smoothed().max(self.params.least_interval) {
            return;
        }
        let sample = ack.delivered.saturating_sub(before) as f64 / span.as_secs_f64();
        let history = self.params.history;
        self.rate = Some(self.rate.map_or(sample, |rate| history * rate + (1.0 - history) * sample));
        self.began = Some((ack.now, ack.delivered));
    }

    /// The path's capacity without a queue, in packets; half of `flight` while it is unknown.
    fn pipe(&self, flight: f64) -> f64 {
        match (self.rate, self.delay.least()) {
            (Some(rate), Some(base)) => rate * base.as_secs_f64(),
            _ => flight / 2.0,
        }
        .max(FLOOR_AFTER_LOSS)
    }
}

impl Controller for Westwood {
    type Params = Params;

    fn new(params: Params, start: Start) -> Westwood {
        Westwood {
            params,
            window: Window::new(start, InLinux::WholeLeft),
            delay: Delay::new(0.875),
            rate: None,
            began: None,
            kernel: (start.version == Version::Linux).then(|| linux::Kernel::new(start.segment)),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(kernel) = self.kernel {
            self.kernel = Some(self.avoid_as_linux(kernel, ack));
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.delay.observe(rtt);
        }
        self.measure(ack);
        self.window.grow(ack, 1.0);
    }

    fn on_loss(&mut self, loss: &Loss) {
        match &mut self.kernel {
            Some(kernel) => {
                kernel.reduce(loss.next);
                self.window.reduce_to(loss.flight / 2.0);
            }
            None => self.window.reduce_to(self.pipe(loss.flight)),
        }
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        // The reduction after a mark ends above what was outstanding.
        self.on_loss(&Loss { now: ecn.now, flight: ecn.flight, una: ecn.next, next: ecn.next + 1 });
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if let Some(kernel) = self.kernel {
            self.kernel = Some(self.restart_as_linux(kernel, timeout));
            return;
        }
        self.window.restart(timeout, self.pipe(timeout.flight));
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    fn on_resize(&mut self, resize: &Resize) {
        if let Some(kernel) = self.kernel.as_mut().filter(|_| resize.cause == Cause::Undo) {
            kernel.undo();
        }
        self.window.packets = resize.window.max(1.0);
        self.window.ssthresh = resize.threshold;
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let (rate, base) = match &self.kernel {
            Some(kernel) => (Some(kernel.rate()), Some(kernel.base())),
            None => (self.rate, self.delay.least()),
        };
        vec![
            ("rate_packets_per_s", rate.unwrap_or_default()),
            ("base_rtt_ms", base.unwrap_or_default().as_millis_f64()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// 1000 packets a second for a second: 100 in a round trip of 100 ms.
    fn steady(window: f64) -> Trace<Westwood> {
        let start = Start::avoiding(window);
        let mut trace = Trace::new(Westwood::new(Params::default(), start));
        trace.rtt = Span::from_millis(100);
        for _ in 0..1001 {
            trace.ack(Span::from_millis(1));
        }
        trace
    }

    #[test]
    fn a_loss_leaves_the_rate_times_the_smallest_round_trip_time() {
        let mut trace = steady(150.0);
        assert_eq!(trace.controller.rate, Some(1000.0));
        trace.loss();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (100.0, 100.0));
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 100.0));
    }

    #[test]
    fn a_random_loss_on_an_empty_path_takes_nothing_off() {
        let mut trace = steady(80.0);
        let before = trace.window();
        trace.loss();
        assert_eq!(trace.window(), before.min(100.0));
    }

    #[test]
    fn a_tenth_of_each_round_trips_rate_is_taken_in() {
        let mut trace = steady(150.0);
        // Half the rate for one round trip: 0.9 · 1000 + 0.1 · 500.
        for _ in 0..50 {
            trace.ack(Span::from_millis(2));
        }
        assert!((trace.controller.rate.unwrap() - 950.0).abs() < 1e-9, "{:?}", trace.controller.rate);
    }

    #[test]
    fn a_loss_before_the_first_sample_halves() {
        let start = Start::avoiding(20.0);
        let mut fresh = Trace::new(Westwood::new(Params::default(), start));
        fresh.loss();
        assert_eq!(fresh.window(), 10.0);
    }
}
