// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive PERT: PERT that grows faster where the link is empty, or where others fill the queue.
//!
//! K. Kotla, "Adapting End Host Congestion Control for Mobility and Heterogeneity", Texas A&M 2008, chapters III and IV.
//!
//! ```text
//! q = srtt_0.99 - min RTT                              every sample
//! qm = max(t2, max RTT - min RTT)                      samples as they come, for ever
//! β = q / (q + qm)                                     0 to 1/2
//! early response, with probability as PERT's curve through (t1, 0), (t2, pmax), (max(2 t2, 0.65 qm), 1),
//!     once per round trip:  W <- (1 - β) W,  S <- W
//! otherwise:                W += α / W                 per acknowledgement, in congestion avoidance
//! loss:                     W <- (1 - β) W
//! every 5 srtt, the mode is  high-speed  q <= t1        α <- min(α + 0.5, αmax)
//!                            compete     q >= 0.5 qm    α <- min(α + 0.1, target, αmax)
//!                            safe        otherwise      α <- max(0.9 α, 1)
//! target = 1 + p'/p from 0.65 qm, and falls to 1 towards 0.5 qm as in Figure 2
//! p, p' = 1 / weighted mean of the packets between the last eight losses, early responses
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `α` packets per round trip; `q qm t1 t2`: time; `p` losses and `p'`
//! early responses per packet.
//!
//! What an observer can plot: `mode` (0 high-speed, 1 safe, 2 compete), `alpha_packets` α,
//! `target_alpha_packets` the growth that Figure 2 has at this delay, `loss_rate` p and `early_response_rate` p' per
//! packet, `queueing_delay_ms` q, `max_queueing_delay_ms` qm, `beta`, `probability` of an early response now,
//! `early_responses` so far, and the delays that q is made of.
//!
//! Readings, each a parameter where an experiment could want the other:
//! * Sizes of steps and the first α are not in the thesis. Steps of 0.5, 0.1 and 0.9 are those of a port of the authors'
//!   code to ns-3, α = 1 is the thesis's "default of 1"; the port starts at 32.
//! * The port lets a step act as in safe mode unless the mode held for a window of acknowledgements (`hold`); the thesis
//!   has no such rule.
//! * Compete mode begins at 0.5 qm, and has all of its target at 0.65 qm. The video paper (Wang, Reddy 2011) has one
//!   threshold, 0.65 qm: `compete=0.65`. It has α = 1 at once in safe mode: `safe_factor=0`.
//! * In safe mode α falls to one, as chapter III says and the port does. Figure 2 has a curve from t1 to t2 instead:
//!   `safe_target=curve`.
//! * Before the first loss 1 + p'/p is infinite: the target is αmax. A fresh flow, whose qm is 10 ms, has no safe mode.
//! * Above its target in compete mode α falls to it at once, as in the port.
//! * Chapter III changes β for early responses; chapter VI.I and the port for losses, too (`loss_beta`). Without, a loss
//!   takes `loss_decrease`. A timeout sets S as a loss does, and W to one.
//! * β follows the average, not the sample, as "the estimated queuing delay" has it.
//! * The last end of the curve is never below 2 t2: below 15 ms of qm the thesis's 0.65 qm would lie before t2. That is
//!   the port's maximum.
//! * Thesis and video paper write W + α/W per acknowledgement and W + α per round trip: the same.
//! * Ageing is described for losses, and "p and p'" are updated periodically: both age (`early_rate_ages`).
//! * A loss event is an episode of repair, or a timeout outside one; packets count as they are acknowledged.
//! * Once per round trip, no early response in slow start, losses count as responses: as [`pert`](super::pert) reads the
//!   paper before. α adapts in slow start, too, and is not used there.

