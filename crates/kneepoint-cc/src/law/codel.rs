// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CoDel: certain responses at single instants, ever closer together while the delay stays above a target.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, §5.
//!
//! ```text
//! q >= target for a whole interval:  p = 1,  n = 1,  next = now + interval
//! while q >= target, at `next`:      p = 1,  n <- n + 1,  next <- next + interval / sqrt(n)
//! q < target:                        stop;  p = 0 at all other instants
//! again within 16 intervals of `next`:  n = the instants of the last time less one, at least 1
//! ```
//!
//! `q` queueing delay, `target interval`: time. The signal of [`Law`] is `q` in seconds.
//!
//! Reading: instants that pass between two samples are one; a queue takes each of them (`CoDel::each_due`).

use super::Law;
use crate::units::{Span, Time};

crate::settings! {
    /// The law's parameters.
    pub struct Params {
        /// The queueing delay that may persist.
        target: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// The time for which a delay must persist, and the time between the first two responses.
        interval: Span = Span::from_millis(100), Span::from_millis(1)..=Span::from_secs(100);
    }
}

/// The intervals for which the rate of instants is remembered.
const MEMORY: u64 = 16;

/// CoDel's control law.
#[derive(Clone, Debug, PartialEq)]
pub struct CoDel {
    target: Span,
    interval: Span,
    /// The time at which the delay will have persisted for an interval, while it persists.
    patience: Option<Time>,
    responding: bool,
    /// Instants since responses began, with those remembered.
    count: u32,
    /// `count` when they began.
    remembered: u32,
    next: Time,
    /// Whether the latest sample was at an instant.
    due: bool,
}

impl CoDel {
    /// Instants since responses began, with those remembered.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the delay has persisted for an interval.
    pub fn responding(&self) -> bool {
        self.responding
    }

    /// interval / sqrt(n).
    fn spacing(&self) -> Span {
        Span((self.interval.0 as f64 / libm::sqrt(f64::from(self.count))) as u64)
    }

    fn begin(&mut self, now: Time) {
        let before = self.count - self.remembered;
        let recent = now.since(self.next) < Span(self.interval.0 * MEMORY);
        self.count = if recent && before > 1 { before } else { 1 };
        self.remembered = self.count;
        self.responding = true;
        self.next = now + self.spacing();
    }

    /// Ends responses, as a delay below the target does.
    #[inline]
    pub fn rest(&mut self) {
        self.patience = None;
        self.responding = false;
    }

    /// Takes in the queueing delay at `now`; returns whether this is an instant to respond.
    #[inline]
    pub fn due(&mut self, delay: Span, now: Time) -> bool {
        let due = self.each_due(delay, now);
        if due {
            self.next = self.next.max(now);
        }
        due
    }

    /// Like [`due`](CoDel::due), but past instants are due one by one, as packets leave.
    #[inline]
    pub fn each_due(&mut self, delay: Span, now: Time) -> bool {
        if delay < self.target {
            self.rest();
            return false;
        }
        let patience = *self.patience.get_or_insert(now + self.interval);
        if !self.responding && now >= patience {
            self.begin(now);
            true
        } else if self.responding && now >= self.next {
            self.count = self.count.saturating_add(1);
            self.next += self.spacing();
            true
        } else {
            false
        }
    }
}

impl Law for CoDel {
    type Params = Params;

    fn new(params: Params) -> CoDel {
        CoDel {
            target: params.target,
            interval: params.interval,
            patience: None,
            responding: false,
            count: 0,
            remembered: 0,
            next: Time::ZERO,
            due: false,
        }
    }

    fn sample(&mut self, delay: f64, now: Time) {
        self.due = self.due(Span::from_secs_f64(delay), now);
    }

    fn probability(&self) -> f64 {
        if self.due { 1.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The milliseconds at which it responds, with a sample every millisecond.
    fn instants(delays: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut codel = CoDel::new(Params::default());
        let mut at = |(milli, delay)| {
            codel.sample(delay, Span::from_millis(milli).after_start());
            (codel.probability() == 1.0).then_some(milli)
        };
        (0..).zip(delays).filter_map(&mut at).collect()
    }

    #[test]
    fn instants_come_closer_with_the_root_of_their_number() {
        // 100, and 100 more, then 70.7, 57.7, 50 and 44.7 ms, seen at the next millisecond.
        assert_eq!(instants([0.008; 450].into_iter()), [100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn instants_missed_between_samples_lapse_or_come_one_after_the_other() {
        let late = |due: fn(&mut CoDel, Span, Time) -> bool| {
            let mut codel = CoDel::new(Params::default());
            let mut at =
                |milli| due(&mut codel, Span::from_millis(8), Span::from_millis(milli).after_start());
            assert!(!at(0) && at(100));
            (0..50).filter(|_| at(1000)).count()
        };
        // Since 100 ms: 100 (1 + 1/sqrt(2) + ... + 1/sqrt(n)) <= 900 up to n = 26. The second of two is due at 1000 ms.
        assert_eq!((late(CoDel::each_due), late(CoDel::due)), (26, 2));
    }

    #[test]
    fn a_dip_below_the_target_ends_it_and_a_short_rise_begins_nothing() {
        let dip = (0..400).map(|at| if at == 150 { 0.004 } else { 0.008 });
        assert_eq!(instants(dip), [100, 251, 351]);
        let short = (0..400).map(|at| if at % 90 == 0 { 0.0 } else { 0.008 });
        assert_eq!(instants(short), [0; 0]);
    }

    #[test]
    fn a_second_time_soon_after_begins_at_the_rate_of_the_first() {
        let twice = (0..1000).map(|at| if at == 425 { 0.0 } else { 0.008 });
        // Six instants, of which five came after the first: n = 5, and the next comes 44.7 ms later.
        assert_eq!(instants(twice)[..8], [100, 200, 271, 329, 379, 424, 526, 571]);
    }
}
