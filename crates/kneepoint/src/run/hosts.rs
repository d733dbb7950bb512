// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts at work: senders and receivers, their timers and their packets.

use std::sync::Arc;

use crate::cc;
use crate::event::{Entity, EventQueue};
use crate::link::{Links, Reached};
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::tcp::{Options, Receiver, Reply, Segment, Sender};
use crate::trace::{Event, FlowId, Observer};
use crate::units::{Bytes, Time};

/// Where a flow's packets go.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    /// The first hop of its data.
    pub forward: u32,
    /// The first hop of its acknowledgements.
    pub backward: u32,
}

/// The next transfer of a flow slot.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The options of both ends.
    pub options: &'a Arc<Options>,
    /// The congestion control.
    pub controller: &'a cc::Config,
    /// How much.
    pub load: Load,
    /// Where.
    pub paths: Paths,
    /// The group it belongs to.
    pub group: u32,
    /// The agent that requested it, and the agent's number for it.
    pub owner: Option<Owner>,
}

/// How much a flow slot is to carry.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// Without end.
    Endless,
    /// This much.
    Sized(Bytes),
    /// Data written while it runs.
    Written,
}

/// The agent that opened a connection, and the number that the agent gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The agent.
    pub agent: u32,
    /// The connection among the agent's.
    pub connection: u32,
}

/// A flow slot: both ends of a transfer.
#[derive(Clone, Debug)]
struct Flow {
    sender: Sender,
    receiver: Receiver,
    paths: Paths,
    epoch: u16,
    header: u16,
    group: u32,
    owner: Option<Owner>,
    began: Time,
    delivered: Time,
    rng: Rng,
}

/// All flow slots.
#[derive(Clone, Debug)]
pub struct Hosts {
    flows: Vec<Flow>,
    /// The first entity of the slots: two each, the sender's timer and the receiver's.
    base: Entity,
    packets: u32,
    seed: u64,
}

/// News of a connection for the agent that opened it.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// The flow slot.
    pub flow: FlowId,
    /// Whose it is.
    pub owner: Owner,
    /// Whether it ended; if not, all that was written so far is acknowledged.
    pub ended: bool,
    /// Payload acknowledged.
    pub acked: Bytes,
}

impl Hosts {
    /// No slots yet, and room for as many as are known of.
    pub fn new(base: Entity, slots: usize, seed: u64) -> Hosts {
        Hosts { flows: Vec::with_capacity(slots), base, packets: 0, seed }
    }

    /// Opens a slot that stays idle until [`start`](Hosts::start).
    pub fn open(&mut self, task: Task, events: &mut EventQueue) -> FlowId {
        let id = self.flows.len();
        let flow = Flow::new(task, Rng::stream(self.seed, "flow", id as u64), self.noise(id));
        self.flows.push(flow);
        events.grow(self.base as usize + 2 * self.flows.len());
        FlowId(id as u32)
    }

    /// Gives a slot whose transfer has ended another.
    pub fn reuse(&mut self, flow: FlowId, task: Task) {
        let noise = self.noise(flow.0 as usize);
        let slot = &mut self.flows[flow.0 as usize];
        let epoch = slot.epoch.wrapping_add(1);
        let rng = slot.rng.clone();
        *slot = Flow { epoch, ..Flow::new(task, rng, noise) };
    }

