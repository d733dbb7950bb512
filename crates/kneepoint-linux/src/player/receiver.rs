// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The peer's receiver: which acknowledgements segments cause.

use super::plan::MSS;

/// The rule for acknowledging a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// At once.
    Now,
    /// With the next, or after a timeout.
    Later,
}

/// The contents of an acknowledgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ack {
    pub ack: u32,
    /// The room in bytes.
    pub window: u32,
    pub blocks: Vec<(u32, u32)>,
    /// The kernel's timestamp that it echoes.
    pub echo: u32,
    /// It echoes a mark.
    pub ece: bool,
}

/// A segment in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub first: u32,
    pub length: u32,
    pub stamp: u32,
    pub marked: bool,
    pub cwr: bool,
}

impl Piece {
    pub fn end(self) -> u32 {
        self.first + self.length
    }

    /// Its number, in units of full segments.
    pub fn number(self) -> u32 {
        self.first.saturating_sub(1) / MSS
    }
}

#[derive(Clone, Debug)]
pub(super) struct Receiver {
    next: u32,
    /// Ranges above it, the latest first.
    islands: Vec<(u32, u32)>,
    /// A range that arrived twice, until it is reported.
    duplicate: Option<(u32, u32)>,
    /// Segments that are not acknowledged yet.
    pending: u32,
    every: u32,
    room: u32,
    /// The greatest sequence number that was ever offered, plus one.
    edge: u32,
    echo: u32,
    /// The last acknowledgement, which decides whose timestamp is echoed (RFC 7323 §4.3).
    acknowledged: u32,
    ece: bool,
    sack: bool,
}

/// Blocks in one acknowledgement: with timestamps there is no room for more, and packets of the laboratory carry no
/// more.
const BLOCKS: usize = 3;

impl Receiver {
    pub fn new(every: u32, room: u32, sack: bool) -> Receiver {
        Receiver {
            next: 1,
            islands: Vec::new(),
            duplicate: None,
            pending: 0,
            every,
            room,
            edge: 1 + room,
            echo: 0,
            acknowledged: 1,
            ece: false,
            sack,
        }
    }

    /// The kernel's SYN was stamped so.
    pub fn opened(&mut self, stamp: u32) {
        self.echo = stamp;
    }

    /// From now on there is room for this many bytes; an earlier offer remains valid.
    pub fn resize(&mut self, room: u32) {
        self.room = room;
    }

    pub fn pending(&self) -> bool {
        self.pending > 0
    }

    pub fn on_segment(&mut self, piece: Piece) -> Reply {
        if piece.first <= self.acknowledged && piece.stamp.wrapping_sub(self.echo) as i32 >= 0 {
            self.echo = piece.stamp;
        }
        self.ece = piece.marked || (self.ece && !piece.cwr);
        if piece.length == 0 || piece.end() > self.edge {
            return Reply::Now;
        }
        if self.has(piece) {
            self.duplicate = Some((piece.first, piece.end()));
            return Reply::Now;
        }
        self.take(piece)
    }

    fn has(&self, piece: Piece) -> bool {
        let inside = |(first, end): &(u32, u32)| *first <= piece.first && piece.end() <= *end;
        piece.end() <= self.next || self.islands.iter().any(inside)
    }

    fn take(&mut self, piece: Piece) -> Reply {
        let ordered = self.islands.is_empty() && piece.first <= self.next;
        let (mut first, mut end) = (piece.first, piece.end());
        self.islands.retain(|&(start, stop)| {
            let apart = stop < first || end < start;
            if !apart {
                (first, end) = (first.min(start), end.max(stop));
            }
            apart
        });
        if first <= self.next {
            self.next = end;
        } else {
            self.islands.insert(0, (first, end));
        }
        self.pending += 1;
        if ordered && self.pending < self.every { Reply::Later } else { Reply::Now }
    }

