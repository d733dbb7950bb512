// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An observer that records everything and checks a run's laws of conservation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kneepoint::packet::{Body, Flags, Packet};
use kneepoint::queue::{Backlog, Facts, Fate, Order, Reason};
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, LinkId, Observer};
use kneepoint::units::{Bytes, Rate, Span, Time};

/// Events at one link, each list in the order of reports.
#[derive(Clone, Debug, Default)]
pub struct LinkBook {
    pub arrivals: Vec<(Time, Packet, Fate)>,
    pub services: Vec<(Time, Packet, Span)>,
    pub fates: Vec<(Time, Packet, Fate)>,
    pub queues: Vec<(Time, Backlog)>,
    /// Packets that left the queue, in order: served or dropped at the head.
    departed: Vec<(Time, Packet)>,
    pushed_out: Vec<(Time, Packet)>,
}

/// A transfer that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub at: Time,
    pub flow: u32,
    pub began: Time,
    pub delivered: Time,
    pub size: Bytes,
    pub group: u32,
}

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub links: BTreeMap<u32, LinkBook>,
    /// The packets that senders sent.
    pub sent: Vec<Packet>,
    pub delivered: Vec<(Time, Packet)>,
    /// By flow: when, how much, and the round-trip time.
    pub acked: BTreeMap<u32, Vec<(Time, u64, Option<Span>)>>,
    pub repairs: Vec<(Time, u32, bool)>,
    pub completed: Vec<Ended>,
    pub samples: Vec<Time>,
    /// A hash of every event with all of its fields.
    pub hash: u64,
    /// The position reached for each kind of event of each link or flow.
    clocks: BTreeMap<(u8, u32), Time>,
}

/// FNV-1a, by words.
fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
}

fn digest(packet: &Packet) -> u64 {
    let blocks = match packet.body() {
        Body::Ack { blocks, .. } => blocks,
        Body::Data { .. } => [(0, 0); 3],
    };
    let sack = blocks.iter().fold(0, |sum, block| mix(mix(sum, block.0.into()), block.1.into()));
    let words = [packet.flow, packet.seq, packet.hop, packet.id, packet.size.into(), packet.epoch.into()];
    let sum = words.into_iter().fold(mix(sack, packet.sent.0), |sum, word| mix(sum, word.into()));
    mix(sum, packet.flags.0.into())
}

fn code(fate: Fate) -> u64 {
    match fate {
        Fate::Passed => 0,
        Fate::Marked => 1,
        Fate::Dropped(reason) => 2 + reason as u64,
    }
}

impl Ledger {
    fn note(&mut self, kind: u8, whose: u32, at: Time, words: &[u64]) {
        let clock = self.clocks.entry((kind, whose)).or_default();
        assert!(at >= *clock, "time ran back for kind {kind} of {whose}: {at:?} after {clock:?}");
        *clock = at;
        let head = [kind.into(), whose.into(), at.0];
        self.hash = head.iter().chain(words).fold(self.hash, |hash, &word| mix(hash, word));
    }

    fn book(&mut self, link: LinkId) -> &mut LinkBook {
        self.links.entry(link.0).or_default()
    }
}

impl Observer for Ledger {
    fn on(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Arrival { link, packet, fate } => {
                self.note(0, link.0, at, &[digest(packet), code(fate)]);
                self.book(link).arrivals.push((at, *packet, fate));
            }
            Event::Fate { link, packet, fate } => {
                self.note(1, link.0, at, &[digest(packet), code(fate)]);
                let book = self.book(link);
                book.fates.push((at, *packet, fate));
                match fate {
                    Fate::Dropped(Reason::Late) => book.departed.push((at, *packet)),
                    Fate::Dropped(Reason::PushedOut) => book.pushed_out.push((at, *packet)),
                    _ => {}
                }
            }
            Event::Altered { link, packet, how } => {
                self.note(12, link.0, at, &[digest(packet), how as u64]);
            }
            Event::Service { link, packet, waited } => {
                self.note(2, link.0, at, &[digest(packet), waited.0]);
                let book = self.book(link);
                book.services.push((at, *packet, waited));
                book.departed.push((at, *packet));
            }
            Event::Queue { link, backlog } => {
                self.note(3, link.0, at, &[backlog.packets.into(), backlog.bytes.0]);
                self.book(link).queues.push((at, backlog));
            }
            Event::Delivered { packet, .. } => {
                let ack = u8::from(packet.flags.has(Flags::ACK));
                // The transfers of a slot may take different paths.
                let transfer = packet.flow | u32::from(packet.epoch) << 16;
                self.note(4 + ack, transfer, at, &[digest(packet)]);
                self.delivered.push((at, *packet));
            }
            Event::Acked { flow, acked, rtt, .. } => {
                self.note(6, flow.0, at, &[acked.0, rtt.map_or(0, |rtt| rtt.0)]);
                self.acked.entry(flow.0).or_default().push((at, acked.0, rtt));
            }
            Event::Repair { flow, timeout } => {
                self.note(7, flow.0, at, &[timeout.into()]);
                self.repairs.push((at, flow.0, timeout));
            }
            // The hash takes it in where it arrives.
            Event::Sent { packet, .. } => self.sent.push(*packet),
            Event::Started { flow, group } => self.note(10, flow.0, at, &[group.into()]),
            Event::Completed { flow, group, began, delivered, size } => {
                self.note(8, flow.0, at, &[began.0, delivered.0, size.0]);
                self.completed.push(Ended { at, flow: flow.0, began, delivered, size, group });
            }
            // The transfers that it carried are noted.
            Event::Closed { .. } => {}
            Event::Reported { group, report } => {
                self.note(11, group, at, &[report.value.to_bits(), report.at.0]);
            }
            Event::Sample { .. } => {
                self.note(9, 0, at, &[]);
                self.samples.push(at);
            }
        }
    }
}

