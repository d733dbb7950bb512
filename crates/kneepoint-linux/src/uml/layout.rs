// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The laboratory's network as namespaces with cables between them.
//!
//! ```text
//! near ── node ══ queue ══ wire ── node … node ── far      and back, by the links of the other direction
//! ```
//!
//! All senders of one side are in one namespace, `near` or `far`, and each path between two nodes has addresses of its own, so every path
//! is routed as the laboratory routes it. Hosts are outside of the nodes, because what a socket's own device holds back counts as
//! its own. A link is a cable in one direction, with a namespace for its wire where it has a rate.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use kneepoint::link::{NodeId, Routes};
use kneepoint::queue::Limit;
use kneepoint::spec::Valid;
use kneepoint::units::{Rate, Span};

use super::discipline::Acts;
use super::netlink::Message;
use super::shaping::{Of, Shaped};
use crate::emulator::Side;

/// The namespaces of the hosts; the nodes' follow.
pub(super) const NEAR: u32 = 0;
pub(super) const FAR: u32 = 1;
/// The number of the first device.
const FIRST: u32 = 10;

/// A point of observation: a device of a namespace, and the direction there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Point {
    pub(super) device: u32,
    pub(super) leaving: bool,
}

/// An observed queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    /// The place of its link in the network.
    pub(super) link: u32,
    pub(super) measured: bool,
    pub(super) acts: Acts,
    /// The kernel's counter of its drops: namespace, device, parent.
    pub(super) counter: [u32; 3],
}

/// An observed step of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It arrives at the observed queue of this number, without being observed there if it came from its host.
    Arrives { queue: usize, at: Option<Point> },
    /// Its transmission begins.
    Leaves { queue: usize, at: Point },
    /// The channel did not lose it.
    Crosses { queue: usize, at: Point },
}

/// The steps of packets of one path in one direction.
pub(super) type Way = Vec<Step>;

/// The whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The number of namespaces.
    pub(super) namespaces: u32,
    /// The messages in each, in order.
    pub(super) messages: Vec<(u32, Message)>,
    /// The messages during the run.
    pub(super) changes: Vec<(Span, u32, Message)>,
    /// Namespaces that forward.
    pub(super) forwarding: Vec<u32>,
    /// Devices of hosts, which may only send single packets.
    pub(super) plain: Vec<(u32, u32)>,
    /// Points of observation, by namespace.
    pub(super) points: Vec<(u32, Vec<Point>)>,
    pub(super) followed: Vec<Followed>,
    /// By path, of packets from the near host and from the far one.
    pub(super) ways: Vec<[Way; 2]>,
    /// The addresses of both hosts, by path.
    pub(super) addresses: Vec<[Ipv4Addr; 2]>,
}

/// A link that is laid.
#[derive(Clone, Copy, Debug)]
struct Laid {
    /// The device where it begins, and where it ends.
    out: u32,
    into: u32,
    /// The namespace where it ends.
    to: u32,
    /// The number of its queue among the observed ones, and whether its channel loses packets.
    queue: Option<usize>,
    loses: bool,
}

struct Laying<'v> {
    valid: &'v Valid,
    seed: u64,
    made: Layout,
    next: u32,
    nodes: BTreeMap<NodeId, u32>,
    links: BTreeMap<u32, Laid>,
    /// The device of a host towards a node, and the node's towards the host.
    attached: BTreeMap<(u32, NodeId), (u32, u32)>,
    seen: BTreeMap<u32, Vec<Point>>,
}

/// The addresses of a path's hosts.
pub(super) fn address(side: Side, path: usize) -> Ipv4Addr {
    let base = match side {
        Side::Near => 0x0a01_0001,
        Side::Far => 0x0a81_0001,
    };
    Ipv4Addr::from(base + path as u32)
}

impl Layout {
    /// The network of `valid` for paths between these nodes; the error names what Linux cannot do.
    pub(super) fn new(valid: &Valid, seed: u64, paths: &[(NodeId, NodeId)]) -> Result<Layout, String> {
        let mut laying = Laying {
            valid,
            seed,
            made: Layout { namespaces: 2, ..Layout::default() },
            next: FIRST,
            nodes: BTreeMap::new(),
            links: BTreeMap::new(),
            attached: BTreeMap::new(),
            seen: BTreeMap::new(),
        };
        let mut routes = Routes::new(valid.network());
        for (place, &(near, far)) in paths.iter().enumerate() {
            let path = |from, to| routes_of(&mut routes, from, to);
            laying.path(place, [near, far], path)?;
        }
        laying.made.points = laying.seen.into_iter().collect();
        laying.made.changes.sort_by_key(|(at, ..)| *at);
        Ok(laying.made)
    }
}

