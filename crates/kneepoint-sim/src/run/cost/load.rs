// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The load of a network: packets on links, in queues and in the memory of hosts, if bottlenecks are full.
//!
//! ```text
//! bottleneck of a flow   the link of its path with the least share for each flow
//! rate of a flow         its share of that link, or less if it has less to send or a small window
//! in flight              min(window, rate · (delay forward + delay backward · acknowledgements per packet))
//! in its queue           min(limit, windows − in flight, rate · duration)
//! ```
//!
//! Datagrams fill the path at their rate, and the queues of links that they overload.

use super::ahead::Ahead;
use super::shared::{self, Shared};
use super::stream::{self, Path, Stream};
use crate::feedback;
use crate::link::{LinkSpec, Routes, capacity};
use crate::queue::{self, Limit};
use crate::spec::{Group, Member, Valid};
use crate::tcp::Sender;
use crate::traffic::Demand;
use crate::units::{Bytes, Rate, Span};

/// The load of a run's network.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    /// Flow slots by group.
    pub(super) flows: Vec<(usize, f64)>,
    /// Links along all paths.
    pub(super) hops: f64,
    /// Packets on links, and where most of them are.
    pub(super) flying: f64,
    pub(super) longest: String,
    /// Packets that wait where departures are computed, and where a buffer stores them; and where most of them wait.
    pub(super) tails: f64,
    pub(super) ruled: f64,
    pub(super) deepest: String,
    /// Segments not acknowledged, and the bytes that hosts keep of them.
    pub(super) outstanding: f64,
    pub(super) histories: f64,
    /// Transfers written into connections and not delivered.
    pub(super) written: f64,
    /// Packets sent in the run, and transfers that end in it.
    pub(super) sent: f64,
    pub(super) transfers: f64,
    /// Packets sent in a second.
    rate: f64,
}

impl Load {
    pub(super) fn of(valid: &Valid) -> Load {
        let mut routes = Routes::new(valid.network());
        let mut load = Load::default();
        let mut streams = stream::listed(valid, &mut routes);
        load.flows = slots(&streams);
        for (place, group) in valid.groups().iter().enumerate().filter(|(_, group)| group.kind().opens()) {
            load.open((place, group), valid, &mut routes, &mut streams);
        }
        load.hops = streams
            .iter()
            .map(|one| one.flows.min(1e6) * (one.forward.len() + one.backward.len()) as f64)
            .sum();
        let mut queued = vec![0.0; valid.network().links.len()];
        load.elastic(valid, &streams, &mut queued);
        load.pressing(valid, &streams, &mut queued);
        load.queues(valid, &queued);
        load
    }

    /// Packets sent in a second at most.
    pub(super) fn per_second(&self) -> f64 {
        self.rate
    }

    /// The connections that a group opens in the run, evenly between its pairs.
    fn open(
        &mut self,
        (place, group): (usize, &Group),
        valid: &Valid,
        routes: &mut Routes,
        streams: &mut Vec<Stream>,
    ) {
        let (members, pairs) = (group.members.len() as f64, group.pairs.len() as f64);
        let Some(&first) = group.pairs.first() else { return };
        let start = group.members.iter().map(|member| member.start).min_by_key(|start| start.from);
        let member = Member { start: start.unwrap_or_default(), ..Member::default() };
        let unknown = Demand::new(f64::INFINITY, 1.0, 1.0);
        let demand = group.source.demand().unwrap_or(unknown);
        let lone = Stream::new((place, group), first, member, Some(&demand), valid, routes);
        let narrowest = narrowest(valid, &lone);
        let long: f64 = narrowest.map_or(0.0, |(link, _)| {
            streams
                .iter()
                .filter(|one| one.growth.is_some() && one.forward.contains(&link))
                .map(|one| one.flows)
                .sum()
        });
        let rate = narrowest.map_or(f64::INFINITY, |(_, rate)| rate);
        let path = Path { rate, transfer: alone(valid, group, &lone) };
        let count = stream::open_at_once(&demand, members, path, long, lone.lasts);
        let carried = (rate / (8.0 * demand.size.max(1.0))).min(demand.per_second * members);
        self.transfers += if carried.is_finite() { carried * lone.lasts } else { count };
        self.rate += (demand.per_second * members).min(1e9) * lone.window().unwrap_or(1.0).min(1e3);
        self.flows.push((place, count));
        for &pair in &group.pairs {
            let one = Stream::new((place, group), pair, member, Some(&demand), valid, routes);
            streams.push(Stream { flows: count / pairs, ..one });
        }
    }

