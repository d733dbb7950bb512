// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Nodes and links as they are described: what a scenario builds and a run sets to work.

use crate::link::Loss;
use crate::queue::{self, Limit};
use crate::units::{Rate, Span};

/// A node, by its place in [`Network::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A graph in which every flow has a path both ways.
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
    /// What tables call it: `r1-r2`.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// How fast it transmits; `None` for at once.
    pub rate: Option<Rate>,
    /// How long a packet travels.
    pub delay: Span,
    /// By how much more it may delay a packet, at random and without reordering.
    pub jitter: Span,
    /// Which discipline rules its queue.
    pub queue: queue::Config,
    /// How much may wait.
    pub limit: Limit,
    /// What the channel loses.
    pub loss: Loss,
    /// Whether its queue is measured (a bottleneck) or only carried (an access link).
    pub measured: bool,
}

impl LinkSpec {
    /// A link from a node to itself that does nothing but hold packets back: the noise of a host.
    pub fn noise(node: NodeId, jitter: Span) -> LinkSpec {
        LinkSpec {
            name: String::new(),
            from: node,
            to: node,
            rate: None,
            delay: Span::ZERO,
            jitter,
            queue: queue::Config::default(),
            limit: Limit::Unlimited,
            loss: Loss::None,
            measured: false,
        }
    }
}
