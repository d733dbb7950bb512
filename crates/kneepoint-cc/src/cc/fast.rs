// SPDX-License-Identifier: Apache-2.0 OR MIT
//! FAST: steers the window towards the one that keeps α packets of its own in the queue.
//!
//! C. Jin, D. X. Wei, S. H. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance", INFOCOM 2004, §IV; as in the ns-2 module of T. Cui and L. Andrew, version 1.1.3.
//!
//! ```text
//! every sample r:     avg <- avg + η (r - avg),  η = min(3 / W, 1/256);   base <- min(base, r)
//! avg - base < m:     W += 1 per packet acknowledged                      multiplicative increase
//! every other round:  W <- (1 - γ) W + γ (base / avg · W0 + α),  every 10 ms
//! loss:               W <- W / 2         timeout: W <- 2
//! ```
//!
//! `W` window, `W0` packets outstanding when the packet now acknowledged was sent; `α`: packets; `r` round-trip
//! time, `m` threshold: time.
//! At rest W (1 - base / avg) = α: each flow keeps α packets in the queue, for any round-trip time.
//!
//! Readings, all the module's, whose behaviour published comparisons in ns-2 show:
//! * α is 100. Where the flows' α together exceed the buffer there is no rest: windows double every round trip
//!   until packets are lost, many at a time, and hosts run into timeouts.
//! * The paper makes one update a round, at most a doubling, min(2 W0, …). The module repeats it every 10 ms from
//!   the W0 of a round trip ago, without that limit. `interval` is that time; 0 is the paper's rule.
//! * An increase is a whole number of packets (the rest of it is dropped, so that a flow keeps up to 1 / γ packets
//!   less than α), spread over the acknowledgements until the next update, at most one packet each. The pending part is
//!   added in the round without updates, and after a loss. A decrease is taken at once.
//! * For a round trip after the recovery episode, W0 is the window before the loss, which undoes much of the halving.
//! * η is the module's; the paper's is min(3 / W, 1/4) (`max_weight`).
//! * Slow start is the multiplicative increase: there is no threshold to remember, and a connection's initial one
//!   is ignored.
//! * A mark halves like a loss. The window is never below two packets.
//!
//! Departures from the module: losses are found and repaired by the host, without the module's retransmission of
//! packets older than 2 avg; increases are spread for base round-trip times below 4 ms, too.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::delay::Delay;
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
        /// The window doubles every round trip up to this queueing delay.
        threshold: Span = Span::from_micros(750), Span::ZERO..=Span::from_secs(10);
        /// Time between the updates of a round that updates; 0 for one update, at most a doubling.
        interval: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(10);
        /// The greatest weight of a sample in the average round-trip time; the paper's is 0.25.
        max_weight: f64 = 1.0 / 256.0, 0.0001..=1.0;
        /// The fraction by which a loss reduces the window.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
    }
}

/// Windows up to this size grow at once, by at most a doubling (module).
const SMALL: f64 = 4.0;

/// A FAST controller.
#[derive(Clone, Debug)]
pub struct Fast {
    params: Params,
    window: f64,
    delay: Delay,
    /// The beginning of the round.
    began: Time,
    /// Whether this round updates; every other one does.
    updating: bool,
    /// The next update of this round.
    due: Time,
    /// Packets acknowledged in this round and in the one before.
    acked: [f64; 2],
    /// Packets outstanding since each of these times, without packets sent at that time.
    outstanding: VecDeque<(Time, f64)>,
    /// Packets still to add from the last update, and the number of acknowledged packets for each.
    pending: f64,
    spacing: f64,
    /// Packets acknowledged since the last one was added.
    since: f64,
}

impl Fast {
    /// Packets that were outstanding at that time.
    fn outstanding_at(&mut self, sent: Time) -> f64 {
        while self.outstanding.get(1).is_some_and(|(since, _)| *since <= sent) {
            self.outstanding.pop_front();
        }
        self.outstanding.front().map_or(self.window, |(_, packets)| *packets)
    }

    fn update(&mut self, now: Time, origin: f64) {
        let average = self.delay.smoothed();
        let base = self.delay.least().unwrap_or_default();
        let kept = origin * ratio(base, average) + self.params.alpha;
        let mut goal = (1.0 - self.params.gamma) * self.window + self.params.gamma * kept;
        // The number of packets that will be acknowledged before the next update
        let acknowledged = match self.params.interval {
            Span::ZERO => {
                self.due = Time::NEVER;
                goal = goal.min(2.0 * origin);
                self.acked[1]
            }
            interval => {
                self.due = now + interval;
                self.acked[1] * ratio(interval, average)
            }
        };
        self.pending = libm::floor(goal - self.window).max(0.0);
        if self.pending > 0.0 {
            self.spacing = libm::floor(acknowledged / self.pending);
            self.since = 0.0;
        }
        self.window = self.window.min(goal).max(FLOOR_AFTER_LOSS);
    }

    /// Adds the part of the last update's increase that is due.
    fn grow(&mut self, credit: f64) {
        self.since += credit;
        let step = if self.window <= SMALL {
            self.pending.min(libm::floor(self.window))
        } else if self.since >= self.spacing {
            self.pending.min(credit)
        } else {
            return;
        };
        if step > 0.0 {
            self.window += step;
            self.pending -= step;
            self.since = 0.0;
        }
    }
}

