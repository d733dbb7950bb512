// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Capacities: how fast a link transmits over time, and their registry.
//!
//! To add one: write `link/capacity/NAME.rs` like `link/capacity/steps.rs` and add its line to the registry below.
//!
//! A capacity is queried in time order. The link asks when a waiting packet can [begin](Capacity::ready), takes it from the
//! queue at that instant, and [sends](Capacity::send) it; when no packet waits it says [so](Capacity::idle).

use std::fmt::Debug;

use crate::rng::Rng;
use crate::settings::Settings;
use crate::units::{Bytes, Interval, Rate, Time};

mod transmitter;

/// The rate of a link without one: above any other.
pub(in crate::link) const GREATEST: Rate = Rate::from_mbit(1_000_000);

/// The link of a capacity, known when it is built.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The nominal rate; `None` for a link that transmits at once.
    pub rate: Option<Rate>,
    /// The randomness of the capacity in one run.
    pub rng: Rng,
}

impl Facts {
    /// The facts of link number `link` in the run seeded with `seed`.
    pub fn new(rate: Option<Rate>, seed: u64, link: usize) -> Facts {
        Facts { rate, rng: Rng::stream(seed, "capacity", link as u64) }
    }
}

/// A transmitter with its state. Capacities built from the same facts follow the same path, for any queries.
pub trait Capacity: Clone + Debug {
    /// Its parameters.
    type Params: Settings;

    /// An idle transmitter.
    fn new(params: Self::Params, facts: Facts) -> Self;
    /// Whether it always transmits at the link's rate and for one direction only, so that departures can be computed as packets
    /// arrive.
    fn constant(&self) -> bool {
        false
    }
    /// Whether the links of both directions between two nodes transmit by one such capacity.
    fn shared(&self) -> bool {
        false
    }
    /// Whether the nominal rate, by which buffers and disciplines are configured, suits this capacity; the message names a
    /// suitable rate.
    fn suits(&self, _rate: Rate) -> Result<(), String> {
        Ok(())
    }
    /// Its mean rate, which `rate = "auto"` takes, if it has one.
    fn mean(&self) -> Option<Rate> {
        None
    }
    /// The amount that it may carry in an interval beyond its [bits](Capacity::bits) there.
    fn burst(&self) -> Bytes {
        Bytes(0)
    }
    /// The time at which the transmission of a packet that waits at `now` can begin: `now` or later.
    fn ready(&mut self, now: Time) -> Time {
        now
    }
    /// Transmits a packet offered at `at`: when its transmission begins and when it has ended.
    fn send(&mut self, at: Time, size: u16) -> (Time, Time);
    /// The transmitter was free at `now` and no packet waited.
    fn idle(&mut self, _now: Time) {}
    /// The bits that it can carry in `window`, past or future; NaN where it transmits at once.
    fn bits(&self, window: Interval) -> f64;
}

crate::registry! {
    trait Capacity(Facts);
    each each;
    algorithms {
        constant::Constant,
        ephemeral::Ephemeral,
        grants::Grants,
        shared::Shared,
        steps::Steps,
        token_bucket::TokenBucket as "token-bucket",
        trace::Trace,
    }
}

/// Facts that hold in every run.
impl Config {
    /// Whether the links of both directions between two nodes transmit by one such capacity.
    pub fn shared(&self) -> bool {
        let any = self.build(Facts::new(None, 0, 0));
        each!(any, one => one.shared())
    }
    /// Its mean rate, if it has one.
    pub fn mean(&self) -> Option<Rate> {
        let any = self.build(Facts::new(None, 0, 0));
        each!(any, one => one.mean())
    }
    /// Whether the nominal rate suits this capacity; the message names a suitable rate.
    pub fn suits(&self, rate: Rate) -> Result<(), String> {
        let any = self.build(Facts::new(Some(rate), 0, 0));
        each!(any, one => one.suits(rate))
    }
}

