// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links at work: the path of a packet between two hosts.
//!
//! Every link is first in, first out, and its line never reorders, so the packets on it wait for one event: the
//! arrival of the first. A link with a single predecessor does not even need that. Its arrivals are known when that
//! link's departures are, so a packet passes through both at once (`Step::Through`). And a host whose receivers
//! answer each packet, on a link that nothing else uses, may do so as soon as the packet's arrival is known
//! (`Step::Reach`), unless an earlier one still waits for its own. Where several noisy hosts meet on one link, their
//! packets are put in order in front of it as they come, and wait for the end of that link instead (`Step::Merge`).
//! All of these are exact, since no other event can come between; measured links are excluded, so that their events
//! are in order.

mod effects;
mod flight;
mod link;
mod order;
mod parts;
mod paths;

use crate::event::{Entity, EventQueue};
use crate::link::LinkSpec;
use crate::link::capacity::{self, Capacity};
use crate::packet::Packet;
use crate::queue::{Backlog, Fate, Reason};
use crate::trace::{Event, LinkId, Observer};
use crate::units::{Bytes, Time};
use flight::Pool;
use link::{End, Link, Queue};
use paths::{Hop, Step};

/// All links, and the table of hops for the routes of packets.
#[derive(Clone, Debug, Default)]
pub struct Links {
    links: Vec<Link>,
    /// Capacities that are not constant; the directions of a shared one have the same.
    capacities: Vec<capacity::Any>,
    /// Measured links that compute departures, whose queue events are reported late.
    tails: Vec<u32>,
    pool: Pool,
    hops: Vec<Hop>,
    /// The last hop of each path whose receiver answers every packet, and the first hop of the reverse path.
    answered: Vec<(u32, u32)>,
    /// For each hop, after a [cut](Links::cut): whether packets leave this part of the network there, and pass through in the whole network.
    /// Not in the hop, where it costs an instruction for each.
    cut: Vec<bool>,
}

/// Sizes, for estimates of a run's memory.
impl Links {
    /// Bytes of a link with its queue and discipline.
    pub const LINK: usize = size_of::<Link>() + size_of::<link::Ruled>();
    /// Bytes of a step of a path.
    pub const HOP: usize = size_of::<Hop>() + size_of::<(u32, u32)>();
    /// The size in bytes of a packet in flight.
    pub const PACKET: usize = Pool::PLACE;

    /// The most packets in flight at the same time.
    pub fn flying(&self) -> usize {
        self.pool.places()
    }

    /// How many packets were on their way at the same time, and how many waited in queues that computed departures and that stored
    /// them: O(links).
    pub fn most(&self) -> [usize; 3] {
        let mut most = [self.flying(), 0, 0];
        for link in &self.links {
            match &link.queue {
                Queue::Free => {}
                Queue::Tail(tail) => most[1] += tail.places(),
                Queue::Ruled(ruled) => most[2] += ruled.buffer.slots(),
            }
        }
        most
    }
}

/// The entities of a network: transmissions end before packets arrive, and both before disciplines tick.
///
/// At one instant a queue first releases a packet, then accepts one: a link that computes departures does it in that order.
impl Links {
    /// The number of entities of a network with this many links.
    pub fn entities(links: usize) -> usize {
        3 * links
    }

    fn departure(&self, link: usize) -> Entity {
        link as Entity
    }

    fn arrival(&self, link: usize) -> Entity {
        (self.links.len() + link) as Entity
    }

    fn tick(&self, link: usize) -> Entity {
        (2 * self.links.len() + link) as Entity
    }
}

impl Links {
    /// The links of `specs`, idle, with disciplines that tick scheduled.
    pub fn new(specs: &[LinkSpec], packet: Bytes, seed: u64, events: &mut EventQueue) -> Links {
        let mut network = Links { links: Vec::with_capacity(specs.len()), ..Links::default() };
        for (index, spec) in specs.iter().enumerate() {
            let capacity = network.capacity(specs, seed, index);
            network.links.push(Link::new(spec, capacity, packet, seed, index as u64));
        }
        for (index, link) in network.links.iter().enumerate() {
            if link.measured && matches!(link.queue, Queue::Tail(_)) {
                network.tails.push(index as u32);
            }
            if let Some(interval) = link.interval() {
                events.schedule(network.tick(index), Time::ZERO + interval);
            }
        }
        network.links.iter_mut().for_each(Link::begin_ticks);
        network
    }

    /// The place of a link's capacity, shared with the opposite direction if they share one; `None` if it is constant.
    fn capacity(&mut self, specs: &[LinkSpec], seed: u64, index: usize) -> Option<u32> {
        let spec = &specs[index];
        if spec.capacity == capacity::Config::default() {
            return None;
        }
        let built = spec.transmitter(seed, index);
        if built.constant() {
            return None;
        }
        if let Some(other) = (0..index).find(|other| specs[*other].shares_with(spec)) {
            return self.links[other].capacity;
        }
        self.capacities.push(built);
        Some(self.capacities.len() as u32 - 1)
    }

