// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The promises of a run, over every queue discipline: conservation by identity, order, and repetition.

use std::collections::VecDeque;

use kneepoint::link::loss;
use kneepoint::link::{LinkSpec, NodeId};
use kneepoint::measure::Meter;
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Fate, Limit};
use kneepoint::rng::Rng;
use kneepoint::run::{self, Simulation};
use kneepoint::settings;
use kneepoint::spec::Valid;
use kneepoint::tcp::Options;
use kneepoint::trace::{Event, Observer};
use kneepoint::traffic::{self, Config, Cue, Kind, Nature, Request, Site, Source, Streams, cbr, web};
use kneepoint::units::{Bytes, Rate, Span, Time};

use crate::common::dumbbell::{
    at, bottleneck, disciplines, edit, flow, full, group, interval, link, minimal, scenario, sources, tcp,
};
use crate::common::ledger::{Ended, Ledger, LinkBook};

fn run(valid: &Valid, seed: u64) -> Ledger {
    counted(valid, seed).0
}

/// A run, and its events.
fn counted(valid: &Valid, seed: u64) -> (Ledger, u64) {
    let (ledger, outcome) = run::run(valid, seed, Ledger::default());
    ledger.audit(valid);
    assert!(outcome.events > 0);
    (ledger, outcome.events)
}

/// Reno in both directions, short transfers, datagrams, marks and noisy hosts.
fn busy(mut valid: Valid) -> Valid {
    let nodes: Vec<_> = valid.groups()[0].pairs.iter().map(|(from, to)| (from.0, to.0)).collect();
    let back = nodes.iter().map(|&(from, to)| flow(to, from, None));
    let mut unmarked = group("reno", back.collect());
    // Where the reverse path has no rate, only acknowledgements queue, and a queue that keeps only the latest
    // imposes no limit.
    unmarked.tcp = Some(Options { ecn: false, delayed_ack: true, max_window: 300, ..Options::default() });
    unmarked.name = "unmarked".to_string();
    let mut short =
        group("reno", nodes.iter().map(|&(from, to)| flow(from, to, Some(Bytes(70_500)))).collect());
    short.name = "short".to_string();
    short.tcp = Some(Options { handshake: true, jitter: Span::from_micros(300), ..Options::default() });
    let params = cbr::Params { rate: Rate::from_mbit(1), ..cbr::Params::default() };
    let pair = (NodeId(nodes[0].0), NodeId(nodes[0].1));
    let mut constant = sources(Config::Cbr(params), vec![pair], 1, interval(1.0, 1.0));
    constant.members[0].stop = Some(at(4.0));
    edit(&mut valid, |parts| parts.groups.extend([unmarked, short, constant]));
    valid
}

#[test]
fn every_packet_is_delivered_dropped_or_queued_whatever_the_discipline() {
    for queue in disciplines() {
        for seed in 1..=3 {
            let ledger = run(&busy(full(&queue, 4)), seed);
            let served: u64 =
                ledger.links[&0].services.iter().map(|(_, packet, _)| u64::from(packet.size)).sum();
            let share = served as f64 / Rate::from_mbit(10).carries(Span::from_secs(10)).0 as f64;
            assert!(share > 0.7, "{}: it served {share} of its capacity", queue.name());
            let reduced = run(&busy(minimal(&queue, 4)), seed);
            assert!(reduced.acked_bytes(0) > 100_000, "{}", queue.name());
        }
    }
}

#[test]
fn a_queue_never_exceeds_its_limit() {
    for queue in disciplines() {
        for limit in [Limit::Packets(7), Limit::Bytes(Bytes(9_000))] {
            let mut valid = full(&queue, 3);
            edit(&mut valid, |parts| parts.network.links[0].limit = limit);
            let ledger = run(&valid, 5);
            let longest =
                ledger.links[&0].queues.iter().map(|(_, backlog)| (backlog.packets, backlog.bytes)).max();
            let (packets, bytes) = longest.expect("it had a queue");
            assert!(packets <= 8 && bytes <= Bytes(9_000), "{}: {packets} packets", queue.name());
            assert!(packets >= 3, "{}: nothing queued", queue.name());
        }
    }
}

