// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drop-tail queue that holds no packets: when a packet arrives, the instant at which it will leave is known.
//!
//! Only the starts of the waiting packets' transmissions are kept, and only where the length of the queue matters: for
//! its limit, or its measurement.

use crate::queue::{Backlog, Limit};
use crate::units::{Bytes, Time};

/// A queue of starting times.
#[derive(Clone, Debug)]
pub struct Tail {
    limit: Limit,
    backlog: Backlog,
    starts: Starts,
}

/// The start of each waiting packet's transmission, and its size: a ring whose capacity is a power of two, so that an
/// index is masked instead of compared. Its length is that of the backlog.
#[derive(Clone, Debug)]
struct Starts {
    places: Vec<(Time, u16)>,
    /// The first waiting packet, counted from the first of all.
    first: usize,
}

impl Starts {
    fn new() -> Starts {
        Starts { places: vec![(Time::NEVER, 0); 16], first: 0 }
    }

    /// The index of the packet that waits behind this many others.
    #[inline]
    fn place(&self, others: u32) -> usize {
        self.first.wrapping_add(others as usize) & (self.places.len() - 1)
    }

    /// The packet that waits behind this many others.
    #[inline]
    fn behind(&self, others: u32) -> (Time, u16) {
        self.places[self.place(others)]
    }

    /// Doubles the capacity.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let places = self.places.len();
        self.places.rotate_left(self.first & (places - 1));
        self.places.resize(2 * places, (Time::NEVER, 0));
        self.first = 0;
    }
}

impl Tail {
    /// Bytes of a waiting packet.
    pub const PACKET: usize = size_of::<(Time, u16)>();

    /// The number of packets that fit without another allocation.
    pub fn places(&self) -> usize {
        self.starts.places.len()
    }

    /// An empty queue.
    pub fn new(limit: Limit) -> Tail {
        Tail { limit, backlog: Backlog::default(), starts: Starts::new() }
    }

    /// The queue after all departures due by now.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The queue at `now`, which may be in the past.
    pub fn backlog_at(&self, now: Time) -> Backlog {
        let latest = (0..self.backlog.packets).rev().map(|others| self.starts.behind(others));
        latest.take_while(|(start, _)| *start > now).fold(Backlog::default(), |sum, (_, size)| Backlog {
            packets: sum.packets + 1,
            bytes: sum.bytes + Bytes(u64::from(size)),
        })
    }

    /// Removes the next packet whose transmission begins by `now`, and returns the beginning.
    #[inline]
    pub fn leave(&mut self, now: Time) -> Option<Time> {
        if self.backlog.packets == 0 {
            return None;
        }
        let (start, size) = self.starts.behind(0);
        if start > now {
            return None;
        }
        self.starts.first = self.starts.first.wrapping_add(1);
        self.backlog.packets -= 1;
        self.backlog.bytes.0 -= u64::from(size);
        Some(start)
    }

    /// Whether there is room for a packet.
    #[inline]
    pub fn admits(&self, size: u16) -> bool {
        self.limit.admits(self.backlog, Bytes(u64::from(size)))
    }

    /// Adds a packet whose transmission will begin at `start`.
    #[inline]
    pub fn join(&mut self, start: Time, size: u16) {
        if self.backlog.packets as usize == self.starts.places.len() {
            self.starts.grow();
        }
        let place = self.starts.place(self.backlog.packets);
        self.starts.places[place] = (start, size);
        self.backlog.packets += 1;
        self.backlog.bytes.0 += u64::from(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::VecDeque;

    #[test]
    fn packets_leave_in_turn_however_many_wait() {
        let (mut rng, mut tail, mut model) =
            (Rng::stream(1, "tail", 0), Tail::new(Limit::Unlimited), VecDeque::new());
        let (mut now, mut free, mut most) = (0, 0, 0);
        for round in 0..20_000 {
            now += rng.below(20);
            while let Some(start) = tail.leave(Time(now)) {
                assert_eq!(model.pop_front().map(|(due, _)| due), Some(start));
            }
            assert!(model.front().is_none_or(|(due, _)| *due > Time(now)));
            // Bursts, so that the ring grows while its first packet is not at its first place.
            for _ in 0..rng.below(3) * u64::from(round % 1000 < 400 + round / 50) {
                free = free.max(now) + 1 + rng.below(20);
                let size = 1 + rng.below(1500) as u16;
                tail.join(Time(free), size);
                model.push_back((Time(free), size));
            }
            most = most.max(model.len());
            let waiting = |from: Time| {
                let later = model.iter().filter(|(due, _)| *due > from);
                later.fold(Backlog::default(), |sum, (_, size)| Backlog {
                    packets: sum.packets + 1,
                    bytes: sum.bytes + Bytes(u64::from(*size)),
                })
            };
            assert_eq!(tail.backlog(), waiting(Time(0)));
            let later = Time(now + rng.below(50));
            assert_eq!(tail.backlog_at(later), waiting(later));
        }
        assert!(most > 64, "the ring grew to 128 places: {most}");
    }
}
