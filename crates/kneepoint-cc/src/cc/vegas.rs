// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Vegas: keeps between α and β packets of its own in the queue, by the difference of two rates.
//!
//! L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC 13(8) 1995, §III; constants as in ns-2; on Linux hosts as `tcp_vegas` of Linux 6.12 (`vegas/linux.rs`).
//!
//! ```text
//! once per round trip:
//!   expected = outstanding / baseRTT        actual = sent in the round / RTT
//!   diff = (expected - actual) · baseRTT    whole packets, rounded
//! W < S, every other round:   diff > γ:  S = 2, W -= W / 8;   else W += 1 per packet acknowledged
//! W >= S:                     diff > β:  W -= 1;   diff < α:  W += 1 a round;   else W stays
//! loss: W <- 3/4 W, S = 2     timeout: S = W / 2, W = 2
//! ```
//!
//! `W` window, `S` slow-start threshold, α β γ: packets; RTT mean of the round's samples, baseRTT the smallest
//! sample. At a constant window the difference is W (1 - baseRTT / RTT).
//!
//! Readings: α, β, γ = 1, 3, 1 and the window after a loss are ns-2's; the paper and Linux take 2, 4, 1, and Linux
//! halves. Linux takes the round's least RTT, which leaves delayed acknowledgements out, doubles in every round of slow
//! start, and leaves slow start at the actual rate. A round ends, as in ns-2, with the packet that was sent first after the decision
//! before; a round in which no more than one packet was sent sets baseRTT again.
//! Departures from ns-2: the host repairs losses, so the fine-grained retransmission timer is absent, and no
//! decision is taken before all that was sent before a loss is acknowledged.

use alloc::vec::Vec;

