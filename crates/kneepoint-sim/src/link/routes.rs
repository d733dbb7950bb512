// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Static shortest paths: the fewest hops; among equals, the link declared first.
//!
//! Most nodes are hosts with one outgoing and one incoming link, where paths begin and end. The path between is
//! searched once for each pair of nodes, so a network of a thousand hosts costs a few searches.

use std::collections::{BTreeMap, VecDeque};

use super::{Network, NodeId};

/// Finds paths through a network.
pub struct Routes<'a> {
    network: &'a Network,
    /// Links out of each node and into it, in the order of declaration.
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    found: BTreeMap<(NodeId, NodeId), Option<Vec<u32>>>,
}

impl<'a> Routes<'a> {
    /// Prepares to search `network`.
    pub fn new(network: &'a Network) -> Routes<'a> {
        let nodes = network.nodes.len();
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (index, link) in network.links.iter().enumerate() {
            out[link.from.0 as usize].push(index as u32);
            into[link.to.0 as usize].push(index as u32);
        }
        Routes { network, out, into, found: BTreeMap::new() }
    }

    /// The links from one node to another; none if there is no path.
    pub fn path(&mut self, from: NodeId, to: NodeId) -> Option<Vec<u32>> {
        let (mut head, mut tail) = (from, to);
        let (mut first, mut last) = (None, None);
        if let &[only] = self.out[head.0 as usize].as_slice()
            && head != tail
        {
            first = Some(only);
            head = self.network.links[only as usize].to;
        }
        if let &[only] = self.into[tail.0 as usize].as_slice()
            && head != tail
        {
            last = Some(only);
            tail = self.network.links[only as usize].from;
        }
        let between = match self.found.get(&(head, tail)) {
            Some(path) => path.clone(),
            None => {
                let path = self.search(head, tail);
                self.found.insert((head, tail), path.clone());
                path
            }
        };
        Some(first.into_iter().chain(between?).chain(last).collect())
    }

    fn search(&self, from: NodeId, to: NodeId) -> Option<Vec<u32>> {
        let mut reached = vec![None; self.network.nodes.len()];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            if node == to {
                return Some(self.walk_back(from, to, &reached));
            }
            for &link in &self.out[node.0 as usize] {
                let next = self.network.links[link as usize].to;
                let place = &mut reached[next.0 as usize];
                if place.is_none() && next != from {
                    *place = Some(link);
                    frontier.push_back(next);
                }
            }
        }
        None
    }

    fn walk_back(&self, from: NodeId, to: NodeId, reached: &[Option<u32>]) -> Vec<u32> {
        let mut path = Vec::new();
        let mut node = to;
        while node != from
            && let Some(link) = reached[node.0 as usize]
        {
            path.push(link);
            node = self.network.links[link as usize].from;
        }
        path.reverse();
        path
    }
}