use super::aggression::{self, Aggression, View};
use super::delay::{Delay, Signal};
use super::early::{self, Early};
use super::event_rate::EventRate;
use super::response::red::Curve;
use super::window::{FLOOR_AFTER_LOSS, Window};
use super::{Ack, Control, Controller, Loss, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// Adaptive PERT's parameters.
    pub struct Params {
        ..aggression: aggression::Params;
        ..early: early::Params;
        /// The probability of an early response at `t2`.
        pmax: f64 = 0.05, 0.0..=1.0;
        /// The delay whose queueing part is estimated.
        signal: Signal = Signal::RoundTrip;
        /// The weight of the past in the smoothed delay.
        history: f64 = 0.99, 0.0..=0.9999;
        /// A loss takes off the fraction β, too.
        loss_beta: bool = true;
        /// The fraction of the window that a loss takes off where that is not β.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
        /// The rate of early responses falls while there are none, as the loss rate does.
        early_rate_ages: bool = true;
        /// Respond early in slow start too; the response ends it.
        early_in_slow_start: bool = false;
        /// The least window after an early response, in packets.
        min_window: f64 = 1.0, 1.0..=100.0;
    }
}

/// An adaptive PERT controller.
#[derive(Clone, Debug)]
pub struct PertAdaptive {
    window: Window,
    delay: Delay,
    early: Early,
    aggression: Aggression,
    /// The greatest sample so far.
    greatest: Span,
    probability: f64,
    /// What is large.
    rest: Box<Rest>,
}

#[derive(Clone, Debug)]
struct Rest {
    params: Params,
    /// For the greatest queueing delay so far.
    curve: Curve,
    losses: EventRate,
    early_responses: EventRate,
}

fn curve(params: &Params, greatest: Span) -> Curve {
    let aggression::Params { t1, t2, full_compete, .. } = params.aggression;
    let certain = Span((full_compete * greatest.0 as f64) as u64).max(Span(2 * t2.0));
    Curve::new(t1, t2, certain, params.pmax)
}

impl PertAdaptive {
    /// The greatest queueing delay so far: qm.
    fn greatest_queueing(&self) -> Span {
        let seen = self.delay.least().map_or(Span::ZERO, |least| self.greatest.saturating_sub(least));
        seen.max(self.rest.params.aggression.t2)
    }

    /// The fraction of the window to give up at this queueing delay.
    fn beta(&self) -> f64 {
        let q = self.delay.queueing().0 as f64;
        q / (q + self.greatest_queueing().0 as f64)
    }

    fn view(&self, now: Time) -> View {
        View {
            now,
            srtt: self.delay.smoothed(),
            q: self.delay.queueing(),
            qm: self.greatest_queueing(),
            window: self.window.packets,
        }
    }

    fn observe(&mut self, sample: Span) {
        let before = self.greatest_queueing();
        self.delay.observe(sample);
        self.greatest = self.greatest.max(sample);
        let after = self.greatest_queueing();
        if after != before {
            self.rest.curve = curve(&self.rest.params, after);
        }
        self.probability = self.rest.curve.probability(self.delay.queueing());
    }

    fn respond_early(&mut self, ack: &Ack) {
        let kept = self.window.packets * (1.0 - self.beta());
        self.window.packets = kept.max(self.rest.params.min_window);
        self.window.ssthresh = self.window.packets.max(FLOOR_AFTER_LOSS);
        self.early.responded(ack.next);
        self.rest.early_responses.happen();
    }

    /// What a loss leaves of a window.
    fn kept_after_loss(&self) -> f64 {
        let params = &self.rest.params;
        1.0 - if params.loss_beta { self.beta() } else { params.loss_decrease }
    }
}

impl Controller for PertAdaptive {
    type Params = Params;