    /// Flows that share their bottlenecks.
    fn elastic(&mut self, valid: &Valid, streams: &[Stream], queued: &mut [f64]) {
        let links = &valid.network().links;
        let mut most = 0.0;
        for shared in shared::of(links, streams, &left(links, streams)) {
            let Shared { stream, window, bottleneck, bits } = shared;
            let [forward, backward] = [&stream.forward, &stream.backward].map(|path| delay(links, path));
            let round = (forward + backward).max(1e-9);
            let per_second = bits / (8.0 * stream.packet);
            let flying = stream.flows * (per_second * (forward + stream.acks * backward)).min(window);
            self.note_longest(valid, stream, flying, &mut most);
            let held = stream.flows * (window - per_second * round).max(0.0);
            let waits = match bottleneck {
                Some((link, part)) => {
                    let room = room(&links[link], stream.packet) * part;
                    let waits = held.min(room).min(stream.flows * per_second * stream.lasts);
                    queued[link] += waits;
                    // Where departures are computed, it is already in flight.
                    self.flying += if computed(&links[link]) { waits } else { 0.0 };
                    waits
                }
                None => 0.0,
            };
            let outstanding = stream.flows * per_second * round + waits;
            let group = &valid.groups()[stream.group];
            self.flying += flying;
            self.outstanding += outstanding;
            self.histories += outstanding * group.tcp.as_ref().map_or(0, Sender::segment) as f64;
            self.sent += stream.flows * per_second * stream.lasts;
            // Slow start sends twice what a bottleneck carries.
            self.rate += 2.0 * stream.flows * per_second;
            self.note_written(group, stream, bits);
        }
    }

    /// Data that members hand to their connections faster than these carry it.
    fn note_written(&mut self, group: &Group, stream: &Stream, bits: f64) {
        let Some(demand) = group.source.demand().filter(|_| !group.kind().opens()) else { return };
        let surplus = demand.per_second - bits / (8.0 * demand.size.max(1.0));
        self.written += stream.flows * (surplus.max(0.0) * stream.lasts).min(demand.at_most);
    }

    /// Datagrams, which are not congestion-controlled.
    fn pressing(&mut self, valid: &Valid, streams: &[Stream], queued: &mut [f64]) {
        let links = &valid.network().links;
        let pressing =
            || streams.iter().filter(|one| one.growth.is_none()).map(|one| (one, offered(links, one)));
        if pressing().next().is_none() {
            return;
        }
        let mut asked = vec![0.0; links.len()];
        for (stream, rate) in pressing() {
            stream.forward.iter().for_each(|link| asked[*link as usize] += stream.flows * rate);
        }
        let ahead = Ahead::new(links, streams);
        let mut most = self.flying;
        for (stream, offered) in pressing() {
            let sent = stream.flows * offered / (8.0 * stream.packet) * stream.lasts;
            let (mut rate, mut flying) = (stream.flows * offered, 0.0);
            for (place, &link) in stream.forward.iter().enumerate() {
                let (spec, asked) = (&links[link as usize], asked[link as usize]);
                let part = spec.rate.map_or(1.0, |carried| (carried.as_f64() / asked).min(1.0));
                let waits = rate * (1.0 - part) / (8.0 * stream.packet) * stream.lasts;
                queued[link as usize] += waits;
                rate *= part;
                if place < ahead.resident(stream) {
                    flying += rate / (8.0 * stream.packet) * longest(spec).min(stream.lasts);
                    flying += if computed(spec) { waits.min(room(spec, stream.packet)) } else { 0.0 };
                }
            }
            // None is sent before the start.
            let flying = flying.min(sent);
            self.flying += flying;
            self.note_longest(valid, stream, flying, &mut most);
            self.rate += sent / stream.lasts.max(1e-9);
            self.sent += sent;
        }
    }

    /// Queues no longer than their limits.
    fn queues(&mut self, valid: &Valid, queued: &[f64]) {
        let packet = valid.groups().iter().filter_map(Group::full_packet).min().unwrap_or(Bytes(1500));
        let mut most = 0.0;
        for (link, wanted) in valid.network().links.iter().zip(queued) {
            let waiting = wanted.min(room(link, packet.0.max(1) as f64));
            *(if computed(link) { &mut self.tails } else { &mut self.ruled }) += waiting;
            if waiting > most {
                most = waiting;
                let limit = match link.limit {
                    Limit::Packets(packets) => format!("{packets} packets of buffer"),
                    Limit::Bytes(bytes) => format!("{bytes} of buffer"),
                    Limit::Unlimited => "a buffer without limit".to_string(),
                };
                self.deepest = format!("most of them at `{}`, {limit}", link.name);
            }
        }
    }

