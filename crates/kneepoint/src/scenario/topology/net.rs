// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A network under construction.

use super::super::forms::Pace;
use crate::link::{LinkSpec, Network, NodeId};
use crate::units::Span;

/// Nodes and links so far.
#[derive(Default)]
pub(super) struct Net(pub Network);

impl Net {
    pub(super) fn node(&mut self, name: impl Into<String>) -> NodeId {
        self.0.nodes.push(name.into());
        NodeId(self.0.nodes.len() as u32 - 1)
    }

    fn name(&self, node: NodeId) -> &str {
        &self.0.nodes[node.0 as usize]
    }

    /// A link named after its ends.
    pub(super) fn link(&mut self, mut link: LinkSpec) {
        link.name = format!("{}-{}", self.name(link.from), self.name(link.to));
        self.0.links.push(link);
    }

    /// A link that only carries packets: nothing is dropped or measured on it.
    pub(super) fn access(&mut self, from: NodeId, to: NodeId, rate: &Pace, delay: Span) {
        self.link(LinkSpec { rate: rate.get().copied(), delay, ..LinkSpec::new(from, to) });
    }
}