impl Ledger {
    /// Holds the books of a finished run against the laws.
    pub fn audit(&self, valid: &Valid) {
        let end = valid.schedule().duration;
        let (mut gone, mut marked) = (BTreeSet::new(), BTreeSet::new());
        for (link, book) in &self.links {
            book.audit(*link, end, order(valid, *link));
            for (_, packet, fate) in book.arrivals.iter().chain(&book.fates) {
                match fate {
                    Fate::Passed => {}
                    Fate::Marked => assert!(marked.insert(packet.id), "marked twice: {packet:?}"),
                    Fate::Dropped(_) => assert!(gone.insert(packet.id), "dropped twice: {packet:?}"),
                }
            }
        }
        let (mut sent, mut before) = (BTreeSet::new(), BTreeSet::new());
        for packet in &self.sent {
            assert!(sent.insert(packet.id), "sent twice: {packet:?}");
            let again =
                !packet.flags.has(Flags::SYN) && !before.insert((packet.flow, packet.epoch, packet.seq));
            assert_eq!(packet.flags.has(Flags::RETRANSMITTED), again, "{packet:?}");
        }
        let mut reached = BTreeSet::new();
        for (_, packet) in &self.delivered {
            assert!(reached.insert(packet.id), "delivered twice: {packet:?}");
            assert!(!gone.contains(&packet.id), "dropped and delivered: {packet:?}");
            let data = !packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::DATAGRAM);
            assert_eq!(data, sent.contains(&packet.id), "{packet:?}");
            assert_eq!(
                packet.flags.has(Flags::CE),
                marked.contains(&packet.id),
                "a mark without a marker: {packet:?}"
            );
        }
    }

    /// Payload that a flow had acknowledged in all.
    pub fn acked_bytes(&self, flow: u32) -> u64 {
        self.acked.get(&flow).map_or(0, |acks| acks.iter().map(|(_, acked, _)| acked).sum())
    }
}

/// The order that the discipline of a link promises. A noisy host's link comes after the scenario's.
fn order(valid: &Valid, link: u32) -> Order {
    valid.network().links.get(link as usize).map_or(Order::Arrival, |spec| {
        let rate = spec.rate.unwrap_or(Rate(u64::MAX));
        let facts = Facts { rate, delay: spec.delay, limit: spec.limit, packet: valid.full_packet() };
        spec.queue.build(facts).order()
    })
}

impl LinkBook {
    /// received = delivered + dropped + queued, by identity, at every instant.
    fn audit(&self, link: u32, end: Time, order: Order) {
        let dropped = |fate: &Fate| matches!(fate, Fate::Dropped(_));
        let taken: Vec<_> = self.arrivals.iter().filter(|(_, _, fate)| !dropped(fate)).collect();
        if taken.is_empty() && self.departed.is_empty() {
            return; // An unmeasured link reports drops only.
        }
        let pushed_out: BTreeSet<_> = self.pushed_out.iter().map(|(_, packet)| packet.id).collect();
        let mut lines: BTreeMap<_, VecDeque<(Time, u32)>> = BTreeMap::new();
        for (at, packet, _) in taken.iter().filter(|(_, packet, _)| !pushed_out.contains(&packet.id)) {
            lines.entry(order.line(packet)).or_default().push_back((*at, packet.id));
        }
        for (left, packet) in &self.departed {
            let first = lines.get_mut(&order.line(packet)).and_then(VecDeque::pop_front);
            let (arrived, id) = first.expect("a packet out of nowhere");
            assert_eq!(packet.id, id, "link {link} changed the order");
            assert!(*left >= arrived);
        }
        let arrivals: BTreeMap<_, _> = taken.iter().map(|(at, packet, _)| (packet.id, *at)).collect();
        for (at, packet, waited) in &self.services {
            assert_eq!(*at - arrivals[&packet.id], *waited, "link {link}");
        }
        // The queue after each instant, from who came and who left.
        let mut changes = BTreeMap::new();
        for (at, packet, _) in &taken {
            let change: &mut (i64, i64) = changes.entry(*at).or_default();
            *change = (change.0 + 1, change.1 + i64::from(packet.size));
        }
        for (at, packet) in self.departed.iter().chain(&self.pushed_out).filter(|(at, _)| *at <= end) {
            let change = changes.entry(*at).or_default();
            *change = (change.0 - 1, change.1 - i64::from(packet.size));
        }
        let told: BTreeMap<_, _> = self.queues.iter().copied().collect();
        let (mut waiting, mut last) = ((0, 0), Backlog::default());
        for (at, change) in changes {
            waiting = (waiting.0 + change.0, waiting.1 + change.1);
            last = told.get(&at).copied().unwrap_or(last);
            assert_eq!((last.packets.into(), last.bytes.0 as i64), waiting, "link {link} at {at}");
        }
    }
}
