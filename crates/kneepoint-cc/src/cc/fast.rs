// SPDX-License-Identifier: Apache-2.0 OR MIT
//! FAST: steers the window towards the one that keeps α packets of its own in the queue.
//!
//! C. Jin, D. X. Wei, S. H. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance", INFOCOM 2004, §IV; constants as in the ns-2 module of T. Cui and L. Andrew, version 1.1.3.
//!
//! ```text
//! every sample r:     avg <- avg + η (r - avg),  η = min(3 / W, 1/256);   base <- min(base, r)
//! avg - base < m:     W += 1 per packet acknowledged                      multiplicative increase
//! every other round:  W <- min(2 W0, (1 - γ) W + γ (base / avg · W0 + α))
//! loss:               W <- W / 2         timeout: W <- 2
//! ```
//!
//! `W` window, `W0` the window as the round began, `α`: packets; `r` round-trip time, `m` threshold: time.
//! At rest W (1 - base / avg) = α: each flow keeps α packets in the queue, whatever its round-trip time.
//!
//! Readings:
//! * α = 100 is the module's. Where the flows' α together exceed the buffer there is no rest: a window doubles every
//!   other round until packets are lost.
//! * The paper spreads one update over a round trip, and lets the next round trip pass. The module updates every
//!   10 ms of a round that updates, always from the same W0, so a round of 60 ms closes 98 % of the distance
//!   where γ = 0.5 would close half. `interval` is that time; 0 takes one update a round, as in the paper.
//! * An increase is spread over the acknowledgements until the next update, at most one packet each; a decrease is
//!   taken at once (module).
//! * η is the module's; the paper's is min(3 / W, 1/4) (`max_weight`).
//! * Slow start is the multiplicative increase: there is no threshold to remember, and a connection's initial one
//!   is ignored.
//! * A mark halves like a loss. The window is never below two packets.
//!
//! Departures from the module: W0 is the window as the round began, not the packets outstanding when the packet now
//! acknowledged was sent; so the first update after a loss starts from the halved window, not from the one before.

use alloc::vec::Vec;

use super::delay::Delay;
use super::rounds::Rounds;
use super::window::FLOOR_AFTER_LOSS;
use super::{Ack, Control, Controller, Loss, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// FAST's parameters.
    pub struct Params {
        /// Packets that a flow keeps in the queue.
        alpha: f64 = 100.0, 0.1..=1000000.0;
        /// The part of the distance that one update covers.
        gamma: f64 = 0.5, 0.01..=1.0;
        /// The window doubles every round trip while less than this queueing delay is seen.
        threshold: Span = Span::from_micros(750), Span::ZERO..=Span::from_secs(10);
        /// Time between the updates of a round that updates; 0 for one update.
        interval: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(10);
        /// The greatest weight of a sample in the average round-trip time; the paper's is 0.25.
        max_weight: f64 = 1.0 / 256.0, 0.0001..=1.0;
        /// The fraction of the window that a loss takes off.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
    }
}

/// A FAST controller.
#[derive(Clone, Debug)]
pub struct Fast {
    params: Params,
    window: f64,
    delay: Delay,
    rounds: Rounds,
    /// Whether this round updates; every other one does.
    updating: bool,
    /// The next update of this round.
    due: Time,
    /// W0.
    origin: f64,
    /// Where the last update leads.
    goal: f64,
    /// Packets that the window gains per packet acknowledged until then.
    gain: f64,
}

impl Fast {
    fn begin_round(&mut self, ack: &Ack) {
        self.rounds.begin(ack.next);
        self.updating = !self.updating;
        self.due = if self.updating { ack.now } else { Time::NEVER };
        self.origin = self.window;
    }

    fn update(&mut self, now: Time) {
        let average = self.delay.smoothed();
        // One update a round is spread over all of it.
        let (due, period) = match self.params.interval {
            Span::ZERO => (Time::NEVER, average),
            interval => (now + interval, interval.min(average)),
        };
        self.due = due;
        let base = self.delay.least().unwrap_or_default();
        let kept = self.origin * ratio(base, average) + self.params.alpha;
        let goal = (1.0 - self.params.gamma) * self.window + self.params.gamma * kept;
        self.goal = goal.min(2.0 * self.origin).max(FLOOR_AFTER_LOSS);
        self.window = self.window.min(self.goal);
        let acknowledged = self.origin * ratio(period, average);
        self.gain = ((self.goal - self.window) / acknowledged.max(1.0)).min(1.0);
    }

    /// Continues from `packets`, and forgets where it was going.
    fn restart(&mut self, packets: f64, next: u64) {
        self.window = packets.min(self.window).max(FLOOR_AFTER_LOSS);
        self.goal = self.window;
        self.due = Time::NEVER;
        self.rounds.begin(next);
    }
}

/// How many times `whole` fits in `part`; 1 where there is no time at all.
fn ratio(part: Span, whole: Span) -> f64 {
    if whole == Span::ZERO { 1.0 } else { part.0 as f64 / whole.0 as f64 }
}

impl Controller for Fast {
    type Params = Params;

