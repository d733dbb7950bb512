// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Occupancy: the time that a queue had each length.

use crate::queue::Backlog;
use crate::units::{Interval, Time};

/// Lengths from here on share the last cell of the distribution; the means are exact all the same.
const LONGEST: usize = 1 << 16;
/// Bins of a reported distribution: as many as a chart can show.
pub(super) const BINS: usize = 512;
/// Bytes of the cells of a queue as long as any.
pub(super) const MOST: usize = LONGEST * size_of::<u64>();

/// A queue's lengths, weighted by the time they lasted inside a window.
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    window: Interval,
    /// The end of the past that is accounted for; never outside the window.
    accounted: Time,
    backlog: Backlog,
    /// Nanoseconds at each length in packets.
    nanos: Vec<u64>,
    /// Packets beyond the last cell, times nanoseconds.
    beyond: u128,
    byte_nanos: u128,
}

impl Occupancy {
    pub(super) fn new(window: Interval) -> Occupancy {
        Occupancy {
            window,
            accounted: window.from,
            backlog: Backlog::default(),
            nanos: vec![0; 64],
            beyond: 0,
            byte_nanos: 0,
        }
    }

    /// The window is this one.
    pub(super) fn end(&mut self, window: Interval) {
        self.window = window;
    }

    /// The backlog changes at `at`.
    #[inline]
    pub(super) fn change(&mut self, at: Time, backlog: Backlog) {
        self.account_until(at);
        self.backlog = backlog;
    }

    /// The backlog since the last change.
    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    fn account_until(&mut self, at: Time) {
        let until = at.min(self.window.to);
        if until <= self.accounted {
            return;
        }
        let nanos = until.0 - self.accounted.0;
        self.accounted = until;
        self.byte_nanos += u128::from(nanos) * u128::from(self.backlog.bytes.0);
        match self.nanos.get_mut(self.backlog.packets as usize) {
            Some(cell) => *cell += nanos,
            None => self.lengthen(nanos),
        }
    }

    #[cold]
    fn lengthen(&mut self, nanos: u64) {
        let length = (self.backlog.packets as usize).min(LONGEST);
        self.nanos.resize((length + 1).next_power_of_two().min(LONGEST + 1).max(self.nanos.len()), 0);
        self.nanos[length] += nanos;
        self.beyond += u128::from(nanos) * (self.backlog.packets as usize - length) as u128;
    }

    /// Accounts for the rest of the window.
    pub(super) fn close(&mut self) {
        self.account_until(self.window.to);
    }

    /// The mean over time, from the cells: whole numbers, so nothing is rounded before the division.
    pub(super) fn mean_packets(&self) -> f64 {
        let at = |(length, nanos): (usize, &u64)| length as u128 * u128::from(*nanos);
        let packet_nanos = self.nanos.iter().enumerate().map(at).sum::<u128>() + self.beyond;
        packet_nanos as f64 / self.window.span().0 as f64
    }

    pub(super) fn mean_bytes(&self) -> f64 {
        self.byte_nanos as f64 / self.window.span().0 as f64
    }

    /// The fraction of the window at each length, up to the greatest length seen, in at most [`BINS`] bins of equal width:
    /// the shortest length of each, and its fraction.
    pub(super) fn distribution(&self) -> Vec<(usize, f64)> {
        let lengths = self.nanos.iter().rposition(|nanos| *nanos > 0).map_or(0, |longest| longest + 1);
        let width = lengths.div_ceil(BINS).next_power_of_two();
        let window = self.window.span().0 as f64;
        let bins = self.nanos[..lengths].chunks(width).enumerate();
        bins.map(|(bin, nanos)| (bin * width, nanos.iter().sum::<u64>() as f64 / window)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn packets(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(1000 * u64::from(packets)) }
    }

    fn window(from: u64, to: u64) -> Interval {
        Interval { from: Time(from), to: Time(to) }
    }

    #[test]
    fn lengths_weigh_by_the_time_they_last() {
        let mut queue = Occupancy::new(window(0, 100));
        queue.change(Time(10), packets(1));
        queue.change(Time(30), packets(2));
        queue.change(Time(80), packets(0));
        queue.close();
        // 10 at 0, 20 at 1, 50 at 2, 20 at 0.
        assert_eq!(queue.mean_packets(), 1.2);
        assert_eq!(queue.mean_bytes(), 1200.0);
        assert_eq!(queue.distribution(), [(0, 0.3), (1, 0.2), (2, 0.5)]);
    }

    #[test]
    fn the_backlog_at_the_edges_of_the_window_is_clipped_to_it() {
        let mut queue = Occupancy::new(window(100, 200));
        queue.change(Time(10), packets(7));
        queue.change(Time(90), packets(4));
        queue.change(Time(125), packets(8));
        queue.change(Time(250), packets(1000));
        queue.close();
        assert_eq!(queue.mean_packets(), 0.25 * 4.0 + 0.75 * 8.0);
        let seen: Vec<_> = queue.distribution().into_iter().filter(|(_, share)| *share > 0.0).collect();
        assert_eq!((seen, queue.distribution().len()), (vec![(4, 0.25), (8, 0.75)], 9));
    }

    #[test]
    fn a_queue_that_never_changes_keeps_its_length_to_the_end() {
        let mut queue = Occupancy::new(window(100, 200));
        queue.change(Time(0), packets(3));
        queue.close();
        assert_eq!(queue.mean_packets(), 3.0);
    }

    #[test]
    fn changes_at_one_instant_weigh_nothing() {
        let mut queue = Occupancy::new(window(0, 100));
        queue.change(Time(50), packets(500));
        queue.change(Time(50), packets(0));
        queue.close();
        assert_eq!((queue.mean_packets(), queue.distribution()), (0.0, vec![(0, 1.0)]));
    }

    #[test]
    fn very_long_queues_share_a_cell_and_keep_their_mean() {
        let mut queue = Occupancy::new(window(0, 100));
        queue.change(Time(0), packets(1_000_000));
        queue.change(Time(50), packets(3_000_000));
        queue.close();
        assert_eq!(queue.mean_packets(), 2_000_000.0);
        assert_eq!(queue.distribution().last(), Some(&(LONGEST, 1.0)));
        assert!(queue.distribution().len() <= BINS);
    }
}
