// SPDX-License-Identifier: Apache-2.0 OR MIT
//! DualPI2: two queues with coupled probabilities; packets of scalable senders pass through a short one, all others through one under PI2.
//!
//! K. De Schepper, B. Briscoe, G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and Scalable Throughput (L4S)", RFC 9332, §2 and Appendix A; weights as in Linux (`sch_dualpi2`).
//!
//! ```text
//! p' <- p' + alpha (q - target) + beta (q - q'),  within [0, 1];   q' <- q      every interval
//! p_CL = k p'                        p_C = p'^2 = (p_CL / k)^2
//! p_L  = max(ramp, p_CL)             ramp = (w - min_delay) / range,  within [0, 1];  0 if fewer than `min_behind` are behind
//! L: mark with p_L;                  from p_CL >= 1 on: drop with p_C, else mark
//! C: drop or mark with p_C;          from p_C >= min(1 / k^2, 1) on: drop
//! with probability x:                sum <- sum + x;  once the sum exceeds 1: sum <- sum - 1, take this packet
//! weighted: C sends the share `weight` of the bytes while both queues have packets
//! shifted:  the queue whose head waits longer, counting `shift` more for the head of L
//! ```
//!
//! `q` the longer of the waits of both heads; `w` sojourn time of a packet that leaves L; `target interval min_delay range
//! shift`: time; `alpha beta` per second of delay; RFC: alpha = 0.1 interval / RTT^2, beta = 0.3 / RTT at RTT = 100 ms.
//!
//! Readings: packets with ECT(1) join L, all others C, such as retransmissions, which are not ECN-capable here. The longer
//! wait drives p', as in the second pass of Appendix A and in Linux, so that L alone cannot overload the link; the first
//! pass has C's. The pseudo-code's Th_len = 1 spares a packet that is alone ("> 1 packet queued"): the one that leaves is
//! counted. If it is not, as the order of the statements has it, `min_behind` is 2. In an overload of L, drops have a sum
//! of their own: in the pseudo-code's, to which each survivor adds p_CL >= 1 and a mark takes 1, they would exceed p_C,
//! 0.47 for 0.36 at p' = 0.6. Dropped packets cost a queue nothing of its share.
//! Departures: a CE mark does not move a packet to L: packets here remember whether their sender is scalable. The weight is
//! Linux's 10 %, the shift is ours; the RFC leaves both open. A packet has room if it fits, not if a full one would.
//! The RFC's own text was not at hand: it was compared by way of implementations that quote its pseudo-code.

use super::{Backlog, Decision, Departure, Discipline, Facts, Line, Order, Ticket, Waiting};
use crate::law::{Law, pi as law};
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::choice! {
    /// The division of the link between the two queues.
    pub enum Scheduler {
        /// By weight.
        Weighted = "weighted",
        /// By arrival, with an advantage for the short queue.
        Shifted = "shifted",
    }
}

crate::settings! {
    /// DualPI2's parameters.
    pub struct Params {
        /// The queueing delay to keep in the classic queue.
        target: Span = Span::from_millis(15), Span::ZERO..=Span::from_secs(10);
        /// The interval between computations of the probability.
        interval: Span = Span::from_millis(15), Span::from_millis(1)..=Span::from_secs(10);
        /// The weight of the delay's distance from its target, per second.
        alpha: f64 = 0.15, 0.0..=1000.0;
        /// The weight of the delay's change, per second.
        beta: f64 = 3.0, 0.0..=1000.0;
        /// k: the coupling of the probabilities of the two queues.
        coupling: f64 = 2.0, 0.01..=100.0;
        /// The wait in the short queue from which packets are marked.
        min_delay: Span = Span::from_micros(800), Span::ZERO..=Span::from_secs(10);
        /// The additional delay at which a packet is certainly marked; `0s` makes the ramp a step.
        range: Span = Span::from_micros(400), Span::ZERO..=Span::from_secs(10);
        /// The least number of packets behind a packet that is marked for its delay.
        min_behind: u32 = 1, 0..=10000000;
        /// The division of the link between the two queues.
        scheduler: Scheduler = Scheduler::Weighted;
        /// The share of the link that the classic queue has when both have packets, if weighted.
        weight: f64 = 0.1, 0.0..=1.0;
        /// The advantage of the short queue, if shifted.
        shift: Span = Span::from_millis(40), Span::ZERO..=Span::from_secs(10);
        /// Mark classic packets of senders that understand marks, instead of dropping them.
        ecn: bool = true;
    }
}

