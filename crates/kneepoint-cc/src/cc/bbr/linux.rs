// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `tcp_bbr` of Linux 6.18 lets into flight beyond the product of rate and delay.
//!
//! ```text
//! Q = packets that the pacing rate sends in 1/1024 s, whole, at most 64 KB, at least 2; 1 below 1.2 Mbit/s
//! target = product + 3 Q, both whole, up to the next even number; 2 more while bandwidth is probed
//! extra  = greatest of (arrived since t0) - (B · time since t0), of the last 5 to 10 rounds
//! t0 is now wherever B expects at least as many as have arrived since
//! ```
//!
//! A packet counts 1448 bytes, the payload of a full one on Ethernet, where Linux counts bytes.

use crate::units::Time;

/// Rates are paced in bursts that last a second over this (`sk_pacing_shift`).
const BURSTS: f64 = 1024.0;
/// 64 KB less the greatest headers, in packets.
const GREATEST_BURST: f64 = 45.0;
/// 1.2 Mbit/s in packets per second.
const SLOW: f64 = 1.2e6 / 8.0 / 1448.0;
/// Rounds that each of the two slots of `extra` lasts.
const SLOT_ROUNDS: u32 = 5;
/// An epoch of so many packets ends.
const LONGEST: f64 = (1 << 20) as f64;

/// Q.
pub fn quantum(pacing: f64) -> f64 {
    libm::floor(pacing / BURSTS).min(GREATEST_BURST).max(if pacing < SLOW { 1.0 } else { 2.0 })
}

/// What hosts need besides `product`.
pub fn target(product: f64, pacing: f64, probes: bool) -> f64 {
    let packets = libm::ceil(product) + 3.0 * quantum(pacing);
    2.0 * libm::ceil(packets / 2.0) + if probes { 2.0 } else { 0.0 }
}

/// How many packets arrive at once, beyond the rate.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    /// t0, and what has arrived since.
    began: Time,
    arrived: f64,
    greatest: [f64; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    /// `newly` packets arrived, while B is `rate` and the window `window`.
    pub fn observe(&mut self, now: Time, newly: f64, rate: f64, window: f64, round: bool) {
        self.rounds += u32::from(round);
        if self.rounds >= SLOT_ROUNDS {
            self.rounds = 0;
            self.slot = 1 - self.slot;
            self.greatest[self.slot] = 0.0;
        }
        let mut expected = libm::floor(rate * now.since(self.began).as_secs_f64());
        if self.arrived <= expected || self.arrived + newly >= LONGEST {
            *self = Aggregation { began: now, arrived: 0.0, ..self.clone() };
            expected = 0.0;
        }
        self.arrived += newly;
        let greatest = &mut self.greatest[self.slot];
        *greatest = greatest.max((self.arrived - expected).min(window));
    }

    /// extra.
    pub fn extra(&self) -> f64 {
        self.greatest[0].max(self.greatest[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn a_millisecond_of_packets_is_handled_as_one_between_two_and_64_kilobytes() {
        // 1 Mbit/s, 2, 20, 100 Mbit/s, and 1 Gbit/s of packets of 1448 bytes.
        let packets = |bits: f64| bits / 8.0 / 1448.0;
        assert_eq!(
            [1e6, 2e6, 20e6, 100e6, 1e9].map(|bits| quantum(packets(bits))),
            [1.0, 2.0, 2.0, 8.0, 45.0]
        );
    }

    #[test]
    fn a_target_is_even_and_two_more_while_bandwidth_is_probed() {
        // 66.7 packets and three times two.
        assert_eq!((target(66.7, 1726.0, false), target(66.7, 1726.0, true)), (74.0, 76.0));
        assert_eq!((target(66.0, 1726.0, false), target(67.0, 1726.0, false)), (72.0, 74.0));
    }

    #[test]
    fn what_arrives_at_once_is_extra_for_five_rounds_at_least_and_ten_at_most() {
        let mut aggregation = Aggregation::default();
        let mut at = |millis, newly, round| {
            let now = Span::from_millis(millis).after_start();
            aggregation.observe(now, newly, 1000.0, 500.0, round);
            aggregation.extra()
        };
        // One a millisecond is what B expects.
        assert!((1..100).all(|millis| at(millis, 1.0, false) == 1.0));
        // Nothing for 19 ms, then 20 at once: they begin an epoch.
        assert_eq!(at(119, 20.0, false), 20.0);
        // Ten more after 4 ms, of which B expects four.
        assert_eq!(at(123, 10.0, false), 26.0);
        assert!((1..10).all(|round| at(1_000 + round, 1.0, true) == 26.0));
        assert!(at(2_000, 1.0, true) <= 2.0);
    }

    #[test]
    fn no_more_is_extra_than_the_window() {
        let mut aggregation = Aggregation::default();
        aggregation.observe(Span::from_secs(1).after_start(), 90.0, 1000.0, 30.0, false);
        assert_eq!(aggregation.extra(), 30.0);
    }
}
