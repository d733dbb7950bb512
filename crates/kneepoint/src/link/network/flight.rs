// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets on their way: first-in-first-out lines that share one pool of places.
//!
//! A place that was freed last is taken first, while it is still in the processor's cache, so a thousand lines
//! touch no more memory than the packets that are on them. A ring for each line would cycle through all it ever
//! needed.

use prefetch_index::prefetch_index;

use crate::packet::Packet;
use crate::units::Time;

const NONE: u32 = u32::MAX;

/// A packet and when it arrives, in a cache line of its own.
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
    /// Nothing on its way.
    pub const EMPTY: Flight = Flight { first: NONE, last: NONE };
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
    /// Puts a packet at the end of a line. Whether it is the first there.
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

    /// A line's first packet is wanted soon, and the arrival of the one behind it: both go to the processor's cache, since by now
    /// a thousand other lines were used.
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

    /// Takes the first packet off a line, and tells when the next arrives.
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
                assert_eq!(
                    pool.push(&mut lines[line], Time(id), &packet(id as u32)),
                    models[line].is_empty()
                );
                models[line].push_back((Time(id), id as u32));
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
