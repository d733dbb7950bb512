// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SCONE: an edge device advises each flow its share of the link, as a coarse code, once in a period.
//!
//! M. Thomson, C. Huitema, K. Oku, M. Joras, M. Ihlar, "Standard Communication with Network Elements (SCONE) Protocol", draft-ietf-scone-protocol-06, 2026, §5.1, §5.2, §7.1.
//!
//! ```text
//! rate(n) = 100 kbit/s · 10^(n/20)        n = 0 … 126: 100 kbit/s to 199.5 Gbit/s, in steps of 12.2 %; 127: no advice
//! n = the greatest with rate(n) <= u C / max(N, 1)                 0 if there is none
//! rate <- min(rate, rate(n))              the first packet of each flow, and the first after each period
//! ```
//!
//! `C` link rate in bit/s; `u` target utilization; `N` flows whose data arrived in the last interval.
//!
//! Readings: the draft leaves to the network what to advise; here it is the fair share of an edge device. A period is a
//! flow's own and begins with the packet that is stamped; the draft's is 67 s, and it asks elements to update at least
//! once in it, better twice: `period` is the time between updates. An unlimited request is 127.
//!
//! Departures: the draft is for policies of rate limiting, "not a substitute for congestion control", and its advice bounds
//! the mean rate of a period; a controller that follows it packet by packet is our use of it. The signal is part of a
//! QUIC datagram, the receiving application tells the sender, and advice expires after 67 s unless it is renewed; here
//! acknowledgements echo it as they echo any rate, and a sender keeps the last. A packet that is lost with its advice is not
//! replaced before the next period. Only the latest advice counts, not the lowest of a period. A share below 100 kbit/s
//! is advised as 100 kbit/s, so that the sum exceeds the link.
//!
//! Expected behaviour: a code takes up to 10.9 % off a share, so three flows of a link of 9 Mbit/s use 94 % of it. The first
//! packet of a flow is stamped before the device has seen that it is one more, and flows that were there learn of a newcomer up to
//! a period later: with 67 s the advice is stale for as long.

use super::active::Active;
use super::{Explicit, Feedback, Offered, Stamp};
use crate::packet::{Flags, Packet};
use crate::queue::{Departure, Facts};
use crate::units::{Rate, Span, Time};

/// The last code that represents a rate.
const LAST: u8 = 126;

crate::settings! {
    /// SCONE's parameters.
    pub struct Params {
        /// The target utilization u.
        utilization: f64 = 0.9, 0.01..=1.0;
        /// The length of the observation of arrivals before the active flows are counted from zero.
        interval: Span = Span::from_millis(100), Span::from_micros(100)..=Span::from_secs(100);
        /// The time between two pieces of advice to a flow.
        period: Span = Span::from_secs(67), Span::from_millis(1)..=Span::from_secs(100000);
    }
}

/// The rate that a code represents.
fn advised(code: u8) -> Rate {
    Rate(libm::round(100e3 * libm::pow(10.0, f64::from(code) / 20.0)) as u64)
}

/// The code of the greatest rate that is not above this one.
fn code(rate: Rate) -> u8 {
    (0..=LAST).rev().find(|code| advised(*code) <= rate).unwrap_or(0)
}

/// The connection of a flow that was advised last, and when it is next.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    epoch: u16,
    due: Time,
}

/// An edge device that advises flows.
#[derive(Clone, Debug)]
pub struct Scone {
    utilization: f64,
    rate: Rate,
    active: Active,
    period: Span,
    /// By flow.
    turns: Vec<Turn>,
}

impl Scone {
    fn advice(&self) -> Rate {
        let share = self.utilization * self.rate.as_f64() / self.active.flows() as f64;
        advised(code(Rate(share as u64)))
    }

    /// Whether this packet must carry advice.
    fn is_due(&mut self, packet: &Packet, now: Time) -> bool {
        let flow = packet.flow as usize;
        if self.turns.len() <= flow {
            self.turns.resize(flow + 1, Turn::default());
        }
        let turn = &mut self.turns[flow];
        let due = now >= turn.due || packet.epoch != turn.epoch;
        if due {
            *turn = Turn { epoch: packet.epoch, due: now + self.period };
        }
        due
    }
}

impl Feedback for Scone {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Scone {
        let Params { utilization, interval, period } = params;
        Scone { utilization, rate: facts.rate, active: Active::new(interval), period, turns: Vec::new() }
    }

