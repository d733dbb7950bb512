// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RIO: RED with In and Out; packets beyond their flow's profile are dropped or marked earlier and by the whole queue.
//!
//! D. Clark, W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4) 1998, §III; parameters as in ns-2.35.
//!
//! ```text
//! avg_in <- RED's average of the In packets that wait,  avg <- of all               every arrival
//! In:   RED's probability of avg_in    between in_min and in_max,    up to in_max_p
//! Out:  RED's probability of avg       between out_min and out_max,  up to out_max_p
//! profile: a token bucket for each flow, of `profile_rate` and `profile_burst`; In while it holds the packet's size
//! ```
//!
//! averages and thresholds in packets; each class counts its own arrivals since its last drop or mark.
//!
//! Readings: In and Out packets move both averages; ns-2 leaves avg_in as it is when an Out packet arrives. An In packet is
//! never dropped early while no more than one In packet waits. A bucket is full when its flow begins. Acknowledgements are
//! packets of their flow.
//! Departure: the paper tags packets at the edge of the network, by a time-sliding window for TCP. Packets carry no tag here,
//! so the queue itself meters its flows, by token buckets.

use std::collections::VecDeque;

use super::red::{self, Red};
use super::{Arrival, Backlog, Decision, Discipline, Facts, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Time};

crate::settings! {
    /// The parameters of a queue with two classes.
    pub struct Classes {
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The average of In packets at which dropping of In packets begins.
        in_min_threshold: f64 = 15.0, 0.1..=10000000.0;
        /// The average of In packets at which their probability reaches `in_max_p`.
        in_max_threshold: f64 = 30.0, 0.1..=10000000.0;
        /// The probability of In packets at their maximum threshold.
        in_max_p: f64 = 0.02, 0.0001..=1.0;
        /// The average of all packets at which dropping of Out packets begins.
        out_min_threshold: f64 = 5.0, 0.1..=10000000.0;
        /// The average of all packets at which the probability of Out packets reaches `out_max_p`.
        out_max_threshold: f64 = 15.0, 0.1..=10000000.0;
        /// The probability of Out packets at their maximum threshold.
        out_max_p: f64 = 0.1, 0.0001..=1.0;
        /// The weight of an arrival in both averages.
        weight: f64 = 0.002, 0.000001..=1.0;
        /// Between a maximum threshold and twice it, let the probability rise to 1 instead of jumping.
        gentle: bool = false;
        /// Space drops evenly: none before 1/p arrivals have passed, one before 2/p have.
        wait: bool = true;
    }
    check |params| {
        for (class, min, max) in [
            ("in", params.in_min_threshold, params.in_max_threshold),
            ("out", params.out_min_threshold, params.out_max_threshold),
        ] {
            if min >= max {
                return Err(format!(
                    "{class}_min_threshold = {min}, {class}_max_threshold = {max}: let the minimum be less, as in 5 and 15"
                ));
            }
        }
        Ok(())
    }
}

crate::settings! {
    /// RIO's parameters.
    pub struct Params {
        ..classes: Classes;
        /// The rate of a flow's profile.
        profile_rate: Rate = Rate::from_mbit(1), Rate(1000)..=Rate::from_mbit(1_000_000);
        /// The burst of a flow's profile.
        profile_burst: Bytes = Bytes(10_000), Bytes(0)..=Bytes(1_000_000_000);
    }
}

/// The class of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Preferred.
    In,
    /// Dropped earlier.
    Out,
}

/// One queue that judges packets of two classes; the classes of waiting packets are stored in order.
#[derive(Clone, Debug)]
pub struct TwoClasses {
    of_in: Red,
    of_all: Red,
    waiting_in: Backlog,
    waiting: VecDeque<Class>,
    arriving: Class,
}

impl TwoClasses {
    /// An empty queue.
    pub fn new(params: Classes, facts: Facts) -> TwoClasses {
        let red = |min_threshold, max_threshold, max_p| {
            let Classes { ecn, weight, gentle, wait, .. } = params;
            let own = red::Params {
                ecn,
                min_threshold,
                max_threshold,
                max_p,
                weight,
                gentle,
                wait,
                ..Default::default()
            };
            Red::new(own, facts)
        };
        TwoClasses {
            of_in: red(params.in_min_threshold, params.in_max_threshold, params.in_max_p),
            of_all: red(params.out_min_threshold, params.out_max_threshold, params.out_max_p),
            waiting_in: Backlog::default(),
            waiting: VecDeque::new(),
            arriving: Class::Out,
        }
    }

    /// Decides on an arrival of this class.
    pub fn judge(&mut self, class: Class, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.arriving = class;
        let among_in = Arrival { backlog: self.waiting_in, ..*arrival };
        match class {
            Class::In => {
                self.of_all.follow(arrival);
                self.of_in.observe(&among_in);
                self.of_in.judge(&among_in, rng)
            }
            Class::Out => {
                self.of_in.follow(&among_in);
                self.of_all.observe(arrival);
                self.of_all.judge(arrival, rng)
            }
        }
    }

    /// Puts the packet that was judged last in line.
    pub fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        if self.arriving == Class::In {
            self.waiting_in.packets += 1;
            self.waiting_in.bytes += waiting.packet(&ticket).bytes();
        }
        self.waiting.push_back(self.arriving);
        waiting.push(ticket);
    }

    /// The first packet.
    pub fn next(&mut self, waiting: &mut Waiting) -> Option<Ticket> {
        let ticket = waiting.pop()?;
        if self.waiting.pop_front() == Some(Class::In) {
            self.waiting_in.packets -= 1;
            self.waiting_in.bytes = self.waiting_in.bytes - waiting.packet(&ticket).bytes();
        }
        Some(ticket)
    }

    /// The link requested a packet and none waited.
    pub fn on_idle(&mut self, now: Time) {
        self.of_in.on_idle(now);
        self.of_all.on_idle(now);
    }

    /// Both averages, to plot.
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("average_in_packets", self.of_in.average()), ("average_packets", self.of_all.average())]
    }
}

