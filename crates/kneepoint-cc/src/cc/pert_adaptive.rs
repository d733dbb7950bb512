// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive PERT: PERT that grows faster where the link is empty, or where others fill the queue.
//!
//! K. Kotla, "Adapting a Delay-based Protocol to Heterogeneous Environments", M.S. thesis, Texas A&M University 2008, chapters III and IV.
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
//! `W` window, `S` slow-start threshold: packets; `α` packets per round trip; `q qm t1 t2`: time; `p` losses, `p'` early responses per packet.
//!
//! Observable state: `mode` (0 high-speed, 1 safe, 2 compete), `alpha_packets` α, `target_alpha_packets` the growth that Figure 2 has at this delay,
//! `loss_rate` p and `early_response_rate` p' per packet, `queueing_delay_ms` q, `max_queueing_delay_ms` qm, `beta`, `probability` of an early
//! response now, `early_responses` and `probes` so far, and the delays that make up q.
//!
//! Readings, each a parameter where an experiment could want the other:
//! * Sizes of steps and the first α are not in the thesis. Steps of 0.5, 0.1 and 0.9 are from a port of the authors' code to ns-3, α = 1 is the
//!   thesis's "default of 1"; the port starts at 32.
//! * In the port a step acts as in safe mode unless the mode held for a window of acknowledgements (`hold`); the thesis has no such rule.
//! * Compete mode begins at 0.5 qm, and has all of its target at 0.65 qm. The video paper (Wang, Reddy 2011) has one threshold, 0.65 qm:
//!   `compete=0.65`. It has α = 1 at once in safe mode: `safe_factor=0`.
//! * In safe mode α falls to one, as chapter III says and the port does. Figure 2 has a curve from t1 to t2 instead: `safe_target=curve`.
//! * Before the first loss 1 + p'/p is infinite: the target is αmax. A fresh flow, whose qm is 10 ms, has no safe mode.
//! * Above its target in compete mode α falls to it at once, as in the port.
//! * Chapter III changes β for early responses; chapter VI.I and the port for losses, too (`loss_beta`). Without, a loss takes `loss_decrease`. A
//!   timeout sets S as a loss does, and W to one.
//! * β follows the average, not the sample, as "the estimated queuing delay" has it.
//! * The last end of the curve is never below 2 t2, the port's maximum. The thesis has 0.65 qm alone, which lies before t2 below 15 ms of qm;
//!   `third_floor=1` is as near to it as a curve can be.
//! * Thesis and video paper write W + α/W per acknowledgement and W + α per round trip: the same.
//! * Ageing is described for losses, and "p and p'" are updated periodically: both age (`early_rate_ages`).
//! * A loss event is a recovery episode, or a timeout outside one; an episode lasts until all is acknowledged that was
//!   outstanding when its loss was found. Packets count as they are acknowledged.
//! * What an early response leaves, and whether its acknowledgement grows the window, decide below two packets: `pert-small` has other rules there.
//! * qm is the greatest sample; the thesis has "maximum observed queuing delay", which may mean the greatest average (`greatest_of`).
//! * Once per round trip, no early response in slow start, losses count as responses: as `pert` reads the paper before. α adapts in slow start, too, unused.
//!
//! Beyond the thesis, and off by default:
//! * `probe`: when TCP has left, PERTs keep the queue full for one another. At times they stop adapting together and check whether others fill it:
//!   [`probe`]. Every 10 s ends it within half a minute, and costs some of the share against flows that do fill it.
//! * `forget`: qm is the recent maximum. It helps neither there, where the queue stays full, nor where all flows are PERT, which then compete with the remembered state.
//! * `friendly`: a router that drops early keeps q below t1, and PERT takes the link for an empty one. Reno's window is √(3/2 · packets between two
//!   losses); while PERT's is more than `friendly` times that, there is no high-speed mode, and a loss takes off `loss_decrease`. 1 is as friendly as
//!   Reno; losses of the channel then count, too.
//! * `memory_rtts`: a sample that acknowledges n packets has the weight 1 - exp(-n / (m W)); where m W is a dozen packets the average is noise.

use alloc::boxed::Box;
use alloc::vec::Vec;

mod aggression;
mod event_rate;
mod probe;
mod queueing;
pub mod small;

use self::aggression::{Aggression, Mode, View};
use self::event_rate::EventRate;
use self::probe::{Order, Probe, Signs};
use self::queueing::Queueing;
use self::small::{Small, Variant, rules};
use super::early::{self, Early};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// Adaptive PERT's parameters.
    pub struct Params<V: Variant> {
        ..variant: V::Params;
        ..aggression: aggression::Params;
        ..early: early::Params;
        ..queueing: queueing::Params;
        ..probe: probe::Params;
        /// A loss takes off the fraction β, too.
        loss_beta: bool = true;
        /// The fraction by which a loss reduces the window where that is not β.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
        /// The rate of early responses falls while there are none, as the loss rate does.
        early_rate_ages: bool = true;
        /// Respond early in slow start too; the response ends it.
        early_in_slow_start: bool = false;
        /// Beyond the thesis: the link is not empty, and a loss takes off `loss_decrease`, while the window is more than
        /// this many times what Reno has at the same loss rate; 0 ignores losses.
        friendly: f64 = 0.0, 0.0..=1000.0;
    }
}

