// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SFQ: stochastic fairness queueing; flows are hashed into queues that send one packet each in turn.
//!
//! P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990.
//!
//! ```text
//! arrival:  joins queue h(flow, salt), one of `queues`
//! next:     the first packet of the queue whose turn it is; a queue with more goes to the end of the turns
//! no room:  the first packet of the longest queue is dropped, until the arrival fits
//! every `perturbation`:  another salt
//! ```
//!
//! The longest queue has the most packets, counting the arrival.
//!
//! Readings: among equally long queues another flow's is the longest before the arrival's; an arrival that would be alone
//! in the longest queue is dropped itself. Packets that wait move to their queues under the new salt, in order, so that no
//! flow is reordered.
//! Departures: turns are of packets, as in the paper; Linux (`sch_sfq`) counts bytes. The paper drops a packet of the
//! longest queue, here it is the first; Linux drops its last (`drops = "last"`), and the arrival where its queue is among the longest. No
//! queue of Linux has more than 127 packets (`depth`): an arrival beyond them is dropped.

use std::collections::VecDeque;

use super::flows::Places;
use super::{Arrival, Backlog, Decision, Discipline, Facts, Line, Order, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::choice! {
    /// The packet of the longest queue that is dropped if there is no room.
    pub enum Drops {
        /// The first; of equally long queues another flow's than the arrival's.
        First = "first",
        /// The last, as in Linux; of equally long queues the arrival's.
        Last = "last",
    }
}

crate::settings! {
    /// Stochastic fairness queueing's parameters.
    pub struct Params {
        /// The number of queues that flows are hashed into.
        queues: u32 = 1024, 1..=65536;
        /// The interval of rehashing; `0s` is never.
        perturbation: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10000);
        /// The packet of the longest queue that is dropped if there is no room.
        drops: Drops = Drops::First;
        /// The maximum number of packets that wait in one queue; 0 means no limit.
        depth: u32 = 0, 0..=1_000_000;
    }
    linux { drops = "last", depth = "127" }
    check |params| match params.perturbation {
        Span(1..=999_999) => Err(format!(
            "perturbation = {}: hashing anew moves every waiting packet; give 1ms or more, or 0s for never",
            params.perturbation
        )),
        _ => Ok(()),
    }
}

/// Queues that are served in turn.
#[derive(Clone, Debug)]
pub struct Sfq {
    places: Places,
    /// Each with whether it has a turn.
    queues: Vec<(Line, bool)>,
    turns: VecDeque<u32>,
    perturbation: Span,
    drops: Drops,
    depth: u32,
    /// Whether flows must be rehashed.
    due: bool,
}

impl Sfq {
    fn put(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        let place = self.places.of(waiting.packet(&ticket).flow);
        let (line, has_turn) = &mut self.queues[place as usize];
        waiting.push_to(line, ticket);
        if !*has_turn {
            *has_turn = true;
            self.turns.push_back(place);
        }
    }

    /// Rehashes flows, if it is due, and moves waiting packets.
    fn perturb(&mut self, waiting: &mut Waiting) {
        if !self.due {
            return;
        }
        self.due = false;
        self.places.shuffle();
        let lines: Vec<Line> = std::mem::take(&mut self.turns)
            .into_iter()
            .map(|place| std::mem::take(&mut self.queues[place as usize]).0)
            .collect();
        for mut line in lines {
            while let Some(ticket) = waiting.pop_from(&mut line) {
                self.put(ticket, waiting);
            }
        }
    }
}

impl Discipline for Sfq {
    type Params = Params;
    const ORDER: Order = Order::Flow;

    fn new(params: Params, _: Facts) -> Sfq {
        Sfq {
            places: Places::new(params.queues),
            queues: vec![Default::default(); params.queues as usize],
            turns: VecDeque::new(),
            perturbation: params.perturbation,
            drops: params.drops,
            depth: params.depth,
            due: false,
        }
    }

    fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        if !arrival.full {
            return None;
        }
        self.perturb(waiting);
        let own = self.places.of(arrival.packet.flow);
        let length =
            |place: &u32| self.queues[*place as usize].0.backlog().packets + u32::from(*place == own);
        let others =
            self.turns.iter().filter(|place| **place != own).max_by_key(|place| length(place)).copied();
        let lead = others.map_or(i64::MIN, |other| i64::from(length(&other)) - i64::from(length(&own)));
        match (self.drops, others) {
            (Drops::First, Some(other)) if lead >= 0 => waiting.pop_from(&mut self.queues[other as usize].0),
            (Drops::First, _) => waiting.pop_from(&mut self.queues[own as usize].0),
            (Drops::Last, Some(other)) if lead > 0 => {
                waiting.pop_last_from(&mut self.queues[other as usize].0)
            }
            // The arrival is the last of the longest.
            (Drops::Last, _) => None,
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        let (line, _) = &self.queues[self.places.of(arrival.packet.flow) as usize];
        let full = self.depth > 0 && line.backlog().packets >= self.depth;
        if full { Decision::Drop } else { Decision::Pass }
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.perturb(waiting);
        self.put(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        self.perturb(waiting);
        loop {
            let place = self.turns.pop_front()?;
            let (line, has_turn) = &mut self.queues[place as usize];
            let ticket = waiting.pop_from(line);
            *has_turn = line.backlog().packets > 0;
            if *has_turn {
                self.turns.push_back(place);
            }
            // A queue may have been emptied from the front since its last turn.
            if ticket.is_some() {
                return ticket;
            }
        }
    }

    fn interval(&self) -> Option<Span> {
        Some(self.perturbation).filter(|period| *period > Span::ZERO)
    }

    fn on_tick(&mut self, _: Backlog, _: Time) {
        self.due = true;
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("active_queues", self.turns.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, jain, link};
    use super::super::{Any, Limit};
    use super::*;
    use crate::packet::Flags;
    use crate::settings::Settings;

    fn sfq(params: Params, limit: Limit) -> Bench {
        Bench::new(Any::Sfq(Sfq::new(params, link(10, 0.06))), limit)
    }

    fn flows(bench: &mut Bench) -> Vec<u32> {
        std::iter::from_fn(|| bench.serve()).map(|packet| packet.flow).collect()
    }

    #[test]
    fn queues_send_a_packet_each_in_turn() {
        let mut bench = sfq(Params::default(), Limit::Unlimited);
        for flow in [0, 0, 0, 1, 1, 2] {
            bench.arrive(flow, 1000);
        }
        assert_eq!(flows(&mut bench), [0, 1, 2, 0, 1, 0]);
    }

    #[test]
    fn flows_of_different_load_get_the_same_packets() {
        let mut bench = sfq(Params::default(), Limit::Packets(60));
        let load = [(0, 1000, Flags(0)), (0, 1000, Flags(0)), (0, 1000, Flags(0)), (1, 1000, Flags(0))];
        let index = jain(&bench.run(3000, &load), 2);
        assert!(index >= 0.99, "{index}");
    }

    #[test]
    fn a_full_buffer_drops_from_the_longest_queue() {
        let mut bench = sfq(Params::default(), Limit::Packets(4));
        for flow in [0, 0, 0, 1, 2] {
            bench.arrive(flow, 1000);
        }
        assert_eq!(bench.pushed_out, [0]);
        // 0 and 0, 1, 2 wait: with another of 1, its queue is as long as queue 0, which loses one.
        bench.arrive(1, 1000);
        assert_eq!((bench.pushed_out.as_slice(), bench.refused.len()), (&[0, 1][..], 0));
        assert_eq!(flows(&mut bench), [0, 1, 2, 1]);
        let mut narrow = sfq(Params::default(), Limit::Packets(1));
        [0, 0, 1].iter().for_each(|flow| narrow.arrive(*flow, 1000));
        assert_eq!(narrow.pushed_out, [0, 1]);
    }

    #[test]
    fn in_linux_the_last_packet_of_the_longest_queue_goes_and_the_arrival_among_equals() {
        let mut bench = sfq(Params { drops: Drops::Last, ..Params::default() }, Limit::Packets(4));
        for flow in [0, 0, 0, 1, 2] {
            bench.arrive(flow, 1000);
        }
        // The third of flow 0. Then 0 and 0, 1, 2 wait: with another of 1, its queue is as long as queue 0, and it is
        // refused.
        assert_eq!(bench.pushed_out, [2]);
        bench.arrive(1, 1000);
        assert_eq!((bench.pushed_out.as_slice(), bench.refused.as_slice()), (&[2][..], &[5][..]));
        assert_eq!(flows(&mut bench), [0, 1, 2, 0]);
    }

    #[test]
    fn a_queue_takes_no_packet_beyond_its_depth() {
        let mut bench = sfq(Params { depth: 2, ..Params::default() }, Limit::Packets(100));
        [0, 0, 0, 1].iter().for_each(|flow| bench.arrive(*flow, 1000));
        assert_eq!(bench.refused, [2]);
        assert_eq!(flows(&mut bench), [0, 1, 0]);
    }

    #[test]
    fn hashing_anew_separates_flows_that_collided_and_reorders_none() {
        let params = Params { queues: 2, perturbation: Span::from_secs(1), ..Params::default() };
        let mut bench = sfq(params, Limit::Unlimited);
        let mut orders = std::collections::BTreeSet::new();
        for _ in 0..20 {
            [0, 0, 1, 1].iter().for_each(|flow| bench.arrive(*flow, 1000));
            bench.tick();
            orders.insert(flows(&mut bench));
        }
        // In one queue or in two, whichever occurs first.
        assert!(orders.contains(&vec![0, 0, 1, 1]) && orders.contains(&vec![0, 1, 0, 1]), "{orders:?}");
    }

    #[test]
    fn a_perturbation_of_less_than_a_millisecond_is_refused() {
        let params = |perturbation| Params { perturbation, ..Params::default() };
        assert!(params(Span(1)).check().unwrap_err().contains("1ms"));
        assert_eq!(params(Span::from_millis(1)).check(), Ok(()));
    }
}
