// SPDX-License-Identifier: Apache-2.0 OR MIT
//! COBALT: CoDel for flows that respond and BLUE for those that do not, on one queue.
//!
//! T. Hoeiland-Joergensen, D. Taht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways", LANMAN 2018, §III; Linux (`sch_cake`). As its own queue: J. Palmei et al., "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019. BLUE: W. Feng, K. Shin, D. Kandlur, D. Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4) 2002.
//!
//! ```text
//! CoDel   w > target begins a phase:  next = now + interval / sqrt(n),  n at least 1
//!         in a phase, from `next` on:  drop or mark,  n <- n + 1,  next <- next + interval / sqrt(n)
//!         outside, from `next` on:     n <- n - 1,  next <- next + interval / sqrt(n),  until n = 0
//! BLUE    no room for a packet:               p <- p + 1/256,  a phase begins,  next = now
//!         the link is free, nothing waits:    p <- p - 1/4096, the phase ends
//!         p changes at most once in a target;  a departing packet is dropped with probability p
//! both    the last packet of a queue is not dropped
//! target   = max(target, 4 d),   d = full packet / C
//! interval = max(interval + t - target, 2 t),   t = max(target, 1.5 d)
//! ```
//!
//! `w` sojourn time, `target interval d t`: time; `C` link rate.
//!
//! Readings: overdue drops follow one another; instants that are still overdue when a packet leaves, marked or not,
//! lapse, as in Linux. BLUE's drops ignore ECN. A full buffer refuses the arrival; `cake` drops the first packet of its longest
//! queue. The bounds of target and interval are CAKE's, for one queue as for many.

use super::{Arrival, Decision, Departure, Discipline, Facts};
use crate::packet::Flags;
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// COBALT's parameters.
    pub struct Params {
        /// Mark packets of senders that understand marks, where CoDel would drop them.
        ecn: bool = true;
        /// The queueing delay that may persist.
        target: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// The time for which a delay must persist, and the time between the first two responses.
        interval: Span = Span::from_millis(100), Span::from_millis(1)..=Span::from_secs(100);
    }
}

/// BLUE's increase for a full buffer, and its decrease for an empty queue.
const INCREMENT: f64 = 1.0 / 256.0;
const DECREMENT: f64 = 1.0 / 4096.0;

/// CoDel and BLUE on one queue.
#[derive(Clone, Debug)]
pub struct Cobalt {
    target: Span,
    interval: Span,
    ecn: bool,
    /// Whether the delay persists.
    phase: bool,
    count: u32,
    next: Time,
    /// BLUE's probability.
    probability: f64,
    /// The time at which it changed.
    changed: Time,
}

impl Cobalt {
    /// Changes BLUE's probability, if it did not change within the last target.
    fn shift(&mut self, by: f64, now: Time) {
        if now.since(self.changed) > self.target {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changed = now;
        }
    }

