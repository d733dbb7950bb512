// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RED: drops or marks arriving packets at random, the more the longer the average queue.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4) 1993; gentle: S. Floyd, 2000; automatic parameters as in ns-2.35.
//!
//! ```text
//! avg <- (1 - w)^m avg                            m = idle time · C, whole packets
//! avg <- (1 - w) avg + w q                        every arrival
//! p_b = 0                                         avg <  min
//!       max_p (avg - min) / (max - min)           min <= avg < max
//!       max_p + (1 - max_p) (avg - max) / max     max <= avg < 2 max, gentle; else 1
//! p_a = p_b / (1 - count p_b)                     1 from count p_b >= 1
//!       0, p_b / (2 - count p_b), 1               with wait: count p_b < 1, < 2, >= 2
//! automatic: w = 1 - exp(-1 / (T C)),  T = 10 max(100 ms, 3 (delay + 1/C))
//!            min = max(5, target C / 2),  max = 3 min
//! ```
//!
//! SA and MC adjust p_b by the window that the packet carries, before p_a is made of it.
//!
//! `q` backlog, without the arriving packet and the one in transmission; `count` arrivals since the last drop or
//! mark; `C` link rate in packets/s; q, avg, min, max: packets, or bytes (min and max times the mean packet).
//!
//! Readings, as ns-2: the arrival that first finds avg >= min only starts the count; a packet is never dropped
//! early while no more than one waits; an overflow restarts the count. With bytes, `count` is bytes over the mean
//! packet, whole, and p_a is scaled by the size of the packet. Above `mark_limit`, and where p_b = 1, packets are
//! dropped although they could be marked.
//! Departures: with bytes, ns-2 spares packets only when none waits; its threshold for gentle uses the first max_p.

use super::sparing::Sparing;
use super::{Arrival, Backlog, Decision, Discipline, Facts};
use crate::law::spread::Spread;
use crate::law::{Adjusted, Adjustment, Law, red as law, sparing};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

crate::choice! {
    /// The unit of a queue.
    pub enum Unit {
        /// Packets of any size.
        Packets = "packets",
        /// Bytes.
        Bytes = "bytes",
    }
}

crate::settings! {
    /// RED's parameters; zero is automatic where the sentence says so.
    pub struct Params {
        ..sparing: sparing::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The average queue, in packets, at which dropping begins; 0 is half the target delay's packets, at least 5.
        min_threshold: f64 = 0.0, 0.0..=10000000.0;
        /// The average queue, in packets, at which the probability reaches `max_p`; 0 is three times the minimum.
        max_threshold: f64 = 0.0, 0.0..=10000000.0;
        /// The target queueing delay of the automatic thresholds.
        target_delay: Span = Span::from_millis(5), Span::from_micros(10)..=Span::from_secs(10);
        /// The probability at the maximum threshold.
        max_p: f64 = 0.1, 0.0001..=1.0;
        /// The weight of an arrival in the average; 0 is 1 - exp(-1 / (time constant · C)).
        weight: f64 = 0.0, 0.0..=1.0;
        /// The time constant behind the automatic weight; `0s` is ten round trips of max(100ms, 3 (delay + 1/C)).
        time_constant: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1000);
        /// Between the maximum threshold and twice it, let the probability rise to 1 instead of jumping.
        gentle: bool = true;
        /// Space drops evenly: none before 1/p arrivals have passed, one before 2/p have.
        wait: bool = true;
        /// The probability above which packets are dropped, not marked.
        mark_limit: f64 = 0.1, 0.0..=1.0;
        /// The unit of the queue.
        unit: Unit = Unit::Packets;
        /// The mean size of packets; `0b` is a full packet of this network.
        mean_packet: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
    }
    linux { gentle = "false", wait = "false", mark_limit = "1" }
    check |params| check_thresholds(params.min_threshold, params.max_threshold)
}

