// SPDX-License-Identifier: Apache-2.0 OR MIT
//! H-TCP as `tcp_htcp` of Linux 6.12 has it: in whole milliseconds and 128ths.
//!
//! ```text
//! f = 1 + (10 d + (d/2)² / 1000) / 1000     d milliseconds beyond a second since the last repair ended, each quotient whole
//! f <- max(8 f / s, 1),  s = 8000 / (10 RTTmin) within 4 and 80            whole, with RTT scaling
//! α = 2 f (128 - β)                         in 128ths, again when the window grows and at a loss
//! W += 1  when α · (packets acknowledged since it grew) / 128 >= W;  that acknowledgement is not counted
//! β = 64                                    where 5 B is not between 4 and 6 Bprevious, and at the first loss after that
//!     128 RTTmin / RTTmax, in [64, 102]     elsewhere, where RTTmin > 10 ms
//! RTTmax rises by 20 ms a sample at most, and never during recovery
//! B: greatest of (3 B' + b) / 4, b packets a second of a window; b itself until three RTTmin after a recovery episode
//! ```

use super::Htcp;
use crate::cc::Ack;
use crate::units::{Span, Time};

/// One, in α and β.
const ONE: u32 = 128;
const BETA_MIN: u32 = 64;
const BETA_MAX: u32 = 102;
/// The greatest rise of the greatest RTT per sample, in milliseconds.
const RISE: u64 = 20;
/// The least RTT, in milliseconds, up to which β is a half.
const SHORT: u64 = 10;

/// Limits against overflow: milliseconds without a loss, beyond which growth stops rising, and packets counted.
const LONGEST: u64 = 3_600_000;
const MOST: u64 = u32::MAX as u64;

/// The kernel's state; times are in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    alpha: u64,
    beta: u32,
    /// Whether a loss occurred since the throughput changed.
    steady: bool,
    /// Packets that the latest acknowledgement covers, and packets since the window grew.
    answered: u64,
    count: u64,
    least: u64,
    greatest: u64,
    /// The end of the last repair.
    since: u64,
    repairing: bool,
    /// Packets since `began`.
    packets: u64,
    began: u64,
    rate: u64,
    greatest_rate: u64,
    previous_rate: u64,
}

fn millis(now: Time) -> u64 {
    now.0 / 1_000_000
}

impl Kernel {
    pub(super) fn new() -> Kernel {
        Kernel {
            alpha: u64::from(ONE),
            beta: BETA_MIN,
            steady: false,
            answered: 1,
            count: 0,
            least: 0,
            greatest: 0,
            since: 0,
            repairing: false,
            packets: 0,
            began: 0,
            rate: 0,
            greatest_rate: 0,
            previous_rate: 0,
        }
    }

    /// The part of the window that a loss leaves.
    pub(super) fn beta(&self) -> f64 {
        f64::from(self.beta) / f64::from(ONE)
    }

    fn observe(&mut self, rtt: Span, recovering: bool) {
        let rtt = rtt.0.div_ceil(1_000_000);
        if self.least == 0 || rtt < self.least {
            self.least = rtt;
        }
        if !recovering {
            self.greatest = self.greatest.max(self.least);
            if rtt <= self.greatest + RISE {
                self.greatest = self.greatest.max(rtt);
            }
        }
    }

    fn measure(&mut self, ack: &Ack, window: f64) {
        let now = millis(ack.now);
        if ack.recovering {
            (self.packets, self.began) = (0, now);
            return;
        }
        self.packets += u64::from(ack.acked);
        let enough = (window as u64).saturating_sub((self.alpha / u64::from(ONE)).max(1));
        let passed = now.saturating_sub(self.began);
        if self.packets < enough || self.least == 0 || passed < self.least {
            return;
        }
        let rate = self.packets * 1000 / passed;
        if now.saturating_sub(self.since) / self.least <= 3 {
            (self.rate, self.greatest_rate) = (rate, rate);
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.greatest_rate = self.greatest_rate.max(self.rate);
        }
        (self.packets, self.began) = (0, now);
    }

