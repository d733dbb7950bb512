// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The room that a receiver offers, and how it grows: Linux's `tcp_grow_window` and dynamic right-sizing.
//!
//! RFC 7323 §2 for windows beyond 64 KiB, whose scale is not modelled: a window is a number of whole segments. W. Feng, M. Fisk, M. Gardner,
//! E. Weigle, "Dynamic Right-Sizing", Parallel Computing 30, 2004.
//!
//! ```text
//! offered = min(threshold, clamp - held);  an offer is never withdrawn
//! each segment:              threshold += 2, up to clamp - held
//! each round trip in which `copied` segments were read, if more than in any before:
//!                            w = 2 copied;  w += 2 w (copied - before) / before;  clamp = min(w, half of the buffer)
//! each segment out of order: clamp = max(clamp, 2 copied + span)
//! ```
//!
//! `held` segments that wait for one before them, which lie within `span` segments. The application reads what is in order at once. Half of a buffer is room for payload
//! and half the kernel's overhead, as Linux presumes before it has measured its driver (TCP_DEFAULT_SCALING_RATIO). The first window
//! is that of a buffer of 128 KiB.
//!
//! Reading: the receiver uses the sender's round trip, where Linux estimates it by timestamps. While a queue builds up
//! in slow
//! start that is too short, and the room too small: a lone Reno at 10 Mbit/s and 60 ms with a buffer of two bandwidth-delay products
//! drops 91 packets, 160 without a limit, and 157 in the kernel, whose room does not limit it. Hence no preset limits it.

use super::Options;
use crate::units::{Span, Time};

/// The buffer of a fresh connection (Linux `tcp_rmem`, second value).
const FIRST_BUFFER: u64 = 131_072;
/// Segments that a receiver expects in the first round trip (Linux TCP_INIT_CWND).
const FIRST_FLIGHT: u32 = 10;

/// The room that a receiver offers.
#[derive(Clone, Debug)]
pub enum Offer {
    /// As the memory of an endpoint grows.
    Grows(Room),
    /// The free part of a proxy's buffer.
    Rest(Rest),
}

impl Offer {
    /// The limit of a fresh connection, if the options limit it.
    pub fn new(options: &Options) -> Option<Box<Offer>> {
        Room::new(options).map(|room| Box::new(Offer::Grows(room)))
    }

    /// The room beyond `next`.
    #[inline]
    pub fn offered(&mut self, next: u32) -> u32 {
        match self {
            Offer::Grows(room) => room.offered(next),
            Offer::Rest(rest) => rest.offer(next),
        }
    }
}

/// The free part of a proxy's buffer, in segments.
#[derive(Clone, Debug)]
pub struct Rest {
    capacity: u32,
    /// One above the last segment for which there is room, and the sender's view of it.
    edge: u32,
    known: u32,
}

impl Rest {
    /// The room of an empty buffer.
    pub fn new(capacity: u32) -> Rest {
        Rest { capacity, edge: capacity, known: capacity }
    }

    fn offer(&mut self, next: u32) -> u32 {
        self.known = self.edge;
        self.edge.saturating_sub(next)
    }

    /// The buffer holds `held` segments below `next`. Whether the sender needs an update at once: there is room for two
    /// segments more than last announced, and for at least twice as many (RFC 9293 §3.8.6.2.2; Linux
    /// `tcp_cleanup_rbuf`).
    pub fn hold(&mut self, held: u32, next: u32) -> bool {
        self.edge = self.edge.max(next.saturating_add(self.capacity.saturating_sub(held)));
        let (known, now) = (self.known.saturating_sub(next), self.edge.saturating_sub(next));
        now >= known + 2.min(self.capacity) && now >= 2 * known
    }
}

/// The room of an endpoint, in segments.
#[derive(Clone, Debug)]
pub struct Room {
    /// For the largest buffer.
    most: u32,
    clamp: u32,
    threshold: u32,
    /// One above the last segment that fits.
    edge: u32,
    /// The most that was read in a round trip; where and when the present one began.
    read: u32,
    from: u32,
    since: Time,
}

impl Room {
    /// The room of a fresh connection, if the options limit it.
    pub fn new(options: &Options) -> Option<Room> {
        let of_buffer = |bytes: u64| (bytes / 2 / options.payload.0).clamp(1, u64::from(u32::MAX)) as u32;
        let most = of_buffer(options.receive_buffer.0);
        let first = of_buffer(FIRST_BUFFER).min(most);
        let room = Room {
            most,
            clamp: first,
            threshold: first,
            edge: first,
            read: FIRST_FLIGHT.min(first),
            from: 0,
            since: Time::ZERO,
        };
        (options.receive_buffer.0 > 0).then_some(room)
    }

    /// A segment arrived; everything below `next` has, and `held` segments within `span` above it. The round trip is `rtt`.
    pub fn on_data(&mut self, next: u32, (held, span): (u32, u32), rtt: Span, now: Time) {
        if span > 0 {
            self.clamp = self.clamp.max((2 * self.read).saturating_add(span).min(self.most));
        }
        let free = self.clamp.saturating_sub(held);
        if self.threshold < free {
            self.threshold = (self.threshold + 2).min(free);
        }
        if rtt > Span::ZERO && now.since(self.since) >= rtt {
            self.end_round(next, now);
        }
        self.edge = self.edge.max(next.saturating_add(self.threshold.min(free)));
    }

    fn end_round(&mut self, next: u32, now: Time) {
        let copied = next - self.from;
        if copied > self.read {
            let (copied, read) = (u64::from(copied), u64::from(self.read));
            let window = 2 * copied;
            let window = window + 2 * (window * (copied - read) / read);
            self.clamp = self.clamp.max(window.min(u64::from(self.most)) as u32);
            self.read = copied as u32;
        }
        (self.from, self.since) = (next, now);
    }

    /// The room beyond `next`.
    #[inline]
    pub fn offered(&self, next: u32) -> u32 {
        self.edge.saturating_sub(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Host;
    use crate::units::Bytes;

    /// The room of Linux 6.18.
    fn limited() -> Room {
        let options = Options { receive_buffer: Bytes(32 << 20), ..Options::of(Host::Linux) };
        Room::new(&options).expect("a limit")
    }

    /// `flights` of segments in order, each in a round trip of 100 ms.
    fn after(room: &mut Room, flights: &[u32]) -> u32 {
        let (mut next, mut now) = (0, Time::ZERO);
        for &flight in flights {
            now += Span::from_millis(100);
            for _ in 0..flight {
                next += 1;
                room.on_data(next, (0, 0), Span::from_millis(100), now);
            }
        }
        room.offered(next)
    }

    #[test]
    fn a_receiver_offers_64_kib_until_it_reads_more_in_a_round_trip() {
        let mut room = limited();
        // 65,536 / 1448.
        assert_eq!(room.offered(0), 45);
        assert_eq!(after(&mut room, &[10]), 45);
        // Twenty were read where ten were before: 2 · 20 = 40, and 2 · 40 · 10/10 more.
        let mut grown = limited();
        after(&mut grown, &[10, 20, 1]);
        assert_eq!(grown.clamp, 2 * 20 + 2 * (40 * 10 / 10));
    }

    #[test]
    fn what_waits_for_a_segment_takes_room_and_none_is_taken_back() {
        let mut room = limited();
        for held in 1..60 {
            room.on_data(0, (held, 0), Span::from_millis(100), Time::ZERO);
            assert_eq!(room.offered(0), 45);
        }
        room.on_data(60, (0, 0), Span::from_millis(100), Time::ZERO);
        assert_eq!(room.offered(60), 45);
    }
}