/// The thesis's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thesis;

rules!(thesis: 1.0, 2.0, false, 0.0, false, RoundTrip, 0.1);

impl Variant for Thesis {
    type Params = thesis::Params;

    fn small(params: &thesis::Params) -> Small {
        params.small()
    }
}

/// An adaptive PERT controller.
#[derive(Clone, Debug)]
pub struct PertAdaptive<V: Variant = Thesis> {
    window: Window,
    early: Early,
    aggression: Aggression,
    /// The large part of the state.
    rest: Box<Rest<V>>,
}

#[derive(Clone, Debug)]
struct Rest<V: Variant> {
    params: Params<V>,
    compete_step: f64,
    queueing: Queueing,
    losses: EventRate,
    /// The recovery episode lasts until all below this packet is acknowledged; zero outside one.
    repair: u64,
    early_responses: EventRate,
    /// None where it never probes.
    probe: Option<Probe>,
}

impl<V: Variant> PertAdaptive<V> {
    fn view(&self, now: Time) -> View {
        View {
            now,
            srtt: self.rest.queueing.trip(),
            q: self.rest.queueing.now(),
            qm: self.rest.queueing.greatest(),
            window: self.window.packets,
            lossy: self.lossy(),
            compete_step: self.rest.compete_step,
        }
    }

    /// Whether the window exceeds what losses explain: Reno's is the root of 3/2 packets between two losses.
    fn lossy(&self) -> bool {
        let Rest { params, losses, .. } = &*self.rest;
        let explained = || {
            losses.mean().is_none_or(|mean| self.window.packets <= params.friendly * libm::sqrt(1.5 * mean))
        };
        params.friendly > 0.0 && !explained()
    }

    /// Whether the acknowledgement may still grow the window.
    fn respond_early(&mut self, ack: &Ack) -> bool {
        self.rest.early_responses.happen();
        self.early.respond(&mut self.window, 1.0 - self.rest.queueing.beta(), ack.next)
    }

    /// Follows the mode, or holds the window to test whether others fill the queue; returns whether to hold it.
    fn stand(&mut self, ack: &Ack) -> bool {
        let view = self.view(ack.now);
        if !self.rest.probe.as_ref().is_some_and(Probe::stands) {
            let Rest { params, losses, early_responses, .. } = &*self.rest;
            let fair = || aggression::fair_growth(early_responses.rate(), losses.rate());
            self.aggression.look(&view, fair, &params.aggression);
        }
        let Some(probe) = &mut self.rest.probe else { return false };
        let signs = Signs {
            now: ack.now,
            srtt: view.srtt,
            sample: self.rest.queueing.latest(),
            threshold: Span((self.rest.params.aggression.compete * view.qm.0 as f64) as u64),
            competing: self.aggression.mode() == Mode::Compete,
            alpha: self.aggression.alpha(),
        };
        match probe.look(&signs) {
            Order::GoOn => false,
            Order::Stand => true,
            Order::GiveWay => {
                self.respond_early(ack);
                true
            }
            Order::Stop(queueing) => {
                self.rest.queueing.settle(queueing);
                self.aggression.restart(1.0);
                true
            }
            Order::Resume(alpha) => {
                self.aggression.restart(alpha);
                false
            }
        }
    }

    /// The part of a window that a loss leaves.
    fn kept_after_loss(&self) -> f64 {
        let params = &self.rest.params;
        1.0 - if params.loss_beta && !self.lossy() { self.rest.queueing.beta() } else { params.loss_decrease }
    }
}

impl<V: Variant> Controller for PertAdaptive<V> {
    type Params = Params<V>;