    /// Carries a packet from the beginning of its hop at `at`: when it reaches its receiver, if that is known already.
    /// After a queue, `packet` may become another one that reaches its receiver instead.
    #[inline(always)]
    #[must_use]
    pub fn carry<O: Observer>(
        &mut self,
        packet: &mut Packet,
        mut at: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        loop {
            let hop = self.hops[packet.hop as usize];
            let link = &mut self.links[hop.link as usize];
            let arrival = if link.plain {
                link.cross(at, packet.size)
            } else {
                let id = LinkId(hop.link);
                let end = match &mut link.queue {
                    Queue::Free => link.transmitter.send(at, packet.size).1,
                    Queue::Tail(_) => link.pass_tail(id, packet, at, watch)?,
                    Queue::Ruled(_) => return self.enqueue(hop.link as usize, packet, at, events, watch),
                };
                let Some(arrival) = link.line.carry(end, packet.size) else {
                    let fate = Fate::Dropped(Reason::Channel);
                    watch.on(at, &Event::Fate { link: id, packet, fate });
                    return None;
                };
                arrival
            };
            // Not a match, whose jump table would be predicted less often.
            if hop.step == Step::Through {
                packet.hop += 1;
                at = arrival;
                continue;
            }
            if hop.step == Step::Reach && link.flight.is_empty() {
                return Some(arrival);
            }
            if hop.step == Step::Merge {
                self.merge(packet, arrival, events);
            } else if self.pool.push(&mut link.flight, arrival, packet) {
                events.begin(self.arrival(hop.link as usize), arrival);
            }
            return None;
        }
    }

    /// An entity's event is near. Where it is an arrival, the packet goes to the processor's cache.
    #[inline(always)]
    pub fn expect(&self, entity: Entity) {
        if let Some(link) = self.links.get((entity as usize).wrapping_sub(self.links.len())) {
            self.pool.expect(link.flight);
        }
    }

    /// The event of an entity below [`entities`](Links::entities). If it brings a packet to its host, `packet` becomes that packet, and
    /// the answer is when it arrives there; otherwise what `packet` holds means nothing.
    #[inline(always)]
    pub fn on_event<O: Observer>(
        &mut self,
        entity: Entity,
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let links = self.links.len();
        match entity as usize {
            link if link.wrapping_sub(links) < links => {
                return self.arrive((link - links, entity), packet, now, events, watch);
            }
            link if link < links => return self.transmit(link, packet, now, events, watch),
            link => {
                let link = link - 2 * links;
                if self.links[link].scatters() {
                    return self.release_held((link, entity), packet, now, events, watch);
                }
                if let Queue::Ruled(ruled) = &mut self.links[link].queue {
                    ruled.buffer.tick(now);
                }
                if let Some(interval) = self.links[link].interval() {
                    events.schedule(entity, now + interval);
                }
            }
        }
        None
    }

    /// Reports the outstanding departures from measured queues up to `end`.
    pub fn settle<O: Observer>(&mut self, end: Time, watch: &mut O) {
        for &index in &self.tails {
            if let Queue::Tail(tail) = &mut self.links[index as usize].queue {
                while let Some(start) = tail.leave(end) {
                    watch.on(start, &Event::Queue { link: LinkId(index), backlog: tail.backlog() });
                }
            }
        }
    }

    /// The queue of a link.
    pub fn backlog(&self, link: LinkId, now: Time) -> Backlog {
        match &self.links[link.0 as usize].queue {
            Queue::Free => Backlog::default(),
            Queue::Tail(tail) => tail.backlog_at(now),
            Queue::Ruled(ruled) => ruled.buffer.backlog(),
        }
    }

