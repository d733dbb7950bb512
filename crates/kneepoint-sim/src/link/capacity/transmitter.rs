// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A transmitter whose rate changes: a packet in transmission continues at the new rate.
//!
//! Work is counted in whole bit-nanoseconds, so nothing is lost at a change or between packets.

use crate::units::Time;

/// A transmitter.
#[derive(Clone, Debug, Default)]
pub(super) struct Transmitter {
    /// The end of the last packet's transmission, rounded down, and the remaining bit-nanoseconds.
    free: Time,
    left: u128,
}

impl Transmitter {
    /// Transmits a packet offered at `at`: when its transmission begins and when it has ended. `rate_at` gives the rate at an
    /// instant, and the instant until which it holds.
    pub(super) fn send(
        &mut self,
        at: Time,
        size: u16,
        mut rate_at: impl FnMut(u64) -> (u64, u64),
    ) -> (Time, Time) {
        if at > self.free {
            (self.free, self.left) = (at, 0);
        }
        let start = self.free;
        let mut work = self.left + u128::from(size) * 8 * 1_000_000_000;
        let mut now = start.0;
        loop {
            let (rate, until) = rate_at(now);
            let carried = u128::from(rate) * u128::from(until - now);
            if work < carried {
                self.free = Time(now + (work / u128::from(rate)) as u64);
                self.left = work % u128::from(rate);
                return (start, self.free);
            }
            work -= carried;
            now = until;
        }
    }
}
