// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios built by hand: a dumbbell, whole or reduced to its bottleneck.

use kneepoint::cc;
use kneepoint::link::{LinkSpec, Network, NodeId};
use kneepoint::queue::{self, Limit};
use kneepoint::spec::{Builder, Group, Member, Schedule, Valid};
use kneepoint::tcp::Options;
use kneepoint::traffic;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};

/// Seconds into the run.
pub fn at(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

/// From one second to another.
pub fn interval(from: f64, to: f64) -> Interval {
    Interval { from: at(from), to: at(to) }
}

/// An unmeasured link with an unlimited buffer.
pub fn link(from: u32, to: u32, rate: Option<Rate>, delay: Span) -> LinkSpec {
    LinkSpec { name: format!("{from}-{to}"), rate, delay, ..LinkSpec::new(NodeId(from), NodeId(to)) }
}

/// A transfer from the first second on.
pub fn flow(from: u32, to: u32, size: Option<Bytes>) -> ((NodeId, NodeId), Member) {
    ((NodeId(from), NodeId(to)), Member { start: interval(0.0, 0.5), stop: None, size })
}

/// Transfers by name of their congestion control, with default options.
pub fn group(controller: &str, flows: Vec<((NodeId, NodeId), Member)>) -> Group {
    let cc = cc::Config::named(controller).expect("a registered name");
    let (pairs, members) = flows.into_iter().unzip();
    Group {
        name: controller.to_string(),
        cc: Some(cc),
        tcp: Some(Options::default()),
        source: traffic::Config::default(),
        pairs,
        members,
    }
}

/// A group of another source, of which each member starts in this interval.
pub fn sources(
    source: traffic::Config,
    pairs: Vec<(NodeId, NodeId)>,
    members: usize,
    start: Interval,
) -> Group {
    let nature = source.nature();
    let connects = nature.kind.connects();
    Group {
        name: nature.section.to_string(),
        cc: connects.then(|| cc::Config::named("reno").expect("a registered name")),
        tcp: connects.then(Options::default),
        source,
        pairs,
        members: vec![Member { start, stop: None, size: None }; members],
    }
}

/// Changes the parts of a spec and checks them again.
pub fn edit(valid: &mut Valid, change: impl FnOnce(&mut Builder)) {
    let mut parts = valid.parts().clone();
    change(&mut parts);
    *valid = parts.build().expect("a valid spec");
}

/// Changes the options of a group of connections.
pub fn tcp(valid: &mut Valid, group: usize, change: impl FnOnce(&mut Options)) {
    edit(valid, |parts| change(parts.groups[group].tcp.as_mut().expect("a group of connections")));
}

/// A run of ten seconds without traffic.
pub fn scenario(nodes: u32, links: Vec<LinkSpec>) -> Valid {
    let parts = Builder {
        name: "test".to_string(),
        schedule: Schedule { duration: at(10.0), measure: interval(2.0, 10.0), sample: None },
        network: Network { nodes: (0..nodes).map(|node| format!("n{node}")).collect(), links },
        joints: Vec::new(),
        groups: Vec::new(),
    };
    parts.build().expect("a valid spec")
}

/// A measured bottleneck of 10 Mbit/s whose queue holds 50 packets.
pub fn bottleneck(from: u32, to: u32, queue: &queue::Config) -> LinkSpec {
    LinkSpec {
        queue: queue.clone(),
        limit: Limit::Packets(50),
        measured: true,
        ..link(from, to, Some(Rate::from_mbit(10)), Span::from_millis(10))
    }
}

/// Reno flows through one bottleneck, and nothing else: node 0 sends to node 1.
pub fn minimal(queue: &queue::Config, flows: u32) -> Valid {
    let back = link(1, 0, None, Span::from_millis(10));
    let mut valid = scenario(2, vec![bottleneck(0, 1, queue), back]);
    let transfers = (0..flows).map(|_| flow(0, 1, None));
    edit(&mut valid, |parts| parts.groups = vec![group("reno", transfers.collect())]);
    valid
}

/// Reno flows between hosts of their own: node 0 and node 1 are the routers, 2, 4, … send and 3, 5, … receive.
/// The reverse path is a bottleneck, too. Access delays differ, so that round trips do.
pub fn full(queue: &queue::Config, flows: u32) -> Valid {
    let mut links = vec![bottleneck(0, 1, queue), bottleneck(1, 0, queue)];
    for host in 0..flows {
        let (source, sink, delay) =
            (2 + 2 * host, 3 + 2 * host, Span::from_micros(1000 + 1700 * u64::from(host)));
        for (from, to) in [(source, 0), (0, source), (1, sink), (sink, 1)] {
            links.push(link(from, to, Some(Rate::from_mbit(100)), delay));
        }
    }
    let mut valid = scenario(2 + 2 * flows, links);
    let transfers = (0..flows).map(|host| flow(2 + 2 * host, 3 + 2 * host, None));
    edit(&mut valid, |parts| parts.groups = vec![group("reno", transfers.collect())]);
    valid
}

/// Every queue discipline with its defaults.
pub fn disciplines() -> impl Iterator<Item = queue::Config> {
    queue::REGISTRY.iter().map(|entry| queue::Config::named(entry.name).expect("a registered name"))
}
