// SPDX-License-Identifier: Apache-2.0 OR MIT
//! State machine of a flow observed by a predictor, with the counts of its transitions.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.2 and §2.3, Figure 1.
//!
//! ```text
//! A low delay    B high delay    C packet loss
//! 1 A -> B    2 B -> C    3 C -> A    4 A -> C    5 B -> A    6 C -> B
//!
//! efficiency = n2 / (n2 + n5)    false positives = n5 / (n2 + n5)    false negatives = n4 / (n2 + n4)
//! ```
//!
//! Efficiency and false positives add up to one. A ratio of zero to zero is NaN.
//!
//! Readings: the paper numbers transitions 2, 4 and 5; the other numbers are ours. Samples and drops are processed in order
//! of time, a sample before a drop of the same instant: with the sender at the queue, a packet released by an ACK is
//! dropped in the same instant. Drops come in bursts, so further drops in state C belong to the same episode, and C
//! ends with the first sample later than one round-trip time (its own) after the last of them (`hold_off` round
//! trips). Samples are not shifted in time: an end host sees only received packets.

use super::Congestion;
use crate::units::{Span, Time};

/// State of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Low,
    High,
    /// Since the latest drop.
    Loss(Time),
}

/// The transitions of a flow under one judge.
#[derive(Clone, Debug)]
pub struct Machine {
    hold_off: f64,
    phase: Phase,
    counts: [u64; 6],
}

impl Machine {
    /// Starts in state A; loss episodes end `hold_off` round trips after their last drop.
    pub fn new(hold_off: f64) -> Machine {
        Machine { hold_off, phase: Phase::Low, counts: [0; 6] }
    }

    /// Processes an answer of the predictor; returns whether it completes a false positive, transition 5.
    #[inline]
    pub fn hear(&mut self, now: Time, rtt: Span, state: Congestion) -> bool {
        let (next, transition) = match (self.phase, state) {
            (Phase::Low, Congestion::High) => (Phase::High, 1),
            (Phase::High, Congestion::Low) => (Phase::Low, 5),
            (Phase::Loss(last), _) if now.since(last).0 as f64 <= self.hold_off * rtt.0 as f64 => {
                return false;
            }
            (Phase::Loss(_), Congestion::Low) => (Phase::Low, 3),
            (Phase::Loss(_), Congestion::High) => (Phase::High, 6),
            (Phase::Low, Congestion::Low) | (Phase::High, Congestion::High) => return false,
        };
        self.phase = next;
        self.counts[transition - 1] += 1;
        transition == 5
    }

    /// Processes a drop.
    #[inline]
    pub fn lose(&mut self, at: Time) {
        match self.phase {
            Phase::Low => self.counts[3] += 1,
            Phase::High => self.counts[1] += 1,
            Phase::Loss(_) => {}
        }
        self.phase = Phase::Loss(at);
    }

    /// Resets the counts, but not the state.
    pub fn forget(&mut self) {
        self.counts = [0; 6];
    }

    /// Counts of the transitions 1 to 6.
    pub fn counts(&self) -> [u64; 6] {
        self.counts
    }
}

/// `part / (part + rest)`; NaN if both are zero.
pub(super) fn share(part: u64, rest: u64) -> f64 {
    part as f64 / (part + rest) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use Congestion::{High, Low};

    const RTT: Span = Span(100);

    fn heard(machine: &mut Machine, says: &[(u64, Congestion)]) -> Vec<bool> {
        says.iter().map(|(at, state)| machine.hear(Time(*at), RTT, *state)).collect()
    }

    #[test]
    fn each_transition_is_counted_under_its_number() {
        let mut machine = Machine::new(1.0);
        let false_positives = heard(&mut machine, &[(0, Low), (10, High), (20, High), (30, Low), (40, High)]);
        assert_eq!(false_positives, [false, false, false, true, false]);
        machine.lose(Time(50));
        heard(&mut machine, &[(151, Low)]);
        machine.lose(Time(200));
        heard(&mut machine, &[(301, High)]);
        assert_eq!(machine.counts(), [2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_burst_of_drops_is_one_episode_that_ends_a_round_trip_after_its_last() {
        let mut machine = Machine::new(1.0);
        heard(&mut machine, &[(0, High)]);
        for at in [10, 50, 90] {
            machine.lose(Time(at));
        }
        // The episode lasts until 190: answers until then change nothing.
        assert_eq!(heard(&mut machine, &[(100, Low), (150, High), (190, Low)]), [false; 3]);
        assert_eq!(machine.counts(), [1, 1, 0, 0, 0, 0]);
        heard(&mut machine, &[(191, Low)]);
        assert_eq!(machine.counts(), [1, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn without_a_hold_off_a_burst_is_counted_again_and_again() {
        let mut machine = Machine::new(0.0);
        heard(&mut machine, &[(0, High)]);
        for at in [10, 20, 30] {
            machine.lose(Time(at));
            heard(&mut machine, &[(at + 5, High)]);
        }
        assert_eq!(machine.counts(), [1, 3, 0, 0, 0, 3]);
    }

    #[test]
    fn ratios_are_of_what_was_counted_and_of_nothing_there_is_none() {
        assert_eq!((share(3, 1), share(1, 3)), (0.75, 0.25));
        assert!(share(0, 0).is_nan());
        assert_eq!(share(0, 5), 0.0);
    }
}
