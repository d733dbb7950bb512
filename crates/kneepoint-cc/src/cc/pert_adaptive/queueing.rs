// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive PERT's estimates from round-trip times: the queueing delay, the greatest, β, the probability of a response.
//!
//! K. Kotla, "Adapting a Delay-based Protocol to Heterogeneous Environments", M.S. thesis, Texas A&M University 2008, chapters III and IV.
//!
//! ```text
//! q = srtt_0.99 - min RTT            qm = max(t2, max RTT - min RTT)            β = q / (q + qm)
//! the curve of PERT through (t1, 0), (t2, pmax), (max(2 t2, g qm), 1)
//! ```
//!
//! Times; `g` is 0.65. [`pert_adaptive`](super) has the readings of the thesis.

use super::aggression;
use super::small::Small;
use crate::cc::Ack;
use crate::cc::delay::{Delay, Signal};
use crate::cc::extreme::Greatest;
use crate::cc::response::red;
use crate::cc::rounds::Rounds;
use crate::law::red::Curve;
use crate::units::Span;

crate::choice! {
    /// The delays whose greatest is kept.
    pub enum GreatestOf {
        /// The samples as they arrive.
        Samples = "samples",
        /// The smoothed delays.
        Average = "average",
    }
}

crate::settings! {
    /// The source of delays.
    pub struct Params {
        /// The probability of an early response at `t2`.
        pmax: f64 = 0.05, 0.0..=1.0;
        /// The weight of the past in the smoothed delay.
        history: f64 = 0.99, 0.0..=0.9999;
        /// The delays whose greatest is `qm`, and the least sample.
        greatest_of: GreatestOf = GreatestOf::Samples;
        /// Beyond the thesis: the greatest delay is taken over this past interval; `0s` never forgets.
        forget: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10_000);
    }
}

/// An estimator of the queueing delay and of its maximum.
#[derive(Clone, Debug)]
pub struct Queueing {
    params: Params,
    signal: Signal,
    memory_rtts: f64,
    /// With one sample per round trip, the smallest.
    rounds: Option<Rounds>,
    /// Whether any packet has been acknowledged.
    acknowledged: bool,
    thresholds: aggression::Params,
    delay: Delay,
    /// Delays here are round trips, whereas `delay` is one-way: since the clocks of two hosts differ, a one-way delay
    /// cannot be a time to wait.
    trips: Option<Delay>,
    latest: Span,
    /// The samples, in nanoseconds.
    peak: Greatest,
    /// For the greatest queueing delay.
    greatest: Span,
    curve: Curve,
    probability: f64,
}

impl Queueing {
    /// An estimator without a sample.
    pub fn new(params: &Params, thresholds: &aggression::Params, small: &Small) -> Queueing {
        Queueing {
            delay: Delay::new(params.history),
            latest: Span::ZERO,
            peak: Greatest::default(),
            greatest: thresholds.t2,
            curve: curve(params, thresholds, thresholds.t2),
            probability: 0.0,
            params: params.clone(),
            trips: (small.signal == Signal::OneWay).then(|| Delay::new(params.history)),
            signal: small.signal,
            memory_rtts: small.memory_rtts,
            rounds: small.rounds.then(Rounds::new),
            acknowledged: false,
            thresholds: thresholds.clone(),
        }
    }

    /// Takes in the sample of an acknowledgement at a window of this many packets; false where it has none.
    #[inline]
    pub fn hear(&mut self, ack: &Ack, window: f64) -> bool {
        self.acknowledged |= ack.acked > 0;
        if let (Some(trips), Some(rtt)) = (&mut self.trips, ack.rtt) {
            trips.observe(rtt);
        }
        let Some(sample) = self.signal.sample(ack) else { return false };
        if self.rounds.is_some() {
            self.hear_rounds(ack, sample);
            return true;
        }
        match self.memory_rtts {
            0.0 => self.delay.observe(sample),
            rtts => {
                // A duplicate also represents a packet that arrived.
                let share = f64::from(ack.acked.max(1)) / window;
                self.delay.observe_with(sample, 1.0 - libm::exp(-share / rtts));
            }
        }
        self.learn(ack, sample);
        true
    }

