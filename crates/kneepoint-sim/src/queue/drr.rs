// SPDX-License-Identifier: Apache-2.0 OR MIT
//! DRR: deficit round robin, a queue for each flow; flows share the link by bytes, and flows that were idle go first.
//!
//! M. Shreedhar, G. Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995; the scheduler of RFC 8290 §4 (T. Hoeiland-Joergensen et al., "The Flow Queue CoDel Packet Scheduler and Active Queue Management Algorithm", 2018), without CoDel.
//!
//! ```text
//! arrival for an idle flow:  deficit = quantum, the flow joins the new flows
//! next: the first new flow, or else the first old one
//!   deficit <= 0:   deficit += quantum, to the end of the old flows
//!   empty:          a new flow to the end of the old ones, an old one becomes idle
//!   otherwise:      its first packet, deficit -= size
//! no room: the first packet of the longest queue is dropped, until the arrival fits
//! ```
//!
//! `deficit quantum size` bytes; the longest queue has the most bytes, counting the arrival.
//!
//! Readings: among equally long queues another flow's is the longest before the arrival's; an arrival that is alone in
//! the longest queue is dropped itself.
//! Departures: each flow has its own queue, RFC 8290 hashes flows into 1024, where they may collide. One packet is
//! dropped at a time, not half of the queue. The 1995 paper sends only what the deficit covers; RFC 8290 sends while it
//! is positive, so a flow may be ahead by a packet, and its quantum need not be a full packet for constant work.

use super::flows::{Flows, Places};
use super::{Arrival, Discipline, Facts, Order, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// Deficit round robin's parameters.
    pub struct Params {
        /// Bytes that a flow may send in each round; `0b` is a full packet of this network.
        quantum: Bytes = Bytes(0), Bytes(0)..=Bytes(65535);
    }
}

/// A queue for each flow, served in turn.
#[derive(Clone, Debug)]
pub struct Drr {
    flows: Flows<()>,
}

impl Discipline for Drr {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, facts: Facts) -> Drr {
        Drr { flows: Flows::new(params.quantum, Places::new(0), (), &facts) }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        self.flows.push_out(arrival, waiting)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.flows.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        let ticket = self.flows.next(waiting, |()| {})?;
        let packet = waiting.packet(&ticket);
        self.flows.charge(packet.flow, packet.bytes());
        Some(ticket)
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.flows.counts()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link};
    use super::super::{Any, Limit};
    use super::*;

    fn drr(quantum: u64, limit: Limit) -> Bench {
        Bench::new(Any::Drr(Drr::new(Params { quantum: Bytes(quantum) }, link(10, 0.06))), limit)
    }

    #[test]
    fn backlogged_flows_are_served_the_same_bytes_whatever_the_size_of_their_packets() {
        for quantum in [0, 300, 1500, 9000] {
            let mut bench = drr(quantum, Limit::Unlimited);
            let sizes = [1500, 500, 40];
            (0..60_000 / 40).for_each(|_| {
                for (flow, size) in sizes.iter().enumerate() {
                    bench.arrive(flow as u32, *size);
                }
            });
            let mut served = [0; 3];
            while served.iter().all(|bytes| *bytes < 40_000) {
                let packet = bench.serve().expect("it has more");
                served[packet.flow as usize] += i64::from(packet.size);
                // Nobody is ahead by more than a quantum and a packet on either side.
                let spread = served.iter().max().unwrap() - served.iter().min().unwrap();
                assert!(spread <= quantum.max(1040) as i64 + 2 * 1500, "quantum {quantum}: {served:?}");
            }
        }
    }

    #[test]
    fn a_flow_that_was_idle_goes_first_once() {
        let mut bench = drr(1000, Limit::Unlimited);
        (0..10).for_each(|_| bench.arrive(0, 1000));
        (0..2).for_each(|_| assert_eq!(bench.serve().unwrap().flow, 0));
        (0..3).for_each(|_| bench.arrive(1, 1000));
        // Flow 0 has had its turn in this round, so the next round begins with flow 1 again.
        let flows: Vec<_> = (0..6).map(|_| bench.serve().unwrap().flow).collect();
        assert_eq!(flows, [1, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn an_arrival_pushes_out_the_first_packet_of_the_longest_queue() {
        let mut bench = drr(1000, Limit::Packets(4));
        (0..4).for_each(|_| bench.arrive(0, 1000)); // 0 to 3
        bench.arrive(1, 1000); // 4
        // Flow 0 has 1, 2, 3, and with its next arrival it is again the longest.
        bench.arrive(0, 1000); // 5
        assert_eq!(bench.pushed_out, [0, 1]);
        assert_eq!(std::iter::from_fn(|| bench.serve()).map(|one| one.id).collect::<Vec<_>>(), [2, 4, 3, 5]);
        assert!(bench.refused.is_empty());
    }

    #[test]
    fn an_arrival_alone_in_the_longest_queue_is_dropped_itself() {
        let mut bench = drr(1000, Limit::Bytes(Bytes(1500)));
        (0..3).for_each(|flow| bench.arrive(flow, 500));
        bench.arrive(3, 1400);
        assert_eq!((bench.refused.as_slice(), bench.pushed_out.len()), (&[3][..], 0));
        // As long as another's: that packet is dropped.
        bench.arrive(4, 500);
        assert_eq!(bench.pushed_out, [2]);
    }
}
