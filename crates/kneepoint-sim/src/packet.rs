// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets: small `Copy` values of 56 bytes, so that one with its arrival time fills a cache line.

mod flags;

pub use flags::{Codepoint, Flags};

use crate::units::{Bytes, Rate, Span, Time};

/// A packet on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// The sending time; an acknowledgement carries the time of the packet that caused it (RFC 7323 TSval, TSecr).
    pub sent: Time,
    /// The fields that [`body`](Packet::body) reads according to the flags. Data: window, round-trip time, explicit
    /// feedback. Acknowledgement:
    /// three blocks, or two and explicit feedback.
    words: [u64; 3],
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
    /// Its header bits, which also give the type of its body.
    pub flags: Flags,
    /// Acknowledgement: how far the receiver's clock was past `sent` when it answered (RFC 7323 TSval − TSecr).
    pub lag: Lag,
}

/// Bytes by which a count of marked bytes lengthens an acknowledgement.
pub const MARKED_BYTES: u16 = 8;

/// A span in two bytes: in units of 65.536 µs, fifteen times finer than the millisecond of hosts' timestamps, up to
/// 4.29 s.
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

/// A run of segments received out of order, [first, end); empty where `end` is 0 (RFC 2018).
pub type Block = (u32, u32);

/// Information for queues that a sender adds to each data packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hint {
    /// Its congestion window in packets.
    pub window: f64,
    /// Its smoothed round-trip time; zero before the first sample.
    pub rtt: Span,
}

/// Explicit feedback, which a sender requests and queues may lower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Explicit {
    /// A rate.
    Rate(Rate),
    /// Packets by which the sender's window should change.
    Change(f64),
}

impl Explicit {
    /// An unlimited request.
    pub const ANY_RATE: Explicit = Explicit::Rate(Rate(u64::MAX));
    /// An unlimited request.
    pub const ANY_CHANGE: Explicit = Explicit::Change(f64::INFINITY);

    /// Whether anything limited it.
    #[inline]
    pub fn limited(self) -> bool {
        self != Explicit::ANY_RATE && self != Explicit::ANY_CHANGE
    }
}

/// The body of a packet: 24 bytes in either case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    /// Of a data packet.
    Data {
        /// Its sender's data.
        hint: Hint,
        /// The explicit feedback that queues may lower, if it requests any.
        explicit: Option<Explicit>,
    },
    /// Of an acknowledgement.
    Ack {
        /// Blocks received out of order, most recent first, empty ones last. With explicit feedback or a count of marked bytes, no
        /// more than two: TCP's options have no room for more.
        blocks: [Block; 3],
        /// The explicit feedback of the packets that it answers.
        explicit: Option<Explicit>,
    },
}

impl Packet {
    /// A data packet at the beginning of its path: hop, number and epoch are 0.
    #[inline]
    pub fn data(flow: u32, seq: u32, size: u16, flags: Flags, sent: Time) -> Packet {
        Packet { sent, words: [0; 3], flow, seq, hop: 0, id: 0, size, epoch: 0, flags, lag: Lag::default() }
    }

    /// An acknowledgement with its blocks at the beginning of its path.
    #[inline]
    pub fn ack(flow: u32, seq: u32, size: u16, flags: Flags, sent: Time, blocks: [Block; 3]) -> Packet {
        let words = blocks.map(|(first, end)| u64::from(first) | u64::from(end) << 32);
        Packet { words, ..Packet::data(flow, seq, size, flags.with(Flags::ACK), sent) }
    }

    /// A data packet with its sender's hint.
    #[inline]
    #[must_use]
    pub fn with_hint(mut self, hint: Hint) -> Packet {
        debug_assert!(!self.flags.has(Flags::ACK), "an acknowledgement has no room for a hint");
        self.words[0] = hint.window.to_bits();
        self.words[1] = hint.rtt.0;
        self
    }

    /// The packet with explicit feedback, which replaces an acknowledgement's third block.
    #[inline]
    #[must_use]
    pub fn with_explicit(mut self, explicit: Explicit) -> Packet {
        let (flag, word) = match explicit {
            Explicit::Rate(rate) => (Flags::RATE, rate.0),
            Explicit::Change(packets) => (Flags::CHANGE, packets.to_bits()),
        };
        self.flags = self.flags.with(flag);
        self.words[2] = word;
        self
    }

