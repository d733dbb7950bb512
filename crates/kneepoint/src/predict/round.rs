// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delimits round trips by ACKs alone.
//!
//! ```text
//! a round ends with the first sample of a packet that was sent after the round began:  now - RTT >= begin
//! ```
//!
//! This is the packet that a sender would have marked, without its sequence number. The sample that ends a round is
//! the first of the next.

use super::Sample;
use crate::units::{Span, Time};

/// Rounds of one or more round trips.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// Round trips per round.
    trips: u32,
    ended: u32,
    began: Time,
    sum: Span,
    count: u64,
}

impl Round {
    pub(super) fn new(trips: u32) -> Round {
        Round { trips, ended: 0, began: Time::ZERO, sum: Span::ZERO, count: 0 }
    }

    /// Processes a sample; returns the mean round-trip time of the round that it ends, if any.
    #[inline]
    pub(super) fn observe(&mut self, sample: &Sample) -> Option<Span> {
        let mut mean = None;
        if self.count == 0 {
            self.began = sample.now;
        } else if sample.now.since(self.began) >= sample.rtt {
            self.began = sample.now;
            self.ended += 1;
            if self.ended >= self.trips {
                mean = Some(Span(self.sum.0 / self.count));
                (self.ended, self.sum, self.count) = (0, Span::ZERO, 0);
            }
        }
        self.sum = self.sum + sample.rtt;
        self.count += 1;
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now: u64, rtt: u64) -> Sample {
        Sample { now: Time(now), rtt: Span(rtt), window: 1.0, one_way: None, acked: 1 }
    }

    #[test]
    fn a_round_ends_when_something_sent_in_it_is_acknowledged() {
        let mut round = Round::new(1);
        // The round begins at 100. The sample at 190 was sent at 90, the sample at 205 at 105.
        assert_eq!([at(100, 90), at(150, 96), at(190, 100)].map(|sample| round.observe(&sample)), [None; 3]);
        // (90 + 96 + 100) / 3 = 95.33
        assert_eq!(round.observe(&at(205, 100)), Some(Span(95)));
        assert_eq!(round.observe(&at(304, 100)), None);
        assert_eq!(round.observe(&at(305, 100)), Some(Span(100)));
    }

    #[test]
    fn several_round_trips_may_make_a_round() {
        let mut round = Round::new(2);
        let ends = [100, 200, 300, 400, 500].map(|now| round.observe(&at(now, 100)).is_some());
        assert_eq!(ends, [false, false, true, false, true]);
    }
}
