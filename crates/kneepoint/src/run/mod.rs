// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a [`Valid`] scenario for one seed and tells an observer what happens.
//!
//! One run is single-threaded, and the same seed gives the same events on every machine. Everything that waits
//! is an entity with at most one pending event: a link's transmission, its first arrival, its discipline's
//! clock; the script of starts and stops; the sampler; web sessions; constant-rate sources; the timers of the two
//! ends of each flow. They act in that order where their times are equal.

mod hosts;
mod sources;

use std::sync::Arc;

use crate::cc;
use crate::event::{Entity, EventQueue};
use crate::link::{LinkSpec, Links, NodeId, Routes};
use crate::queue::Backlog;
use crate::rng::Rng;
use crate::spec::{Roster, Valid};
use crate::tcp::Options;
use crate::trace::{Event, FlowId, LinkId, Observer, View};
use crate::units::{Interval, Span, Time};
use hosts::{Ended, Hosts, Paths, Task};
use sources::{ConstantRate, Session};

/// What a run amounted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Events handled.
    pub events: u64,
    /// Packets that the first measured link transmitted, from the beginning of the run to its end.
    pub bottleneck_packets: u64,
}

/// A line of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cue {
    Start(FlowId),
    Stop(FlowId),
}

/// A web population at work.
#[derive(Clone, Debug)]
struct Population {
    options: Arc<Options>,
    paths: Vec<Paths>,
    free: Vec<FlowId>,
}

/// The links that hold noisy hosts' packets back, in the order of flows, then of web pairs.
type Jitters = std::vec::IntoIter<Option<u32>>;

/// A run in progress.
pub struct Simulation<'a, O> {
    state: State<'a>,
    watch: O,
}

struct State<'a> {
    valid: &'a Valid,
    events: EventQueue,
    network: Links,
    hosts: Hosts,
    sessions: Vec<Session>,
    populations: Vec<Population>,
    sources: Vec<(ConstantRate, FlowId, u32)>,
    /// What starts and stops, the next last.
    script: Vec<(Time, Cue)>,
    /// The first entity after the network's.
    base: Entity,
    now: Time,
    handled: u64,
}