    /// Names the group with most packets in flight.
    fn note_longest(&mut self, valid: &Valid, stream: &Stream, flying: f64, most: &mut f64) {
        if flying <= *most {
            return;
        }
        *most = flying;
        let links = &valid.network().links;
        let rate = stream.forward.iter().filter_map(|link| links[*link as usize].rate).min();
        let narrow = rate.map_or("no rate".to_string(), |rate| rate.to_string());
        let bits = if stream.demand.is_finite() { Rate(stream.demand as u64).to_string() } else { narrow };
        let delay = Span::from_secs_f64(delay(links, &stream.forward) + delay(links, &stream.backward));
        let packet = Bytes(stream.packet as u64);
        let group = &valid.groups()[stream.group].name;
        self.longest =
            format!("most of them of `{group}`: {bits}, a round trip of {delay}, packets of {packet}");
    }
}

/// Flow slots of streams that are known before the run, by group.
fn slots(streams: &[Stream]) -> Vec<(usize, f64)> {
    let mut slots: Vec<(usize, f64)> = Vec::new();
    for stream in streams {
        match slots.last_mut() {
            Some((group, count)) if *group == stream.group => *count += stream.flows,
            _ => slots.push((stream.group, stream.flows)),
        }
    }
    slots
}

/// The slowest link of a path, and its rate.
fn narrowest(valid: &Valid, stream: &Stream) -> Option<(u32, f64)> {
    let links = &valid.network().links;
    let rates = stream.forward.iter().filter_map(|link| Some((*link, links[*link as usize].rate?.as_f64())));
    rates.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Seconds that a transfer takes on an idle path.
fn alone(valid: &Valid, group: &Group, stream: &Stream) -> f64 {
    let links = &valid.network().links;
    let rtt = delay(links, &stream.forward) + delay(links, &stream.backward);
    let Some(tcp) = &group.tcp else { return rtt };
    let opening = if tcp.handshake { f64::from(tcp.handshake_rounds) } else { 0.0 };
    rtt * (1.0 + opening + stream.growth.map_or(1.0, |growth| growth.rounds))
}

/// The bits that an unresponsive member sends per second; one of unknown rate fills its path.
fn offered(links: &[LinkSpec], stream: &Stream) -> f64 {
    let narrow = stream.forward.iter().filter_map(|link| links[*link as usize].rate).min();
    if stream.demand.is_finite() { stream.demand } else { narrow.map_or(0.0, |rate| rate.as_f64()) }
}

/// The part of each link's rate that datagrams leave to responsive flows.
fn left(links: &[LinkSpec], streams: &[Stream]) -> Vec<f64> {
    let mut left: Vec<f64> =
        links.iter().map(|link| link.rate.map_or(f64::INFINITY, |rate| rate.as_f64())).collect();
    for stream in streams.iter().filter(|one| one.growth.is_none()) {
        let asked = stream.flows * offered(links, stream);
        stream.forward.iter().for_each(|link| left[*link as usize] = (left[*link as usize] - asked).max(0.0));
    }
    left
}

/// The delays along a path.
pub(super) fn delay(links: &[LinkSpec], path: &[u32]) -> f64 {
    path.iter().map(|link| longest(&links[*link as usize])).sum()
}

/// The longest that a packet is on a link.
fn longest(link: &LinkSpec) -> f64 {
    let steps = link.delay_steps.iter().map(|step| step.value);
    let delay = steps.fold(link.delay, Span::max);
    (delay + link.jitter).as_secs_f64()
}

/// Packets of this size that may wait.
fn room(link: &LinkSpec, packet: f64) -> f64 {
    match link.limit {
        Limit::Packets(packets) => f64::from(packets),
        Limit::Bytes(bytes) => bytes.0 as f64 / packet,
        Limit::Unlimited => f64::INFINITY,
    }
}

/// Whether a link computes departures as packets arrive, and stores none that waits.
pub(super) fn computed(link: &LinkSpec) -> bool {
    link.queue == queue::Config::default()
        && link.capacity == capacity::Config::default()
        && link.feedback == feedback::Config::default()
        && link.effects.is_none()
}