    fn renew_alpha(&mut self, now: u64, scaled: bool) {
        let beyond = now.saturating_sub(self.since).saturating_sub(1000).min(LONGEST);
        let mut factor =
            if beyond > 0 { 1 + (10 * beyond + (beyond / 2) * (beyond / 2) / 1000) / 1000 } else { 1 };
        if scaled && self.least > 0 {
            let scale = (8000 / (10 * self.least)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * u64::from(ONE - self.beta);
    }

    fn renew_beta(&mut self) {
        let (rate, previous) = (self.greatest_rate, self.previous_rate);
        self.previous_rate = rate;
        if !(4 * previous..=6 * previous).contains(&(5 * rate)) {
            (self.beta, self.steady) = (BETA_MIN, false);
        } else if self.steady && self.least > SHORT && self.greatest > 0 {
            let share = (self.least << 7) / self.greatest;
            self.beta = share.clamp(BETA_MIN.into(), BETA_MAX.into()) as u32;
        } else {
            (self.beta, self.steady) = (BETA_MIN, true);
        }
    }

    /// A loss, or a timeout.
    pub(super) fn back_off(&mut self, now: Time, scaled: bool) {
        self.renew_beta();
        self.renew_alpha(millis(now), scaled);
        if self.least > 0 && self.greatest > self.least {
            self.greatest = self.least + (self.greatest - self.least) * 95 / 100;
        }
        self.since = millis(now);
        self.repairing = true;
    }

    /// Whether this acknowledgement grows the window by a packet.
    fn gains(&mut self, now: Time, window: f64, scaled: bool) -> bool {
        let gains = self.count * self.alpha / u64::from(ONE) >= window as u64;
        if gains {
            self.count = 0;
            self.renew_alpha(millis(now), scaled);
        } else {
            self.count = (self.count + self.answered).min(MOST);
        }
        self.answered = 1;
        gains
    }
}

impl Htcp {
    /// An acknowledgement on Linux hosts.
    pub(super) fn avoid_as_linux(&mut self, ack: &Ack) {
        let Some(kernel) = &mut self.linux else { return };
        if !ack.recovering {
            kernel.answered = u64::from(ack.acked);
        }
        if let Some(rtt) = ack.rtt {
            kernel.observe(rtt, ack.recovering);
        }
        kernel.measure(ack, self.window.packets);
        if kernel.repairing && !ack.recovering {
            (kernel.since, kernel.repairing) = (millis(ack.now), false);
        }
        if self.window.slow_start() {
            self.window.start(ack);
        } else if ack.credit > 0.0 && kernel.gains(ack.now, self.window.packets, self.rtt_scaling) {
            self.window.packets += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn kernel(least: u64, greatest: u64) -> Kernel {
        Kernel { least, greatest, greatest_rate: 1000, previous_rate: 1000, ..Kernel::new() }
    }

    #[test]
    fn growth_is_whole_and_scaled_to_the_round_trip() {
        // 3 s: 1 + (20000 + 1000) / 1000 = 22; at 40 ms 8 · 22 / 20 = 8, at 100 ms 22, at 200 ms 8 · 22 / 4 = 44.
        for (least, factor) in [(40, 8), (100, 22), (200, 44)] {
            let mut kernel = kernel(least, least);
            kernel.renew_alpha(3000, true);
            assert_eq!(kernel.alpha, 2 * factor * 64, "{least} ms");
        }
        let mut early = kernel(40, 40);
        early.renew_alpha(900, true);
        assert_eq!(early.alpha, 128);
    }

    #[test]
    fn the_first_loss_halves_and_the_second_at_the_same_throughput_leaves_the_path_without_its_queue() {
        let mut kernel = kernel(40, 60);
        let betas: Vec<u32> = (0..2)
            .map(|_| {
                kernel.greatest = 60;
                kernel.greatest_rate = 1000;
                kernel.back_off(Time::ZERO, true);
                kernel.beta
            })
            .collect();
        // 128 · 40 / 60.
        assert_eq!(betas, [64, 85]);
        kernel.greatest_rate = 700;
        kernel.back_off(Time::ZERO, true);
        assert_eq!((kernel.beta, kernel.steady), (64, false));
    }

    #[test]
    fn the_greatest_round_trip_rises_by_20_ms_at_most() {
        let mut kernel = kernel(40, 40);
        for (millis, greatest) in [(61, 40), (60, 60), (75, 75), (120, 75)] {
            kernel.observe(Span::from_millis(millis), false);
            assert_eq!(kernel.greatest, greatest);
        }
        kernel.observe(Span::from_millis(90), true);
        assert_eq!(kernel.greatest, 75);
    }

    #[test]
    fn the_acknowledgement_that_grows_the_window_is_not_counted() {
        let mut kernel = kernel(40, 40);
        let gains: Vec<bool> = (0..8)
            .map(|_| {
                kernel.answered = 1;
                kernel.gains(Time::ZERO, 3.0, true)
            })
            .collect();
        assert_eq!(gains, [false, false, false, true, false, false, false, true]);
    }
}
