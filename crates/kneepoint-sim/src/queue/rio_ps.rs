// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RIO-PS: RIO where the first packets of each flow are In and all later ones Out, so that short flows lose less.
//!
//! L. Guo, I. Matta, "The War between Mice and Elephants", ICNP 2001, §III.
//!
//! ```text
//! n <- n + 1, first n <- 0 if the flow was silent for longer than T_u          each packet of a flow
//! In: n <= L_t,  Out: n > L_t                                                  short, long
//! RIO with In and Out
//! with a target ratio, every T_c: the least L_t for which active short flows >= ratio · active long flows
//! ```
//!
//! `n L_t` packets; `T_u T_c` times; a flow is active that sent a packet in the last T_u.
//!
//! Readings: a new connection instead of an old one is a new flow. L_t is constant unless a ratio is given; the paper
//! adapts it to a ratio of short to long flows without the step being known to us: here it is chosen again, from the packets
//! that active flows have sent. The constant is the length below which the paper calls a flow short.
//! Departure: the paper counts and tags packets at the edge of the network. Packets carry no tag here, so the queue itself
//! keeps the edge's record.

use super::rio::{Class, Classes, TwoClasses};
use super::{Arrival, Backlog, Decision, Discipline, Facts, Ticket, Waiting};
use crate::packet::Packet;
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// RIO-PS's parameters.
    pub struct Params {
        ..classes: Classes;
        /// L_t: the packets of a flow that are In; with a ratio, at first.
        short_packets: u32 = 20, 0..=1000000000;
        /// T_u: the silence after which a flow counts as a new one.
        timeout: Span = Span::from_secs(1), Span::from_millis(1)..=Span::from_secs(3600);
        /// The desired number of active short flows for each long one; 0 keeps `short_packets`.
        target_ratio: f64 = 0.0, 0.0..=1000000.0;
        /// T_c: how often `short_packets` follows the ratio.
        interval: Span = Span::from_secs(10), Span::from_millis(10)..=Span::from_secs(3600);
    }
}

/// A flow at the edge of the network.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    packets: u32,
    epoch: u16,
    latest: Time,
}

/// The edge's record of flows.
#[derive(Clone, Debug)]
struct Edge {
    /// L_t.
    short: u32,
    timeout: Span,
    ratio: f64,
    /// By number.
    flows: Vec<Flow>,
}

impl Edge {
    fn class(&mut self, packet: &Packet, now: Time) -> Class {
        let number = packet.flow as usize;
        if self.flows.len() <= number {
            self.flows.resize(number + 1, Flow::default());
        }
        let flow = &mut self.flows[number];
        let ended = flow.epoch != packet.epoch || now.since(flow.latest) > self.timeout;
        let before = if ended { 0 } else { flow.packets };
        *flow = Flow { packets: before.saturating_add(1), epoch: packet.epoch, latest: now };
        if flow.packets <= self.short { Class::In } else { Class::Out }
    }

    /// Chooses L_t by the ratio, if any flow is active.
    fn adapt(&mut self, now: Time) {
        let active = |flow: &&Flow| flow.packets > 0 && now.since(flow.latest) <= self.timeout;
        let mut lengths: Vec<u32> = self.flows.iter().filter(active).map(|flow| flow.packets).collect();
        lengths.sort_unstable();
        // Of n flows, k are short: k >= ratio (n - k).
        let short = (lengths.len() as f64 * self.ratio / (1.0 + self.ratio)).ceil() as usize;
        if let Some(longest) = short.checked_sub(1).and_then(|last| lengths.get(last)) {
            self.short = *longest;
        }
    }
}

/// A RIO-PS queue and the edge before it.
#[derive(Clone, Debug)]
pub struct RioPs {
    classes: TwoClasses,
    edge: Edge,
    interval: Option<Span>,
}

impl Discipline for RioPs {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> RioPs {
        let Params { short_packets: short, timeout, target_ratio: ratio, .. } = params;
        RioPs {
            classes: TwoClasses::new(params.classes, facts),
            edge: Edge { short, timeout, ratio, flows: Vec::new() },
            interval: (ratio > 0.0).then_some(params.interval),
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        let class = self.edge.class(arrival.packet, arrival.now);
        self.classes.judge(class, arrival, rng)
    }

    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        self.classes.join(ticket, waiting);
    }

    fn next(&mut self, waiting: &mut Waiting, _: Time) -> Option<Ticket> {
        self.classes.next(waiting)
    }

    fn on_idle(&mut self, now: Time) {
        self.classes.on_idle(now);
    }

    fn interval(&self) -> Option<Span> {
        self.interval
    }

    fn on_tick(&mut self, _: Backlog, now: Time) {
        self.edge.adapt(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let mut state = self.classes.state();
        state.push(("short_packets", f64::from(self.edge.short)));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;

    fn edge(short: u32, ratio: f64) -> Edge {
        Edge { short, timeout: Span::from_secs(1), ratio, flows: Vec::new() }
    }

    fn send(edge: &mut Edge, flow: u32, epoch: u16, millis: u64) -> Class {
        let now = Span::from_millis(millis).after_start();
        let mut packet = packet();
        (packet.flow, packet.epoch) = (flow, epoch);
        edge.class(&packet, now)
    }

    #[test]
    fn the_first_packets_of_a_flow_are_in() {
        let mut edge = edge(2, 0.0);
        let mut classes = |flow, epoch, millis: [u64; 3]| millis.map(|at| send(&mut edge, flow, epoch, at));
        assert_eq!(classes(3, 0, [0, 10, 20]), [Class::In, Class::In, Class::Out]);
        assert_eq!(classes(1, 0, [20, 20, 20]), [Class::In, Class::In, Class::Out]);
        // A second of silence, at most, is still the same flow.
        assert_eq!(classes(3, 0, [1020, 2020, 3020]), [Class::Out; 3]);
        assert_eq!(classes(3, 0, [4021, 4022, 4023]), [Class::In, Class::In, Class::Out]);
        // The next connection in its slot is another flow.
        assert_eq!(classes(3, 1, [4024, 4025, 4026]), [Class::In, Class::In, Class::Out]);
    }

    #[test]
    fn the_threshold_follows_the_ratio_of_short_to_long_flows() {
        let mut edge = edge(20, 3.0);
        edge.adapt(Time::ZERO);
        assert_eq!(edge.short, 20);
        // Eight flows have sent 1, 2, … 8 packets. Six short ones for two long ones: up to 6 packets.
        for flow in (1..=8).flat_map(|flow| vec![flow; flow as usize]) {
            send(&mut edge, flow, 0, 500);
        }
        edge.adapt(Span::from_millis(1000).after_start());
        assert_eq!(edge.short, 6);
        // Only the last two are active later, and both are short then.
        for flow in 7..=8 {
            send(&mut edge, flow, 0, 1500);
        }
        edge.adapt(Span::from_millis(2000).after_start());
        assert_eq!(edge.short, 9);
    }
}
