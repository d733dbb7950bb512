// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Topologies: from a few numbers and the groups of traffic to nodes and links, and their registry.
//!
//! To add one: write `scenario/topology/NAME.rs` like `scenario/topology/chain.rs` and add its line to the registry below.

mod delays;
mod net;

use std::fmt::Debug;
use std::ops::Range;

use super::effects::Reverse;
use super::extensions::Extensions;
use super::forms::{Buffer, Pace};
use super::sections::{Direction, Endpoints};
use super::tree::Table;
use crate::fault::Faults;
use crate::link::effects::Effects;
use crate::link::handover::Handover;
use crate::link::{Network, NodeId, capacity, loss};
use crate::settings::{Auto, Or, Settings};
use crate::units::{Bytes, Rate, Span};
use crate::{feedback, queue};

use delays::{DelaySteps, Period, delay_range, delays_repeat, period_range, steps};
pub(super) use graph::{LINK_REQUIRED, LinkFields, NodeFields};

/// A kind of network.
pub trait Topology: Clone + Debug {
    /// Its parameters.
    type Params: Settings;
    /// The parameters that must be given.
    const REQUIRED: &'static [&'static str] = &[];

    /// The network of these parameters.
    fn new(params: Self::Params) -> Self;
    /// Its nodes and links, and the pairs of nodes between which each group of hosts sends; `None` after a fault. `table` is
    /// `[topology]`, for places.
    fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid>;
}

crate::registry! {
    trait Topology;
    each each;
    algorithms {
        dumbbell::Dumbbell,
        parking_lot::ParkingLot as "parking-lot",
        chain::Chain,
        graph::Graph,
    }
}

/// The methods of [`Topology`], forwarded to the variant.
impl Any {
    pub(super) fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
        each!(self, one => one.lay(site, table, faults))
    }
    fn required(&self) -> &'static [&'static str] {
        fn of<T: Topology>(_: &T) -> &'static [&'static str] {
            T::REQUIRED
        }
        each!(self, one => of(one))
    }
}

/// The mandatory parameters of a topology.
pub(super) fn required(name: &str) -> &'static [&'static str] {
    Config::named(name).map_or(&[], |config| config.build().required())
}

/// The rate of a link, or `auto` for the mean of its trace.
pub(super) type Nominal = Or<Rate, Auto>;

/// The range of [`Nominal`].
pub(super) fn rate_range() -> std::ops::RangeInclusive<Nominal> {
    Or::is(Rate(1))..=Or::is(Rate::from_mbit(1_000_000))
}

/// The rate of a link with such a capacity.
fn nominal(rate: &Nominal, capacity: &capacity::Config, table: &Table, faults: &mut Faults) -> Option<Rate> {
    let rate = rate.get().copied().or_else(|| capacity.mean());
    if rate.is_none() {
        let message =
            format!("rate: `auto` is the mean of a trace, and the capacity is `{}`", capacity.name());
        let help = "give a rate, or a `file` with a trace in `[capacity]`";
        faults.add_with_help(table.place("rate"), message, help);
    }
    rate
}

/// The inputs of a topology in addition to its own fields.
pub struct Site<'s> {
    /// The whole scenario.
    pub root: &'s Table,
    /// Algorithms that links may name in addition to the registered ones.
    pub extensions: &'s Extensions,
    /// The discipline of bottlenecks.
    pub queue: queue::Config,
    /// The discipline of the bottleneck against the direction of most data.
    pub reverse_queue: queue::Config,
    /// Defaults of the disciplines that links name, a table for each.
    pub queue_defaults: Table,
    /// The feedback of bottlenecks in the direction of most data.
    pub feedback: feedback::Config,
    /// The losses of bottlenecks in the direction of most data.
    pub loss: loss::Config,
    /// The capacity of bottlenecks in the direction of most data, or in both if they share it.
    pub capacity: capacity::Config,
    /// Further effects of bottlenecks, in the direction of most data.
    pub effects: Effects,
    /// The handovers of bottlenecks, in both directions.
    pub handover: Handover,
    /// The bottlenecks against the direction of most data.
    pub(super) reverse: Reverse,
    /// Payload of a full packet.
    pub payload: Bytes,
    /// A full packet on the wire.
    pub packet: Bytes,
    /// The hosts to place; empty while other faults take precedence.
    pub wishes: Vec<Wish<'s>>,
}

/// Hosts that a group of traffic needs.
pub struct Wish<'s> {
    /// The name of the group in messages.
    pub label: String,
    /// The group's own table, for places.
    pub table: &'s Table,
    /// The number of pairs of hosts.
    pub count: u32,
    /// Its full packets on the wire.
    pub packet: Bytes,
    /// Whether any of its senders may use any of its receivers.
    pub crossed: bool,
    /// The rate of each sender, if it ignores congestion.
    pub pressing: Option<Rate>,
    /// Their place.
    pub place: Endpoints,
}

/// A network with the pairs of nodes that each wish was given.
pub struct Laid {
    pub network: Network,
    pub pairs: Vec<Vec<(NodeId, NodeId)>>,
}

impl Site<'_> {
    /// The capacity of the bottleneck against the direction of most data.
    fn reverse_capacity(&self) -> capacity::Config {
        if self.capacity.shared() { self.capacity.clone() } else { self.reverse.capacity.clone() }
    }

    /// The units of a buffer at `rate` and `rtt`.
    fn pipe<'p>(&self, rate: Rate, rtt: Span, span: &'p Range<usize>) -> Pipe<'p> {
        let smallest = self.wishes.iter().map(|wish| wish.packet).min().unwrap_or(self.packet);
        Pipe { rate, rtt, payload: self.payload, packet: self.packet, smallest, span }
    }

    /// Whether any data travels in `direction`.
    fn travels(&self, direction: Direction) -> bool {
        self.wishes.iter().any(|wish| wish.place.direction == direction)
    }

    /// The number of senders.
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
    /// An access link has an unlimited buffer, so no source may send more into it than it carries.
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

/// The units of a buffer.
struct Pipe<'p> {
    rate: Rate,
    rtt: Span,
    payload: Bytes,
    packet: Bytes,
    /// The smallest packets of any sender: as many as fit must be held in memory.
    smallest: Bytes,
    /// The place to which a fault points.
    span: &'p Range<usize>,
}

impl Pipe<'_> {
    /// The limit that `buffer` means; one counted in bandwidth-delay products is at least `floor` packets.
    fn limit(&self, buffer: Buffer, floor: u64, faults: &mut Faults) -> Option<queue::Limit> {
        let greatest = u64::from(super::forms::GREATEST_BUFFER);
        // A number that does not fit is refused below.
        let counted = |packets: u64| (queue::Limit::Packets(packets as u32), packets);
        let measured =
            |bytes: Bytes| (queue::Limit::Bytes(bytes), bytes.0 / self.smallest.min(self.packet).0);
        let (limit, packets) = match buffer {
            Buffer::Packets(packets) => counted(packets.into()),
            Buffer::Bdp(times) => {
                let bdp = times * self.rate.packets(self.payload) * self.rtt.as_secs_f64();
                counted((bdp.round() as u64).max(floor).max(1))
            }
            Buffer::Data(bytes) => measured(bytes),
            Buffer::Time(span) => measured(self.rate.carries(span)),
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

/// Every pair of sender and receiver, if there are few enough to list.
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
