// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The emulator: the laboratory's links with real packets on them.
//!
//! ```text
//! device ─ frame ─Tap→ Packet ─ Links: queue, capacity, loss, line ─ Packet ─ frame, marked or stamped ─ device
//! ```
//!
//! The packet inside the network names its frame. Writes the links' decisions into the frame: a congestion mark, a
//! rate. The clock is
//! virtual: a packet enters when it was read, and everything after that has the time that the links say, whenever the
//! thread wakes up. Being late shifts the delivery of a packet, and never the state of a link.
//!
//! [`Emulator`] is without I/O; [`carry`] connects it to two devices and a clock.

mod carry;
mod frames;
mod idle;
mod lateness;
#[cfg(test)]
mod tests;
mod told;

use kneepoint::event::EventQueue;
use kneepoint::link::{Links, NodeId, Routes};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate};
use kneepoint::spec::Valid;
use kneepoint::trace::{Alteration, Event, FlowId, LinkId, Observer, View};
use kneepoint::units::{Rate, Span, Time};

pub use carry::{AWAKE, Capture, Carried, Port, Stop, be_prompt, be_prompt_at, carry, never};
use frames::Frames;
pub use frames::LONGEST;
pub use idle::Sleepless;
pub use lateness::{Late, Lateness};
use told::Told;

use crate::frame::{self, Headers, Tuple};
use crate::tap::Tap;

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The source of the data of the listed flows.
    Near,
    /// Its destination.
    Far,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Near => Side::Far,
            Side::Far => Side::Near,
        }
    }
}

/// The first bytes of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// An IP header.
    #[default]
    Ip,
    /// An Ethernet header. Every frame is carried, with any contents; its size counts the part after the header.
    Ethernet,
}

impl Layer {
    /// Bytes before the part that the links carry.
    #[inline]
    fn header(self, frame: &[u8]) -> usize {
        match self {
            Layer::Ip => 0,
            Layer::Ethernet => frame::ethernet(frame),
        }
    }

    /// The headers of carried packets; none for others.
    #[inline]
    fn headers(self, packet: &[u8]) -> Option<Headers> {
        let headers = frame::read(packet);
        headers.or_else(|| (self == Layer::Ethernet).then(|| Headers::foreign(packet.len())))
    }
}

/// The first hops of a path from the near host to the far one, and back.
#[derive(Clone, Copy, Debug)]
struct Way {
    forward: u32,
    backward: u32,
}

