// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of queue disciplines.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::variants;
use crate::packet::{Explicit, Flags, Hint, Packet};
use crate::queue::{self, Buffer, Facts, Fate, Limit, Order, Reason};
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span, Time};

/// Sending flows, in an order other than their numbers.
const FLOWS: [u32; 8] = [7, 7, 7, 7, 7, 2, 5, 0];
/// The flow among them whose sender responds to marks in proportion.
const SCALABLE: u32 = 5;

/// A buffer and its invariants.
#[derive(Clone)]
struct Ledger {
    buffer: Buffer,
    limit: Limit,
    order: Order,
    interval: Option<Span>,
    draws: Rng,
    now: Time,
    ticked: Time,
    received: u32,
    delivered: BTreeSet<u32>,
    dropped: BTreeSet<u32>,
    /// Waiting packets in order of arrival, with their required marks and rates, by the lines that keep an order.
    queued: BTreeMap<(u32, bool), VecDeque<Packet>>,
    fates: Vec<(u32, Fate)>,
}

impl Ledger {
    fn new(config: &queue::Config, limit: Limit, seed: u64) -> Ledger {
        let (rate, delay) = (Rate::from_mbit(10), Span::from_millis(20));
        let discipline = config.build(Facts { rate, delay, limit, packet: Bytes(1040) });
        Ledger {
            interval: discipline.interval(),
            order: discipline.order(),
            buffer: Buffer::new(discipline, limit),
            limit,
            draws: Rng::stream(seed, "queue", 0),
            now: Time::ZERO,
            ticked: Time::ZERO,
            received: 0,
            delivered: BTreeSet::new(),
            dropped: BTreeSet::new(),
            queued: BTreeMap::new(),
            fates: Vec::new(),
        }
    }

    /// One arrival or departure, drawn from `script`; arrivals have the probability `load`.
    fn step(&mut self, script: &mut Rng, load: f64) {
        self.now += Span(script.below(1_500_000));
        if script.chance(0.002) {
            self.now += Span::from_secs(2);
        }
        while let Some(interval) = self.interval.filter(|span| self.ticked + *span <= self.now) {
            self.ticked += interval;
            self.buffer.tick(self.ticked);
        }
        if script.chance(load) {
            self.arrive(script)
        } else {
            self.depart()
        }
        self.audit();
    }

    fn line(&mut self, packet: &Packet) -> &mut VecDeque<Packet> {
        self.queued.entry(self.order.line(packet)).or_default()
    }

    fn arrive(&mut self, script: &mut Rng) {
        let (size, flow) = (script.pick(&[1040, 1040, 1040, 40, 576]), script.pick(&FLOWS));
        let flags = Flags::default().with_if(script.chance(0.5), Flags::ECT);
        // It does not set ECT in every packet, for example not in retransmissions.
        let flags = flags.with_if(flow == SCALABLE && flags.has(Flags::ECT), Flags::SCALABLE);
        let mut packet = match script.chance(0.2) {
            true => Packet::ack(flow, 0, size, flags, self.now, [(4, 7), (0, 0), (0, 0)]),
            false => {
                let window = script.pick(&[0.0, 1.0, 7.0, 7.5, 250.0, 1e9]);
                let hint = Hint { window, rtt: Span::from_millis(60) };
                Packet::data(flow, 0, size, flags, self.now).with_hint(hint)
            }
        };
        if script.chance(0.4) {
            packet = packet.with_explicit(Explicit::Rate(Rate(script.below(20_000_000))));
        }
        packet.id = self.received;
        self.received += 1;
        let fits = |queue: &Buffer| self.limit.admits(queue.backlog(), packet.bytes());
        let had_room = fits(&self.buffer);
        let mut pushed_out = Vec::new();
        let fate = self.buffer.enqueue(packet, self.now, &mut self.draws, |one| pushed_out.push(*one));
        let has_room = fits(&self.buffer);
        for one in pushed_out {
            self.fates.push((one.id, Fate::Dropped(Reason::PushedOut)));
            let line = self.line(&one);
            let place = line.iter().position(|waiting| *waiting == one);
            line.remove(place.expect("only what waits is pushed out, as it is"));
            self.drop_once(one.id);
        }
        self.fates.push((packet.id, fate));
        match fate {
            Fate::Dropped(reason) => {
                assert_eq!(reason == Reason::Overflow, !had_room && !has_room, "{reason:?}");
                assert!(matches!(reason, Reason::Overflow | Reason::Early), "{reason:?} on arrival");
                self.drop_once(packet.id);
            }
            Fate::Marked | Fate::Passed => {
                packet.flags = with_mark(&packet, fate);
                self.line(&packet).push_back(packet);
            }
        }
    }

