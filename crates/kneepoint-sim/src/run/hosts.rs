// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts at work: senders and receivers, their timers and their packets.

use super::flow::{Flow, News, Task};
use super::oracle::Oracle;
use crate::event::{Entity, EventQueue};
use crate::link::Links;
use crate::packet::{Explicit, Flags, Packet};
use crate::rng::Rng;
use crate::tcp::{Reply, Woken};
use crate::trace::{Event, FlowId, Observer};
use crate::units::{Bytes, Span, Time};

/// All flow slots.
#[derive(Clone, Debug)]
pub struct Hosts {
    pub(super) flows: Vec<Flow>,
    /// The first entity of the slots: two each, the sender's timer and the receiver's.
    base: Entity,
    packets: u32,
    seed: u64,
    /// Signals to senders out of band.
    oracle: Option<Box<Oracle>>,
}

impl Hosts {
    /// No slots yet, and room for all known ones.
    pub fn new(base: Entity, slots: usize, seed: u64, oracle: Option<Box<Oracle>>) -> Hosts {
        Hosts { flows: Vec::with_capacity(slots), base, packets: 0, seed, oracle }
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.flows.len()
    }

    /// Bytes of all slots and of their histories: O(slots).
    pub fn footprint(&self) -> usize {
        self.flows.iter().map(Flow::footprint).sum()
    }

    /// Whether each transfer whose data had all arrived before `at` has been reported: O(slots).
    pub fn have_reported(&self, at: Time) -> bool {
        self.flows.iter().all(|flow| flow.has_reported(at))
    }

    /// Whether senders learn fair rates, which depend on all flows.
    pub fn announces(&self) -> bool {
        self.oracle.is_some()
    }

    /// The class of flows along a path for the oracle.
    pub fn class(&mut self, path: &[u32], rtt: Span) -> Option<u32> {
        self.oracle.as_mut()?.class(path, rtt)
    }

    /// Opens a slot that stays idle until [`start`](Hosts::start).
    pub fn open(&mut self, task: Task, events: &mut EventQueue) -> FlowId {
        let id = self.flows.len();
        let flow = Flow::new(task, Rng::stream(self.seed, "flow", id as u64), self.noise(id));
        self.flows.push(flow);
        events.grow(self.base as usize + 2 * self.flows.len());
        FlowId(id as u32)
    }

    /// Assigns another transfer to a slot whose transfer has ended.
    pub fn reuse(&mut self, flow: FlowId, task: Task) {
        let noise = self.noise(flow.0 as usize);
        let slot = &mut self.flows[flow.0 as usize];
        let (epoch, chain) = (slot.epoch.wrapping_add(1), slot.chain.renewed());
        let rng = slot.rng.clone();
        *slot = Flow { epoch, chain, ..Flow::new(task, rng, noise) };
    }

    /// The source of noise in a slot's measurements. Every transfer of a slot has the same.
    fn noise(&self, slot: usize) -> impl FnOnce() -> Rng + use<> {
        let seed = self.seed;
        move || Rng::stream(seed, "rtt-noise", slot as u64)
    }

    /// Whether an entity is one of these.
    #[inline]
    pub fn owns(&self, entity: Entity) -> bool {
        entity >= self.base
    }

    /// The window of a flow in packets.
    pub fn window(&self, flow: FlowId) -> f64 {
        self.flows[flow.0 as usize].sender.window()
    }

    /// The state of a flow's controller.
    pub fn controller(&self, flow: FlowId) -> Vec<(&'static str, f64)> {
        self.flows[flow.0 as usize].sender.controller().state()
    }

    /// A packet number that the run has not used yet.
    pub fn number(&mut self) -> u32 {
        self.packets = self.packets.wrapping_add(1);
        self.packets
    }

    /// The transfer begins.
    pub fn start<O: Observer>(
        &mut self,
        flow: FlowId,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let slot = &mut self.flows[flow.0 as usize];
        if slot.sender.done() {
            return; // It was stopped before it began.
        }
        slot.began = now;
        if let (Some(oracle), Some(class)) = (&mut self.oracle, slot.paths.class) {
            oracle.open(class, now);
        }
        watch.on(now, &Event::Started { flow, group: slot.group });
        self.send(flow.0, now, network, events, watch);
    }

