// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SEARCH: slow start ends when deliveries no longer double from one round trip to the next.
//!
//! J. Chung, M. Kachooei, F. Li, M. Claypool, "SEARCH -- a New Slow Start Algorithm for TCP and QUIC", draft-chung-ccwg-search, 2024 (SEARCH 3.0); M. A.
//! Kachooei et al., "Improving TCP Slow Start Performance in Wireless Networks with SEARCH", IEEE WoWMoM 2024.
//!
//! ```text
//! a bin lasts 3.5 R / 10, where R is the first RTT; at the end of each:
//! now    = packets delivered in the last 10 bins
//! before = packets delivered in the 10 bins that ended one RTT ago
//! (2 before - now) / (2 before) >= 0.35  ->  S = W
//! ```
//!
//! `W` window, `S` threshold. Where the path takes everything, `now` is twice `before`; long after it is full, they are equal, and the fraction is a
//! half. An RTT that is not a multiple of a bin ends between two bins, which count in proportion.
//!
//! Readings: the RTT is the sample of the acknowledgement that ends a bin. Slow start ends with the window that it has: the draft also takes off what
//! was delivered in the last two round trips, an option of the authors' module for Linux. This applies only to the first slow start: after a timeout
//! the threshold is known. The RTT includes the queue, as in the draft's pseudocode; its two round trips from capacity to the end are without. Before
//! an endless buffer the window is 6.3 times what fits when slow start ends, which a test derives.

use super::super::Ack;
use crate::units::{Span, Time};

/// WINDOW_SIZE / W, in hundredths of the initial RTT: 3.5 / 10.
const BIN_PERCENT: u64 = 35;
/// W, the bins of a window.
const WINDOW: u64 = 10;
/// EXTRA_BINS, and thereby the longest RTT in bins.
const EXTRA: u64 = 15;
/// The totals that are kept: at the ends of NUM_BINS bins, before the first, and before that for an RTT that ends between two.
const KEPT: usize = (WINDOW + EXTRA) as usize + 2;
/// THRESH.
const THRESHOLD: f64 = 0.35;

/// The state of SEARCH.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// The length of a bin, once there was a round trip.
    bin: Span,
    /// The end of the present one.
    end: Time,
    /// Bins that have ended.
    ended: u64,
    /// Packets delivered in all at the ends of the last bins.
    totals: [u64; KEPT],
    retired: bool,
}

impl Search {
    /// Takes in an acknowledgement. Whether the path counts as full.
    pub fn full(&mut self, ack: &Ack) -> bool {
        let (Some(rtt), false) = (ack.rtt, self.retired) else { return false };
        if self.bin == Span::ZERO {
            self.begin(rtt, ack.now);
        }
        if ack.now <= self.end {
            return false;
        }
        let passed = ack.now.since(self.end).0 / self.bin.0 + 1;
        self.end += Span(self.bin.0.saturating_mul(passed));
        // Bins without arrivals are empty; of more than all none differs.
        let last = self.total(self.ended);
        (1..passed.min(KEPT as u64)).for_each(|_| self.push(last));
        self.push(ack.delivered);
        self.short(rtt).is_some_and(|short| short >= THRESHOLD)
    }

    fn begin(&mut self, rtt: Span, now: Time) {
        self.bin = Span((rtt.0 / 100 * BIN_PERCENT).max(1));
        self.end = now + self.bin;
    }

    fn push(&mut self, total: u64) {
        self.ended += 1;
        self.totals[self.ended as usize % KEPT] = total;
    }

    fn total(&self, end: u64) -> u64 {
        self.totals[end as usize % KEPT]
    }

    /// The part of twice what was delivered one round trip ago that is missing now; none where too little is known.
    fn short(&self, rtt: Span) -> Option<f64> {
        let (trip, rest) = (rtt.0 / self.bin.0, (rtt.0 % self.bin.0) as f64 / self.bin.0 as f64);
        let before = self.ended.checked_sub(trip).filter(|before| *before > WINDOW && trip <= EXTRA)?;
        let delivered = |end: u64| (self.total(end) - self.total(end - WINDOW)) as f64;
        let doubled = 2.0 * ((1.0 - rest) * delivered(before) + rest * delivered(before - 1));
        (doubled > 0.0).then(|| (doubled - delivered(self.ended)) / doubled)
    }

