// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run: links, timers, agenda and observers, around the ends of connections.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::string::String;
use std::time::{Duration, Instant};
use std::vec::Vec;

use kneepoint_cc::units::{Bytes, Span, Time};
use kneepoint_sim::event::EventQueue;
use kneepoint_sim::link::{Links, Routes};
use kneepoint_sim::packet::{Flags, Hint, Packet};
use kneepoint_sim::queue::{Backlog, Fate};
use kneepoint_sim::spec::Valid;
use kneepoint_sim::trace::{Event, FlowId, LinkId, Observer, View};

use super::fitness::refuse;
use super::{Datagram, End, Factory, HEADERS, Settings};
use crate::record::Records;

mod setup;

use setup::Setup;

/// The two bits of explicit congestion notification (RFC 3168).
mod ecn {
    pub(super) const ECT1: u8 = 0b01;
    pub(super) const ECT0: u8 = 0b10;
    pub(super) const CE: u8 = 0b11;
}

/// Runs the scenario with a stack's hosts, whose ends are made by the factory of their group.
pub fn run<O: Observer>(valid: &Valid, seed: u64, hosts: &[Factory], watch: O) -> Result<O, String> {
    run_until(valid, seed, hosts, watch, &|| false)
}

/// The same, with an error as soon as `stop` says so.
pub fn run_until<O: Observer>(
    valid: &Valid,
    seed: u64,
    hosts: &[Factory],
    watch: O,
    stop: &dyn Fn() -> bool,
) -> Result<O, String> {
    let of = |group: usize, _| hosts.get(group).cloned();
    let mut run = Run::new(valid, seed, &of, watch)?;
    run.advance(stop)?;
    Ok(run.finish())
}

/// The same, with a factory for each member of a group, by the places of both; a member without any is left out.
pub fn run_each<O: Observer>(
    valid: &Valid,
    seed: u64,
    hosts: &dyn Fn(usize, usize) -> Option<Factory>,
    watch: O,
) -> Result<O, String> {
    let mut run = Run::new(valid, seed, hosts, watch)?;
    run.advance(&|| false)?;
    Ok(run.finish())
}

/// The same, with the qlog of each sender as `NAME-FLOW_client.sqlog`: the scenario's name and the number of the flow.
pub fn run_recorded<O: Observer>(
    valid: &Valid,
    seed: u64,
    hosts: &[Factory],
    records: &Records,
    watch: O,
) -> Result<O, String> {
    let of = |group: usize, _| hosts.get(group).cloned();
    let mut run = Run::new(valid, seed, &of, watch)?;
    for flow in &mut run.flows {
        let name = std::format!("{}-{}", valid.name(), flow.settings.number);
        flow.settings.record = Some((records.clone(), name));
    }
    run.advance(&|| false)?;
    Ok(run.finish())
}

/// Events between two looks at whether to stop.
const PATIENCE: u32 = 4096;

/// The two ends of a transfer, from its sender's point of view.
struct Flow {
    group: u32,
    hosts: Factory,
    settings: Settings,
    size: Option<u64>,
    /// The first hops of its data and of its acknowledgements.
    hops: [u32; 2],
    start: Time,
    ends: Option<[Box<dyn End>; 2]>,
    received: u64,
    delivered: Time,
    /// Payload that observers know to be acknowledged.
    told: u64,
    /// Whether it has ended.
    closed: bool,
    sent: u32,
}

/// Events at times that the scenario sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cue {
    Start(u32),
    Stop(u32),
}

struct Run<'a, O> {
    valid: &'a Valid,
    events: EventQueue,
    links: Links,
    flows: Vec<Flow>,
    agenda: Vec<(Time, Cue)>,
    /// The first entity after the links'.
    base: u32,
    /// Datagrams in flight by the number of their packet.
    datagrams: BTreeMap<u32, Datagram>,
    /// Packets sent so far.
    sent: u32,
    watch: Lost<O>,
    began: Instant,
}