    fn new(params: Params, start: Start) -> PertAdaptive {
        PertAdaptive {
            window: Window::new(start),
            delay: Delay::new(params.history),
            early: Early::new(&params.early, params.early_in_slow_start),
            aggression: Aggression::new(&params.aggression),
            greatest: Span::ZERO,
            probability: 0.0,
            rest: Box::new(Rest {
                curve: curve(&params, params.aggression.t2),
                losses: EventRate::new(true),
                early_responses: EventRate::new(params.early_rate_ages),
                params,
            }),
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        self.early.hear(ack);
        self.rest.losses.pass(ack.acked);
        self.rest.early_responses.pass(ack.acked);
        if let Some(sample) = self.rest.params.signal.sample(ack) {
            self.observe(sample);
            let view = self.view(ack.now);
            let Rest { params, losses, early_responses, .. } = &*self.rest;
            let fair = || aggression::fair_growth(early_responses.rate(), losses.rate());
            self.aggression.look(&view, fair, &params.aggression);
            // Without a probability nothing is drawn, so that an idle path costs no random numbers.
            let allowed = self.probability > 0.0 && self.early.allowed(ack, self.window.slow_start());
            if allowed && rng.chance(self.probability) {
                self.respond_early(ack);
                return;
            }
        }
        self.window.grow(ack, self.aggression.alpha());
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight * self.kept_after_loss());
        self.early.lost(loss.next);
        self.rest.losses.happen();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.reported {
            self.window.restart(self.window.ssthresh);
        } else {
            self.window.restart(timeout.flight * self.kept_after_loss());
            self.rest.losses.happen();
        }
        self.early.lost(timeout.next);
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let [smoothed, least] = self.rest.params.signal.names();
        let (q, qm) = (self.delay.queueing(), self.greatest_queueing());
        let Rest { params, losses, early_responses, .. } = &*self.rest;
        let fair = aggression::fair_growth(early_responses.rate(), losses.rate());
        vec![
            ("mode", self.aggression.mode().number()),
            ("alpha_packets", self.aggression.alpha()),
            ("target_alpha_packets", aggression::target(q, qm, fair, &params.aggression)),
            ("loss_rate", losses.rate()),
            ("early_response_rate", early_responses.rate()),
            (smoothed, self.delay.smoothed().as_millis_f64()),
            (least, self.delay.least().unwrap_or_default().as_millis_f64()),
            ("queueing_delay_ms", q.as_millis_f64()),
            ("max_queueing_delay_ms", qm.as_millis_f64()),
            ("beta", self.beta()),
            ("probability", self.probability),
            ("early_responses", self.early.responses() as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn avoiding(window: f64, params: Params) -> Trace<PertAdaptive> {
        Trace::new(PertAdaptive::new(params, Start { initial_window: window, initial_ssthresh: 2.0 }))
    }

    /// No average, so that every number is the sample's.
    fn sharp() -> Params {
        Params { history: 0.0, ..Params::default() }
    }

    fn ack(trace: &mut Trace<PertAdaptive>, rtt: u64) {
        trace.rtt = Span::from_millis(rtt);
        trace.ack(Span::from_millis(1));
    }

    fn told(trace: &Trace<PertAdaptive>, name: &str) -> f64 {
        let state = trace.controller.state();
        state.iter().find(|(other, _)| *other == name).expect("a name of the state").1
    }

    #[test]
    fn an_early_response_takes_off_the_queueing_delay_over_itself_and_the_greatest() {
        let mut trace = avoiding(100.0, sharp());
        // 60 ms of path, and once 60 ms of queue, in slow start: no response, and qm.
        trace.controller.window.ssthresh = 1000.0;
        ack(&mut trace, 60);
        ack(&mut trace, 120);
        assert_eq!((told(&trace, "max_queueing_delay_ms"), told(&trace, "beta")), (60.0, 0.5));
        trace.controller.window.ssthresh = 2.0;
        // 40 ms of queue, past 0.65 · 60 = 39 ms: certain; 40 / (40 + 60) of the window.
        let before = trace.window();
        ack(&mut trace, 100);
        assert!((trace.window() - 0.6 * before).abs() < 1e-9, "{}", trace.window());
        assert_eq!((told(&trace, "probability"), told(&trace, "early_responses")), (1.0, 1.0));
        // Once per round trip.
        let after = trace.window();
        ack(&mut trace, 100);
        assert!(trace.window() > after);
    }

    #[test]
    fn the_curve_ends_at_065_of_the_greatest_queueing_delay_but_not_below_20_ms() {
        let mut trace = avoiding(100.0, sharp());
        for (rtt, probability) in [(60, 0.0), (70, 0.05), (75, 0.525), (80, 1.0), (110, 1.0)] {
            ack(&mut trace, rtt);
            assert!((told(&trace, "probability") - probability).abs() < 1e-9, "{rtt} ms");
        }
        // qm is 50 ms, and 0.65 of it 32.5 ms.
        ack(&mut trace, 80);
        let expected = 0.05 + 0.95 * (20.0 - 10.0) / (32.5 - 10.0);
        assert!((told(&trace, "probability") - expected).abs() < 1e-9);
    }

    #[test]
    fn an_empty_link_is_filled_faster_and_faster() {
        let mut trace = avoiding(100.0, Params::default());
        trace.round_trip();
        assert!((99.0..102.0).contains(&trace.window()), "{}", trace.window());
        for _ in 0..400 {
            trace.round_trip();
        }
        assert_eq!((told(&trace, "mode"), told(&trace, "alpha_packets")), (0.0, 32.0));
        let before = trace.window();
        trace.round_trip();
        assert!((trace.window() - before - 32.0).abs() < 0.5, "{} after {before}", trace.window());
    }

    #[test]
    fn a_loss_takes_off_beta_and_halves_only_where_the_queue_is_full() {
        let kept = |rtt, params: Params| {
            let mut trace = avoiding(100.0, params);
            trace.controller.window.ssthresh = 1000.0;
            for sample in [60, 120, rtt] {
                ack(&mut trace, sample);
            }
            let before = trace.window();
            trace.loss();
            trace.window() / before
        };
        assert!((kept(120, sharp()) - 0.5).abs() < 1e-9);
        assert!((kept(80, sharp()) - 0.75).abs() < 1e-9);
        assert!((kept(60, sharp()) - 1.0).abs() < 1e-9);
        assert!((kept(80, Params { loss_beta: false, ..sharp() }) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn against_losses_alpha_follows_one_plus_the_rates_of_responses_over_losses() {
        // 100 packets between losses and 50 between responses: 1 + 2.
        let mut trace = avoiding(100.0, sharp());
        for _ in 0..8 {
            for _ in 0..100 {
                ack(&mut trace, 60);
            }
            trace.loss();
        }
        trace.controller.rest.early_responses = EventRate::new(true);
        for _ in 0..2 {
            trace.controller.rest.early_responses.pass(50);
            trace.controller.rest.early_responses.happen();
        }
        assert_eq!((told(&trace, "loss_rate"), told(&trace, "early_response_rate")), (0.01, 0.02));
        assert_eq!(told(&trace, "target_alpha_packets"), 32.0);
        trace.controller.greatest = Span::from_millis(100);
        trace.controller.delay.observe(Span::from_millis(90));
        assert!((told(&trace, "target_alpha_packets") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_timeout_in_a_repair_is_no_second_loss() {
        let mut trace = avoiding(100.0, sharp());
        for _ in 0..50 {
            ack(&mut trace, 60);
        }
        trace.loss();
        assert_eq!(told(&trace, "loss_rate"), 0.02);
        ack(&mut trace, 60);
        let reported = Timeout { now: trace.now, flight: 100.0, reported: true, next: 1000 };
        trace.controller.on_timeout(&reported);
        assert_eq!((told(&trace, "loss_rate"), trace.window()), (0.02, 1.0));
        trace.timeout();
        assert!(told(&trace, "loss_rate") > 0.02);
    }
}
