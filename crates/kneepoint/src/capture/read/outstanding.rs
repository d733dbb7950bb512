// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tracks the bytes that a sender has outstanding, as seen in a capture: when and how often each was sent, and whether
//! it was selectively acknowledged.
//!
//! RFC 2018 (selective acknowledgements), RFC 7323 (timestamps), Karn's rule of RFC 6298 §3.

use std::collections::BTreeMap;

use super::Segment;
use super::work::step;
use crate::units::{Span, Time};

/// A byte range with one last transmission. Where it begins is its key.
#[derive(Clone, Copy, Debug)]
struct Piece {
    end: u64,
    sent: Time,
    /// Timestamps of the first and the last transmission.
    first: Option<u32>,
    last: Option<u32>,
    again: bool,
    sacked: bool,
    /// Bytes that had not been seen when later bytes were.
    missing: bool,
    /// The segment in which they were first sent.
    original: usize,
    /// The number of their retransmissions.
    repeats: u32,
}

/// A segment as it was first sent. Retransmissions may cut it into parts or join it with others; it counts as one.
#[derive(Clone, Copy, Debug)]
struct Original {
    start: u64,
    end: u64,
    /// The number of times that at least a part of it was retransmitted.
    repeats: u32,
    /// The number of its transmissions that were lost.
    lost: u32,
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

/// The fate of earlier transmissions, as a data segment shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sent {
    /// Segments of the first transmission that it carries, without the ones already counted by an earlier part of the
    /// retransmission.
    pub(super) segments: u64,
    /// The time at which each lost transmission that it repairs was sent.
    pub(super) lost: Vec<Time>,
    /// Its data had already arrived: the retransmission was spurious.
    pub(super) needless: bool,
    /// It was not seen although later bytes were, from this time on: reordered, or lost upstream of the capture.
    pub(super) hole: Option<Time>,
    /// A retransmission with other bounds than the lost segment.
    pub(super) resized: bool,
}

