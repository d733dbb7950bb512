// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The packets that wait in a buffer, in as many lines as their discipline keeps.
//!
//! Packets lie in slots that are reused hot, and lines are chains of slots, so a thousand queues cost no more than the
//! packets in them. A discipline never sees a slot: it holds [`Ticket`]s, which cannot be copied, so that no packet is
//! sent twice or is in two lines.

use super::Backlog;
use crate::packet::Packet;
use crate::units::Time;

const NONE: u32 = u32::MAX;

/// A handle on one packet that is in the buffer but in none of its lines.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a packet whose ticket is lost waits for ever"]
pub struct Ticket(u32);

/// The ends of a chain of slots.
#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

const EMPTY: Chain = Chain { first: NONE, last: NONE };

/// A queue of waiting packets, of which a discipline may keep several in one buffer.
#[derive(Clone, Debug)]
pub struct Line {
    chain: Chain,
    backlog: Backlog,
}

impl Default for Line {
    fn default() -> Line {
        Line { chain: EMPTY, backlog: Backlog::default() }
    }
}

impl Line {
    /// Its length in packets and bytes.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
}

/// A packet and when it arrived, in its own cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot {
    arrived: Time,
    packet: Packet,
}

/// All packets in a buffer. It has one line, for disciplines that need no more.
#[derive(Clone, Debug)]
pub struct Waiting {
    slots: Vec<Slot>,
    /// The slot behind each in its chain, or the next free one.
    behind: Vec<u32>,
    free: u32,
    own: Chain,
    backlog: Backlog,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { slots: Vec::new(), behind: Vec::new(), free: NONE, own: EMPTY, backlog: Backlog::default() }
    }
}

impl Waiting {
    /// Bytes of a waiting packet.
    pub const PACKET: usize = size_of::<Slot>() + size_of::<u32>();

    /// The number of slots: the most packets that waited at the same time.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The length of all lines together.
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The packet of a ticket.
    #[inline]
    pub fn packet(&self, ticket: &Ticket) -> &Packet {
        &self.slots[ticket.0 as usize].packet
    }

    /// The arrival of the packet at the head of a line.
    #[inline]
    pub fn head_arrived(&self, line: &Line) -> Option<Time> {
        self.slots.get(line.chain.first as usize).map(|slot| slot.arrived)
    }

    /// Puts a packet at the end of the buffer's own line.
    #[inline]
    pub fn push(&mut self, ticket: Ticket) {
        append(&mut self.behind, &mut self.own, ticket.0);
    }

    /// Takes the first packet off the buffer's own line.
    #[inline]
    pub fn pop(&mut self) -> Option<Ticket> {
        take(&self.behind, &mut self.own)
    }

    /// Puts a packet at the end of a line.
    #[inline]
    pub fn push_to(&mut self, line: &mut Line, ticket: Ticket) {
        let size = self.packet(&ticket).bytes();
        line.backlog.packets += 1;
        line.backlog.bytes += size;
        append(&mut self.behind, &mut line.chain, ticket.0);
    }

    /// Takes the first packet off a line.
    #[inline]
    pub fn pop_from(&mut self, line: &mut Line) -> Option<Ticket> {
        let ticket = take(&self.behind, &mut line.chain)?;
        line.backlog.packets -= 1;
        line.backlog.bytes = line.backlog.bytes - self.packet(&ticket).bytes();
        Some(ticket)
    }

