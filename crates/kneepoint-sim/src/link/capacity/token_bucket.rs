// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Token bucket: a shaper; packets wait for tokens, which come at the link's rate, and after a pause `burst` of them pass at once.
//!
//! A. Kuznetsov, D. Torokhov and others, Linux `sch_tbf`, and tc-tbf(8).
//!
//! ```text
//! tokens = min(burst, tokens + rate t)      a packet of L bytes waits until tokens >= L, and takes L
//! ```
//!
//! `rate` is the link's, with which `burst` and `peak` are the arguments of `tc qdisc add … tbf rate … burst … peakrate …`; the queue
//! is the link's, so `limit` is its `buffer`: of `tbf latency 50ms` the bytes of `rate · 50 ms + burst`. Tokens are bytes of packets as
//! scenarios count them; `tc` on Ethernet adds 14.
//!
//! Departures: a packet above `burst` waits until all of its tokens have come, where Linux drops it. With `peak` a packet is on its way for as long as
//! its bytes take at that rate, which spaces packets like a second bucket of one packet (`mtu`, `minburst`).

use super::constant::Constant;
use super::{Capacity, Facts, GREATEST};
use crate::link::bucket::Bucket;
use crate::settings::{Or, Unlimited};
use crate::units::{Bytes, Interval, Rate, Time};

crate::settings! {
    /// A shaper whose tokens come at the link's `rate`.
    pub struct Params {
        /// The greatest number of waiting tokens.
        burst: Bytes = Bytes(64_000), Bytes(1)..=Bytes(1_000_000_000);
        /// The rate at which packets follow each other while there are tokens.
        peak: Or<Rate, Unlimited> = Or::WORD, Or::is(Rate(1))..=Or::is(GREATEST);
    }
}

/// A shaper.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    burst: Bytes,
    peak: Option<Rate>,
    tokens: Bucket,
    line: Constant,
}

impl Capacity for TokenBucket {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> TokenBucket {
        let rate = facts.rate.unwrap_or(GREATEST);
        let peak = params.peak.get().copied();
        let (tokens, line) = (Bucket::new(rate, params.burst), Constant::at(peak));
        TokenBucket { rate, burst: params.burst, peak, tokens, line }
    }

    fn suits(&self, rate: Rate) -> Result<(), String> {
        match self.peak {
            Some(peak) if peak < rate => {
                Err(format!("peak, {peak}, is below the rate, {rate}, at which tokens come: raise it"))
            }
            _ => Ok(()),
        }
    }

    fn burst(&self) -> Bytes {
        self.burst
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        let ready = self.tokens.wait(at.max(self.line.free()), size);
        self.line.send(ready, size)
    }

    fn bits(&self, window: Interval) -> f64 {
        self.rate.as_f64() * window.span().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaper(rate: Rate, burst: Bytes, peak: Option<Rate>) -> TokenBucket {
        let peak = peak.map_or(Or::WORD, Or::is);
        TokenBucket::new(Params { burst, peak }, Facts::new(Some(rate), 1, 0))
    }

    /// The beginnings of transmissions of packets that wait from the start.
    fn starts(shaper: &mut TokenBucket, size: u16, packets: usize) -> Vec<Time> {
        let mut free = Time::ZERO;
        let mut begin = || {
            let (start, end) = shaper.send(free, size);
            free = end;
            start
        };
        (0..packets).map(|_| begin()).collect()
    }

    #[test]
    fn the_example_of_tc_tbf_passes_its_burst_at_the_peak_rate_and_the_rest_at_the_rate() {
        // tbf rate 0.5mbit burst 5kb latency 70ms peakrate 1mbit minburst 1540, where tc's kb is 1024 bytes.
        let mut shaper = shaper(Rate(500_000), Bytes(5 * 1024), Some(Rate(1_000_000)));
        let starts = starts(&mut shaper, 1500, 12);
        let gaps: Vec<u64> = starts.windows(2).map(|two| two[1].0 - two[0].0).collect();
        // 12 ms a packet at the peak, 24 ms at the rate. While a packet passes, half of it is replenished: 5120 - 750 k tokens are there
        // for packet k, which suffice up to the fourth; the fifth waits for the missing 130 bytes.
        assert_eq!(gaps[..4], [12_000_000; 4]);
        assert_eq!(gaps[4], 12_000_000 + 130 * 16_000);
        assert_eq!(gaps[5..], [24_000_000; 6]);
    }

    #[test]
    fn a_burst_passes_at_once_and_never_more_than_a_burst_above_the_rate() {
        let mut shaper = shaper(Rate::from_mbit(10), Bytes(15_000), None);
        let starts = starts(&mut shaper, 1500, 1000);
        assert!(starts[..10].iter().all(|start| *start == Time::ZERO));
        for (packets, start) in starts.iter().enumerate() {
            let due = (8 * 1500 * (packets as u64 + 1)).saturating_sub(8 * 15_000) * 100;
            assert_eq!(start.0, due, "packet {packets}");
        }
    }

    #[test]
    fn a_peak_below_the_rate_is_refused() {
        let slow = shaper(Rate::from_mbit(10), Bytes(15_000), Some(Rate::from_mbit(5)));
        assert!(slow.suits(Rate::from_mbit(10)).unwrap_err().contains("peak"));
    }
}
