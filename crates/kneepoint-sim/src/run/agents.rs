// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources at work: each member of a group with its hosts. The run cues the members and grants their requests.

use std::ops::Range;
use std::sync::Arc;

use super::flow::{Load, News, Owner, Paths, Task};
use super::{Cue, Engine, Setup, draw};
use crate::event::Entity;
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::spec::Group;
use crate::tcp::Options;
use crate::trace::{Event, FlowId, Observer};
use crate::traffic::{self, Any, Kind, Request, Site};
use crate::units::{Bytes, Time};

/// A member of a group at work.
#[derive(Clone, Debug)]
pub struct Agent {
    source: Any,
    rng: Rng,
    pool: u32,
    /// Its open connections that are written to, by its own numbers.
    open: Vec<(u32, FlowId)>,
}

/// Hosts that agents share, or a single agent's own.
#[derive(Clone, Debug)]
pub struct Pool {
    group: u32,
    /// Its paths among the group's.
    paths: Range<u32>,
    /// Slots whose transfers have ended.
    free: Vec<FlowId>,
    /// The slot of its datagrams.
    datagrams: Option<FlowId>,
}

/// Common settings of a group's connections.
#[derive(Clone, Debug)]
pub struct Leg {
    options: Arc<Options>,
    /// For each member or, where connections are opened in the run, for each pair of nodes.
    paths: Vec<Paths>,
    /// The slot of the first member, where slots are known before the run.
    slots: Option<u32>,
    /// The group under which a proxy forwards their data, and the most that it buffers for each.
    onward: Option<(usize, Bytes)>,
}

impl Setup<'_> {
    /// The start of a member of a group; a member that shares a stream draws after those before it.
    fn starts(&mut self, group: &Group) -> Vec<Time> {
        let streams = group.source.nature().streams;
        let number = self.groups.entry(streams.starts).or_default();
        let fresh = || Rng::stream(self.seed, streams.starts, if streams.shared { 0 } else { *number });
        let mut own = fresh();
        let rng = if streams.shared { self.shared.entry(streams.starts).or_insert(own) } else { &mut own };
        *number += 1;
        group.members.iter().map(|member| draw(member.start, rng)).collect()
    }

    /// The random stream of the next member that draws from streams of this name.
    fn draws(&mut self, name: &'static str) -> Rng {
        let number = self.members.entry(name).or_default();
        let rng = Rng::stream(self.seed, name, *number);
        *number += 1;
        rng
    }
}

