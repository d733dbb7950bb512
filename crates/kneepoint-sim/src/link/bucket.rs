// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A bucket of tokens, one for each bit: it fills at a rate up to its depth, and packets take theirs out.
//!
//! Tokens are counted in whole bit-nanoseconds, so that the rate is exact over any time.

use crate::units::{Bytes, Rate, Time};

/// A nanosecond at one bit per second.
const BIT: u128 = 1_000_000_000;

/// A bucket, full at first.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: u64,
    depth: u128,
    level: u128,
    /// The instant of `level`.
    at: Time,
}

impl Bucket {
    pub(super) fn new(rate: Rate, depth: Bytes) -> Bucket {
        let depth = u128::from(depth.0) * 8 * BIT;
        Bucket { rate: rate.0, depth, level: depth, at: Time::ZERO }
    }

    /// Fills it until `now`.
    fn fill(&mut self, now: Time) {
        let came = u128::from(self.rate) * u128::from(now.since(self.at).0);
        self.level = self.depth.min(self.level + came);
        self.at = self.at.max(now);
    }

    /// Takes the tokens of a packet at `now`, if there are as many.
    #[inline]
    pub(super) fn take(&mut self, now: Time, size: u16) -> bool {
        self.fill(now);
        let enough = self.level >= tokens(size);
        if enough {
            self.level -= tokens(size);
        }
        enough
    }

    /// Takes the tokens of a packet as soon as there are enough, at `now` or later, and returns the time of that. A packet larger than the
    /// bucket waits for all of its tokens, so that nothing passes faster than they arrive.
    #[inline]
    pub(super) fn wait(&mut self, now: Time, size: u16) -> Time {
        self.fill(now);
        let wanted = tokens(size);
        let missing = wanted.saturating_sub(self.level);
        let ready = Time(self.at.0 + missing.div_ceil(u128::from(self.rate)) as u64);
        // Capacity between the last token and the end of its nanosecond goes to the next packet.
        let came = u128::from(self.rate) * u128::from(ready.since(self.at).0);
        self.level = self.depth.min(self.level + came - wanted);
        self.at = ready;
        ready
    }
}

/// The tokens of a packet.
fn tokens(size: u16) -> u128 {
    u128::from(size) * 8 * BIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_until_its_last_token_has_come() {
        // 1 Mbit/s and 2000 bytes: two packets of 1000 at once, and one every 8 ms.
        let mut bucket = Bucket::new(Rate::from_mbit(1), Bytes(2000));
        let ms = |ms: u64| Time(ms * 1_000_000);
        assert_eq!([0, 0, 0, 0].map(|at| bucket.wait(ms(at), 1000)), [0, 0, 8, 16].map(ms));
        assert!(!bucket.take(Time(ms(24).0 - 1), 1000));
        assert!(bucket.take(ms(24), 1000));
        // It holds at most its depth after any pause.
        assert_eq!([99, 99, 99].map(|at| bucket.wait(ms(at), 1000)), [99, 99, 107].map(ms));
    }

    #[test]
    fn packets_above_the_depth_pass_no_faster_than_tokens_come() {
        // A packet of 8 ms at 1 Mbit/s, and a bucket of a tenth of it.
        let mut bucket = Bucket::new(Rate::from_mbit(1), Bytes(100));
        let waited = [0, 0, 0].map(|at| bucket.wait(Time(at), 1000).0);
        assert_eq!(waited, [7_200_000, 15_200_000, 23_200_000]);
    }

    #[test]
    fn no_token_is_lost_at_a_rate_that_divides_nothing() {
        let mut bucket = Bucket::new(Rate(7_654_321), Bytes(1500));
        let last = (0..=7_654_321).fold(Time::ZERO, |at, _| bucket.wait(at, 1500));
        // 7,654,321 packets of 12,000 bits behind the first.
        assert_eq!(last, Time(12_000 * 1_000_000_000));
    }
}
