// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate at which packets arrive: samples of the delivery rate, and rounds counted in packets.
//!
//! draft-cheng-iccrg-delivery-rate-estimation; rounds as in draft-cardwell-iccrg-bbr-congestion-control §4.1.1.3.
//!
//! ```text
//! P is the packet that the acknowledgement answers, sent at s = now - RTT; A the last acknowledgement before s:
//! delivered = arrived so far - arrived when A arrived
//! interval  = max(s - A's packet sent,  now - arrival of A)
//! rate      = delivered / interval, unless the interval is below the smallest RTT
//! ```
//!
//! The draft keeps this with every packet sent. Here the acknowledgements are remembered instead, for when a
//! packet was sent follows from its round-trip time. Fewer than twice [`PER_FLIGHT`] of them are kept for each flight of
//! packets, and the first of each round, so that the memory is bounded for any window; a rate is then averaged over correspondingly more
//! packets.
//! An acknowledgement without a round-trip time gets the one measured last.
//! A round ends when a packet is acknowledged that was sent after it began. Packets sent while the sender had
//! nothing more to send, and all in flight with them, give samples that are `limited`.

use alloc::collections::VecDeque;

use super::Ack;
use crate::units::{Span, Time};

/// Acknowledgements remembered per flight of packets, at least if there are as many.
const PER_FLIGHT: u64 = 128;

/// The counts at an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Time,
    delivered: u64,
    /// The sending time of the packet that it acknowledges.
    sent: Time,
    resent: u64,
    in_flight: u32,
    /// Whether the next packets give samples below the path's capacity.
    limited: bool,
}

/// The measurements of one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// Packets per second.
    pub rate: Option<f64>,
    /// The path might have carried more.
    pub limited: bool,
    /// A round ended and the next began.
    pub round: bool,
    /// Packets that arrived since the acknowledgement before; at least one, where one was acknowledged in order: after
    /// a timeout, packets are acknowledged a second time.
    pub newly: f64,
    /// Packets retransmitted since then: lost ones, as soon as the host repairs them.
    pub lost: f64,
    /// The number of packets that had arrived when the acknowledged packet was sent, where it is known.
    pub prior: Option<u64>,
    /// Packets in flight with it then, itself included.
    pub sent_among: f64,
    /// Packets that arrived since then.
    pub delivered: f64,
    /// Packets retransmitted since then.
    pub lost_since: f64,
}

/// Turns acknowledgements into samples.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    heard: VecDeque<Heard>,
    delivered: u64,
    resent: u64,
    rtt: Option<Span>,
    /// The round ends with a packet sent when this many had arrived.
    round_end: u64,
    rounds: u64,
    /// It began with the last acknowledgement, or with a loss after that: the next one is remembered.
    begins: bool,
    /// Samples are limited until this many have arrived.
    limited_until: u64,
    /// Nothing was in flight after the last acknowledgement.
    idle: bool,
}

impl Delivery {
    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Packets that have arrived so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets retransmitted so far.
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// The round ends when a packet sent from now on is acknowledged.
    pub fn begin_round(&mut self) {
        self.round_end = self.delivered;
        self.begins = true;
    }

    /// Marks samples as limited by the sender, until all packets now in flight are acknowledged.
    pub fn limit(&mut self, in_flight: u32) {
        self.limited_until = self.delivered + u64::from(in_flight).max(1);
    }

    /// The sample of this acknowledgement; `least_rtt` is the least time in which a packet can be acknowledged.
    pub fn on_ack(&mut self, ack: &Ack, least_rtt: Span) -> Sample {
        let newly = ack.delivered.saturating_sub(self.delivered);
        let lost = ack.resent.saturating_sub(self.resent);
        let told = newly.max(u64::from(ack.acked.min(1)));
        let mut sample = Sample { newly: told as f64, lost: lost as f64, ..Sample::default() };
        let before = self.delivered;
        self.delivered += newly;
        self.resent += lost;
        if ack.limited {
            self.limit(ack.in_flight);
        }
        self.rtt = ack.rtt.or(self.rtt);
        if let Some(rtt) = self.rtt {
            let sent = Time(ack.now.0.saturating_sub(rtt.0));
            if self.heard.is_empty() || self.idle {
                // The flight began with this packet, not with an acknowledgement.
                let resent = self.resent - lost;
                self.heard.push_back(Heard {
                    at: sent,
                    delivered: before,
                    sent,
                    resent,
                    in_flight: 0,
                    limited: false,
                });
            }
            self.measure(ack.now, sent, least_rtt, &mut sample);
            self.remember(ack, sent);
        }
        self.idle = ack.in_flight == 0;
        sample
    }