    /// The smallest sample of a round trip represents it.
    fn hear_rounds(&mut self, ack: &Ack, sample: Span) {
        let Some(rounds) = &mut self.rounds else { return };
        // The first round trip has no average yet, and ends with its first packet, at any sequence number.
        let over = if rounds.last == 0 { self.acknowledged } else { rounds.over(ack) };
        rounds.observe(sample);
        if let Some(least) = rounds.least().filter(|_| over) {
            rounds.begin(ack.next);
            let weight = match self.memory_rtts {
                0.0 => 1.0 - self.params.history,
                rtts => 1.0 - libm::exp(-1.0 / rtts),
            };
            self.delay.observe_with(least, weight);
            self.learn(ack, least);
        }
    }

    /// The average is the present one: the greatest delay and the probability follow.
    fn learn(&mut self, ack: &Ack, sample: Span) {
        let least = self.delay.least().unwrap_or_default();
        let memory = if self.params.forget == Span::ZERO { u64::MAX } else { self.params.forget.0 };
        let heard = match self.params.greatest_of {
            GreatestOf::Samples => sample,
            GreatestOf::Average => self.delay.smoothed(),
        };
        let peak = Span(self.peak.update(ack.now.0, memory, heard.0 as f64) as u64);
        let greatest = peak.saturating_sub(least).max(self.thresholds.t2);
        if greatest != self.greatest {
            self.greatest = greatest;
            self.curve = curve(&self.params, &self.thresholds, greatest);
        }
        self.latest = sample.saturating_sub(least);
        self.probability = self.curve.at(red::nanos(self.now()));
    }

    /// Forgets the average for this queueing delay.
    pub fn settle(&mut self, queueing: Span) {
        self.delay.settle(queueing);
        self.probability = self.curve.at(red::nanos(self.now()));
    }

    /// The delay that is watched.
    pub fn signal(&self) -> Signal {
        self.signal
    }

    /// The smoothed delay and the least.
    pub fn delay(&self) -> &Delay {
        &self.delay
    }

    /// The smoothed round-trip time.
    #[inline]
    pub fn trip(&self) -> Span {
        self.trips.as_ref().unwrap_or(&self.delay).smoothed()
    }

    /// q: of the average.
    #[inline]
    pub fn now(&self) -> Span {
        self.delay.queueing()
    }

    /// The queueing delay of the latest sample.
    #[inline]
    pub fn latest(&self) -> Span {
        self.latest
    }

    /// qm.
    #[inline]
    pub fn greatest(&self) -> Span {
        self.greatest
    }

    /// The fraction of the window that this queue is worth.
    pub fn beta(&self) -> f64 {
        let q = self.now().0 as f64;
        q / (q + self.greatest.0 as f64)
    }

    /// The probability of an early response.
    #[inline]
    pub fn probability(&self) -> f64 {
        self.probability
    }
}