    /// The packets of a line, the first first.
    pub fn packets<'w>(&'w self, line: &Line) -> impl Iterator<Item = &'w Packet> {
        let first = self.slots.get(line.chain.first as usize).map(|_| line.chain.first);
        let next = |slot: &u32| Some(self.behind[*slot as usize]).filter(|next| *next != NONE);
        std::iter::successors(first, next).map(|slot| &self.slots[slot as usize].packet)
    }

    /// Takes the packet at a place of a line, counted from its first.
    pub fn pull_from(&mut self, line: &mut Line, place: u32) -> Option<Ticket> {
        if place == 0 {
            return self.pop_from(line);
        }
        let before =
            (1..place).try_fold(line.chain.first, |slot, _| self.behind.get(slot as usize).copied())?;
        let slot = *self.behind.get(before as usize).filter(|slot| **slot != NONE)?;
        self.behind[before as usize] = self.behind[slot as usize];
        if line.chain.last == slot {
            line.chain.last = before;
        }
        line.backlog.packets -= 1;
        line.backlog.bytes = line.backlog.bytes - self.slots[slot as usize].packet.bytes();
        Some(Ticket(slot))
    }

    /// Takes the last packet off a line.
    pub fn pop_last_from(&mut self, line: &mut Line) -> Option<Ticket> {
        let last = line.chain.last;
        if line.chain.first == last {
            return self.pop_from(line);
        }
        let mut before = line.chain.first;
        while self.behind[before as usize] != last {
            before = self.behind[before as usize];
        }
        self.behind[before as usize] = NONE;
        line.chain.last = before;
        line.backlog.packets -= 1;
        line.backlog.bytes = line.backlog.bytes - self.slots[last as usize].packet.bytes();
        Some(Ticket(last))
    }

    /// Takes the first packet that satisfies `wanted` out of the buffer's own line, at any place.
    pub fn pull(&mut self, wanted: impl Fn(&Packet) -> bool) -> Option<Ticket> {
        let (mut before, mut slot) = (NONE, self.own.first);
        while slot != NONE && !wanted(&self.slots[slot as usize].packet) {
            (before, slot) = (slot, self.behind[slot as usize]);
        }
        if before == NONE {
            return self.pop();
        }
        let behind = *self.behind.get(slot as usize)?;
        self.behind[before as usize] = behind;
        if behind == NONE {
            self.own.last = before;
        }
        Some(Ticket(slot))
    }

    /// Takes a packet in.
    #[inline]
    pub(super) fn insert(&mut self, arrived: Time, packet: Packet) -> Ticket {
        self.backlog.packets += 1;
        self.backlog.bytes += packet.bytes();
        let slot = Slot { arrived, packet };
        let index = self.free;
        if index == NONE {
            self.slots.push(slot);
            self.behind.push(NONE);
            return Ticket(self.slots.len() as u32 - 1);
        }
        self.free = self.behind[index as usize];
        self.slots[index as usize] = slot;
        Ticket(index)
    }

    /// Lets a packet go: when it arrived, and the packet.
    #[inline]
    pub(super) fn remove(&mut self, ticket: Ticket) -> (Time, Packet) {
        let Slot { arrived, packet } = self.slots[ticket.0 as usize];
        self.behind[ticket.0 as usize] = self.free;
        self.free = ticket.0;
        self.backlog.packets -= 1;
        self.backlog.bytes = self.backlog.bytes - packet.bytes();
        (arrived, packet)
    }
}

#[inline]
fn append(behind: &mut [u32], chain: &mut Chain, slot: u32) {
    behind[slot as usize] = NONE;
    if chain.first == NONE {
        chain.first = slot;
    } else {
        behind[chain.last as usize] = slot;
    }
    chain.last = slot;
}

#[inline]
fn take(behind: &[u32], chain: &mut Chain) -> Option<Ticket> {
    let slot = chain.first;
    chain.first = *behind.get(slot as usize)?;
    Some(Ticket(slot))
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use crate::rng::Rng;
    use std::collections::VecDeque;

    #[test]
    fn a_waiting_packet_fills_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }

    /// Random operations on three lines and the buffer's own, compared with queues that hold packets.
    #[test]
    fn lines_keep_their_order_and_share_slots() {
        let mut rng = Rng::stream(1, "waiting", 0);
        let (mut waiting, mut lines) = (Waiting::default(), [(); 3].map(|()| Line::default()));
        let mut models: [VecDeque<Packet>; 4] = Default::default();
        let (mut most, mut id) = (0, 0);
        for _ in 0..20_000 {
            let place = rng.below(4) as usize;
            let line = lines.get_mut(place);
            let model = &mut models[place];
            let (left, expected) = match (rng.below(8), line) {
                (0..=3, line) if model.len() < 30 => {
                    id += 1;
                    let mut one = packet();
                    (one.id, one.flow, one.size) = (id, rng.below(4) as u32, 40 + rng.below(1000) as u16);
                    let ticket = waiting.insert(Time(id.into()), one);
                    model.push_back(one);
                    match line {
                        Some(line) => waiting.push_to(line, ticket),
                        None => waiting.push(ticket),
                    }
                    (None, None)
                }
                (0..=5, Some(line)) => (waiting.pop_from(line), model.pop_front()),
                (_, Some(line)) => {
                    assert!(waiting.packets(line).eq(&*model));
                    let at = rng.below(5) as usize;
                    (waiting.pull_from(line, at as u32), model.remove(at))
                }
                (4..=5, None) => (waiting.pop(), model.pop_front()),
                (flow, None) => {
                    let found = model.iter().position(|one| u64::from(one.flow) == flow % 4);
                    let pulled = waiting.pull(|one| u64::from(one.flow) == flow % 4);
                    (pulled, found.and_then(|at| model.remove(at)))
                }
            };
            let left = left.map(|ticket| waiting.remove(ticket));
            assert_eq!(left.map(|(_, packet)| packet), expected);
            assert!(left.is_none_or(|(arrived, packet)| arrived == Time(packet.id.into())));
            let sum = |packets: &VecDeque<Packet>| Backlog {
                packets: packets.len() as u32,
                bytes: packets.iter().map(Packet::bytes).sum(),
            };
            assert!(lines.iter().zip(&models).all(|(one, packets)| one.backlog() == sum(packets)));
            let head = |packets: &VecDeque<Packet>| packets.front().map(|one| Time(one.id.into()));
            assert!(
                lines.iter().zip(&models).all(|(one, packets)| waiting.head_arrived(one) == head(packets))
            );
            let all: VecDeque<_> = models.iter().flatten().copied().collect();
            assert_eq!(waiting.backlog(), sum(&all));
            most = most.max(all.len());
        }
        assert_eq!(waiting.slots.len(), most);
    }
}