impl<'a, O: Observer> Run<'a, O> {
    #[expect(
        clippy::disallowed_methods,
        reason = "only differences of instants are used, and there is no other way to make one"
    )]
    fn new(
        valid: &'a Valid,
        seed: u64,
        hosts: &dyn Fn(usize, usize) -> Option<Factory>,
        watch: O,
    ) -> Result<Run<'a, O>, String> {
        if let Some(why) = refuse(valid) {
            return Err(why);
        }
        let specs = &valid.network().links;
        let base = Links::entities(specs.len());
        let members = valid.groups().iter().map(|group| group.members.len()).sum::<usize>();
        let mut events = EventQueue::new(base + 2 + 2 * members, Span::from_micros(10));
        let mut setup = Setup {
            routes: Routes::new(valid.network()),
            links: Links::new(specs, valid.full_packet(), seed, &mut events),
            seed,
            flows: Vec::new(),
            agenda: Vec::new(),
        };
        for (place, group) in valid.groups().iter().enumerate() {
            let packet = group.full_packet().unwrap_or(valid.full_packet());
            setup.add(place, group, packet.0, hosts);
        }
        let Setup { links, flows, mut agenda, .. } = setup;
        agenda.sort_unstable_by(|a, b| b.cmp(a));
        if let Some((at, _)) = agenda.last() {
            events.schedule(base as u32, *at);
        }
        if let Some(interval) = valid.schedule().sample {
            events.schedule(base as u32 + 1, Time::ZERO + interval);
        }
        Ok(Run {
            valid,
            events,
            links,
            flows,
            agenda,
            base: base as u32,
            datagrams: BTreeMap::new(),
            sent: 0,
            watch: Lost { inner: watch, dropped: Vec::new() },
            began: Instant::now(),
        })
    }

    fn instant(&self, at: Time) -> Instant {
        self.began + Duration::from_nanos(at.0)
    }

    fn advance(&mut self, stop: &dyn Fn() -> bool) -> Result<(), String> {
        let end = self.valid.schedule().duration;
        let clock = self.watch.clock();
        let mut packet = Packet::default();
        let mut events = 0_u32;
        while let Some((now, entity)) = self.events.pop(end) {
            events = events.wrapping_add(1);
            if events.is_multiple_of(PATIENCE) && stop() {
                return Err("stopped".into());
            }
            if clock {
                self.links.settle(now, &mut self.watch);
                self.watch.advance(now);
            }
            if entity < self.base {
                let reached =
                    self.links.on_event(entity, &mut packet, now, &mut self.events, &mut self.watch);
                self.release();
                if let Some(at) = reached {
                    self.deliver(&packet, at)?;
                }
            } else {
                match entity - self.base {
                    0 => self.keep_agenda(now)?,
                    1 => self.sample(now),
                    timer => self.wake(timer - 2, now)?,
                }
            }
        }
        self.links.settle(end, &mut self.watch);
        Ok(())
    }

    fn finish(self) -> O {
        self.watch.inner
    }

    fn keep_agenda(&mut self, now: Time) -> Result<(), String> {
        while let Some((_, cue)) = self.agenda.pop_if(|(at, _)| *at <= now) {
            let (Cue::Start(number) | Cue::Stop(number)) = cue;
            let at = self.instant(now);
            let flow = &mut self.flows[number as usize];
            if let Cue::Start(_) = cue {
                let (hosts, settings) = (&flow.hosts, &flow.settings);
                flow.ends = Some([hosts.sender(settings, flow.size, at)?, hosts.receiver(settings)]);
                flow.start = now;
                self.watch.on(now, &Event::Started { flow: FlowId(number), group: flow.group });
            } else if let Some([sender, _]) = &mut flow.ends {
                sender.stop();
                self.complete(number, now);
            }
            self.work(number, 0, now)?;
        }
        if let Some(&(at, _)) = self.agenda.last() {
            self.events.schedule(self.base, at);
        }
        Ok(())
    }

    fn sample(&mut self, now: Time) {
        let look = Look { links: &self.links, flows: &self.flows, at: now };
        self.watch.on(now, &Event::Sample { view: &look });
        if let Some(interval) = self.valid.schedule().sample {
            self.events.schedule(self.base + 1, now + interval);
        }
    }

    fn wake(&mut self, timer: u32, now: Time) -> Result<(), String> {
        let at = self.instant(now);
        if let Some(ends) = &mut self.flows[timer as usize / 2].ends {
            ends[timer as usize % 2].wake(at);
        }
        self.work(timer / 2, timer as usize % 2, now)
    }

    /// A packet reached its host.
    fn deliver(&mut self, packet: &Packet, at: Time) -> Result<(), String> {
        // A packet with a wrong bit cannot be decrypted, so a stack drops it.
        let datagram = self.datagrams.remove(&packet.id).filter(|_| !packet.flags.has(Flags::CORRUPT));
        let to = usize::from(!packet.flags.has(Flags::ACK));
        let now = self.instant(at);
        if let (Some(mut datagram), Some(ends)) = (datagram, &mut self.flows[packet.flow as usize].ends) {
            if packet.flags.has(Flags::CE) {
                datagram.ecn = ecn::CE;
            }
            ends[to].receive(&datagram, now)?;
        }
        let before = self.flows[packet.flow as usize].received;
        self.work(packet.flow, to, at)?;
        let payload = Bytes(self.flows[packet.flow as usize].received - before);
        self.watch.on(at, &Event::Delivered { packet, payload });
        Ok(())
    }

    /// Lets one end of a flow do all pending work, and returns the result.
    fn work(&mut self, number: u32, own: usize, now: Time) -> Result<(), String> {
        let at = self.instant(now);
        let mut out = Vec::new();
        let flow = &mut self.flows[number as usize];
        let Some(ends) = &mut flow.ends else { return Ok(()) };
        let lost = |reason: String| std::format!("connection {number} ended at {now}: {reason}");
        let news = ends[own].work(at, &mut |datagram| out.push(datagram)).map_err(lost)?;
        let timeout = ends[own].timeout();
        flow.received += news.received;
        if flow.size == Some(flow.received) && flow.delivered == Time::NEVER {
            flow.delivered = now;
        }
        if own == 0 {
            self.tell(number, now);
        }
        if news.finished {
            self.complete(number, now);
        }
        for datagram in out {
            self.send(number, own, datagram, now);
        }
        let wanted = timeout.map_or(Time::NEVER, |timeout| {
            Time::ZERO + Span(timeout.saturating_duration_since(self.began).as_nanos() as u64)
        });
        self.events.schedule(self.base + 2 + 2 * number + own as u32, wanted.max(now));
        Ok(())
    }

    /// Reports the signals to a sender's controller.
    fn tell(&mut self, number: u32, now: Time) {
        let flow = &mut self.flows[number as usize];
        let heard = flow.settings.ear.take();
        if heard.episodes > 0 {
            let timeout = heard.persistent > 0;
            self.watch.on(now, &Event::Repair { flow: FlowId(number), timeout });
        }
        if heard.acked > 0 {
            let rtt = heard.rtt.map(|rtt| Span(rtt.as_nanos() as u64));
            let window = flow.window();
            // The payload that has arrived: acknowledged packets have headers, too.
            let acked = Bytes(flow.received - std::mem::replace(&mut flow.told, flow.received));
            self.watch.on(now, &Event::Acked { flow: FlowId(number), acked, rtt, window, one_way: None });
        }
    }

    fn complete(&mut self, number: u32, now: Time) {
        let Flow { group, start: began, delivered, received, ref mut closed, .. } =
            self.flows[number as usize];
        if std::mem::replace(closed, true) {
            return;
        }
        let (flow, delivered, size) = (FlowId(number), delivered.min(now), Bytes(received));
        self.watch.on(now, &Event::Completed { flow, group, began, delivered, size });
        self.watch.on(now, &Event::Closed { flow });
    }

    fn send(&mut self, number: u32, own: usize, datagram: Datagram, now: Time) {
        let flow = &mut self.flows[number as usize];
        let size = (datagram.bytes.len() as u64 + HEADERS) as u16;
        let flags = match datagram.ecn {
            ecn::ECT0 => Flags::ECT,
            ecn::ECT1 => Flags::ECT.with(Flags::SCALABLE),
            _ => Flags::default(),
        };
        let mut packet = if own == 0 {
            flow.sent += 1;
            let hint = Hint { window: flow.window(), rtt: Span::ZERO };
            Packet::data(number, flow.sent, size, flags, now).with_hint(hint)
        } else {
            Packet::ack(number, 0, size, flags, now, Default::default())
        };
        packet.hop = flow.hops[own];
        // In the order of sending, by which observers see reordering.
        packet.id = self.sent;
        self.sent = self.sent.wrapping_add(1);
        self.datagrams.insert(packet.id, datagram);
        if own == 0 {
            let group = flow.group;
            self.watch.on(now, &Event::Sent { packet: &packet, group });
        }
        let reached = self.links.carry(&mut packet, now, &mut self.events, &mut self.watch);
        debug_assert!(reached.is_none(), "nothing is taken ahead of its time");
        self.release();
    }

    /// Forgets packets that were dropped.
    fn release(&mut self) {
        for id in self.watch.dropped.drain(..) {
            self.datagrams.remove(&id);
        }
    }
}

impl Flow {
    /// Its window in packets.
    fn window(&self) -> f64 {
        self.settings.ear.window() as f64 / self.settings.payload() as f64
    }
}

/// An observer that keeps the numbers of dropped packets.
struct Lost<O> {
    inner: O,
    dropped: Vec<u32>,
}

impl<O: Observer> Observer for Lost<O> {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Arrival { packet, fate: Fate::Dropped(_), .. }
            | Event::Fate { packet, fate: Fate::Dropped(_), .. } => self.dropped.push(packet.id),
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
    flows: &'a [Flow],
    at: Time,
}

impl View for Look<'_> {
    fn backlog(&self, link: LinkId) -> Backlog {
        self.links.backlog(link, self.at)
    }
    fn window(&self, flow: FlowId) -> f64 {
        self.flows.get(flow.0 as usize).map_or(f64::NAN, Flow::window)
    }
    fn controller(&self, _: FlowId) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        self.links.discipline(link)
    }
}
