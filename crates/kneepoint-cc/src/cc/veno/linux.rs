// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Veno as `tcp_veno` of Linux 6.12 has it, in whole packets.
//!
//! ```text
//! each acknowledgement:  d = 2 W - 2 W base / r, whole;   r the least sample since the window could last grow, endless without one
//!   up to two samples, or d < 6:  W += 1 for each W acknowledged
//!   d >= 6:                       acknowledged packets are counted up to W; every second count is worth a packet
//! loss:                           d < 6:  4/5 W;   else W / 2
//! ```
//!
//! `W` window, packets; `d` half packets. Times are microseconds, and one more. `base` is forgotten where sending begins again with nothing
//! in flight, after a timeout too.

use super::Veno;
use crate::cc::Ack;
use crate::units::Span;

/// Samples from which delays count.
const ENOUGH: u32 = 3;
/// Parts of a packet in which `d` is counted.
const PARTS: f64 = 2.0;

/// The state that the kernel keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    /// In microseconds.
    base: f64,
    least: f64,
    samples: u32,
    /// d.
    waiting: f64,
    /// Whether the next count is worth a packet.
    gains: bool,
}

impl Kernel {
    pub(super) fn new() -> Kernel {
        Kernel { base: f64::INFINITY, least: f64::INFINITY, samples: 0, waiting: 0.0, gains: true }
    }

    /// N, packets.
    pub(super) fn waiting(&self) -> f64 {
        self.waiting / PARTS
    }

    fn observe(&mut self, rtt: Span) {
        let rtt = (rtt.0 / 1000 + 1) as f64;
        self.base = self.base.min(rtt);
        self.least = self.least.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    /// Sending begins again.
    pub(super) fn resume(&mut self) {
        (self.base, self.least, self.gains) = (f64::INFINITY, f64::INFINITY, true);
    }

    fn judge(&mut self, window: f64) {
        // The kernel's greatest time stands for none.
        let greatest = f64::from(i32::MAX);
        let expected = libm::floor(PARTS * window * self.base.min(greatest) / self.least.min(greatest));
        self.waiting = PARTS * window - expected;
    }
}

impl Veno {
    pub(super) fn avoid_as_linux(&mut self, mut kernel: Kernel, ack: &Ack) -> Kernel {
        if let Some(rtt) = ack.rtt {
            kernel.observe(rtt);
        }
        if ack.credit <= 0.0 {
            return kernel;
        }
        if kernel.samples < ENOUGH {
            self.window.grow(ack, 1.0);
        } else {
            kernel.judge(self.window.packets);
            self.grow_as_linux(&mut kernel, ack);
        }
        kernel.least = f64::INFINITY;
        kernel
    }

    fn grow_as_linux(&mut self, kernel: &mut Kernel, ack: &Ack) {
        if kernel.waiting() < self.params.beta {
            return self.window.grow(ack, 1.0);
        }
        let beyond = self.window.start(ack);
        if beyond <= 0.0 {
            return;
        }
        let window = self.window.packets;
        if !self.window.count_to(window, beyond) {
            return;
        }
        self.window.packets += if kernel.gains { 1.0 } else { 0.0 };
        kernel.gains = !kernel.gains;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Params, Veno};
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};
    use crate::units::Span;

    /// 20 packets on a path of 100 ms, with this queueing delay since the third sample.
    fn queued(milliseconds: u64) -> Trace<Veno> {
        let start = Start { version: Version::Linux, ..Start::avoiding(20.0) };
        let mut trace = Trace::new(Veno::new(Params::default(), start));
        trace.rtt = Span::from_millis(100);
        (0..3).for_each(|_| trace.ack(Span::from_millis(1)));
        trace.rtt = Span::from_millis(100 + milliseconds);
        trace.ack(Span::from_millis(1));
        trace
    }

    #[test]
    fn a_packet_more_every_second_window_while_three_wait() {
        let gained = |milliseconds| {
            let mut trace = queued(milliseconds);
            (0..400).for_each(|_| trace.ack(Span::from_millis(1)));
            trace.window() - 20.0
        };
        // 2 · 20 - 40 · 100 / 105 = 1.9 half packets, and 2 · 20 - 40 · 100 / 150 = 13.3.
        let (fast, slow) = (gained(5), gained(50));
        assert!(fast >= 13.0 && (5.0..=9.0).contains(&slow), "{fast} {slow}");
    }

    #[test]
    fn the_last_sample_says_whether_a_loss_is_random() {
        let left = |milliseconds| {
            let mut trace = queued(milliseconds);
            trace.loss();
            trace.window()
        };
        assert_eq!((left(10), left(50)), (16.0, 10.0));
    }

    #[test]
    fn an_idle_sender_forgets_the_base() {
        let mut trace = queued(50);
        trace.controller.on_resume(crate::units::Time::ZERO, Span::from_secs(1));
        trace.ack(Span::from_millis(1));
        trace.loss();
        assert_eq!(trace.window(), 16.0);
    }
}
