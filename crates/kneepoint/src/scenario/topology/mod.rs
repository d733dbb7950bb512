// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Topologies: from a few numbers and the traffic's wishes to nodes and links, and their table.
//!
//! To add one: write `topology/NAME.rs` with its declared parameters and a `lay`, and add its line to
//! [`TOPOLOGIES`].

mod chain;
mod dumbbell;
mod graph;
mod net;
mod parking_lot;

use std::ops::Range;

use super::fault::Faults;
use super::forms::{Buffer, Pace};
use super::reader::{Shape, settings};
use super::sections::{Direction, Place};
use super::tree::Table;
use crate::link::Loss;
use crate::link::{Network, NodeId};
use crate::queue;
use crate::settings::{Field, Settings};
use crate::units::{Bytes, Rate, Span};

pub(super) use graph::{LINK_REQUIRED, LinkFields, NodeFields};

/// A kind of network.
#[derive(Clone, Copy, Debug)]
pub struct Topology {
    /// Its name in `[topology]`.
    pub name: &'static str,
    /// What it looks like.
    pub about: &'static str,
    /// Its fields.
    pub fields: fn() -> &'static [Field],
    /// The fields that have to be given.
    pub required: &'static [&'static str],
    lay: fn(&Site, &Table, &mut Faults) -> Option<Laid>,
}

/// Every kind of network, the default first.
pub const TOPOLOGIES: &[Topology] = &[
    Topology {
        name: "dumbbell",
        about: "Two routers and the bottleneck between them; each flow has its own hosts and round-trip time.",
        fields: dumbbell::Params::fields,
        required: dumbbell::REQUIRED,
        lay: dumbbell::lay,
    },
    Topology {
        name: "parking-lot",
        about: "Routers in a row, every hop a bottleneck; flows enter and leave where they say.",
        fields: parking_lot::Params::fields,
        required: parking_lot::REQUIRED,
        lay: parking_lot::lay,
    },
    Topology {
        name: "chain",
        about: "Nodes in a row with hosts on them: the least network, one link with `hops = 1`.",
        fields: chain::Params::fields,
        required: chain::REQUIRED,
        lay: chain::lay,
    },
    Topology {
        name: "graph",
        about: "Any network: its links are written one by one under `[[link]]`.",
        fields: graph::Params::fields,
        required: &[],
        lay: graph::lay,
    },
];

/// What a topology is built from, apart from its own fields.
pub(super) struct Site<'s> {
    /// The whole scenario.
    pub root: &'s Table,
    /// The discipline of bottlenecks.
    pub queue: queue::Config,
    /// The discipline of the bottleneck against the direction of most data.
    pub reverse_queue: queue::Config,
    /// What bottlenecks lose.
    pub loss: Loss,
    /// Payload of a full packet.
    pub payload: Bytes,
    /// A full packet on the wire.
    pub packet: Bytes,
    /// The hosts to place; empty while other faults are to be reported first.
    pub wishes: Vec<Wish<'s>>,
}

/// Hosts that a group of traffic needs.
pub(super) struct Wish<'s> {
    /// How messages call the group.
    pub label: String,
    /// The group's own table, for places.
    pub table: &'s Table,
    /// How many pairs of hosts.
    pub count: u32,
    /// Its full packets on the wire.
    pub packet: Bytes,
    /// Whether any of its senders may use any of its receivers.
    pub crossed: bool,
    /// A rate at which each sender sends whatever happens.
    pub pressing: Option<Rate>,
    /// Where they are.
    pub place: Place,
}

/// A network with the pairs of nodes that each wish was given.
pub(super) struct Laid {
    pub network: Network,
    pub pairs: Vec<Vec<(NodeId, NodeId)>>,
}

/// Lays the network that `[topology]` names.
pub(super) fn lay(kind: &Topology, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
    (kind.lay)(site, table, faults)
}

