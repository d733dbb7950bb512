// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A flow slot: both ends of a transfer, and the transfers inside data that is written.

use std::collections::VecDeque;
use std::sync::Arc;

use super::cost::growing;
use crate::cc::{self, Wanted};
use crate::event::EventQueue;
use crate::packet::{Explicit, Packet};
use crate::rng::Rng;
use crate::tcp::{Options, Receiver, Reply, Segment, Sender};
use crate::trace::{Event, FlowId, Observer};
use crate::units::{Bytes, Time};

/// The path of a flow's packets.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    /// The first hop of its data.
    pub forward: u32,
    /// The first hop of its acknowledgements.
    pub backward: u32,
    /// The class of its data for the oracle, if any.
    pub class: Option<u32>,
}

/// The next transfer of a flow slot.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The options of both ends.
    pub options: &'a Arc<Options>,
    /// The congestion control.
    pub controller: &'a cc::Config,
    /// The amount.
    pub load: Load,
    /// Where.
    pub paths: Paths,
    /// The group it belongs to.
    pub group: u32,
    /// The agent that requested it, and the agent's number for it.
    pub owner: Option<Owner>,
}

/// The amount of data of a flow slot.
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
    /// The index of the connection among the agent's.
    pub connection: u32,
}

/// The neighbours of a flow slot in a chain of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// The slot that carries its data on, if its receiver is a proxy.
    pub(super) onward: Option<FlowId>,
    /// The slot whose data it forwards, if its sender is a proxy.
    pub(super) behind: Option<FlowId>,
    /// Segments that its receiver, a proxy, has forwarded.
    pub(super) passed: u32,
}

impl Chain {
    /// The same neighbours for a slot with another transfer.
    pub(super) fn renewed(self) -> Chain {
        Chain { passed: 0, ..self }
    }
}

/// A flow slot: both ends of a transfer.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// The request of its packets.
    pub(super) wanted: Wanted,
    pub(super) paths: Paths,
    pub(super) epoch: u16,
    pub(super) header: u16,
    pub(super) group: u32,
    pub(super) owner: Option<Owner>,
    pub(super) began: Time,
    pub(super) delivered: Time,
    /// The segment at whose arrival all data written so far, or a transfer inside it, is delivered.
    pub(super) awaited: u32,
    /// The transfers inside data that is written, unless there were none.
    pub(super) parts: Option<Box<Parts>>,
    /// Each acknowledgement may complete a part, or give a proxy room.
    pub(super) heeds: bool,
    pub(super) chain: Chain,
    pub(super) rng: Rng,
}

/// Bytes of a slot with its timers, and with what its controller keeps on the heap, which is about as much as the slot.
pub(super) const SLOT: usize = 2 * size_of::<Flow>() + 2 * growing(EventQueue::ENTITY);

/// Transfers inside the data of one connection, in the order of their ends.
pub(super) type Parts = VecDeque<Part>;

/// A transfer inside the data of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The segment after its last.
    pub(super) end: u32,
    pub(super) began: Time,
    pub(super) delivered: Time,
    pub(super) size: Bytes,
}

/// The sequence number delivered before all others. A live stream may have thousands in flight.
fn delivered(parts: &Parts) -> usize {
    parts.partition_point(|part| part.delivered != Time::NEVER)
}

/// News of a connection for the agent that opened it.
#[derive(Clone, Copy, Debug)]
pub struct News {
    /// The flow slot.
    pub flow: FlowId,
    /// Whose it is.
    pub owner: Owner,
    /// Whether it ended; if not, all data written so far is acknowledged.
    pub ended: bool,
    /// Payload acknowledged.
    pub acked: Bytes,
    /// The time at which the receiver had all of it.
    pub delivered: Time,
}

impl Flow {
    /// Bytes of the slot and of its history.
    pub(super) fn footprint(&self) -> usize {
        let parts = self.parts.as_ref().map_or(0, |parts| parts.len() * growing(size_of::<Part>()));
        SLOT + self.sender.footprint() + parts
    }

    pub(super) fn new(task: Task, rng: Rng, noise: impl FnOnce() -> Rng) -> Flow {
        let options = Arc::clone(task.options);
        let sender = match task.load {
            Load::Endless => Sender::new(options, task.controller, None),
            Load::Sized(size) => Sender::new(options, task.controller, Some(size)),
            Load::Written => Sender::writable(options, task.controller),
        };
        let sender = sender.noisy(noise);
        let awaited = sender.total().unwrap_or(u32::MAX);
        Flow {
            receiver: Receiver::new(task.options, sender.controller().marks()),
            wanted: sender.controller().wanted(),
            sender,
            paths: task.paths,
            epoch: 0,
            header: task.options.header.0 as u16,
            group: task.group,
            owner: task.owner,
            began: Time::NEVER,
            delivered: Time::NEVER,
            awaited,
            parts: None,
            heeds: false,
            chain: Chain::default(),
            rng,
        }
    }

    /// Takes in more data.
    pub(super) fn write(&mut self, size: Bytes, transfer: Option<Bytes>, now: Time) {
        self.carry_on(size, transfer.map(|whole| (now, whole)), now);
    }