    fn new(params: Params, start: Start) -> Fast {
        Fast {
            params,
            window: start.initial_window,
            delay: Delay::new(0.0),
            rounds: Rounds::new(),
            updating: false,
            due: Time::NEVER,
            origin: start.initial_window,
            goal: start.initial_window,
            gain: 0.0,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.delay.observe_with(rtt, (3.0 / self.window).min(self.params.max_weight));
        }
        if ack.recovering {
            return;
        }
        if self.rounds.over(ack) {
            self.begin_round(ack);
        }
        if self.delay.queueing() < self.params.threshold {
            self.window += ack.credit;
            self.goal = self.window;
        } else {
            if ack.now >= self.due {
                self.update(ack.now);
            }
            self.window = (self.window + self.gain * ack.credit).min(self.goal);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.restart(loss.flight * (1.0 - self.params.loss_decrease), loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.restart(FLOOR_AFTER_LOSS, timeout.next);
    }

    #[inline]
    fn control(&self) -> Control {
        Control { window: self.window.max(1.0), pacing: None }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let (average, base) = (self.delay.smoothed(), self.delay.least().unwrap_or_default());
        vec![
            ("average_rtt_ms", average.as_millis_f64()),
            ("base_rtt_ms", base.as_millis_f64()),
            ("waiting_packets", self.window * (1.0 - ratio(base, average))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn paper() -> Params {
        Params { interval: Span::ZERO, max_weight: 1.0, alpha: 20.0, ..Params::default() }
    }

    /// A window of `window` packets on a path of 100 ms of which `queueing` is waiting, as a round that updates begins.
    fn settled(window: f64, queueing: Span, params: Params) -> Trace<Fast> {
        let mut trace = Trace::new(Fast::new(params, Start::avoiding(window)));
        trace.controller.delay = Delay::new(0.0);
        trace.controller.delay.observe(Span::from_millis(100));
        trace.controller.delay.observe_with(Span::from_millis(100) + queueing, 1.0);
        trace.rtt = Span::from_millis(100) + queueing;
        trace
    }

    #[test]
    fn without_queueing_delay_the_window_doubles_every_round_trip() {
        let mut trace = settled(10.0, Span::ZERO, Params::default());
        assert_eq!([trace.round_trip(), trace.round_trip()], [20.0, 40.0]);
    }

    #[test]
    fn an_update_covers_half_the_distance_and_the_next_round_covers_none() {
        // 200 packets, 100 of 125 ms: 0.5 · 200 + 0.5 (0.8 · 200 + 20) = 190, taken at once.
        let mut trace = settled(200.0, Span::from_millis(25), paper());
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.window(), 190.0);
        // The 200 packets sent so far and the 190 after them: 0.5 · 190 + 0.5 (0.8 · 190 + 20) = 181.
        while trace.una < 390 {
            trace.ack(Span::from_millis(1));
            assert_eq!(trace.window(), 190.0);
        }
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.window(), 181.0);
    }

    #[test]
    fn an_increase_is_spread_over_the_round() {
        // 100 packets, 100 of 110 ms: 50 + 0.5 (100 / 1.1 + 20) = 105.4545.
        let mut trace = settled(100.0, Span::from_millis(10), paper());
        trace.ack(Span::from_millis(1));
        assert!(trace.window() > 100.0 && trace.window() < 100.1, "{}", trace.window());
        for _ in 1..50 {
            trace.ack(Span::from_millis(1));
        }
        assert!((trace.window() - 102.7273).abs() < 1e-3, "{}", trace.window());
        for _ in 50..101 {
            trace.ack(Span::from_millis(1));
        }
        assert!((trace.window() - 105.4545).abs() < 1e-3, "{}", trace.window());
    }

    #[test]
    fn an_update_at_most_doubles() {
        let mut trace = settled(10.0, Span::from_millis(10), Params { alpha: 1000.0, ..Params::default() });
        trace.round_trip();
        assert!(trace.round_trip() <= 20.0, "{}", trace.window());
    }

    #[test]
    fn ten_updates_of_a_round_cover_nearly_all_of_the_distance() {
        let params = Params { max_weight: 1.0, alpha: 20.0, ..Params::default() };
        let mut trace = settled(200.0, Span::from_millis(25), params);
        trace.round_trip();
        // 0.8 · 200 + 20 = 180, and what is left of 20 packets after a dozen halvings.
        assert!((trace.window() - 180.0).abs() < 0.01, "{}", trace.window());
    }

    #[test]
    fn alpha_packets_in_the_queue_are_rest() {
        // 100 packets, 100 of 125 ms: 20 wait.
        for params in [paper(), Params { alpha: 20.0, ..Params::default() }] {
            let mut trace = settled(100.0, Span::from_millis(25), params);
            for _ in 0..6 {
                assert!((trace.round_trip() - 100.0).abs() < 1e-6);
            }
            assert!((trace.controller.state()[2].1 - 20.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_weight_of_a_sample_is_three_windows_share_at_large_windows() {
        let mut trace = settled(3000.0, Span::ZERO, Params::default());
        trace.rtt = Span::from_millis(200);
        trace.ack(Span::from_millis(1));
        // 3 / 3000 of 100 ms, then 1/256 of it at 300 packets.
        assert!((trace.controller.delay.queueing().as_millis_f64() - 0.1).abs() < 1e-3);
        let mut smaller = settled(300.0, Span::ZERO, Params::default());
        smaller.rtt = Span::from_millis(200);
        smaller.ack(Span::from_millis(1));
        assert!((smaller.controller.delay.queueing().as_millis_f64() - 100.0 / 256.0).abs() < 1e-3);
    }

    #[test]
    fn a_loss_halves_and_a_timeout_leaves_two_packets() {
        let mut trace = settled(100.0, Span::from_millis(25), Params::default());
        trace.loss();
        assert_eq!(trace.window(), 50.0);
        trace.timeout();
        assert_eq!(trace.window(), 2.0);
    }
}
