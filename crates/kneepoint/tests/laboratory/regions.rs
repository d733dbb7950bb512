// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One run on several threads: the same events and metrics, to the bit, as on one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use kneepoint::measure::Meter;
use kneepoint::packet::Packet;
use kneepoint::rng::Rng;
use kneepoint::run::{Division, Joined, Outcome, Region, run};
use kneepoint::scenario::parse;
use kneepoint::spec::Valid;
use kneepoint::study::{Packets, Record};
use kneepoint::trace::{Event, LinkId, Observer};
use kneepoint::units::{Interval, Span, Time};

/// For each kind of event, and each link or flow, a hash of all events in their order.
#[derive(Debug, Default)]
struct Chronicle {
    told: BTreeMap<(&'static str, u32), (u64, u64)>,
    /// The number of regions that watched.
    joined: usize,
}

impl Chronicle {
    fn add(&mut self, kind: &'static str, place: u32, at: Time, what: &dyn std::fmt::Debug) {
        if at > Span::from_secs(3).after_start() {
            return; // What a packet does after the end of the run may be known before.
        }
        let (hash, events) = self.told.entry((kind, place)).or_default();
        let mut hasher = DefaultHasher::new();
        (*hash, at, format!("{what:?}")).hash(&mut hasher);
        (*hash, *events) = (hasher.finish(), *events + 1);
    }
}

impl Observer for Chronicle {
    fn on(&mut self, at: Time, event: &Event) {
        // Threads number their packets themselves.
        let bare = |packet: &Packet| {
            let mut bare = *packet;
            bare.id = 0;
            bare
        };
        match *event {
            Event::Arrival { link, packet, fate } => self.add("arrival", link.0, at, &(bare(packet), fate)),
            Event::Fate { link, packet, fate } => self.add("fate", link.0, at, &(bare(packet), fate)),
            Event::Service { link, packet, waited } => {
                self.add("service", link.0, at, &(bare(packet), waited))
            }
            Event::Queue { link, backlog } => self.add("queue", link.0, at, &backlog),
            Event::Sent { packet, group } => self.add("sent", packet.flow, at, &(bare(packet), group)),
            Event::Delivered { packet, payload } => {
                let ack = packet.flags.has(kneepoint::packet::Flags::ACK);
                let kind = if ack { "delivered ack" } else { "delivered" };
                self.add(kind, packet.flow, at, &(bare(packet), payload));
            }
            Event::Acked { flow, acked, rtt, window, one_way } => {
                self.add("acked", flow.0, at, &(acked, rtt, window.to_bits(), one_way));
            }
            Event::Repair { flow, timeout } => self.add("repair", flow.0, at, &timeout),
            Event::Started { flow, group } => self.add("started", flow.0, at, &group),
            _ => panic!("long transfers have no other event"),
        }
    }
}

impl Joined for Chronicle {
    fn join(&mut self, other: Chronicle, theirs: &dyn Fn(LinkId) -> bool) {
        self.joined += 1;
        for ((kind, place), seen) in other.told {
            if ["arrival", "fate", "service", "queue"].contains(&kind) {
                assert!(theirs(LinkId(place)), "{kind} of link {place}");
            }
            assert_eq!(self.told.insert((kind, place), seen), None, "{kind} of {place} in two regions");
        }
    }
}

/// The results of all regions, each on a thread of its own.
fn of_regions<R: Send>(division: &mut Division, make: impl Fn(Region) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let make = &make;
        let regions = division.regions().into_iter();
        let threads: Vec<_> = regions.map(|region| scope.spawn(move || make(region))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A run from beginning to end on up to `threads` threads, if it can be divided.
fn run_on<O: Joined + Send>(
    valid: &Valid,
    seed: u64,
    threads: usize,
    watch: impl Fn() -> O + Sync,
) -> (O, Outcome) {
    let Some(mut division) = Division::new(valid, threads, 0) else { return run(valid, seed, watch()) };
    let parts = of_regions(&mut division, |region| {
        let mut simulation = region.simulation(seed, watch());
        simulation.advance(Time::NEVER);
        simulation.finish()
    });
    division.join(parts).unwrap()
}

/// All that a run tells.
fn told(valid: &Valid, seed: u64, threads: usize) -> (Chronicle, String, Outcome) {
    let (chronicle, outcome) = run_on(valid, seed, threads, Chronicle::default);
    let (meter, again) = run_on(valid, seed, threads, || Meter::with_shares(valid, seed));
    assert_eq!(outcome, again, "with any observer");
    (chronicle, format!("{:?}", meter.finish()), outcome)
}

/// The same of the sequential engine.
fn alone(valid: &Valid, seed: u64) -> (Chronicle, String, Outcome) {
    let (chronicle, outcome) = run(valid, seed, Chronicle::default());
    let (meter, _) = run(valid, seed, Meter::with_shares(valid, seed));
    (chronicle, format!("{:?}", meter.finish()), outcome)
}

fn valid(text: &str) -> Valid {
    parse(text).unwrap_or_else(|faults| panic!("{faults:#?}\n{text}")).cases.remove(0).valid
}

/// A parking lot at random: flows over all hops and over some, of two controllers, in both directions.
fn parking_lot(rng: &mut Rng, cc: &str, sections: &str) -> (String, u64) {
    let routers = 3 + rng.below(6);
    let mut text = format!(
        "[run]\nduration = \"3s\"\nmeasure = \"1s..3s\"\n{sections}[topology]\nkind = \"parking-lot\"\nrate = \"{}mbit\"\nrouters = {routers}\n\
         hop_delay = \"{}us\"\naccess_delay = \"{}us\"\n",
        2 + rng.below(6),
        500 + rng.below(6000),
        rng.below(3000),
    );
    text += &format!(
        "[[flows]]\nname = \"all\"\ncount = {}\ncc = \"{cc}\"\nstart = \"0s..1s\"\n",
        1 + rng.below(4)
    );
    for hop in 1..routers {
        let (direction, other) =
            (["forward", "reverse"][rng.below(2) as usize], ["cubic", cc][rng.below(2) as usize]);
        text += &format!(
            "[[flows]]\nname = \"hop{hop}\"\ncount = {}\ncc = \"{other}\"\nfrom = \"r{hop}\"\nto = \"r{}\"\n\
             direction = \"{direction}\"\nstart = \"0s..1s\"\n",
            1 + rng.below(3),
            hop + 1,
        );
    }
    (text, rng.below(1 << 20))
}

const QUEUES: [&str; 7] = [
    "",
    "[loss]\nkind = \"uniform\"\np = 0.01\n",
    "[queue]\nkind = \"red\"\n",
    "[queue]\nkind = \"fq-codel\"\n",
    "[queue]\nkind = \"pi\"\n",
    "[tcp]\njitter = \"1ms\"\n",
    "[tcp]\npreset = \"linux\"\n[queue]\nkind = \"pie\"\n",
];

#[test]
fn parking_lots_give_the_same_bits_on_any_number_of_threads() {
    let mut rng = Rng::stream(1, "parking lots", 0);
    for (place, cc) in ["newreno", "pert", "cubic", "bbr", "vegas", "pert-pi"].into_iter().enumerate() {
        for queue in [QUEUES[place], QUEUES[(place + 1) % QUEUES.len()]] {
            let (text, seed) = parking_lot(&mut rng, cc, queue);
            let valid = valid(&text);
            let expected = alone(&valid, seed);
            assert!(expected.2.events > 1000, "{text}");
            for threads in [2, 3] {
                let found = told(&valid, seed, threads);
                let of = format!("{threads} threads, seed {seed}\n{text}");
                assert!((1..threads).contains(&found.0.joined), "{of}");
                assert_eq!(found.2, expected.2, "{of}");
                assert_eq!(found.1, expected.1, "{of}");
                assert!(found.0.told == expected.0.told, "{of}");
            }
        }
    }
}

#[test]
fn a_dumbbell_gives_the_same_bits_on_two_threads() {
    for (cc, sections) in [("pert", ""), ("cubic", QUEUES[1]), ("bbr", QUEUES[2])] {
        let valid = valid(&format!(
            "[run]\nduration = \"4s\"\nmeasure = \"1s..4s\"\n{sections}[topology]\nkind = \"dumbbell\"\nrate = \"8mbit\"\nrtt = \"50ms\"\n\
             [[flows]]\nname = \"there\"\ncount = 5\ncc = \"{cc}\"\nstart = \"0s..1s\"\n\
             [[flows]]\nname = \"back\"\ncc = \"reno\"\ndirection = \"reverse\"\n"
        ));
        let (expected, found) = (alone(&valid, 7), told(&valid, 7, 2));
        assert_eq!((found.0.joined, found.2), (1, expected.2), "{cc}");
        assert_eq!(found.1, expected.1, "{cc}");
        assert!(found.0.told == expected.0.told, "{cc}");
    }
}

/// The record of a run that is divided over threads, and ends as a study's does.
fn divided(packets: &Packets, seed: u64, threads: usize) -> Option<Record> {
    let mut division = packets.division(threads, 0)?;
    let region = |region: Region| {
        let mut simulation = region.simulation(seed, packets.watch(seed));
        // Steps end between exchanges and with them.
        while let Some(until) = packets.next(&simulation, packets.observed(), Span::from_micros(12_500)) {
            simulation.advance(until);
        }
        let (watch, outcome) = simulation.finish();
        (watch.of_region(), outcome)
    };
    let parts = of_regions(&mut division, region);
    let (watch, outcome) = division.join(parts)?;
    Some(Record::simulated(seed, 0.0, outcome, watch.finish()))
}

#[test]
fn the_record_of_a_study_is_the_same_on_any_number_of_threads() {
    let mut rng = Rng::stream(2, "studies", 0);
    let window = |name: &str, from, to| {
        let at = |millis| Span::from_millis(millis).after_start();
        (name.to_string(), Interval { from: at(from), to: at(to) })
    };
    let sets = [Vec::new(), vec![window("early", 0, 700), window("later", 1500, 2300)]];
    let sized = "[[flows]]\nname = \"sized\"\ncount = 3\ncc = \"reno\"\nsize = \"90kB\"\n";
    let web = "[[web]]\nname = \"web\"\nsessions = 3\ncc = \"reno\"\n";
    for (place, cc) in ["reno", "pert", "cubic", "bbr"].into_iter().enumerate() {
        let (text, seed) = parking_lot(&mut rng, cc, QUEUES[place]);
        for (more, divides) in [("", true), (sized, false), (web, false)] {
            let text = format!("{text}{more}").replace("1s..3s", "1s..2s");
            for (windows, shown) in sets.iter().flat_map(|windows| [(windows, false), (windows, true)]) {
                let packets = Packets { windows: windows.clone(), shown, ..Packets::from(valid(&text)) };
                let (seen, outcome) = packets.run(seed);
                let expected = Record::simulated(seed, 0.0, outcome, seen);
                for threads in [2, 3] {
                    let found = divided(&packets, seed, threads);
                    assert_eq!(found.is_some(), divides, "{text}");
                    let bits = |record: &Record| serde_json::to_string(record).unwrap();
                    let found = bits(&found.unwrap_or_else(|| expected.clone()));
                    assert_eq!(found, bits(&expected), "{threads} threads, seed {seed}\n{text}");
                }
            }
        }
    }
}

#[test]
fn regions_do_not_wait_for_one_that_ended_early() {
    let valid = valid(&parking_lot(&mut Rng::stream(3, "ended", 0), "cubic", "").0);
    let mut division = Division::new(&valid, 2, 0).unwrap();
    let (second, whole) = (Span::from_secs(1).after_start(), valid.schedule().duration);
    let ends = of_regions(&mut division, |region| {
        let until = if region.place() == 1 { second } else { Time::NEVER };
        let mut simulation = region.simulation(1, ());
        simulation.advance(until);
        simulation.now()
    });
    assert_eq!(ends, [whole, second]);
}

#[test]
fn a_run_with_few_packets_between_exchanges_is_not_divided() {
    let valid = valid(&parking_lot(&mut Rng::stream(4, "few", 0), "cubic", "").0);
    let regions = |packets| Division::new(&valid, 2, packets).map(|division| division.count());
    assert_eq!([regions(0), regions(1_000_000)], [Some(2), None]);
}

#[test]
fn a_run_with_more_than_packets_between_its_hosts_is_not_divided() {
    let lot = "[topology]\nkind = \"parking-lot\"\nrate = \"2mbit\"\n";
    let flows = "[[flows]]\ncc = \"cubic\"\n";
    for (run, more) in [
        ("sample = \"1s\"\n", ""),
        ("", "size = \"1mb\"\n"),
        ("", "stop = \"1s\"\n"),
        ("", "[capacity]\nkind = \"token-bucket\"\n"),
        ("", "[feedback]\nkind = \"oracle\"\n"),
        ("", "[reordering]\np = 0.1\ndelay = \"1ms\"\n"),
        ("", "[[web]]\nsessions = 2\ncc = \"reno\"\n"),
        ("", "[[cbr]]\nrate = \"100kbit\"\n"),
    ] {
        let valid = valid(&format!("[run]\nduration = \"2s\"\n{run}{lot}{flows}{more}"));
        let (regions, _) = run_on(&valid, 1, 2, Regions::default);
        assert_eq!(regions.0, 0, "{run}{more}");
    }
    let valid = valid(&format!("[run]\nduration = \"2s\"\n{lot}{flows}"));
    assert_eq!(run_on(&valid, 1, 2, Regions::default).0.0, 1);
}

/// Counts the regions that join.
#[derive(Default)]
struct Regions(usize);

impl Observer for Regions {
    fn on(&mut self, _: Time, _: &Event) {}
}

impl Joined for Regions {
    fn join(&mut self, _: Regions, _: &dyn Fn(LinkId) -> bool) {
        self.0 += 1;
    }
}