    /// Takes in more data, the last of a transfer that began earlier.
    pub(super) fn carry_on(&mut self, size: Bytes, transfer: Option<(Time, Bytes)>, now: Time) {
        self.sender.write(size, now);
        self.delivered = Time::NEVER;
        if let (Some((began, whole)), Some(end)) = (transfer, self.sender.total()) {
            let part = Part { end, began, delivered: Time::NEVER, size: whole };
            self.parts.get_or_insert_default().push_back(part);
            self.heeds = true;
        }
        self.await_more();
    }

    /// The receiver is a proxy with a buffer of this size.
    pub(super) fn hold_at_most(&mut self, buffer: Bytes) {
        let capacity = (buffer.0 / self.sender.payload().0).min(u64::from(u32::MAX)) as u32;
        self.receiver = self.receiver.clone().holding(capacity);
    }

    /// The number of segments for this much.
    pub(super) fn segments(&self, size: Bytes) -> u32 {
        size.0.div_ceil(self.sender.payload().0).min(u64::from(u32::MAX)) as u32
    }

    /// Awaits the end of the next part in flight, or of all data.
    pub(super) fn await_more(&mut self) {
        if self.chain.onward.is_some() {
            // A proxy forwards each segment.
            self.awaited = self.receiver.next() + 1;
            return;
        }
        let part = self.parts.as_ref().and_then(|parts| parts.get(delivered(parts)));
        let all = || self.sender.total().filter(|_| self.delivered == Time::NEVER);
        self.awaited = part.map(|part| part.end).or_else(all).unwrap_or(u32::MAX);
    }

    /// The awaited segment has arrived, and perhaps some after it.
    #[cold]
    pub(super) fn reached(&mut self, at: Time) {
        let next = self.receiver.next();
        if let Some(parts) = &mut self.parts {
            let first = delivered(parts);
            for part in parts.range_mut(first..).take_while(|part| part.end <= next) {
                part.delivered = at;
            }
        }
        if Some(next) == self.sender.total() {
            self.delivered = at;
        }
        self.await_more();
    }

    /// Reports the parts that are acknowledged now.
    pub(super) fn complete_parts<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) {
        let Some(parts) = &mut self.parts else { return };
        while let Some(part) = parts.pop_front_if(|part| part.end <= self.sender.una()) {
            let Part { began, delivered, size, .. } = part;
            watch.on(now, &Event::Completed { flow, group: self.group, began, delivered, size });
        }
    }

    /// Whether its transfers whose data had all arrived before `at` have been reported. Parts are delivered and reported in order.
    pub(super) fn has_reported(&self, at: Time) -> bool {
        match &self.parts {
            Some(parts) => parts.front().is_none_or(|part| part.delivered >= at),
            None => self.delivered >= at || self.sender.done(),
        }
    }

    /// All data is acknowledged and none follows. It was one transfer, unless transfers were parts of it.
    pub(super) fn end<O: Observer>(&mut self, flow: FlowId, now: Time, watch: &mut O) {
        if self.began == Time::NEVER {
            return; // A proxy had nothing to forward.
        }
        if self.parts.is_none() {
            watch.on(now, &self.completed(flow, now));
        }
        watch.on(now, &Event::Closed { flow });
    }

    /// The data of an ended transfer.
    fn completed(&self, flow: FlowId, now: Time) -> Event<'static> {
        let delivered = self.delivered.min(now);
        let (group, began, size) = (self.group, self.began, self.sender.acked());
        Event::Completed { flow, group, began, delivered, size }
    }

    #[inline]
    pub(super) fn data(&self, flow: u32, segment: Segment, id: u32, now: Time) -> Packet {
        let Segment { seq, size, flags } = segment;
        let mut packet = Packet::data(flow, seq, size, flags, now).with_hint(self.sender.hint());
        if self.wanted != Wanted::Nothing {
            packet = self.requesting(packet);
        }
        (packet.hop, packet.epoch, packet.id) = (self.paths.forward, self.epoch, id);
        packet
    }

    /// A packet that requests the controller's feedback from the network.
    fn requesting(&self, packet: Packet) -> Packet {
        match self.wanted {
            Wanted::Nothing => packet,
            Wanted::Rate => packet.with_explicit(Explicit::ANY_RATE),
            Wanted::Change => packet.with_explicit(Explicit::ANY_CHANGE),
        }
    }

    /// The payload of one of its segments.
    #[inline]
    pub(super) fn payload(&self, packet: &Packet) -> Bytes {
        Bytes(u64::from(packet.size.saturating_sub(self.header)))
    }

    /// Whether the receiver has all data that was written, so that the transfer may end before another packet of it arrives.
    #[inline]
    pub(super) fn has_all(&self) -> bool {
        Some(self.receiver.next()) == self.sender.total()
    }

    #[inline]
    pub(super) fn acknowledgement(&self, flow: u32, reply: Reply, id: u32) -> Packet {
        let Reply { seq, sent, sack, explicit, flags, lag, window, marked } = reply;
        let mut packet = Packet::ack(flow, seq, self.header, flags, sent, sack);
        if let Some(explicit) = explicit {
            packet = packet.with_explicit(explicit);
        }
        if let Some(bytes) = marked {
            packet = packet.with_marked_bytes(bytes);
        }
        if let Some(window) = window {
            packet = packet.with_receive_window(window);
        }
        (packet.hop, packet.epoch, packet.id, packet.lag) = (self.paths.backward, self.epoch, id, lag);
        packet
    }
}