use super::rounds::Rounds;
use super::window::{FLOOR_AFTER_LOSS, InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::settings::{Auto, Or};

mod linux;

crate::settings! {
    /// Vegas's parameters.
    pub struct Params {
        /// The window grows while fewer packets than this wait in the queue; `auto` is 1, or 2 on Linux hosts, as in the paper.
        alpha: Or<f64, Auto> = Or::WORD, Or::is(0.0)..=Or::is(1000.0);
        /// The window shrinks while more packets than this wait in the queue; `auto` is 3, or 4 on Linux hosts, as in the paper.
        beta: Or<f64, Auto> = Or::WORD, Or::is(0.0)..=Or::is(1000.0);
        /// Slow start ends when more packets than this wait in the queue.
        gamma: f64 = 1.0, 0.0..=1000.0;
        /// The fraction by which a loss reduces the window; `auto` is 0.25, or 0.5 on Linux hosts.
        loss_decrease: Or<f64, Auto> = Or::WORD, Or::is(0.01)..=Or::is(0.99);
        /// The least window, after a timeout too, in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
        /// Round the difference to whole packets before comparing, as ns-2 does; Linux leaves fractions out.
        rounding: bool = true;
    }
    check |params: &Params| {
        let Rules { alpha, beta, .. } = Rules::PUBLISHED.with(params);
        if alpha <= beta {
            Ok(())
        } else {
            Err(format!("alpha = {alpha} is above beta = {beta}: it must not be, as in 1 and 3"))
        }
    }
}

/// The constants of a version.
#[derive(Clone, Copy, Debug)]
struct Rules {
    alpha: f64,
    beta: f64,
    loss_decrease: f64,
}

impl Rules {
    const PUBLISHED: Rules = Rules { alpha: 1.0, beta: 3.0, loss_decrease: 0.25 };
    const LINUX: Rules = Rules { alpha: 2.0, beta: 4.0, loss_decrease: 0.5 };

    fn of(version: Version) -> Rules {
        match version {
            Version::Published => Rules::PUBLISHED,
            Version::Linux => Rules::LINUX,
        }
    }

    /// Defaults for values that `params` lack.
    fn with(self, params: &Params) -> Rules {
        let or = |given: &Or<f64, Auto>, rule| given.get().copied().unwrap_or(rule);
        Rules {
            alpha: or(&params.alpha, self.alpha),
            beta: or(&params.beta, self.beta),
            loss_decrease: or(&params.loss_decrease, self.loss_decrease),
        }
    }
}

/// A Vegas controller.
#[derive(Clone, Debug)]
pub struct Vegas {
    rules: Rules,
    gamma: f64,
    min_window: f64,
    rounding: bool,
    linux: bool,
    /// On Linux hosts: decisions rest until this packet is acknowledged.
    suspended: Option<u64>,
    window: Window,
    rounds: Rounds,
    /// Whether the window grows in this round of slow start.
    growing_round: bool,
    /// Packets that the window gains per packet acknowledged in this round.
    gain: f64,
    diff: f64,
}

impl Vegas {
    /// Compares the rate expected with the actual one, and sets this round's growth.
    fn decide(&mut self, ack: &Ack) {
        // A round without a sample, as the first acknowledgement ends it, decides nothing.
        let Some(rtt) = self.rounds.mean() else { return };
        let sent = ack.next.saturating_sub(self.rounds.last);
        if sent <= 1 {
            self.rounds.base = rtt;
        }
        // The number before this acknowledgement removed its packets.
        let outstanding = ack.next.saturating_sub(ack.una) as f64 + f64::from(ack.acked);
        let diff = outstanding - sent as f64 * (self.rounds.base.0 as f64 / rtt.0 as f64);
        self.diff = if self.rounding { libm::trunc(diff + 0.5) } else { diff };
        if self.window.slow_start() {
            self.decide_in_slow_start();
        } else {
            self.decide_in_avoidance();
        }
    }

    fn decide_in_slow_start(&mut self) {
        self.growing_round = !self.growing_round;
        self.gain = 0.0;
        if !self.growing_round {
            return;
        }
        if self.diff > self.gamma {
            self.window.ssthresh = FLOOR_AFTER_LOSS;
            self.shrink_to(self.window.packets * 7.0 / 8.0);
        } else {
            self.gain = 1.0;
        }
    }

    fn decide_in_avoidance(&mut self) {
        self.gain = 0.0;
        if self.diff > self.rules.beta {
            self.shrink_to(self.window.packets - 1.0);
        } else if self.diff < self.rules.alpha {
            self.gain = 1.0 / self.window.packets;
        }
    }

    fn shrink_to(&mut self, packets: f64) {
        self.window.packets = packets.max(self.min_window);
    }
}

impl Controller for Vegas {
    type Params = Params;

    fn new(params: Params, start: Start) -> Vegas {
        Vegas {
            rules: Rules::of(start.version).with(&params),
            gamma: params.gamma,
            min_window: params.min_window,
            rounding: params.rounding,
            linux: start.version == Version::Linux,
            suspended: None,
            window: Window::new(start, InLinux::WholeLeft),
            rounds: Rounds::new(),
            growing_round: false,
            gain: 0.0,
            diff: 0.0,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.linux {
            return self.avoid_as_linux(ack);
        }
        if self.rounds.over(ack) && !ack.recovering {
            self.decide(ack);
            self.rounds.begin(ack.next);
        }
        // The acknowledgement that ends a round is the first of the next one.
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        if self.window.slow_start() {
            let room = self.window.ssthresh - self.window.packets;
            self.window.packets += (self.gain * ack.credit).min(room);
        } else if self.gain < 1.0 {
            // Slow start's gain does not outlive the threshold.
            self.window.packets += self.gain * ack.credit;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * (1.0 - self.rules.loss_decrease));
        self.window.packets = self.window.packets.max(self.min_window);
        if self.linux {
            self.suspended = Some(loss.next);
            return;
        }
        // The threshold rules only slow start, which is over.
        self.window.ssthresh = FLOOR_AFTER_LOSS;
        self.gain = 0.0;
        self.rounds.begin(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight / 2.0);
        if self.linux {
            self.suspended = Some(timeout.next);
            return;
        }
        self.window.packets = self.min_window;
        self.gain = 0.0;
        self.rounds.begin(self.rounds.last);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("base_rtt_ms", self.rounds.base_ms()), ("diff_packets", self.diff)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::settings::Settings;
    use crate::units::Span;

    fn trace(window: f64, ssthresh: f64, params: Params) -> Trace<Vegas> {
        Trace::new(Vegas::new(params, Start { initial_ssthresh: ssthresh, ..Start::new(window) }))
    }

    /// Rounds on a path of 100 ms, `queueing` of which is queueing delay; the window after each.
    fn rounds(trace: &mut Trace<Vegas>, queueing: Span, count: usize) -> Vec<f64> {
        trace.rtt = Span::from_millis(100);
        trace.ack(Span::from_millis(1));
        trace.rtt = Span::from_millis(100) + queueing;
        (0..count).map(|_| trace.round_trip()).collect()
    }

    #[test]
    fn the_difference_is_the_packets_that_wait() {
        // 40 packets, 100 ms of path, 25 ms of queue: W (1 - base / RTT) = 40 (1 - 100 / 125) = 8.
        let mut steady = trace(40.0, 2.0, Params { rounding: false, ..Params::default() });
        rounds(&mut steady, Span::from_millis(25), 2);
        assert!((steady.controller.diff - 8.0).abs() < 1.0, "{}", steady.controller.diff);
        assert_eq!(steady.controller.rounds.base, Span::from_millis(100));
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let mut fresh = trace(2.0, f64::INFINITY, Params::default());
        let windows = rounds(&mut fresh, Span::ZERO, 8);
        let doublings: Vec<f64> = windows.windows(2).map(|pair| pair[1] / pair[0]).collect();
        for pair in doublings.windows(2) {
            assert!((pair[0] * pair[1] - 2.0).abs() < 0.5, "{windows:?}");
        }
        assert!(fresh.window() >= 16.0 && fresh.window() <= 64.0, "{windows:?}");
    }

    #[test]
    fn slow_start_ends_with_seven_eighths_when_packets_wait() {
        let mut fresh = trace(64.0, f64::INFINITY, Params::default());
        rounds(&mut fresh, Span::from_millis(20), 2);
        assert_eq!(fresh.window(), 56.0);
        assert!(!fresh.controller.window.slow_start());
    }

    #[test]
    fn avoidance_adds_one_below_alpha_holds_between_and_takes_one_above_beta() {
        // The first decision comes with the 21st acknowledgement, the last of the first round here.
        let gained = |queueing, count| {
            let mut steady = trace(20.0, 2.0, Params::default());
            rounds(&mut steady, queueing, count).last().unwrap() - 20.0
        };
        // 20 (1 - 100 / RTT): none, 1.8 and 4 packets waiting.
        let grown = gained(Span::ZERO, 2);
        assert!(grown > 0.9 && grown <= 1.1, "{grown}");
        assert_eq!(gained(Span::from_millis(10), 1), 0.0);
        assert_eq!(gained(Span::from_millis(25), 1), -1.0);
        assert_eq!(gained(Span::from_millis(10), 20), 0.0);
    }

    #[test]
    fn a_loss_leaves_three_quarters_and_a_timeout_two_packets() {
        let mut lossy = trace(40.0, 2.0, Params::default());
        lossy.loss();
        assert_eq!(lossy.window(), 30.0);
        assert!(!lossy.controller.window.slow_start());
        lossy.timeout();
        assert_eq!((lossy.window(), lossy.controller.window.ssthresh), (2.0, 15.0));
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let message = Params { alpha: Or::is(4.0), ..Params::default() }.check().unwrap_err();
        assert!(message.contains("alpha = 4 is above beta = 3"), "{message}");
    }
}
