// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CUBIC's congestion avoidance in whole packets, as `tcp_cubic` of Linux 6.18 has it.
//!
//! ```text
//! the window gains a packet for every n acknowledged; n is counted from zero when W has changed, or after 32 ms, and by the curve
//! at most once a tick:
//!   target = Wmax + C (t + T - K)³, its last term in whole packets
//!   n = W / (target - W), whole, or 100 W where target <= W
//!   n <= 20                    before the first loss and after a timeout
//!   n <= W / (West - W)        where West > W;  West gains a packet for every 15/8 W acknowledged
//!   n >= 2
//! ```
//!
//! `T` smallest RTT since the connection, or the last timeout, began, without samples of the second after a loss;
//! rounded up to ticks.
//! `t` in ticks, and `K` in whole 1024ths of a second. 15/8 is (1 + b) / 3 (1 - b) in whole eighths. The rest of an
//! acknowledgement after slow start counts.
//!
//! Reading: `K` is the whole part of the cube root, which the kernel finds with an error of up to 0.2 %.

use super::super::window::Tally;
use super::{Cubic, Epoch};
use crate::units::{Span, Time};

/// The time for which `n` stays valid while the window is constant.
const HOLD: Span = Span::from_micros(31_250);
/// `n` at most before the first loss.
const BEFORE_LOSS: f64 = 20.0;
/// `n` at least.
const FASTEST: f64 = 2.0;
/// `n` over `W` where the curve is not above the window.
const BELOW: f64 = 100.0;
/// Units of `K` and `t` in a second (Linux BICTCP_HZ: 2^10).
const UNITS: f64 = 1024.0;
/// The time after a loss for which round-trip times are ignored.
const SETTLING: Span = Span::from_secs(1);

/// Counts packets acknowledged for the next one in the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    /// n.
    every: f64,
    /// The window for which it was counted, and the tick.
    window: f64,
    tick: u64,
    /// Acknowledged since the window grew.
    for_window: Tally,
    /// Acknowledged since West grew.
    for_reno: f64,
}

/// Seconds in whole units.
fn whole(seconds: f64) -> f64 {
    libm::floor(seconds * UNITS) / UNITS
}

/// Acknowledged packets per packet of West, as a part of the window.
fn reno_every(beta: f64) -> f64 {
    libm::floor(8.0 * (1.0 + beta) / (3.0 * (1.0 - beta))) / 8.0
}

impl Cubic {
    /// Whether the current round trip is used.
    pub(super) fn believes(&self, now: Time) -> bool {
        self.epoch.is_none_or(|epoch| now.since(epoch.began) >= SETTLING)
    }

    /// Congestion avoidance as Linux 6.18 has it.
    pub(super) fn avoid_linux(&mut self, now: Time, credit: f64) {
        let window = libm::floor(self.window.packets);
        let tick = now.0 / self.tick.0;
        self.steps.for_reno += credit;
        let held = HOLD.0 / self.tick.0;
        if window != self.steps.window || tick - self.steps.tick > held {
            if self.epoch.is_none() || tick != self.steps.tick {
                self.follow_curve(window, tick, credit);
            }
            self.follow_reno(window);
        }
        self.window.packets += self.steps.for_window.gained(credit, self.steps.every);
    }

    /// n, by the curve.
    fn follow_curve(&mut self, window: f64, tick: u64, credit: f64) {
        self.steps = Steps { window, tick, ..self.steps };
        let ticks = |span: Span| span.0.div_ceil(self.tick.0);
        let epoch = self.epoch.unwrap_or_else(|| {
            self.steps.for_reno = credit;
            let ahead = (self.w_max - window).max(0.0);
            let k = whole(libm::cbrt(ahead / self.scale));
            let origin = if ahead > 0.0 { self.w_max } else { window };
            Epoch { began: Time(tick * self.tick.0), k, origin, reno: window }
        });
        let elapsed = Time(tick * self.tick.0).since(epoch.began);
        let ticks = ticks(elapsed) + ticks(self.rtt.least().unwrap_or_default());
        let from_k = whole(ticks as f64 * self.tick.as_secs_f64()) - epoch.k;
        let ahead = epoch.origin + libm::trunc(self.scale * from_k * from_k * from_k) - window;
        self.steps.every = if ahead > 0.0 { libm::floor(window / ahead) } else { BELOW * window };
        if self.w_max == 0.0 {
            self.steps.every = self.steps.every.min(BEFORE_LOSS);
        }
        self.epoch = Some(epoch);
    }