    /// No data follows, which ends the transfer once all is acknowledged.
    pub fn stop<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) {
        let slot = &mut self.flows[flow.0 as usize];
        let done = slot.sender.stop();
        slot.await_more();
        if done && slot.began != Time::NEVER {
            self.end(flow, now, watch);
        }
    }

    /// More data to send: data delivered so far is no longer all data. `transfer` is the size of the transfer that ends with
    /// it, if one does.
    pub fn write<O: Observer>(
        &mut self,
        flow: FlowId,
        (size, transfer): (Bytes, Option<Bytes>),
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let slot = &mut self.flows[flow.0 as usize];
        slot.write(size, transfer, now);
        self.send(flow.0, now, network, events, watch);
    }

    /// No write follows, which ends the transfer once all is acknowledged.
    pub fn close<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) -> Option<News> {
        let done = self.flows[flow.0 as usize].sender.close();
        done.then(|| self.end(flow, now, watch)).flatten()
    }

    /// All data is acknowledged and none follows.
    #[cold]
    fn end<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) -> Option<News> {
        let slot = &mut self.flows[flow.0 as usize];
        if let (Some(oracle), Some(class)) = (&mut self.oracle, slot.paths.class) {
            oracle.close(class, now);
        }
        slot.end(flow, now, watch);
        self.close_onward(flow, now, watch)
    }

    /// A packet arrives at its host.
    #[inline(always)]
    pub fn deliver<O: Observer>(
        &mut self,
        (packet, at): (&Packet, Time),
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<News> {
        if packet.flags.has(Flags::ACK) {
            watch.on(at, &Event::Delivered { packet, payload: Bytes(0) });
            return self.hear(packet, at, network, events, watch);
        }
        self.receive((packet, at), now, network, events, watch);
        None
    }

    /// The event of one of the slots' entities: a timer, which seldom expires.
    #[inline(never)]
    pub fn on_event<O: Observer>(
        &mut self,
        entity: Entity,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let flow = (entity - self.base) / 2;
        let slot = &mut self.flows[flow as usize];
        if (entity - self.base) % 2 == 1 {
            match slot.receiver.on_wakeup(now) {
                Some(reply) => self.reply(flow, reply, now, network, events, watch),
                None => events.schedule(entity, slot.receiver.next_wakeup()),
            }
            return;
        }
        match slot.sender.on_wakeup(now) {
            Woken::Idle => {}
            woken => {
                let timeout = woken == Woken::Timeout;
                watch.on(now, &Event::Repair { flow: FlowId(flow), timeout });
            }
        }
        self.send(flow, now, network, events, watch);
    }

    #[inline(always)]
    fn hear<O: Observer>(
        &mut self,
        packet: &Packet,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<News> {
        let flow = &mut self.flows[packet.flow as usize];
        if flow.epoch != packet.epoch {
            return None;
        }
        let id = FlowId(packet.flow);
        if let (Some(oracle), Some(class)) = (&mut self.oracle, flow.paths.class)
            && flow.sender.wants_rate()
        {
            flow.sender.advise(Explicit::Rate(oracle.rate(class, now)), now);
        }
        let heard = flow.sender.on_ack(packet, now, &mut flow.rng);
        let (acked, rtt, one_way, window) = (heard.acked, heard.rtt, heard.one_way, flow.sender.window());
        watch.on(now, &Event::Acked { flow: id, acked, rtt, one_way, window });
        if heard.repair {
            watch.on(now, &Event::Repair { flow: id, timeout: false });
        }
        if flow.heeds {
            flow.complete_parts(id, now, watch);
            if flow.chain.behind.is_some() {
                self.make_room(id, now, network, events, watch);
            }
        }
        if heard.done {
            return self.end(id, now, watch);
        }
        if heard.drained {
            return self.news(id, false);
        }
        self.send(packet.flow, now, network, events, watch);
        None
    }

    /// Data arrives, now or, at a receiver that answers at once, later.
    #[inline(always)]
    fn receive<O: Observer>(
        &mut self,
        (packet, at): (&Packet, Time),
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let flow = &mut self.flows[packet.flow as usize];
        if flow.epoch == packet.epoch
            && let Some(reply) = flow.receiver.on_next(packet, at)
        {
            watch.on(at, &Event::Delivered { packet, payload: flow.payload(packet) });
            // A proxy answers none so.
            if flow.receiver.next() >= flow.awaited {
                flow.reached(at);
            }
            return self.reply(packet.flow, reply, at, network, events, watch);
        }
        self.receive_other((packet, at), now, network, events, watch);
    }

    /// Any other packet: out of order, a duplicate, marked, or for a receiver that delays acknowledgements.
    ///
    /// A segment that the receiver lacks may be taken ahead of its time, because the transfer cannot end before it arrives. A
    /// duplicate may arrive after its transfer has ended and its slot serves another: it and all packets behind it wait for their
    /// arrival.
    #[inline(never)]
    fn receive_other<O: Observer>(
        &mut self,
        (packet, at): (&Packet, Time),
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let flow = &self.flows[packet.flow as usize];
        let heard = flow.epoch == packet.epoch && !packet.flags.has(Flags::DATAGRAM);
        if at > now && heard && flow.has_all() {
            return network.hold(packet, at, events);
        }
        let fresh = heard && flow.receiver.lacks(packet.seq);
        let payload = if fresh { flow.payload(packet) } else { Bytes(0) };
        watch.on(at, &Event::Delivered { packet, payload });
        if heard {
            self.receive_fully(packet, at, network, events, watch);
        }
        if at == now && network.reaches(packet) {
            self.resume(packet, now, network, events, watch);
        }
    }

    /// A packet that was held has arrived: the packets behind it are processed ahead of time again.
    #[cold]
    #[inline(never)]
    fn resume<O: Observer>(
        &mut self,
        packet: &Packet,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        for (next, arrival) in network.release(packet, events) {
            match network.waits(&next) {
                true => network.hold(&next, arrival, events),
                false => self.receive((&next, arrival), now, network, events, watch),
            }
        }
    }

    /// The receiver takes data, and answers it now or later.
    #[inline(always)]
    fn receive_fully<O: Observer>(
        &mut self,
        packet: &Packet,
        at: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let flow = &mut self.flows[packet.flow as usize];
        let reply = flow.receiver.on_data(packet, at);
        if flow.receiver.next() >= flow.awaited {
            self.pass_on(packet.flow, at, network, events, watch);
        }
        let receiver = &self.flows[packet.flow as usize].receiver;
        match reply {
            // The acknowledgement may be for earlier packets, while this one's is delayed.
            Some(reply) => {
                let wakeup = receiver.next_wakeup();
                if wakeup != Time::NEVER {
                    events.schedule(self.base + 2 * packet.flow + 1, wakeup);
                }
                self.reply(packet.flow, reply, at, network, events, watch);
            }
            None => events.schedule(self.base + 2 * packet.flow + 1, receiver.next_wakeup()),
        }
    }

    /// Sends as much as is permitted, and ensures that the timer wakes the sender in time.
    #[inline(always)]
    pub(super) fn send<O: Observer>(
        &mut self,
        flow: u32,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let mut slot = &mut self.flows[flow as usize];
        while let Some(segment) = slot.sender.poll(now) {
            self.packets = self.packets.wrapping_add(1);
            let mut packet = slot.data(flow, segment, self.packets, now);
            watch.on(now, &Event::Sent { packet: &packet, group: slot.group });
            if let Some(at) = network.carry(&mut packet, now, events, watch) {
                self.receive((&packet, at), now, network, events, watch);
                slot = &mut self.flows[flow as usize];
            }
        }
        // A postponed timer stays where it is: it fires, finds nothing due, and is set again.
        let wakeup = slot.sender.next_wakeup(now);
        let timer = self.base + 2 * flow;
        if wakeup < events.due(timer) {
            events.schedule(timer, wakeup);
        }
    }

    #[inline(always)]
    pub(super) fn reply<O: Observer>(
        &mut self,
        flow: u32,
        reply: Reply,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let id = self.number();
        let mut packet = self.flows[flow as usize].acknowledgement(flow, reply, id);
        let reached = network.carry(&mut packet, now, events, watch);
        debug_assert!(reached.is_none(), "a sender takes nothing ahead of its time");
    }
}
