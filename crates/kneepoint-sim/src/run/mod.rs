// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a [`Valid`] scenario for one seed and reports events to an observer.
//!
//! One run is single-threaded unless it is [divided](Division), and the same seed gives the same events on every machine. Everything that waits
//! is an entity with at most one pending event: a link's transmission, its first arrival, its discipline's
//! clock; the agenda of starts and stops; the sampler; the sources: sources that open connections first, then
//! datagrams, then single connections; the timers of the two ends of each flow. They take effect in that order where
//! their times are equal.

mod agents;
pub mod cost;
mod exchange;
mod flow;
mod hosts;
mod oracle;
mod parallel;
mod regions;
mod relay;

use std::collections::BTreeMap;
use std::ops::Add;

use crate::event::{Entity, EventQueue};
use crate::link::{LinkSpec, Links, NodeId, Routes};
use crate::packet::{Flags, Packet};
use crate::queue::Backlog;
use crate::rng::Rng;
use crate::spec::{Roster, Valid};
use crate::trace::{Event, FlowId, LinkId, Observer, View};
use crate::traffic::{self, Kind, Request};
use crate::units::{Interval, Span, Time};
use agents::{Agent, Leg, Pool};
pub use cost::Cost;
use flow::Paths;
use hosts::Hosts;
pub use oracle::Oracle;
use parallel::Share;
pub use parallel::{Division, Joined, Region};

/// The size of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Events handled.
    pub events: u64,
    /// Packets that the first measured link transmitted, from the beginning of the run to its end.
    pub bottleneck_packets: u64,
}

impl Add for Outcome {
    type Output = Outcome;

    fn add(self, other: Outcome) -> Outcome {
        Outcome {
            events: self.events + other.events,
            bottleneck_packets: self.bottleneck_packets + other.bottleneck_packets,
        }
    }
}

/// A line of the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cue {
    Start(FlowId),
    Stop(FlowId),
    /// A transfer starts in another part of the network.
    Elsewhere,
}

/// The links that hold noisy hosts' packets back, in the order of listed connections, then of pairs for others.
type Jitters = std::vec::IntoIter<Option<u32>>;

/// A run in progress.
pub struct Simulation<'a, O> {
    state: Engine<'a>,
    watch: O,
    /// Its share, if it is one of several threads that make the run.
    share: Option<Box<Share<'a>>>,
}

struct Engine<'a> {
    valid: &'a Valid,
    events: EventQueue,
    network: Links,
    hosts: Hosts,
    agents: Vec<Agent>,
    /// The hosts that agents use.
    pools: Vec<Pool>,
    /// The common properties of each group's connections.
    legs: Vec<Leg>,
    /// The agents that datagrams of a slot are cues of.
    listeners: BTreeMap<u32, u32>,
    /// Kept so that an agent's requests need no allocation.
    requests: Vec<Request>,
    /// Transfers that start and stop, the next last.
    agenda: Vec<(Time, Cue)>,
    /// The first entity after the network's.
    base: Entity,
    now: Time,
    handled: u64,
}

