// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Regions of a network that threads simulate side by side.
//!
//! ```text
//! hosts ── r1 ══ r2 ══ r3 ═══╪═══ r4 ══ r5 ── hosts        each region: about the same number of packets to carry
//!                     least delay of a cut link: the lookahead
//! ```
//!
//! K. M. Chandy and J. Misra, CACM 24(4), 1981: what one region does affects another no earlier than the delay between them.

use super::Engine;
use crate::link::NodeId;
use crate::spec::{Roster, Slot, Valid};
use crate::trace::LinkId;
use crate::traffic::Kind;
use crate::units::Span;

/// A cut link with less delay would let threads wait for each other more than they simulate.
const SHORTEST: Span = Span::from_micros(100);

/// The region of each node.
#[derive(Clone, Debug)]
pub(super) struct Regions {
    /// For each node.
    of: Vec<u32>,
    /// The ends of each link.
    ends: Vec<(NodeId, NodeId)>,
    /// The number of regions, at least two.
    pub(super) count: usize,
    /// No packet crosses to another region in less time.
    pub(super) lookahead: Span,
}

/// Whether nothing but packets connects the hosts and links of a run: long transfers over links of constant rate, without samples
/// of the whole state. Algorithms of a caller may have more in common.
fn separable(valid: &Valid) -> bool {
    let links = &valid.network().links;
    let external =
        valid.groups().iter().any(|group| group.cc.as_ref().is_some_and(|cc| cc.external().is_some()))
            || links.iter().any(|link| link.queue.external().is_some());
    valid.schedule().sample.is_none()
        && !external
        && valid.joints().is_empty()
        && valid.groups().iter().all(|group| {
            // A transfer that ends is known to both of its ends at once.
            let endless = group.members.iter().all(|member| member.size.is_none() && member.stop.is_none());
            group.kind() == Kind::Transfers && endless
        })
        && links.iter().all(|link| link.capacity == Default::default() && link.effects.is_none())
}

impl Regions {
    /// At most `most` regions that by estimate transmit at least `packets` in each window; none if the run cannot be divided so.
    pub(super) fn new(valid: &Valid, most: usize, packets: u64) -> Option<Regions> {
        if most < 2 || !separable(valid) {
            return None;
        }
        // Its random streams do not matter.
        let engine = Engine::new(valid, 0);
        if engine.hosts.announces() {
            return None;
        }
        let (islands, of_nodes) = (islands(&engine), weights_of_nodes(&engine));
        let mut weights = vec![0.0; islands.iter().max()? + 1];
        for (island, weight) in islands.iter().zip(of_nodes) {
            weights[*island] += weight;
        }
        (2..=most).rev().find_map(|wanted| {
            let places = divide(&weights, wanted);
            let regions = Regions::of_nodes(valid, islands.iter().map(|island| places[*island]).collect())?;
            let bits = least(&places, &weights, regions.count) * regions.lookahead.as_secs_f64();
            (bits / (8.0 * valid.full_packet().0 as f64) >= packets as f64).then_some(regions)
        })
    }

    /// Nodes with a region for each; none if no link is cut.
    fn of_nodes(valid: &Valid, of: Vec<u32>) -> Option<Regions> {
        let links = &valid.network().links;
        let cut = links.iter().filter(|link| of[link.from.0 as usize] != of[link.to.0 as usize]);
        let lookahead = cut.map(|link| link.delay).min()?;
        let count = *of.iter().max()? as usize + 1;
        let ends = links.iter().map(|link| (link.from, link.to)).collect();
        Some(Regions { of, ends, count, lookahead })
    }

    /// The region that transmits on a link, and the one where its packets arrive. The noise of a host, which is behind the network's own
    /// links, stays with its host.
    fn of_link(&self, link: LinkId) -> Option<(usize, usize)> {
        let (from, to) = *self.ends.get(link.0 as usize)?;
        Some((self.of_node(from), self.of_node(to)))
    }

    fn of_node(&self, node: NodeId) -> usize {
        self.of[node.0 as usize] as usize
    }

    /// Whether a region transmits on a link.
    pub(super) fn transmits(&self, region: usize, link: LinkId) -> bool {
        self.of_link(link).is_some_and(|(from, _)| from == region)
    }

    /// Whether packets on a link reach another region.
    pub(super) fn cuts(&self, link: LinkId) -> bool {
        self.of_link(link).is_some_and(|(from, to)| from != to)
    }

    /// The region where the packets of a link arrive.
    pub(super) fn behind(&self, link: LinkId) -> usize {
        self.of_link(link).map_or(0, |(_, to)| to)
    }