/// Whether thresholds, where both are given, are in order.
fn check_thresholds(min: f64, max: f64) -> Result<(), String> {
    if max > 0.0 && (min == 0.0 || min >= max) {
        let given = format!("min_threshold = {min}, max_threshold = {max}");
        Err(format!("{given}: give both, the minimum less, as in 5 and 15, or leave the maximum 0"))
    } else {
        Ok(())
    }
}

/// A RED queue's judgement.
#[derive(Clone, Debug)]
pub struct Red {
    law: Adjusted<law::Red, Spread>,
    sparing: Sparing,
    average: f64,
    /// p_b.
    probability: f64,
    weight: f64,
    /// max - min.
    width: f64,
    /// C, in packets per second.
    capacity: f64,
    mean_packet: f64,
    mark_limit: f64,
    idle_since: Option<Time>,
    /// Packets arrived since the last drop or mark.
    count: u64,
    /// Bytes arrived since the last drop or mark.
    count_bytes: u64,
    /// Whether the previous arrival found the average above the minimum.
    judging: bool,
    unit: Unit,
    ecn: bool,
}

impl Red {
    /// The average queue, in the queue's unit.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The minimum and maximum thresholds, in the queue's unit.
    pub fn thresholds(&self) -> (f64, f64) {
        let law::Params { min, max, .. } = *self.law.law.curve.points();
        (min, max)
    }

    /// The probability at the maximum threshold.
    pub fn max_p(&self) -> f64 {
        self.law.law.curve.points().max_p
    }

    /// Sets the probability at the maximum threshold.
    pub fn set_max_p(&mut self, max_p: f64) {
        let points = law::Params { max_p, ..self.law.law.curve.points().clone() };
        self.law.law = law::Curve::factored(points, self.width).into();
    }

    /// Sets the minimum threshold, in the queue's unit, and the probability at the maximum threshold.
    pub fn set_curve(&mut self, min: f64, max_p: f64) {
        let points = law::Params { min, max_p, ..self.law.law.curve.points().clone() };
        self.width = points.max - min;
        self.law.law = law::Curve::factored(points, self.width).into();
    }

    fn length(&self, backlog: Backlog) -> f64 {
        match self.unit {
            Unit::Packets => f64::from(backlog.packets),
            Unit::Bytes => backlog.bytes.0 as f64,
        }
    }

    /// Takes an arrival that it will judge into the average.
    pub fn observe(&mut self, arrival: &Arrival) {
        self.follow(arrival);
        self.sparing.observe(arrival);
        self.count += 1;
        self.count_bytes += arrival.packet.bytes().0;
    }

    /// Includes an arrival that another RED judges in the average.
    pub fn follow(&mut self, arrival: &Arrival) {
        if let Some(since) = self.idle_since.take() {
            let missed = (arrival.now.since(since).as_secs_f64() * self.capacity).floor();
            if missed > 0.0 && self.average > 0.0 {
                self.average *= libm::pow(1.0 - self.weight, missed);
            }
        }
        self.average += self.weight * (self.length(arrival.backlog) - self.average);
    }

    /// p_a, for a packet of `size` bytes; leaves p_b in `probability`.
    fn uniform_probability(&mut self, size: f64, now: Time) -> f64 {
        (self.law.adjustment.count, self.law.adjustment.size) = match self.unit {
            Unit::Packets => (self.count as f64, 1.0),
            Unit::Bytes => ((self.count_bytes as f64 / self.mean_packet).floor(), size),
        };
        self.law.law.sample(self.average, now);
        self.probability = self.law.law.probability();
        self.law.adjustment.adjust(self.sparing.adjust(self.probability))
    }

    fn restart_count(&mut self, count: u64, bytes: u64) {
        self.count = count;
        self.count_bytes = bytes;
    }

    /// Decides on an arrival that the average already includes.
    pub fn judge(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.judge_from(self.thresholds().0, arrival, rng)
    }

