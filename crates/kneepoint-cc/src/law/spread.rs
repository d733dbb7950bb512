// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Even spacing of drops: a probability made uniform over the arrivals since the last drop or mark.
//!
//! S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4) 1993, §7; `wait` as in ns-2.35.
//!
//! ```text
//! p_a = p_b / (1 - count p_b)                     1 from count p_b >= 1
//!       0, p_b / (2 - count p_b), 1               with wait: count p_b < 1, < 2, >= 2
//! times the packet's size over the mean size, where the queue is measured in bytes; at most 1
//! ```
//!
//! `p_b` the law's probability, `count` arrivals since the last drop or mark.

use super::Adjustment;

/// The arrivals since the last drop or mark, and the packet that is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Spare packets until 1/p have passed.
    pub wait: bool,
    /// Packets since the last drop or mark, with the one that is judged.
    pub count: f64,
    /// The size of the packet that is judged; 1 where sizes do not matter.
    pub size: f64,
    /// The mean size of packets in the same unit; 1 where sizes do not matter.
    pub mean_size: f64,
}

impl Adjustment for Spread {
    #[inline]
    fn adjust(&self, probability: f64) -> f64 {
        let passed = self.count * probability;
        let spread = match (self.wait, passed) {
            (true, passed) if passed < 1.0 => 0.0,
            (true, passed) if passed < 2.0 => probability / (2.0 - passed),
            (false, passed) if passed < 1.0 => probability / (1.0 - passed),
            _ => return 1.0,
        };
        (spread * self.size / self.mean_size).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_uniform_over_the_arrivals_since_the_last_drop() {
        let at = |wait, count| Spread { wait, count, size: 1.0, mean_size: 1.0 }.adjust(0.02);
        assert_eq!([at(false, 0.0), at(false, 25.0), at(false, 50.0)], [0.02, 0.04, 1.0]);
        assert_eq!([at(true, 49.0), at(true, 50.0), at(true, 75.0), at(true, 100.0)], [0.0, 0.02, 0.04, 1.0]);
        // A packet of a quarter of the mean size has a quarter of the chance.
        let small = Spread { wait: false, count: 25.0, size: 260.0, mean_size: 1040.0 };
        assert!((small.adjust(0.02) - 0.01).abs() < 1e-15);
    }
}
