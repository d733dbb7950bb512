// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CUBIC's congestion avoidance in whole packets, as `tcp_cubic` of Linux 6.18 has it.
//!
//! ```text
//! the window gains a packet for every n acknowledged; n is counted anew when W has changed, or after 32 ms:
//!   target = Wmax + C (t + T - K)³, its last term in whole packets
//!   n = W / (target - W), whole, or 100 W where target <= W
//!   n <= 20                    before the first loss and after a timeout
//!   n <= W / (West - W)        where West > W;  West gains a packet for every 15/8 W acknowledged
//!   n >= 2
//! ```
//!
//! `T` smallest RTT since the connection, or the last timeout, began. 15/8 is (1 + b) / 3 (1 - b) in whole eighths.

use super::super::window::Tally;
use super::{Cubic, Epoch, seconds};
use crate::units::{Span, Time};

/// How long `n` holds while the window stands still: beyond HZ / 32 ticks of the clock.
const HOLD: Span = Span::from_millis(32);
/// `n` at most before the first loss.
const BEFORE_LOSS: f64 = 20.0;
/// `n` at least.
const FASTEST: f64 = 2.0;
/// `n` over `W` where the curve is not above the window.
const BELOW: f64 = 100.0;

/// Counts packets acknowledged for the next one in the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// n.
    every: f64,
    /// The window for which it was counted, and when.
    window: f64,
    at: Time,
    /// Acknowledged since the window grew.
    for_window: Tally,
    /// Acknowledged since West grew.
    for_reno: f64,
}

/// Packets acknowledged, as a part of the window, for one of West.
fn reno_every(beta: f64) -> f64 {
    libm::floor(8.0 * (1.0 + beta) / (3.0 * (1.0 - beta))) / 8.0
}

impl Cubic {
    /// Congestion avoidance as Linux 6.18 has it.
    pub(super) fn avoid_linux(&mut self, epoch: &mut Epoch, now: Time, credit: f64) {
        let window = libm::floor(self.window.packets);
        self.steps.for_reno += credit;
        if window != self.steps.window || now.since(self.steps.at) >= HOLD {
            self.steps = Steps { window, at: now, ..self.steps };
            self.steps.every = self.every(epoch, now, window);
        }
        self.window.packets += self.steps.for_window.gained(credit, self.steps.every);
    }

    /// n.
    fn every(&mut self, epoch: &mut Epoch, now: Time, window: f64) -> f64 {
        let from_k = seconds(now.since(epoch.began) + self.rtt.least().unwrap_or_default()) - epoch.k;
        let ahead = epoch.origin + libm::trunc(self.scale * from_k * from_k * from_k) - window;
        let mut every = if ahead > 0.0 { libm::floor(window / ahead) } else { BELOW * window };
        if self.w_max == 0.0 {
            every = every.min(BEFORE_LOSS);
        }
        if self.reno_friendly {
            let acked = libm::floor(window * reno_every(self.beta)).max(1.0);
            let gained = (libm::ceil(self.steps.for_reno / acked) - 1.0).max(0.0);
            self.steps.for_reno -= gained * acked;
            epoch.reno += gained;
            if epoch.reno > window {
                every = every.min(libm::floor(window / (epoch.reno - window)));
            }
        }
        every.max(FASTEST)
    }
}
