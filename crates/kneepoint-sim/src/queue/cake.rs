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
//! Readings: the last packet of a flow's queue is not dropped. Dropped packets cost a flow nothing. The filter of acknowledgements is Linux's: an
//! arriving one lets the first of its queue go that it makes redundant, if there are two (or, `aggressive`, if it is the last), whose echo of
//! marks does not change and whose blocks it covers. Departures: no shaper, no classes of service (tins), no host fairness; data with an
//! acknowledgement filters none. Each flow has its own queue; CAKE hashes flows into 1024 queues, eight-way set-associative, which seldom differs
//! below several hundred flows. An idle queue is not visited, so that its p and n stay until it is used again.

use super::ack_filter::{AckFilter, redundant};
use super::flows::{Flows, Places};
use super::{Arrival, Decision, Departure, Discipline, Facts, Line, Order, Ticket, Waiting, cobalt};
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// CAKE's parameters.
    pub struct Params {
        ..cobalt: cobalt::Params;
        /// The quantum of a flow in each round; `0b` is a full packet of this network.
        quantum: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
        /// Whether acknowledgements that a later one makes redundant are dropped.
        ack_filter: AckFilter = AckFilter::Off;
    }
}

/// Queues of flows, each under COBALT.
#[derive(Clone, Debug)]
pub struct Cake {
    flows: Flows<cobalt::Cobalt>,
    ack_filter: AckFilter,
    /// Whether the arriving packet has passed the filter.
    filtered: bool,
}

impl Discipline for Cake {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, facts: Facts) -> Cake {
        let cobalt = cobalt::Cobalt::new(params.cobalt, facts);
        let flows = Flows::new(params.quantum, Places::new(0), cobalt, &facts);
        Cake { flows, ack_filter: params.ack_filter, filtered: false }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        if self.ack_filter != AckFilter::Off && !self.filtered {
            self.filtered = true;
            let (filter, packet) = (self.ack_filter, arrival.packet);
            let choose = |all: &Waiting, line: &Line| redundant(all.packets(line), packet, filter);
            let needless = self.flows.pull(packet.flow, waiting, choose);
            if needless.is_some() {
                return needless;
            }
        }
        let ticket = self.flows.push_out(arrival, waiting)?;
        self.flows.of(waiting.packet(&ticket).flow).1.overflow(arrival.now);
        Some(ticket)
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        self.filtered = false;
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
    use crate::packet::{Flags, Packet};

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

    #[test]
    fn a_queue_of_acknowledgements_shrinks_to_two_or_one_and_loses_none_that_says_more() {
        let left = |filter| {
            let params = Params { ack_filter: filter, ..Params::default() };
            let mut bench = Bench::new(Any::Cake(Cake::new(params, link(10, 0.06))), Limit::Packets(100));
            for seq in 0..30 {
                bench.enqueue(Packet::ack(3, seq, 40, NO_ECN, Time(seq.into()), [(0, 0); 3]));
            }
            std::iter::from_fn(|| bench.serve()).map(|packet| packet.seq).collect::<Vec<_>>()
        };
        assert_eq!(left(AckFilter::Off).len(), 30);
        assert_eq!(left(AckFilter::Conservative), [28, 29]);
        assert_eq!(left(AckFilter::Aggressive), [29]);
    }
}
