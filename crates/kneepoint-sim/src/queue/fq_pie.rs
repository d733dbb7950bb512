// SPDX-License-Identifier: Apache-2.0 OR MIT
//! FQ-PIE: a queue for each flow, served by deficit round robin with precedence for new flows, and PIE in each queue.
//!
//! G. Ramakrishnan, M. Bhasi, V. Saicharan, L. Monis, S. D. Patil, M. P. Tahiliani, "FQ-PIE Queue Discipline in the Linux Kernel: Design, Implementation and Challenges", LCN Symposium 2019; Linux (`sch_fq_pie`).
//!
//! ```text
//! arrival: dropped or marked with its queue's probability, as in `pie`; backlog and delay are its queue's
//! arrival for an idle queue:  deficit = quantum, the queue joins the new ones
//! next: as in `drr`
//! every interval: the probability of each queue is computed
//! ```
//!
//! `deficit quantum` bytes. Every parameter of `pie` is one of each queue.
//!
//! Readings: an arrival that finds no room is dropped regardless of the flow that holds most, as in Linux. A queue that
//! is idle has
//! no delay and keeps its probability, which decays.
//! Departures: by default each flow has its own queue; Linux hashes flows into 1024 queues, as `queues` = 1024
//! does. All queues are updated at the same instant, in Linux in groups of 2048.

use super::flows::{Flows, Places};
use super::{Arrival, Backlog, Decision, Departure, Discipline, Facts, Order, Ticket, Waiting, pie};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

crate::settings! {
    /// FQ-PIE's parameters.
    pub struct Params {
        ..pie: pie::Params;
        /// The quantum of a flow in each round; `0b` is a full packet of this network.
        quantum: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
        /// The number of queues that flows are hashed into; 0 is a queue for each flow.
        queues: u32 = 0, 0..=65536;
    }
    linux { derandomize = "true", rules = "linux" }
}

/// Queues of flows, each under PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    flows: Flows<pie::Pie>,
    interval: Span,
}

impl Discipline for FqPie {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, facts: Facts) -> FqPie {
        let interval = params.pie.law.interval;
        let pie = pie::Pie::new(params.pie, facts);
        FqPie { flows: Flows::new(params.quantum, Places::new(params.queues), pie, &facts), interval }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let (backlog, pie) = self.flows.of(arrival.packet.flow);
        pie.judge(arrival, backlog.bytes, rng)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.flows.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        self.flows.next(waiting, |_| {})
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        let flow = departure.packet.flow;
        let (backlog, pie) = self.flows.of(flow);
        pie.observe(departure.waited, backlog);
        self.flows.charge(flow, departure.packet.bytes());
        Decision::Pass
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_tick(&mut self, _: Backlog, now: Time) {
        self.flows.states().for_each(|(backlog, pie)| pie.update(backlog, now));
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
    use crate::packet::{Flags, Packet};

    const NO_ECN: Flags = Flags(0);

    fn fq_pie(limit: Limit) -> Bench {
        Bench::new(Any::FqPie(FqPie::new(Params::default(), link(10, 0.06))), limit)
    }

    /// Milliseconds of arrivals with an update every 15.
    fn run(bench: &mut Bench, rounds: u64, flows: &[(u32, u16, Flags)]) -> Vec<Packet> {
        let mut served = Vec::new();
        for _ in 0..rounds {
            served.extend(bench.run(15, flows));
            bench.tick();
        }
        served
    }

    #[test]
    fn backlogged_flows_share_the_link_by_bytes() {
        let mut bench = fq_pie(Limit::Unlimited);
        let flows = [(0, 1500, NO_ECN), (1, 1000, NO_ECN), (2, 500, NO_ECN), (2, 500, NO_ECN)];
        let index = jain(&run(&mut bench, 200, &flows), 3);
        assert!(index >= 0.99, "{index}");
    }

    #[test]
    fn only_flows_with_a_standing_queue_lose_packets() {
        let mut bench = fq_pie(Limit::Unlimited);
        for _ in 0..200 {
            // Packet 15 of every 31 is the sparse flow's: it joins an idle queue, and goes first.
            run(&mut bench, 1, &[(0, 1000, NO_ECN)]);
            bench.arrive(7, 200);
            assert_eq!(bench.serve().map(|packet| packet.flow), Some(7));
            (0..15).for_each(|_| bench.arrive(0, 1000));
        }
        assert!(bench.refused.len() > 100 && bench.pushed_out.is_empty(), "{}", bench.refused.len());
        assert!(bench.refused.iter().all(|id| id % 31 != 15));
    }

    #[test]
    fn an_arrival_without_room_is_dropped_even_where_another_flow_holds_most() {
        let mut bench = fq_pie(Limit::Packets(4));
        (0..4).for_each(|_| bench.arrive(0, 1000));
        bench.arrive(1, 1000);
        assert_eq!((bench.refused.as_slice(), bench.pushed_out.len()), (&[4][..], 0));
    }
}
