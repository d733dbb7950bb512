// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of sources of traffic: of each machine alone, and of groups on a small network.

use std::collections::BTreeMap;

use super::variants;
use crate::cc;
use crate::link::{LinkSpec, Network, NodeId};
use crate::packet::Flags;
use crate::queue::Limit;
use crate::rng::Rng;
use crate::run;
use crate::spec::{Builder, Group, Member, Schedule, Valid};
use crate::tcp::Options;
use crate::trace::{Event, Observer};
use crate::traffic::{Any, Config, Cue, Kind, Request, Site};
use crate::units::{Bytes, Interval, Rate, Span, Time};

const PAIRS: u32 = 3;
const STOP: Time = Time(20_000_000_000);

/// A member and its invariants.
#[derive(Clone)]
struct Book {
    source: Any,
    kind: Kind,
    rng: Rng,
    now: Time,
    /// Open connections: the bytes written into each, or none where it has a size.
    open: BTreeMap<u32, Option<u64>>,
    told: Vec<(Time, Request)>,
}

impl Book {
    fn new(config: &Config) -> Book {
        let kind = config.nature().kind;
        let pairs = if kind.opens() { PAIRS } else { 1 };
        let source = config.build(Site { start: Time(1_000), stop: STOP, pairs });
        let (rng, now) = (Rng::stream(1, "source", 0), Time::ZERO);
        Book { source, kind, rng, now, open: BTreeMap::new(), told: Vec::new() }
    }

    /// The next event, drawn from `script`; none when the member is at rest.
    fn step(&mut self, script: &mut Rng) -> bool {
        let wakeup = self.source.next_wakeup();
        assert!(wakeup >= self.now, "a wake-up in the past");
        assert!(wakeup == Time::NEVER || wakeup <= STOP, "a wake-up after the stop");
        let open = self.open.iter().nth(script.below(self.open.len().max(1) as u64) as usize);
        let cue = match open.map(|(connection, written)| (*connection, *written)) {
            Some((connection, written)) if wakeup == Time::NEVER || script.chance(0.3) => {
                let rest = if wakeup == Time::NEVER { 1_000_000_000 } else { wakeup.since(self.now).0 };
                self.now += Span(script.below(rest.max(1)));
                match written {
                    Some(bytes) => Cue::Delivered { connection, bytes: Bytes(bytes), at: self.now },
                    None => {
                        self.open.remove(&connection);
                        Cue::Completed { connection, at: self.now }
                    }
                }
            }
            _ if wakeup == Time::NEVER => return false,
            _ => {
                self.now = wakeup;
                Cue::Time
            }
        };
        let mut requests = Vec::new();
        self.source.on(cue, self.now, &mut self.rng, &mut requests);
        for request in requests {
            self.check(request);
            self.told.push((self.now, request));
        }
        true
    }

    fn check(&mut self, request: Request) {
        let closes = matches!(request, Request::Close { .. });
        assert!(self.now < STOP || closes, "{request:?} after the stop");
        match request {
            Request::Datagram { size } => {
                assert!(self.kind == Kind::Datagrams && (1..=65_535).contains(&size.0), "{size}");
            }
            Request::Numbered { size, .. } | Request::Answer { size, .. } => {
                assert!(self.source.listens() && (1..=65_535).contains(&size.0), "{size}");
            }
            Request::Open { connection, pair, size } => {
                assert!(self.kind == Kind::Streams || self.kind.opens());
                assert!(pair < if self.kind.opens() { PAIRS } else { 1 }, "pair {pair}");
                assert!(size != Some(Bytes(0)), "a connection of nothing");
                let written = if size.is_none() { Some(0) } else { None };
                assert!(self.open.insert(connection, written).is_none(), "{connection} is open");
            }
            Request::Write { connection, size, .. } => {
                let written = self.open.get_mut(&connection).and_then(Option::as_mut);
                *written.expect("an open connection without a size") += size.0;
            }
            Request::Report(report) => {
                assert!(report.value.is_finite() && report.at <= self.now, "{report:?}")
            }
            Request::Close { connection } => {
                assert!(self.open.remove(&connection).is_some_and(|one| one.is_some()), "{connection}");
            }
        }
    }
}

