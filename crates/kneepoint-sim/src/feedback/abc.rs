// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ABC: a router marks each packet "accelerate" or "brake", so that twice the accelerated rate is its target.
//!
//! P. Goyal, A. Agarwal, R. Netravali, M. Alizadeh, H. Balakrishnan, "ABC: A Simple Explicit Congestion Controller for Wireless Networks", NSDI 2020, §3.1.
//!
//! ```text
//! tr = eta mu - (mu / delta) (x - threshold)+       target rate of the senders, one round trip from now
//! f  = min(tr / (2 cr), 1)                          fraction of packets to accelerate
//! token <- min(token + f, limit)                    each departing packet
//! token > 1:  token <- token - 1, accelerate        else brake
//! ```
//!
//! `mu` link rate, bit/s; `cr` rate at which packets left in the last `window`, bit/s; `x` queueing delay, `delta`, `threshold`: s;
//! `eta` target utilization. A sender answers an acceleration with two packets and a brake with none, so 2 f cr arrives.
//! A loop of round-trip time R is stable if delta > 2 R / 3.
//!
//! Readings: `x` is the backlog with the departing packet over `mu`, as in an emulator of cellular links that has this
//! router; it also has eta = 0.98 and a limit of 5 tokens, measures over 20 ms, and takes eta times `cr`, not `mu`. We could not
//! check delta, the threshold and the window against the paper's text; delta = 133 ms is stable for round trips below 200 ms. `mu` of a link whose capacity varies is its mean over the last 40 ms. Acknowledgements and packets that
//! cannot be marked count in `cr` and take no tokens. A packet that an earlier router braked stays so and spends no token.
//!
//! Departures: a brake is a CE mark, and every unmarked packet accelerates. The paper redefines ECT(1) and ECT(0)
//! as accelerate and brake and leaves CE to other routers, and its receivers echo by the NS bit; so here a queue that marks is
//! another brake, and a sender of classic ECN at this router sees a mark on about every other packet. The paper's
//! two queues, which isolate such senders, are left out.

use std::collections::VecDeque;

use super::{Feedback, Stamp};
use crate::packet::Flags;
use crate::queue::{Departure, Facts};
use crate::units::{Rate, Span, Time};

crate::settings! {
    /// The router's parameters.
    pub struct Params {
        /// The target utilization eta.
        utilization: f64 = 0.98, 0.01..=1.0;
        /// The time in which queueing delay above the threshold is to be drained, delta.
        drain: Span = Span::from_millis(133), Span::from_millis(1)..=Span::from_secs(100);
        /// The queueing delay that is left alone.
        threshold: Span = Span::from_millis(20), Span::ZERO..=Span::from_secs(10);
        /// The interval over which the rate of departures is measured.
        window: Span = Span::from_millis(40), Span::from_micros(100)..=Span::from_secs(10);
        /// The most tokens that are kept.
        tokens: f64 = 5.0, 1.0..=1000.0;
    }
}

/// A router that accelerates and brakes.
#[derive(Clone, Debug)]
pub struct Abc {
    params: Params,
    /// mu, bit/s.
    rate: f64,
    /// Departures of the last window, with their bits, and the sum of these.
    departures: VecDeque<(Time, u64)>,
    departed: u64,
    token: f64,
    target: f64,
}

impl Abc {
    /// Counts a departure: cr.
    fn departure_rate(&mut self, now: Time, bits: u64) -> f64 {
        self.departures.push_back((now, bits));
        self.departed += bits;
        while let Some(&(at, past)) = self.departures.front()
            && at + self.params.window <= now
        {
            self.departures.pop_front();
            self.departed -= past;
        }
        self.departed as f64 / self.params.window.as_secs_f64()
    }

    /// tr, with this many bits in the queue.
    fn target(&self, queued: f64) -> f64 {
        let Params { utilization, drain, threshold, .. } = self.params;
        let excess = (queued - self.rate * threshold.as_secs_f64()).max(0.0);
        (utilization * self.rate - excess / drain.as_secs_f64()).max(0.0)
    }
}

impl Feedback for Abc {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Abc {
        let rate = facts.rate.as_f64();
        let target = params.utilization * rate;
        Abc { params, rate, departures: VecDeque::new(), departed: 0, token: 0.0, target }
    }

