// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fallback: whether the queue that marks is a classic one, which expects a reduction as after a loss.
//!
//! B. Briscoe, A. S. Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM", arXiv:1911.00710, 2019, with the constants of Prague's
//! reference implementation for Linux.
//!
//! ```text
//! s <- s + g (r - s);  v <- v + g/2 (|r - s| - v)          every round trip r; g = 2^-(k + k/2 + 1) at most 18 bits, k = lg S, whole
//! c <- c + ½ lg(v / 750 µs) + ½ lg(max((s - P) / 2 ms, 1)) every change of alpha; from 0 to 17
//! c > 8:  a mark takes max(alpha, 5/8 min(c - 8, 1)) / 2
//! ```
//!
//! `S` slow-start threshold before a reduction; `P` least round trip. The delay behind a classic queue varies more, and is longer. Readings:
//! logarithms are real numbers, where the implementation carries the rest of a whole one; v is 1 µs at least, as there.

use super::super::delay::Delay;
use crate::units::Span;

/// The least deviation.
const LEAST_MS: f64 = 0.001;
/// The deviation of the round-trip time above which the queue looks classic.
const DEVIATION_MS: f64 = 0.75;
/// The queueing delay above which it does.
const DEPTH_MS: f64 = 2.0;
/// The weight of a doubling of either.
const DOUBLING: f64 = 0.5;
/// The score above which a queue is no longer purely one of L4S; one more is a classic queue.
const CHANGES: f64 = 8.0;
/// The greatest score.
const MOST: f64 = 17.0;
/// The fraction of marked packets that stands for a classic queue.
const STANDS: f64 = 0.625;
/// The longest average in bits.
const LONGEST: u32 = 18;

/// The detection.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    /// s and P.
    rtt: Delay,
    /// v, in milliseconds.
    deviation: f64,
    /// g.
    weight: f64,
    /// c.
    score: f64,
}

impl Fallback {
    /// At the start the queue is one of L4S.
    pub(super) fn new() -> Fallback {
        Fallback { rtt: Delay::new(0.0), deviation: LEAST_MS, weight: weight(f64::INFINITY), score: 0.0 }
    }

    /// Takes in a round-trip time.
    #[inline]
    pub(super) fn observe(&mut self, rtt: Span) {
        let error = match self.rtt.least() {
            Some(_) => rtt.as_millis_f64() - self.rtt.smoothed().as_millis_f64(),
            None => 0.0,
        };
        self.rtt.observe_with(rtt, self.weight);
        self.deviation += self.weight / 2.0 * (error.abs() - self.deviation);
    }

    /// A window of data is over.
    pub(super) fn judge(&mut self) {
        let depth = self.rtt.queueing().as_millis_f64();
        let varies = libm::log2(self.deviation.max(LEAST_MS) / DEVIATION_MS);
        let queues = libm::log2((depth / DEPTH_MS).max(1.0));
        self.score = (self.score + DOUBLING * (varies + queues)).clamp(0.0, MOST);
    }

    /// The window is reduced from this threshold.
    pub(super) fn reduced(&mut self, ssthresh: f64) {
        self.weight = weight(ssthresh);
    }

    /// The fraction of marked packets to answer where `alpha` were marked.
    pub(super) fn answered(&self, alpha: f64) -> f64 {
        alpha.max(STANDS * (self.score - CHANGES).clamp(0.0, 1.0))
    }

    /// c.
    pub(super) fn score(&self) -> f64 {
        self.score
    }
}

/// The weight of a round-trip time after a reduction from this threshold.
fn weight(ssthresh: f64) -> f64 {
    let bits = libm::log2(ssthresh.clamp(1.0, 4e9)) as u32;
    libm::exp2(-f64::from((bits + bits / 2 + 1).min(LONGEST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_last_longer_than_the_cycle_of_a_window() {
        // lg 16 = 4: 4 + 2 + 1 bits; lg 100 = 6: 6 + 3 + 1.
        assert_eq!([16.0, 100.0, f64::INFINITY].map(weight), [1.0 / 128.0, 1.0 / 1024.0, 1.0 / 262_144.0]);
    }

    /// The change of the score by a window with this deviation and queueing delay.
    fn change(deviation: f64, depth: Span) -> f64 {
        let mut fallback = Fallback { deviation, score: 5.0, ..Fallback::new() };
        fallback.rtt.observe(Span::from_millis(20));
        fallback.rtt.settle(depth);
        fallback.judge();
        fallback.score - 5.0
    }

    #[test]
    fn deviation_and_depth_move_the_score_by_half_of_their_logarithms() {
        // Four times 750 µs and four times 2 ms; a quarter of 750 µs; depth never lowers it.
        assert_eq!(change(3.0, Span::from_millis(8)), 2.0);
        assert_eq!(change(0.1875, Span::from_micros(100)), -1.0);
        assert_eq!(change(0.75, Span::from_millis(2)), 0.0);
        // A microsecond at least: lg(1 / 750) = -9.55, and no score below zero.
        assert!((change(0.0, Span::ZERO) + 4.775_373).abs() < 1e-6);
    }

    #[test]
    fn a_mark_of_a_classic_queue_takes_five_sixteenths() {
        let answered = |score, alpha| Fallback { score, ..Fallback::new() }.answered(alpha);
        assert_eq!(
            [answered(8.0, 0.1), answered(8.8, 0.1), answered(9.0, 0.1), answered(17.0, 0.1)]
                .map(|fraction| (fraction * 1e6_f64).round() / 1e6),
            [0.1, 0.5, 0.625, 0.625]
        );
        assert_eq!(answered(17.0, 0.9), 0.9);
    }

    #[test]
    fn the_deviation_follows_the_distance_from_the_average() {
        let mut fallback = Fallback { weight: 0.5, ..Fallback::new() };
        fallback.observe(Span::from_millis(20));
        assert_eq!(fallback.deviation, 0.00075);
        // 4 ms away: a quarter of it, and the average goes half of the way.
        fallback.observe(Span::from_millis(24));
        assert_eq!(fallback.deviation, 0.00075 + (4.0 - 0.00075) / 4.0);
        assert_eq!(fallback.rtt.smoothed(), Span::from_millis(22));
    }
}
