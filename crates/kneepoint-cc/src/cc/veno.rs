// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Veno: takes a loss for random, and gives up a fifth only, while Vegas would see no queue.
//!
//! C. P. Fu, S. C. Liew, "TCP Veno: TCP Enhancement for Transmission Over Wireless Access Networks", IEEE JSAC 21(2) 2003, §II.
//!
//! ```text
//! N = W (1 - base / rtt)                       Vegas's difference
//! avoidance:   N < β:   W += 1 / W             each packet acknowledged
//!              N >= β:  W += 1 / W             every other packet acknowledged
//! loss:        N < β:   W <- 4/5 W             random
//!              N >= β:  W <- 1/2 W             congestion;   S = W
//! timeout:     S = W / 2, W = 1
//! ```
//!
//! `W` window, `S` slow-start threshold, `N` packets in queues, β = 3: packets; `base` the smallest round-trip time.
//!
//! Readings: `rtt` is smoothed as in RFC 6298 (the paper: "smoothed"). Every other packet is half a gain each. Slow start is Reno's.
//! On Linux hosts as `tcp_veno` of Linux 6.12 (`veno/linux.rs`), which takes the last sample.

use alloc::vec::Vec;

use super::delay::Delay;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

mod linux;

crate::settings! {
    /// Veno's parameters.
    pub struct Params {
        /// From this number of packets in the queue, the path is congested.
        beta: f64 = 3.0, 0.0..=1000.0;
        /// The fraction by which a random loss reduces the window.
        random_decrease: f64 = 0.2, 0.01..=0.99;
        /// The fraction by which a loss of congestion reduces the window.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
    }
}

/// A Veno controller.
#[derive(Clone, Debug)]
pub struct Veno {
    params: Params,
    window: Window,
    delay: Delay,
    /// On Linux hosts.
    kernel: Option<linux::Kernel>,
}

impl Veno {
    /// N.
    #[inline]
    fn waiting(&self) -> f64 {
        if let Some(kernel) = &self.kernel {
            return kernel.waiting();
        }
        match self.delay.smoothed() {
            Span::ZERO => 0.0,
            rtt => self.window.packets * (self.delay.queueing().0 as f64 / rtt.0 as f64),
        }
    }

    fn congested(&self) -> bool {
        self.waiting() >= self.params.beta
    }
}

impl Controller for Veno {
    type Params = Params;

    fn new(params: Params, start: Start) -> Veno {
        Veno {
            params,
            window: Window::new(start, InLinux::WholeLeft),
            delay: Delay::new(0.875),
            kernel: (start.version == Version::Linux).then(linux::Kernel::new),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.delay.observe(rtt);
        }
        if let Some(kernel) = self.kernel {
            self.kernel = Some(self.avoid_as_linux(kernel, ack));
            return;
        }
        self.window.grow(ack, if self.congested() { 0.5 } else { 1.0 });
    }

    fn on_loss(&mut self, loss: &Loss) {
        let decrease = if self.congested() { self.params.loss_decrease } else { self.params.random_decrease };
        self.window.reduce_to(loss.flight * (1.0 - decrease));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // Linux has one rule for both.
        let random = self.kernel.is_some() && !self.congested();
        let decrease = if random { self.params.random_decrease } else { self.params.loss_decrease };
        self.window.restart(timeout, timeout.flight * (1.0 - decrease));
        self.on_resume(timeout.now, Span::ZERO);
    }

    fn on_resume(&mut self, _: Time, _: Span) {
        if let Some(kernel) = &mut self.kernel {
            kernel.resume();
        }
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("base_rtt_ms", self.delay.least().unwrap_or_default().as_millis_f64()),
            ("waiting_packets", self.waiting()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// 100 packets on a path of 100 ms, with `queueing` microseconds of queueing delay for a long time.
    fn queued(queueing: u64) -> Trace<Veno> {
        let start = Start::avoiding(100.0);
        let mut trace = Trace::new(Veno::new(Params::default(), start));
        trace.controller.delay.observe(Span::from_millis(100));
        trace.rtt = Span::from_millis(100) + Span::from_micros(queueing);
        for _ in 0..200 {
            trace.controller.delay.observe(trace.rtt);
        }
        trace
    }

    #[test]
    fn a_loss_with_fewer_than_three_packets_waiting_is_random() {
        // 100 (1 - 100 / 102) = 1.96, and 100 (1 - 100 / 104) = 3.85.
        let mut random = queued(2000);
        assert!((random.controller.waiting() - 1.96).abs() < 0.01);
        random.loss();
        assert_eq!(random.window(), 80.0);
        let mut congested = queued(4000);
        assert!((congested.controller.waiting() - 3.85).abs() < 0.01);
        congested.loss();
        assert_eq!(congested.window(), 50.0);
    }

    #[test]
    fn the_window_gains_half_as_much_while_three_packets_wait() {
        let gained = |queueing| queued(queueing).round_trip() - 100.0;
        assert!((gained(0) - 1.0).abs() < 0.01, "{}", gained(0));
        assert!((gained(4000) - 0.5).abs() < 0.01, "{}", gained(4000));
    }

    #[test]
    fn a_timeout_starts_over_to_half_the_window() {
        let mut trace = queued(0);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 50.0));
    }
}