    fn measure(&mut self, now: Time, sent: Time, least_rtt: Span, sample: &mut Sample) {
        while self.heard.get(1).is_some_and(|next| next.at <= sent) {
            self.heard.pop_front();
        }
        // A packet sent before an acknowledged one gives no new information.
        let Some(&prior) = self.heard.front().filter(|prior| prior.at <= sent) else { return };
        if prior.delivered >= self.round_end {
            sample.round = true;
            self.rounds += 1;
            self.begin_round();
        }
        sample.limited = prior.limited;
        sample.prior = Some(prior.delivered);
        sample.sent_among = f64::from(prior.in_flight) + 1.0;
        sample.delivered = (self.delivered - prior.delivered) as f64;
        sample.lost_since = (self.resent - prior.resent) as f64;
        let interval = sent.since(prior.sent).max(now.since(prior.at));
        if interval >= least_rtt && interval > Span::ZERO && sample.delivered > 0.0 {
            sample.rate = Some(sample.delivered / interval.as_secs_f64());
        }
    }

    fn remember(&mut self, ack: &Ack, sent: Time) {
        let step = u64::from(ack.in_flight) / PER_FLIGHT;
        let limited = self.delivered <= self.limited_until;
        let begins = core::mem::take(&mut self.begins);
        if begins || self.heard.back().is_none_or(|last| last.delivered + step <= self.delivered) {
            if self.heard.len() as u64 >= 4 * PER_FLIGHT {
                self.heard.pop_front();
            }
            let (delivered, resent, in_flight) = (self.delivered, self.resent, ack.in_flight);
            self.heard.push_back(Heard { at: ack.now, delivered, sent, resent, in_flight, limited });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec::Vec;

    use super::super::{Controller, Loss};
    use super::*;
    use crate::rng::Rng;

    /// An endless bottleneck and an endless sender, for tests of controllers that pace.
    pub(crate) struct Path<C> {
        pub controller: C,
        pub now: Time,
        pub delivered: u64,
        pub next: u64,
        /// The bottleneck's time for a packet, and the rest of the path's.
        service: Span,
        delay: Span,
        /// The time at which a packet may leave; the time at which the bottleneck has served its queue.
        pace: Time,
        busy: Time,
        /// The times at which packets in flight are acknowledged, and at which they were sent.
        flying: VecDeque<(Time, Time)>,
        resent: u64,
        point: u64,
        rng: Rng,
    }

    impl<C: Controller> Path<C> {
        pub fn new(controller: C, rate: f64, delay: Span) -> Path<C> {
            Path {
                controller,
                now: Time::ZERO,
                delivered: 0,
                next: 0,
                service: Span::from_secs_f64(1.0 / rate),
                delay,
                pace: Time::ZERO,
                busy: Time::ZERO,
                flying: VecDeque::new(),
                resent: 0,
                point: 0,
                rng: Rng::stream(1, "path", 0),
            }
        }
        pub fn window(&self) -> f64 {
            self.controller.control().window
        }
        pub fn pacing(&self) -> f64 {
            self.controller.control().pacing.map_or(f64::INFINITY, |rate| rate.0)
        }
        pub fn in_flight(&self) -> f64 {
            self.flying.len() as f64
        }
        /// Packets that wait.
        pub fn queue(&self) -> f64 {
            self.busy.since(self.now).0 as f64 / self.service.0 as f64
        }
        pub fn recovering(&self) -> bool {
            self.delivered < self.point
        }
        /// The next packet leaves, or the next answer comes.
        pub fn step(&mut self) {
            let sends = self.in_flight() + 1.0 <= self.window();
            let leaves = self.pace.max(self.now);
            match self.flying.front() {
                Some(&(answered, sent)) if !sends || answered <= leaves => self.answer(answered, sent),
                _ => self.send(leaves),
            }
        }
        pub fn until(&mut self, mut what: impl FnMut(&Self) -> bool) {
            while !what(self) {
                self.step();
            }
        }
        /// Finds this many packets lost, and retransmits them at once.
        pub fn lose(&mut self, packets: u64) {
            let (flight, una, next) = (self.in_flight(), self.delivered, self.next);
            self.resent += packets;
            if !self.recovering() {
                self.point = next;
                self.controller.on_loss(&Loss { now: self.now, flight, una, next });
            }
        }
        fn send(&mut self, leaves: Time) {
            self.now = leaves;
            self.pace = leaves + Span::from_secs_f64(1.0 / self.pacing());
            self.busy = self.busy.max(leaves) + self.service;
            self.flying.push_back((self.busy + self.delay, leaves));
            self.next += 1;
        }
        fn answer(&mut self, answered: Time, sent: Time) {
            let recovering = self.recovering();
            self.now = answered;
            self.flying.pop_front();
            self.delivered += 1;
            let ack = Ack {
                now: answered,
                rtt: Some(answered - sent),
                resent: self.resent,
                next: self.next,
                credit: if recovering { 0.0 } else { 1.0 },
                recovering,
                ..answer(self.delivered - 1, sent, self.flying.len() as u32)
            };
            self.controller.on_ack(&ack, &mut self.rng);
        }
    }

    /// An acknowledgement in the middle of a flow.
    pub(crate) fn plain() -> Ack {
        answer(99, Span::from_secs(1).after_start(), 100)
    }

    /// A path of 40 ms: the packet with this number is sent, and answered 40 ms later.
    fn answer(number: u64, sent: Time, in_flight: u32) -> Ack {
        Ack {
            now: sent + Span::from_millis(40),
            rtt: Some(Span::from_millis(40)),
            one_way: None,
            acked: 1,
            delivered: number + 1,
            resent: 0,
            marked: 0,
            credit: 1.0,
            limited: false,
            una: number + 1,
            next: number + 1 + u64::from(in_flight),
            in_flight,
            recovering: false,
        }
    }

    /// Packets a millisecond apart.
    fn steady(delivery: &mut Delivery, packets: core::ops::Range<u64>, in_flight: u32) -> Vec<Sample> {
        let at = |number| Span::from_millis(number).after_start();
        let answers = packets.map(|number| answer(number, at(number), in_flight));
        answers.map(|ack| delivery.on_ack(&ack, Span::from_millis(40))).collect()
    }

    #[test]
    fn packets_sent_a_millisecond_apart_arrive_at_a_thousand_a_second() {
        let samples = steady(&mut Delivery::default(), 0..200, 40);
        // From the forty-first on, each was sent when the one forty before was answered: 40 in 40 ms.
        for sample in &samples[80..] {
            assert_eq!((sample.rate, sample.delivered), (Some(1000.0), 40.0));
        }
    }

    #[test]
    fn a_burst_of_answers_does_not_look_faster_than_its_packets_were_sent() {
        let mut delivery = Delivery::default();
        steady(&mut delivery, 0..100, 40);
        // Ten packets sent a millisecond apart, whose acknowledgements arrive together.
        for number in 100..110 {
            let mut ack = answer(number, Span::from_millis(number).after_start(), 40);
            ack.rtt = Some(Span::from_millis(49 + 100 - number));
            ack.now = Span::from_millis(149).after_start();
            let rate = delivery.on_ack(&ack, Span::from_millis(40)).rate.unwrap();
            assert!(rate <= 1000.0, "{rate}");
        }
    }

    #[test]
    fn one_round_trip_time_measured_is_enough() {
        let mut delivery = Delivery::default();
        for number in 0..200 {
            let mut ack = answer(number, Span::from_millis(number).after_start(), 40);
            ack.rtt = ack.rtt.filter(|_| number == 0);
            let rate = delivery.on_ack(&ack, Span::from_millis(40)).rate;
            assert!(number < 80 || rate == Some(1000.0), "{number}: {rate:?}");
        }
    }

    #[test]
    fn a_round_lasts_a_round_trip() {
        let rounds: Vec<usize> = steady(&mut Delivery::default(), 0..200, 40)
            .iter()
            .enumerate()
            .filter_map(|(number, sample)| sample.round.then_some(number))
            .collect();
        assert_eq!(rounds, [0, 40, 80, 120, 160]);
    }

    #[test]
    fn a_round_ends_with_the_first_packet_sent_in_it_though_few_acknowledgements_are_remembered() {
        let mut delivery = Delivery::default();
        // A path of 40 ms that carries 100 packets a millisecond: one in 31 is remembered.
        let answered = |number: u64| answer(number, Time(number * 10_000), 4000);
        let rounds: Vec<u64> = (0..20_000)
            .filter(|number| {
                if *number == 10_005 {
                    delivery.begin_round(); // A loss.
                }
                delivery.on_ack(&answered(*number), Span::ZERO).round
            })
            .collect();
        assert_eq!(rounds, [0, 4000, 8000, 14_005, 18_005]);
    }

    #[test]
    fn the_memory_is_bounded_whatever_the_window() {
        let mut delivery = Delivery::default();
        let samples = steady(&mut delivery, 0..100_000, 10_000);
        assert!(delivery.heard.len() as u64 <= 4 * PER_FLIGHT, "{}", delivery.heard.len());
        assert!((samples.last().unwrap().rate.unwrap() - 1000.0).abs() < 1e-6);
        for in_flight in 0..100_000 {
            delivery.on_ack(&answer(100_000 + in_flight, Time::ZERO, in_flight as u32), Span::ZERO);
        }
        assert!(delivery.heard.len() as u64 <= 4 * PER_FLIGHT, "{}", delivery.heard.len());
    }

    #[test]
    fn what_was_in_flight_while_there_was_nothing_to_send_is_limited() {
        let mut delivery = Delivery::default();
        steady(&mut delivery, 0..100, 40);
        let mut ack = answer(100, Span::from_millis(100).after_start(), 40);
        ack.limited = true;
        delivery.on_ack(&ack, Span::ZERO);
        let samples = steady(&mut delivery, 101..300, 40);
        let limited: Vec<u64> =
            samples.iter().zip(101..).filter_map(|(one, number)| one.limited.then_some(number)).collect();
        assert_eq!((limited.first(), limited.last()), (Some(&140), Some(&180)));
    }

    #[test]
    fn an_answer_sooner_than_any_can_be_gives_no_rate() {
        let mut delivery = Delivery::default();
        let ack = answer(0, Time::ZERO, 1);
        assert!(delivery.on_ack(&ack, Span::from_millis(41)).rate.is_none());
    }
}