impl Site<'_> {
    /// Reads the fields of `[topology]`; `None` if anything is wrong so far.
    fn read<S: Settings>(
        &self,
        kind: &str,
        table: &Table,
        required: &[&str],
        faults: &mut Faults,
    ) -> Option<S> {
        let place = format!("[topology] of kind {kind}");
        let shape = Shape { place: &place, besides: &["kind"], required };
        let params = settings(table, shape, faults);
        faults.is_empty().then_some(params)
    }

    /// What a buffer of `rate` and `rtt` is measured by.
    fn pipe<'p>(&self, rate: Rate, rtt: Span, span: &'p Range<usize>) -> Pipe<'p> {
        let smallest = self.wishes.iter().map(|wish| wish.packet).min().unwrap_or(self.packet);
        Pipe { rate, rtt, payload: self.payload, packet: self.packet, smallest, span }
    }

    /// Whether any data travels in `direction`.
    fn travels(&self, direction: Direction) -> bool {
        self.wishes.iter().any(|wish| wish.place.direction == direction)
    }

    /// How many senders there are.
    fn population(&self) -> u64 {
        self.wishes.iter().map(|wish| u64::from(wish.count)).sum()
    }
}

impl Wish<'_> {
    /// A fault where the group gives `field` to a topology that has no use for it.
    fn refuse(&self, field: &str, kind: &str, remedy: &str, faults: &mut Faults) {
        if let Some(node) = self.table.get(field).filter(|node| node.as_text() != Some("auto")) {
            let message = format!("{}: `{field}` means nothing in a {kind}", self.label);
            faults.add_with_help(&node.span, message, remedy);
        }
    }
}

impl Wish<'_> {
    /// An access link holds whatever comes, so nothing may press more into it than it carries.
    fn hold_under(&self, access: &Pace, faults: &mut Faults) {
        match (self.pressing, access.get()) {
            (Some(rate), Some(access)) if rate > *access => {
                let message =
                    format!("{}: its rate, {rate}, is above that of its access link, {access}", self.label);
                let help = "raise `access_rate` in [topology] or lower the rate";
                faults.add_with_help(self.table.place("rate"), message, help);
            }
            _ => {}
        }
    }
}

/// What a buffer is measured by.
struct Pipe<'p> {
    rate: Rate,
    rtt: Span,
    payload: Bytes,
    packet: Bytes,
    /// The packets of whoever sends the smallest: as many as fit have to be held in memory.
    smallest: Bytes,
    /// Where a fault points.
    span: &'p Range<usize>,
}

impl Pipe<'_> {
    /// The limit that `buffer` means; one counted in bandwidth-delay products is at least `floor` packets.
    fn limit(&self, buffer: Buffer, floor: u64, faults: &mut Faults) -> Option<queue::Limit> {
        let greatest = u64::from(super::forms::GREATEST_BUFFER);
        let limit = match buffer {
            Buffer::Packets(packets) => queue::Limit::Packets(packets),
            Buffer::Bdp(times) => {
                let bdp = times * self.rate.packets(self.payload) * self.rtt.as_secs_f64();
                let packets = (bdp.round() as u64).max(floor).max(1);
                queue::Limit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
            }
            Buffer::Data(bytes) => queue::Limit::Bytes(bytes),
            Buffer::Time(span) => queue::Limit::Bytes(self.rate.carries(span)),
        };
        let packets = match limit {
            queue::Limit::Packets(packets) => u64::from(packets),
            queue::Limit::Bytes(bytes) => bytes.0 / self.smallest.min(self.packet).0,
            queue::Limit::Unlimited => 0,
        };
        if matches!(limit, queue::Limit::Bytes(bytes) if bytes < self.packet) {
            let message = format!("a buffer of {buffer} does not hold one packet of {}", self.packet);
            faults.add_with_help(self.span, message, "give it at least `1pkt`");
            return None;
        }
        if packets > greatest {
            let message =
                format!("a buffer of {buffer} is {packets} packets, above the {greatest} that are allowed");
            faults.add_with_help(self.span, message, format!("give it at most `{greatest}pkt`"));
            return None;
        }
        Some(limit)
    }
}

/// Every sender with every receiver, while that is few enough to list.
fn cross(pairs: &[(NodeId, NodeId)]) -> Vec<(NodeId, NodeId)> {
    if pairs.len() * pairs.len() > 10_000 {
        return pairs.to_vec();
    }
    let mut all: Vec<(NodeId, NodeId)> =
        pairs.iter().flat_map(|(from, _)| pairs.iter().map(move |(_, to)| (*from, *to))).collect();
    all.sort_unstable();
    all.dedup();
    all
}