fn routes_of(routes: &mut Routes, from: NodeId, to: NodeId) -> Result<Vec<u32>, String> {
    routes.path(from, to).ok_or_else(|| "a path is missing".to_string())
}

impl Laying<'_> {
    fn path(
        &mut self,
        place: usize,
        [near, far]: [NodeId; 2],
        mut path: impl FnMut(NodeId, NodeId) -> Result<Vec<u32>, String>,
    ) -> Result<(), String> {
        let addresses = [address(Side::Near, place), address(Side::Far, place)];
        let ends = [(NEAR, near), (FAR, far)];
        let devices = ends.map(|(host, node)| self.attach(host, node));
        for ((host, _), ((device, _), own)) in ends.into_iter().zip(devices.into_iter().zip(addresses)) {
            self.say(host, Message::address(device, own));
        }
        let mut ways = [Way::new(), Way::new()];
        for (own, way) in ways.iter_mut().enumerate() {
            let other = 1 - own;
            let (host, from) = ends[own];
            let links = path(from, ends[other].1)?;
            self.say(host, Message::route(Some(addresses[other]), devices[own].0, Some(addresses[own])));
            for link in &links {
                let laid = self.link(*link)?;
                let begins = self.valid.network().links[*link as usize].from;
                let node = self.nodes[&begins];
                self.say(node, Message::route(Some(addresses[other]), laid.out, None));
            }
            let last = self.nodes[&ends[other].1];
            self.say(last, Message::route(Some(addresses[other]), devices[other].1, None));
            *way = self.steps(&links);
        }
        self.made.ways.push(ways);
        self.made.addresses.push(addresses);
        Ok(())
    }

    /// Observations of packets on these links.
    fn steps(&mut self, links: &[u32]) -> Way {
        let mut way = Way::new();
        let mut before: Option<Laid> = None;
        for link in links {
            let laid = self.links[link];
            if let Some(queue) = laid.queue {
                let at =
                    before.map(|before| self.see(before.to, Point { device: before.into, leaving: false }));
                way.push(Step::Arrives { queue, at });
                let out = Point { device: laid.out, leaving: true };
                let namespace = self.made.followed[queue].counter[0];
                way.push(Step::Leaves { queue, at: self.see(namespace, out) });
                if laid.loses {
                    let into = Point { device: laid.into, leaving: false };
                    way.push(Step::Crosses { queue, at: self.see(laid.to, into) });
                }
            }
            before = Some(laid);
        }
        way
    }

    fn see(&mut self, namespace: u32, point: Point) -> Point {
        let points = self.seen.entry(namespace).or_default();
        if !points.contains(&point) {
            points.push(point);
        }
        point
    }

    fn say(&mut self, namespace: u32, message: Message) {
        self.made.messages.push((namespace, message));
    }

    fn namespace(&mut self) -> u32 {
        self.made.namespaces += 1;
        let namespace = self.made.namespaces - 1;
        self.made.forwarding.push(namespace);
        namespace
    }

    fn node(&mut self, node: NodeId) -> u32 {
        match self.nodes.get(&node) {
            Some(namespace) => *namespace,
            None => {
                let namespace = self.namespace();
                self.nodes.insert(node, namespace);
                namespace
            }
        }
    }

    /// A cable between two namespaces: its devices.
    fn cable(&mut self, from: u32, to: u32) -> (u32, u32) {
        let ends = [self.next, self.next + 1];
        self.next += 2;
        self.say(from, Message::cable(ends, to));
        self.say(from, Message::up(ends[0]));
        self.say(to, Message::up(ends[1]));
        (ends[0], ends[1])
    }

    /// A host at a node: the host's device, and the node's. A packet is observed where it leaves its host and where it reaches the other.
    fn attach(&mut self, host: u32, node: NodeId) -> (u32, u32) {
        if let Some(devices) = self.attached.get(&(host, node)) {
            return *devices;
        }
        let namespace = self.node(node);
        let devices = self.cable(host, namespace);
        self.made.plain.push((host, devices.0));
        for leaving in [true, false] {
            self.see(host, Point { device: devices.0, leaving });
        }
        self.attached.insert((host, node), devices);
        devices
    }

    fn link(&mut self, link: u32) -> Result<Laid, String> {
        if let Some(laid) = self.links.get(&link) {
            return Ok(*laid);
        }
        let spec = &self.valid.network().links[link as usize];
        let end = self.valid.schedule().duration;
        let shaped = Shaped::of(spec, self.seed, link as usize, self.valid.full_packet(), end)?;
        let (from, to) = (self.node(spec.from), self.node(spec.to));
        let laid = self.lay(link, [from, to], &shaped);
        self.links.insert(link, laid);
        Ok(laid)
    }

    fn lay(&mut self, link: u32, [from, to]: [u32; 2], shaped: &Shaped) -> Laid {
        let spec = &self.valid.network().links[link as usize];
        let (out, into, wire) = if shaped.queue.is_some() {
            let between = self.namespace();
            let first = self.cable(from, between);
            let second = self.cable(between, to);
            self.say(between, Message::route(None, second.0, None));
            (first.0, second.1, Some((between, second.0)))
        } else {
            let (out, into) = self.cable(from, to);
            (out, into, None)
        };
        for message in shaped.queue_messages(out) {
            self.say(from, message);
        }
        let (place, device) = wire.unwrap_or((from, out));
        for message in shaped.wire_messages(device) {
            self.say(place, message);
        }
        for (at, of, message) in shaped.changes(out, device) {
            let namespace = if of == Of::Queue { from } else { place };
            self.made.changes.push((at, namespace, message));
        }
        let queue = shaped.queue.as_ref().map(|queue| {
            let counter = [from, out, shaped.parent()];
            let acts = queue.discipline.acts;
            self.made.followed.push(Followed { link, measured: spec.measured, acts, counter });
            self.made.followed.len() - 1
        });
        let loses = shaped.wire.as_ref().is_some_and(super::shaping::Wire::loses);
        Laid { out, into, to, queue, loses }
    }
}