/// Setting up.
impl Engine<'_> {
    /// Opens the slots known before the run, in the order of the roster: slots of transfers go to the agenda, the
    /// others wait for their agents.
    pub(super) fn open_slots(&mut self, setup: &mut Setup) {
        self.legs = self.valid.groups().iter().map(Leg::of).collect();
        for joint in self.valid.joints() {
            self.legs[joint.from].onward = Some((joint.to, joint.buffer));
        }
        for wanted in [Kind::listed, |kind| kind == Kind::Datagrams] {
            for (place, group) in self.valid.groups().iter().enumerate() {
                if wanted(group.kind()) {
                    self.open_group(place, group, setup);
                }
            }
        }
        for joint in self.valid.joints() {
            if let (Some(from), Some(to)) = (self.legs[joint.from].slots, self.legs[joint.to].slots) {
                for member in 0..self.valid.groups()[joint.to].members.len() as u32 {
                    self.hosts.join(FlowId(from + member), FlowId(to + member), joint.buffer);
                }
            }
        }
    }

    /// The paths of a group's connections. Only traffic that its own members start has noise of hosts: a proxy has none.
    fn lay_paths(&mut self, place: usize, group: &Group, setup: &mut Setup) {
        let own = !self.valid.is_carried(place);
        // A datagram that is a cue is not taken ahead of its time.
        let answers = self.legs[place].options.answers_at_once()
            && self.legs[place].onward.is_none()
            && !group.source.listens();
        let noisy = own && group.kind().connects();
        let paths = group.pairs.iter().map(|pair| {
            let jitter = if noisy { setup.jitters.next().flatten() } else { None };
            self.add_paths(&mut setup.routes, *pair, jitter, answers)
        });
        let paths = paths.collect();
        self.legs[place].paths = paths;
    }

    fn open_group(&mut self, place: usize, group: &Group, setup: &mut Setup) {
        let carried = self.valid.is_carried(place);
        // A source of datagrams has a slot like any other flow; its sender stays silent.
        let controller = group.cc.clone().unwrap_or_default();
        let cued = group.kind() == Kind::Transfers && !carried;
        let starts = if cued { setup.starts(group) } else { Vec::new() };
        self.lay_paths(place, group, setup);
        let options = Arc::clone(&self.legs[place].options);
        for (index, member) in group.members.iter().enumerate() {
            let paths = self.legs[place].paths[index];
            let load = match member.size {
                _ if carried => Load::Written,
                size => size.map_or(Load::Endless, Load::Sized),
            };
            let (options, controller, owner) = (&options, &controller, None);
            let task = Task { options, controller, load, paths, group: place as u32, owner };
            let flow = self.hosts.open(task, &mut self.events);
            self.legs[place].slots.get_or_insert(flow.0);
            if cued {
                self.agenda.push((starts[index], Cue::Start(flow)));
                self.agenda.extend(member.stop.map(|stop| (stop, Cue::Stop(flow))));
            }
        }
    }

    /// Makes the members of all groups except transfers: members that open connections first, then datagrams, then
    /// single connections.
    pub(super) fn add_agents(&mut self, setup: &mut Setup) {
        for wanted in [Kind::opens, |kind| kind == Kind::Datagrams, |kind| kind == Kind::Streams] {
            for (place, group) in self.valid.groups().iter().enumerate() {
                if wanted(group.kind()) {
                    self.add_group(place, group, setup);
                }
            }
        }
    }

    fn add_group(&mut self, place: usize, group: &Group, setup: &mut Setup) {
        let kind = group.kind();
        if kind.opens() {
            self.lay_paths(place, group, setup);
        }
        if self.valid.is_carried(place) {
            return;
        }
        let new_pool = |paths, free, datagrams| Pool { group: place as u32, paths, free, datagrams };
        let shared = self.pools.len() as u32;
        if kind.opens() {
            self.pools.push(new_pool(0..group.pairs.len() as u32, Vec::new(), None));
        }
        let starts = setup.starts(group);
        for (index, (member, start)) in (0..).zip(group.members.iter().zip(starts)) {
            if let Some(first) = self.legs[place].slots {
                let flow = FlowId(first + index);
                let (free, datagrams) = match kind {
                    Kind::Datagrams => (Vec::new(), Some(flow)),
                    _ => (vec![flow], None),
                };
                self.pools.push(new_pool(index..index + 1, free, datagrams));
            }
            let number = self.agents.len() as Entity;
            let pool = if kind.opens() { shared } else { self.pools.len() as u32 - 1 };
            let stop = member.stop.unwrap_or(Time::NEVER);
            let site = Site { start, stop, pairs: self.pools[pool as usize].paths.len() as u32 };
            let agent = Agent {
                source: group.source.build(site),
                rng: setup.draws(group.source.nature().streams.draws),
                pool,
                open: Vec::new(),
            };
            self.events.schedule(self.base + 2 + number, agent.source.next_wakeup());
            if let Some(flow) = self.pools[pool as usize].datagrams.filter(|_| agent.source.listens()) {
                self.listeners.insert(flow.0, number);
            }
            self.agents.push(agent);
        }
    }
}