/// The known state of this flow's sender, by the names of the laboratory's controllers.
pub type Inside = Box<dyn Fn(&Tuple) -> Vec<(&'static str, f64)> + Send>;

/// A network at work, with real packets on it.
pub struct Emulator<O> {
    layer: Layer,
    links: Links,
    events: EventQueue,
    /// The links' entities; the next one samples.
    entities: usize,
    ways: Vec<Way>,
    tap: Tap,
    frames: Frames,
    /// The slot that the next frame is read into.
    spare: u32,
    watch: Watch<O>,
    /// An oracle's signals to senders.
    told: Option<Told>,
    sample: Option<Span>,
    inside: Inside,
    /// Frames that are not IP packets, which no link carries.
    foreign: u64,
    addressed: u64,
}

impl<O: Observer> Emulator<O> {
    /// The network of `valid` between two hosts. Each way is the path there and back between two nodes; the tap decides
    /// which of them a packet takes.
    pub fn new(valid: &Valid, seed: u64, ways: &[(NodeId, NodeId)], tap: Tap, watch: O) -> Emulator<O> {
        let specs = &valid.network().links;
        let entities = Links::entities(specs.len());
        let mut events = EventQueue::new(entities + 1, resolution(valid));
        let mut links = Links::new(specs, valid.full_packet(), seed, &mut events);
        let mut routes = Routes::new(valid.network());
        let told = Told::new(specs, valid.full_packet(), seed, ways, &mut routes);
        let mut path = |from, to| {
            let path = routes.path(from, to).expect("a valid network has a path both ways");
            links.add_path(&path)
        };
        let ways =
            ways.iter().map(|&(near, far)| Way { forward: path(near, far), backward: path(far, near) });
        let ways = ways.collect();
        let sample = valid.schedule().sample;
        if let Some(interval) = sample {
            events.schedule(entities as u32, Time::ZERO + interval);
        }
        let mut frames = Frames::default();
        let spare = frames.take();
        let watch = Watch { inner: watch, dropped: Vec::new(), doubled: Vec::new(), flows: Vec::new() };
        Emulator {
            layer: Layer::Ip,
            links,
            events,
            entities,
            ways,
            tap,
            frames,
            spare,
            watch,
            told,
            sample,
            inside: Box::new(|_| Vec::new()),
            foreign: 0,
            addressed: 0,
        }
    }

    /// With access to the senders' state.
    pub fn seeing(self, inside: Inside) -> Emulator<O> {
        Emulator { inside, ..self }
    }

    /// Frames begin with the header of this layer.
    #[must_use]
    pub fn of(self, layer: Layer) -> Emulator<O> {
        Emulator { layer, ..self }
    }

    /// The place of the next frame's bytes.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        self.frames.room(self.spare)
    }

    /// The frame in [`room`](Emulator::room), of this length, enters at `now`, to which the network has been advanced.
    pub fn enter(&mut self, from: Side, length: usize, now: Time) {
        let slot = self.spare;
        self.frames.fill(slot, length, from);
        let bytes = self.frames.bytes(slot);
        let carried = &bytes[self.layer.header(bytes)..];
        let size = carried.len() as u16;
        let Some(headers) = self.layer.headers(carried) else {
            self.foreign += 1;
            return;
        };
        // A link that counts flows would take it for one. On Ethernet, hosts need it to find each other.
        if self.layer == Layer::Ip && frame::announces(&headers) {
            return;
        }
        self.spare = self.frames.take();
        // Hosts announce themselves to all, whether or not a program sends.
        self.addressed += u64::from(!headers.flow.to.is_multicast());
        let mut packet = self.tap.enter(&headers, size, now, &mut self.watch);
        self.tell(&mut packet, from, now);
        let way = self.ways[packet.hop as usize];
        packet.hop = match from {
            Side::Near => way.forward,
            Side::Far => way.backward,
        };
        packet.id = slot;
        let reached = self.links.carry(&mut packet, now, &mut self.events, &mut self.watch);
        debug_assert!(reached.is_none(), "nothing is taken ahead of its time");
        self.release();
    }

    /// Processes everything until `now`. Frames that reach a host are passed on with the time at which they do.
    pub fn advance(&mut self, now: Time, mut hand: impl FnMut(Side, &[u8], Time)) {
        let clock = self.watch.clock();
        let mut packet = Packet::default();
        while let Some((at, entity)) = self.events.pop(now) {
            if clock {
                self.links.settle(at, &mut self.watch);
                self.watch.advance(at);
            }
            if entity as usize == self.entities {
                self.take_sample(at);
                continue;
            }
            if let Some(at) = self.links.on_event(entity, &mut packet, at, &mut self.events, &mut self.watch)
            {
                self.leave(&packet, at, &mut hand);
            }
            self.release();
        }
    }

    /// The time of the next event, if known.
    pub fn next(&self) -> Time {
        (0..=self.entities).map(|entity| self.events.due(entity as u32)).min().unwrap_or(Time::NEVER)
    }

    /// Ends it; returns the observer, and the tap with its counts.
    pub fn finish(mut self, now: Time) -> (O, Tap) {
        self.links.settle(now, &mut self.watch);
        self.tap.tell(now, &mut self.watch);
        (self.watch.inner, self.tap)
    }

    /// Packets that were for one host.
    pub fn addressed(&self) -> u64 {
        self.addressed
    }

    /// Frames that were not IP packets.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// A packet at the end of its path: its frame gets the links' changes.
    fn leave(&mut self, packet: &Packet, at: Time, hand: &mut impl FnMut(Side, &[u8], Time)) {
        let slot = packet.id;
        let to = self.frames.from(slot).other();
        let whole = self.frames.bytes(slot);
        let header = self.layer.header(whole);
        let bytes = &mut whole[header..];
        if packet.flags.has(Flags::CE) {
            frame::mark(bytes);
        }
        if let Some(kneepoint::packet::Explicit::Rate(rate)) = packet.explicit()
            && rate != Rate(u64::MAX)
        {
            frame::stamp_rate(bytes, rate);
        }
        let corrupt = packet.flags.has(Flags::CORRUPT);
        if corrupt {
            frame::corrupt(bytes);
        } else if let Some(headers) = self.layer.headers(bytes) {
            self.tap.leave(&headers, packet, at, &mut self.watch);
        }
        hand(to, self.frames.bytes(slot), at);
        // Another packet may name the frame.
        if corrupt {
            frame::corrupt(self.frames.bytes(slot));
        }
        self.frames.release(slot);
    }

    /// The oracle notices flows that began or ended, and lowers the rate of a packet at the beginning of its path.
    #[inline]
    fn tell(&mut self, packet: &mut Packet, from: Side, now: Time) {
        if let Some(told) = &mut self.told {
            for (flow, begins) in self.watch.flows.drain(..) {
                told.change(flow, begins, packet, from, now);
            }
            told.stamp(packet, now);
        }
        self.watch.flows.clear();
    }

    /// Frees the frames of dropped packets, after packets that were forwarded twice.
    #[inline]
    fn release(&mut self) {
        while let Some(slot) = self.watch.doubled.pop() {
            self.frames.share(slot);
        }
        while let Some(slot) = self.watch.dropped.pop() {
            self.frames.release(slot);
        }
    }

    fn take_sample(&mut self, at: Time) {
        self.links.settle(at, &mut self.watch);
        let look = Look { links: &self.links, tap: &self.tap, inside: &self.inside, at };
        self.watch.inner.on(at, &Event::Sample { view: &look });
        if let Some(interval) = self.sample {
            self.events.schedule(self.entities as u32, at + interval);
        }
    }
}

