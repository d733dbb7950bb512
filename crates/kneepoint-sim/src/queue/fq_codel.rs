// SPDX-License-Identifier: Apache-2.0 OR MIT
//! FQ-CoDel: a queue for each flow, served by deficit round robin with precedence for new flows, and CoDel in each queue.
//!
//! T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, "The Flow Queue CoDel Packet Scheduler and Active Queue Management Algorithm", RFC 8290, §4.
//!
//! ```text
//! arrival for an idle queue:  deficit = quantum, the queue joins the new ones
//! next: the first new queue, or else the first old one
//!   deficit <= 0:   deficit += quantum, to the end of the old queues
//!   empty:          a new queue to the end of the old ones, an old one becomes idle
//!   otherwise:      its first packet, unless CoDel drops it: deficit -= size
//! no room: the first packet of the longest queue is dropped, until the arrival fits
//! ```
//!
//! `deficit quantum size` bytes; the longest queue has the most bytes, counting the arrival. CoDel is as in `codel`.
//!
//! Readings: dropped packets cost a flow nothing. CoDel's state stays with an idle queue. CoDel spares the last packets of
//! a flow's own queue; the RFC does not say which backlog counts, and Linux takes that of all queues (`spares = "all"`), so that
//! it drops a flow's only packet. Ties between equally long queues are broken as in `drr`.
//! Departures: by default each flow has its own queue; the RFC hashes flows into 1024 queues, as `queues` = 1024
//! does. A full buffer drops one packet at a time, the RFC up to 64 and no more than half of the queue.

use super::flows::{Flows, Places};
use super::{Arrival, Decision, Departure, Discipline, Facts, Order, Ticket, Waiting, codel};
use crate::law::codel as law;
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::choice! {
    /// The backlog that CoDel compares with a full packet.
    pub enum Spares {
        /// The queue of the packet itself.
        Flow = "flow",
        /// All queues', as in Linux.
        All = "all",
    }
}

crate::settings! {
    /// FQ-CoDel's parameters.
    pub struct Params {
        ..law: law::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = true;
        /// The quantum of a flow in each round; `0b` is a full packet of this network.
        quantum: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
        /// The number of queues that flows are hashed into; 0 is a queue for each flow.
        queues: u32 = 0, 0..=65536;
        /// The rule by which CoDel ignores a backlog of at most a full packet.
        spares: Spares = Spares::Flow;
    }
    linux { spares = "all" }
}

/// Queues of flows, each under CoDel.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    flows: Flows<codel::CoDel>,
    spares: Spares,
}

impl Discipline for FqCoDel {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, facts: Facts) -> FqCoDel {
        let codel = codel::CoDel::new(codel::Params { law: params.law, ecn: params.ecn }, facts);
        let flows = Flows::new(params.quantum, Places::new(params.queues), codel, &facts);
        FqCoDel { flows, spares: params.spares }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        self.flows.push_out(arrival, waiting)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.flows.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        self.flows.next(waiting, codel::CoDel::rest)
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        let flow = departure.packet.flow;
        let (backlog, codel) = self.flows.of(flow);
        let behind = match self.spares {
            Spares::Flow => backlog,
            Spares::All => departure.backlog,
        };
        let decision = codel.judge(departure, behind.bytes);
        if decision != Decision::Drop {
            self.flows.charge(flow, departure.packet.bytes());
        }
        decision
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.flows.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, jain, link};
    use super::super::{Any, Limit};
    use super::*;
    use crate::packet::Flags;

    const NO_ECN: Flags = Flags(0);

    fn fq_codel(params: Params, limit: Limit) -> Bench {
        Bench::new(Any::FqCoDel(FqCoDel::new(params, link(10, 0.06))), limit)
    }

    #[test]
    fn backlogged_flows_share_the_link_by_bytes() {
        let mut bench = fq_codel(Params::default(), Limit::Unlimited);
        let served =
            bench.run(3000, &[(0, 1500, NO_ECN), (1, 1000, NO_ECN), (2, 500, NO_ECN), (2, 500, NO_ECN)]);
        let index = jain(&served, 3);
        assert!(index >= 0.99, "{index}");
    }

    #[test]
    fn drops_cost_a_flow_nothing_of_its_share() {
        // Flow 0 sends three times as much, and more of it is dropped.
        let mut bench = fq_codel(Params::default(), Limit::Unlimited);
        let served =
            bench.run(3000, &[(0, 1000, NO_ECN), (0, 1000, NO_ECN), (0, 1000, NO_ECN), (1, 1000, NO_ECN)]);
        let index = jain(&served, 2);
        assert!(bench.dropped_late.len() > 100 && index >= 0.99, "{} {index}", bench.dropped_late.len());
    }

    #[test]
    fn a_sparse_flow_waits_for_one_packet_and_loses_nothing() {
        let mut bench = fq_codel(Params::default(), Limit::Packets(50));
        for _ in 0..100 {
            bench.run(9, &[(0, 1000, NO_ECN), (1, 1000, NO_ECN)]);
            bench.arrive(7, 200);
            assert_eq!(bench.serve().map(|packet| packet.flow), Some(7));
        }
        // Each tenth packet after 18 others belongs to the sparse flow.
        let lost = bench.pushed_out.iter().chain(&bench.dropped_late).chain(&bench.refused);
        assert!(lost.clone().count() > 500 && lost.clone().all(|id| id % 19 != 18));
    }

    #[test]
    fn a_full_buffer_drops_from_the_head_of_the_longest_queue() {
        let mut bench = fq_codel(Params::default(), Limit::Packets(4));
        (0..4).for_each(|_| bench.arrive(0, 1000));
        bench.arrive(1, 1000);
        assert_eq!((bench.pushed_out.as_slice(), bench.refused.len()), (&[0][..], 0));
    }

    #[test]
    fn where_the_backlog_of_all_counts_a_flows_only_packet_is_dropped() {
        // Twenty flows with a packet each every 20 ms, of which one waits at a time: 20 ms, far above the target.
        let dropped = |spares| {
            let mut bench = fq_codel(Params { spares, ..Params::default() }, Limit::Unlimited);
            for _ in 0..40 {
                (0..20).for_each(|flow| bench.arrive(flow, 1000));
                bench.run(20, &[]);
            }
            bench.dropped_late.len()
        };
        assert_eq!(dropped(Spares::Flow), 0);
        assert!(dropped(Spares::All) > 0);
    }

    #[test]
    fn flows_hashed_into_one_queue_are_served_as_they_arrived() {
        let mut bench = fq_codel(Params { queues: 1, ..Params::default() }, Limit::Unlimited);
        for flow in [0, 0, 0, 1, 2] {
            bench.arrive(flow, 1000);
        }
        let flows: Vec<_> = std::iter::from_fn(|| bench.serve()).map(|packet| packet.flow).collect();
        assert_eq!(flows, [0, 0, 0, 1, 2]);
    }

    #[test]
    fn marks_take_the_place_of_drops() {
        let mut bench = fq_codel(Params::default(), Limit::Unlimited);
        let served = bench.run(1000, &[(0, 1000, Flags::ECT), (0, 1000, Flags::ECT)]);
        let marked = served.iter().filter(|packet| packet.flags.has(Flags::CE)).count();
        assert_eq!((bench.dropped_late.len(), marked), (0, 27));
    }
}
