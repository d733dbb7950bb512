// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tracks the bytes that a sender has outstanding, as seen in a capture: when and how often each was sent, and whether
//! it was selectively acknowledged.
//!
//! RFC 2018 (selective acknowledgements), RFC 7323 (timestamps), Karn's rule of RFC 6298 §3.

use std::collections::VecDeque;

use super::Segment;
use crate::units::{Span, Time};

/// A byte range with one last transmission.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    sent: Time,
    /// Timestamps of the first and the last transmission.
    first: Option<u32>,
    last: Option<u32>,
    again: bool,
    sacked: bool,
    /// Bytes that were not seen when later ones were.
    missing: bool,
}

/// The information in an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// Transmission time of the packet acknowledged, if unambiguous.
    pub(super) sent: Option<Time>,
    /// Bytes outstanding before it.
    pub(super) flight: u64,
    /// Bytes newly acknowledged in order.
    pub(super) acked: u64,
}

/// Fate of the earlier transmission of a data segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Seen {
    /// There is none: the segment is new.
    New,
    /// Lost; it was sent at this time.
    Lost(Time),
    /// It had arrived: the retransmission was spurious.
    Needless,
    /// Not seen although later bytes were, from this time on: reordered, or lost upstream of the capture.
    Hole(Time),
}

/// The bytes from the first unacknowledged to the last sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    /// In order, without overlap.
    pieces: VecDeque<Piece>,
    una: u64,
    high: u64,
    sacked: u64,
    begun: bool,
}

impl Outstanding {
    /// Starts a connection; its first byte follows the SYN.
    pub(super) fn open(&mut self, seq: u32) {
        *self = Outstanding::default();
        self.begin(seq.wrapping_add(1));
    }

    fn begin(&mut self, seq: u32) {
        // Leaves room below for older sequence numbers.
        let first = (1 << 40) + u64::from(seq);
        (self.una, self.high, self.begun) = (first, first, true);
    }

    /// The sequence number unwrapped to 64 bits: the value closest to the highest so far.
    fn unwrapped(&self, seq: u32) -> u64 {
        let ahead = seq.wrapping_sub(self.high as u32) as i32;
        self.high.saturating_add_signed(i64::from(ahead))
    }

    /// The index of the first piece that ends above `at`, after a cut there.
    fn cut(&mut self, at: u64) -> usize {
        let place = self.pieces.partition_point(|piece| piece.end <= at);
        match self.pieces.get_mut(place) {
            Some(piece) if piece.start < at => {
                let above = Piece { start: at, ..*piece };
                piece.end = at;
                self.pieces.insert(place + 1, above);
                place + 1
            }
            _ => place,
        }
    }

    /// Processes a data segment.
    pub(super) fn send(&mut self, segment: &Segment) -> Seen {
        if !self.begun {
            self.begin(segment.seq);
        }
        let start = self.unwrapped(segment.seq);
        let end = start + u64::from(segment.payload);
        let stamp = segment.timestamps.map(|(value, _)| value);
        let new = |from, to, again| Piece {
            start: from,
            end: to,
            sent: segment.at,
            first: stamp,
            last: stamp,
            again,
            sacked: false,
            missing: false,
        };
        let mut seen = Seen::New;
        if start < self.high {
            let below = end.min(self.high);
            let (from, to) = (self.cut(start.max(self.una)), self.cut(below));
            seen = Seen::Needless;
            let mut lost: Option<(Time, bool)> = None;
            for piece in self.pieces.range_mut(from..to.max(from)).filter(|piece| !piece.sacked) {
                let before = (piece.sent, piece.missing);
                lost = Some(lost.map_or(before, |lost| lost.min(before)));
                if piece.missing {
                    // This may or may not be the first transmission: no echo tells.
                    piece.first = stamp;
                }
                (piece.sent, piece.last, piece.again, piece.missing) = (segment.at, stamp, true, false);
            }
            match lost {
                Some((since, true)) => seen = Seen::Hole(since),
                Some((sent, false)) => seen = Seen::Lost(sent),
                None => {}
            }
        }
        if start > self.high {
            let hole = Piece { missing: true, first: None, last: None, ..new(self.high, start, true) };
            self.pieces.push_back(hole);
        }
        if end > self.high {
            self.pieces.push_back(new(start.max(self.high), end, false));
            self.high = end;
        }
        seen
    }