    /// A packet of this queue was dropped for lack of room.
    pub fn overflow(&mut self, now: Time) {
        self.shift(INCREMENT, now);
        self.phase = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The link requested a packet, and nothing waited.
    pub fn empty(&mut self, now: Time) {
        if self.probability > 0.0 {
            self.shift(-DECREMENT, now);
        }
        self.phase = false;
    }

    /// The time between two responses at this count.
    fn pace(&self) -> Span {
        Span((self.interval.0 as f64 / libm::sqrt(f64::from(self.count.max(1)))) as u64)
    }

    fn advance(&mut self, count: u32) {
        self.count = count;
        self.next += self.pace();
    }

    /// Whether CoDel responds to a packet that leaves at `now`.
    fn responds(&mut self, waited: Span, now: Time) -> bool {
        let is_due = |cobalt: &Cobalt| cobalt.count > 0 && now >= cobalt.next;
        let due = is_due(self);
        let over = waited > self.target;
        if over && !self.phase {
            self.next = now + self.pace();
        }
        self.phase = over;
        if over {
            self.count = self.count.max(1);
            if due {
                self.advance(self.count.saturating_add(1));
            }
            return due;
        }
        while is_due(self) {
            self.advance(self.count - 1);
        }
        false
    }

    /// Decides on a departing packet; `last` if nothing remains behind it.
    #[inline]
    pub fn judge(&mut self, departure: &Departure, last: bool, rng: &mut Rng) -> Decision {
        let now = departure.now;
        let responds = self.responds(departure.waited, now);
        let marks = responds && self.ecn && departure.packet.flags.has(Flags::ECT);
        let unlucky = self.probability > 0.0 && rng.chance(self.probability);
        if !last && (unlucky || responds && !marks) {
            return Decision::Drop;
        }
        self.next = if self.count > 0 { self.next.max(now) } else { self.next };
        if marks { Decision::Mark } else { Decision::Pass }
    }
}

impl Discipline for Cobalt {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Cobalt {
        let packet = facts.rate.time_for(facts.packet);
        let least = params.target.max(Span(packet.0 + packet.0 / 2));
        Cobalt {
            target: params.target.max(packet * 4),
            interval: (params.interval + least.saturating_sub(params.target)).max(least * 2),
            ecn: params.ecn,
            phase: false,
            count: 0,
            next: Time::ZERO,
            probability: 0.0,
            changed: Time::ZERO,
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        if arrival.full {
            self.overflow(arrival.now);
        }
        Decision::Pass
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, rng: &mut Rng) -> Decision {
        self.judge(departure, departure.backlog.packets == 0, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.empty(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let dropping = if self.phase { 1.0 } else { 0.0 };
        vec![("dropping", dropping), ("count", f64::from(self.count)), ("probability", self.probability)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link, packet};
    use super::super::{Any, Backlog, Limit};
    use super::*;

    fn cobalt(mbit: u64) -> Cobalt {
        Cobalt::new(Params::default(), link(mbit, 0.06))
    }

    fn at(milli: u64) -> Time {
        Span::from_millis(milli).after_start()
    }

    #[test]
    fn blue_rises_by_a_256th_and_falls_by_a_4096th_once_in_a_target() {
        let mut one = cobalt(10);
        for (milli, expected) in [(10, 1.0), (14, 1.0), (15, 1.0), (16, 2.0), (22, 3.0)] {
            one.overflow(at(milli));
            assert_eq!(one.probability, expected / 256.0, "{milli}");
        }
        one.empty(at(27));
        assert_eq!(one.probability, 3.0 / 256.0);
        one.empty(at(28));
        assert_eq!(one.probability, 3.0 / 256.0 - 1.0 / 4096.0);
        (0..2000).for_each(|step| one.empty(at(100 + 6 * step)));
        assert_eq!(one.probability, 0.0);
        (0..300).for_each(|step| one.overflow(at(100_000 + 6 * step)));
        assert_eq!(one.probability, 1.0);
    }

    #[test]
    fn codel_responds_ever_sooner_and_remembers_its_pace_for_a_while() {
        let mut one = cobalt(100);
        let mut instants = |waits: std::ops::Range<u64>, wait| -> Vec<u64> {
            waits.filter(|milli| one.responds(Span::from_millis(wait), at(*milli))).collect()
        };
        // 100 ms; then 100/sqrt(2) = 70.7, 57.7, 50 and 44.7 ms.
        assert_eq!(instants(0..340, 8), [100, 171, 229, 279, 324]);
        // The next instant is 364 ms: n = 6 falls to 5 there, to 4 after 44.7 ms, and to 3 only 50 ms later.
        assert_eq!(instants(340..450, 4), [0; 0]);
        assert_eq!(one.count, 4);
        // The next phase begins at that pace: 100/sqrt(4) = 50 ms, then 44.7 ms.
        let mut again = (450..560).filter(|milli| one.responds(Span::from_millis(8), at(*milli)));
        assert_eq!([again.next(), again.next(), again.next()], [Some(500), Some(545), None]);
    }

    #[test]
    fn a_slow_link_may_have_a_few_packets() {
        // 1 Mbit/s: 8.32 ms a packet of 1040 bytes. t = 12.48 ms.
        let slow = cobalt(1);
        assert_eq!((slow.target, slow.interval), (Span::from_micros(33_280), Span::from_micros(107_480)));
        let fast = cobalt(100);
        assert_eq!((fast.target, fast.interval), (Span::from_millis(5), Span::from_millis(100)));
    }

    #[test]
    fn blue_drops_what_could_be_marked_but_never_the_last_packet() {
        let capable = crate::packet::Packet::data(0, 0, 1040, Flags::ECT, Time::ZERO);
        let decide = |probability, phase, packet, last| {
            let mut one = Cobalt { probability, phase, count: u32::from(phase), ..cobalt(10) };
            let (now, waited) = (at(500), Span::from_millis(if phase { 50 } else { 0 }));
            let departure = Departure { now, packet, backlog: Backlog::default(), waited };
            one.judge(&departure, last, &mut Rng::stream(1, "cake", 0))
        };
        let plain = packet();
        assert_eq!(decide(1.0, false, &capable, false), Decision::Drop);
        assert_eq!(decide(1.0, false, &capable, true), Decision::Pass);
        assert_eq!(decide(0.0, true, &capable, false), Decision::Mark);
        assert_eq!(decide(0.0, true, &plain, false), Decision::Drop);
        assert_eq!(decide(0.0, true, &plain, true), Decision::Pass);
    }

    #[test]
    fn one_queue_that_overflows_is_thinned_by_blue_until_it_is_idle() {
        let mut bench = Bench::new(Any::Cobalt(cobalt(10)), Limit::Packets(50));
        // Two packets arrive in each millisecond, and one is served: BLUE rises until it drops every second one.
        bench.run(1500, &[(0, 1040, Flags::default()); 2]);
        let refused = bench.refused.len();
        assert!(refused > 100, "{refused}");
        bench.run(500, &[(0, 1040, Flags::default()); 2]);
        assert!(bench.refused.len() - refused < 50, "{}", bench.refused.len() - refused);
        let probability = |at: &Bench| at.state().iter().find(|(name, _)| *name == "probability").unwrap().1;
        let high = probability(&bench);
        assert!((0.4..0.6).contains(&high), "{high}");
        while bench.serve().is_some() {
            bench.now += Span::from_millis(1);
        }
        // The link asks once more, and finds the queue empty.
        assert_eq!(probability(&bench), high - 1.0 / 4096.0);
    }

    #[test]
    fn a_queue_that_stands_without_overflow_is_left_to_codel() {
        let mut bench = Bench::new(Any::Cobalt(cobalt(10)), Limit::Unlimited);
        bench.run(1000, &[(0, 1040, Flags::default()); 2]);
        // From 110 ms on one drop, then n more with 100 (1/sqrt(2) + ... + 1/sqrt(n + 1)) <= 890.
        assert_eq!((bench.dropped_late.len(), bench.refused.len()), (31, 0));
    }
}