/// The condition for a packet to use the short queue: ECT(1).
const SHORT: Flags = Flags(Flags::ECT.0 | Flags::SCALABLE.0);

/// Takes packets at the rate of a probability, evenly spaced.
#[derive(Clone, Copy, Debug, Default)]
struct Spacing(f64);

impl Spacing {
    fn takes(&mut self, probability: f64) -> bool {
        self.0 += probability;
        let takes = self.0 > 1.0;
        if takes {
            self.0 -= 1.0;
        }
        takes
    }
}

/// One of the two queues.
#[derive(Clone, Debug, Default)]
struct Queue {
    line: Line,
    /// The arrival of its first packet.
    head: Option<Time>,
    marks: Spacing,
}

/// A short queue and a classic one.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    params: Params,
    law: law::Pi,
    short: Queue,
    classic: Queue,
    /// Drops in the short queue.
    drops: Spacing,
    /// The bytes by which the short queue is ahead of its share; it may send at zero or less.
    ahead: f64,
    /// The same when both queues are empty.
    fresh: f64,
}

impl DualPi2 {
    /// p_C.
    fn classic_probability(&self) -> f64 {
        self.law.probability() * self.law.probability()
    }

    /// p_CL, up to which the short queue is marked, and from 1 on overloaded.
    fn coupled_probability(&self) -> f64 {
        self.params.coupling * self.law.probability()
    }

    fn ramp(&self, waited: Span, behind: u32) -> f64 {
        let Params { min_delay, range, min_behind, .. } = self.params;
        let beyond = waited.saturating_sub(min_delay);
        if behind < min_behind || beyond == Span::ZERO {
            0.0
        } else if beyond >= range {
            1.0
        } else {
            beyond.0 as f64 / range.0 as f64
        }
    }

    fn queue(&mut self, packet: &Packet) -> &mut Queue {
        if packet.flags.has(SHORT) { &mut self.short } else { &mut self.classic }
    }

    /// The queue to serve.
    fn turn(&mut self) -> &mut Queue {
        let short = match (self.short.head, self.classic.head) {
            (None, None) => {
                self.ahead = self.fresh;
                true
            }
            (Some(short), Some(classic)) => match self.params.scheduler {
                Scheduler::Weighted => self.ahead <= 0.0,
                Scheduler::Shifted => short <= classic + self.params.shift,
            },
            (short, _) => short.is_some(),
        };
        if short { &mut self.short } else { &mut self.classic }
    }

    fn judge_short(&mut self, waited: Span) -> Decision {
        let (coupled, classic) = (self.coupled_probability(), self.classic_probability());
        if coupled >= 1.0 {
            return if self.drops.takes(classic) { Decision::Drop } else { Decision::Mark };
        }
        let native = self.ramp(waited, self.short.line.backlog().packets);
        if self.short.marks.takes(native.max(coupled)) { Decision::Mark } else { Decision::Pass }
    }

    fn judge_classic(&mut self, packet: &Packet) -> Decision {
        let probability = self.classic_probability();
        if !self.classic.marks.takes(probability) {
            return Decision::Pass;
        }
        let overloaded = probability >= (1.0 / (self.params.coupling * self.params.coupling)).min(1.0);
        Decision::signal(packet, self.params.ecn && !overloaded)
    }

    /// Counts a packet against its queue's share, if the other queue waits.
    fn charge(&mut self, packet: &Packet) {
        let size = f64::from(packet.size);
        if packet.flags.has(SHORT) {
            if self.classic.head.is_some() {
                self.ahead += self.params.weight * size;
            }
        } else if self.short.head.is_some() {
            self.ahead -= (1.0 - self.params.weight) * size;
        }
    }
}

impl Discipline for DualPi2 {
    type Params = Params;
    const ORDER: Order = Order::Class;