/// Running.
impl Engine<'_> {
    /// Cues an agent and grants its requests.
    pub(super) fn cue<O: Observer>(&mut self, number: u32, cue: traffic::Cue, now: Time, watch: &mut O) {
        let mut requests = std::mem::take(&mut self.requests);
        let agent = &mut self.agents[number as usize];
        agent.source.on(cue, now, &mut agent.rng, &mut requests);
        let (entity, wakeup) = (self.base + 2 + number, agent.source.next_wakeup());
        if self.events.due(entity) != wakeup {
            self.events.schedule(entity, wakeup);
        }
        for request in requests.drain(..) {
            self.grant(number, request, now, watch);
        }
        self.requests = requests;
    }

    /// A connection that an agent opened has an event for it; a slot whose transfer ended is free.
    #[inline(never)]
    pub(super) fn tell<O: Observer>(&mut self, news: News, now: Time, watch: &mut O) {
        let News { flow, owner: Owner { agent: number, connection }, ended, acked, delivered } = news;
        if !ended {
            let cue = traffic::Cue::Delivered { connection, bytes: acked, at: delivered };
            return self.cue(number, cue, now, watch);
        }
        let agent = &self.agents[number as usize];
        self.pools[agent.pool as usize].free.push(flow);
        self.cue(number, traffic::Cue::Completed { connection, at: delivered }, now, watch);
    }

    #[inline]
    fn grant<O: Observer>(&mut self, agent: u32, request: Request, now: Time, watch: &mut O) {
        match request {
            Request::Datagram { size } => self.emit(agent, (size, 0, Flags::DATAGRAM), now, watch),
            Request::Numbered { size, number, scalable } => {
                let capable = Flags::ECT.with(Flags::SCALABLE);
                let flags = Flags::DATAGRAM.with_if(scalable, capable);
                self.emit(agent, (size, number, flags), now, watch);
            }
            Request::Answer { size, number } => {
                let flags = Flags::DATAGRAM.with(Flags::ACK);
                self.emit(agent, (size, number, flags), now, watch);
            }
            Request::Open { connection, pair, size } => {
                self.open(Owner { agent, connection }, pair, size, now, watch);
            }
            Request::Write { connection, size, transfer } => {
                if let Some(flow) = self.agents[agent as usize].connection(connection) {
                    self.hosts.write(flow, (size, transfer), now, &mut self.network, &mut self.events, watch);
                }
            }
            Request::Report(report) => {
                let group = self.receiving(self.pools[self.agents[agent as usize].pool as usize].group);
                watch.on(now, &Event::Reported { group, report });
            }
            Request::Close { connection } => {
                let open = &mut self.agents[agent as usize].open;
                let place = open.iter().position(|(own, _)| *own == connection);
                if let Some((_, flow)) = place.map(|place| open.swap_remove(place))
                    && let Some(news) = self.hosts.close(flow, now, watch)
                {
                    self.tell(news, now, watch);
                }
            }
        }
    }

    /// The group whose connections deliver the data of a group: the group itself, unless proxies forward its data.
    fn receiving(&self, mut group: u32) -> u32 {
        while let Some((onward, _)) = self.legs[group as usize].onward {
            group = onward as u32;
        }
        group
    }

    fn open<O: Observer>(&mut self, owner: Owner, pair: u32, size: Option<Bytes>, now: Time, watch: &mut O) {
        let Some(flow) = self.slots_for(owner, pair, size) else { return };
        if size.is_none() {
            self.agents[owner.agent as usize].open.push((owner.connection, flow));
        }
        self.hosts.start(flow, now, &mut self.network, &mut self.events, watch);
    }

    /// A slot for a connection, and one behind it for each proxy on its path.
    fn slots_for(&mut self, owner: Owner, pair: u32, size: Option<Bytes>) -> Option<FlowId> {
        let pool = &mut self.pools[self.agents[owner.agent as usize].pool as usize];
        let (mut group, path) = (pool.group as usize, (pool.paths.start + pair) as usize);
        let (mut slot, mut first, mut proxy) = (pool.free.pop(), None, None);
        let mut load = size.map_or(Load::Written, Load::Sized);
        loop {
            let Some(controller) = &self.valid.groups()[group].cc else {
                debug_assert!(false, "a source without a congestion control asks for a connection");
                return None;
            };
            let Leg { options, paths, onward, .. } = &self.legs[group];
            let owner = Some(owner).filter(|_| first.is_none());
            let task = Task { options, controller, load, paths: paths[path], group: group as u32, owner };
            let flow = match slot {
                Some(flow) => {
                    slot = self.hosts.onward(flow);
                    self.hosts.reuse(flow, task);
                    flow
                }
                None => self.hosts.open(task, &mut self.events),
            };
            if let Some((before, buffer)) = proxy {
                self.hosts.join(before, flow, buffer);
            }
            first.get_or_insert(flow);
            let Some((next, buffer)) = *onward else { return first };
            (group, proxy, load) = (next, Some((flow, buffer)), Load::Written);
        }
    }

    /// Sends a datagram of this size, number and type along its member's path, or the path back.
    fn emit<O: Observer>(
        &mut self,
        agent: u32,
        (size, number, flags): (Bytes, u32, Flags),
        now: Time,
        watch: &mut O,
    ) {
        let pool = &self.pools[self.agents[agent as usize].pool as usize];
        let Some(flow) = pool.datagrams else {
            debug_assert!(false, "a source of connections asks for a datagram");
            return;
        };
        let paths = self.legs[pool.group as usize].paths[pool.paths.start as usize];
        let hop = if flags.has(Flags::ACK) { paths.backward } else { paths.forward };
        let id = self.hosts.number();
        let mut packet = Packet::data(flow.0, number, size.0 as u16, flags, now);
        (packet.hop, packet.id) = (hop, id);
        if let Some(at) = self.network.carry(&mut packet, now, &mut self.events, watch) {
            self.hosts.deliver((&packet, at), now, &mut self.network, &mut self.events, watch);
        }
    }

    /// A datagram reaches its host, which may be a cue of its member.
    #[inline(never)]
    pub(super) fn reach<O: Observer>(&mut self, packet: &Packet, at: Time, now: Time, watch: &mut O) {
        let Some(&agent) = self.listeners.get(&packet.flow) else {
            self.hosts.deliver((packet, at), now, &mut self.network, &mut self.events, watch);
            return;
        };
        watch.on(at, &Event::Delivered { packet, payload: Bytes(0) });
        if packet.flags.has(Flags::CORRUPT) {
            return;
        }
        let number = packet.seq;
        let cue = match packet.flags.has(Flags::ACK) {
            true => traffic::Cue::Answered { number },
            false => traffic::Cue::Arrived { number, marked: packet.flags.has(Flags::CE) },
        };
        self.cue(agent, cue, now, watch);
    }
}

impl Leg {
    fn of(group: &Group) -> Leg {
        let options = Arc::new(group.tcp.clone().unwrap_or_default());
        Leg { options, paths: Vec::new(), slots: None, onward: None }
    }
}

impl Agent {
    fn connection(&self, number: u32) -> Option<FlowId> {
        self.open.iter().find(|(own, _)| *own == number).map(|(_, flow)| *flow)
    }
}