    /// An acknowledgement with its receiver's window in packets, beyond those it acknowledges.
    ///
    /// Its third block is then written relative to the acknowledgement number, in 40 bits: up to 8 million segments
    /// away, and 65,535 long.
    /// Explicit feedback takes that place whole, and the window with it.
    #[must_use]
    pub fn with_receive_window(mut self, packets: u32) -> Packet {
        if self.flags.explicit() {
            return self;
        }
        if self.flags.has(Flags::BYTES) {
            self.words[2] = u64::from(self.marked_word()) | u64::from(packets.min(0xFF_FFFF)) << 40;
            self.flags = self.flags.with(Flags::WINDOW);
            return self;
        }
        let (first, end) = block(self.words[2]);
        let length = end.saturating_sub(first).min(0xFFFF);
        let offset = first.wrapping_sub(self.seq) & 0xFF_FFFF;
        self.words[2] = u64::from(length) | u64::from(offset) << 16 | u64::from(packets.min(0xFF_FFFF)) << 40;
        self.flags = self.flags.with(Flags::WINDOW);
        self
    }

    /// An acknowledgement with the number of payload bytes that arrived marked, modulo 2^24, instead of its third block. It is
    /// longer by [`MARKED_BYTES`]: the option of RFC 9768 with two of its three fields, or with one and three bytes of padding.
    /// Explicit feedback leaves it no room.
    #[must_use]
    pub fn with_marked_bytes(mut self, bytes: u32) -> Packet {
        if self.flags.explicit() {
            return self;
        }
        debug_assert!(!self.flags.has(Flags::WINDOW), "the window is written behind the count");
        self.words[2] = u64::from(bytes & 0xFF_FFFF);
        self.flags = self.flags.with(Flags::BYTES);
        self.size = self.size.saturating_add(MARKED_BYTES);
        self
    }

    /// The number of payload bytes that arrived marked, modulo 2^24.
    #[inline]
    pub fn marked_bytes(&self) -> Option<u32> {
        self.flags.has(Flags::BYTES).then(|| self.marked_word())
    }

    fn marked_word(&self) -> u32 {
        self.words[2] as u32 & 0xFF_FFFF
    }

    /// The receiver's window, in packets beyond the acknowledged ones; 16,777,215 also represents larger windows.
    #[inline]
    pub fn receive_window(&self) -> Option<u32> {
        let packets = (self.words[2] >> 40) as u32;
        let packets = if packets == 0xFF_FFFF { u32::MAX } else { packets };
        self.flags.has(Flags::WINDOW).then_some(packets)
    }

    /// The third block of an acknowledgement that has a window.
    fn short_block(&self) -> Block {
        let (length, offset) = (self.words[2] as u32 & 0xFFFF, (self.words[2] >> 16) as u32 & 0xFF_FFFF);
        // The offset has a sign.
        let first = self.seq.wrapping_add(((offset << 8) as i32 >> 8) as u32);
        if length == 0 { (0, 0) } else { (first, first.wrapping_add(length)) }
    }

    /// A bit of it becomes wrong. Its incarnation is then one that no flow has, so that hosts ignore it like packets of the past.
    pub fn corrupt(&mut self) {
        if !self.flags.has(Flags::CORRUPT) {
            self.flags = self.flags.with(Flags::CORRUPT);
            self.epoch ^= 1 << 15;
        }
    }

    /// Its size on the wire.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes(u64::from(self.size))
    }

    /// Its body.
    #[inline]
    pub fn body(&self) -> Body {
        let explicit = self.explicit();
        if self.flags.has(Flags::ACK) {
            return Body::Ack { blocks: self.sack(), explicit };
        }
        let hint = Hint { window: f64::from_bits(self.words[0]), rtt: Span(self.words[1]) };
        Body::Data { hint, explicit }
    }

    /// The explicit feedback that it requests or echoes.
    #[inline]
    pub fn explicit(&self) -> Option<Explicit> {
        match self.flags {
            flags if !flags.explicit() => None,
            flags if flags.has(Flags::RATE) => Some(Explicit::Rate(Rate(self.words[2]))),
            _ => Some(Explicit::Change(f64::from_bits(self.words[2]))),
        }
    }

    /// Lowers the explicit feedback to `bound`, if it requests the same kind and has a greater value.
    #[inline]
    pub fn lower(&mut self, bound: Explicit) {
        match (self.explicit(), bound) {
            (Some(Explicit::Rate(rate)), Explicit::Rate(least)) if least < rate => self.words[2] = least.0,
            (Some(Explicit::Change(change)), Explicit::Change(least)) if least < change => {
                self.words[2] = least.to_bits();
            }
            _ => {}
        }
    }

    /// Whether an acknowledgement has blocks.
    #[inline]
    pub fn reports_gap(&self) -> bool {
        self.words[0] >> 32 != 0
    }

    /// The blocks of an acknowledgement.
    #[inline]
    pub fn sack(&self) -> [Block; 3] {
        debug_assert!(self.flags.has(Flags::ACK), "data has no blocks");
        let [first, second, third] = self.words;
        let third = match self
            .flags
            .has_any(Flags::RATE.with(Flags::CHANGE).with(Flags::WINDOW).with(Flags::BYTES))
        {
            false => block(third),
            true if self.flags.and(Flags::WINDOW.with(Flags::BYTES)) == Flags::WINDOW => self.short_block(),
            true => (0, 0),
        };
        [block(first), block(second), third]
    }
}

