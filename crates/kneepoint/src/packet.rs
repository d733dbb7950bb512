// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What travels: a small `Copy` value of 56 bytes, so that with its arrival time it fills one cache line.

use crate::units::{Bytes, Span, Time};

/// A packet on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// When the sender sent it; an acknowledgement carries the time of the packet that caused it (RFC 7323 TSval, TSecr).
    pub sent: Time,
    /// Blocks received out of order, most recent first, empty ones last: [first, end) in segments (RFC 2018).
    pub sack: [(u32, u32); 3],
    /// The flow it belongs to.
    pub flow: u32,
    /// Data: the segment's number. Acknowledgement: the first segment not yet received in order.
    pub seq: u32,
    /// The next step of its path, an index into the network's table of hops.
    pub hop: u32,
    /// A number that no other packet of the run has (modulo 2^32).
    pub id: u32,
    /// Its size on the wire.
    pub size: u16,
    /// The incarnation of the flow: a flow slot that serves many transfers ignores packets of past ones.
    pub epoch: u16,
    /// What it is and what it carries.
    pub flags: Flags,
    /// Acknowledgement: how far the receiver's clock was past `sent` when it answered (RFC 7323 TSval − TSecr).
    pub lag: Lag,
}

/// A span in the two bytes that a packet has left: in units of 65.536 µs, fifteen times finer than the millisecond by
/// which hosts stamp, and up to 4.29 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag(u16);

impl Lag {
    /// The span, rounded down; the longest there is if it is longer.
    #[inline]
    pub fn of(span: Span) -> Lag {
        Lag((span.0 >> 16).min(u64::from(u16::MAX)) as u16)
    }

    /// As a span.
    #[inline]
    pub fn span(self) -> Span {
        Span(u64::from(self.0) << 16)
    }
}

/// Header bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// An acknowledgement; without this bit the packet carries data.
    pub const ACK: Flags = Flags(1);
    /// Opens a connection.
    pub const SYN: Flags = Flags(1 << 1);
    /// The sender understands congestion marks (RFC 3168 ECT).
    pub const ECT: Flags = Flags(1 << 2);
    /// A queue marked it (RFC 3168 CE).
    pub const CE: Flags = Flags(1 << 3);
    /// The receiver echoes a mark (RFC 3168 ECE).
    pub const ECE: Flags = Flags(1 << 4);
    /// The sender answered the echo (RFC 3168 CWR).
    pub const CWR: Flags = Flags(1 << 5);
    /// Not a first transmission.
    pub const RETRANSMITTED: Flags = Flags(1 << 6);
    /// A datagram of a source that expects no acknowledgement.
    pub const DATAGRAM: Flags = Flags(1 << 7);
    /// Beside ECT: the sender answers marks in proportion (RFC 9331 ECT(1)).
    pub const SCALABLE: Flags = Flags(1 << 8);

    /// Whether all bits of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// With the bits of `other` set.
    #[inline]
    #[must_use]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// With the bits of `other` set where `wanted`.
    #[inline]
    #[must_use]
    pub fn with_if(self, wanted: bool, other: Flags) -> Flags {
        if wanted { self.with(other) } else { self }
    }
}

impl Packet {
    /// Its size on the wire.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_its_arrival_time_fill_one_cache_line() {
        assert_eq!(size_of::<(Time, Packet)>(), 64);
    }

    #[test]
    fn a_lag_is_in_whole_units_up_to_its_longest() {
        let through = |nanos| Lag::of(Span(nanos)).span();
        assert_eq!([0, 65_535, 65_536, 30_000_000].map(through), [0, 0, 65_536, 29_949_952].map(Span));
        assert_eq!([4_294_967_295, 5_000_000_000, u64::MAX].map(through), [Span(65_535 * 65_536); 3]);
    }
}
