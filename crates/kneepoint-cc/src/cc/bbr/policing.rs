// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How `tcp_bbr` of Linux 6.18 detects that a token bucket polices it (`lt_bw`).
//!
//! ```text
//! an interval   from a loss to a loss, 4 to 16 rounds, in which at least 50/256 as many packets were lost as arrived
//! policed       two intervals in a row whose rates differ by at most 1/8 or 4 kbit/s: their mean is the rate
//! for           48 rounds of ProbeBW, with gain 1
//! ```
//!
//! An interval that becomes longer, or a sender without data, restarts the detection. Times are whole milliseconds.

use crate::units::Time;

/// Rounds of an interval, at least and at most.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Losses over arrivals.
const LOSSES: f64 = 50.0 / 256.0;
/// The permitted difference between the rates of two intervals, as a part of the first.
const NEAR: f64 = 1.0 / 8.0;
/// The same in packets per second: 4 kbit/s of packets of 1448 bytes, paced a hundredth below.
const NEAR_ENOUGH: f64 = 500.0 / (1448.0 * 0.99);
/// The number of rounds for which the rate is used.
const USED_ROUNDS: u32 = 48;
const MILLISECOND: u64 = 1_000_000;

/// The signal of an acknowledgement or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub now: Time,
    /// Packets that have arrived, and that were lost, so far.
    pub delivered: u64,
    pub lost: u64,
    /// Whether packets were lost in this acknowledgement.
    pub losses: bool,
    /// Whether the sender lacked data.
    pub limited: bool,
    /// Whether a round ended.
    pub round: bool,
    /// Whether bandwidth is being probed.
    pub probes: bool,
}

/// The beginning of an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    millis: u64,
    delivered: u64,
    lost: u64,
}

/// The detector.
#[derive(Clone, Debug, Default)]
pub(super) struct Policing {
    /// The interval, once a loss has begun one.
    since: Option<Begun>,
    rounds: u32,
    /// Packets per second in the last interval, or of the policer; zero before.
    rate: f64,
    uses: bool,
}

impl Policing {
    /// The policer's rate in packets per second, if there is one.
    pub(super) fn rate(&self) -> Option<f64> {
        self.uses.then_some(self.rate)
    }

    /// Listens; returns whether it has just trusted the rate for long enough.
    pub(super) fn observe(&mut self, news: News) -> bool {
        if self.uses {
            self.rounds += u32::from(news.probes && news.round);
            let over = news.probes && news.round && self.rounds >= USED_ROUNDS;
            if over {
                *self = Policing::default();
            }
            return over;
        }
        self.sample(news);
        false
    }

    fn sample(&mut self, news: News) {
        let now = Begun { millis: news.now.0 / MILLISECOND, delivered: news.delivered, lost: news.lost };
        let Some(begun) = self.since.or_else(|| news.losses.then_some(now)) else { return };
        if self.since.is_none() {
            (self.since, self.rounds) = (Some(begun), 0);
        }
        self.rounds += u32::from(news.round);
        if news.limited || self.rounds > MOST_ROUNDS {
            *self = Policing::default();
            return;
        }
        let (delivered, lost) = ((now.delivered - begun.delivered) as f64, (now.lost - begun.lost) as f64);
        let millis = now.millis - begun.millis;
        let ends = news.losses && self.rounds >= LEAST_ROUNDS;
        if ends && delivered > 0.0 && lost >= LOSSES * delivered && millis > 0 {
            self.end(1000.0 * delivered / millis as f64, now);
        }
    }

    /// An interval of this rate ends.
    fn end(&mut self, rate: f64, now: Begun) {
        let apart = (rate - self.rate).abs();
        self.rounds = 0;
        if self.rate > 0.0 && (apart <= NEAR * self.rate || apart <= NEAR_ENOUGH) {
            (self.rate, self.uses) = (f64::midpoint(rate, self.rate), true);
        } else {
            (self.rate, self.since) = (rate, Some(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    /// A path of 1000 packets/s, with a round and `lost` packets every 50 ms.
    struct Path {
        policing: Policing,
        millis: u64,
        lost: u64,
    }

    impl Path {
        fn new() -> Path {
            Path { policing: Policing::default(), millis: 0, lost: 0 }
        }

        /// The next round, in which this many packets are lost; returns whether the rate was used for long enough.
        fn round(&mut self, lost: u64) -> bool {
            self.millis += 50;
            self.lost += lost;
            self.policing.observe(News {
                now: Span::from_millis(self.millis).after_start(),
                delivered: self.millis,
                lost: self.lost,
                losses: lost > 0,
                limited: false,
                round: true,
                probes: true,
            })
        }
    }

    #[test]
    fn two_intervals_of_one_rate_with_a_fifth_lost_are_a_policer_for_48_rounds() {
        let mut path = Path::new();
        // The first loss begins an interval with its round: 8 rounds are two intervals of 4.
        let until = (1..).take_while(|_| !(path.round(10), path.policing.rate().is_some()).1).count();
        assert_eq!(until, 7);
        assert_eq!(path.policing.rate(), Some(1000.0));
        let used = (1..).take_while(|_| !path.round(10)).count();
        assert_eq!((used, path.policing.rate()), (47, None));
    }

    #[test]
    fn fewer_losses_are_no_policer() {
        // 9 of 50 are below 50/256 = 0.195; 10 are not.
        let mut path = Path::new();
        (0..500).for_each(|_| assert!(!path.round(9)));
        assert_eq!(path.policing.rate(), None);
    }

    #[test]
    fn losses_in_one_round_of_twenty_are_no_policer() {
        let mut path = Path::new();
        (0..1000).for_each(|round| assert!(!path.round(if round % 20 == 0 { 500 } else { 0 })));
        assert_eq!(path.policing.rate(), None);
    }
}