/// `part` over `whole`; 1 if `whole` is zero.
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
            began: Time::ZERO,
            updating: false,
            due: Time::ZERO,
            acked: [0.0; 2],
            outstanding: VecDeque::new(),
            pending: 0.0,
            spacing: 0.0,
            since: 0.0,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if ack.recovering {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.delay.observe_with(rtt, (3.0 / self.window).min(self.params.max_weight));
        }
        let rtt = ack.rtt.unwrap_or(self.delay.smoothed());
        let origin = self.outstanding_at(Time(ack.now.0.saturating_sub(rtt.0)));
        self.outstanding.push_back((ack.now, (i64::from(ack.in_flight) + i64::from(ack.acked)) as f64));
        if ack.now.since(self.began) > rtt {
            self.began = ack.now;
            self.acked = [0.0, self.acked[0]];
            self.updating = !self.updating;
            if self.params.interval == Span::ZERO {
                self.due = ack.now;
            }
        }
        self.acked[0] += ack.credit;
        if self.delay.queueing() < self.params.threshold {
            self.window += ack.credit;
            self.due = ack.now + self.params.interval;
            return;
        }
        if self.updating && ack.now >= self.due {
            self.update(ack.now, origin);
        }
        self.grow(ack.credit);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window =
            (loss.flight * (1.0 - self.params.loss_decrease)).min(self.window).max(FLOOR_AFTER_LOSS);
    }

    fn on_timeout(&mut self, _: &Timeout) {
        self.window = FLOOR_AFTER_LOSS;
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

    /// A window of `window` packets on a path of 100 ms, `queueing` of which is queueing delay, at the beginning of a round that updates.
    fn settled(window: f64, queueing: Span, params: Params) -> Trace<Fast> {
        let mut trace = Trace::new(Fast::new(params, Start::avoiding(window)));
        trace.controller.delay = Delay::new(0.0);
        trace.controller.delay.observe(Span::from_millis(100));
        trace.controller.delay.observe_with(Span::from_millis(100) + queueing, 1.0);
        trace.rtt = Span::from_millis(100) + queueing;
        trace.now = Time(1_000_000_000);
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
        // A round of 125 ms that updates and one that does not; then 0.5 · 190 + 0.5 (0.8 · 190 + 20) = 181.
        for _ in 1..252 {
            trace.ack(Span::from_millis(1));
            assert_eq!(trace.window(), 190.0);
        }
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.window(), 181.0);
    }

    #[test]
    fn an_increase_is_spread_over_the_round_in_whole_packets() {
        // 100 packets, 100 of 110 ms: 50 + 0.5 (100 / 1.1 + 20) = 105.45, a packet for each 20 of 100.
        let mut trace = settled(100.0, Span::from_millis(10), paper());
        trace.controller.acked[0] = 100.0;
        for step in 1..=100 {
            trace.ack(Span::from_millis(1));
            assert_eq!(trace.window(), 100.0 + f64::from(step / 20));
        }
    }

    #[test]
    fn the_papers_update_at_most_doubles_and_the_modules_goes_on_in_the_next_round() {
        let most = |params| {
            let mut trace = settled(10.0, Span::from_millis(10), Params { alpha: 1000.0, ..params });
            [trace.round_trip(), trace.round_trip()]
        };
        assert_eq!(most(paper()), [20.0, 20.0]);
        assert_eq!(most(Params::default()), [20.0, 40.0]);
    }

    #[test]
    fn what_was_outstanding_before_a_loss_brings_the_window_back() {
        let params = Params { max_weight: 1.0, alpha: 20.0, ..Params::default() };
        let mut trace = settled(100.0, Span::from_millis(25), params);
        // A loss in the middle of a round that updates.
        (0..50).for_each(|_| trace.ack(Span::from_micros(1250)));
        trace.loss();
        assert_eq!(trace.window(), 50.0);
        (0..60).for_each(|_| trace.ack(Span::from_millis(1)));
        assert!(trace.window() > 90.0, "{}", trace.window());
    }

    #[test]
    fn ten_updates_of_a_round_cover_nearly_all_of_the_distance() {
        let params = Params { max_weight: 1.0, alpha: 20.0, ..Params::default() };
        let mut trace = settled(200.0, Span::from_millis(25), params);
        trace.round_trip();
        // 0.8 · 200 + 20 = 180, and the rest of 20 packets after a dozen halvings.
        assert!((trace.window() - 180.0).abs() < 0.01, "{}", trace.window());
    }

    #[test]
    fn alpha_packets_in_the_queue_are_rest() {
        // 100 packets, 100 of 125 ms: 20 wait.
        for params in [paper(), Params { alpha: 20.0, ..Params::default() }] {
            let mut trace = settled(100.0, Span::from_millis(25), params);
            for _ in 0..6 {
                trace.round_trip();
            }
            // Less than 1 / γ packets may be missing.
            let waiting = trace.controller.state()[2].1;
            assert!((18.0..=20.1).contains(&waiting), "{waiting}");
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
