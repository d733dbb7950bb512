// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Static shortest paths: the fewest hops; among equals, the link declared first.

use std::collections::VecDeque;

use crate::scenario::{Network, NodeId};

/// Finds paths through a network.
pub struct Routes<'a> {
    network: &'a Network,
    /// Links out of each node, in the order of declaration.
    out: Vec<Vec<u32>>,
    /// The link by which a search reached a node, and which search that was.
    reached: Vec<(u32, u32)>,
    search: u32,
}

impl<'a> Routes<'a> {
    /// Prepares to search `network`.
    pub fn new(network: &'a Network) -> Routes<'a> {
        let mut out = vec![Vec::new(); network.nodes.len()];
        for (index, link) in network.links.iter().enumerate() {
            out[link.from.0 as usize].push(index as u32);
        }
        Routes { network, out, reached: vec![(0, 0); network.nodes.len()], search: 0 }
    }

    /// The links from one node to another; none if there is no way.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<u32>> {
        self.search += 1;
        self.reached[from.0 as usize].1 = self.search;
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            if node == to {
                return Some(self.walk_back(from, to));
            }
            for &link in &self.out[node.0 as usize] {
                let next = self.network.links[link as usize].to;
                let reached = &mut self.reached[next.0 as usize];
                if reached.1 != self.search {
                    *reached = (link, self.search);
                    frontier.push_back(next);
                }
            }
        }
        None
    }

    fn walk_back(&self, from: NodeId, to: NodeId) -> Vec<u32> {
        let mut path = Vec::new();
        let mut node = to;
        while node != from {
            let link = self.reached[node.0 as usize].0;
            path.push(link);
            node = self.network.links[link as usize].from;
        }
        path.reverse();
        path
    }
}
