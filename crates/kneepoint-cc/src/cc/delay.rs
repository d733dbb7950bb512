// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queueing delay as an end host sees it: the smoothed round-trip time less the smallest one.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §2.4.
//!
//! ```text
//! s <- h·s + (1 - h)·r     every sample r; the first sample sets s
//! P <- min(P, r)
//! queueing delay = s - P
//! ```
//!
//! `h` weight of the history: 0.99 in the paper's srtt_0.99, 7/8 in RFC 6298. Times in nanoseconds.
//! Reading: `P` never ages; the paper gives it no end.

use super::Ack;
use crate::units::Span;

crate::choice! {
    /// The delay that is watched.
    pub enum Signal {
        /// Round-trip times.
        RoundTrip = "rtt",
        /// One-way times from sender to receiver, which queues on the reverse path do not affect.
        OneWay = "one-way",
    }
}

impl Signal {
    /// The sample in this acknowledgement.
    #[inline]
    pub fn sample(self, ack: &Ack) -> Option<Span> {
        match self {
            Signal::RoundTrip => ack.rtt,
            Signal::OneWay => ack.one_way,
        }
    }

    /// The names of its average and minimum in milliseconds, for observers.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Signal::RoundTrip => ["srtt_ms", "min_rtt_ms"],
            Signal::OneWay => ["smoothed_one_way_ms", "min_one_way_ms"],
        }
    }
}

/// An estimator of the round-trip time and of the part of it that is spent in queues.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    sample_weight: f64,
    smoothed: f64,
    least: Span,
}

impl Delay {
    /// An estimator without samples, whose average gives its past the weight `history`.
    pub fn new(history: f64) -> Delay {
        Delay { sample_weight: 1.0 - history, smoothed: 0.0, least: Span::MAX }
    }

    /// Takes in one round-trip time.
    #[inline]
    pub fn observe(&mut self, rtt: Span) {
        self.observe_with(rtt, self.sample_weight);
    }

    /// Takes in one round-trip time with its own weight.
    #[inline]
    pub fn observe_with(&mut self, rtt: Span, weight: f64) {
        let sample = rtt.0 as f64;
        if self.least == Span::MAX {
            self.smoothed = sample;
        } else {
            self.smoothed += weight * (sample - self.smoothed);
        }
        self.least = self.least.min(rtt);
    }

    /// Forgets the average for this queueing delay.
    pub fn settle(&mut self, queueing: Span) {
        self.smoothed = self.least.0 as f64 + queueing.0 as f64;
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Span {
        Span(self.smoothed as u64)
    }

    /// The smallest round-trip time so far, once there is one.
    #[inline]
    pub fn least(&self) -> Option<Span> {
        (self.least != Span::MAX).then_some(self.least)
    }

    /// The queueing delay; zero before the first sample.
    #[inline]
    pub fn queueing(&self) -> Span {
        self.smoothed().saturating_sub(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundredth_of_a_step_shows_at_once_and_two_thirds_after_a_hundred_samples() {
        let mut delay = Delay::new(0.99);
        assert_eq!((delay.queueing(), delay.least()), (Span::ZERO, None));
        delay.observe(Span::from_millis(60));
        assert_eq!((delay.smoothed(), delay.queueing()), (Span::from_millis(60), Span::ZERO));
        delay.observe(Span::from_millis(80));
        assert_eq!(delay.queueing(), Span::from_micros(200));
        for _ in 1..100 {
            delay.observe(Span::from_millis(80));
        }
        // 20 ms · (1 - 0.99^100) = 12.6794 ms.
        assert!((delay.queueing().as_millis_f64() - 12.6794).abs() < 1e-4, "{}", delay.queueing());
        assert_eq!(delay.least(), Some(Span::from_millis(60)));
    }

    #[test]
    fn a_smaller_sample_lowers_the_floor_for_good() {
        let mut delay = Delay::new(0.99);
        for millis in [60, 50, 70] {
            delay.observe(Span::from_millis(millis));
        }
        assert_eq!(delay.least(), Some(Span::from_millis(50)));
        // 60, then 59.9, then 60.001 ms.
        assert_eq!(delay.smoothed(), Span::from_micros(60_001));
        assert_eq!(delay.queueing(), Span::from_micros(10_001));
    }
}
