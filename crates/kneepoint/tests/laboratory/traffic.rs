// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What traffic does in a run: web sessions, datagrams at a constant rate, transfers that stop, chains of links.

use std::collections::{BTreeMap, BTreeSet};

use kneepoint::link::NodeId;
use kneepoint::link::loss;
use kneepoint::measure::Meter;
use kneepoint::packet::Flags;
use kneepoint::queue;
use kneepoint::run;
use kneepoint::spec::{Roster, Slot, Valid};
use kneepoint::table::Row;
use kneepoint::tcp::Options;
use kneepoint::trace::FlowId;
use kneepoint::traffic::{Config, Law, Size, arrivals, cbr, onoff, web};
use kneepoint::units::{Bytes, Rate, Span, Time};

use crate::common::dumbbell::{
    at, bottleneck, edit, flow, full, group, interval, link, minimal, scenario, sources, tcp,
};
use crate::common::ledger::Ledger;

fn droptail() -> queue::Config {
    queue::Config::named("droptail").expect("a registered name")
}

fn run(valid: &Valid, seed: u64) -> Ledger {
    let (ledger, _) = run::run(valid, seed, Ledger::default());
    ledger.audit(valid);
    ledger
}

/// Sessions over a bottleneck that loses a little, without other traffic.
fn browsing(params: web::Params, sessions: usize) -> Valid {
    let mut valid = full(&droptail(), 4);
    edit(&mut valid, |parts| {
        parts.network.links[0].loss = loss::Config::Uniform(loss::uniform::Params { p: 0.01 })
    });
    edit(&mut valid, |parts| parts.schedule.duration = at(100.0));
    let pairs = (0..4).map(|host| (NodeId(2 + 2 * host), NodeId(3 + 2 * host))).collect();
    edit(&mut valid, |parts| {
        parts.groups = vec![sources(Config::Web(params), pairs, sessions, interval(0.0, 1.0))]
    });
    tcp(&mut valid, 0, |options| *options = Options { handshake: true, ..Options::default() });
    valid
}

/// Holds every completed transfer against the packets that were delivered in its name.
fn check_completed(ledger: &Ledger, payload: u64) {
    let mut arrived: BTreeMap<(u32, u16), BTreeSet<u32>> = BTreeMap::new();
    for (_, packet) in ledger.delivered.iter().filter(|(_, packet)| !packet.flags.has(Flags::ACK)) {
        if !packet.flags.has(Flags::SYN) && !packet.flags.has(Flags::DATAGRAM) {
            arrived.entry((packet.flow, packet.epoch)).or_default().insert(packet.seq);
        }
    }
    let mut epochs: BTreeMap<u32, u16> = BTreeMap::new();
    for ended in &ledger.completed {
        let epoch = epochs.entry(ended.flow).or_default();
        let segments = ended.size.0.div_ceil(payload).max(1);
        assert_eq!(arrived[&(ended.flow, *epoch)].len() as u64, segments, "{ended:?}");
        assert!(ended.began < ended.delivered && ended.delivered <= ended.at, "{ended:?}");
        *epoch += 1;
    }
}

#[test]
fn a_closed_loop_of_web_slots_reuses_its_flow_slots_and_completes_each_transfer() {
    let params =
        web::Params { model: web::Model::Slots, gap: Span::from_millis(500), ..web::Params::default() };
    let valid = browsing(params, 20);
    let ledger = run(&valid, 1);
    check_completed(&ledger, 1000);
    let slots: BTreeSet<_> = ledger.completed.iter().map(|ended| ended.flow).collect();
    assert!((5..=20).contains(&slots.len()), "a slot each while it transfers: {}", slots.len());
    assert!(ledger.completed.iter().all(|ended| ended.group == 0));
    // A transfer takes half a second of rest, and a few round trips.
    let turns = ledger.completed.len() as f64 / 20.0;
    assert!((60.0..190.0).contains(&turns), "{turns} transfers of each slot");
}

