// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Descriptions of nodes and links, from which a run makes links at work.

use super::effects::Effects;
use super::{capacity, loss};
use crate::feedback;
use crate::queue::{self, Limit};
use crate::settings::Timed;
use crate::units::{Interval, Rate, Span, Time};

/// A node, by its place in [`Network::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A graph in which every flow has a path in both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links, each in one direction.
    pub links: Vec<LinkSpec>,
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Its name in tables: `r1-r2`.
    pub name: String,
    /// Its first node.
    pub from: NodeId,
    /// Its last node.
    pub to: NodeId,
    /// Its rate, by which buffers and disciplines are configured; `None` for infinite.
    pub rate: Option<Rate>,
    /// The course of its capacity; constant at `rate` by default.
    pub capacity: capacity::Config,
    /// The delay of a packet.
    pub delay: Span,
    /// Other delays from instants on, in order.
    pub delay_steps: Vec<Timed<Span>>,
    /// Their period.
    pub delay_period: Option<Span>,
    /// The greatest additional random delay of a packet, without reordering.
    pub jitter: Span,
    /// The discipline of its queue.
    pub queue: queue::Config,
    /// The limit of its queue.
    pub limit: Limit,
    /// Its feedback to senders.
    pub feedback: feedback::Config,
    /// The loss model.
    pub loss: loss::Config,
    /// Its further effects on packets.
    pub effects: Option<Box<Effects>>,
    /// Whether its queue is measured (a bottleneck) or only carried (an access link).
    pub measured: bool,
}

impl LinkSpec {
    /// A link without a name that transmits at once, delays and loses nothing, holds any queue and is not measured.
    pub fn new(from: NodeId, to: NodeId) -> LinkSpec {
        LinkSpec {
            name: String::new(),
            from,
            to,
            rate: None,
            capacity: capacity::Config::default(),
            delay: Span::ZERO,
            delay_steps: Vec::new(),
            delay_period: None,
            jitter: Span::ZERO,
            queue: queue::Config::default(),
            feedback: feedback::Config::default(),
            limit: Limit::Unlimited,
            loss: loss::Config::default(),
            effects: None,
            measured: false,
        }
    }

    /// A link from a node to itself that only holds packets back: the noise of a host.
    pub fn noise(node: NodeId, jitter: Span) -> LinkSpec {
        LinkSpec { jitter, ..LinkSpec::new(node, node) }
    }

    /// The delay of a packet whose transmission ends at `at`.
    pub fn delay_at(&self, at: Time) -> Span {
        let since = at.since(Time::ZERO);
        let passed = self.delay_period.map_or(since, |period| Span(since.0 % period.0));
        let steps = self.delay_steps.partition_point(|step| step.at <= passed);
        if steps > 0 { self.delay_steps[steps - 1].value } else { self.delay }
    }

    /// Its idle transmitter, if it is link number `index` of the run seeded with `seed`.
    pub fn transmitter(&self, seed: u64, index: usize) -> capacity::Any {
        self.capacity.build(capacity::Facts::new(self.rate, seed, index))
    }

    /// The bits that it can carry in `window`, if it is link number `index` of the run seeded with `seed`; NaN for a link that
    /// transmits at once. Directions that share a capacity can each carry all of it.
    pub fn capacity_bits(&self, window: Interval, seed: u64, index: usize) -> f64 {
        self.rate.map_or(f64::NAN, |_| self.transmitter(seed, index).bits(window))
    }

    /// Whether `other` is the opposite direction of one shared capacity.
    pub fn shares_with(&self, other: &LinkSpec) -> bool {
        (self.from, self.to) == (other.to, other.from)
            && (&self.capacity, self.rate) == (&other.capacity, other.rate)
            && self.capacity.shared()
    }
}
