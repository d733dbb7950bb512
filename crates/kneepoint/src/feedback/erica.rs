// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ERICA: an edge device counts the flows that are active and stamps the fair share of the link.
//!
//! S. Kalyanaraman, R. Jain, S. Fahmy, R. Goyal, B. Vandalore, "The ERICA Switch Algorithm for ABR Traffic Management in ATM Networks", IEEE/ACM ToN 8(1) 2000, §3.
//!
//! ```text
//! share = u C / max(N, 1)                 N flows whose data arrived in the last interval
//! rate  <- min(rate, share)               each departing packet with an explicit rate
//! ```
//!
//! `u` target utilization; `C` link rate in bit/s; `share rate` bit/s.
//!
//! Readings: until the first interval has passed, one flow is assumed; so it is after an interval without data. Flows that
//! request no rate have a share like all others; acknowledgements do not count.
//! Departures: the basic scheme's fair share alone. ERICA offers max(share, the flow's own rate / load), so that a flow may
//! take what others leave; and ERICA+ sets u by the queueing delay. ABR cells carry rates back in cells of their own, here
//! acknowledgements echo them.

use super::{Explicit, Feedback, Offered, Stamp};
use crate::packet::Flags;
use crate::queue::{Departure, Facts};
use crate::units::{Rate, Span, Time};

crate::settings! {
    /// ERICA's parameters.
    pub struct Params {
        /// The target utilization u.
        utilization: f64 = 0.9, 0.01..=1.0;
        /// How long arrivals are watched before the active flows are counted anew.
        interval: Span = Span::from_millis(100), Span::from_micros(100)..=Span::from_secs(100);
    }
}

/// An edge device that stamps fair shares.
#[derive(Clone, Debug)]
pub struct Erica {
    utilization: f64,
    rate: Rate,
    share: Rate,
    interval: Span,
    /// The present interval's number, from 1, and its end.
    number: u64,
    end: Time,
    /// By flow, the last interval in which its data arrived.
    seen: Vec<u64>,
    active: u64,
}

impl Erica {
    /// The intervals that have ended by `now` are over.
    fn turn(&mut self, now: Time) {
        if now < self.end {
            return;
        }
        let intervals = 1 + (now - self.end).0 / self.interval.0;
        // Only the first of them had any data.
        let active = if intervals == 1 { self.active } else { 0 };
        self.share = Rate((self.utilization * self.rate.as_f64() / active.max(1) as f64) as u64);
        self.end += Span(intervals * self.interval.0);
        self.number += intervals;
        self.active = 0;
    }
}

impl Feedback for Erica {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Erica {
        let Params { utilization, interval } = params;
        Erica {
            utilization,
            rate: facts.rate,
            share: Rate((utilization * facts.rate.as_f64()) as u64),
            interval,
            number: 1,
            end: Time::ZERO + interval,
            seen: Vec::new(),
            active: 0,
        }
    }

    fn on_arrival(&mut self, offered: &Offered) {
        self.turn(offered.now);
        if offered.packet.flags.has(Flags::ACK) {
            return;
        }
        let flow = offered.packet.flow as usize;
        if self.seen.len() <= flow {
            self.seen.resize(flow + 1, 0);
        }
        self.active += u64::from(self.seen[flow] != self.number);
        self.seen[flow] = self.number;
    }

    fn on_departure(&mut self, departure: &Departure) -> Stamp {
        self.turn(departure.now);
        Stamp::Lower(Explicit::Rate(self.share))
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("share_bps", self.share.as_f64())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Any;
    use super::super::stamper::tests::Bench;
    use super::*;
    use crate::packet::Packet;
    use crate::queue::tests::link;

    const ANY: Explicit = Explicit::ANY_RATE;

    fn erica() -> Bench {
        Bench::new(Any::Erica(Erica::new(Params::default(), link(10, 0.06))))
    }

    fn kilobits(rate: u64) -> Option<Explicit> {
        Some(Explicit::Rate(Rate(rate * 1000)))
    }

    #[test]
    fn a_packet_leaves_with_its_flows_share_of_nine_tenths_of_the_link() {
        let mut bench = erica();
        assert_eq!(bench.stamped(0, ANY), kilobits(9_000));
        for flow in [1, 2, 1, 1] {
            bench.stamped(flow, ANY);
        }
        bench.now += Span::from_millis(100);
        assert_eq!(bench.stamped(1, ANY), kilobits(3_000));
        bench.now += Span::from_millis(100);
        assert_eq!(bench.stamped(1, ANY), kilobits(9_000));
        // After a pause nobody was active: one flow would have everything.
        bench.stamped(2, ANY);
        bench.now += Span::from_millis(250);
        assert_eq!(bench.stamped(1, ANY), kilobits(9_000));
    }

    #[test]
    fn a_lower_rate_of_another_link_stays_and_none_is_invented() {
        let mut bench = erica();
        assert_eq!(bench.stamped(0, Explicit::Rate(Rate(5_000))), kilobits(5));
        assert_eq!(bench.pass(Packet::default()), Packet::default());
    }

    #[test]
    fn an_acknowledgement_keeps_the_rate_that_it_echoes() {
        let mut bench = erica();
        let ack = Packet::ack(3, 1, 40, Flags::default(), Time::ZERO, [(0, 0); 3]);
        let ack = ack.with_explicit(Explicit::Rate(Rate::from_mbit(100)));
        assert_eq!(bench.pass(ack), ack);
        assert_eq!(bench.stamper.state(), [("share_bps", 9e6)]);
    }
}