    /// The region of each flow's sender.
    pub(super) fn senders(&self, valid: &Valid) -> Vec<usize> {
        let of = |slot: &Slot| self.of_node(valid.groups()[slot.group].pairs[slot.index].0);
        Roster::new(valid).fixed().iter().map(of).collect()
    }

    /// The links of the network.
    pub(super) fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.ends.len() as u32).map(LinkId)
    }
}

/// For each node the island it belongs to: nodes between which no link can be cut. Islands are numbered in the order of their first nodes.
fn islands(engine: &Engine) -> Vec<usize> {
    let network = engine.valid.network();
    let mut hosts = vec![false; network.nodes.len()];
    for (from, to) in engine.valid.groups().iter().flat_map(|group| &group.pairs) {
        (hosts[from.0 as usize], hosts[to.0 as usize]) = (true, true);
    }
    let mut first: Vec<usize> = (0..network.nodes.len()).collect();
    let continues = engine.network.continues();
    for (link, continued) in network.links.iter().zip(continues) {
        let (from, to) = (link.from.0 as usize, link.to.0 as usize);
        let between = !hosts[from] && !hosts[to];
        if !(continued && between && link.delay >= SHORTEST && link.delay_steps.is_empty()) {
            let (one, other) = (root(&mut first, from), root(&mut first, to));
            first[one.max(other)] = one.min(other);
        }
    }
    let mut known = vec![None; first.len()];
    let mut next = 0..;
    (0..first.len())
        .map(|node| *known[root(&mut first, node)].get_or_insert_with(|| next.next().unwrap_or_default()))
        .collect()
}

/// The first node of a node's island.
fn root(first: &mut [usize], mut node: usize) -> usize {
    while first[node] != node {
        first[node] = first[first[node]];
        node = first[node];
    }
    node
}

/// For each node an estimate of its part of the work: the bits per second that leave it, if each flow has an equal share of its narrowest
/// link.
fn weights_of_nodes(engine: &Engine) -> Vec<f64> {
    let links = &engine.valid.network().links;
    let listed = |link: LinkId| links.get(link.0 as usize);
    let mut crossing = vec![0u32; links.len()];
    for flow in &engine.hosts.flows {
        for link in engine.network.path(flow.paths.forward).filter(|link| listed(*link).is_some()) {
            crossing[link.0 as usize] += 1;
        }
    }
    let mut weights = vec![0.0; engine.valid.network().nodes.len()];
    for flow in &engine.hosts.flows {
        let forward = || engine.network.path(flow.paths.forward);
        let shares = forward().filter_map(|link| {
            let rate = listed(link)?.rate?.as_f64();
            Some(rate / f64::from(crossing[link.0 as usize]))
        });
        let share = shares.fold(f64::INFINITY, f64::min);
        let share = if share.is_finite() { share } else { 1.0 };
        for link in forward().chain(engine.network.path(flow.paths.backward)) {
            if let Some(link) = listed(link) {
                weights[link.from.0 as usize] += share;
            }
        }
    }
    weights
}

/// For each island its region: at most `wanted` runs of islands in a row, of about equal weight.
fn divide(weights: &[f64], wanted: usize) -> Vec<u32> {
    let whole: f64 = weights.iter().sum();
    let mut before = 0.0;
    let mut regions: Vec<u32> = Vec::with_capacity(weights.len());
    for weight in weights {
        // An island belongs to the region in which its middle is.
        let middle = (before + weight / 2.0) / whole;
        before += weight;
        let next = regions.last().copied();
        let region = (middle * wanted as f64) as u32;
        // None is left out.
        regions.push(next.map_or(0, |last| region.clamp(last, last + 1)).min(wanted as u32 - 1));
    }
    regions
}

/// The weight of the lightest region.
fn least(places: &[u32], weights: &[f64], regions: usize) -> f64 {
    let mut sums = vec![0.0; regions];
    for (place, weight) in places.iter().zip(weights) {
        sums[*place as usize] += weight;
    }
    sums.into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_rows_of_islands_of_about_equal_weight() {
        assert_eq!(divide(&[1.0; 6], 2), [0, 0, 0, 1, 1, 1]);
        assert_eq!(divide(&[1.0; 6], 3), [0, 0, 1, 1, 2, 2]);
        assert_eq!(divide(&[5.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2), [0, 1, 1, 1, 1, 1]);
        assert_eq!(divide(&[1.0], 4), [0]);
        // A heavy island leaves no region without one.
        assert_eq!(divide(&[1.0, 100.0, 1.0], 4), [0, 1, 2]);
        assert_eq!(least(&[0, 0, 1], &[1.0, 2.0, 2.0], 2), 2.0);
    }
}