    fn new(params: Params, facts: Facts) -> DualPi2 {
        let (target, a, b) = (params.target.as_secs_f64(), params.alpha + params.beta, params.beta);
        let fresh = (2.0 * params.weight - 1.0) * facts.packet.0 as f64;
        DualPi2 {
            law: law::Pi::new(law::Params { target, a, b }),
            short: Queue::default(),
            classic: Queue::default(),
            drops: Spacing::default(),
            ahead: fresh,
            fresh,
            params,
        }
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        let queue = self.queue(waiting.packet(&ticket));
        waiting.push_to(&mut queue.line, ticket);
        queue.head = waiting.head_arrived(&queue.line);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        let queue = self.turn();
        let ticket = waiting.pop_from(&mut queue.line);
        queue.head = waiting.head_arrived(&queue.line);
        ticket
    }

    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        let packet = departure.packet;
        let decision = match packet.flags.has(SHORT) {
            true => self.judge_short(departure.waited),
            false => self.judge_classic(packet),
        };
        if decision != Decision::Drop {
            self.charge(packet);
        }
        decision
    }

    fn interval(&self) -> Option<Span> {
        Some(self.params.interval)
    }

    fn on_tick(&mut self, _: Backlog, now: Time) {
        let oldest = [self.short.head, self.classic.head].into_iter().flatten().min();
        self.law.sample(now.since(oldest.unwrap_or(now)).as_secs_f64(), now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("probability", self.law.probability()),
            ("classic_probability", self.classic_probability()),
            ("coupled_probability", self.coupled_probability().min(1.0)),
            ("short_packets", f64::from(self.short.line.backlog().packets)),
            ("classic_packets", f64::from(self.classic.line.backlog().packets)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link};
    use super::super::{Any, Limit};
    use super::*;
    use crate::units::Bytes;

    const CLASSIC: Flags = Flags(0);

    fn dualpi2(params: Params) -> DualPi2 {
        DualPi2::new(params, link(10, 0.06))
    }

    /// A queue whose p' is this.
    fn at(probability: f64) -> DualPi2 {
        // One update with p' = alpha q.
        let exact = Params { target: Span::ZERO, alpha: 1.0, beta: 0.0, ..Params::default() };
        let mut queue = dualpi2(exact);
        queue.classic.head = Some(Time::ZERO);
        queue.on_tick(Backlog::default(), Time::ZERO + Span::from_secs_f64(probability));
        queue.classic.head = None;
        queue
    }

    /// The number of 1000 packets with these flags that are dropped and marked, after this wait in a constant queue.
    fn fates(queue: &mut DualPi2, flags: Flags, waited: Span) -> [usize; 2] {
        let packet = Packet::data(0, 0, 1040, flags, Time::ZERO);
        let departure = Departure { now: Time::ZERO, packet: &packet, backlog: Backlog::default(), waited };
        let mut rng = Rng::stream(1, "dualpi2", 0);
        let fates: Vec<_> = (0..1000).map(|_| queue.on_departure(&departure, &mut rng)).collect();
        [Decision::Drop, Decision::Mark].map(|fate| fates.iter().filter(|one| **one == fate).count())
    }

    #[test]
    fn the_base_probability_follows_the_printed_law() {
        let mut queue = dualpi2(Params::default());
        queue.classic.head = Some(Time::ZERO);
        queue.on_tick(Backlog::default(), Span::from_millis(35).after_start());
        let first = 0.15 * 0.02 + 3.0 * 0.035;
        assert!((queue.law.probability() - first).abs() < 1e-12);
        // The short queue's head waits longer: 55 ms.
        queue.short.head = Some(Time::ZERO);
        queue.classic.head = Some(Span::from_millis(30).after_start());
        queue.on_tick(Backlog::default(), Span::from_millis(55).after_start());
        assert!((queue.law.probability() - first - 0.15 * 0.04 - 3.0 * 0.02).abs() < 1e-12);
    }

    #[test]
    fn the_gains_are_those_of_the_rfc_for_a_round_trip_of_100_ms() {
        let Params { interval, alpha, beta, .. } = Params::default();
        assert!((alpha - 0.1 * interval.as_secs_f64() / 0.01).abs() < 1e-12);
        assert!((beta - 0.3 / 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_classic_probability_is_the_square_of_the_coupled_one_over_k() {
        // p' = 0.25: p_C = 0.0625, p_CL = 0.5 and (0.5 / 2)^2 = 0.0625, of a thousand packets.
        assert_eq!(fates(&mut at(0.25), CLASSIC, Span::ZERO), [62, 0]);
        assert_eq!(fates(&mut at(0.25), Flags::ECT, Span::ZERO), [0, 62]);
        assert_eq!(fates(&mut at(0.25), SHORT, Span::ZERO), [0, 499]);
    }

    #[test]
    fn the_short_queue_is_marked_on_a_ramp_from_800_to_1200_us() {
        let mut queue = dualpi2(Params { min_behind: 0, ..Params::default() });
        let ramp = [0, 800, 900, 1000, 1200, 5000].map(|micros| queue.ramp(Span::from_micros(micros), 1));
        assert_eq!(ramp, [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]);
        let [_, marked] = fates(&mut queue, SHORT, Span::from_micros(900));
        assert!((249..=250).contains(&marked), "{marked}");
        // With nothing behind it a packet is not marked for its wait.
        assert_eq!(fates(&mut dualpi2(Params::default()), SHORT, Span::from_secs(1)), [0, 0]);
        let step = dualpi2(Params { range: Span::ZERO, ..Params::default() });
        assert_eq!([800, 801].map(|micros| step.ramp(Span::from_micros(micros), 1)), [0.0, 1.0]);
    }

    #[test]
    fn the_ramp_and_the_coupled_probability_do_not_add_up() {
        // p' = 0.1: p_CL = 0.2. The ramp is 0.25 at 900 us, and 0.125 at 850 us.
        let mut queue = at(0.1);
        queue.params.min_behind = 0;
        for (micros, expected) in [(900, 250), (850, 200)] {
            let [_, marked] = fates(&mut queue, SHORT, Span::from_micros(micros));
            assert!(marked.abs_diff(expected) <= 1, "{micros} us: {marked}");
        }
    }

    #[test]
    fn drops_in_an_overload_come_at_the_classic_probability() {
        // p' = 0.6: p_C = 0.36, p_CL = 1.2.
        assert!(fates(&mut at(0.6), SHORT, Span::ZERO)[0].abs_diff(360) <= 1);
        // One sum for both: 0.36 + (1 - d) 1.2 = 1, so d = 0.4667.
        let mut common = Spacing::default();
        let dropped = (0..1000).filter(|_| {
            let drop = common.takes(0.36);
            drop || !common.takes(1.2)
        });
        assert!(dropped.count().abs_diff(467) <= 1);
    }

    #[test]
    fn without_a_gain_in_coupling_classic_packets_are_marked_up_to_certainty() {
        // k = 0.5: min(1 / k^2, 1) = 1.
        let mut queue = at(0.9);
        queue.params.coupling = 0.5;
        assert!(fates(&mut queue, Flags::ECT, Span::ZERO)[1].abs_diff(810) <= 1);
    }

    #[test]
    fn an_overload_drops_in_both_queues() {
        // p' = 0.5: p_CL = 1, p_C = 0.25 = 1 / k^2.
        assert_eq!(fates(&mut at(0.5), Flags::ECT, Span::ZERO), [249, 0]);
        assert_eq!(fates(&mut at(0.5), SHORT, Span::ZERO), [249, 751]);
    }

    /// The share of bytes of the classic queue where both are backlogged.
    fn classic_share(params: Params) -> f64 {
        let mut bench = Bench::new(Any::DualPi2(dualpi2(params)), Limit::Unlimited);
        let served = bench.run(2000, &[(0, 1500, CLASSIC), (1, 1000, SHORT)]);
        let bytes =
            |flow| served.iter().filter(|one| one.flow == flow).map(|one| f64::from(one.size)).sum::<f64>();
        bytes(0) / (bytes(0) + bytes(1))
    }

    #[test]
    fn a_weight_is_a_share_of_the_bytes() {
        for weight in [0.1, 0.5, 0.75] {
            let share = classic_share(Params { weight, ..Params::default() });
            assert!((share - weight).abs() < 0.01, "{share}");
        }
        assert!(classic_share(Params { weight: 0.0, ..Params::default() }) < 0.01);
    }

    #[test]
    fn a_shift_lets_the_short_queue_go_first_by_as_much() {
        let shifted = Params { scheduler: Scheduler::Shifted, ..Params::default() };
        let mut bench = Bench::new(Any::DualPi2(dualpi2(shifted)), Limit::Unlimited);
        bench.arrive(0, 1000);
        bench.now += Span::from_millis(40);
        bench.arrive_with(1, 1000, SHORT);
        bench.now += Span::from_millis(1);
        bench.arrive_with(2, 1000, SHORT);
        let flows: Vec<_> = std::iter::from_fn(|| bench.serve()).map(|packet| packet.flow).collect();
        assert_eq!(flows, [1, 0, 2]);
    }

    #[test]
    fn a_full_buffer_drops_what_arrives() {
        let mut bench = Bench::new(Any::DualPi2(dualpi2(Params::default())), Limit::Bytes(Bytes(3000)));
        for flags in [CLASSIC, SHORT, CLASSIC, SHORT] {
            bench.arrive_with(0, 1000, flags);
        }
        assert_eq!(bench.refused, [3]);
    }
}