impl<'a, O: Observer> Simulation<'a, O> {
    /// Sets the scenario up for a seed.
    pub fn new(valid: &'a Valid, seed: u64, watch: O) -> Simulation<'a, O> {
        Simulation { state: Engine::new(valid, seed), watch, share: None }
    }

    /// Runs until `until`, or the end of the scenario if that is earlier.
    pub fn advance(&mut self, until: Time) {
        let until = until.min(self.state.valid.schedule().duration);
        if self.share.is_some() {
            self.advance_region(until);
        } else {
            self.handle_until(until);
        }
        self.state.now = self.state.now.max(until);
    }

    /// Handles all events until then. It is inlined, as whole runs pay for a loop of windows around it.
    #[inline(always)]
    fn handle_until(&mut self, until: Time) {
        let clock = self.watch.clock();
        // One for all events, so that a packet is not copied on its way to its host.
        let mut packet = Packet::default();
        while let Some((now, entity)) = self.state.events.pop(until) {
            self.state.now = now;
            self.state.handled += 1;
            if let Some(next) = self.state.events.upcoming() {
                self.state.network.expect(next);
            }
            if clock {
                self.state.network.settle(now, &mut self.watch);
                self.watch.advance(now);
            }
            self.state.handle(entity, &mut packet, now, &mut self.watch);
        }
    }

    /// The time in the run.
    pub fn now(&self) -> Time {
        self.state.now
    }

    /// The observer, with all events until now. A drop-tail queue reports some packets only at the end.
    pub fn observer(&self) -> &O {
        &self.watch
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.state.handled
    }

    /// Whether each transfer whose data had all arrived before `at` has been reported as completed, which is when its sender knows.
    /// O(flows).
    pub fn has_reported(&self, at: Time) -> bool {
        self.state.hosts.have_reported(at)
    }

    /// Bytes that the engine takes now, by the measure of its [`Cost`]: O(links + flows).
    pub fn footprint(&self) -> u64 {
        cost::footprint(&self.state)
    }

    /// The greatest number of packets in flight, and of flow slots: the parts of a run that grow.
    pub fn population(&self) -> usize {
        self.state.network.flying() + self.state.hosts.slots()
    }

    /// Links and flows: [`footprint`](Simulation::footprint) looks at each of them.
    pub fn parts(&self) -> usize {
        self.state.valid.network().links.len() + self.state.hosts.slots()
    }

    /// Ends the run where it is, and gives the observer back.
    pub fn finish(mut self) -> (O, Outcome) {
        self.state.network.settle(self.state.now, &mut self.watch);
        let measured = self.state.valid.network().links.iter().position(|link| link.measured);
        let served = measured.map_or(0, |link| self.state.network.served(LinkId(link as u32)));
        let surplus = self.share.map_or(0, |mut share| share.surplus(&mut self.state));
        (self.watch, Outcome { events: self.state.handled - surplus, bottleneck_packets: served })
    }
}

/// Runs a scenario from beginning to end.
pub fn run<O: Observer>(valid: &Valid, seed: u64, watch: O) -> (O, Outcome) {
    let mut simulation = Simulation::new(valid, seed, watch);
    simulation.advance(Time::NEVER);
    simulation.finish()
}

/// The inputs for setting up a run, in addition to the run.
struct Setup<'a> {
    routes: Routes<'a>,
    jitters: Jitters,
    seed: u64,
    /// Streams of starts that groups share, by name.
    shared: BTreeMap<&'static str, Rng>,
    /// The number of groups and of members that have used a stream's name.
    groups: BTreeMap<&'static str, u64>,
    members: BTreeMap<&'static str, u64>,
}