    /// The state of a link's discipline and of its feedback.
    pub fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        match &self.links[link.0 as usize].queue {
            Queue::Ruled(ruled) => {
                let feedback = ruled.stamper.iter().flat_map(|stamper| stamper.state());
                ruled.buffer.discipline().state().into_iter().chain(feedback).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Packets that a link's transmitter took.
    pub fn served(&self, link: LinkId) -> u64 {
        self.links[link.0 as usize].served
    }

    /// The first packet on a link arrives at its end.
    #[inline(always)]
    fn arrive<O: Observer>(
        &mut self,
        (link, entity): (usize, Entity),
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let end = self.links[link].end;
        if end == End::Merged {
            return self.leave((link, entity), packet, now, events, watch);
        }
        let next;
        (*packet, next) = self.pool.pop(&mut self.links[link].flight)?;
        if let Some(next) = next {
            events.begin(entity, next);
        }
        debug_assert!(end.admits(self.hops[packet.hop as usize].step), "a path was added after `fuse`");
        self.land(end, packet, now, events, watch)
    }

    /// A packet is at the end of a link.
    #[inline(always)]
    fn land<O: Observer>(
        &mut self,
        end: End,
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        if end == End::Hosts || end == End::Both && self.hops[packet.hop as usize].step.ends() {
            return Some(now);
        }
        packet.hop += 1;
        self.carry(packet, now, events, watch)
    }

    /// A packet joins a queue that a discipline rules.
    fn enqueue<O: Observer>(
        &mut self,
        index: usize,
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let link = &mut self.links[index];
        let Queue::Ruled(ruled) = &mut link.queue else { return None };
        let id = LinkId(index as u32);
        if let Some(effects) = &mut ruled.effects
            && !effects.admits(now, packet.size)
        {
            let fate = Fate::Dropped(Reason::Policed);
            watch.on(now, &Event::Arrival { link: id, packet, fate });
            return None;
        }
        if let Some(stamper) = &mut ruled.stamper {
            if let Some(place) = link.capacity {
                stamper.look(now, |window| self.capacities[place as usize].bits(window));
            }
            stamper.arrive(packet, ruled.buffer.backlog(), now);
        }
        let mut pushed_out = false;
        let fate = ruled.buffer.enqueue(*packet, now, &mut ruled.rng, |packet| {
            pushed_out = true;
            let fate = Fate::Dropped(Reason::PushedOut);
            watch.on(now, &Event::Fate { link: id, packet, fate });
        });
        let dropped = matches!(fate, Fate::Dropped(_));
        if link.measured || dropped {
            watch.on(now, &Event::Arrival { link: id, packet, fate });
        }
        if link.measured && (pushed_out || !dropped) {
            watch.on(now, &Event::Queue { link: id, backlog: ruled.buffer.backlog() });
        }
        if dropped {
            return None;
        }
        if ruled.transmitting { None } else { self.transmit(index, packet, now, events, watch) }
    }

    /// A transmitter is free and takes the next packet, if one waits; `taken` is the packet that reaches its receiver.
    fn transmit<O: Observer>(
        &mut self,
        index: usize,
        taken: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let departure = self.departure(index);
        let link = &mut self.links[index];
        let Queue::Ruled(ruled) = &mut link.queue else { return None };
        let id = LinkId(index as u32);
        let mut capacity = link.capacity.map(|place| &mut self.capacities[place as usize]);
        ruled.transmitting = false;
        if let Some(capacity) = &mut capacity
            && ruled.buffer.backlog().packets > 0
        {
            let ready = capacity.ready(now);
            if ready > now {
                ruled.transmitting = true;
                events.schedule(departure, ready);
                return None;
            }
        }
        while let Some(departed) = ruled.buffer.dequeue(now, &mut ruled.rng) {
            let (mut packet, mut fate) = (departed.packet, departed.fate);
            if let Some(stamper) = &mut ruled.stamper
                && !matches!(fate, Fate::Dropped(_))
                && stamper.leave(&mut packet, ruled.buffer.backlog(), now - departed.arrived, now)
            {
                fate = Fate::Marked;
            }
            if link.measured {
                watch.on(now, &Event::Queue { link: id, backlog: ruled.buffer.backlog() });
            }
            if fate != Fate::Passed {
                watch.on(now, &Event::Fate { link: id, packet: &packet, fate });
            }
            if let Fate::Dropped(_) = fate {
                continue;
            }
            link.served += 1;
            let (start, end) = match &mut capacity {
                None => link.transmitter.send(now, packet.size),
                Some(capacity) => capacity.send(now, packet.size),
            };
            if link.measured {
                let waited = start - departed.arrived;
                watch.on(start, &Event::Service { link: id, packet: &packet, waited });
            }
            ruled.transmitting = true;
            events.schedule(departure, end);
            let Some(arrival) = link.line.carry(end, packet.size) else {
                fate = Fate::Dropped(Reason::Channel);
                watch.on(end, &Event::Fate { link: id, packet: &packet, fate });
                return None;
            };
            if ruled.effects.is_some() {
                self.scatter(index, packet, (end, arrival), events, watch);
                return None;
            }
            match self.hops[packet.hop as usize].step {
                Step::Through => {
                    packet.hop += 1;
                    *taken = packet;
                    return self.carry(taken, arrival, events, watch);
                }
                Step::Reach if link.flight.is_empty() => {
                    *taken = packet;
                    return Some(arrival);
                }
                Step::Reach | Step::Join | Step::Arrive => {
                    if self.pool.push(&mut link.flight, arrival, &packet) {
                        events.begin(self.arrival(index), arrival);
                    }
                }
                Step::Merge => self.merge(&packet, arrival, events),
            }
            return None;
        }
        if let Some(capacity) = capacity {
            capacity.idle(now);
        }
        None
    }
}