    /// Where the noise of a slot's measurements is from. Every transfer of a slot has the same.
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
        watch.on(now, &Event::Started { flow, group: slot.group });
        self.send(flow.0, now, network, events, watch);
    }

    /// No data follows, which ends the transfer if all is acknowledged.
    pub fn stop<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) {
        let slot = &mut self.flows[flow.0 as usize];
        if slot.sender.stop() && slot.began != Time::NEVER {
            watch.on(now, &slot.completed(flow, now));
        }
    }

    /// More data to send: data delivered so far is no longer all data.
    pub fn write<O: Observer>(
        &mut self,
        flow: FlowId,
        size: Bytes,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let slot = &mut self.flows[flow.0 as usize];
        slot.sender.write(size);
        slot.delivered = Time::NEVER;
        self.send(flow.0, now, network, events, watch);
    }

    /// No write follows, which ends the transfer if all is acknowledged.
    pub fn close<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) -> Option<News> {
        let slot = &mut self.flows[flow.0 as usize];
        if !slot.sender.close() {
            return None;
        }
        watch.on(now, &slot.completed(flow, now));
        slot.news(flow, true)
    }

    /// A packet arrives at its host.
    #[inline(always)]
    pub fn deliver<O: Observer>(
        &mut self,
        (packet, at): Reached,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<News> {
        if packet.flags.has(Flags::ACK) {
            watch.on(at, &Event::Delivered { packet: &packet });
            let current = self.flows[packet.flow as usize].epoch == packet.epoch;
            return if current { self.hear(&packet, at, network, events, watch) } else { None };
        }
        self.receive(&packet, at, network, events, watch);
        None
    }

    /// The event of one of the slots' entities.
    #[inline]
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
        if slot.sender.on_wakeup(now) {
            watch.on(now, &Event::Repair { flow: FlowId(flow), timeout: true });
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
        let id = FlowId(packet.flow);
        let heard = flow.sender.on_ack(packet, now, &mut flow.rng);
        let (acked, rtt, one_way, window) = (heard.acked, heard.rtt, heard.one_way, flow.sender.window());
        watch.on(now, &Event::Acked { flow: id, acked, rtt, one_way, window });
        if heard.repair {
            watch.on(now, &Event::Repair { flow: id, timeout: false });
        }
        if heard.done {
            watch.on(now, &flow.completed(id, now));
            return flow.news(id, true);
        }
        if heard.drained {
            return flow.news(id, false);
        }
        self.send(packet.flow, now, network, events, watch);
        None
    }

    /// Data arrives, now or, at a receiver that answers at once, later.
    #[inline(always)]
    fn receive<O: Observer>(
        &mut self,
        packet: &Packet,
        at: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        watch.on(at, &Event::Delivered { packet });
        let flow = &mut self.flows[packet.flow as usize];
        if packet.flags.has(Flags::DATAGRAM) || flow.epoch != packet.epoch {
            return;
        }
        let reply = flow.receiver.on_data(packet, at);
        if flow.delivered == Time::NEVER && Some(flow.receiver.next()) == flow.sender.total() {
            flow.delivered = at;
        }
        match reply {
            // What it answers may be for packets before this one, which is then held back itself.
            Some(reply) => {
                let wakeup = flow.receiver.next_wakeup();
                if wakeup != Time::NEVER {
                    events.schedule(self.base + 2 * packet.flow + 1, wakeup);
                }
                self.reply(packet.flow, reply, at, network, events, watch);
            }
            None => events.schedule(self.base + 2 * packet.flow + 1, flow.receiver.next_wakeup()),
        }
    }

    /// Sends what may be sent, and sees to it that the timer wakes the sender no later than it must.
    #[inline(always)]
    fn send<O: Observer>(
        &mut self,
        flow: u32,
        now: Time,
        network: &mut Links,
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let slot = loop {
            let slot = &mut self.flows[flow as usize];
            let Some(segment) = slot.sender.poll(now) else { break slot };
            self.packets = self.packets.wrapping_add(1);
            let mut packet = slot.data(flow, segment, self.packets, now);
            if let Some(at) = network.carry(&mut packet, now, events, watch) {
                self.receive(&packet, at, network, events, watch);
            }
        };
        // A timer that was put off stays where it is: it wakes, finds nothing due, and is set again.
        let wakeup = slot.sender.next_wakeup(now);
        let timer = self.base + 2 * flow;
        if wakeup < events.due(timer) {
            events.schedule(timer, wakeup);
        }
    }

    #[inline(always)]
    fn reply<O: Observer>(
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

impl Flow {
    fn new(task: Task, rng: Rng, noise: impl FnOnce() -> Rng) -> Flow {
        let options = Arc::clone(task.options);
        let sender = match task.load {
            Load::Endless => Sender::new(options, task.controller, None),
            Load::Sized(size) => Sender::new(options, task.controller, Some(size)),
            Load::Written => Sender::writable(options, task.controller),
        };
        let sender = sender.noisy(noise);
        Flow {
            receiver: Receiver::new(task.options, sender.controller().marks()),
            sender,
            paths: task.paths,
            epoch: 0,
            header: task.options.header.0 as u16,
            group: task.group,
            owner: task.owner,
            began: Time::NEVER,
            delivered: Time::NEVER,
            rng,
        }
    }

    /// What there is to tell of a transfer that ended.
    fn completed(&self, flow: FlowId, now: Time) -> Event<'static> {
        let delivered = self.delivered.min(now);
        let (group, began, size) = (self.group, self.began, self.sender.acked());
        Event::Completed { flow, group, began, delivered, size }
    }

    #[cold]
    fn news(&self, flow: FlowId, ended: bool) -> Option<News> {
        self.owner.map(|owner| News { flow, owner, ended, acked: self.sender.acked() })
    }

    #[inline]
    fn data(&self, flow: u32, segment: Segment, id: u32, now: Time) -> Packet {
        let Segment { seq, size, flags } = segment;
        let mut packet = Packet::data(flow, seq, size, flags, now).with_hint(self.sender.hint());
        (packet.hop, packet.epoch, packet.id) = (self.paths.forward, self.epoch, id);
        packet
    }

    #[inline]
    fn acknowledgement(&self, flow: u32, reply: Reply, id: u32) -> Packet {
        let Reply { seq, sent, sack, rate, flags, lag } = reply;
        let mut packet = Packet::ack(flow, seq, self.header, flags, sent, sack);
        if let Some(rate) = rate {
            packet = packet.with_rate(rate);
        }
        (packet.hop, packet.epoch, packet.id, packet.lag) = (self.paths.backward, self.epoch, id, lag);
        packet
    }
}
