// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scheduler DRR++ of RFC 8290 §4.2 over queues of flows, each with a state of its discipline.
//!
//! `drr` describes the scheduler. A discipline charges a flow for the packets that it delivers.

use std::collections::VecDeque;

use super::{Arrival, Backlog, Facts, Line, Ticket, Waiting};
use crate::rng::Rng;
use crate::units::Bytes;

/// The queue of each flow: one for itself, or one of several to which flows are hashed.
#[derive(Clone, Debug)]
pub struct Places {
    /// The number of queues; 0 is one for each flow.
    queues: u32,
    salt: u64,
    /// By flow.
    known: Vec<u32>,
}

impl Places {
    /// Places in this many queues; 0 is one for each flow.
    pub fn new(queues: u32) -> Places {
        Places { queues, salt: 0, known: Vec::new() }
    }

    /// The queue of a flow.
    #[inline]
    pub fn of(&mut self, flow: u32) -> u32 {
        if self.queues == 0 {
            return flow;
        }
        while self.known.len() <= flow as usize {
            let next = self.known.len() as u64;
            // A stream for each flow and salt is as good a hash as any, and is computed once.
            self.known.push(Rng::stream(self.salt, "flows", next).below(u64::from(self.queues)) as u32);
        }
        self.known[flow as usize]
    }

    /// Rehashes all flows.
    pub fn shuffle(&mut self) {
        self.salt += 1;
        self.known.clear();
    }
}

/// One queue.
#[derive(Clone, Debug)]
struct Queue<S> {
    line: Line,
    deficit: i64,
    /// Whether it is among the new or old flows.
    active: bool,
    state: S,
}

/// Queues of flows, served in turn.
#[derive(Clone, Debug)]
pub struct Flows<S> {
    quantum: i64,
    places: Places,
    /// The state of a queue that was never used.
    fresh: S,
    queues: Vec<Queue<S>>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
}

impl<S: Clone> Flows<S> {
    /// No packets yet. A quantum of zero bytes is a full packet.
    pub fn new(quantum: Bytes, places: Places, fresh: S, facts: &Facts) -> Flows<S> {
        let quantum = if quantum > Bytes(0) { quantum } else { facts.packet };
        let (new, old) = (VecDeque::new(), VecDeque::new());
        Flows { quantum: quantum.0 as i64, places, fresh, queues: Vec::new(), new, old }
    }

    fn queue(&mut self, flow: u32) -> &mut Queue<S> {
        let place = self.places.of(flow) as usize;
        if self.queues.len() <= place {
            let state = self.fresh.clone();
            let unused = || Queue { line: Line::default(), deficit: 0, active: false, state: state.clone() };
            self.queues.resize_with(place + 1, unused);
        }
        &mut self.queues[place]
    }

    /// The backlog of a flow's queue, and the queue's state.
    #[inline]
    pub fn of(&mut self, flow: u32) -> (Backlog, &mut S) {
        let queue = self.queue(flow);
        (queue.line.backlog(), &mut queue.state)
    }

    /// All queues: the backlog and the state of each.
    pub fn states(&mut self) -> impl Iterator<Item = (Backlog, &mut S)> {
        self.queues.iter_mut().map(|queue| (queue.line.backlog(), &mut queue.state))
    }

    /// Without room, the first packet of the longest queue; an arrival alone in the longest queue is dropped itself.
    pub fn push_out(&mut self, arrival: &Arrival, waiting: &mut Waiting) -> Option<Ticket> {
        if !arrival.full {
            return None;
        }
        let own = self.places.of(arrival.packet.flow);
        let length = |place: &u32| {
            let queued =
                self.queues.get(*place as usize).map_or(Bytes(0), |queue| queue.line.backlog().bytes);
            if *place == own { queued + arrival.packet.bytes() } else { queued }
        };
        // The last of equals is the longest: another queue before the arrival's.
        let longest =
            [own].iter().chain(&self.new).chain(&self.old).max_by_key(|place| length(place)).copied()?;
        waiting.pop_from(&mut self.queues.get_mut(longest as usize)?.line)
    }

    /// Takes the packet of a flow's queue at a place that `choose` finds.
    pub fn pull(
        &mut self,
        flow: u32,
        waiting: &mut Waiting,
        choose: impl FnOnce(&Waiting, &Line) -> Option<u32>,
    ) -> Option<Ticket> {
        let queue = self.queue(flow);
        let place = choose(waiting, &queue.line)?;
        waiting.pull_from(&mut queue.line, place)
    }

    /// Puts a packet into its flow's queue.
    pub fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        let (flow, quantum) = (waiting.packet(&ticket).flow, self.quantum);
        let queue = self.queue(flow);
        waiting.push_to(&mut queue.line, ticket);
        if !queue.active {
            queue.active = true;
            queue.deficit = quantum;
            let place = self.places.of(flow);
            self.new.push_back(place);
        }
    }

    /// The next packet, not yet charged; `emptied` is called for queues that were empty when their turn came.
    pub fn next(&mut self, waiting: &mut Waiting, emptied: impl Fn(&mut S)) -> Option<Ticket> {
        loop {
            let new = !self.new.is_empty();
            let list = if new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let queue = &mut self.queues[place as usize];
            if queue.deficit > 0 {
                if let Some(ticket) = waiting.pop_from(&mut queue.line) {
                    return Some(ticket);
                }
                emptied(&mut queue.state);
                queue.active = new;
            } else {
                queue.deficit += self.quantum;
            }
            list.pop_front();
            if queue.active {
                self.old.push_back(place);
            }
        }
    }

    /// Counts a packet against its flow's share.
    #[inline]
    pub fn charge(&mut self, flow: u32, size: Bytes) {
        self.queue(flow).deficit -= size.0 as i64;
    }

    /// The numbers of new and of old flows, to plot.
    pub fn counts(&self) -> Vec<(&'static str, f64)> {
        vec![("new_flows", self.new.len() as f64), ("old_flows", self.old.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_spread_over_the_queues_and_stay_in_theirs() {
        let mut places = Places::new(1024);
        let first: Vec<u32> = (0..1000).map(|flow| places.of(flow)).collect();
        let mut used = first.clone();
        used.sort_unstable();
        used.dedup();
        // 1024 (1 - (1 - 1/1024)^1000) = 638 queues, with a standard deviation of 10.
        assert!((600..=676).contains(&used.len()), "{}", used.len());
        assert!(first.iter().all(|place| *place < 1024));
        assert_eq!((0..1000).rev().map(|flow| places.of(flow)).rev().collect::<Vec<_>>(), first);
        places.shuffle();
        assert_ne!((0..1000).map(|flow| places.of(flow)).collect::<Vec<_>>(), first);
        assert_eq!(Places::new(0).of(77), 77);
    }
}
