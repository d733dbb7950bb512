// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BBRv3's model of the path: its rate, its delay, whether the rate still grows, and the events of the round.
//!
//! draft-ietf-ccwg-bbr-06 §5.3.1.2, §5.3.4.3, §5.5.

use crate::cc::Ack;
use crate::cc::delivery::{Delivery, Sample};
use crate::units::{Span, Time};

/// Rounds without growth that fill the pipe, and growth.
const FULL_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;
/// The time for which the smallest round-trip time is trusted.
const RTT_WINDOW: Span = Span::from_secs(10);

/// The model of the path.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub delivery: Delivery,
    /// Greatest delivery rates of the last cycle and of this one.
    rates: [f64; 2],
    /// T, and the smallest RTT since the last ProbeRTT.
    pub rtt: Span,
    rtt_since: Time,
    recent_rtt: Span,
    pub recent_since: Time,
    /// The rate that must grow, and rounds in which it did not.
    full_rate: f64,
    full_rounds: u32,
    /// The greatest rate and flight of this round, and packets lost in it; it ends with a packet sent when so many
    /// had arrived.
    pub latest: (f64, f64),
    pub lost: f64,
    round_end: u64,
}

impl Model {
    pub fn new() -> Model {
        Model {
            delivery: Delivery::default(),
            rates: [0.0; 2],
            rtt: Span::MAX,
            rtt_since: Time::ZERO,
            recent_rtt: Span::MAX,
            recent_since: Time::ZERO,
            full_rate: 0.0,
            full_rounds: 0,
            latest: (0.0, 0.0),
            lost: 0.0,
            round_end: 0,
        }
    }

    /// The greatest delivery rate of this and the last cycle.
    pub fn rate(&self) -> f64 {
        self.rates[0].max(self.rates[1])
    }

    /// A probe is over: the cycle before the last one is discarded.
    pub fn forget_cycle(&mut self) {
        self.rates = [self.rates[1], 0.0];
    }

    /// Packets were lost.
    pub fn lose(&mut self, packets: f64) {
        if self.lost == 0.0 {
            self.round_end = self.delivery.delivered();
        }
        self.lost += packets;
    }

    /// Learns the rate; returns whether a round of losses ended.
    pub fn learn_rate(&mut self, sample: &Sample) -> bool {
        let rate = sample.rate.unwrap_or(0.0);
        self.latest = (self.latest.0.max(rate), self.latest.1.max(sample.delivered));
        if rate >= self.rate() || !sample.limited {
            self.rates[1] = self.rates[1].max(rate);
        }
        let ended = sample.prior.is_some_and(|prior| prior >= self.round_end);
        if ended {
            self.round_end = self.delivery.delivered();
        }
        ended
    }

    /// The round is over.
    pub fn begin_round(&mut self, sample: &Sample) {
        self.lost = 0.0;
        self.latest = (sample.rate.unwrap_or(0.0), sample.delivered);
    }

    /// The rate must grow from `rate` from now on.
    pub fn watch_growth(&mut self, rate: f64) {
        (self.full_rate, self.full_rounds) = (rate, 0);
    }

    /// Whether the rate has not grown for long enough.
    pub fn full(&self) -> bool {
        self.full_rounds >= FULL_ROUNDS
    }

    pub fn judge_growth(&mut self, sample: &Sample) {
        let Some(rate) = sample.rate.filter(|_| sample.round && !sample.limited) else { return };
        if self.full() {
        } else if rate >= GROWTH * self.full_rate {
            self.watch_growth(rate);
        } else {
            self.full_rounds += 1;
        }
    }

    /// Learns the delay; returns whether it is time to look for the smallest one.
    pub fn learn_rtt(&mut self, ack: &Ack, interval: Span) -> bool {
        let expired = self.recent_rtt < Span::MAX && ack.now.since(self.recent_since) > interval;
        if let Some(rtt) = ack.rtt
            && (rtt < self.recent_rtt || expired)
        {
            (self.recent_rtt, self.recent_since) = (rtt, ack.now);
        }
        if self.recent_rtt < self.rtt || ack.now.since(self.rtt_since) > RTT_WINDOW {
            (self.rtt, self.rtt_since) = (self.recent_rtt, self.recent_since);
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_greatest_of_two_cycles() {
        let mut model = Model::new();
        for (rate, expected) in [(100.0, 100.0), (90.0, 100.0), (80.0, 90.0)] {
            model.learn_rate(&Sample { rate: Some(rate), ..Sample::default() });
            assert_eq!(model.rate(), expected);
            model.forget_cycle();
        }
    }

    #[test]
    fn limited_samples_count_only_where_they_are_greater() {
        let mut model = Model::new();
        for (rate, expected) in [(100.0, 100.0), (90.0, 100.0), (110.0, 110.0)] {
            model.learn_rate(&Sample { rate: Some(rate), limited: true, ..Sample::default() });
            assert_eq!(model.rate(), expected);
        }
    }

    #[test]
    fn three_rounds_without_a_quarter_more_fill_the_pipe() {
        let mut model = Model::new();
        let mut after = |rate| {
            model.judge_growth(&Sample { rate: Some(rate), round: true, ..Sample::default() });
            model.full()
        };
        assert!(!after(100.0) && !after(124.0) && !after(124.0) && !after(125.0) && !after(150.0));
        assert!(!after(150.0) && after(150.0));
    }
}