fn curve(params: &Params, thresholds: &aggression::Params, greatest: Span) -> Curve {
    let aggression::Params { t1, t2, full_compete, third_floor, .. } = *thresholds;
    let part = |fraction: f64, delay: Span| Span((fraction * delay.0 as f64) as u64);
    let certain = part(full_compete, greatest).max(part(third_floor, t2));
    red::curve(t1, t2, certain, params.pmax)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::pert_adaptive::Thesis;
    use crate::cc::pert_adaptive::small::Variant;
    use crate::units::Time;

    fn queueing(params: Params) -> Queueing {
        queueing_with(&params, 0.0, false)
    }

    fn queueing_with(params: &Params, memory_rtts: f64, rounds: bool) -> Queueing {
        let small = Small { memory_rtts, rounds, ..Thesis::small(&Default::default()) };
        Queueing::new(params, &aggression::Params::default(), &small)
    }

    fn ack(now: Time, rtt: Span) -> Ack {
        Ack {
            now,
            rtt: Some(rtt),
            one_way: None,
            acked: 1,
            delivered: 1,
            resent: 0,
            marked: 0,
            credit: 1.0,
            limited: false,
            una: 1,
            next: 2,
            in_flight: 1,
            recovering: false,
        }
    }

    /// A sample of this many milliseconds, in this second.
    fn hear(queueing: &mut Queueing, millis: u64, second: u64, window: f64) {
        assert!(
            queueing.hear(&ack(Span::from_secs(second).after_start(), Span::from_millis(millis)), window)
        );
    }

    #[test]
    fn the_curve_ends_at_065_of_the_greatest_queueing_delay_but_not_below_20_ms() {
        let mut queueing = queueing(Params { history: 0.0, ..Params::default() });
        // Finally qm is 50 ms, and 0.65 of it 32.5 ms.
        let late = 0.05 + 0.95 * (20.0 - 10.0) / (32.5 - 10.0);
        for (rtt, probability) in [(60, 0.0), (70, 0.05), (75, 0.525), (80, 1.0), (110, 1.0), (80, late)] {
            hear(&mut queueing, rtt, 1, 10.0);
            assert!((queueing.probability() - probability).abs() < 1e-9, "{rtt} ms");
        }
    }

    #[test]
    fn the_greatest_delay_is_never_forgotten_unless_asked() {
        let after = |forget| {
            let mut queueing = queueing(Params { forget, ..Params::default() });
            for (rtt, second) in [(60, 0), (120, 1), (90, 8), (80, 12), (80, 30)] {
                hear(&mut queueing, rtt, second, 10.0);
            }
            queueing.greatest()
        };
        assert_eq!(after(Span::ZERO), Span::from_millis(60));
        assert_eq!(after(Span::from_secs(10)), Span::from_millis(20));
    }

    #[test]
    fn a_memory_in_round_trips_is_as_long_for_any_window() {
        for window in [4.0, 400.0] {
            let mut queueing = queueing_with(&Params::default(), 3.0, false);
            hear(&mut queueing, 60, 0, window);
            for _ in 0..3 * window as u64 {
                hear(&mut queueing, 80, 0, window);
            }
            // 20 ms · (1 - 1/e) after three round trips.
            assert!((queueing.now().as_millis_f64() - 12.6424).abs() < 1e-3, "{window}: {}", queueing.now());
        }
    }

    #[test]
    fn of_rounds_the_smallest_sample_counts_and_the_greatest_delay_may_be_that_of_the_average() {
        let mut rounds = queueing_with(&Params::default(), 1.0, true);
        let trip = |queueing: &mut Queueing, una, millis| {
            let ack = Ack { una, next: una + 2, ..ack(Time::ZERO, Span::from_millis(millis)) };
            queueing.hear(&ack, 2.0);
        };
        trip(&mut rounds, 1, 60);
        // Two packets a round trip, the first of which waits for the receiver's timer: 40 ms that are not queueing delay.
        for una in (2..42).step_by(2) {
            trip(&mut rounds, una, 100);
            trip(&mut rounds, una + 1, 60);
        }
        assert_eq!((rounds.now(), rounds.greatest()), (Span::ZERO, Span::from_millis(10)));
        // One round trip of 80 ms more with a time constant of one: 80 (1 - 1/e).
        for una in 42..=46 {
            trip(&mut rounds, una, 140);
        }
        assert!((rounds.now().as_millis_f64() - 50.5696).abs() < 1e-3, "{}", rounds.now());

        let mut average = queueing(Params { greatest_of: GreatestOf::Average, ..Params::default() });
        for millis in [60, 1560] {
            hear(&mut average, millis, 0, 10.0);
        }
        // A hundredth of 1500 ms, and 15 is also the smoothed value now.
        assert_eq!((average.now(), average.greatest()), (Span::from_millis(15), Span::from_millis(15)));
    }

    #[test]
    fn without_a_one_way_delay_nothing_is_heard_but_the_round_trip_that_steps_wait_for() {
        let small = Small { signal: Signal::OneWay, ..Thesis::small(&Default::default()) };
        let mut queueing = Queueing::new(&Params::default(), &aggression::Params::default(), &small);
        assert!(!queueing.hear(&ack(Time::ZERO, Span::from_millis(60)), 10.0));
        assert_eq!((queueing.now(), queueing.beta()), (Span::ZERO, 0.0));
        assert_eq!((queueing.delay().smoothed(), queueing.trip()), (Span::ZERO, Span::from_millis(60)));
    }
}
