// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Crossing: a group at one of several measured links.
//!
//! ```text
//! share         bytes of the group that the link served / all bytes that it served
//! throughput    bits of the group that the link served / the length of the window
//! drop ratio    packets of it that the link's queue dropped / packets of it that arrived there
//! ```
//!
//! A group crosses the links at which packets of it arrived inside the window, data and acknowledgements alike. With
//! a single measured link, the rows of groups contain all of this.

use super::mixture::Share;
use crate::metric::{Entry, MBIT, PERCENT, PLAIN, number, times};

/// The measured links that data crossed, by their rank in the order of declaration; the 64th represents all further ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Crossed(u64);

impl Crossed {
    /// The first measured link, whose metrics are also the run's.
    pub(super) const BOTTLENECK: u32 = 0;

    #[inline]
    pub(super) fn add(&mut self, rank: u32) {
        self.0 |= 1 << rank.min(u64::BITS - 1);
    }

    pub(super) fn join(&mut self, other: Crossed) {
        self.0 |= other.0;
    }

    pub(super) fn has(self, rank: u32) -> bool {
        self.0 >> rank & 1 == 1
    }
}

/// The metrics of a group at a link.
pub(super) const METRICS: &[Entry<Share>] = &[
    number("share", "Share of the link's bytes", "share", PERCENT, |share: &Share| share.share),
    number(
        "throughput_bps",
        "Bits of the group that the link served",
        "throughput",
        MBIT,
        |share: &Share| share.throughput_bps(),
    ),
    number("drop_ratio", "Packets of the group dropped", "dropped", PERCENT, Share::drop_ratio),
    number("drops", "Packets of the group that the queue dropped", "drops", PLAIN, |share: &Share| {
        share.drops as f64
    })
    .detail(),
    times("queueing_delay", "Queueing delay of the group's packets", "queueing", |share: &Share| {
        &share.waited
    }),
    number("arrivals", "Packets of the group that arrived", "arrived", PLAIN, |share: &Share| {
        share.arrivals as f64
    })
    .detail(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_beyond_the_64th_count_as_it() {
        let mut crossed = Crossed::default();
        crossed.add(3);
        crossed.add(200);
        assert!(crossed.has(3) && crossed.has(63) && !crossed.has(Crossed::BOTTLENECK));
        let mut other = Crossed::default();
        other.join(crossed);
        assert_eq!(other, crossed);
    }
}