/// The time until the slowest queue has emptied.
pub(super) fn emptied(valid: &Valid, layout: &Layout) -> Span {
    let packet = valid.full_packet();
    let whole = |queue: &Followed| {
        let spec = &valid.network().links[queue.link as usize];
        let packets = match spec.limit {
            Limit::Packets(packets) => u64::from(packets),
            Limit::Bytes(bytes) => bytes.0 / packet.0,
            Limit::Unlimited => 0,
        };
        Span(spec.rate.unwrap_or(Rate::from_mbit(1)).time_for(packet).0 * packets)
    };
    layout.followed.iter().map(whole).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kneepoint::scenario::parse;

    use super::*;

    fn valid(topology: &str) -> Valid {
        let text =
            format!("[run]\nduration = '5s'\n[topology]\n{topology}\n[[flows]]\ncc = 'reno'\ncount = 2\n");
        parse(&text).unwrap().cases.remove(0).valid
    }

    fn laid(topology: &str) -> Layout {
        let valid = valid(topology);
        let paths: Vec<_> = valid.groups().iter().flat_map(|group| group.pairs.clone()).collect();
        Layout::new(&valid, 1, &paths).unwrap()
    }

    #[test]
    fn a_dumbbell_has_two_queues_and_a_wire_behind_each() {
        let layout = laid("kind = 'dumbbell'\nrate = '10mbit'\nrtt = '60ms'");
        assert_eq!(layout.followed.len(), 2);
        assert_eq!(layout.followed.iter().filter(|queue| queue.measured).count(), 1);
        // Two hosts, two routers, four nodes of flows, and two wires.
        assert_eq!((layout.namespaces, layout.forwarding.len()), (10, 8));
        let [there, back] = &layout.ways[0];
        assert!(matches!(
            there[..],
            [Step::Arrives { queue: 0, at: Some(_) }, Step::Leaves { queue: 0, .. }]
        ));
        assert!(matches!(back[..], [Step::Arrives { queue: 1, .. }, Step::Leaves { queue: 1, .. }]));
        assert_eq!(layout.addresses[1], [Ipv4Addr::new(10, 1, 0, 2), Ipv4Addr::new(10, 129, 0, 2)]);
    }

    #[test]
    fn a_chain_is_crossed_queue_by_queue_and_the_first_is_reached_unseen() {
        let layout = laid("kind = 'chain'\nrate = '10mbit'\nhops = 3");
        let [there, _] = &layout.ways[0];
        let unseen = there.iter().filter(|step| matches!(step, Step::Arrives { at: None, .. })).count();
        assert_eq!((there.len(), unseen), (6, 1), "{there:?}");
    }

    #[test]
    fn every_device_has_a_number_of_its_own_and_every_point_a_namespace() {
        let layout = laid("kind = 'parking-lot'\nrate = '10mbit'\nrouters = 3");
        let mut devices: Vec<u32> =
            layout.points.iter().flat_map(|(_, points)| points.iter().map(|point| point.device)).collect();
        devices.sort_unstable();
        let most = devices.last().copied().unwrap();
        assert!(devices[0] >= FIRST && most < FIRST + 2 * layout.messages.len() as u32);
        assert!(layout.points.iter().all(|(namespace, _)| *namespace < layout.namespaces));
    }
}
