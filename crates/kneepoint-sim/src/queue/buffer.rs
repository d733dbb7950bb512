// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The buffer under every discipline: it owns the packets, carries decisions out, and reports every fate.

use super::external::Object;
use super::{Any, Arrival, Backlog, Decision, Departure, Fate, Limit, Reason, Waiting};
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::units::Time;

/// A buffer and the discipline that rules it.
#[derive(Clone, Debug)]
pub struct Buffer {
    discipline: Any,
    limit: Limit,
    waiting: Waiting,
}

/// A packet whose turn has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departed {
    /// The packet, marked as was decided.
    pub packet: Packet,
    /// The time at which it arrived.
    pub arrived: Time,
    /// Its fate; unless dropped, it now belongs to the link.
    pub fate: Fate,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(discipline: Any, limit: Limit) -> Buffer {
        Buffer { discipline, limit, waiting: Waiting::default() }
    }

    /// The backlog.
    pub fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    /// The most packets that waited at the same time.
    pub fn slots(&self) -> usize {
        self.waiting.slots()
    }

    /// The discipline, to look at.
    pub fn discipline(&self) -> &Any {
        &self.discipline
    }

    /// An interval of the discipline has passed.
    pub fn tick(&mut self, now: Time) {
        self.discipline.on_tick(self.waiting.backlog(), now);
    }

    /// Takes a packet in or drops it, and reports packets that were pushed out for it.
    pub fn enqueue(
        &mut self,
        packet: Packet,
        now: Time,
        rng: &mut Rng,
        pushed_out: impl FnMut(&Packet),
    ) -> Fate {
        let Buffer { discipline, limit, waiting } = self;
        each!(discipline, one => arrive(one, waiting, *limit, packet, now, rng, pushed_out))
    }

    /// Gives the next packet its turn. The caller repeats while packets are dropped at the head.
    pub fn dequeue(&mut self, now: Time, rng: &mut Rng) -> Option<Departed> {
        each!(&mut self.discipline, one => depart(one, &mut self.waiting, now, rng))
    }
}

#[inline]
fn arrive<D: Object>(
    discipline: &mut D,
    waiting: &mut Waiting,
    limit: Limit,
    mut packet: Packet,
    now: Time,
    rng: &mut Rng,
    mut pushed_out: impl FnMut(&Packet),
) -> Fate {
    let size = packet.bytes();
    let meets = |arriving, backlog| {
        let full = !limit.admits(backlog, size);
        Arrival { now, packet: arriving, backlog, full }
    };
    // A packet that would not fit into the empty buffer pushes no other packet out.
    if limit.admits(Backlog::default(), size) {
        while let Some(ticket) = discipline.push_out(&meets(&packet, waiting.backlog()), waiting, rng) {
            pushed_out(&waiting.remove(ticket).1);
        }
    }
    let arrival = meets(&packet, waiting.backlog());
    let full = arrival.full;
    let decision = discipline.on_arrival(&arrival, rng);
    let fate =
        if full { Fate::Dropped(Reason::Overflow) } else { carry_out(decision, &mut packet, Reason::Early) };
    if !matches!(fate, Fate::Dropped(_)) {
        let ticket = waiting.insert(now, packet);
        discipline.join(ticket, waiting);
    }
    fate
}

#[inline]
fn depart<D: Object>(
    discipline: &mut D,
    waiting: &mut Waiting,
    now: Time,
    rng: &mut Rng,
) -> Option<Departed> {
    let Some(ticket) = discipline.next(waiting, now) else {
        discipline.on_idle(now);
        return None;
    };
    let (arrived, mut packet) = waiting.remove(ticket);
    let departure = Departure { now, packet: &packet, backlog: waiting.backlog(), waited: now - arrived };
    let decision = discipline.on_departure(&departure, rng);
    let fate = carry_out(decision, &mut packet, Reason::Late);
    Some(Departed { packet, arrived, fate })
}

/// Applies a decision to a packet. A packet that cannot carry a mark is dropped instead.
#[inline]
fn carry_out(decision: Decision, packet: &mut Packet, reason: Reason) -> Fate {
    match decision {
        Decision::Pass => Fate::Passed,
        Decision::Mark if packet.flags.has(Flags::ECT) => {
            packet.flags = packet.flags.with(Flags::CE);
            Fate::Marked
        }
        Decision::Mark | Decision::Drop => Fate::Dropped(reason),
    }
}
