// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policer: a token bucket before the queue; a packet that finds too few tokens is dropped.
//!
//! Linux `act_police` (tc-police(8): `police rate … burst … conform-exceed drop`); T. Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", SIGCOMM 2016.
//!
//! ```text
//! tokens = min(burst, tokens + rate t)      a packet of L bytes passes if tokens >= L, and takes L
//! ```

use crate::link::capacity::GREATEST;
use crate::settings::{Or, Unlimited};
use crate::units::{Bytes, Rate};

crate::settings! {
    /// A policer of all arrivals at a link.
    pub struct Policer {
        /// The rate at which tokens come; `unlimited` is the absence of a policer.
        rate: Or<Rate, Unlimited> = Or::WORD, Or::is(Rate(1))..=Or::is(GREATEST);
        /// The greatest number of waiting tokens; a larger packet never passes.
        burst: Bytes = Bytes(64_000), Bytes(1)..=Bytes(1_000_000_000);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effects, Working};
    use super::*;
    use crate::rng::Rng;
    use crate::units::Time;

    fn policer(mbit: u64, burst: u64) -> Working {
        let policer = Policer { rate: Or::is(Rate::from_mbit(mbit)), burst: Bytes(burst) };
        Working::new(&Effects { policer, ..Effects::default() }, 1, 0)
    }

    #[test]
    fn a_burst_passes_and_then_one_packet_for_the_tokens_of_one() {
        // 8 Mbit/s are a byte each microsecond.
        let mut policer = policer(8, 3000);
        let passed = (0..10).map(|at| Time(at * 500_000)).filter(|at| policer.admits(*at, 1000));
        let passed: Vec<u64> = passed.map(|at| at.0 / 1_000_000).collect();
        // Three at once would have: 3000 and half of the tokens that arrived between them, then one per millisecond.
        assert_eq!(passed, [0, 0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn no_interval_passes_more_than_its_tokens_and_a_burst() {
        let (mut policer, mut rng) = (policer(10, 20_000), Rng::stream(1, "police", 0));
        let (mut now, mut passed) = (0, Vec::new());
        for _ in 0..20_000 {
            now += rng.below(1_000_000);
            let size = 40 + rng.below(1461) as u16;
            if policer.admits(Time(now), size) {
                passed.push((now, u64::from(size)));
            }
        }
        for first in (0..passed.len()).step_by(97) {
            let mut bytes = 0;
            for (at, size) in &passed[first..] {
                bytes += size;
                let tokens = 20_000.0 + (at - passed[first].0) as f64 / 800.0;
                assert!(bytes as f64 <= tokens + 1e-6, "{bytes} above {tokens}");
            }
        }
        // Offered were 12 Mbit/s: the policer's rate passes.
        let (bytes, seconds) = (passed.iter().map(|one| one.1).sum::<u64>() as f64, now as f64 * 1e-9);
        assert!((bytes * 8.0 / seconds / 10e6 - 1.0).abs() < 0.02, "{}", bytes * 8.0 / seconds);
    }

    #[test]
    fn a_packet_above_the_burst_never_passes() {
        let mut policer = policer(10, 1000);
        assert!(!policer.admits(Time(1_000_000_000), 1001) && policer.admits(Time(1_000_000_000), 1000));
    }
}