#[test]
fn nothing_is_marked_that_is_not_capable_of_it() {
    for queue in disciplines() {
        let mut valid = full(&queue, 4);
        tcp(&mut valid, 0, |options| options.ecn = false);
        let ledger = run(&valid, 2);
        let marked =
            |book: &LinkBook| book.arrivals.iter().chain(&book.fates).any(|one| one.2 == Fate::Marked);
        assert!(!ledger.links.values().any(marked), "{}", queue.name());
        assert!(ledger.delivered.iter().all(|(_, packet)| !packet.flags.has(Flags::ECE)), "{}", queue.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    for queue in disciplines() {
        let valid = busy(full(&queue, 3));
        let hashes: Vec<_> = [1, 1, 2].map(|seed| run(&valid, seed).hash).into();
        assert_eq!(hashes[0], hashes[1], "{}", queue.name());
        assert_ne!(hashes[0], hashes[2], "{}", queue.name());
    }
}

#[test]
fn a_run_in_slices_is_the_run() {
    for queue in disciplines() {
        let mut valid = busy(full(&queue, 3));
        edit(&mut valid, |parts| parts.schedule.sample = Some(Span::from_millis(50)));
        let whole = run(&valid, 4);
        let mut simulation = Simulation::new(&valid, 4, Ledger::default());
        for slice in 1..=700 {
            simulation.advance(at(f64::from(slice) * 0.0171));
        }
        let (sliced, _) = simulation.finish();
        assert_eq!(whole.hash, sliced.hash, "{}", queue.name());
        assert_eq!(whole.samples.len(), 200);
    }
}

/// A drop-tail queue computed independently from its arrivals: by whole busy periods instead of packets.
struct Reference {
    rate: u128,
    limit: u32,
    /// When the busy period began, and the bits sent in it.
    busy: (u128, u128),
    starts: VecDeque<u128>,
    queues: Vec<(u64, u32)>,
}

impl Reference {
    /// Time at which the busy period ends so far, to the nanosecond.
    fn free(&self) -> u128 {
        self.busy.0 + self.busy.1 * 1_000_000_000 / self.rate
    }

    fn leave(&mut self, now: u128) {
        while let Some(start) = self.starts.pop_front_if(|start| *start <= now) {
            self.queues.push((start as u64, self.starts.len() as u32));
        }
    }

    /// When the packet's transmission begins, unless there is no room.
    fn arrive(&mut self, now: u64, size: u16) -> Option<u64> {
        let now = u128::from(now);
        self.leave(now);
        if self.starts.len() as u32 >= self.limit {
            return None;
        }
        if now > self.free() {
            self.busy = (now, 0);
        }
        let start = self.free().max(now);
        self.busy.1 += u128::from(size) * 8;
        if start > now {
            self.starts.push_back(start);
            self.queues.push((now as u64, self.starts.len() as u32));
        }
        Some(start as u64)
    }
}

#[test]
fn a_computed_drop_tail_queue_does_what_a_queue_does_to_the_nanosecond() {
    for (rate, limit) in
        [(Rate::from_mbit(10), 50), (Rate::from_bits(7_777_777), 6), (Rate::from_mbit(33), 1)]
    {
        let queue = kneepoint::queue::Config::named("droptail").expect("a registered name");
        let mut valid = busy(full(&queue, 4));
        edit(&mut valid, |parts| parts.network.links[0].rate = Some(rate));
        edit(&mut valid, |parts| parts.network.links[0].limit = Limit::Packets(limit));
        let ledger = run(&valid, 8);
        let book = &ledger.links[&0];
        let rate = u128::from(rate.0);
        let mut reference =
            Reference { rate, limit, busy: (0, 0), starts: VecDeque::new(), queues: Vec::new() };
        let mut services = book.services.iter();
        let mut dropped = 0;
        for (now, packet, fate) in &book.arrivals {
            match reference.arrive(now.0, packet.size) {
                None => {
                    assert!(matches!(fate, Fate::Dropped(_)), "at {now}");
                    dropped += 1;
                }
                Some(start) => {
                    assert_eq!(*fate, Fate::Passed, "at {now}");
                    let (served, same, _) = services.next().expect("a service for each packet taken in");
                    assert_eq!((served.0, same.id), (start, packet.id));
                }
            }
        }
        reference.leave(u128::from(valid.schedule().duration.0));
        let told: Vec<_> = book.queues.iter().map(|(at, backlog)| (at.0, backlog.packets)).collect();
        assert_eq!(told, reference.queues);
        assert!(dropped > 20 && book.services.len() > 5_000, "{dropped} of {}", book.arrivals.len());
    }
}

/// The events of flows and of measured queues, without the numbers that packets carry.
fn outside(ledger: &Ledger, links: &[u32]) -> impl PartialEq + std::fmt::Debug + use<> {
    let queues = links.iter().map(|link| ledger.links[link].clone());
    let queues = queues.map(|book| {
        let services: Vec<_> = book
            .services
            .iter()
            .map(|(at, packet, waited)| (*at, packet.flow, packet.seq, *waited))
            .collect();
        (services, book.queues)
    });
    (ledger.acked.clone(), queues.collect::<Vec<_>>(), ledger.repairs.clone(), ledger.completed.clone())
}

/// Packets of data that arrive after the end of their transfer.
fn outliving(ledger: &Ledger) -> usize {
    let outlives = |(at, packet): &&(Time, Packet)| {
        let ends = |end: &Ended| end.flow == packet.flow && packet.sent < end.at && end.at < *at;
        !packet.flags.has(Flags::ACK) && ledger.completed.iter().any(ends)
    };
    ledger.delivered.iter().filter(outlives).count()
}

/// A host that both sends and receives, reached over two links of different lengths: 3 and 4 share it.
fn crossroads(queue: &kneepoint::queue::Config) -> Valid {
    let fast = Some(Rate::from_mbit(100));
    let links = vec![
        bottleneck(0, 1, queue),
        bottleneck(2, 1, queue),
        LinkSpec { measured: true, ..link(1, 3, fast, Span::from_millis(3)) },
        link(1, 4, fast, Span::from_millis(7)),
        link(4, 3, fast, Span::from_millis(9)),
        link(3, 1, fast, Span::from_millis(2)),
        link(3, 4, None, Span::from_millis(1)),
        link(4, 1, fast, Span::from_millis(4)),
        link(1, 0, fast, Span::from_millis(5)),
        link(1, 2, fast, Span::from_millis(6)),
        link(0, 2, fast, Span::from_millis(1)),
        link(2, 0, None, Span::from_millis(1)),
    ];
    let mut valid = scenario(5, links);
    let pairs = [(0, 3), (2, 3), (4, 3), (3, 0), (0, 4), (3, 4), (2, 0)];
    let flows = pairs.iter().map(|&(from, to)| flow(from, to, Some(Bytes(900_000))));
    edit(&mut valid, |parts| parts.groups = vec![group("reno", flows.collect())]);
    valid
}

/// Short transfers from each of three noisy hosts to each of three others, the first of all slots at one instant. Timers begin far
/// below the round trip, so that copies are on their way when a transfer is done.
fn village(queue: &kneepoint::queue::Config, jitter: Span) -> Valid {
    let params =
        web::Params { model: web::Model::Slots, gap: Span::from_millis(1), ..web::Params::default() };
    let hosts = |first: u32| (0..3).map(move |host| NodeId(first + 2 * host));
    let pairs = hosts(2).flat_map(|from| hosts(3).map(move |to| (from, to))).collect();
    let mut valid = full(queue, 3);
    edit(&mut valid, |parts| {
        parts.groups = vec![sources(Config::Web(params), pairs, 15, interval(0.0, 0.0))]
    });
    tcp(&mut valid, 0, |options| {
        let rto_initial = Span::from_millis(1);
        *options = Options { handshake: true, jitter, rto_initial, ..Options::default() };
    });
    valid
}

/// Opens connections, and closes each with nothing written, while its first packet is in flight.
#[derive(Clone, Debug)]
struct Shy {
    open: bool,
    wakeup: Time,
}

settings! {
    /// No parameters.
    pub struct ShyParams {}
}

impl Source for Shy {
    type Params = ShyParams;

    fn new(_: ShyParams, site: Site) -> Shy {
        Shy { open: false, wakeup: site.start }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "shy",
            kind: Kind::Sessions,
            streams: Streams { starts: "start-shy", shared: false, draws: "shy" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn on(&mut self, cue: Cue, now: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        if cue != Cue::Time {
            return;
        }
        requests.push(match self.open {
            true => Request::Close { connection: 0 },
            false => Request::Open { connection: 0, pair: 0, size: None },
        });
        self.open = !self.open;
        self.wakeup = now + Span::from_micros(700);
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

/// Connections of [`Shy`] next to long flows.
fn shy(queue: &kneepoint::queue::Config) -> Valid {
    let mut valid = full(queue, 3);
    edit(&mut valid, |parts| {
        let pair = parts.groups[0].pairs[0];
        let source = traffic::external::of::<Shy>("shy", "").into();
        parts.groups.push(sources(source, vec![pair], 1, interval(1.0, 1.0)));
    });
    tcp(&mut valid, 1, |options| *options = Options { handshake: true, ..Options::default() });
    valid
}

#[test]
fn packets_that_pass_through_a_link_arrive_when_they_would_have() {
    let mut late = 0;
    for queue in disciplines() {
        for (name, valid, links) in [
            ("minimal", minimal(&queue, 5), vec![0]),
            ("full", full(&queue, 5), vec![0, 1]),
            ("busy minimal", busy(minimal(&queue, 3)), vec![0]),
            ("busy", busy(full(&queue, 3)), vec![0, 1]),
            ("crossroads", crossroads(&queue), vec![0, 1]),
            ("village", village(&queue, Span::from_millis(1)), vec![0, 1]),
            ("calm village", village(&queue, Span(1)), vec![0, 1]),
            ("shy", shy(&queue), vec![0, 1]),
        ] {
            let (fused, events) = counted(&valid, 6);
            let mut apart = valid.clone();
            edit(&mut apart, |parts| parts.network.links.iter_mut().for_each(|link| link.measured = true));
            let (apart, more) = counted(&apart, 6);
            assert!(outside(&fused, &links) == outside(&apart, &links), "{name}, {}", queue.name());
            if name.ends_with("village") {
                assert!(events * 3 < more * 2, "{name}, {}: {events} events of {more}", queue.name());
                late += outliving(&fused);
            }
        }
    }
    assert!(late > 10, "{late} packets arrived after the end of their transfer");
}

#[test]
fn a_way_back_that_a_discipline_rules_is_as_exact() {
    for queue in disciplines() {
        let mut valid = full(&queue, 3);
        edit(&mut valid, |parts| {
            for link in &mut parts.network.links[2..] {
                link.queue = queue.clone();
                link.limit = Limit::Packets(100);
            }
        });
        let fused = run(&valid, 6);
        edit(&mut valid, |parts| parts.network.links.iter_mut().for_each(|link| link.measured = true));
        let apart = run(&valid, 6);
        assert!(outside(&fused, &[0, 1]) == outside(&apart, &[0, 1]), "{}", queue.name());
    }
}

#[test]
fn a_channel_loses_its_share_and_jitter_keeps_the_order() {
    for queue in disciplines() {
        let mut valid = minimal(&queue, 1);
        edit(&mut valid, |parts| {
            parts.network.links[0].loss = loss::Config::Uniform(loss::uniform::Params { p: 0.02 })
        });
        edit(&mut valid, |parts| parts.network.links[0].jitter = Span::from_millis(3));
        edit(&mut valid, |parts| parts.network.links[0].limit = Limit::Unlimited);
        edit(&mut valid, |parts| parts.schedule.duration = at(40.0));
        let ledger = run(&valid, 3);
        let book = &ledger.links[&0];
        let lost = book.fates.iter().filter(|one| matches!(one.2, Fate::Dropped(_))).count() as f64;
        let share = lost / book.services.len() as f64;
        assert!((share - 0.02).abs() < 0.006, "{}: {share}", queue.name());
        let data = ledger.delivered.iter().filter(|(_, packet)| !packet.flags.has(Flags::ACK));
        assert!(data.map(|(_, packet)| packet.id).is_sorted(), "{}", queue.name());
    }
}

#[test]
fn time_ends_with_the_run() {
    let queue = disciplines().next().expect("a discipline");
    let valid = busy(full(&queue, 3));
    let ledger = run(&valid, 1);
    assert!(ledger.acked.values().flatten().all(|(at, _, _)| *at <= valid.schedule().duration));
    assert!(
        ledger.completed.iter().all(|ended| ended.at <= valid.schedule().duration && ended.at > Time::ZERO)
    );
}

/// An observer that receives each event separately.
struct Singly<O>(O);

impl<O: Observer> Observer for Singly<O> {
    fn on(&mut self, at: Time, event: &Event) {
        self.0.on(at, event);
    }
}

#[test]
fn a_meter_measures_a_passage_at_once_as_it_measures_its_events() {
    for build in [full, minimal] {
        let valid = busy(build(&kneepoint::queue::Config::default(), 4));
        for seed in 1..=3 {
            let (at_once, _) = run::run(&valid, seed, Meter::with_shares(&valid, seed));
            let (Singly(one_by_one), _) = run::run(&valid, seed, Singly(Meter::with_shares(&valid, seed)));
            // As text, in which inapplicable numbers are also equal.
            assert_eq!(format!("{:?}", at_once.finish()), format!("{:?}", one_by_one.finish()));
        }
    }
}