    fn on_departure(&mut self, departure: &Departure) -> Stamp {
        let Departure { now, packet, backlog, .. } = *departure;
        let current = self.departure_rate(now, packet.bytes().0 * 8);
        self.target = self.target((backlog.bytes.0 + packet.bytes().0) as f64 * 8.0);
        if packet.flags.has(Flags::ACK) || !packet.flags.has(Flags::ECT) {
            return Stamp::Nothing;
        }
        let fraction = (self.target / (2.0 * current)).min(1.0);
        self.token = (self.token + fraction).min(self.params.tokens);
        if packet.flags.has(Flags::CE) {
            Stamp::Nothing
        } else if self.token > 1.0 {
            self.token -= 1.0;
            Stamp::Nothing
        } else {
            Stamp::Mark
        }
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.rate = rate.as_f64();
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("target_bps", self.target), ("tokens", self.token)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::Any;
    use super::super::stamper::tests::Bench;
    use super::*;
    use crate::packet::Packet;
    use crate::queue::Backlog;
    use crate::queue::tests::link;
    use crate::units::Bytes;

    /// Packets that a link of 10 Mbit/s accelerates of a thousand that leave at its rate, with `queued` packets behind each.
    fn accelerated(queued: u32, params: &Params) -> u32 {
        let mut bench = Bench::new(Any::Abc(Abc::new(params.clone(), link(10, 0.1))));
        bench.backlog = Backlog { packets: queued, bytes: Bytes(u64::from(queued) * 1250) };
        let mut accelerated = 0;
        for packet in 0..1_100 {
            bench.now += Span::from_millis(1);
            let sent = Packet::data(0, 0, 1250, Flags::ECT, bench.now);
            let braked = bench.pass(sent).flags.has(Flags::CE);
            // The first window is still being filled.
            accelerated += u32::from(packet >= 100 && !braked);
        }
        accelerated
    }

    #[test]
    fn half_the_packets_are_accelerated_at_the_target_and_none_with_a_queue_of_a_drain_time() {
        let full = Params { utilization: 1.0, ..Params::default() };
        assert!(accelerated(10, &full).abs_diff(500) <= 1);
        assert!(accelerated(10, &Params::default()).abs_diff(490) <= 1);
        // A packet lasts 1 ms: 20 + 66.5 ms of queue leave half the target, and 20 + 133 nothing.
        let half = Params { utilization: 1.0, drain: Span::from_millis(132), ..full.clone() };
        assert!(accelerated(85, &half).abs_diff(250) <= 1);
        assert_eq!(accelerated(153, &full), 0);
    }

    #[test]
    fn all_packets_are_accelerated_where_half_the_link_or_less_is_used() {
        let mut bench = Bench::new(Any::Abc(Abc::new(Params::default(), link(10, 0.1))));
        let mut braked = 0;
        for _ in 0..500 {
            bench.now += Span::from_millis(3);
            let sent = Packet::data(0, 0, 1250, Flags::ECT, bench.now);
            braked += u32::from(bench.pass(sent).flags.has(Flags::CE));
        }
        // One token is too few, so the first packet is braked.
        assert_eq!(braked, 1);
    }

    #[test]
    fn a_brake_stays_and_spends_no_token_and_a_packet_without_ecn_is_let_be() {
        let mut bench = Bench::new(Any::Abc(Abc::new(Params::default(), link(10, 0.1))));
        for flags in [Flags::default(), Flags::ECT.with(Flags::CE)] {
            let packet = Packet::data(0, 0, 1250, flags, bench.now);
            for _ in 0..100 {
                bench.now += Span::from_millis(10);
                assert_eq!(bench.pass(packet), packet);
            }
        }
        assert_eq!(bench.stamper.state()[1], ("tokens", 5.0));
    }

    #[test]
    fn without_capacity_every_packet_brakes() {
        let mut abc = Abc::new(Params::default(), link(10, 0.1));
        abc.on_capacity(Rate(0));
        abc.token = 1.0;
        let packet = Packet::data(0, 0, 1250, Flags::ECT, Time::ZERO);
        let departure =
            Departure { now: Time(1), packet: &packet, backlog: Backlog::default(), waited: Span::ZERO };
        assert_eq!(abc.on_departure(&departure), Stamp::Mark);
    }
}
