// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queue under every discipline: it stores, drops, marks and counts, and asks the discipline which.

use std::collections::VecDeque;

use super::{Any, Arrival, Backlog, Decision, Departure, Limit, Reason, Verdict};
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::units::Time;

/// A first-in-first-out queue and the discipline that rules it.
#[derive(Clone, Debug)]
pub struct Fifo {
    discipline: Any,
    limit: Limit,
    backlog: Backlog,
    waiting: VecDeque<(Time, Packet)>,
}

/// What a turn at the head of the queue did to one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departed {
    /// The packet, marked if the verdict says so.
    pub packet: Packet,
    /// When it arrived.
    pub arrived: Time,
    /// What became of it; unless dropped, it is the link's now.
    pub verdict: Verdict,
}

impl Fifo {
    /// An empty queue.
    pub fn new(discipline: Any, limit: Limit) -> Fifo {
        Fifo { discipline, limit, backlog: Backlog::default(), waiting: VecDeque::new() }
    }

    /// What waits.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The discipline, to look at.
    pub fn discipline(&self) -> &Any {
        &self.discipline
    }

    /// The discipline's clock struck.
    pub fn tick(&mut self, now: Time) {
        self.discipline.on_tick(self.backlog, now);
    }

    /// Takes a packet in, or drops it.
    pub fn enqueue(&mut self, mut packet: Packet, now: Time, rng: &mut Rng) -> Verdict {
        let full = !self.limit.admits(self.backlog, packet.bytes());
        let arrival = Arrival { now, packet: &packet, backlog: self.backlog, full };
        let decision = self.discipline.on_arrival(&arrival, rng);
        let verdict = match decision {
            _ if full => Verdict::Dropped(Reason::Overflow),
            Decision::Pass => Verdict::Passed,
            Decision::Mark if packet.flags.has(Flags::ECT) => Verdict::Marked,
            Decision::Mark | Decision::Drop => Verdict::Dropped(Reason::Early),
        };
        if let Verdict::Dropped(_) = verdict {
            return verdict;
        }
        packet.flags = packet.flags.with_if(verdict == Verdict::Marked, Flags::CE);
        self.backlog.packets += 1;
        self.backlog.bytes += packet.bytes();
        self.waiting.push_back((now, packet));
        verdict
    }

    /// Gives the packet at the head its turn. The caller repeats while packets are dropped at the head.
    pub fn dequeue(&mut self, now: Time, rng: &mut Rng) -> Option<Departed> {
        let Some((arrived, mut packet)) = self.waiting.pop_front() else {
            self.discipline.on_idle(now);
            return None;
        };
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - packet.bytes();
        let departure = Departure { now, packet: &packet, backlog: self.backlog, waited: now - arrived };
        let verdict = match self.discipline.on_departure(&departure, rng) {
            Decision::Pass => Verdict::Passed,
            Decision::Mark if packet.flags.has(Flags::ECT) => Verdict::Marked,
            Decision::Mark | Decision::Drop => Verdict::Dropped(Reason::Late),
        };
        packet.flags = packet.flags.with_if(verdict == Verdict::Marked, Flags::CE);
        Some(Departed { packet, arrived, verdict })
    }
}