/// The rest of a flow's profile.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// In bytes.
    tokens: f64,
    filled: Time,
}

/// A RIO queue and its profiles.
#[derive(Clone, Debug)]
pub struct Rio {
    classes: TwoClasses,
    /// In bytes per second.
    rate: f64,
    /// In bytes.
    burst: f64,
    /// By flow.
    buckets: Vec<Bucket>,
}

impl Rio {
    fn class(&mut self, arrival: &Arrival) -> Class {
        let (flow, size) = (arrival.packet.flow as usize, f64::from(arrival.packet.size));
        if self.buckets.len() <= flow {
            self.buckets.resize(flow + 1, Bucket { tokens: self.burst, filled: Time::ZERO });
        }
        let Bucket { tokens, filled } = &mut self.buckets[flow];
        let elapsed = arrival.now.since(*filled).as_secs_f64();
        *tokens = (*tokens + self.rate * elapsed).min(self.burst);
        *filled = arrival.now;
        if *tokens >= size {
            *tokens -= size;
            Class::In
        } else {
            Class::Out
        }
    }
}

impl Discipline for Rio {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Rio {
        Rio {
            classes: TwoClasses::new(params.classes, facts),
            rate: params.profile_rate.as_f64() / 8.0,
            burst: params.profile_burst.0 as f64,
            buckets: Vec::new(),
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let class = self.class(arrival);
        self.classes.judge(class, arrival, rng)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.classes.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        self.classes.next(waiting)
    }

    fn on_idle(&mut self, now: Time) {
        self.classes.on_idle(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.classes.state()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, arrival, link, packet};
    use super::super::{Any, Limit};
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn a_flow_is_in_while_its_bucket_holds_the_packet() {
        let params = Params { profile_burst: Bytes(3000), ..Params::default() };
        let mut rio = Rio::new(params, link(10, 0.06));
        let packet = packet();
        let mut class = |micros: u64| rio.class(&arrival(&packet, 0, Time(1000 * micros)));
        // 3000 bytes are two packets of 1040 and 920 bytes; 1 Mbit/s fills in the missing 120 in 0.96 ms.
        assert_eq!(
            [0, 0, 0, 959, 961].map(&mut class),
            [Class::In, Class::In, Class::Out, Class::Out, Class::In]
        );
        // After any idle time, a bucket holds no more than its burst.
        assert_eq!([10_000_000; 3].map(class), [Class::In, Class::In, Class::Out]);
    }

    #[test]
    fn both_averages_follow_their_queues_at_every_arrival() {
        let classes = Classes { weight: 1.0, ..Classes::default() };
        let params = Params { classes, profile_burst: Bytes(3000), ..Params::default() };
        let rio = Rio::new(params, link(10, 0.06));
        let mut bench = Bench::new(Any::Rio(rio), Limit::Unlimited);
        let averages = |queue: &Bench| [0, 1].map(|place: usize| queue.state()[place].1);
        (0..5).for_each(|_| bench.arrive(0, 1000));
        // Three in, then out; the last arrival found four packets, three of them in.
        assert_eq!(averages(&bench), [3.0, 4.0]);
        bench.serve();
        bench.arrive(0, 1000);
        assert_eq!(averages(&bench), [2.0, 4.0]);
        // Another flow is in its own profile.
        bench.arrive(1, 1000);
        bench.arrive(0, 1000);
        assert_eq!(averages(&bench), [3.0, 6.0]);
        let order: Vec<_> = std::iter::from_fn(|| bench.serve()).map(|packet| packet.id).collect();
        assert_eq!(order, [1, 2, 3, 4, 5, 6, 7]);
        bench.arrive(2, 1000);
        assert_eq!(averages(&bench), [0.0, 0.0]);
    }

    #[test]
    fn each_class_has_its_own_curve() {
        let dropped = |class, waiting_in, packets| {
            let classes = Classes { weight: 1.0, wait: false, ..Classes::default() };
            let mut queue = TwoClasses::new(classes, link(10, 0.06));
            queue.waiting_in = Backlog { packets: waiting_in, bytes: Bytes(0) };
            let (packet, mut rng) = (packet(), Rng::stream(1, "rio", 0));
            let mut judge = || queue.judge(class, &arrival(&packet, packets, Time::ZERO), &mut rng);
            (0..20_000).filter(|_| judge() == Decision::Drop).count()
        };
        // Out at 10 packets: 0.1 · 5 / 10 = 0.05, every ten arrivals on average; in any proportion.
        assert!(dropped(Class::Out, 0, 10).abs_diff(2000) < 150);
        assert!(dropped(Class::Out, 10, 10).abs_diff(2000) < 150);
        assert_eq!(dropped(Class::In, 10, 10), 0);
        // In at 24 of 100 packets: 0.02 · 9 / 15 = 0.012, every 42; all Out packets are lost but the first.
        assert!(dropped(Class::In, 24, 100).abs_diff(476) < 60);
        assert_eq!(dropped(Class::Out, 24, 100), 19_999);
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let params = Classes { in_min_threshold: 40.0, ..Classes::default() };
        let message = params.check().unwrap_err();
        assert!(message.contains("in_min_threshold = 40, in_max_threshold = 30"), "{message}");
    }
}