    fn new(params: Params<V>, start: Start) -> PertAdaptive<V> {
        let small: Small = V::small(&params.variant);
        PertAdaptive {
            early: Early::new(&params.early, small.cut, params.early_in_slow_start, &start),
            window: Window::new(start, InLinux::Fractions),
            aggression: Aggression::new(&params.aggression),
            rest: Box::new(Rest {
                queueing: Queueing::new(&params.queueing, &params.aggression, &small),
                compete_step: small.compete_step,
                losses: EventRate::new(true),
                repair: 0,
                early_responses: EventRate::new(params.early_rate_ages),
                probe: Probe::new(&params.probe),
                params,
            }),
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        self.early.hear(ack);
        if ack.una >= self.rest.repair {
            self.rest.repair = 0;
        }
        self.rest.losses.pass(ack.acked);
        self.rest.early_responses.pass(ack.acked);
        if self.rest.queueing.hear(ack, self.window.packets) {
            if self.stand(ack) {
                return;
            }
            let probability = self.rest.queueing.probability();
            // Without a probability no random number is drawn, so that an idle path consumes none.
            let allowed = probability > 0.0 && self.early.allowed(ack, self.window.slow_start());
            if allowed && rng.chance(probability) && !self.respond_early(ack) {
                return;
            }
        }
        self.window.grow(ack, self.aggression.alpha());
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.rest.losses.happen();
        // A mark needs no recovery.
        if loss.una < loss.next {
            self.rest.repair = loss.next;
        }
        self.window.reduce_to(loss.flight * self.kept_after_loss());
        self.early.lost(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.reported && self.rest.repair == 0 {
            self.rest.losses.happen();
        }
        self.rest.repair = timeout.next;
        self.window.restart(timeout, timeout.flight * self.kept_after_loss());
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
        let Rest { params, queueing, losses, early_responses, probe, .. } = &*self.rest;
        let (q, qm, delay) = (queueing.now(), queueing.greatest(), queueing.delay());
        let [smoothed, least] = queueing.signal().names();
        let fair = aggression::fair_growth(early_responses.rate(), losses.rate());
        vec![
            ("mode", self.aggression.mode().number()),
            ("alpha_packets", self.aggression.alpha()),
            ("target_alpha_packets", aggression::target(q, qm, fair, &params.aggression)),
            ("loss_rate", losses.rate()),
            ("early_response_rate", early_responses.rate()),
            (smoothed, delay.smoothed().as_millis_f64()),
            (least, delay.least().unwrap_or_default().as_millis_f64()),
            ("queueing_delay_ms", q.as_millis_f64()),
            ("max_queueing_delay_ms", qm.as_millis_f64()),
            ("beta", queueing.beta()),
            ("probability", queueing.probability()),
            ("early_responses", self.early.responses() as f64),
            ("probes", probe.as_ref().map_or(0, Probe::count) as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    type Params = super::Params<Thesis>;

    fn avoiding(window: f64, params: Params) -> Trace<PertAdaptive> {
        Trace::new(Controller::new(params, Start::avoiding(window)))
    }

    /// No average, so that every number is the sample itself.
    fn sharp() -> Params {
        let queueing = queueing::Params { history: 0.0, ..queueing::Params::default() };
        Params { queueing, ..Params::default() }
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
        // 90 ms of 100 ms.
        trace.controller.window.ssthresh = 1000.0;
        for rtt in [160, 150] {
            ack(&mut trace, rtt);
        }
        assert!((told(&trace, "target_alpha_packets") - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_timeout_in_a_repair_is_no_second_loss_and_one_outside_is() {
        let mut trace = avoiding(100.0, sharp());
        for _ in 0..50 {
            ack(&mut trace, 60);
        }
        trace.loss();
        assert_eq!(told(&trace, "loss_rate"), 0.02);
        ack(&mut trace, 60);
        // The recovery continues until packet 150 is acknowledged, whether or not the host reported the loss before.
        for reported in [true, false] {
            let again = Timeout { now: trace.now, flight: 100.0, reported, next: 200 };
            trace.controller.on_timeout(&again);
            assert_eq!((told(&trace, "loss_rate"), trace.window()), (0.02, 1.0));
        }
        // Everything outstanding is acknowledged: 150 more packets after 50.
        while trace.una < 200 {
            ack(&mut trace, 60);
        }
        trace.timeout();
        assert_eq!(told(&trace, "loss_rate"), 2.0 / 200.0);
        trace.timeout();
        assert_eq!(told(&trace, "loss_rate"), 2.0 / 200.0);
    }

    #[test]
    fn losses_beyond_renos_say_that_the_link_is_not_empty() {
        // A loss every 96 packets is Reno's at a window of twelve.
        let after_losses = |window, friendly| {
            let mut trace = avoiding(window, Params { friendly, ..Params::default() });
            for _ in 0..8 {
                for _ in 0..96 {
                    ack(&mut trace, 60);
                    trace.controller.window.packets = window;
                }
                trace.controller.rest.losses.happen();
            }
            trace.loss();
            (told(&trace, "mode"), trace.window() / window)
        };
        assert_eq!(after_losses(11.9, 1.0), (0.0, 1.0));
        assert_eq!(after_losses(12.1, 1.0), (1.0, 0.5));
        assert_eq!(after_losses(12.1, 2.0), (0.0, 1.0));
        assert_eq!(after_losses(100.0, 0.0), (0.0, 1.0));
    }
}
