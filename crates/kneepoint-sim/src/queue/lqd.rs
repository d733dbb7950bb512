// SPDX-License-Identifier: Apache-2.0 OR MIT
//! LQD: longest queue drop; first in, first out, and an arrival that finds no room pushes out a packet of the flow that holds most.
//!
//! B. Suter, T. V. Lakshman, D. Stiliadis, A. K. Choudhury, "Design Considerations for Supporting TCP with Per-flow Queueing", INFOCOM 1998; from the front: T. V. Lakshman, A. Neidhardt, T. Ott, "The Drop from Front Strategy in TCP and in TCP over ATM", INFOCOM 1996.
//!
//! ```text
//! no room: the first packet of the flow with the most bytes, counting the arrival, is dropped, until the arrival fits
//! ```
//!
//! Readings: an arrival whose flow would hold most, but has nothing in the queue, is dropped itself; of equals, another
//! flow counts as larger than the arrival's, and the one with the greatest number among these.
//! Departure: the paper's flows have queues that a fair scheduler serves. Here one queue keeps the order of arrivals, so
//! only the drops share the link.

use super::{Arrival, Discipline, Facts, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// Longest queue drop has no parameters; its limit is the link's buffer.
    pub struct Params {}
}

/// One queue that counts each flow's packets.
#[derive(Clone, Debug)]
pub struct Lqd {
    /// The bytes that wait, by flow.
    held: Vec<Bytes>,
}

impl Lqd {
    fn held(&mut self, flow: u32) -> &mut Bytes {
        let place = flow as usize;
        if self.held.len() <= place {
            self.held.resize(place + 1, Bytes(0));
        }
        &mut self.held[place]
    }

    /// Lets a packet go that was taken out of the line.
    fn release(&mut self, ticket: Option<Ticket>, waiting: &Waiting) -> Option<Ticket> {
        let packet = waiting.packet(ticket.as_ref()?);
        let held = self.held(packet.flow);
        *held = *held - packet.bytes();
        ticket
    }
}

impl Discipline for Lqd {
    type Params = Params;

    fn new(_: Params, _: Facts) -> Lqd {
        Lqd { held: Vec::new() }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        if !arrival.full {
            return None;
        }
        let own = arrival.packet.flow;
        let enough = *self.held(own) + arrival.packet.bytes();
        let others = self.held.iter().enumerate().filter(|(flow, _)| *flow != own as usize);
        let longest = others.max_by_key(|(_, held)| **held).filter(|(_, held)| **held >= enough);
        let longest = longest.map_or(own, |(flow, _)| flow as u32);
        let ticket = waiting.pull(|packet| packet.flow == longest);
        self.release(ticket, waiting)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        let packet = waiting.packet(&ticket);
        *self.held(packet.flow) += packet.bytes();
        waiting.push(ticket);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        let ticket = waiting.pop();
        self.release(ticket, waiting)
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let longest = self.held.iter().max().copied().unwrap_or_default();
        vec![("longest_flow_bytes", longest.0 as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link};
    use super::super::{Any, Limit};
    use super::*;

    fn lqd(limit: Limit) -> Bench {
        Bench::new(Any::Lqd(Lqd::new(Params {}, link(10, 0.06))), limit)
    }

    #[test]
    fn an_arrival_pushes_out_the_first_packet_of_the_flow_that_holds_most_and_the_others_keep_their_order() {
        let mut bench = lqd(Limit::Packets(5));
        for flow in [0, 1, 0, 1, 0] {
            bench.arrive(flow, 1000);
        }
        bench.arrive(2, 1000); // 5: flow 0 holds most.
        bench.arrive(2, 1000); // 6: all would hold the same, and another flow than 2 loses its first.
        bench.arrive(1, 1000); // 7: the same.
        assert_eq!(bench.pushed_out, [0, 1, 5]);
        let left: Vec<_> = std::iter::from_fn(|| bench.serve()).map(|one| one.id).collect();
        assert_eq!(left, [2, 3, 4, 6, 7]);
        assert!(bench.refused.is_empty());
    }

    #[test]
    fn a_big_packet_pushes_out_as_many_small_ones_as_it_needs() {
        let mut bench = lqd(Limit::Bytes(Bytes(3000)));
        (0..30).for_each(|_| bench.arrive(0, 100));
        bench.arrive(1, 1040);
        assert_eq!(bench.pushed_out, (0..11).collect::<Vec<_>>());
        // Its flow alone would hold most, so no packet is pushed out.
        bench.arrive(2, 2900);
        bench.arrive(3, 3001);
        assert_eq!((bench.refused.as_slice(), bench.pushed_out.len()), (&[31, 32][..], 11));
    }

    #[test]
    fn a_flow_that_floods_the_buffer_takes_no_room_from_others() {
        let mut bench = lqd(Limit::Packets(10));
        for round in 0..1000 {
            (0..9).for_each(|_| bench.arrive(0, 1000));
            bench.arrive(1 + round % 3, 1000);
            (0..4).for_each(|_| assert!(bench.serve().is_some()));
        }
        // One packet in four rounds of service belongs to the well-behaved flows: they lose none.
        let dropped: Vec<_> = bench.pushed_out.iter().chain(&bench.refused).collect();
        assert!(dropped.len() > 5000 && dropped.iter().all(|id| **id % 10 != 9), "{}", dropped.len());
    }
}