    /// n, by the window that Reno would have.
    fn follow_reno(&mut self, window: f64) {
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.reno_friendly) {
            let acked = libm::floor(window * reno_every(self.beta)).max(1.0);
            let gained = (libm::ceil(self.steps.for_reno / acked) - 1.0).max(0.0);
            self.steps.for_reno -= gained * acked;
            epoch.reno += gained;
            if epoch.reno > window {
                let most = libm::floor(window / (epoch.reno - window));
                self.steps.every = self.steps.every.min(most);
            }
        }
        self.steps.every = self.steps.every.max(FASTEST);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{avoiding, run};
    use super::super::{Era, Params};
    use super::*;
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, SlowStart, Start, Version};

    fn era_linux(window: f64) -> Trace<Cubic> {
        Trace::new(Cubic::new(
            Params::default(),
            Start { version: Version::Linux, ..Start::avoiding(window) },
        ))
    }

    /// Acknowledgements until the window grows, `gap` apart.
    fn acked_for_one(trace: &mut Trace<Cubic>, gap: Span) -> u64 {
        let (window, una) = (trace.window(), trace.una);
        while trace.window() == window {
            trace.ack(gap);
        }
        assert_eq!(trace.window(), window + 1.0);
        trace.una - una
    }

    #[test]
    fn era_linux_gains_a_packet_for_twenty_before_the_first_loss_and_after_a_timeout() {
        let mut trace = era_linux(100.0);
        let gap = Span::from_micros(600);
        for _ in 0..5 {
            assert_eq!(acked_for_one(&mut trace, gap), 20);
        }
        trace.loss();
        trace.timeout();
        while trace.controller.window.slow_start() {
            trace.ack(gap);
        }
        // 105 leave 73, and these 51.
        assert_eq!(trace.window(), 51.0);
        assert_eq!(acked_for_one(&mut trace, gap), 20);
    }

    #[test]
    fn era_linux_leaves_717_of_1024_and_pauses_where_the_loss_was() {
        let mut trace = era_linux(1000.0);
        trace.loss();
        // 700.2; K = cbrt(300 · 1024 / 410) = 9.0826 s.
        assert_eq!(trace.window(), 700.0);
        trace.ack(Span::ZERO);
        assert_eq!(trace.controller.epoch.unwrap().k, 9300.0 / 1024.0);
        // Until C (t + T - K)³ is a packet, for cbrt(1024 / 410) = 1.357 s on either side of K, the curve is flat.
        let returned = run(&mut trace, Span::from_secs_f64(9.0826 - 0.06 - 1.357));
        assert!((998.0..=999.0).contains(&returned), "{returned}");
        assert_eq!(run(&mut trace, Span::from_secs_f64(2.0 * 1.357)), 1000.0);
        // At K + 5 s less a round trip, the target is 1000 + 0.4004 · 5³ = 1050.
        let beyond = run(&mut trace, Span::from_secs_f64(5.0 - 1.357));
        assert!((1047.0..=1050.0).contains(&beyond), "{beyond}");
        // 1050 · 717 / 1024, and a second loss releases more: 735 (1024 + 717) / 2048.
        trace.loss();
        let smaller = (beyond * 717.0 / 1024.0).floor();
        assert_eq!(trace.window(), smaller);
        trace.loss();
        assert_eq!(trace.controller.w_max, (smaller * 1741.0 / 2048.0).floor());
    }

    #[test]
    fn era_linux_gains_a_packet_for_two_at_most() {
        let mut trace = era_linux(100.0);
        trace.loss();
        trace.ack(Span::ZERO);
        // The curve is now far above.
        trace.now += Span::from_secs(60);
        assert!((0..20).all(|_| acked_for_one(&mut trace, Span::ZERO) <= 2));
    }

    #[test]
    fn era_linux_follows_a_reno_of_eight_fifteenths_of_a_packet_a_round_trip() {
        // A curve that is flat for minutes, and a pace counted from zero at every acknowledgement.
        let params = Params { era: Era::Linux, scale: 1e-9, ..Params::default() };
        let mut trace = avoiding(20.0, params);
        trace.loss();
        trace.controller.w_max = 14.0;
        let gap = Span::from_millis(32);
        // West is a packet ahead with the 27th acknowledged, since 15/8 of 14 are 26; from then on a packet for 14.
        assert_eq!((trace.window(), acked_for_one(&mut trace, gap)), (14.0, 27));
        // A packet for 15/8 W, whole: 28, 30, 31, 33, 35, 37, 39, 41 and 43.
        assert_eq!((15..24).map(|_| acked_for_one(&mut trace, gap)).sum::<u64>(), 317);
    }

    #[test]
    fn era_linux_starts_with_hystart_unless_the_host_says_otherwise() {
        let started = |slow_start| {
            let start = Start { version: Version::Linux, slow_start, ..Start::new(64.0) };
            let mut trace = Trace::new(Cubic::new(Params::default(), start));
            (0..40).for_each(|_| trace.ack(Span::from_millis(1)));
            trace.controller.window.slow_start()
        };
        // A train of more than half of 60 ms.
        assert_eq!([SlowStart::Own, SlowStart::Doubling].map(started), [false, true]);
    }
}
