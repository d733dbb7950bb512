// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ERICA: drop tail that writes into each packet the rate that is its flow's fair share of the link.
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
//! Readings: until the first interval has passed, one flow is assumed. Flows that carry no explicit rate have a share like
//! all others; acknowledgements neither count nor are stamped.
//! Departures: the basic scheme's fair share alone. ERICA offers max(share, the flow's own rate / load), so that a flow may
//! take what others leave; and ERICA+ sets u by the queueing delay. ABR cells carry rates back in cells of their own, here
//! acknowledgements echo them.

use super::{Arrival, Backlog, Decision, Departure, Discipline, Facts};
use crate::packet::Flags;
use crate::rng::Rng;
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

/// A queue that stamps fair shares.
#[derive(Clone, Debug)]
pub struct Erica {
    /// u C, in bit/s.
    target: f64,
    share: Rate,
    interval: Span,
    /// The present interval's number, from 1.
    number: u64,
    /// By flow, the last interval in which its data arrived.
    seen: Vec<u64>,
    active: u64,
}

impl Discipline for Erica {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Erica {
        let target = params.utilization * facts.rate.as_f64();
        let share = Rate(target as u64);
        Erica { target, share, interval: params.interval, number: 1, seen: Vec::new(), active: 0 }
    }

    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        if !arrival.packet.flags.has(Flags::ACK) {
            let flow = arrival.packet.flow as usize;
            if self.seen.len() <= flow {
                self.seen.resize(flow + 1, 0);
            }
            self.active += u64::from(self.seen[flow] != self.number);
            self.seen[flow] = self.number;
        }
        Decision::Pass
    }

    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        if departure.packet.flags.has(Flags::ACK) { Decision::Pass } else { Decision::Stamp(self.share) }
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_tick(&mut self, _: Backlog, _: Time) {
        self.share = Rate((self.target / self.active.max(1) as f64) as u64);
        self.active = 0;
        self.number += 1;
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("share_bps", self.share.as_f64())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link, packet};
    use super::super::{Any, Limit};
    use super::*;

    fn erica() -> Bench {
        Bench::new(Any::Erica(Erica::new(Params::default(), link(10, 0.06))), Limit::Unlimited)
    }

    /// The rate stamped into a packet of a flow with this rate.
    fn stamped(bench: &mut Bench, flow: u32, rate: Rate) -> Rate {
        let mut packet = packet().with_rate(rate);
        packet.flow = flow;
        bench.enqueue(packet);
        bench.serve().and_then(|served| served.rate()).expect("a packet with a rate")
    }

    #[test]
    fn a_packet_leaves_with_its_flows_share_of_nine_tenths_of_the_link() {
        let mut bench = erica();
        assert_eq!(stamped(&mut bench, 0, Rate(u64::MAX)), Rate(9_000_000));
        for flow in [1, 2, 1, 1] {
            stamped(&mut bench, flow, Rate(u64::MAX));
        }
        bench.tick();
        assert_eq!(stamped(&mut bench, 1, Rate(u64::MAX)), Rate(3_000_000));
        bench.tick();
        assert_eq!(stamped(&mut bench, 1, Rate(u64::MAX)), Rate(9_000_000));
        // Nobody was active: one flow would have everything.
        bench.tick();
        bench.tick();
        assert_eq!(stamped(&mut bench, 1, Rate(u64::MAX)), Rate(9_000_000));
    }

    #[test]
    fn a_lower_rate_of_another_link_stays_and_none_is_invented() {
        let mut bench = erica();
        assert_eq!(stamped(&mut bench, 0, Rate(5_000)), Rate(5_000));
        bench.enqueue(packet());
        assert_eq!(bench.serve(), Some(packet()));
    }

    #[test]
    fn an_acknowledgement_keeps_the_rate_that_it_echoes() {
        let mut bench = erica();
        let ack = crate::packet::Packet::ack(3, 1, 40, Flags::default(), Time::ZERO, [(0, 0); 3]);
        let ack = ack.with_rate(Rate::from_mbit(100));
        bench.enqueue(ack);
        assert_eq!(bench.serve(), Some(ack));
        bench.tick();
        assert_eq!(bench.state(), [("share_bps", 9e6)]);
    }
}