/// Setting up.
impl<'a> Engine<'a> {
    fn new(valid: &'a Valid, seed: u64) -> Engine<'a> {
        let (links, jitters) = links_with_jitter(valid);
        let base = Links::entities(links.len());
        let acting = valid.groups().iter().filter(|group| group.kind() != Kind::Transfers);
        let fixed = base + 2 + acting.map(|group| group.members.len()).sum::<usize>();
        let mut events = EventQueue::new(fixed, resolution(valid));
        let network = Links::new(&links, valid.full_packet(), seed, &mut events);
        let oracle = Oracle::new(&links, valid.full_packet(), seed);
        let mut state = Engine {
            valid,
            events,
            network,
            hosts: Hosts::new(fixed as Entity, Roster::new(valid).fixed().len(), seed, oracle),
            agents: Vec::new(),
            pools: Vec::new(),
            legs: Vec::new(),
            listeners: BTreeMap::new(),
            requests: Vec::new(),
            agenda: Vec::new(),
            base: base as Entity,
            now: Time::ZERO,
            handled: 0,
        };
        let mut setup = Setup {
            routes: Routes::new(valid.network()),
            jitters: jitters.into_iter(),
            seed,
            shared: BTreeMap::new(),
            groups: BTreeMap::new(),
            members: BTreeMap::new(),
        };
        state.open_slots(&mut setup);
        state.add_agents(&mut setup);
        state.network.fuse();
        state.agenda.sort_unstable_by(|a, b| b.cmp(a));
        state.cue_agenda();
        if let Some(interval) = valid.schedule().sample {
            state.events.schedule(state.base + 1, Time::ZERO + interval);
        }
        state
    }

    /// The paths between two hosts, with the link that holds a noisy sender's packets back; whether the receiver answers each
    /// packet at once.
    fn add_paths(
        &mut self,
        routes: &mut Routes,
        (from, to): (NodeId, NodeId),
        jitter: Option<u32>,
        answers: bool,
    ) -> Paths {
        let mut way = |a, b| routes.path(a, b).expect("a valid scenario has a path both ways");
        let out: Vec<u32> = jitter.into_iter().chain(way(from, to)).collect();
        let back = way(to, from);
        let links = &self.valid.network().links;
        let delays = out.iter().chain(&back).filter_map(|link| links.get(*link as usize));
        let rtt = delays.fold(Span::ZERO, |sum, link| sum + link.delay);
        let class = self.hosts.class(&out, rtt);
        let (forward, backward) = (self.network.add_path(&out), self.network.add_path(&back));
        if answers {
            self.network.add_answer(forward, backward);
        }
        Paths { forward, backward, class }
    }
}

/// Running.
impl Engine<'_> {
    #[inline(always)]
    fn handle<O: Observer>(&mut self, entity: Entity, packet: &mut Packet, now: Time, watch: &mut O) {
        if entity < self.base {
            let Some(at) = self.network.on_event(entity, packet, now, &mut self.events, watch) else {
                return;
            };
            if packet.flags.has(Flags::DATAGRAM) {
                return self.reach(packet, at, now, watch);
            }
            if let Some(news) =
                self.hosts.deliver((packet, at), now, &mut self.network, &mut self.events, watch)
            {
                self.tell(news, now, watch);
            }
        } else if self.hosts.owns(entity) {
            self.hosts.on_event(entity, now, &mut self.network, &mut self.events, watch);
        } else {
            self.handle_rare(entity - self.base, now, watch);
        }
    }

    #[inline(never)]
    fn handle_rare<O: Observer>(&mut self, place: Entity, now: Time, watch: &mut O) {
        match place {
            0 => self.keep_agenda(now, watch),
            1 => {
                watch.on(now, &Event::Sample { view: self });
                if let Some(interval) = self.valid.schedule().sample {
                    self.events.schedule(self.base + 1, now + interval);
                }
            }
            place => self.cue(place - 2, traffic::Cue::Time, now, watch),
        }
    }

    fn keep_agenda<O: Observer>(&mut self, now: Time, watch: &mut O) {
        while let Some((_, cue)) = self.agenda.pop_if(|(at, _)| *at <= now) {
            match cue {
                Cue::Start(flow) => self.hosts.start(flow, now, &mut self.network, &mut self.events, watch),
                Cue::Stop(flow) => self.hosts.stop(flow, now, watch),
                Cue::Elsewhere => {}
            }
        }
        self.cue_agenda();
    }

    fn cue_agenda(&mut self) {
        if let Some(&(at, _)) = self.agenda.last() {
            self.events.schedule(self.base, at);
        }
    }
}

impl View for Engine<'_> {
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

/// The scenario's links, then one for each noisy host; and the link of each listed connection, then of each pair for
/// others.
fn links_with_jitter(valid: &Valid) -> (Vec<LinkSpec>, Vec<Option<u32>>) {
    let mut links = valid.network().links.clone();
    let hosts = |wanted: fn(Kind) -> bool| {
        // A proxy has no noise.
        let own = valid.groups().iter().enumerate().filter(|(place, _)| !valid.is_carried(*place));
        own.filter(move |(_, group)| wanted(group.kind())).flat_map(|(_, group)| {
            let jitter = group.tcp.as_ref().map_or(Span::ZERO, |tcp| tcp.jitter);
            group.pairs.iter().map(move |&(from, _)| (from, jitter))
        })
    };
    let noise = hosts(Kind::listed).chain(hosts(Kind::opens)).map(|(from, jitter)| {
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
    let rates = valid.network().links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    rates.max().map_or(Span::from_micros(1), |rate| Span(rate.time_for(valid.full_packet()).0 / 8))
}

fn draw(interval: Interval, rng: &mut Rng) -> Time {
    interval.from + Span(rng.below(interval.span().0.max(1)))
}
