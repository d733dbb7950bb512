// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sync-TCP: predicts congestion when one-way queueing delay grows and exceeds a quarter of its maximum.
//!
//! M. Weigle, K. Jeffay, F. D. Smith, "Delay-Based Early Congestion Detection and Adaptation in TCP", Computer Communications 28(8) 2005.
//!
//! ```text
//! every acknowledgement:
//!   d = OTT - OTT_min      s <- 7/8 s + 1/8 d;  the first sample sets s
//!   the last nine s in three groups of three, with medians m1, m2, m3:      growing:  m3 > m1
//! high:  growing and s > 0.25 d_max
//! ```
//!
//! `OTT` one-way transit time, `s` average queueing delay. Sync-TCP distinguishes four levels, at 25, 50 and 75 % of the
//! maximum delay; while the delay grows it reduces its window in all but the lowest, which counts as a prediction here.
//!
//! From memory, except for the idea: the weight of 1/8, nine samples in three groups, the levels and their reactions.
//! Readings: most of the three comparisons of medians show growth exactly if m3 > m1; the nine samples slide with each
//! ACK. Departure: without one-way delays, the round-trip time replaces them and includes the return path.

use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// Sync-TCP's parameters as a predictor.
    pub struct Params {
        /// Weight of the history in the average queueing delay.
        history: f64 = 0.875, 0.0..=0.9999;
        /// Fraction of the maximum queueing delay up to which growing delay is acceptable.
        share: f64 = 0.25, 0.0..=1.0;
    }
}

/// Averages in the trend, three per median.
const TREND: usize = 9;

/// State of Sync-TCP.
#[derive(Clone, Debug)]
pub struct SyncTcp {
    params: Params,
    least: Span,
    greatest: Span,
    /// Smoothed transit time in nanoseconds; its excess over the minimum is queueing delay.
    smoothed: Option<f64>,
    /// The last averages; sample k, from zero, is at index k modulo nine.
    recent: [f64; TREND],
    count: usize,
}

impl SyncTcp {
    fn growing(&self) -> bool {
        if self.count < TREND {
            return false;
        }
        let oldest = self.count % TREND;
        let one = |place: usize| self.recent[(oldest + place) % TREND];
        median(one(6), one(7), one(8)) > median(one(0), one(1), one(2))
    }
}

#[inline]
fn median(a: f64, b: f64, c: f64) -> f64 {
    a.min(b).max(a.max(b).min(c))
}

impl Predictor for SyncTcp {
    type Params = Params;

    fn new(params: Params) -> SyncTcp {
        SyncTcp {
            params,
            least: Span::MAX,
            greatest: Span::ZERO,
            smoothed: None,
            recent: [0.0; TREND],
            count: 0,
        }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        let transit = sample.one_way.unwrap_or(sample.rtt);
        self.least = self.least.min(transit);
        self.greatest = self.greatest.max(transit);
        let smoothed = self.smoothed.get_or_insert(transit.0 as f64);
        *smoothed += (1.0 - self.params.history) * (transit.0 as f64 - *smoothed);
        let smoothed = *smoothed;
        self.recent[self.count % TREND] = smoothed;
        self.count += 1;
        let queueing = smoothed - self.least.0 as f64;
        let most = self.greatest.saturating_sub(self.least).0 as f64;
        Congestion::high(self.growing() && queueing > self.params.share * most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;
    use crate::units::Time;

    #[test]
    fn a_median_is_the_one_in_the_middle() {
        for [a, b, c] in [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [2.0, 2.0, 9.0]] {
            assert_eq!(median(a, b, c), 2.0);
        }
    }

    #[test]
    fn delay_that_grows_is_high_from_the_ninth_sample_and_delay_that_shrinks_is_not() {
        let plain = || Params { history: 0.0, ..Params::default() };
        let up: Vec<f64> = (0..12).map(|step| 60.0 + f64::from(step)).collect();
        let said = trips::<SyncTcp>(plain(), &up);
        assert_eq!((&said[..8], &said[8..]), (&[Low; 8][..], &[High; 4][..]));
        let down: Vec<f64> = up.iter().rev().copied().collect();
        assert_eq!(trips::<SyncTcp>(plain(), &down), [Low; 12]);
    }

    #[test]
    fn growth_below_a_quarter_of_the_greatest_delay_is_harmless() {
        // 100 ms once; then 60 to 68 ms, and 8 < 40 / 4 < 11.
        let mut millis = vec![100.0];
        millis.extend((0..12).map(|step| 60.0 + f64::from(step)));
        let said = trips::<SyncTcp>(Params { history: 0.0, ..Params::default() }, &millis);
        assert_eq!((&said[..12], said[12]), (&[Low; 12][..], High));
    }

    #[test]
    fn one_way_times_count_where_they_are_known() {
        let mut predictor = SyncTcp::new(Params { history: 0.0, ..Params::default() });
        let mut said = Low;
        for step in 0..20 {
            // The round-trip time falls, the one-way delay does not.
            let (rtt, one_way) = (Span::from_millis(100 - step), Some(Span::from_millis(30 + step)));
            said = predictor.observe(&Sample { now: Time(step), rtt, window: 1.0, one_way, acked: 1 });
        }
        assert_eq!(said, High);
    }
}