    /// Later slow starts only double.
    pub fn retire(&mut self) {
        self.retired = true;
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::VecDeque;
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::super::tests::Trace;
    use super::super::SlowStart;
    use super::super::tests::Bare;
    use super::*;

    fn over(trace: &Trace<Bare>) -> bool {
        !trace.controller.0.slow_start()
    }

    /// A bottleneck on a path of 40 ms from which packets leave `gap` apart, until slow start is over; returns the window then.
    fn filled(gap: Span) -> f64 {
        let mut trace = Bare::trace(SlowStart::Search, 10.0);
        let path = Span::from_millis(40);
        // The sending times of the packets in flight, and the time at which the bottleneck is free.
        let mut sent = VecDeque::from(vec![Time::ZERO; trace.window() as usize]);
        let mut free = Time::ZERO;
        while !over(&trace) {
            let first = sent.pop_front().expect("a packet on its way");
            let leaves = free.max(first) + gap;
            let arrives = leaves + path.saturating_sub(gap);
            free = leaves;
            trace.rtt = arrives.since(first);
            trace.ack(arrives.since(trace.now));
            while sent.len() < trace.window() as usize {
                sent.push_back(trace.now);
            }
        }
        trace.window()
    }

    #[test]
    fn a_path_that_takes_all_is_never_full() {
        let mut trace = Bare::trace(SlowStart::Search, 2.0);
        trace.rtt = Span::from_millis(40);
        for doubled in 2..16 {
            assert_eq!(trace.round_trip(), f64::from(1 << doubled));
        }
        assert!(!over(&trace));
    }

    #[test]
    fn before_an_endless_buffer_it_ends_where_the_fluid_says() {
        // In round trips R without a queue, since the path is full: deliveries are 2^t before and 1 after; the RTT is 1 + t / 2, so that the windows
        // of 3.5 end at t and at x = t / 2 - 1. `before` is x + (1 - 2^(x - 3.5)) / ln 2, `now` is 3.5, and the window 1 + t of what fits.
        let before = |x: f64| x + (1.0 - libm::exp2(x - 3.5)) / core::f64::consts::LN_2;
        let x = (0..3500)
            .map(|place| f64::from(place) / 1000.0)
            .find(|x| 1.0 - 3.5 / (2.0 * before(*x)) >= THRESHOLD);
        let fluid = 1.0 + 2.0 * (x.expect("an end") + 1.0);
        for micros in [10, 20, 40] {
            let (window, capacity) = (filled(Span::from_micros(micros)), 40_000.0 / micros as f64);
            // A bin, 0.35 of a round trip, must end.
            let late = window / capacity - fluid;
            assert!((-0.1..0.7).contains(&late), "{window} of {capacity}, {fluid} times in theory");
        }
    }

    /// A round trip of this many bins after packets were delivered in bins.
    fn judged(bins: &[u64], trip: f64) -> Option<f64> {
        let mut search = Search { bin: Span(1000), ..Search::default() };
        let mut total = 0;
        for delivered in bins {
            total += delivered;
            search.push(total);
        }
        search.short(Span((trip * 1000.0) as u64))
    }

    #[test]
    fn the_examples_of_the_draft_have_its_numbers() {
        // A round trip of two bins, of which each delivers half: 1, 2, 4, …, and windows of five round trips instead of its four.
        let doubling: Vec<u64> = (0..16).map(|bin| 8 << (bin / 2)).collect();
        assert_eq!(judged(&doubling, 2.0), Some(0.0));
        // At capacity for a round trip: 1 + 2 + 4 + 8 + 16 before, 2 + 4 + 8 + 16 + 16 now.
        let full = [&[0], &doubling[..10], &[128, 128]].concat();
        assert_eq!(judged(&full, 2.0), Some((62.0 - 46.0) / 62.0));
        // Long after.
        assert_eq!(judged(&[5; 30], 2.0), Some(0.5));
    }

    #[test]
    fn a_round_trip_of_half_a_bin_more_is_between_two_bins() {
        let bins: Vec<u64> = (0..20).map(|bin| 1 << bin).collect();
        let sum = |end: usize| bins[end - 10..end].iter().sum::<u64>() as f64;
        let doubled = sum(16) + sum(15);
        assert_eq!(judged(&bins, 4.5), Some((doubled - sum(20)) / doubled));
    }

    #[test]
    fn nothing_is_known_before_eleven_bins_and_a_round_trip_nor_beyond_fifteen() {
        assert_eq!((judged(&[1; 14], 4.0), judged(&[1; 15], 4.0)), (None, Some(0.5)));
        assert_eq!((judged(&[1; 40], 15.9), judged(&[1; 40], 16.0)), (Some(0.5), None));
    }

    #[test]
    fn a_slow_start_after_a_timeout_doubles() {
        let mut trace = Bare::trace(SlowStart::Search, 10.0);
        trace.rtt = Span::from_millis(40);
        for _ in 0..6 {
            trace.round_trip();
        }
        trace.timeout();
        // Deliveries of a packet each millisecond would end the first.
        for _ in 0..400 {
            let (before, threshold) = (trace.window(), trace.controller.0.ssthresh);
            trace.ack(Span::from_millis(1));
            assert!(trace.controller.0.ssthresh == threshold && trace.window() >= before);
        }
        assert!(over(&trace));
    }
}