    /// Decides on an arrival; arrivals that find the average below `least` are not counted.
    pub fn judge_from(&mut self, least: f64, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let size = arrival.packet.bytes().0;
        let mut decision = Decision::Pass;
        if self.average < least || arrival.backlog.packets <= 1 {
            self.judging = false;
            self.probability = 0.0;
        } else if !self.judging {
            self.judging = true;
            self.restart_count(1, size);
        } else {
            let chance = self.uniform_probability(size as f64, arrival.now);
            if chance > 0.0 && rng.chance(chance) {
                self.restart_count(0, 0);
                let may_mark = self.ecn && self.probability <= self.mark_limit && self.probability < 1.0;
                decision = if may_mark { Decision::Mark } else { Decision::Drop };
            }
        }
        if arrival.full {
            self.restart_count(0, 0);
        }
        decision
    }
}

impl Discipline for Red {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Red {
        let mean_packet = if params.mean_packet > Bytes(0) { params.mean_packet } else { facts.packet };
        let capacity = facts.rate.packets(mean_packet);
        let time_constant = if params.time_constant > Span::ZERO {
            params.time_constant.as_secs_f64()
        } else {
            10.0 * (3.0 * (facts.delay.as_secs_f64() + 1.0 / capacity)).max(0.1)
        };
        let automatic = -libm::expm1(-1.0 / (time_constant * capacity));
        let target = params.target_delay.as_secs_f64() * capacity;
        let min = if params.min_threshold > 0.0 { params.min_threshold } else { (target / 2.0).max(5.0) };
        let max = if params.max_threshold > 0.0 { params.max_threshold } else { 3.0 * min };
        let per_packet = match params.unit {
            Unit::Packets => 1.0,
            Unit::Bytes => mean_packet.0 as f64,
        };
        let (width, [min, max]) = ((max - min) * per_packet, [min, max].map(|packets| packets * per_packet));
        let end = if params.gentle { 2.0 * max } else { max };
        let curve = law::Curve::factored(law::Params { min, max, end, max_p: params.max_p }, width);
        let spread = Spread { wait: params.wait, count: 0.0, size: 1.0, mean_size: per_packet };
        Red {
            law: Adjusted { law: curve.into(), adjustment: spread },
            sparing: Sparing::new(params.sparing),
            average: 0.0,
            probability: 0.0,
            weight: if params.weight > 0.0 { params.weight } else { automatic },
            width,
            capacity,
            mean_packet: mean_packet.0 as f64,
            mark_limit: params.mark_limit,
            idle_since: Some(Time::ZERO),
            count: 0,
            count_bytes: 0,
            judging: false,
            unit: params.unit,
            ecn: params.ecn,
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.observe(arrival);
        self.judge(arrival, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.idle_since.get_or_insert(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let average = match self.unit {
            Unit::Packets => "average_packets",
            Unit::Bytes => "average_bytes",
        };
        let packets = |threshold: f64| match self.unit {
            Unit::Packets => threshold,
            Unit::Bytes => threshold / self.mean_packet,
        };
        let own = [
            (average, self.average),
            ("probability", self.probability),
            ("max_p", self.max_p()),
            ("min_threshold_packets", packets(self.thresholds().0)),
            ("max_threshold_packets", packets(self.thresholds().1)),
            ("weight", self.weight),
        ];
        own.into_iter().chain(self.sparing.state()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{agrees, arrival, link, packet, packet_of};
    use super::*;
    use crate::law::sparing::Rule;
    use crate::settings::Settings;

    #[test]
    fn automatic_parameters_are_those_of_ns_2() {
        // Printed by ns-2.35 (q_weight_ -1, thresh_ 0, maxthresh_ 0, mean_pktsize_ 1040), six digits each.
        for (mbit, rtt, min, max, weight) in [
            (100, 0.06, 30.0481, 90.1442, 8.31965e-5),
            (150, 0.01, 45.0721, 135.216, 5.54651e-5),
            (150, 0.06, 45.0721, 135.216, 5.54651e-5),
            (150, 0.1, 45.0721, 135.216, 5.5373e-5),
            (150, 0.2, 45.0721, 135.216, 2.77099e-5),
            (150, 0.5, 45.0721, 135.216, 1.10896e-5),
            (150, 1.0, 45.0721, 135.216, 5.54573e-6),
            (500, 0.06, 150.24, 450.721, 1.66399e-5),
        ] {
            let red = Red::new(Params::default(), link(mbit, rtt));
            let (got_min, got_max) = red.thresholds();
            assert!(agrees(got_min, min) && agrees(got_max, max), "{mbit} mbit: {:?}", red.thresholds());
            assert!(agrees(red.weight, weight), "{mbit} mbit, {rtt} s: {}", red.weight);
        }
        // A slow link keeps five packets: 1 Mbit/s serves 0.6 in 5 ms.
        assert_eq!(Red::new(Params::default(), link(1, 0.06)).thresholds(), (5.0, 15.0));
    }

    #[test]
    fn other_weights_of_ns_2_are_other_time_constants() {
        // q_weight_ 0 is 1 - exp(-1/C), as Floyd, Gummadi and Shenker have it; -2 is 1 - exp(-10/C).
        let weight =
            |time_constant| Red::new(Params { time_constant, ..Params::default() }, link(150, 0.06)).weight;
        let capacity = 150e6 / 8.0 / 1040.0;
        assert!(agrees(weight(Span::from_secs(1)), 1.0 - libm::exp(-1.0 / capacity)));
        assert!(agrees(weight(Span::from_millis(100)), 1.0 - libm::exp(-10.0 / capacity)));
    }

    fn red(params: Params) -> Red {
        let thresholds = Params { min_threshold: 5.0, max_threshold: 15.0, ..params };
        Red::new(thresholds, link(10, 0.06))
    }

    #[test]
    fn the_law_is_applied_to_the_average_and_to_the_arrivals_since_the_last_drop() {
        let at = |params, average, count| {
            let mut red = Red { average, count, count_bytes: count * 1040 + 700, ..red(params) };
            (red.uniform_probability(260.0, Time::ZERO), red.probability)
        };
        let soon = Params { wait: false, ..Params::default() };
        let close = |(got, base): (f64, f64), expected: f64, law: f64| {
            (got - expected).abs() < 1e-12 && (base - law).abs() < 1e-12
        };
        // 0.1 (7 - 5) / 10 = 0.02, and 0.02 / (1 - 25 · 0.02) = 0.04.
        assert!(close(at(soon.clone(), 7.0, 25), 0.04, 0.02));
        assert!(close(at(Params::default(), 7.0, 75), 0.04, 0.02));
        assert!(close(at(Params::default(), 22.5, 1), 0.0, 0.55));
        assert_eq!(at(Params { gentle: false, ..soon.clone() }, 15.0, 1), (1.0, 1.0));
        // In bytes, a packet of a quarter of the mean size has a quarter of the chance.
        assert!(close(at(Params { unit: Unit::Bytes, ..soon }, 7.0 * 1040.0, 25), 0.01, 0.02));
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_over_idle_time() {
        let mut red = red(Params { weight: 0.002, ..Params::default() });
        let (packet, mut rng) = (packet(), Rng::stream(1, "red", 0));
        red.on_arrival(&arrival(&packet, 100, Time::ZERO), &mut rng);
        assert!((red.average - 0.2).abs() < 1e-12);
        red.on_arrival(&arrival(&packet, 100, Time::ZERO), &mut rng);
        assert!((red.average - 0.3996).abs() < 1e-12);
        // 10 Mbit/s serve 1201.92 packets of 1040 bytes a second: in half a second 600, and the arrival itself.
        red.on_idle(Time(1_000_000_000));
        red.on_idle(Time(1_400_000_000));
        red.on_arrival(&arrival(&packet, 0, Time(1_500_000_000)), &mut rng);
        assert!((red.average - 0.3996 * libm::pow(0.998, 601.0)).abs() < 1e-12, "{}", red.average);
    }

    /// The number of `count` arrivals at a constant queue that are dropped and marked.
    fn fate(params: Params, packets: u32, count: u32) -> (u32, u32) {
        let mut red = red(Params { weight: 1.0, ..params });
        let (packet, mut rng) = (packet(), Rng::stream(1, "red", 0));
        let mut fates = (0, 0);
        for _ in 0..count {
            match red.on_arrival(&arrival(&packet, packets, Time::ZERO), &mut rng) {
                Decision::Pass => {}
                Decision::Drop => fates.0 += 1,
                Decision::Mark => fates.1 += 1,
            }
        }
        fates
    }

    #[test]
    fn drops_come_every_one_to_two_over_p_arrivals() {
        // p_b = 0.05 at 10 packets: with wait, an interval is uniform on 20 to 40 arrivals, 30 on average.
        let (dropped, marked) = fate(Params::default(), 10, 30_000);
        assert!((950..=1050).contains(&dropped), "{dropped}");
        assert_eq!(marked, 0);
        // Without, uniform on 1 to 19, 10 on average.
        let (soon, _) = fate(Params { wait: false, ..Params::default() }, 10, 30_000);
        assert!((2900..=3100).contains(&soon), "{soon}");
        assert_eq!(fate(Params::default(), 4, 1000), (0, 0));
    }

    #[test]
    fn marks_replace_drops_up_to_their_limit() {
        let ecn = Params { ecn: true, ..Params::default() };
        let low = fate(ecn.clone(), 10, 3_000);
        assert!(low.0 == 0 && (90..=110).contains(&low.1), "{low:?}");
        // p_b = 0.1 + 0.9 · 5 / 15 = 0.4: every third or fourth.
        let high = fate(ecn.clone(), 20, 3_000);
        assert!((800..=900).contains(&high.0) && high.1 == 0, "{high:?}");
        // A probability of one drops, beyond the limit too.
        assert_eq!(fate(Params { mark_limit: 1.0, ..ecn }, 40, 1000), (999, 0));
    }

    #[test]
    fn the_senders_window_adjusts_the_laws_probability_before_drops_are_spaced() {
        let chance = |spare, window| {
            let sparing = sparing::Params { spare, ..Default::default() };
            let params = Params { sparing, wait: false, weight: 1.0, ..Params::default() };
            let mut red = Red { count: 24, ..red(params) };
            for sent in [10.0, window] {
                red.sparing.observe(&arrival(&packet_of(sent), 7, Time::ZERO));
            }
            (red.average, red.count) = (7.0, 25);
            red.uniform_probability(1040.0, Time::ZERO)
        };
        // The law says 0.02. SA makes it 0.06 · 5 / 9.9 and p_a of that; MC spares 5 and leaves 10.
        let adjusted = 0.06 * 5.0 / 9.9;
        assert!((chance(Rule::Proportional, 5.0) - adjusted / (1.0 - 25.0 * adjusted)).abs() < 1e-12);
        assert_eq!(chance(Rule::Threshold, 5.0), 0.0);
        assert!((chance(Rule::Threshold, 10.0) - 0.04).abs() < 1e-12);
    }

    #[test]
    fn one_waiting_packet_is_never_followed_by_an_early_drop() {
        let mut red = red(Params { weight: 0.002, ..Params::default() });
        red.average = 100.0;
        let (packet, mut rng) = (packet(), Rng::stream(1, "red", 0));
        for _ in 0..100 {
            assert_eq!(red.on_arrival(&arrival(&packet, 1, Time::ZERO), &mut rng), Decision::Pass);
        }
        assert!(red.average > 50.0);
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let params = Params { min_threshold: 15.0, max_threshold: 5.0, ..Params::default() };
        assert!(params.check().unwrap_err().contains("min_threshold = 15"));
        assert!(Params { max_threshold: 5.0, ..Params::default() }.check().is_err());
        assert_eq!(Params { min_threshold: 5.0, ..Params::default() }.check(), Ok(()));
    }
}
