// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scoreboard of selective acknowledgements.
//!
//! RFC 6675 §2–§4, in segments instead of bytes.
//!
//! ```text
//! IsLost(s)  at least DupThresh sacked segments above s, i.e. s below the DupThresh-th greatest: the edge
//! pipe       Σ over s in [una, next) not sacked: (not IsLost(s)) + (s <= HighRxt)
//! NextSeg    1: the least s > HighRxt, not sacked, lost     3: as 1 but not lost, below the greatest sacked
//! ```
//!
//! The edge only rises, and retransmissions go upwards, so the sums are two counts of bits.

use std::ops::Range;

use super::segments::SegmentSet;

/// Segments received out of order, and segments retransmitted.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: SegmentSet,
    /// The blocks of the last acknowledgement with blocks; most acknowledgements repeat all but one.
    noted: [(u32, u32); 3],
    /// One above the greatest segment sacked.
    top: u32,
    /// Segments below it that are not sacked are lost.
    edge: u32,
    /// One above the greatest segment retransmitted in this recovery (HighRxt + 1).
    retransmitted: u32,
}

impl Scoreboard {
    /// Whether the receiver has nothing out of order.
    pub fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// The number of segments that the receiver has out of order.
    pub fn len(&self) -> u32 {
        self.sacked.len()
    }

    /// Whether the receiver holds `seq`.
    pub fn sacked(&self, seq: u32) -> bool {
        self.sacked.contains(seq)
    }

    /// The number of segments of a range that the receiver has.
    pub fn count(&self, range: Range<u32>) -> u32 {
        self.sacked.count(range)
    }

    /// Notes the blocks of an acknowledgement, and returns the number of segments that they name for the first time.
    pub fn mark(&mut self, blocks: &[(u32, u32); 3], una: u32, next: u32, dupthresh: u32) -> u32 {
        let mut new = 0;
        let noted = std::mem::replace(&mut self.noted, *blocks);
        for &(first, end) in blocks.iter().filter(|block| !noted.contains(block)) {
            let block = first.max(una)..end.min(next);
            if !block.is_empty() {
                self.top = self.top.max(block.end);
                new += self.sacked.insert_range(block);
            }
        }
        if new > 0 && self.sacked.len() >= dupthresh {
            self.edge = self.edge.max(self.sacked.nth_greatest(dupthresh).unwrap_or(0));
        }
        new
    }

    /// Everything below `una` has arrived.
    pub fn advance(&mut self, una: u32) {
        self.sacked.remove_below(una);
        self.retransmitted = self.retransmitted.max(una);
    }

    /// Whether `seq`, which is not sacked, is lost.
    pub fn lost(&self, seq: u32) -> bool {
        seq < self.edge
    }

    /// A recovery begins: nothing has been retransmitted yet.
    pub fn begin(&mut self, una: u32) {
        self.retransmitted = una;
    }

    /// Forgets the segments received out of order: after a timeout the receiver may have discarded them (RFC 2018 §8).
    pub fn clear(&mut self) {
        self.sacked.clear();
        self.noted = [(0, 0); 3];
        self.top = 0;
        self.edge = 0;
    }

    /// Packets in the network, of those below `next`, which is above all that are sacked.
    pub fn pipe(&self, una: u32, next: u32, dupthresh: u32) -> u32 {
        // The edge is the last of the `dupthresh` greatest; below it all that are sacked count.
        let above = if self.edge > una { dupthresh } else { self.sacked.len() };
        let again = una..self.retransmitted.max(una);
        next.saturating_sub(self.edge.max(una)) - above + again.end - again.start - self.sacked.count(again)
    }

    /// The next lost segment to retransmit (NextSeg rule 1).
    pub fn next_lost(&self, una: u32) -> Option<u32> {
        let seq = self.sacked.first_absent(self.retransmitted.max(una));
        (seq < self.edge).then_some(seq)
    }

    /// The next segment that a greater sacked one makes suspect (NextSeg rule 3).
    pub fn next_suspect(&self, una: u32) -> Option<u32> {
        let seq = self.sacked.first_absent(self.retransmitted.max(una));
        (seq < self.top).then_some(seq)
    }

    /// Notes a retransmission.
    pub fn retransmit(&mut self, seq: u32) {
        self.retransmitted = self.retransmitted.max(seq + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn the_counts_are_the_sums_of_the_rfc() {
        let mut rng = Rng::stream(11, "scoreboard", 0);
        for _ in 0..300 {
            let (una, next) = (rng.below(200) as u32, 400);
            let mut board = Scoreboard::default();
            board.begin(una);
            let mut sacked = BTreeSet::new();
            let mut high_rxt = None;
            for _ in 0..40 {
                let first = una + rng.below(200) as u32;
                let block = (first, first + rng.below(9) as u32);
                board.mark(&[block, (0, 0), (0, 0)], una, next, 3);
                sacked.extend((block.0..block.1).filter(|&seq| seq < next));
                let lost = |seq: u32| sacked.range(seq + 1..).count() >= 3;
                let pipe: u32 = (una..next)
                    .filter(|seq| !sacked.contains(seq))
                    .map(|seq| u32::from(!lost(seq)) + u32::from(high_rxt.is_some_and(|high| seq <= high)))
                    .sum();
                assert_eq!(board.pipe(una, next, 3), pipe);
                let candidates = high_rxt.map_or(una, |high| high + 1)..next;
                let unsacked = || candidates.clone().filter(|seq| !sacked.contains(seq));
                let rule1 = unsacked().find(|&seq| lost(seq));
                let rule3 = unsacked().find(|&seq| sacked.range(seq + 1..).next().is_some());
                assert_eq!(board.next_lost(una), rule1);
                assert_eq!(board.next_suspect(una), rule3);
                if let Some(seq) = rule1.or(rule3)
                    && rng.chance(0.5)
                {
                    board.retransmit(seq);
                    high_rxt = Some(seq);
                }
            }
        }
    }
}