#[test]
fn an_open_loop_of_web_pages_asks_on_time_and_never_for_less_than_the_least() {
    let (least, greatest) = (Bytes(2_000), Bytes(50_000));
    let params = web::Params {
        gap: Span::from_secs(2),
        objects: 3,
        size: Bytes(10_000),
        least,
        greatest,
        ..web::Params::default()
    };
    let ledger = run(&browsing(params, 30), 2);
    check_completed(&ledger, 1000);
    // 30 sessions, a page every 2 s (and two gaps of 10 ms), three objects each, for 99.5 s.
    let expected = 30.0 * 3.0 * 99.5 / 2.02;
    let asked = ledger.completed.len() as f64;
    assert!((asked / expected - 1.0).abs() < 0.08, "{asked} of {expected}");
    assert!(ledger.completed.iter().all(|ended| (least..=greatest).contains(&ended.size)));
    let mean = ledger.completed.iter().map(|ended| ended.size.0).sum::<u64>() as f64 / asked;
    // Pareto II of mean 10 kB and shape 1.2 is 2 kB at the 80th percentile's … clamped: 6.2 kB.
    assert!((4_500.0..8_000.0).contains(&mean), "{mean}");
    // As many slots as overlapping transfers.
    let slots = ledger.completed.iter().map(|ended| ended.flow).max().unwrap_or(0) + 1;
    assert!((10..100).contains(&slots), "{slots}");
}

#[test]
fn packets_of_a_past_transfer_mean_nothing_to_the_next() {
    // The timer begins far below the round trip, so that copies are still in flight when the transfer is done.
    let params =
        web::Params { model: web::Model::Slots, gap: Span::from_millis(1), ..web::Params::default() };
    let mut valid = browsing(params, 8);
    tcp(&mut valid, 0, |options| options.rto_initial = Span::from_millis(1));
    tcp(&mut valid, 0, |options| options.handshake = false);
    let ledger = run(&valid, 3);
    check_completed(&ledger, 1000);
    let mut ends: BTreeMap<u32, Vec<Time>> = BTreeMap::new();
    for ended in &ledger.completed {
        ends.entry(ended.flow).or_default().push(ended.at);
    }
    let late = ledger.delivered.iter().filter(|(at, packet)| {
        let end = ends.get(&packet.flow).and_then(|ends| ends.get(usize::from(packet.epoch)));
        end.is_some_and(|end| at > end)
    });
    assert!(late.count() > 50, "the test wants packets of past transfers");
}

fn source(params: cbr::Params, start: f64, stop: Option<f64>) -> Valid {
    let mut valid = minimal(&droptail(), 0);
    edit(&mut valid, |parts| {
        parts.groups =
            vec![sources(Config::Cbr(params), vec![(NodeId(0), NodeId(1))], 1, interval(start, start))]
    });
    edit(&mut valid, |parts| parts.groups[0].members[0].stop = stop.map(at));
    valid
}

#[test]
fn a_constant_rate_is_exact() {
    let rate = Rate::from_bits(3_333_333);
    let params = cbr::Params { rate, size: Bytes(700), ..cbr::Params::default() };
    let ledger = run(&source(params, 2.0, Some(7.0)), 1);
    let sent: Vec<_> = ledger.links[&0].arrivals.iter().map(|(at, _, _)| at.0).collect();
    for (k, left) in sent.iter().enumerate() {
        assert_eq!(*left, 2_000_000_000 + k as u64 * 700 * 8 * 1_000_000_000 / rate.0);
    }
    assert_eq!(sent.len() as u64, (5 * rate.0).div_ceil(700 * 8));
    assert!(ledger.acked.is_empty() && ledger.delivered.len() == sent.len());
}

#[test]
fn a_source_that_goes_on_and_off_sends_only_while_it_is_on() {
    let params = cbr::Params {
        rate: Rate::from_mbit(4),
        on: Span::from_millis(300),
        off: Span::from_millis(700),
        ..cbr::Params::default()
    };
    let ledger = run(&source(params, 1.0, None), 1);
    let sent: Vec<_> = ledger.links[&0].arrivals.iter().map(|(at, _, _)| at.0).collect();
    assert!(sent.iter().all(|at| at % 1_000_000_000 < 300_000_000));
    // Nine periods of 150 packets; a tenth begins as the run ends.
    assert_eq!(sent.len(), 9 * 150 + 1);
}