/// A block in one word.
#[inline]
fn block(word: u64) -> Block {
    (word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_and_its_arrival_time_fill_one_cache_line() {
        assert_eq!(size_of::<(Time, Packet)>(), 64);
    }

    #[test]
    fn the_flags_say_what_the_body_is() {
        let blocks = [(7, 9), (11, 12), (20, u32::MAX)];
        let data = Packet::data(1, 2, 1040, Flags::ECT, Time(5));
        let ack = Packet::ack(1, 2, 40, Flags::ECE, Time(5), blocks);
        let hint = Hint { window: 12.5, rtt: Span::from_millis(60) };
        assert_eq!(data.body(), Body::Data { hint: Hint::default(), explicit: None });
        assert_eq!(ack.body(), Body::Ack { blocks, explicit: None });
        for explicit in [Explicit::Rate(Rate::from_mbit(5)), Explicit::Change(-0.25)] {
            let explicitly = Some(explicit);
            let sent = data.with_hint(hint).with_explicit(explicit).body();
            assert_eq!(sent, Body::Data { hint, explicit: explicitly });
            // TCP's options hold three blocks, or two and explicit feedback.
            let echo = Body::Ack { blocks: [(7, 9), (11, 12), (0, 0)], explicit: explicitly };
            assert_eq!(ack.with_explicit(explicit).body(), echo);
        }
        assert_eq!(ack.flags, Flags::ACK.with(Flags::ECE));
    }

    #[test]
    fn a_window_leaves_the_blocks_of_an_acknowledgement_as_they_are() {
        for blocks in [
            [(107, 109), (111, 112), (120, 65_655)],
            [(3, 4), (111, 112), (0, 0)],
            [(107, 108), (105, 106), (90, 101)],
        ] {
            let ack = Packet::ack(1, 100, 40, Flags::default(), Time(5), blocks);
            assert_eq!(ack.receive_window(), None);
            for packets in [0, 1, 45, 0xFF_FFFE] {
                let offered = ack.with_receive_window(packets);
                assert_eq!((offered.sack(), offered.receive_window()), (blocks, Some(packets)));
            }
            assert_eq!(ack.with_receive_window(u32::MAX).receive_window(), Some(u32::MAX));
        }
    }

    #[test]
    fn a_count_of_marked_bytes_takes_the_place_of_the_third_block_and_leaves_the_window() {
        let blocks = [(107, 109), (111, 112), (120, 125)];
        let ack = Packet::ack(1, 100, 40, Flags::default(), Time(5), blocks);
        assert_eq!(ack.marked_bytes(), None);
        for bytes in [0, 1, 0xFF_FFFF] {
            let counted = ack.with_marked_bytes(bytes + (1 << 24));
            assert_eq!((counted.marked_bytes(), counted.size), (Some(bytes), 48));
            assert_eq!(counted.sack(), [(107, 109), (111, 112), (0, 0)]);
            let offered = counted.with_receive_window(45);
            assert_eq!((offered.marked_bytes(), offered.receive_window()), (Some(bytes), Some(45)));
            assert_eq!(offered.sack(), counted.sack());
        }
        let explicit = ack.with_explicit(Explicit::Change(1.0));
        assert_eq!(explicit.with_marked_bytes(5), explicit);
    }

    #[test]
    fn explicit_feedback_is_lowered_and_never_raised_or_invented() {
        let rate = |mbit| Explicit::Rate(Rate::from_mbit(mbit));
        let mut packet = Packet::data(1, 2, 1040, Flags::default(), Time(5));
        packet.lower(rate(1));
        assert_eq!(packet.explicit(), None);
        let mut packet = packet.with_explicit(Explicit::ANY_RATE);
        for (offered, left) in [(rate(9), 9), (rate(3), 3), (rate(4), 3), (Explicit::Change(-1.0), 3)] {
            packet.lower(offered);
            assert_eq!(packet.explicit(), Some(rate(left)));
        }
        let mut changing = Packet::default().with_explicit(Explicit::ANY_CHANGE);
        for (offered, left) in [(0.5, 0.5), (-0.25, -0.25), (0.0, -0.25)] {
            changing.lower(Explicit::Change(offered));
            assert_eq!(changing.explicit(), Some(Explicit::Change(left)));
        }
    }

    #[test]
    fn a_lag_is_in_whole_units_up_to_its_longest() {
        let through = |nanos| Lag::of(Span(nanos)).span();
        assert_eq!([0, 65_535, 65_536, 30_000_000].map(through), [0, 0, 65_536, 29_949_952].map(Span));
        assert_eq!([4_294_967_295, 5_000_000_000, u64::MAX].map(through), [Span(65_535 * 65_536); 3]);
    }
}
