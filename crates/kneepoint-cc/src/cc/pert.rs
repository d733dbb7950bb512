// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT: responds to queueing delay early and at random, as a RED router would have marked.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §3, Figure 5.
//!
//! ```text
//! q = srtt_0.99 - min RTT, or the same of one-way delays                    every sample, §2.4; §7
//! p = 0                                      q <= t1
//!     pmax (q - t1) / (t2 - t1)              t1 <= q <= t2                  Figure 5
//!     pmax + (1 - pmax) (q - t2) / (t3 - t2) t2 <= q <= t3
//!     1                                      q >= t3
//! with probability p, once per round trip:   W <- (1 - f) W,  S <- W        §3
//! otherwise, and at a loss, as Reno:         W += 1 / W;  W <- W / 2
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `q` queueing delay, `t1 t2 t3` thresholds: time; `f` decrease.
//!
//! Readings, each a parameter where an experiment could want the other:
//! * The paper writes t1 and t2 as P + 5 ms and P + 10 ms, and t3 as "2 Tmax": 2 · t2 of queueing delay.
//! * f = 0.35: a buffer of half a bandwidth-delay product in equation (1), B > f / (1 - f) · BDP, gives 1/3.
//! * Silent on slow start: no early response there, with this curve (`early_in_slow_start`).
//! * "Once per RTT": until all packets sent before a response are acknowledged (`once_per_round_trip`).
//! * Silent on losses: a loss, and the end of its repair, count as a response (`loss_counts`).
//! * The probability is computed at every sample, not by a clock (`every`).
//! * A response, in its own file, makes the probability out of `q`: `response/red.rs` is the curve above.
//! * The weight is per acknowledgement, so with delayed acknowledgements, or a window of few packets, the average
//!   remembers many round trips and several responses follow one overshoot. At a window of one packet each sample
//!   contains the receiver's delay, and a flow may stay there. The paper acknowledges every packet; so do we by default.
//! * Round trips contain the queues that acknowledgements meet. §7 names one-way delays as the remedy: `signal=one-way`
//!   takes the receiver's clock less the sender's, as timestamps tell both; the difference of the clocks cancels in q.
//!   Clocks that drift apart are not corrected. Without timestamps there is no early response.
//! * The window after an early response is at least one packet (`min_window`), the threshold two as after a loss
//!   (`min_threshold`). For a window beyond the receive window, the response applies to the receive window: the rest is not in
//!   use.
//! * The acknowledgement that responds does not grow the window (`grow_on_response`), on which the paper is silent.

use alloc::vec::Vec;

use super::delay::{Delay, Signal};
use super::early::{self, Cut, Early};
use super::response::Response;
use super::response::red::Red;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;

crate::settings! {
    /// PERT's parameters, without its response's.
    pub struct Params<R: Response> {
        ..response: R::Params;
        ..early: early::Params;
        /// The delay whose queueing part is estimated.
        signal: Signal = Signal::RoundTrip;
        /// The weight of the past in the smoothed delay.
        history: f64 = 0.99, 0.0..=0.9999;
        /// The fraction by which an early response reduces the window.
        decrease: f64 = 0.35, 0.01..=0.99;
        /// The fraction by which a loss reduces the window.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
        /// Packets added per round trip in congestion avoidance.
        increase: f64 = 1.0, 0.01..=100.0;
        /// Respond early in slow start too; the response ends it.
        early_in_slow_start: bool = R::IN_SLOW_START;
        /// The least window after an early response, in packets.
        min_window: f64 = 1.0, 1.0..=100.0;
        /// The least slow-start threshold after an early response, in packets; at 1 the threshold is the window.
        min_threshold: f64 = 2.0, 1.0..=100.0;
        /// The acknowledgement that triggers a response also grows the reduced window.
        grow_on_response: bool = false;
    }
}

/// A PERT controller; the response makes its probability.
#[derive(Clone, Debug)]
pub struct Pert<R = Red> {
    window: Window,
    delay: Delay,
    response: R,
    probability: f64,
    early: Early,
    increase: f64,
    decrease: f64,
    loss_decrease: f64,
    signal: Signal,
}

impl<R: Response> Controller for Pert<R> {
    type Params = Params<R>;