    /// Processes an ACK.
    pub(super) fn hear(&mut self, segment: &Segment) -> Told {
        let Some(ack) = segment.ack.filter(|_| self.begun).map(|ack| self.unwrapped(ack)) else {
            return Told::default();
        };
        let mut told = Told { flight: self.high - self.una - self.sacked, ..Told::default() };
        let mut newest: Option<Piece> = None;
        let mut note = |piece: Piece| {
            if newest.is_none_or(|known| piece.sent >= known.sent) {
                newest = Some(piece);
            }
        };
        if ack > self.una && ack <= self.high {
            told.acked = ack - self.una;
            let below = self.cut(ack);
            for piece in self.pieces.drain(..below) {
                if piece.sacked {
                    self.sacked -= piece.end - piece.start;
                } else {
                    note(piece);
                }
            }
            self.una = ack;
        }
        for (left, right) in segment.sack {
            let (left, right) = (self.unwrapped(left), self.unwrapped(right));
            // Blocks below `una` report duplicates (RFC 2883).
            if left >= right || left < self.una || right > self.high {
                continue;
            }
            let (from, to) = (self.cut(left), self.cut(right));
            for piece in self.pieces.range_mut(from..to.max(from)).filter(|piece| !piece.sacked) {
                piece.sacked = true;
                self.sacked += piece.end - piece.start;
                note(*piece);
            }
        }
        let echo = segment.timestamps.map(|(_, echo)| echo);
        told.sent = newest.filter(|piece| piece.certain(echo)).map(|piece| piece.sent);
        told
    }
}

impl Piece {
    /// Whether the ACK answers the last transmission: it is the only one, or the timestamp echo identifies it.
    fn certain(&self, echo: Option<u32>) -> bool {
        !self.again || (echo.is_some() && echo == self.last && self.first != self.last)
    }
}

/// The round-trip time of a packet acknowledged at `now`, if positive.
pub(super) fn round_trip(now: Time, sent: Time) -> Option<Span> {
    Some(now.since(sent)).filter(|rtt| *rtt > Span::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(at: u64, seq: u32, stamp: u32) -> Segment {
        Segment {
            at: Time(at),
            id: None,
            seq,
            ack: Some(1),
            syn: false,
            payload: 100,
            sack: [(0, 0); 4],
            timestamps: Some((stamp, 0)),
            mss: None,
        }
    }

    fn ack(at: u64, ack: u32, sack: (u32, u32), echo: u32) -> Segment {
        let sack = [sack, (0, 0), (0, 0), (0, 0)];
        Segment { ack: Some(ack), payload: 0, sack, timestamps: Some((0, echo)), ..data(at, 1, 0) }
    }

    fn sent(told: Told) -> Option<u64> {
        told.sent.map(|sent| sent.0)
    }

    #[test]
    fn an_acknowledgement_answers_the_last_packet_that_it_covers_wherever_numbers_wrap() {
        for first in [1_u32, 0xffff_ffc0] {
            let at = |bytes: u32| first.wrapping_add(bytes);
            let mut out = Outstanding::default();
            for place in 0..3 {
                assert_eq!(out.send(&data(10 + u64::from(place), at(100 * place), 1)), Seen::New);
            }
            let told = out.hear(&ack(50, at(200), (0, 0), 1));
            assert_eq!((sent(told), told.flight, told.acked), (Some(11), 300, 200));
            // Half of a packet that a network card put together.
            let half = out.hear(&ack(51, at(250), (0, 0), 1));
            assert_eq!((sent(half), half.flight, half.acked), (Some(12), 100, 50));
        }
    }

    #[test]
    fn what_is_sent_again_was_lost_unless_it_had_arrived() {
        let mut out = Outstanding::default();
        for place in 0..4 {
            out.send(&data(10 + u64::from(place), 1 + 100 * place, 1));
        }
        let told = out.hear(&ack(50, 1, (101, 401), 1));
        assert_eq!((sent(told), told.acked), (Some(13), 0));
        assert_eq!(out.send(&data(60, 1, 2)), Seen::Lost(Time(10)));
        assert_eq!(out.send(&data(61, 101, 2)), Seen::Needless);
        // And again: it was the retransmission that was lost.
        assert_eq!(out.send(&data(90, 1, 3)), Seen::Lost(Time(60)));
        let filled = out.hear(&ack(120, 401, (0, 0), 3));
        assert_eq!((sent(filled), filled.flight, filled.acked), (Some(90), 100, 400));
        assert_eq!(out.send(&data(130, 301, 4)), Seen::Needless);
    }

    #[test]
    fn a_round_trip_of_what_was_sent_twice_counts_only_if_an_echo_tells_which() {
        for (echo, known) in [(2, Some(60)), (1, None)] {
            let mut out = Outstanding::default();
            out.send(&data(10, 1, 1));
            out.send(&data(60, 1, 2));
            assert_eq!(sent(out.hear(&ack(70, 101, (0, 0), echo))), known);
        }
        // A clock too coarse tells nothing.
        let mut out = Outstanding::default();
        out.send(&data(10, 1, 1));
        out.send(&data(60, 1, 1));
        assert_eq!(sent(out.hear(&ack(70, 101, (0, 0), 1))), None);
    }

    #[test]
    fn what_comes_late_and_was_not_seen_before_is_no_loss() {
        let mut out = Outstanding::default();
        out.send(&data(10, 1, 1));
        out.send(&data(12, 201, 1));
        assert_eq!(out.send(&data(13, 101, 1)), Seen::Hole(Time(12)));
        assert_eq!(sent(out.hear(&ack(50, 301, (0, 0), 1))), None);
    }
}
