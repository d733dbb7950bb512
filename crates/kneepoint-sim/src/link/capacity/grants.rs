// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Grants: packets wait for the next multiple of `period` and then leave together, as many as the link's rate carries in a period.
//!
//! Cable modems request the medium and are granted it once per MAP, every 2 ms (CableLabs, DOCSIS 3.1 MULPI, §7.2); a Wi-Fi station sends
//! an aggregate when its turn comes. Either way acknowledgements arrive in bunches (RFC 3449, §2.1 and §3.2).
//!
//! ```text
//! at k · period:   left = min(left, 0) + rate · period      packets leave while left > 0, each takes its bits
//! ```
//!
//! A packet that begins in a grant may exceed it; the excess is taken from the next grant. The rest of a grant is lost
//! when no packet waits. With `peak`, packets of a grant follow each other at that rate, and packets that arrive meanwhile
//! can still use the grant.

use super::constant::Constant;
use super::{Capacity, Facts, GREATEST};
use crate::settings::{Or, Unlimited};
use crate::units::{Bytes, Interval, Rate, Span, Time};

crate::settings! {
    /// A link of mean `rate` that transmits in bursts.
    pub struct Params {
        /// The time from one grant to the next.
        period: Span = Span::from_millis(2), Span::from_micros(1)..=Span::from_secs(100);
        /// The rate at which packets of one grant follow each other.
        peak: Or<Rate, Unlimited> = Or::WORD, Or::is(Rate(1))..=Or::is(GREATEST);
    }
}

/// A link that waits for grants.
#[derive(Clone, Debug)]
pub struct Grants {
    rate: Rate,
    period: u64,
    peak: Option<Rate>,
    /// The number of the latest grant, and its remaining bit-nanoseconds; negative after an excess.
    grant: u64,
    left: i128,
    line: Constant,
}

impl Grants {
    /// The bit-nanoseconds of a grant.
    fn whole(&self) -> i128 {
        i128::from(self.rate.0) * i128::from(self.period)
    }

    /// The grant of an instant is the latest.
    fn enter(&mut self, now: Time) {
        let passed = (now.0 / self.period).saturating_sub(self.grant);
        if passed > 0 {
            let debt = self.left.min(0) + self.whole() * (i128::from(passed) - 1);
            self.left = debt.min(0) + self.whole();
            self.grant += passed;
        }
    }
}

impl Capacity for Grants {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Grants {
        let rate = facts.rate.unwrap_or(GREATEST);
        let (period, peak) = (params.period.0, params.peak.get().copied());
        let mut grants = Grants { rate, period, peak, grant: 0, left: 0, line: Constant::at(peak) };
        grants.left = grants.whole();
        grants
    }

    fn suits(&self, rate: Rate) -> Result<(), String> {
        match self.peak {
            Some(peak) if peak < rate => {
                Err(format!("peak, {peak}, is below the mean rate, {rate}: raise it"))
            }
            _ => Ok(()),
        }
    }

    fn burst(&self) -> Bytes {
        Bytes((self.whole() / 8_000_000_000) as u64 + u64::from(u16::MAX))
    }

    fn ready(&mut self, now: Time) -> Time {
        self.enter(now);
        let begin = Time(self.grant * self.period);
        // A pause gives the medium back.
        if self.left > 0 && (now == begin || now == self.line.free()) {
            return now;
        }
        let debts = (-self.left).max(0) / self.whole();
        Time((self.grant + 1 + debts as u64) * self.period)
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        self.enter(at);
        self.left -= i128::from(size) * 8_000_000_000;
        self.line.send(at, size)
    }

    fn bits(&self, window: Interval) -> f64 {
        self.rate.as_f64() * window.span().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(peak: Option<Rate>) -> Grants {
        let params = Params { period: Span::from_millis(2), peak: peak.map_or(Or::WORD, Or::is) };
        Grants::new(params, Facts::new(Some(Rate::from_mbit(6)), 1, 0))
    }

    /// The departure of each packet that waits at `now`.
    fn leave(link: &mut Grants, now: u64, packets: usize, size: u16) -> Vec<u64> {
        let mut at = Time(now);
        let one = |_| {
            while link.ready(at) > at {
                at = link.ready(at);
            }
            let (start, end) = link.send(at, size);
            at = end;
            start.0 / 1000
        };
        (0..packets).map(one).collect()
    }

    #[test]
    fn packets_leave_together_at_the_next_grant_and_share_it() {
        // 6 Mbit/s for 2 ms are 1500 bytes.
        let mut link = grants(None);
        assert_eq!(leave(&mut link, 1_000_000, 4, 500), [2000, 2000, 2000, 4000]);
        // The first packet that exceeds its grant leaves with it; the next grants pay.
        assert_eq!(leave(&mut link, 11_000_000, 3, 3000), [12_000, 16_000, 20_000]);
    }

    #[test]
    fn acknowledgements_of_a_period_arrive_in_one_bunch() {
        let mut link = grants(None);
        let mut left = vec![0];
        for packet in 0..20 {
            let turn = (packet * 300_000).max(1000 * left[left.len() - 1]);
            left.extend(leave(&mut link, turn, 1, 40));
        }
        left.dedup();
        assert_eq!(left, [0, 2000, 4000, 6000]);
    }

    #[test]
    fn packets_of_a_grant_follow_each_other_at_the_peak_rate() {
        let mut link = grants(Some(Rate::from_mbit(40)));
        assert_eq!(leave(&mut link, 500_000, 4, 500), [2000, 2100, 2200, 4000]);
    }
}
