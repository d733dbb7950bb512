// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Position: the backlog that accepted packets of a group found, over the limit of the queue.
//!
//! ```text
//! entropy   -Σ p·ln p / ln 20 over twentieths of the buffer   [0, 1]
//! ```

use crate::metric::{Entry, PERCENT, number};

/// Parts of the buffer in a reported distribution of positions.
const BINS: usize = 20;
/// The number of parts of the buffer in which positions are counted, so that the median is known to a thousandth.
const CELLS: usize = 1000;
/// Bytes of the cells.
pub(super) const BYTES: usize = CELLS * size_of::<u64>();

/// The queues that packets found.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    sum: u128,
    cells: Vec<u64>,
}

impl Positions {
    pub(super) fn new() -> Positions {
        Positions { sum: 0, cells: Vec::new() }
    }

    #[inline]
    pub(super) fn count(&mut self, waiting: u64, limit: u64) {
        // With many groups and links, most groups cross few of the links.
        if self.cells.is_empty() {
            self.cells = vec![0; CELLS];
        }
        self.sum += u128::from(waiting);
        // A packet is accepted only where there is room, and a limit of zero has none.
        let cell = (waiting * CELLS as u64 / limit.max(1)) as usize;
        self.cells[cell.min(CELLS - 1)] += 1;
    }

    pub(super) fn finish(&self, limit: f64) -> Position {
        let count: u64 = self.cells.iter().sum();
        if count == 0 {
            return Position::UNKNOWN;
        }
        let bins =
            self.cells.chunks(CELLS / BINS).map(|cells| cells.iter().sum::<u64>() as f64 / count as f64);
        let shares: Vec<f64> = bins.collect();
        let mut seen = 0;
        let median = self.cells.iter().position(|cell| {
            seen += cell;
            2 * seen >= count
        });
        let surprise: f64 =
            shares.iter().filter(|share| **share > 0.0).map(|share| -share * libm::log(*share)).sum();
        Position {
            mean: self.sum as f64 / (count as f64 * limit),
            median: median.map_or(f64::NAN, |cell| cell as f64 / CELLS as f64),
            entropy: surprise / libm::log(BINS as f64),
            shares,
        }
    }
}

/// The queue that accepted packets of a group found, over its limit. NaN without an accepted packet, or without a limit.
#[derive(Clone, Debug)]
pub(super) struct Position {
    /// Exact.
    pub(super) mean: f64,
    /// Down to a thousandth.
    pub(super) median: f64,
    pub(super) entropy: f64,
    /// The fraction of the packets in each twentieth of the buffer, from its front; empty where it is unknown.
    pub(super) shares: Vec<f64>,
}

impl Position {
    pub(super) const UNKNOWN: Position =
        Position { mean: f64::NAN, median: f64::NAN, entropy: f64::NAN, shares: Vec::new() };
}

/// The metrics of a position; its label is the middle of a twentieth of the buffer.
pub(super) const POSITIONS: &[Entry<f64>] = &[number(
    "queue_position_share",
    "Fraction of the group's packets at this position",
    "of packets",
    PERCENT,
    |share| *share,
)];
