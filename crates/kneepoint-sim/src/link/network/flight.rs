// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets in flight: first-in-first-out lines that share one pool of places.
//!
//! The slot freed last is reused first, while it is still in the processor's cache, so a thousand lines touch only as
//! much memory as their packets need. A ring for each line would cycle through all the memory it ever needed.

use prefetch_index::prefetch_index;

use crate::packet::Packet;
use crate::units::Time;

const NONE: u32 = u32::MAX;

/// A packet and when it arrives, in its own cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct InFlight {
    arrival: Time,
    packet: Packet,
}

/// One line: its first packet and its last.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    first: u32,
    last: u32,
}

impl Flight {
    /// Nothing in flight.
    pub const EMPTY: Flight = Flight { first: NONE, last: NONE };

    /// Whether nothing is in flight.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// The places of all lines.
#[derive(Clone, Debug)]
pub struct Pool {
    places: Vec<InFlight>,
    /// The place behind each on its line, or the next free one.
    behind: Vec<u32>,
    free: u32,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { places: Vec::new(), behind: Vec::new(), free: NONE }
    }
}

impl Pool {
    /// Bytes of a place.
    pub const PLACE: usize = size_of::<InFlight>() + size_of::<u32>();

    /// The number of places: the most packets in flight at the same time.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Puts a packet at the end of a line. Returns whether it is the first there.
    #[inline(always)]
    pub fn push(&mut self, flight: &mut Flight, arrival: Time, packet: &Packet) -> bool {
        let index = if self.free == NONE { self.add() } else { self.free };
        self.free = self.behind[index as usize];
        self.behind[index as usize] = NONE;
        let place = &mut self.places[index as usize];
        (place.arrival, place.packet) = (arrival, *packet);
        let first = flight.first == NONE;
        if first {
            flight.first = index;
        } else {
            self.behind[flight.last as usize] = index;
        }
        flight.last = index;
        first
    }

    /// A line's first packet is needed soon, and the arrival of the one behind it: both are prefetched into the processor's
    /// cache, since by now a thousand other lines were used.
    #[inline(always)]
    pub fn expect(&self, flight: Flight) {
        if let Some(next) = self.behind.get(flight.first as usize) {
            prefetch_index(&self.places, flight.first as usize);
            prefetch_index(&self.places, *next as usize);
        }
    }

    /// A new place, which is free.
    #[cold]
    fn add(&mut self) -> u32 {
        self.places.push(InFlight { arrival: Time::NEVER, packet: Packet::default() });
        self.behind.push(NONE);
        self.places.len() as u32 - 1
    }

    /// Inserts a packet before the first one for which `comes_after` is true, else at the end. Returns whether it is the first there.
    pub fn insert(
        &mut self,
        flight: &mut Flight,
        arrival: Time,
        packet: &Packet,
        comes_after: impl Fn(Time, &Packet) -> bool,
    ) -> bool {
        let after = |index: u32| {
            let other = &self.places[index as usize];
            comes_after(other.arrival, &other.packet)
        };
        if flight.first == NONE || !after(flight.last) {
            return self.push(flight, arrival, packet);
        }
        let mut before = NONE;
        let mut here = flight.first;
        while !after(here) {
            (before, here) = (here, self.behind[here as usize]);
        }
        // A line of its own gives the packet its place; then it is linked in.
        let mut alone = Flight::EMPTY;
        self.push(&mut alone, arrival, packet);
        self.behind[alone.first as usize] = here;
        match before {
            NONE => flight.first = alone.first,
            before => self.behind[before as usize] = alone.first,
        }
        before == NONE
    }

    /// A line's first packet, and when it arrives.
    #[inline]
    pub fn first(&self, flight: Flight) -> Option<(Time, &Packet)> {
        self.places.get(flight.first as usize).map(|place| (place.arrival, &place.packet))
    }

    /// The packets of a line.
    pub fn line(&self, flight: Flight) -> impl Iterator<Item = &Packet> {
        let place = |index: u32| self.places.get(index as usize).map(|place| (index, &place.packet));
        let all =
            std::iter::successors(place(flight.first), move |(index, _)| place(self.behind[*index as usize]));
        all.map(|(_, packet)| packet)
    }

    /// Takes all packets off a line, with their arrivals.
    pub fn clear(&mut self, flight: &mut Flight) -> Vec<(Packet, Time)> {
        let mut taken = Vec::new();
        while let Some((arrival, packet)) = self.first(*flight) {
            taken.push((*packet, arrival));
            self.pop(flight);
        }
        taken
    }

    /// Takes the first packet off a line; returns when the next arrives.
    #[inline(always)]
    pub fn pop(&mut self, flight: &mut Flight) -> Option<(Packet, Option<Time>)> {
        let index = flight.first;
        if index == NONE {
            return None;
        }
        flight.first = self.behind[index as usize];
        self.behind[index as usize] = self.free;
        self.free = index;
        let next = (flight.first != NONE).then(|| self.places[flight.first as usize].arrival);
        Some((self.places[index as usize].packet, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Flags;
    use crate::rng::Rng;
    use std::collections::VecDeque;

    fn packet(id: u32) -> Packet {
        let mut packet = Packet::data(0, 0, 40, Flags::default(), Time(0));
        packet.id = id;
        packet
    }

    #[test]
    fn a_packet_on_its_way_fills_one_cache_line() {
        assert_eq!(size_of::<InFlight>(), 64);
    }

    #[test]
    fn lines_keep_their_order_and_share_places() {
        let mut rng = Rng::stream(1, "flight", 0);
        let (mut pool, mut lines) = (Pool::default(), [Flight::EMPTY; 5]);
        let mut models: [VecDeque<(Time, u32)>; 5] = Default::default();
        let (mut most, mut id) = (0, 0);
        for _ in 0..20_000 {
            let line = rng.below(5) as usize;
            if rng.chance(0.52) && models[line].len() < 30 {
                id += 1;
                // Some are inserted before others on their line.
                let at = Time(id - id.min(rng.below(8)));
                let model = &mut models[line];
                let place = model.partition_point(|(other, _)| *other <= at);
                let first = pool.insert(&mut lines[line], at, &packet(id as u32), |other, _| other > at);
                assert_eq!(first, place == 0);
                model.insert(place, (at, id as u32));
            } else if rng.chance(0.001) {
                let all = pool.clear(&mut lines[line]);
                let all = all.into_iter().map(|(packet, at)| (at, packet.id));
                assert!(all.eq(models[line].drain(..)));
            } else {
                let expected = models[line].pop_front().map(|(_, number)| number);
                let popped = pool.pop(&mut lines[line]);
                assert_eq!(popped.map(|(packet, _)| packet.id), expected);
                assert_eq!(popped.and_then(|(_, next)| next), models[line].front().map(|(at, _)| *at));
            }
            most = most.max(models.iter().map(VecDeque::len).sum());
        }
        assert_eq!(pool.places.len(), most);
    }
}