    /// The acknowledgement of everything so far.
    pub fn acknowledge(&mut self) -> Ack {
        self.pending = 0;
        self.acknowledged = self.next;
        self.edge = self.edge.max(self.next + self.room);
        let mut blocks = Vec::new();
        if self.sack {
            blocks.extend(self.duplicate.take());
            blocks.extend(&self.islands);
            blocks.truncate(BLOCKS);
        }
        Ack { ack: self.next, window: self.edge - self.next, blocks, echo: self.echo, ece: self.ece }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(segment: u32) -> Piece {
        Piece { first: 1 + segment * MSS, length: MSS, ..Piece::default() }
    }

    fn receiver() -> Receiver {
        Receiver::new(2, 10_000, true)
    }

    #[test]
    fn every_second_segment_is_acknowledged_while_nothing_is_missing() {
        let mut one = receiver();
        assert_eq!([0, 1].map(|at| one.on_segment(piece(at))), [Reply::Later, Reply::Now]);
        assert_eq!((one.acknowledge().ack, one.pending()), (2001, false));
        assert_eq!((one.on_segment(piece(2)), one.pending()), (Reply::Later, true));
        assert_eq!((one.acknowledge().ack, one.pending()), (3001, false));
    }

    #[test]
    fn blocks_are_reported_latest_first_and_merge() {
        let mut one = receiver();
        for at in [0, 2, 4, 6] {
            one.on_segment(piece(at));
        }
        assert_eq!(one.acknowledge().blocks, [(6001, 7001), (4001, 5001), (2001, 3001)]);
        assert_eq!(one.on_segment(piece(3)), Reply::Now);
        assert_eq!(one.acknowledge().blocks, [(2001, 5001), (6001, 7001)]);
        assert_eq!(one.on_segment(piece(1)), Reply::Now);
        let ack = one.acknowledge();
        assert_eq!((ack.ack, ack.blocks), (5001, vec![(6001, 7001)]));
    }

    #[test]
    fn a_segment_that_arrives_twice_is_the_first_block_once() {
        let mut one = receiver();
        for at in [0, 2, 2] {
            one.on_segment(piece(at));
        }
        assert_eq!(one.acknowledge().blocks, [(2001, 3001), (2001, 3001)]);
        assert_eq!(one.on_segment(piece(0)), Reply::Now);
        assert_eq!(one.acknowledge().blocks, [(1, 1001), (2001, 3001)]);
        assert_eq!(one.acknowledge().blocks, [(2001, 3001)]);
    }

    #[test]
    fn a_window_that_was_offered_is_never_taken_back() {
        let mut one = receiver();
        one.resize(2000);
        one.on_segment(piece(0));
        assert_eq!(one.acknowledge().window, 9000);
        for at in 1..10 {
            one.on_segment(piece(at));
        }
        assert_eq!(one.acknowledge().window, 2000);
        assert_eq!((one.on_segment(piece(12)), one.acknowledge().blocks), (Reply::Now, vec![]));
    }

    #[test]
    fn marks_are_echoed_until_the_sender_says_that_it_reduced_its_window() {
        let mut one = receiver();
        one.on_segment(Piece { marked: true, ..piece(0) });
        one.on_segment(piece(1));
        assert!(one.acknowledge().ece);
        one.on_segment(Piece { cwr: true, ..piece(2) });
        assert!(!one.acknowledge().ece);
    }

    #[test]
    fn the_timestamp_that_is_echoed_is_that_of_the_first_segment_not_acknowledged() {
        let mut one = receiver();
        one.on_segment(Piece { stamp: 7, ..piece(0) });
        one.on_segment(Piece { stamp: 8, ..piece(1) });
        assert_eq!(one.acknowledge().echo, 7);
        one.on_segment(Piece { stamp: 9, ..piece(3) });
        assert_eq!(one.acknowledge().echo, 7);
        one.on_segment(Piece { stamp: 11, ..piece(2) });
        assert_eq!(one.acknowledge().echo, 11);
    }
}