/// Tries all laws on a source, with its defaults and with each parameter at the ends of its range.
pub fn hold(config: &Config) {
    for variant in variants(config) {
        ask_for_what_there_is(&variant);
        stop_when_told(&variant);
    }
}

/// A source makes valid requests, stops on command, and has one future.
pub fn ask_for_what_there_is(config: &Config) {
    let run = |from: &Book, steps: u32| {
        let (mut book, mut script) = (from.clone(), Rng::stream(2, "script", 0));
        for _ in 0..steps {
            if !book.step(&mut script) {
                break;
            }
        }
        book
    };
    let first = run(&Book::new(config), 2_000);
    assert_eq!(first.told, run(&Book::new(config), 2_000).told, "the same seed");
    assert_eq!(run(&first, 300).told, run(&first.clone(), 300).told, "a clone");
    let asks = config.nature().kind != Kind::Transfers;
    // The first request may come only after the stop if everything is at its slowest.
    assert!(asks || first.told.is_empty(), "a transfer asks");
}

/// Two hosts on each side of a bottleneck, and a group that stops after 30 of 400 ms.
fn network(config: &Config) -> Valid {
    let link = |from: u32, to: u32, rate, limit| LinkSpec {
        name: format!("{from}-{to}"),
        rate,
        delay: Span::from_millis(2),
        limit,
        measured: rate.is_some(),
        ..LinkSpec::new(NodeId(from), NodeId(to))
    };
    let kind = config.nature().kind;
    let at = |millis| Time::ZERO + Span::from_millis(millis);
    let member = Member { start: Interval { from: at(0), to: at(1) }, stop: Some(at(30)), size: None };
    let parts = Builder {
        name: "small".into(),
        schedule: Schedule {
            duration: at(400),
            measure: Interval { from: at(0), to: at(400) },
            sample: Some(Span::from_millis(100)),
        },
        network: Network {
            nodes: (0..2).map(|node| format!("n{node}")).collect(),
            links: vec![
                link(0, 1, Some(Rate::from_mbit(10)), Limit::Packets(20)),
                link(1, 0, None, Limit::Unlimited),
            ],
        },
        joints: Vec::new(),
        groups: vec![Group {
            name: "group".into(),
            cc: kind.connects().then(cc::Config::default),
            tcp: kind.connects().then(Options::default),
            source: config.clone(),
            pairs: vec![(NodeId(0), NodeId(1)); 2],
            members: vec![member; if kind == Kind::Process { 1 } else { 2 }],
        }],
    };
    parts.build().expect("a valid spec")
}

/// The results of a group.
#[derive(Clone, Debug, Default, PartialEq)]
struct Deeds {
    started: Vec<(Time, u32)>,
    completed: Vec<(Time, Bytes)>,
    datagrams: u64,
    last: Time,
}

impl Observer for Deeds {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Started { flow, group: 0 } => self.started.push((at, flow.0)),
            Event::Completed { size, group: 0, began, delivered, .. } => {
                assert!(began <= delivered && *delivered <= at);
                self.completed.push((at, *size));
            }
            Event::Delivered { packet, .. } if packet.flags.has(Flags::DATAGRAM) => {
                self.datagrams += 1;
                self.last = self.last.max(packet.sent);
            }
            _ => {}
        }
    }
}

/// A source runs a small network, and stops on request.
pub fn stop_when_told(config: &Config) {
    let valid = network(config);
    let (deeds, outcome) = run::run(&valid, 1, Deeds::default());
    assert!(outcome.events > 0);
    let stop = Time::ZERO + Span::from_millis(30);
    assert!(deeds.started.iter().all(|(at, _)| *at < stop), "{:?}", deeds.started.last());
    assert!(deeds.last < stop, "a datagram at {}", deeds.last);
    assert_eq!(deeds, run::run(&valid, 1, Deeds::default()).0, "the same seed");
}