    fn new(params: Self::Params, start: Start) -> Self {
        let Params { min_window, min_threshold, grow_on_response: grows, .. } = params;
        let cut = Cut { min_window, min_threshold, grows };
        Pert {
            window: Window::new(start, InLinux::Fractions),
            delay: Delay::new(params.history),
            response: R::new(&params.response),
            probability: 0.0,
            early: Early::new(&params.early, cut, params.early_in_slow_start, &start),
            increase: params.increase,
            decrease: params.decrease,
            loss_decrease: params.loss_decrease,
            signal: params.signal,
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        self.early.hear(ack);
        if let Some(sample) = self.signal.sample(ack) {
            self.delay.observe(sample);
            if let Some(probability) = self.response.probability(self.delay.queueing(), ack.now) {
                self.probability = probability;
            }
            // Without a probability no random number is drawn, so that an idle path consumes none.
            let allowed = self.probability > 0.0 && self.early.allowed(ack, self.window.slow_start());
            if allowed
                && rng.chance(self.probability)
                && !self.early.respond(&mut self.window, 1.0 - self.decrease, ack.next)
            {
                return;
            }
        }
        self.window.grow(ack, self.increase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * (1.0 - self.loss_decrease));
        self.early.lost(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight * (1.0 - self.loss_decrease));
        self.early.lost(timeout.next);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let [smoothed, least] = self.signal.names();
        vec![
            (smoothed, self.delay.smoothed().as_millis_f64()),
            (least, self.delay.least().unwrap_or_default().as_millis_f64()),
            ("queueing_delay_ms", self.delay.queueing().as_millis_f64()),
            ("probability", self.probability),
            ("early_responses", self.early.responses() as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::Span;

    type Params = super::Params<Red>;

    fn avoiding(window: f64, params: Params) -> Trace<Pert> {
        Trace::new(Pert::new(params, Start::avoiding(window)))
    }

    /// A path of 60 ms, then acknowledgements with 25 ms more: past t3 once the average follows.
    fn congest(trace: &mut Trace<Pert>, acks: usize) {
        trace.rtt = Span::from_millis(60);
        trace.ack(Span::from_millis(1));
        trace.rtt = Span::from_millis(85);
        for _ in 0..acks {
            trace.ack(Span::from_millis(1));
        }
    }

    #[test]
    fn an_early_response_leaves_65_percent_of_the_window_and_ends_growth_for_that_acknowledgement() {
        let mut trace = avoiding(100.0, Params { history: 0.0, ..Params::default() });
        congest(&mut trace, 0);
        let before = trace.window();
        trace.rtt = Span::from_millis(85);
        trace.ack(Span::from_millis(1));
        assert!((trace.window() - 0.65 * before).abs() < 1e-9, "{}", trace.window());
        assert_eq!(trace.controller.window.ssthresh, trace.window());
        assert_eq!(trace.controller.early.responses(), 1);
    }

    #[test]
    fn certain_responses_come_once_per_round_trip() {
        let mut trace = avoiding(100.0, Params { history: 0.0, ..Params::default() });
        // The first response comes with the second acknowledgement, when 101 packets have been sent: the second
        // response waits for the acknowledgement of the 102nd.
        congest(&mut trace, 100);
        assert_eq!((trace.una, trace.controller.early.responses()), (101, 1));
        trace.ack(Span::from_millis(1));
        assert_eq!((trace.una, trace.controller.early.responses()), (102, 2));
        let every_acknowledgement = early::Params { once_per_round_trip: false, ..early::Params::default() };
        let mut unlimited =
            avoiding(100.0, Params { history: 0.0, early: every_acknowledgement, ..Params::default() });
        congest(&mut unlimited, 10);
        assert_eq!(unlimited.controller.early.responses(), 10);
    }

    #[test]
    fn slow_start_is_left_alone_unless_asked_otherwise() {
        let start = Start::new(10.0);
        let params = Params { history: 0.0, ..Params::default() };
        let mut quiet = Trace::new(Pert::new(params.clone(), start));
        congest(&mut quiet, 20);
        assert_eq!((quiet.controller.early.responses(), quiet.window()), (0, 31.0));
        let mut early = Trace::new(Pert::new(Params { early_in_slow_start: true, ..params }, start));
        congest(&mut early, 1);
        assert_eq!((early.controller.early.responses(), early.window()), (1, 11.0 * 0.65));
        assert!(!early.controller.window.slow_start());
    }

    #[test]
    fn a_loss_halves_and_holds_early_responses_back_for_a_round_trip() {
        let held_back = |loss_counts| {
            let early = early::Params { loss_counts, ..early::Params::default() };
            let mut trace = avoiding(100.0, Params { history: 0.0, early, ..Params::default() });
            trace.loss();
            assert_eq!(trace.window(), 50.0);
            congest(&mut trace, 50);
            trace.controller.early.responses()
        };
        assert_eq!(held_back(true), 0);
        assert_eq!(held_back(false), 1);
    }

    #[test]
    fn one_way_delay_is_blind_to_the_way_back_and_to_the_clocks_difference() {
        let responses = |signal, forward: [u64; 2]| {
            let mut trace = avoiding(100.0, Params { history: 0.0, signal, ..Params::default() });
            for (rtt, one_way) in [60, 85].into_iter().zip(forward) {
                trace.rtt = Span::from_millis(rtt);
                trace.one_way = Some(Span::from_millis(one_way));
                trace.ack(Span::from_millis(1));
            }
            trace.controller.early.responses()
        };
        // 25 ms more on the reverse path, then on the forward path.
        assert_eq!((responses(Signal::RoundTrip, [30, 30]), responses(Signal::OneWay, [30, 30])), (1, 0));
        assert_eq!(responses(Signal::OneWay, [30, 55]), 1);
        assert_eq!(responses(Signal::OneWay, [5_000_030, 5_000_055]), 1);
    }
}