#[test]
fn a_transfer_that_is_told_to_stop_stops() {
    let mut valid = full(&droptail(), 3);
    edit(&mut valid, |parts| {
        for (flow, stop) in parts.groups[0].members.iter_mut().zip([None, Some(3.0), Some(0.0)]) {
            flow.stop = stop.map(at);
            flow.start = interval(0.1, 0.1);
        }
    });
    let ledger = run(&valid, 1);
    let last = |flow: u32| {
        let data = ledger.links[&0].arrivals.iter().filter(|(_, packet, _)| packet.flow == flow);
        data.map(|(at, _, _)| *at).max().unwrap_or(Time::ZERO)
    };
    assert!(last(0) > at(9.9));
    assert!(last(1) > at(2.9) && last(1) < at(4.0), "{}", last(1));
    assert_eq!(last(2), Time::ZERO, "it was asked to stop before it began");
    let ended: Vec<_> = ledger.completed.iter().map(|ended| (ended.flow, ended.size.0)).collect();
    assert_eq!(ended, [(1, ledger.acked_bytes(1))], "what it carried until then");
}

#[test]
fn a_parking_lot_favours_the_short_paths_and_keeps_every_link_busy() {
    // Three bottlenecks in a row, one flow across all of them and one across each.
    let queue = droptail();
    let mut links: Vec<_> = (0..3).map(|hop| bottleneck(hop, hop + 1, &queue)).collect();
    links.extend((0..3).map(|hop| link(hop + 1, hop, None, Span::from_millis(10))));
    let mut valid = scenario(4, links);
    edit(&mut valid, |parts| parts.schedule.duration = at(60.0));
    let flows = [(0, 3), (0, 1), (1, 2), (2, 3)].map(|(a, b)| flow(a, b, None));
    edit(&mut valid, |parts| parts.groups = vec![group("reno", flows.into())]);
    // Without noise, a flow clocked by its own departures always finds the place that the long one needs.
    tcp(&mut valid, 0, |options| options.jitter = Span::from_millis(1));
    let ledger = run(&valid, 1);
    let whole = Rate::from_mbit(10).carries(Span::from_secs(60)).0 as f64;
    for hop in 0..3 {
        let served: u64 =
            ledger.links[&hop].services.iter().map(|(_, packet, _)| u64::from(packet.size)).sum();
        assert!(served as f64 > 0.9 * whole, "hop {hop} served {served} of {whole}");
    }
    for short in 1..4 {
        let (long, short) = (ledger.acked_bytes(0), ledger.acked_bytes(short));
        assert!(long > whole as u64 / 50 && short > 2 * long, "{long}, {short}");
    }
}

#[test]
fn a_loss_model_loses_its_share_of_a_run() {
    let bursts = loss::Config::GilbertElliott(loss::gilbert_elliott::Params {
        to_bad: 0.01,
        to_good: 0.19,
        loss_good: 0.0,
        loss_bad: 0.4,
    });
    for (loss, share) in [
        (loss::Config::Uniform(loss::uniform::Params { p: 0.03 }), 0.03),
        (loss::Config::BitError(loss::bit_error::Params { p: 2e-6 }), 1.0 - libm::pow(1.0 - 2e-6, 8_000.0)),
        (bursts, 0.05 * 0.4),
        (loss::Config::Uniform(loss::uniform::Params { p: 1.0 }), 1.0),
    ] {
        let params = cbr::Params { rate: Rate::from_mbit(8), ..cbr::Params::default() };
        let mut valid = source(params, 0.0, None);
        edit(&mut valid, |parts| parts.schedule.duration = at(60.0));
        edit(&mut valid, |parts| parts.network.links[0].loss = loss.clone());
        let ledger = run(&valid, 1);
        let sent = ledger.links[&0].services.len() as f64;
        let lost = ledger.links[&0].fates.len() as f64 / sent;
        assert!((lost - share).abs() <= 0.004, "{loss:?}: {lost} instead of {share}");
    }
}

#[test]
fn the_roster_names_the_slots_of_connections_before_those_of_datagrams() {
    let mut valid = source(cbr::Params::default(), 0.0, None);
    edit(&mut valid, |parts| parts.groups.push(group("reno", vec![flow(0, 1, None); 2])));
    let roster = Roster::new(&valid);
    assert_eq!(roster.fixed().len(), 3);
    assert_eq!(roster.slot(FlowId(1)), Some(Slot { group: 1, index: 1 }));
    assert_eq!(roster.slot(FlowId(2)), Some(Slot { group: 0, index: 0 }));
    assert_eq!(roster.slot(FlowId(3)), None);
    let ledger = run(&valid, 1);
    let datagrams = ledger.delivered.iter().filter(|(_, packet)| packet.flags.has(Flags::DATAGRAM));
    assert!(datagrams.clone().count() > 0 && datagrams.clone().all(|(_, packet)| packet.flow == 2));
}

