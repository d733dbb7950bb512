// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CAKE: a queue for each flow, served by deficit round robin, and COBALT in each queue: CoDel for flows that respond, BLUE for those that do not.
//!
//! T. Hoeiland-Joergensen, D. Taht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways", LANMAN 2018, §III; Linux (`sch_cake`).
//!
//! ```text
//! no room: the first packet of the longest queue is dropped, and COBALT of that queue overflows
//! the turn of a queue comes while it is empty: COBALT of that queue is empty
//! target   = max(target, 4 d),   d = full packet / C
//! interval = max(interval + t - target, 2 t),   t = max(target, 1.5 d)
//! ```
//!
//! `target interval d t`: time; `C` link rate. Scheduler and drops of a full buffer are as in `drr`, the rest as in `cobalt`.
//!
//! Readings: the last packet of a flow's queue is not dropped. Dropped packets cost a flow nothing.
//! Departures: no shaper, no classes of service (tins), no host fairness, no ACK filter. Each flow has a queue of its own;
//! CAKE hashes flows into 1024 queues, eight-way set-associative, which seldom differs below several hundred flows. A
//! queue that is idle is not visited, so that its p and n stay until it is used again.

use super::flows::{Flows, Places};
use super::{Arrival, Decision, Departure, Discipline, Facts, Order, Ticket, Waiting, cobalt};
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// CAKE's parameters.
    pub struct Params {
        ..cobalt: cobalt::Params;
        /// What a flow may send in each round; `0b` is a full packet of this network.
        quantum: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
    }
}

/// Queues of flows, each under COBALT.
#[derive(Clone, Debug)]
pub struct Cake {
    flows: Flows<cobalt::Cobalt>,
}

impl Discipline for Cake {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, facts: Facts) -> Cake {
        let cobalt = cobalt::Cobalt::new(params.cobalt, facts);
        Cake { flows: Flows::new(params.quantum, Places::new(0), cobalt, &facts) }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        let ticket = self.flows.push_out(arrival, waiting)?;
        self.flows.of(waiting.packet(&ticket).flow).1.overflow(arrival.now);
        Some(ticket)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        if arrival.full {
            self.flows.of(arrival.packet.flow).1.overflow(arrival.now);
        }
        Decision::Pass
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.flows.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, now: Time) -> Option<Ticket> {
        self.flows.next(waiting, |cobalt| cobalt.empty(now))
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, rng: &mut Rng) -> Decision {
        let flow = departure.packet.flow;
        let (backlog, cobalt) = self.flows.of(flow);
        let decision = cobalt.judge(departure, backlog.packets == 0, rng);
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

    fn cake(limit: Limit) -> Bench {
        Bench::new(Any::Cake(Cake::new(Params::default(), link(10, 0.06))), limit)
    }

    #[test]
    fn backlogged_flows_share_the_link_by_bytes_and_a_sparse_one_loses_nothing() {
        let mut bench = cake(Limit::Packets(100));
        let flows = [(0, 1500, NO_ECN), (1, 1000, NO_ECN), (2, 500, NO_ECN), (2, 500, NO_ECN)];
        let mut served = Vec::new();
        for _ in 0..300 {
            served.extend(bench.run(10, &flows));
            bench.arrive(7, 200);
            assert_eq!(bench.serve().map(|packet| packet.flow), Some(7));
        }
        let index = jain(&served, 3);
        assert!(index >= 0.99, "{index}");
        let lost = bench.pushed_out.iter().chain(&bench.dropped_late).chain(&bench.refused);
        assert!(lost.clone().all(|id| id % 41 != 40) && lost.count() > 1000);
    }
}