/// The bytes from the first unacknowledged to the last sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    /// Sorted by their beginnings, without gap or overlap. Selectively acknowledged ranges are joined.
    pieces: BTreeMap<u64, Piece>,
    una: u64,
    high: u64,
    sacked: u64,
    begun: bool,
    originals: Vec<Original>,
    /// Probes of a closed window whose bytes the receiver has not taken, by their first byte: the time of the last, and its end.
    probes: BTreeMap<u64, (Time, u64)>,
    /// Packets that were data, although the window was closed, and their bytes.
    pub(super) admitted: (u64, u64),
    /// The spurious retransmission before: its bounds.
    needless: (u64, u64),
    /// Bytes of the longest segment that was new.
    longest: u64,
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

    /// Cuts the piece that has the bytes on both sides of `at`.
    fn cut(&mut self, at: u64) {
        let Some((_, piece)) = self.pieces.range_mut(..at).next_back() else { return };
        if piece.end > at {
            let above = *piece;
            piece.end = at;
            self.pieces.insert(at, above);
        }
    }

    /// The first unacknowledged byte and the one after the last sent, once there are any.
    pub(super) fn edges(&self) -> Option<(u32, u32)> {
        self.begun.then_some((self.una as u32, self.high as u32))
    }

    /// Notes a probe of a closed window. Its bytes count as sent only if the receiver takes them.
    pub(super) fn probe(&mut self, segment: &Segment) {
        if !self.begun {
            self.begin(segment.seq);
        }
        let start = self.unwrapped(segment.seq);
        let end = start + u64::from(segment.payload);
        self.probes.insert(start, (segment.at, end));
    }

    /// Counts the bytes of probes up to `end` as sent: the receiver has accepted them, or the sender has continued after them.
    fn admit(&mut self, end: u64) {
        if self.probes.is_empty() || end <= self.high {
            return;
        }
        for (start, (at, probed)) in std::mem::take(&mut self.probes) {
            step();
            if start > self.high || probed <= self.high || probed > end {
                continue;
            }
            // It may have been sent more than once, so that it gives no round trip.
            let segment = Segment { at, ..Segment::default() };
            let piece = Piece { again: true, ..self.piece(self.high, probed, &segment) };
            let bytes = probed - self.high;
            if bytes > 1 {
                self.admitted = (self.admitted.0 + 1, self.admitted.1 + bytes);
            }
            self.pieces.insert(self.high, piece);
            self.high = probed;
        }
    }

    /// Bytes that are sent for the first time.
    fn piece(&mut self, start: u64, end: u64, segment: &Segment) -> Piece {
        let stamp = segment.timestamps.map(|(value, _)| value);
        self.originals.push(Original { start, end, repeats: 0, lost: 0 });
        let original = self.originals.len() - 1;
        let (first, last) = (stamp, stamp);
        Piece {
            end,
            sent: segment.at,
            first,
            last,
            again: false,
            sacked: false,
            missing: false,
            original,
            repeats: 0,
        }
    }

    /// Processes a data segment.
    pub(super) fn send(&mut self, segment: &Segment) -> Sent {
        if !self.begun {
            self.begin(segment.seq);
        }
        let start = self.unwrapped(segment.seq);
        let end = start + u64::from(segment.payload);
        self.admit(start);
        let mut sent =
            if start < self.high { self.repeat(start, end.min(self.high), segment) } else { Sent::default() };
        if start > self.high {
            let hole = self.piece(self.high, start, segment);
            self.pieces
                .insert(self.high, Piece { missing: true, again: true, first: None, last: None, ..hole });
        }
        if end > self.high {
            let begin = start.max(self.high);
            let new = self.piece(begin, end, segment);
            self.longest = self.longest.max(end - begin);
            self.pieces.insert(begin, new);
            self.high = end;
            sent.segments += 1;
        }
        sent
    }

    /// Processes bytes below the highest, which were sent before or are late.
    fn repeat(&mut self, start: u64, end: u64, segment: &Segment) -> Sent {
        let begin = start.max(self.una);
        self.cut(begin);
        self.cut(end);
        let stamp = segment.timestamps.map(|(value, _)| value);
        let (mut sent, mut found, mut late) = (Sent::default(), false, None);
        for (_, piece) in self.pieces.range_mut(begin..end.max(begin)) {
            step();
            if piece.sacked {
                continue;
            }
            found = true;
            if piece.missing {
                // This may or may not be the first transmission: there is no echo to decide it.
                piece.first = stamp;
                sent.hole = Some(sent.hole.map_or(piece.sent, |known: Time| known.min(piece.sent)));
                let original = *late.get_or_insert(self.originals.len());
                (piece.original, piece.repeats) = (original, 0);
            } else {
                let original = &mut self.originals[piece.original];
                sent.resized |= (original.start, original.end) != (start, end);
                if piece.repeats >= original.lost {
                    original.lost = piece.repeats + 1;
                    sent.lost.push(piece.sent);
                }
                piece.repeats += 1;
                sent.segments += u64::from(piece.repeats > original.repeats);
                original.repeats = original.repeats.max(piece.repeats);
            }
            (piece.sent, piece.last, piece.again, piece.missing) = (segment.at, stamp, true, false);
        }
        if late.is_some() {
            self.originals.push(Original { start, end, repeats: 0, lost: 0 });
            sent.segments += 1;
        }
        if !found {
            self.arrived_before(start, end, &mut sent);
        }
        sent
    }

    /// A spurious retransmission, unless it continues one that was cut into parts.
    fn arrived_before(&mut self, start: u64, end: u64, sent: &mut Sent) {
        let (first, last) = self.needless;
        sent.resized = start == last && end - first <= self.longest;
        sent.needless = !sent.resized;
        sent.segments = u64::from(sent.needless);
        self.needless = (if sent.needless { start } else { first }, end);
    }

    /// Processes an ACK.
    pub(super) fn hear(&mut self, segment: &Segment) -> Told {
        let Some(ack) = segment.ack.filter(|_| self.begun).map(|ack| self.unwrapped(ack)) else {
            return Told::default();
        };
        self.admit(ack);
        let mut told = Told { flight: self.high - self.una - self.sacked, ..Told::default() };
        let mut newest: Option<Piece> = None;
        let mut note = |piece: Piece| {
            if newest.is_none_or(|known| piece.sent >= known.sent) {
                newest = Some(piece);
            }
        };
        if ack > self.una && ack <= self.high {
            told.acked = ack - self.una;
            self.cut(ack);
            while let Some(first) = self.pieces.first_entry().filter(|first| *first.key() < ack) {
                step();
                let (start, piece) = first.remove_entry();
                if piece.sacked {
                    self.sacked -= piece.end - start;
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
            self.sack(left, right, &mut note);
        }
        let echo = segment.timestamps.map(|(_, echo)| echo);
        told.sent = newest.filter(|piece| piece.certain(echo)).map(|piece| piece.sent);
        told
    }
}

impl Outstanding {
    /// Takes the bytes of a block for selectively acknowledged; calls `new` with the pieces that were not.
    fn sack(&mut self, left: u64, right: u64, mut new: impl FnMut(Piece)) {
        self.cut(left);
        self.cut(right);
        let (mut begin, mut end, mut joined) = (left, right, None);
        // A repeated block finds one piece, and its neighbours may be joined to it.
        while let Some((&start, piece)) = self.pieces.range(begin..right).next() {
            step();
            let piece = *piece;
            self.pieces.remove(&start);
            if !piece.sacked {
                self.sacked += piece.end - start;
                new(piece);
            }
            (begin, joined) = (piece.end, Some(Piece { sacked: true, ..piece }));
        }
        let Some(joined) = joined else { return };
        begin = left;
        if let Some((&start, _)) = self.pieces.range(..left).next_back().filter(|(_, before)| before.sacked) {
            begin = start;
        }
        if let Some(after) = self.pieces.get(&right).copied().filter(|after| after.sacked) {
            self.pieces.remove(&right);
            end = after.end;
        }
        self.pieces.insert(begin, Piece { end, ..joined });
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
mod tests;