/// One member of a source of bursts alone on a bottleneck.
fn bursts(params: onoff::Params, stop: f64) -> Valid {
    let mut valid = minimal(&droptail(), 0);
    edit(&mut valid, |parts| parts.schedule.duration = at(30.0));
    edit(&mut valid, |parts| {
        parts.groups =
            vec![sources(Config::OnOff(params), vec![(NodeId(0), NodeId(1))], 1, interval(1.0, 1.0))]
    });
    edit(&mut valid, |parts| parts.groups[0].members[0].stop = Some(at(stop)));
    valid
}

#[test]
fn bursts_go_through_one_connection_that_ends_when_it_is_closed() {
    let law = Law::Constant;
    let (on, off) = (Span::from_millis(500), Span::from_millis(500));
    let params = onoff::Params { on, off, on_law: law, off_law: law, ..onoff::Params::default() };
    // Ten on-periods of half a second at 1 Mbit/s.
    let paced = run(&bursts(params.clone(), 11.0), 1);
    assert_eq!((paced.completed.len(), paced.completed[0].size), (1, Bytes(10 * 63 * 1000)));
    assert!(paced.completed[0].at == at(11.0) && paced.completed[0].delivered < at(10.7), "closed at rest");
    // Ten bursts, of which none fits into the window of the first round trip.
    let params = onoff::Params { model: onoff::Model::Bursts, ..params };
    let open = run(&bursts(params.clone(), 11.0), 1);
    assert_eq!(open.completed.len(), 10);
    assert!(open.completed.iter().all(|ended| ended.size == Bytes(100_000) && ended.began < ended.delivered));
    let began: Vec<Time> = open.completed.iter().map(|ended| ended.began).collect();
    assert!(began.iter().zip(1..).all(|(began, second)| *began == at(f64::from(second))), "{began:?}");
    // A turn takes its half second off, and some round trips.
    let params = onoff::Params { model: onoff::Model::Turns, ..params };
    let turns = run(&bursts(params, 11.0), 1);
    assert!((12..20).contains(&turns.completed.len()), "{:?}", turns.completed);
    assert!(turns.completed.iter().all(|ended| ended.size == Bytes(100_000)));
}

/// A browser that loads a page with two objects of a packet each over 100 ms, at an unbounded rate.
fn page_load(http: &str) -> (Ledger, Vec<Row>) {
    let text = format!(
        "[run]\nduration = '10s'\nmeasure = '0s..10s'\n[topology]\nrate = '100gbit'\nrtt = '100ms'\n[tcp]\nhandshake = true\n\
         [[browser]]\ncc = 'reno'\nprotocol = 'http/{http}'\npages = ['1kb 500b 500b']\nsessions = 1\ngap = '100s'\n\
         gap_law = 'constant'\nstart = '1s'\n"
    );
    let valid = scenario_parse(&text);
    let (meter, _) = run::run(&valid, 1, Meter::new(&valid, 1));
    (run(&valid, 1), meter.finish())
}

#[test]
fn a_page_takes_the_round_trips_of_its_version_of_http() {
    // Connection, container; and its objects, which wait for their own connection in HTTP/1.0 and for the second one
    // in HTTP/1.1.
    for (http, expected, objects) in [
        ("1.0", 350.0, [150.0, 150.0, 150.0]),
        ("1.1", 350.0, [50.0, 150.0, 150.0]),
        ("2", 250.0, [50.0, 50.0, 150.0]),
    ] {
        let (ledger, rows) = page_load(http);
        let group = rows.iter().find(|row| row.label("group") == "browser").unwrap();
        assert_eq!(group.value("pages_loaded"), 1.0, "{http}");
        let loading = group.value("page_load_time_mean_ms");
        assert!((loading - expected).abs() < 1.0, "{http}: {loading} ms");
        let mut took: Vec<f64> = ledger
            .completed
            .iter()
            .map(|ended| ended.delivered.since(ended.began).as_millis_f64().round())
            .collect();
        took.sort_by(f64::total_cmp);
        assert_eq!(took, objects, "{http}");
        assert_eq!(ledger.completed.iter().map(|ended| ended.size.0).sum::<u64>(), 2_000, "{http}");
    }
}

