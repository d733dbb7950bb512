// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Streams: identical flows, with their path and the number of packets that each would have outstanding if the network permitted it.

use std::borrow::Cow;
use std::iter::successors;

use super::growth::Growth;
use crate::link::{LinkSpec, NodeId, Routes};
use crate::spec::{Group, Member, Valid};
use crate::tcp::Options;
use crate::traffic::Demand;
use crate::units::{Bytes, Span, Time};

/// Flows alike.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// The place of their group.
    pub(super) group: usize,
    /// The number at a time.
    pub(super) flows: f64,
    pub(super) forward: Vec<u32>,
    pub(super) backward: Vec<u32>,
    /// The size of a packet on the wire.
    pub(super) packet: f64,
    /// The growth of its window with an unlimited network; none for unresponsive datagrams.
    pub(super) growth: Option<Growth>,
    /// Acknowledgements for each packet.
    pub(super) acks: f64,
    /// The greatest number of bits that each sends per second.
    pub(super) demand: f64,
    /// Seconds from the start to the stop.
    pub(super) lasts: f64,
}

/// Every stream that is known before the run.
pub(super) fn listed(valid: &Valid, routes: &mut Routes) -> Vec<Stream> {
    let mut streams: Vec<Stream> = Vec::new();
    for (place, group) in valid.groups().iter().enumerate().filter(|(_, group)| !group.kind().opens()) {
        let demand = group.source.demand();
        let mut last: Option<((NodeId, NodeId), Member)> = None;
        for (&pair, &member) in group.pairs.iter().zip(&group.members) {
            match streams.last_mut() {
                Some(stream) if last == Some((pair, member)) => stream.flows += 1.0,
                _ => streams.push(Stream::new((place, group), pair, member, demand.as_ref(), valid, routes)),
            }
            last = Some((pair, member));
        }
    }
    streams
}

/// The number of flows of a finite size that a group has open at a time: a mean, and three standard deviations of a Poisson law.
///
/// ```text
/// ρ < 1    n = λ·T + (1 + long) · min(ρ / (1 − ρ), √(λ·D))      T: a transfer on an idle path, ρ = λ·8E[S] / rate
/// ρ ≥ 1    n = λ·T + (1 + long) · √(λ·D) + (λ − rate / 8E[S]) · D
/// n ≤ λ·D, and what members have open at most
/// ```
///
/// By processor sharing among these and `long` other flows where the link carries all. The excess of an overload that
/// lasts D is counted as if transfers were served in order of arrival: where small ones overtake large ones, fewer
/// remain.
pub(super) fn open_at_once(demand: &Demand, members: f64, path: Path, long: f64, lasts: f64) -> f64 {
    let arrive = demand.per_second * members;
    let carried = path.rate / (8.0 * demand.size.max(1.0));
    let load = arrive / carried;
    // Around a load of one, with random variation.
    let walk = (1.0 + long) * (arrive * lasts).sqrt();
    let sharing = match load < 1.0 {
        true => ((1.0 + long) * load / (1.0 - load)).min(walk),
        false => (arrive - carried) * lasts + walk,
    };
    let mean = (arrive * path.transfer + sharing).min(arrive * lasts);
    (mean + 3.0 * mean.sqrt()).min(demand.at_most * members)
}

/// The path of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Bits in a second of its narrowest link.
    pub(super) rate: f64,
    /// Seconds that a transfer takes if it is alone.
    pub(super) transfer: f64,
}

impl Stream {
    /// One flow of a member, or one that a member opens.
    pub(super) fn new(
        (place, group): (usize, &Group),
        (from, to): (NodeId, NodeId),
        member: Member,
        demand: Option<&Demand>,
        valid: &Valid,
        routes: &mut Routes,
    ) -> Stream {
        let mut way = |a, b| routes.path(a, b).unwrap_or_default();
        let (forward, backward) = (way(from, to), way(to, from));
        let end = member.stop.unwrap_or(Time::NEVER).min(valid.schedule().duration);
        let lasts = end.since(member.start.from).as_secs_f64();
        let links = &valid.network().links;
        let packet = group.full_packet().unwrap_or(Bytes(1500)).0.max(1) as f64;
        let delays = |path: &[u32]| -> f64 { path.iter().map(|link| shortest(&links[*link as usize])).sum() };
        let sending =
            |link: &u32| links[*link as usize].rate.map_or(0.0, |rate| 8.0 * packet / rate.as_f64());
        let rtt = delays(&forward) + delays(&backward) + forward.iter().map(sending).sum::<f64>();
        let nature = group.source.nature();
        let wanted = demand.map_or(f64::INFINITY, |demand| 8.0 * demand.per_second * demand.size);
        let (growth, acks, demand) = match &group.tcp {
            // Without its own rate it is taken to fill its path.
            None => (None, 0.0, nature.pressing.map_or(wanted, |rate| rate.as_f64())),
            Some(tcp) => {
                // A member's connections have the mean size.
                let opened = demand.filter(|_| group.kind().opens()).map(|one| one.size);
                let size = member.size.map(|size| size.0 as f64).or(opened).unwrap_or(f64::INFINITY);
                let acks = if tcp.delayed_ack { 0.5 } else { 1.0 };
                let wanted = if group.kind().opens() { f64::INFINITY } else { wanted };
                let (tcp, wanted) = proxied(place, tcp, wanted, valid, routes);
                (Some(Growth::of(&tcp, group.cc.as_ref(), size, lasts, rtt)), acks, wanted)
            }
        };
        Stream { group: place, flows: 1.0, forward, backward, packet, growth, acks, demand, lasts }
    }

    /// Packets that one has outstanding at most.
    pub(super) fn window(&self) -> Option<f64> {
        self.growth.map(|growth| growth.window)
    }
}

/// The options and the demand, in bits in a second, of connections that begin or end at a proxy: neither has more
/// outstanding than its buffer, and each sends at the rate of the narrowest link of the whole chain.
fn proxied<'t>(
    place: usize,
    tcp: &'t Options,
    demand: f64,
    valid: &Valid,
    routes: &mut Routes,
) -> (Cow<'t, Options>, f64) {
    let joints = || valid.joints().iter();
    let Some(joint) = joints().find(|joint| joint.from == place || joint.to == place) else {
        return (Cow::Borrowed(tcp), demand);
    };
    let pairs = successors(Some(valid.origin(place)), |leg| valid.behind(*leg))
        .filter_map(|leg| valid.groups()[leg].pairs.first());
    let paths = pairs.filter_map(|(from, to)| routes.path(*from, *to)).flatten();
    let rates = paths.filter_map(|link| valid.network().links[link as usize].rate);
    let narrowest = rates.map(|rate| rate.as_f64()).fold(demand, f64::min);
    // Half of the memory of a receiver is room for payload.
    let receive_buffer = joint.buffer + joint.buffer;
    (Cow::Owned(Options { receive_buffer, ..tcp.clone() }), narrowest)
}

/// The shortest that a packet is on a link.
fn shortest(link: &LinkSpec) -> f64 {
    link.delay_steps.iter().map(|step| step.value).fold(link.delay, Span::min).as_secs_f64()
}
