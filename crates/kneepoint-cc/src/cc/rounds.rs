// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The round trips of a connection: when one is over, and the round-trip times that it saw.
//!
//! ```text
//! a round is over when the packet that was sent first after it began is acknowledged
//! waiting(W, rtt) = W (1 - base / rtt)        packets of the window in queues: Vegas's difference
//! ```
//!
//! `base` the smallest sample of all rounds, `rtt` the round's least or mean sample, `W` packets.
//! A sample of zero does not count, because no path has it.

use super::Ack;
use crate::units::Span;

/// A round-trip time as Linux's Vegas and YeAH keep it: whole microseconds, and one more.
pub fn micros(span: Span) -> f64 {
    (span.0 / 1000 + 1) as f64
}

/// A clock that ticks once per round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounds {
    /// The round is over when this packet is acknowledged.
    pub last: u64,
    /// The smallest sample of all rounds; [`Span::MAX`] before the first.
    pub base: Span,
    least: Span,
    greatest: Span,
    sum: u64,
    /// Samples in this round.
    pub samples: u32,
}

impl Rounds {
    /// The first round of a connection.
    pub fn new() -> Rounds {
        Rounds { last: 0, base: Span::MAX, least: Span::MAX, greatest: Span::ZERO, sum: 0, samples: 0 }
    }

    /// Whether this acknowledgement ends the round.
    #[inline]
    pub fn over(&self, ack: &Ack) -> bool {
        ack.una > self.last
    }

    /// A round begins that ends with packet `next`.
    pub fn begin(&mut self, next: u64) {
        *self = Rounds { last: next, base: self.base, ..Rounds::new() };
    }

    /// Takes in a round-trip time.
    #[inline]
    pub fn observe(&mut self, rtt: Span) {
        if rtt > Span::ZERO {
            self.base = self.base.min(rtt);
            self.least = self.least.min(rtt);
            self.greatest = self.greatest.max(rtt);
            self.sum = self.sum.saturating_add(rtt.0);
            self.samples += 1;
        }
    }

    /// The mean round-trip time of this round, once it has a sample.
    pub fn mean(&self) -> Option<Span> {
        self.sum.checked_div(u64::from(self.samples)).map(Span)
    }

    /// The smallest round-trip time of this round, once it has a sample.
    pub fn least(&self) -> Option<Span> {
        (self.samples > 0).then_some(self.least)
    }

    /// The greatest round-trip time of this round, once it has a sample.
    pub fn greatest(&self) -> Option<Span> {
        (self.samples > 0).then_some(self.greatest)
    }

    /// The smallest sample of all rounds in milliseconds, for observers; zero before the first.
    pub fn base_ms(&self) -> f64 {
        if self.base == Span::MAX { 0.0 } else { self.base.as_millis_f64() }
    }

    /// The number of `window` packets in queues if a round trip takes `rtt`.
    pub fn waiting(&self, window: f64, rtt: Span) -> f64 {
        window * (1.0 - self.base.0 as f64 / rtt.0 as f64)
    }
}

impl Default for Rounds {
    fn default() -> Rounds {
        Rounds::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_knows_its_samples_and_the_connection_its_smallest() {
        let mut rounds = Rounds::new();
        assert_eq!((rounds.mean(), rounds.least(), rounds.greatest()), (None, None, None));
        for millis in [60, 90, 0, 75] {
            rounds.observe(Span::from_millis(millis));
        }
        assert_eq!(rounds.mean(), Some(Span::from_millis(75)));
        assert_eq!(
            (rounds.least(), rounds.greatest()),
            (Some(Span::from_millis(60)), Some(Span::from_millis(90)))
        );
        rounds.begin(10);
        rounds.observe(Span::from_millis(80));
        assert_eq!((rounds.least(), rounds.base), (Some(Span::from_millis(80)), Span::from_millis(60)));
        // 40 packets, 60 ms of path, 20 ms of queue: 40 (1 - 60 / 80).
        assert_eq!(rounds.waiting(40.0, Span::from_millis(80)), 10.0);
    }
}