#[test]
fn data_written_before_a_connection_is_closed_still_arrives() {
    let params = onoff::Params { model: onoff::Model::Bursts, burst: Bytes(5_000_000), ..Default::default() };
    let mut valid = bursts(params, 1.1);
    tcp(&mut valid, 0, |options| options.handshake = true);
    let ledger = run(&valid, 1);
    let ended = ledger.completed[0];
    assert_eq!((ended.size, ended.began), (Bytes(5_000_000), at(1.0)));
    assert!(ended.delivered > at(5.0) && ended.delivered <= ended.at, "{ended:?}");
}

#[test]
fn flows_arrive_at_their_rate_with_their_sizes_and_stop_arriving() {
    let mut valid = full(&droptail(), 4);
    edit(&mut valid, |parts| parts.schedule.duration = at(100.0));
    let sizes = Size { size: Bytes(20_000), law: Law::LogNormal, ..Size::default() };
    let params = arrivals::Params { sizes, load: 0.5, ..arrivals::Params::default() };
    let pairs = (0..4).map(|host| (NodeId(2 + 2 * host), NodeId(3 + 2 * host))).collect();
    edit(&mut valid, |parts| {
        parts.groups = vec![sources(Config::Arrivals(params), pairs, 1, interval(0.0, 0.0))]
    });
    edit(&mut valid, |parts| parts.groups[0].members[0].stop = Some(at(90.0)));
    let ledger = run(&valid, 1);
    check_completed(&ledger, 1000);
    // Half of 10 Mbit/s in flows of 20 kB: 31.25 a second for 90 s.
    let flows = ledger.completed.len() as f64;
    assert!((flows / (31.25 * 90.0) - 1.0).abs() < 0.06, "{flows}");
    let mean = ledger.completed.iter().map(|ended| ended.size.0 as f64).sum::<f64>() / flows;
    assert!((mean / 20_000.0 - 1.0).abs() < 0.1, "{mean}");
    assert!(ledger.completed.iter().all(|ended| ended.began < at(90.0)));
}

#[test]
fn a_scenario_lists_flows_by_time_and_size() {
    let text = "[run]\nduration = '9s'\n[topology]\nrate = '10mbit'\n[[arrivals]]\ncc = 'reno'\nstart = '1s'\n\
                nodes = 2\nlist = ['2s 100kb', '500ms 7b', '3s']\n";
    let plan = scenario_parse(text);
    let ledger = run(&plan, 1);
    let ended: Vec<_> = ledger.completed.iter().map(|ended| (ended.began, ended.size.0)).collect();
    assert_eq!(ended, [(at(1.5), 7), (at(3.0), 100_000), (at(4.0), 12_000)]);
}

fn scenario_parse(text: &str) -> Valid {
    kneepoint::scenario::parse(text).expect("a scenario").cases.remove(0).valid
}

/// One fixed run. After an intended change of behaviour, run this test: it prints the new hash. Put that here
/// together with the reason in the commit, after looking at the bounds below: they say whether the run still makes
/// sense.
#[test]
fn a_fixed_run_gives_the_same_bytes_on_every_machine_and_in_every_profile() {
    const HASH: u64 = 0xdc14_aae6_d5b1_7ccd;
    let mut valid = full(&droptail(), 3);
    let browsing = browsing(web::Params { gap: Span::from_secs(1), ..web::Params::default() }, 5);
    edit(&mut valid, |parts| {
        parts.network.links[1].loss = loss::Config::Uniform(loss::uniform::Params { p: 0.001 });
        parts.groups.extend_from_slice(browsing.groups());
        parts.groups[1].pairs.truncate(3);
    });
    let ledger = run(&valid, 42);
    let book = &ledger.links[&0];
    let served: u64 = book.services.iter().map(|(_, packet, _)| u64::from(packet.size)).sum();
    let share = served as f64 / Rate::from_mbit(10).carries(Span::from_secs(10)).0 as f64;
    let waits: f64 = book.services.iter().map(|(_, _, waited)| waited.as_secs_f64()).sum();
    let wait = waits / book.services.len() as f64;
    let lost = (book.arrivals.len() - book.services.len()) as f64 / book.arrivals.len() as f64;
    assert!((0.85..1.0).contains(&share), "utilisation {share}");
    assert!((0.008..0.042).contains(&wait), "mean wait {wait}, of 42 ms at most");
    assert!((0.001..0.05).contains(&lost), "loss {lost}");
    assert!(ledger.completed.len() > 25, "{} transfers", ledger.completed.len());
    assert_eq!(ledger.hash, HASH, "the run changed: its hash is {:#018x} now", ledger.hash);
}