/// The methods of [`Capacity`], forwarded to the variant.
#[allow(missing_docs)]
impl Any {
    pub fn constant(&self) -> bool {
        each!(self, one => one.constant())
    }
    pub fn burst(&self) -> Bytes {
        each!(self, one => one.burst())
    }
    #[inline]
    pub fn ready(&mut self, now: Time) -> Time {
        each!(self, one => one.ready(now))
    }
    #[inline]
    pub fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        each!(self, one => one.send(at, size))
    }
    #[inline]
    pub fn idle(&mut self, now: Time) {
        each!(self, one => one.idle(now))
    }
    pub fn bits(&self, window: Interval) -> f64 {
        each!(self, one => one.bits(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Raw;

    const NOMINAL: Option<Rate> = Some(Rate::from_mbit(10));

    /// Every capacity with its defaults, and some with others.
    fn capacities() -> Vec<Any> {
        let mut all: Vec<Config> =
            REGISTRY.iter().map(|entry| Config::named(entry.name).expect("a registered name")).collect();
        let mut with = |name: &str, fields: &[(&str, Raw)]| {
            let mut config = Config::named(name).expect("a registered name");
            for (field, value) in fields {
                config.set(field, value).expect("allowed");
            }
            all.push(config);
        };
        let texts = |texts: &[&str]| Raw::List(texts.iter().map(|text| Raw::Text((*text).into())).collect());
        let rates = texts(&["0s: 3333333bit", "7ms: 0bit", "10ms: 50mbit", "31ms: 1mbit"]);
        with("steps", &[("rates", rates), ("period", Raw::Text("40ms".into()))]);
        let times = [0, 0, 3, 4, 4, 4, 9].map(Raw::Integer).to_vec();
        with("trace", &[("opportunities", Raw::List(times))]);
        let recorded = "time_ms,rate_mbps\n0,3\n4,0\n9,50\n30,1\n";
        with("trace", &[("opportunities", Raw::Text(recorded.into()))]);
        let brief = [("arrivals", Raw::Integer(400)), ("session", Raw::Text("2kb".into()))];
        with("ephemeral", &brief);
        with("token-bucket", &[("burst", Raw::Text("1500b".into())), ("peak", Raw::Text("20mbit".into()))]);
        with("grants", &[("period", Raw::Text("500us".into())), ("peak", Raw::Text("30mbit".into()))]);
        let [arrivals, session] = brief;
        with("ephemeral", &[arrivals, session, ("epoch", Raw::Text("2ms".into()))]);
        all.iter().map(|config| config.build(Facts::new(NOMINAL, 1, 0))).collect()
    }

    #[test]
    fn no_capacity_carries_more_in_an_interval_than_it_says() {
        for mut any in capacities() {
            let mut rng = Rng::stream(1, "capacity", 0);
            let mut sent = Vec::new();
            let mut now = Time::ZERO;
            for _ in 0..400 {
                // A busy transmitter most of the time, with pauses.
                while any.ready(now) > now {
                    now = any.ready(now);
                }
                let size = 40 + rng.below(1461) as u16;
                let (start, end) = any.send(now, size);
                assert!(start >= now && end >= start, "{any:?}");
                sent.push((start, end, size));
                now = end;
                if rng.chance(0.1) {
                    any.idle(now);
                    now = Time(now.0 + rng.below(20_000_000));
                }
            }
            assert!(sent.windows(2).all(|two| two[0].1 <= two[1].0), "one packet at a time: {any:?}");
            for first in (0..sent.len()).step_by(7) {
                let burst = 8.0 * any.burst().0 as f64;
                let mut bits = -burst;
                for &(_, end, size) in &sent[first..] {
                    bits += 8.0 * f64::from(size);
                    // Both ends belong to the interval; a fraction of a nanosecond at an end counts as transmitted.
                    let window = Interval { from: sent[first].0, to: Time(end.0 + 1) };
                    assert!(bits <= any.bits(window) * (1.0 + 1e-12) + 0.06, "{any:?}: {bits} in {window}");
                }
            }
        }
    }

    #[test]
    fn a_window_carries_what_its_parts_carry() {
        for any in capacities() {
            let at = |ms: u64| Time(ms * 1_000_000);
            let bits = |from, to| any.bits(Interval { from: at(from), to: at(to) });
            for cut in [0, 1, 7, 9, 40, 85, 123] {
                assert!((bits(0, cut) + bits(cut, 123) - bits(0, 123)).abs() < 1e-3, "{any:?} at {cut}");
            }
        }
    }

    #[test]
    fn what_a_capacity_is_asked_does_not_change_its_path() {
        for (asked, fresh) in capacities().into_iter().zip(capacities()) {
            let mut asked = asked;
            let at = |ms: u64| Time(ms * 1_000_000);
            let windows = [(0, 900), (30, 40), (0, 7), (7, 2000)];
            let bits =
                |any: &Any| windows.map(|(from, to)| any.bits(Interval { from: at(from), to: at(to) }));
            for ms in [3, 11, 500] {
                asked.send(at(ms), 1000);
                asked.idle(at(ms + 1));
            }
            assert_eq!(bits(&asked), bits(&fresh), "{asked:?}");
        }
    }
}
