// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BIC's congestion avoidance in whole packets, as `tcp_bic` of Linux 6.12 has it.
//!
//! ```text
//! the window gains a packet for every n acknowledged; n is counted from zero when W has changed, or after 1/32 s
//!   W <= low:  n = W;  elsewhere n = N / r, whole, at least 1
//!   d = (Wmax - W) / B, whole             W < Wmax:  N = W / max_step where d > max_step, W / d, or 20 W / B where d <= 1
//!   W >= Wmax:  N = 20 W / B              W < Wmax + B
//!               N = (B - 1) W / (W - Wmax)          W < Wmax + (B - 1) max_step
//!               N = W / max_step                    beyond
//!   N <= 20                               before the first loss and after a timeout
//!   r <- 15/16 r + 1/16 packets that an acknowledgement answers, in 16ths; 2 at first and after a timeout
//! ```
//!
//! `r` was to correct the count of acknowledgements where the receiver answers every second packet; the kernel has counted packets since
//! 2015 and divides all the same, so that the window grows about twice as fast.

use super::Params;
use crate::cc::Ack;
use crate::units::{Span, Time};

/// The time for which n stays valid while the window is constant.
const HOLD: Span = Span::from_micros(31_250);
/// n at most before the first loss: 5 % a round trip.
const BEFORE_LOSS: f64 = 20.0;
/// Of one, in r.
const PARTS: f64 = 16.0;

/// The number of acknowledged packets for one more in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    each: f64,
    /// The window for which it was counted, and the time of that.
    window: f64,
    at: Time,
    /// r, in 16ths.
    ratio: f64,
    /// It is constant until this packet is acknowledged.
    suspended: Option<u64>,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps { each: 0.0, window: 0.0, at: Time::ZERO, ratio: 2.0 * PARTS, suspended: None }
    }
}

impl Steps {
    /// Takes in how many packets an acknowledgement answers.
    #[inline]
    pub(super) fn observe(&mut self, ack: &Ack) {
        if self.suspended.is_some() {
            // The acknowledgement that ends a recovery episode covers everything that arrived meanwhile.
            self.suspended = self.suspended.filter(|end| ack.una < *end);
        } else if ack.acked > 0 {
            self.ratio += f64::from(ack.acked) - libm::floor(self.ratio / PARTS);
        }
    }

    /// Losses are repaired until this packet is acknowledged.
    pub(super) fn suspend(&mut self, next: u64) {
        self.suspended = Some(next);
    }

    /// n.
    #[inline]
    pub(super) fn each(&mut self, params: &Params, window: f64, w_max: f64, now: Time) -> f64 {
        if window != self.window || now.since(self.at) > HOLD {
            (self.window, self.at) = (window, now);
            self.each = match window <= params.low_window {
                true => window,
                false => libm::floor(uncorrected(params, window, w_max) * PARTS / self.ratio).max(1.0),
            };
        }
        self.each
    }
}

/// N.
fn uncorrected(params: &Params, window: f64, w_max: f64) -> f64 {
    let Params { max_step, min_step, search, .. } = *params;
    let slow = window / min_step;
    let below = libm::floor((w_max - window) / search);
    let each = if window < w_max {
        match below {
            far if far > max_step => window / max_step,
            near if near <= 1.0 => slow,
            _ => window / below,
        }
    } else if window < w_max + search {
        slow
    } else if window < w_max + max_step * (search - 1.0) {
        window * (search - 1.0) / (window - w_max)
    } else {
        window / max_step
    };
    let each = libm::floor(each);
    if w_max == 0.0 { each.min(BEFORE_LOSS) } else { each }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::bic::Bic;
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};

    #[test]
    fn a_packet_more_is_worth_what_the_kernel_computes() {
        let each = |window, w_max| uncorrected(&Params::default(), window, w_max);
        // 200 packets: 100, 20, 4 and 0 fourths below Wmax; 3, 20 and 60 beyond.
        let below = [600.0, 280.0, 216.0, 203.0].map(|w_max| each(200.0, w_max));
        assert_eq!(below, [12.0, 12.0, 50.0, 1000.0]);
        let beyond = [197.0, 180.0, 140.0].map(|w_max| each(200.0, w_max));
        assert_eq!(beyond, [1000.0, 30.0, 12.0]);
        assert_eq!(each(1000.0, 0.0), 20.0);
    }

    #[test]
    fn the_correction_for_delayed_acknowledgements_doubles_the_growth() {
        let mut trace = Trace::new(Bic::new(
            Params::default(),
            Start { version: Version::Linux, ..Start::avoiding(200.0) },
        ));
        // 50 / 2: a packet for every 25 while r is still two.
        let mut steps = Steps::default();
        assert_eq!(steps.each(&Params::default(), 200.0, 216.0, Time::ZERO), 25.0);
        // Where every packet is acknowledged r becomes one, in whole 16ths.
        (0..200).for_each(|_| trace.ack(Span::from_millis(1)));
        let ratio = trace.controller.linux.map(|own| own.ratio);
        assert!(ratio.is_some_and(|found| (16.0..32.0).contains(&found)), "{ratio:?}");
        // Arrivals during recovery do not count as delayed acknowledgements.
        let before = trace.controller.linux.map(|own| own.ratio);
        trace.loss();
        while trace.controller.linux.is_some_and(|own| own.suspended.is_some()) {
            trace.ack(Span::from_millis(1));
        }
        assert_eq!(trace.controller.linux.map(|own| own.ratio), before);
        // Up to 14 packets it is Reno, for any r.
        assert_eq!(steps.each(&Params::default(), 14.0, 0.0, Time::ZERO), 14.0);
    }
}