    fn on_arrival(&mut self, offered: &Offered) {
        self.active.arrive(offered);
    }

    fn on_departure(&mut self, departure: &Departure) -> Stamp {
        self.active.turn(departure.now);
        // Acknowledgements echo the request of another packet and are not counted.
        if departure.packet.flags.has(Flags::ACK) {
            return Stamp::Nothing;
        }
        let requested = matches!(departure.packet.explicit(), Some(Explicit::Rate(_)));
        if requested && self.is_due(departure.packet, departure.now) {
            Stamp::Lower(Explicit::Rate(self.advice()))
        } else {
            Stamp::Nothing
        }
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.rate = rate;
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("advice_bps", self.advice().as_f64())]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Any;
    use super::super::stamper::tests::Bench;
    use super::*;
    use crate::queue::tests::link;

    const ANY: Explicit = Explicit::ANY_RATE;

    fn kilobits(rate: u64) -> Option<Explicit> {
        Some(Explicit::Rate(Rate(rate * 1000)))
    }

    #[test]
    fn codes_are_those_of_the_drafts_table() {
        // Its table 1, to the digits that it gives.
        let table = [
            (0, 100e3),
            (1, 112e3),
            (2, 126e3),
            (3, 141e3),
            (20, 1e6),
            (21, 1.12e6),
            (40, 10e6),
            (41, 11.2e6),
            (60, 100e6),
            (61, 112e6),
            (80, 1e9),
            (81, 1.12e9),
            (100, 10e9),
            (101, 11.2e9),
            (120, 100e9),
            (121, 112e9),
            (126, 199.5e9),
        ];
        for (number, rate) in table {
            let exact = advised(number).as_f64();
            assert!((exact / rate - 1.0).abs() < 0.005, "{number}: {exact}");
            // A rate is rounded down to the code's, and one bit/s less is the code below.
            assert_eq!(code(advised(number)), number);
            assert_eq!(code(Rate(advised(number).0 - 1)), number.saturating_sub(1));
        }
        assert_eq!((code(Rate(0)), code(Rate(u64::MAX))), (0, LAST));
    }

    #[test]
    fn a_flow_is_advised_once_in_a_period_and_each_flow_in_its_own() {
        let mut bench = Bench::new(Any::Scone(Scone::new(Params::default(), link(10, 0.06))));
        // 9 Mbit/s for one flow: 10^(39/20) · 100 kbit/s.
        assert_eq!(bench.stamped(0, ANY), Some(Explicit::Rate(Rate(8_912_509))));
        for flow in [0, 1, 2] {
            bench.stamped(flow, ANY);
        }
        bench.now += Span::from_millis(100);
        // The share of three flows is 3 Mbit/s, which the code rounds to 2.818; the old flows have not received it yet.
        for (flow, explicit) in [(0, ANY), (1, ANY), (2, ANY), (3, Explicit::Rate(Rate(2_818_383)))] {
            assert_eq!(bench.stamped(flow, ANY), Some(explicit));
        }
        for _ in 0..668 {
            bench.now += Span::from_millis(100);
            for flow in [0, 1, 2] {
                assert_eq!(bench.stamped(flow, ANY), Some(ANY));
            }
        }
        bench.now += Span::from_millis(100);
        assert_eq!(bench.now, Time::ZERO + Span::from_secs(67));
        assert_eq!(bench.stamped(0, ANY), Some(Explicit::Rate(Rate(2_818_383))));
        bench.now += Span::from_secs(67);
        assert_eq!(bench.stamped(0, kilobits(5).unwrap()), kilobits(5));
        assert_eq!(bench.stamped(0, ANY), Some(ANY));
    }

    #[test]
    fn a_new_connection_of_a_flow_is_advised_anew_and_a_sender_that_asks_for_nothing_is_not() {
        let mut bench = Bench::new(Any::Scone(Scone::new(Params::default(), link(10, 0.06))));
        let data = |epoch| {
            let mut packet = Packet::data(0, 0, 1040, Flags::ECT, Time::ZERO);
            packet.epoch = epoch;
            packet
        };
        assert_eq!(bench.pass(data(0)), data(0));
        for epoch in [0, 1] {
            for advised in [true, false] {
                let asked = data(epoch).with_explicit(ANY);
                assert_eq!(bench.pass(asked) != asked, advised, "{epoch}");
            }
        }
    }
}