impl<'a, O: Observer> Simulation<'a, O> {
    /// Sets the scenario up for a seed.
    pub fn new(valid: &'a Valid, seed: u64, watch: O) -> Simulation<'a, O> {
        Simulation { state: State::new(valid, seed), watch }
    }

    /// Runs until `until`, or the end of the scenario if that is earlier.
    pub fn advance(&mut self, until: Time) {
        let until = until.min(self.state.valid.schedule.duration);
        while let Some((now, entity)) = self.state.events.pop(until) {
            self.state.now = now;
            self.state.handled += 1;
            if O::CLOCK {
                self.state.network.settle(now, &mut self.watch);
                self.watch.advance(now);
            }
            self.state.handle(entity, now, &mut self.watch);
        }
        self.state.now = self.state.now.max(until);
    }

    /// The time in the run.
    pub fn now(&self) -> Time {
        self.state.now
    }

    /// Ends the run where it is, and gives the observer back.
    pub fn finish(mut self) -> (O, Outcome) {
        self.state.network.settle(self.state.now, &mut self.watch);
        let measured = self.state.valid.network.links.iter().position(|link| link.measured);
        let served = measured.map_or(0, |link| self.state.network.served(LinkId(link as u32)));
        (self.watch, Outcome { events: self.state.handled, bottleneck_packets: served })
    }
}

/// Runs a scenario from beginning to end.
pub fn run<O: Observer>(valid: &Valid, seed: u64, watch: O) -> (O, Outcome) {
    let mut simulation = Simulation::new(valid, seed, watch);
    simulation.advance(Time::NEVER);
    simulation.finish()
}

/// Setting up.
impl<'a> State<'a> {
    fn new(valid: &'a Valid, seed: u64) -> State<'a> {
        let (links, jitters) = links_with_jitter(valid);
        let base = Links::entities(links.len());
        let sessions: u32 = valid.web.iter().map(|group| group.sessions).sum();
        let sources: usize = valid.cbr.iter().map(|group| group.pairs.len()).sum();
        let fixed = base + 2 + sessions as usize + sources;
        let mut events = EventQueue::new(fixed, resolution(valid));
        let network = Links::new(&links, valid.full_packet(), seed, &mut events);
        let mut state = State {
            valid,
            events,
            network,
            hosts: Hosts::new(fixed as Entity, Roster::new(valid).fixed().len(), seed),
            sessions: Vec::new(),
            populations: Vec::new(),
            sources: Vec::new(),
            script: Vec::new(),
            base: base as Entity,
            now: Time::ZERO,
            handled: 0,
        };
        let mut routes = Routes::new(&valid.network);
        let mut jitters = jitters.into_iter();
        state.add_flows(&mut routes, &mut jitters, seed);
        state.add_sources(&mut routes, seed);
        state.add_web(&mut routes, &mut jitters, seed);
        state.network.fuse();
        state.script.sort_unstable_by(|a, b| b.cmp(a));
        state.cue_script();
        if let Some(interval) = valid.schedule.sample {
            state.events.schedule(state.base + 1, Time::ZERO + interval);
        }
        state
    }

    fn add_flows(&mut self, routes: &mut Routes, jitters: &mut Jitters, seed: u64) {
        let mut starts = Rng::stream(seed, "start", 0);
        for group in &self.valid.flows {
            let options = Arc::new(group.tcp.clone());
            for flow in &group.flows {
                let jitter = jitters.next().flatten();
                let paths = self.add_paths(routes, flow.from, flow.to, jitter);
                if !options.delayed_ack {
                    self.network.add_answer(paths.forward, paths.backward);
                }
                let task =
                    Task { options: &options, controller: &group.cc, size: flow.size, paths, owner: None };
                let id = self.hosts.open(task, &mut self.events);
                self.script.push((draw(flow.start, &mut starts), Cue::Start(id)));
                self.script.extend(flow.stop.map(|stop| (stop, Cue::Stop(id))));
            }
        }
    }

    fn add_sources(&mut self, routes: &mut Routes, seed: u64) {
        let mut starts = Rng::stream(seed, "start-cbr", 0);
        // A source has a slot like any other flow; its sender stays silent.
        let (options, controller) = (Arc::new(Options::default()), cc::Config::default());
        let entity = self.base + 2 + self.valid.web.iter().map(|group| group.sessions).sum::<u32>();
        for group in &self.valid.cbr {
            for &(from, to) in &group.pairs {
                let paths = self.add_paths(routes, from, to, None);
                let task =
                    Task { options: &options, controller: &controller, size: None, paths, owner: None };
                let id = self.hosts.open(task, &mut self.events);
                let start = draw(group.start, &mut starts);
                let source =
                    ConstantRate::new(group.params.clone(), start, group.stop.unwrap_or(Time::NEVER));
                self.events.schedule(entity + self.sources.len() as Entity, source.first());
                self.sources.push((source, id, paths.forward));
            }
        }
    }

    fn add_web(&mut self, routes: &mut Routes, jitters: &mut Jitters, seed: u64) {
        for (index, group) in self.valid.web.iter().enumerate() {
            let mut starts = Rng::stream(seed, "start-web", index as u64);
            let paths = group.pairs.iter();
            let paths =
                paths.map(|&(from, to)| self.add_paths(routes, from, to, jitters.next().flatten())).collect();
            self.populations.push(Population {
                options: Arc::new(group.tcp.clone()),
                paths,
                free: Vec::new(),
            });
            for _ in 0..group.sessions {
                let number = self.sessions.len();
                self.sessions.push(Session::new(index as u32, Rng::stream(seed, "session", number as u64)));
                self.events.schedule(self.base + 2 + number as Entity, draw(group.start, &mut starts));
            }
        }
    }

    fn add_paths(&mut self, routes: &mut Routes, from: NodeId, to: NodeId, jitter: Option<u32>) -> Paths {
        let mut way = |a, b| routes.path(a, b).expect("a valid scenario has a path both ways");
        let out: Vec<u32> = jitter.into_iter().chain(way(from, to)).collect();
        let back = way(to, from);
        Paths { forward: self.network.add_path(&out), backward: self.network.add_path(&back) }
    }
}

/// Running.
impl State<'_> {
    #[inline]
    fn handle<O: Observer>(&mut self, entity: Entity, now: Time, watch: &mut O) {
        if entity < self.base {
            if let Some(reached) = self.network.on_event(entity, now, &mut self.events, watch)
                && let Some(ended) = self.hosts.deliver(reached, &mut self.network, &mut self.events, watch)
            {
                self.on_ended(ended, now);
            }
        } else if self.hosts.owns(entity) {
            self.hosts.on_event(entity, now, &mut self.network, &mut self.events, watch);
        } else {
            self.handle_rare(entity - self.base, now, watch);
        }
    }

