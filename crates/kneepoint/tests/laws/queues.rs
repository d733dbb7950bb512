// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of queue disciplines.

use std::collections::{BTreeSet, VecDeque};

use kneepoint::packet::{Flags, Lag, Packet};
use kneepoint::queue::{self, Facts, Fifo, Limit, Reason, Verdict};
use kneepoint::rng::Rng;
use kneepoint::units::{Bytes, Rate, Span, Time};

use crate::{Family, pick};

/// A queue, and what must be true of it.
#[derive(Clone)]
struct Ledger {
    fifo: Fifo,
    limit: Limit,
    interval: Option<Span>,
    draws: Rng,
    now: Time,
    ticked: Time,
    received: u32,
    delivered: BTreeSet<u32>,
    dropped: BTreeSet<u32>,
    /// What must wait, first come first, with the marks it must carry.
    queued: VecDeque<Packet>,
    verdicts: Vec<Verdict>,
}

impl Ledger {
    fn new(config: &queue::Config, limit: Limit, seed: u64) -> Ledger {
        let (rate, delay) = (Rate::from_mbit(10), Span::from_millis(20));
        let discipline = config.build(Facts { rate, delay, limit, packet: Bytes(1040) });
        Ledger {
            interval: discipline.interval(),
            fifo: Fifo::new(discipline, limit),
            limit,
            draws: Rng::stream(seed, "queue", 0),
            now: Time::ZERO,
            ticked: Time::ZERO,
            received: 0,
            delivered: BTreeSet::new(),
            dropped: BTreeSet::new(),
            queued: VecDeque::new(),
            verdicts: Vec::new(),
        }
    }

    /// One arrival or departure, drawn from `script`; arrivals come in favour `load`.
    fn step(&mut self, script: &mut Rng, load: f64) {
        self.now += Span(script.below(1_500_000));
        if script.chance(0.002) {
            self.now += Span::from_secs(2);
        }
        while let Some(interval) = self.interval.filter(|span| self.ticked + *span <= self.now) {
            self.ticked += interval;
            self.fifo.tick(self.ticked);
        }
        if script.chance(load) {
            self.arrive(script)
        } else {
            self.depart()
        }
        self.audit();
    }

    fn arrive(&mut self, script: &mut Rng) {
        let size = pick(script, &[1040, 1040, 1040, 40, 576]);
        let flags = Flags::default().with_if(script.chance(0.5), Flags::ECT);
        let (sent, sack, id) = (self.now, [(0, 0); 3], self.received);
        let mut packet =
            Packet { sent, sack, flow: 0, seq: id, hop: 0, id, size, epoch: 0, flags, lag: Lag::default() };
        self.received += 1;
        let fits = self.limit.admits(self.fifo.backlog(), packet.bytes());
        let verdict = self.fifo.enqueue(packet, self.now, &mut self.draws);
        self.verdicts.push(verdict);
        match verdict {
            Verdict::Dropped(reason) => {
                assert_eq!(reason == Reason::Overflow, !fits, "{reason:?}");
                assert!(matches!(reason, Reason::Overflow | Reason::Early), "{reason:?} on arrival");
                self.drop_once(id);
            }
            Verdict::Marked | Verdict::Passed => {
                packet.flags = self.with_mark(packet, verdict);
                self.queued.push_back(packet);
            }
        }
    }

    fn depart(&mut self) {
        while let Some(departed) = self.fifo.dequeue(self.now, &mut self.draws) {
            let mut expected = self.queued.pop_front().expect("a packet out of nowhere");
            self.verdicts.push(departed.verdict);
            expected.flags = self.with_mark(expected, departed.verdict);
            assert_eq!(departed.packet, expected, "out of order, or changed in the queue");
            assert!(departed.arrived <= self.now && departed.arrived == expected.sent);
            if let Verdict::Dropped(reason) = departed.verdict {
                assert_eq!(reason, Reason::Late);
                self.drop_once(expected.id);
            } else {
                assert!(!self.dropped.contains(&expected.id), "{} was dropped before", expected.id);
                assert!(self.delivered.insert(expected.id), "{} was delivered before", expected.id);
                return;
            }
        }
        assert!(self.queued.is_empty(), "the queue denies what it holds");
    }

    fn with_mark(&self, packet: Packet, verdict: Verdict) -> Flags {
        let marked = verdict == Verdict::Marked;
        assert!(!marked || packet.flags.has(Flags::ECT), "a mark on a packet that cannot carry it");
        packet.flags.with_if(marked, Flags::CE)
    }

    fn drop_once(&mut self, id: u32) {
        assert!(!self.delivered.contains(&id), "{id} was delivered before");
        assert!(self.dropped.insert(id), "{id} was dropped before");
    }

    /// received = delivered + dropped + queued, and the limit is kept.
    fn audit(&self) {
        let accounted = self.delivered.len() + self.dropped.len() + self.queued.len();
        assert_eq!(self.received as usize, accounted);
        let backlog = self.fifo.backlog();
        assert_eq!(backlog.packets as usize, self.queued.len());
        assert_eq!(backlog.bytes, self.queued.iter().map(Packet::bytes).sum());
        match self.limit {
            Limit::Packets(most) => assert!(backlog.packets <= most),
            Limit::Bytes(most) => assert!(backlog.bytes <= most),
            Limit::Unlimited => {}
        }
    }
}

const LIMITS: [Limit; 5] =
    [Limit::Packets(1), Limit::Packets(30), Limit::Bytes(Bytes(20_000)), Limit::Packets(0), Limit::Unlimited];

#[test]
fn packets_are_conserved_by_identity_and_stay_in_order_in_every_queue() {
    for (index, config) in queue::Config::variants().iter().enumerate() {
        for limit in LIMITS {
            let mut ledger = Ledger::new(config, limit, index as u64);
            let mut script = Rng::stream(index as u64, "script", 2);
            for step in 0..1_500 {
                // Heavy and light traffic in turn.
                ledger.step(&mut script, if step / 250 % 2 == 0 { 0.7 } else { 0.4 });
            }
            while !ledger.queued.is_empty() {
                ledger.depart();
                ledger.audit();
            }
            assert!(
                !ledger.delivered.is_empty() || limit == Limit::Packets(0),
                "{config:?} delivers nothing"
            );
            for (name, value) in ledger.fifo.discipline().state() {
                assert!(value.is_finite(), "{config:?}: {name} = {value}");
            }
        }
    }
}

#[test]
fn a_cloned_queue_has_the_same_future_and_so_has_the_same_seed() {
    for (index, config) in queue::Config::variants().iter().enumerate() {
        let seed = index as u64;
        let limit = LIMITS[1 + index % 2];
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
        let expected = format!("{:?} {:?}", original.fifo, original.verdicts);
        assert_eq!(format!("{:?} {:?}", clone.fifo, clone.verdicts), expected, "a clone of {config:?}");
        assert_eq!(format!("{:?} {:?}", again.fifo, again.verdicts), expected, "the same seed of {config:?}");
    }
}