/// About the time between two events: a packet's on the fastest measured link, in eighths.
fn resolution(valid: &Valid) -> Span {
    let rates = valid.network().links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    rates.max().map_or(Span::from_micros(1), |rate| Span(rate.time_for(valid.full_packet()).0 / 8))
}

/// Passes events on, and remembers whose frames are no longer needed and which flows are open.
struct Watch<O> {
    inner: O,
    dropped: Vec<u32>,
    /// Frames of packets that continue twice.
    doubled: Vec<u32>,
    /// Flows that began or ended since the last frame that entered.
    flows: Vec<(u32, bool)>,
}

impl<O: Observer> Observer for Watch<O> {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Arrival { packet, fate: Fate::Dropped(_), .. }
            | Event::Fate { packet, fate: Fate::Dropped(_), .. } => self.dropped.push(packet.id),
            Event::Altered { packet, how: Alteration::Duplicated, .. } => self.doubled.push(packet.id),
            Event::Started { flow, .. } => self.flows.push((flow.0, true)),
            Event::Closed { flow } => self.flows.push((flow.0, false)),
            _ => {}
        }
        self.inner.on(at, event);
    }
    fn clock(&self) -> bool {
        self.inner.clock()
    }
    fn advance(&mut self, now: Time) {
        self.inner.advance(now);
    }
}

/// The state at a sampling instant.
struct Look<'a> {
    links: &'a Links,
    tap: &'a Tap,
    inside: &'a Inside,
    at: Time,
}

impl View for Look<'_> {
    fn backlog(&self, link: LinkId) -> Backlog {
        self.links.backlog(link, self.at)
    }
    fn window(&self, flow: FlowId) -> f64 {
        self.tap.window(flow)
    }
    fn controller(&self, flow: FlowId) -> Vec<(&'static str, f64)> {
        self.tap.tuple(flow).map_or_else(Vec::new, |tuple| (self.inside)(&tuple))
    }
    fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        self.links.discipline(link)
    }
}