    fn depart(&mut self) {
        while let Some(departed) = self.buffer.dequeue(self.now, &mut self.draws) {
            let packet = departed.packet;
            let mut expected = self.line(&packet).pop_front().expect("a packet out of nowhere");
            self.fates.push((packet.id, departed.fate));
            expected.flags = with_mark(&expected, departed.fate);
            assert_eq!(packet, expected, "out of order, or changed in the queue");
            assert!(departed.arrived <= self.now && departed.arrived == expected.sent);
            if let Fate::Dropped(reason) = departed.fate {
                assert_eq!(reason, Reason::Late);
                self.drop_once(expected.id);
            } else {
                assert!(!self.dropped.contains(&expected.id), "{} was dropped before", expected.id);
                assert!(self.delivered.insert(expected.id), "{} was delivered before", expected.id);
                return;
            }
        }
        assert!(self.is_empty(), "the queue denies what it holds");
    }

    fn drop_once(&mut self, id: u32) {
        assert!(!self.delivered.contains(&id), "{id} was delivered before");
        assert!(self.dropped.insert(id), "{id} was dropped before");
    }

    fn is_empty(&self) -> bool {
        self.queued.values().all(VecDeque::is_empty)
    }

    /// received = delivered + dropped + queued, and the limit is kept.
    fn audit(&self) {
        let queued = || self.queued.values().flatten();
        let accounted = self.delivered.len() + self.dropped.len() + queued().count();
        assert_eq!(self.received as usize, accounted);
        let backlog = self.buffer.backlog();
        assert_eq!(backlog.packets as usize, queued().count());
        assert_eq!(backlog.bytes, queued().map(Packet::bytes).sum());
        match self.limit {
            Limit::Packets(most) => assert!(backlog.packets <= most),
            Limit::Bytes(most) => assert!(backlog.bytes <= most),
            Limit::Unlimited => {}
        }
    }
}

fn with_mark(packet: &Packet, fate: Fate) -> Flags {
    let marked = fate == Fate::Marked;
    assert!(!marked || packet.flags.has(Flags::ECT), "a mark on a packet that cannot carry it");
    packet.flags.with_if(marked, Flags::CE)
}

const LIMITS: [Limit; 6] = [
    Limit::Packets(1),
    Limit::Packets(30),
    Limit::Bytes(Bytes(20_000)),
    Limit::Bytes(Bytes(1_000)),
    Limit::Packets(0),
    Limit::Unlimited,
];

/// Tries all laws on a discipline, with its defaults and with each parameter at the ends of its range.
pub fn hold(config: &queue::Config) {
    for (variant, seed) in variants(config).iter().zip(0..) {
        conserve_packets(variant, seed);
        have_one_future(variant, seed);
    }
}

/// Packets are conserved by identity, and leave in the order that their discipline promises.
pub fn conserve_packets(config: &queue::Config, seed: u64) {
    for limit in LIMITS {
        let mut ledger = Ledger::new(config, limit, seed);
        let mut script = Rng::stream(seed, "script", 2);
        for step in 0..1_500 {
            // Heavy and light traffic in turn.
            ledger.step(&mut script, if step / 250 % 2 == 0 { 0.7 } else { 0.4 });
        }
        while !ledger.is_empty() {
            ledger.depart();
            ledger.audit();
        }
        assert!(!ledger.delivered.is_empty() || limit == Limit::Packets(0), "{config:?} delivers nothing");
        for (name, value) in ledger.buffer.discipline().state() {
            assert!(value.is_finite(), "{config:?}: {name} = {value}");
        }
    }
}

/// A cloned queue has the same future, and so has the same seed.
pub fn have_one_future(config: &queue::Config, seed: u64) {
    let limit = LIMITS[1 + seed as usize % 2];
    let (mut original, mut again) = (Ledger::new(config, limit, seed), Ledger::new(config, limit, seed));
    let mut script = Rng::stream(seed, "script", 3);
    let mut same_script = script.clone();
    for _ in 0..300 + script.clone().below(300) {
        original.step(&mut script, 0.6);
        again.step(&mut same_script, 0.6);
    }
    let (mut clone, mut cloned_script) = (original.clone(), script.clone());
    for _ in 0..300 {
        original.step(&mut script, 0.6);
        clone.step(&mut cloned_script, 0.6);
        again.step(&mut same_script, 0.6);
    }
    let expected = format!("{:?} {:?}", original.buffer, original.fates);
    assert_eq!(format!("{:?} {:?}", clone.buffer, clone.fates), expected, "a clone of {config:?}");
    assert_eq!(format!("{:?} {:?}", again.buffer, again.fates), expected, "the same seed of {config:?}");
}
