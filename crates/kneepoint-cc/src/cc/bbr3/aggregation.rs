// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Aggregation: the surplus of packets that arrive at once over the rate, because acknowledgements come in batches.
//!
//! draft-ietf-ccwg-bbr-06 §5.5.9: `extra_acked`.

use crate::units::Time;

/// Rounds over which the greatest surplus counts, once the pipe was full.
const ROUNDS: usize = 10;

/// The surplus of an episode of arrivals, and the greatest of each of the last rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// The beginning of the episode, and the packets that arrived in it.
    since: Time,
    arrived: f64,
    /// The greatest surplus of a round, at the place of its number modulo the length.
    greatest: [(u64, f64); ROUNDS],
}

impl Aggregation {
    pub fn new() -> Aggregation {
        Aggregation { since: Time::ZERO, arrived: 0.0, greatest: [(0, 0.0); ROUNDS] }
    }

    /// No arrivals were expected until now.
    pub fn begin(&mut self, now: Time) {
        self.since = now;
    }

    /// This many packets arrived where `rate` a second are expected; the surplus is limited to the window.
    pub fn learn(&mut self, now: Time, newly: f64, rate: f64, window: f64, round: u64) {
        let mut expected = rate * now.since(self.since).as_secs_f64();
        if self.arrived <= expected {
            (self.arrived, self.since, expected) = (0.0, now, 0.0);
        }
        self.arrived += newly;
        let surplus = (self.arrived - expected).min(window);
        let slot = &mut self.greatest[round as usize % ROUNDS];
        *slot = if slot.0 == round { (round, slot.1.max(surplus)) } else { (round, surplus) };
    }

    /// The greatest surplus of the last ten rounds, or of this one until the pipe was full.
    pub fn surplus(&self, round: u64, filled: bool) -> f64 {
        let rounds = if filled { ROUNDS as u64 } else { 1 };
        let recent = self.greatest.iter().filter(|(at, _)| at + rounds > round);
        recent.map(|(_, surplus)| *surplus).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// 1000 packets a second whose acknowledgements come 20 at a time, every 20 ms: each batch exceeds expectations by 20 at its
    /// beginning, which the following interval makes up for.
    #[test]
    fn bunches_of_twenty_are_a_surplus_of_twenty_for_ten_rounds() {
        let mut seen = Aggregation::new();
        for bunch in 1..=5_u64 {
            seen.learn(Span::from_millis(20 * bunch).after_start(), 20.0, 1000.0, 200.0, bunch);
            assert_eq!(seen.surplus(bunch, true), 20.0);
        }
        assert_eq!((seen.surplus(14, true), seen.surplus(15, true)), (20.0, 0.0));
        assert_eq!((seen.surplus(5, false), seen.surplus(6, false)), (20.0, 0.0));
    }

    #[test]
    fn two_bunches_at_once_are_a_surplus_of_both_but_of_no_more_than_the_window() {
        let at = |millis| Span::from_millis(millis).after_start();
        let mut seen = Aggregation::new();
        seen.learn(at(20), 20.0, 1000.0, 200.0, 0);
        // 5 ms later 5 packets were expected and 20 came: 20 + 20 - 5.
        seen.learn(at(25), 20.0, 1000.0, 200.0, 0);
        assert_eq!(seen.surplus(0, true), 35.0);
        seen.learn(at(25), 200.0, 1000.0, 100.0, 0);
        assert_eq!(seen.surplus(0, true), 100.0);
    }

    #[test]
    fn time_without_data_is_no_time_in_which_packets_were_expected() {
        let mut seen = Aggregation::new();
        seen.begin(Span::from_secs(5).after_start());
        seen.learn(Span::from_millis(5_010).after_start(), 1.0, 1000.0, 50.0, 3);
        assert_eq!(seen.surplus(3, true), 1.0);
    }
}
