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

use super::active::Active;
use super::{Explicit, Feedback, Offered, Stamp};
use crate::queue::{Departure, Facts};
use crate::units::{Rate, Span};

crate::settings! {
    /// ERICA's parameters.
    pub struct Params {
        /// The target utilization u.
        utilization: f64 = 0.9, 0.01..=1.0;
        /// The length of the observation of arrivals before the active flows are counted from zero.
        interval: Span = Span::from_millis(100), Span::from_micros(100)..=Span::from_secs(100);
    }
}

/// An edge device that stamps fair shares.
#[derive(Clone, Debug)]
pub struct Erica {
    utilization: f64,
    rate: Rate,
    active: Active,
}

impl Erica {
    fn share(&self) -> Rate {
        Rate((self.utilization * self.rate.as_f64() / self.active.flows() as f64) as u64)
    }
}

impl Feedback for Erica {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Erica {
        let Params { utilization, interval } = params;
        Erica { utilization, rate: facts.rate, active: Active::new(interval) }
    }

    fn on_arrival(&mut self, offered: &Offered) {
        self.active.arrive(offered);
    }

    fn on_departure(&mut self, departure: &Departure) -> Stamp {
        self.active.turn(departure.now);
        Stamp::Lower(Explicit::Rate(self.share()))
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("share_bps", self.share().as_f64())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Any;
    use super::super::stamper::tests::Bench;
    use super::*;
    use crate::packet::{Flags, Packet};
    use crate::queue::tests::link;
    use crate::units::Time;

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
        // No flow was active after a pause: one flow would have everything.
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
