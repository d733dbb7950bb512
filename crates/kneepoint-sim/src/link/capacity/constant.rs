// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Constant: one packet at a time at the link's rate.
//!
//! The fraction of a nanosecond that a packet takes beyond whole ones is carried over to the next, so that a busy link
//! transmits exactly its rate.

use super::{Capacity, Facts};
use crate::units::{Interval, Rate, Time};

crate::settings! {
    /// A constant capacity is the link's `rate`.
    pub struct Params {}
}

/// The transmission time of a packet: whole nanoseconds and `fraction / rate` of one more.
#[derive(Clone, Copy, Debug)]
struct Duration {
    size: u16,
    nanos: u64,
    fraction: u64,
}

/// A transmitter at a constant rate.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Bits per second; zero for a transmitter that sends at once.
    rate: u64,
    /// The end of the last packet's transmission, less `fraction / rate` of a nanosecond.
    free: Time,
    fraction: u64,
    /// The duration computed last: most packets of a link have one size, and divisions are slow.
    last: Duration,
}

impl Constant {
    /// An idle transmitter at `rate`; without one it sends at once.
    pub fn at(rate: Option<Rate>) -> Constant {
        Constant {
            rate: rate.map_or(0, |Rate(bits)| bits),
            free: Time::ZERO,
            fraction: 0,
            last: Duration { size: 0, nanos: 0, fraction: 0 },
        }
    }

    /// The time at which it is free again.
    pub(super) fn free(&self) -> Time {
        self.free
    }

    /// Whether it sends immediately.
    pub fn instant(&self) -> bool {
        self.rate == 0
    }
}

impl Capacity for Constant {
    type Params = Params;

    fn new(_: Params, facts: Facts) -> Constant {
        Constant::at(facts.rate)
    }
    fn constant(&self) -> bool {
        true
    }
    #[inline]
    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        let rate = self.rate;
        if rate == 0 {
            return (at, at);
        }
        if size != self.last.size {
            let bits = u64::from(size) * 8 * 1_000_000_000;
            self.last = Duration { size, nanos: bits / rate, fraction: bits % rate };
        }
        let start = if at > self.free {
            self.fraction = 0;
            at
        } else {
            self.free
        };
        let mut end = start.0 + self.last.nanos;
        self.fraction += self.last.fraction;
        if self.fraction >= rate {
            self.fraction -= rate;
            end += 1;
        }
        self.free = Time(end);
        (start, self.free)
    }
    fn bits(&self, window: Interval) -> f64 {
        if self.rate == 0 { f64::NAN } else { self.rate as f64 * window.span().as_secs_f64() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_thousand_packets_take_what_their_bits_take() {
        // 1040 B at 150 Mbit/s is 55466.6… ns: rounding each packet would lose 2 ms in 3000.
        let mut transmitter = Constant::at(Some(Rate::from_mbit(150)));
        let last = (0..3000).map(|_| transmitter.send(Time::ZERO, 1040).1).last();
        assert_eq!(last, Some(Time(166_400_000)));
    }

    #[test]
    fn an_idle_transmitter_starts_at_once() {
        let mut transmitter = Constant::at(Some(Rate::from_mbit(8)));
        assert_eq!(transmitter.send(Time(500), 1), (Time(500), Time(1500)));
        assert_eq!(transmitter.send(Time(600), 1), (Time(1500), Time(2500)));
        assert_eq!(transmitter.send(Time(9000), 2), (Time(9000), Time(11000)));
        assert_eq!(Constant::at(None).send(Time(7), 1040), (Time(7), Time(7)));
    }
}