    fn handle_rare<O: Observer>(&mut self, place: Entity, now: Time, watch: &mut O) {
        let sessions = self.sessions.len() as Entity;
        match place {
            0 => self.play_script(now, watch),
            1 => {
                watch.on(now, &Event::Sample { view: self });
                if let Some(interval) = self.valid.schedule.sample {
                    self.events.schedule(self.base + 1, now + interval);
                }
            }
            place if place < 2 + sessions => self.request(place - 2, now, watch),
            place => self.emit(place - 2 - sessions, now, watch),
        }
    }

    fn play_script<O: Observer>(&mut self, now: Time, watch: &mut O) {
        while let Some((_, cue)) = self.script.pop_if(|(at, _)| *at <= now) {
            match cue {
                Cue::Start(flow) => self.hosts.start(flow, now, &mut self.network, &mut self.events, watch),
                Cue::Stop(flow) => self.hosts.stop(flow, now, watch),
            }
        }
        self.cue_script();
    }

    fn cue_script(&mut self) {
        if let Some(&(at, _)) = self.script.last() {
            self.events.schedule(self.base, at);
        }
    }

    /// A web session asks for an object.
    fn request<O: Observer>(&mut self, number: u32, now: Time, watch: &mut O) {
        let session = &mut self.sessions[number as usize];
        let group = &self.valid.web[session.group as usize];
        let population = &mut self.populations[session.group as usize];
        let task = Task {
            options: &population.options,
            controller: &group.cc,
            size: Some(session.size(&group.params)),
            paths: population.paths[session.pair(population.paths.len())],
            owner: Some((session.group, number)),
        };
        let flow = match population.free.pop() {
            Some(flow) => {
                self.hosts.reuse(flow, task);
                flow
            }
            None => self.hosts.open(task, &mut self.events),
        };
        if let Some(wait) = session.wait_after_request(&group.params) {
            self.events.schedule(self.base + 2 + number, now + wait);
        }
        self.hosts.start(flow, now, &mut self.network, &mut self.events, watch);
    }

    /// A transfer ended: its slot is free, and its session may rest before the next.
    fn on_ended(&mut self, (flow, owner): Ended, now: Time) {
        let Some((group, session)) = owner else { return };
        self.populations[group as usize].free.push(flow);
        let params = &self.valid.web[group as usize].params;
        if let Some(wait) = self.sessions[session as usize].wait_after_transfer(params) {
            self.events.schedule(self.base + 2 + session, now + wait);
        }
    }

    /// A constant-rate source sends a packet.
    fn emit<O: Observer>(&mut self, number: u32, now: Time, watch: &mut O) {
        let id = self.hosts.number();
        let (source, flow, hop) = &mut self.sources[number as usize];
        let packet = source.packet(flow.0, *hop, id, now);
        let next = source.next();
        self.events.schedule(self.base + 2 + self.sessions.len() as Entity + number, next);
        if let Some(reached) = self.network.carry(packet, now, &mut self.events, watch) {
            self.hosts.deliver(reached, &mut self.network, &mut self.events, watch);
        }
    }
}

impl View for State<'_> {
    fn backlog(&self, link: LinkId) -> Backlog {
        self.network.backlog(link, self.now)
    }
    fn window(&self, flow: FlowId) -> f64 {
        self.hosts.window(flow)
    }
    fn controller(&self, flow: FlowId) -> Vec<(&'static str, f64)> {
        self.hosts.controller(flow)
    }
    fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        self.network.discipline(link)
    }
}

/// The scenario's links, then one for each noisy host; and which flow, then which web pair, has which.
fn links_with_jitter(valid: &Valid) -> (Vec<LinkSpec>, Vec<Option<u32>>) {
    let mut links = valid.network.links.clone();
    let flows =
        valid.flows.iter().flat_map(|group| group.flows.iter().map(|flow| (flow.from, group.tcp.jitter)));
    let servers =
        valid.web.iter().flat_map(|group| group.pairs.iter().map(|&(from, _)| (from, group.tcp.jitter)));
    let noise = flows.chain(servers).map(|(from, jitter)| {
        (jitter > Span::ZERO).then(|| {
            links.push(LinkSpec::noise(from, jitter));
            links.len() as u32 - 1
        })
    });
    let noise = noise.collect();
    (links, noise)
}

/// About the time between two events: a packet's on the fastest measured link, in eighths.
fn resolution(valid: &Valid) -> Span {
    let rates = valid.network.links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    rates.max().map_or(Span::from_micros(1), |rate| Span(rate.time_for(valid.full_packet()).0 / 8))
}

fn draw(interval: Interval, rng: &mut Rng) -> Time {
    interval.from + Span(rng.below(interval.span().0.max(1)))
}
