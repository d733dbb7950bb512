// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The meter on traces made by hand, whose sums can be checked on paper, and on a run.

use kneepoint::cc;
use kneepoint::link::{LinkSpec, Network, NodeId};
use kneepoint::measure::{Meter, Series, ShareSummary, Summary};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Limit, Reason};
use kneepoint::run;
use kneepoint::spec::{Group, Member, Schedule, Valid};
use kneepoint::tcp::Options;
use kneepoint::trace::{Event, FlowId, LinkId, Observer, View};
use kneepoint::traffic;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};

const ACCESS: LinkId = LinkId(0);
const BOTTLENECK: LinkId = LinkId(1);

fn secs(secs: u64) -> Time {
    Span::from_secs(secs).after_start()
}

fn link(name: &str, from: u32, to: u32, measured: bool) -> LinkSpec {
    LinkSpec {
        name: name.into(),
        rate: Some(Rate::from_mbit(if measured { 1 } else { 100 })),
        delay: Span::from_millis(10),
        limit: if measured { Limit::Packets(10) } else { Limit::Unlimited },
        measured,
        ..LinkSpec::new(NodeId(from), NodeId(to))
    }
}

fn group(name: &str, (from, to): (u32, u32), source: &str, members: usize) -> Group {
    let source = traffic::Config::named(source).unwrap();
    let connects = source.nature().kind.connects();
    Group {
        name: name.into(),
        cc: connects.then(|| cc::Config::named("reno").unwrap()),
        tcp: connects.then(Options::default),
        source,
        pairs: vec![(NodeId(from), NodeId(to)); members],
        members: vec![Member::default(); members],
    }
}

/// Slots: 0 and 1 forward, 2 reverse, 3 a constant-rate source; web objects from 4 on. Measured from 10 s to 20 s.
fn valid(web: &[&str]) -> Valid {
    let flows = [group("forward", (0, 2), "bulk", 2), group("reverse", (2, 0), "bulk", 1)];
    let web = web.iter().map(|name| group(name, (0, 2), "web", 1));
    Valid {
        name: "line".into(),
        schedule: Schedule {
            duration: secs(30),
            measure: Interval { from: secs(10), to: secs(20) },
            sample: Some(Span::from_secs(1)),
        },
        network: Network {
            nodes: ["a", "b", "c"].map(String::from).to_vec(),
            links: vec![
                link("a-b", 0, 1, false),
                link("b-c", 1, 2, true),
                link("c-b", 2, 1, false),
                link("b-a", 1, 0, false),
            ],
        },
        groups: flows.into_iter().chain(web).chain([group("constant", (0, 2), "cbr", 1)]).collect(),
    }
}

fn packet(flow: u32, flags: Flags) -> Packet {
    Packet::data(flow, 0, 1000, flags, Time::ZERO)
}

fn arrival(meter: &mut Meter, at: u64, link: LinkId, packet: &Packet, fate: Fate) {
    meter.on(secs(at), &Event::Arrival { link, packet, fate });
}

fn queue(meter: &mut Meter, at: u64, packets: u32) {
    let backlog = Backlog { packets, bytes: Bytes(1000 * u64::from(packets)) };
    meter.on(secs(at), &Event::Queue { link: BOTTLENECK, backlog });
}

#[test]
fn the_mean_queue_is_weighted_by_time_and_clipped_to_the_window() {
    let mut meter = Meter::new(&valid(&[]));
    queue(&mut meter, 2, 9);
    queue(&mut meter, 8, 4);
    queue(&mut meter, 15, 6);
    queue(&mut meter, 25, 1);
    let summary = meter.finish();
    let link = summary.bottleneck().unwrap();
    // 4 for five seconds and 6 for five seconds.
    assert_eq!((link.queue_mean_packets, link.queue_mean_bytes), (5.0, 5000.0));
    assert_eq!((link.buffer_packets, link.queue_mean_normalized), (Some(10.0), 0.5));
    assert_eq!(link.queue_distribution, [0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5]);
}

#[test]
fn fates_count_by_reason_inside_the_half_open_window_on_measured_links_only() {
    let mut meter = Meter::new(&valid(&[]));
    let data = packet(0, Flags::default());
    let overflow = Fate::Dropped(Reason::Overflow);
    for at in [9, 10, 19, 20] {
        arrival(&mut meter, at, BOTTLENECK, &data, Fate::Passed);
        arrival(&mut meter, at, BOTTLENECK, &data, overflow);
        arrival(&mut meter, at, BOTTLENECK, &data, Fate::Marked);
        arrival(&mut meter, at, ACCESS, &data, overflow);
        for reason in [Reason::Late, Reason::Channel] {
            let fate = Fate::Dropped(reason);
            meter.on(secs(at), &Event::Fate { link: BOTTLENECK, packet: &data, fate });
        }
    }
    let summary = meter.finish();
    assert_eq!(summary.links.len(), 1);
    let link = &summary.links[0];
    assert_eq!((link.arrivals, link.marks), (6, 2));
    assert_eq!(Reason::ALL.map(|reason| link.drops.of(reason)), [2, 0, 2, 2, 0]);
    // Two at the tail and two at the head; the channel's are not the queue's.
    assert_eq!((link.drop_ratio(), link.mark_ratio()), (4.0 / 6.0, 2.0 / 6.0));
}

#[test]
fn utilization_is_served_bits_over_what_the_rate_carries() {
    let mut meter = Meter::new(&valid(&[]));
    let data = packet(0, Flags::default());
    for millis in 10_000..10_625 {
        let at = Span::from_millis(millis).after_start();
        meter.on(at, &Event::Service { link: BOTTLENECK, packet: &data, waited: Span::from_millis(40) });
    }
    let summary = meter.finish();
    let link = &summary.links[0];
    // 625 packets of 8000 bits are half of 10 s at 1 Mbit/s.
    assert_eq!((link.utilization, link.served_packets, link.served_bytes), (0.5, 625, 625_000));
    assert_eq!(
        (link.queueing_delay.count, link.queueing_delay.mean, link.queueing_delay.max),
        (625, 0.04, 0.04)
    );
}

#[test]
fn goodput_is_per_flow_and_only_forward_flows_make_headlines() {
    let mut meter = Meter::new(&valid(&[]));
    arrival(&mut meter, 12, BOTTLENECK, &packet(1, Flags::default()), Fate::Passed);
    // The reverse group's acknowledgements cross the bottleneck, its data does not.
    arrival(&mut meter, 12, BOTTLENECK, &packet(2, Flags::ACK), Fate::Passed);
    for (flow, bytes) in [(0, 1000), (1, 2000), (2, 5000)] {
        let rtt = Some(Span::from_millis(30));
        meter.on(
            secs(11),
            &Event::Acked { flow: FlowId(flow), acked: Bytes(bytes), rtt, one_way: None, window: 1.0 },
        );
        meter.on(
            secs(20),
            &Event::Acked { flow: FlowId(flow), acked: Bytes(bytes), rtt, one_way: None, window: 1.0 },
        );
    }
    for timeout in [false, true, false] {
        meter.on(secs(15), &Event::Repair { flow: FlowId(0), timeout });
    }
    let summary = meter.finish();
    let forward = &summary.groups[0];
    assert_eq!(forward.goodput_bps, [800.0, 1600.0]);
    assert_eq!((forward.rtt.count, forward.rtt.mean), (2, 0.03));
    assert_eq!((forward.repairs, forward.timeouts), (2, 1));
    assert_eq!(
        summary.groups.iter().map(|group| group.crosses_bottleneck).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(summary.forward_goodput_bps(), [800.0, 1600.0]);
}

fn complete(meter: &mut Meter, flow: u32, delivered: u64, group: u32) {
    meter.on(secs(delivered - 2), &Event::Started { flow: FlowId(flow), group });
    let (began, size) = (secs(delivered - 2), Bytes(7000));
    let event = Event::Completed { flow: FlowId(flow), group, began, delivered: secs(delivered), size };
    meter.on(secs(delivered + 1), &event);
}

#[test]
fn a_completion_counts_if_its_last_byte_arrived_in_the_window() {
    let mut meter = Meter::new(&valid(&["pages"]));
    for delivered in [9, 10, 19, 20] {
        complete(&mut meter, 4, delivered, 2);
        complete(&mut meter, 0, delivered, 0);
    }
    let summary = meter.finish();
    assert_eq!((summary.web[0].completed, summary.web[0].completed_bytes), (2, 14_000));
    assert_eq!(summary.web[0].completions.mean, 2.0);
    assert_eq!(summary.groups[0].completed, 2);
}

#[test]
fn of_several_web_populations_each_gets_its_own() {
    let mut meter = Meter::new(&valid(&["pages", "slots"]));
    let acked = |to: &mut Meter, flow| {
        to.on(
            secs(15),
            &Event::Acked { flow: FlowId(flow), acked: Bytes(1250), rtt: None, one_way: None, window: 1.0 },
        );
    };
    complete(&mut meter, 5, 12, 3);
    complete(&mut meter, 4, 12, 2);
    acked(&mut meter, 5);
    let summary = meter.finish();
    assert_eq!(summary.web.iter().map(|web| web.goodput_bps).collect::<Vec<_>>(), [0.0, 1000.0]);
    assert_eq!(summary.web.iter().map(|web| web.completed).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn datagrams_count_where_they_arrive() {
    let mut meter = Meter::new(&valid(&[]));
    let mut sent = packet(3, Flags::DATAGRAM);
    sent.sent = secs(9);
    for at in [10, 11, 20] {
        meter.on(secs(at), &Event::Delivered { packet: &sent });
    }
    meter.on(secs(12), &Event::Delivered { packet: &packet(0, Flags::default()) });
    let summary = meter.finish();
    assert_eq!((summary.cbr[0].delivered_packets, summary.cbr[0].throughput_bps), (2, 1600.0));
    assert_eq!(summary.cbr[0].delay.mean, 1.5);
}

struct Still;

impl View for Still {
    fn backlog(&self, _: LinkId) -> Backlog {
        Backlog { packets: 3, bytes: Bytes(3000) }
    }
    fn window(&self, flow: FlowId) -> f64 {
        10.0 + f64::from(flow.0)
    }
    fn controller(&self, _: FlowId) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn discipline(&self, _: LinkId) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

#[test]
fn a_series_has_a_row_per_sample_and_units_in_its_columns() {
    let mut series = Series::new(&valid(&[]), 2);
    series.on(secs(1), &Event::Sample { view: &Still });
    series.on(
        secs(2),
        &Event::Acked { flow: FlowId(1), acked: Bytes(1000), rtt: None, one_way: None, window: 1.0 },
    );
    series.on(secs(3), &Event::Sample { view: &Still });
    let table = series.table();
    assert_eq!(
        table.columns,
        [
            "time_s",
            "queue_packets[b-c]",
            "throughput_bps[forward]",
            "throughput_bps[reverse]",
            "rtt_ms[forward]",
            "rtt_ms[reverse]",
            "window_packets[forward/0]",
            "window_packets[forward/1]",
            "window_packets[reverse/0]",
        ]
    );
    // A thousand bytes in two seconds.
    assert_eq!(table.rows[1][..4], [3.0, 3.0, 4000.0, 0.0]);
    assert_eq!(table.rows[1][6..], [10.0, 11.0, 12.0]);
}

/// Controllers that remember the number of their flow, and what no other does.
struct Remembering;

impl View for Remembering {
    fn controller(&self, flow: FlowId) -> Vec<(&'static str, f64)> {
        vec![("srtt_ms", 100.0 + f64::from(flow.0)), ("odd", 7.0)]
    }
    fn backlog(&self, link: LinkId) -> Backlog {
        Still.backlog(link)
    }
    fn window(&self, flow: FlowId) -> f64 {
        Still.window(flow)
    }
    fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        Still.discipline(link)
    }
}

#[test]
fn a_series_has_the_mean_of_what_flows_remember_while_they_last() {
    let mut watched = valid(&[]);
    watched.groups[0].cc = cc::Config::named("pert");
    let mut series = Series::new(&watched, 0);
    let sample = |one: &mut Series, at| one.on(secs(at), &Event::Sample { view: &Remembering });
    sample(&mut series, 1);
    for flow in [FlowId(0), FlowId(1)] {
        series.on(secs(1), &Event::Started { flow, group: 0 });
        let rtt = Some(Span::from_millis(60 + 20 * u64::from(flow.0)));
        series.on(secs(2), &Event::Acked { flow, acked: Bytes(1000), rtt, one_way: None, window: 1.0 });
    }
    sample(&mut series, 3);
    let (began, delivered, size) = (secs(1), secs(4), Bytes(1000));
    series.on(secs(4), &Event::Completed { flow: FlowId(0), group: 0, began, delivered, size });
    sample(&mut series, 5);
    let table = series.table();
    let of = |quantity: &str| -> Vec<f64> { table.values(table.columns_of(quantity)[0]).collect() };
    let (rtt, smoothed) = (of("rtt_ms"), of("srtt_ms"));
    assert!(rtt[0].is_nan() && smoothed[0].is_nan());
    assert_eq!((&rtt[1..], &smoothed[1..]), (&[70.0, 80.0][..], &[100.5, 101.0][..]));
    // PERT remembers something else in this place.
    assert!(of("min_rtt_ms").iter().all(|value| value.is_nan()));
    assert!(table.columns_of("odd").is_empty());
}

fn simulated(seed: u64) -> (Summary, usize) {
    // Without the datagrams, which alone would fill the link.
    let mut valid = valid(&["pages"]);
    valid.groups.pop();
    let ((meter, series), _) = run::run(&valid, seed, (Meter::new(&valid), Series::new(&valid, 2)));
    (meter.finish(), series.table().rows.len())
}

#[test]
fn a_run_fills_its_bottleneck_and_conserves_its_packets() {
    let (summary, samples) = simulated(1);
    let link = &summary.links[0];
    assert!(link.utilization > 0.9 && link.utilization < 1.001, "{}", link.utilization);
    assert!(link.queue_mean_packets > 1.0 && link.queue_mean_packets <= 10.0, "{}", link.queue_mean_packets);
    assert!((link.queue_distribution.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // What came and was neither served nor dropped waits, or waited before the window began.
    let gone = link.served_packets + link.drops.by_queue();
    assert!(link.arrivals.abs_diff(gone) <= 10, "{} came and {gone} went", link.arrivals);
    let goodput: f64 = summary.forward_goodput_bps().iter().sum();
    assert!(goodput > 0.0 && goodput < 1e6, "{goodput}");
    assert!(summary.groups[0].crosses_bottleneck && !summary.groups[1].crosses_bottleneck);
    assert!(samples >= 29, "{samples}");
}

#[test]
fn what_the_groups_got_is_what_the_bottleneck_gave() {
    let (summary, _) = simulated(1);
    let (link, shares) = (&summary.links[0], &summary.shares);
    assert_eq!(
        shares.iter().map(|share| share.name.as_str()).collect::<Vec<_>>(),
        ["forward", "reverse", "pages"]
    );
    let total = |of: fn(&ShareSummary) -> u64| shares.iter().map(of).sum::<u64>();
    assert_eq!(total(|share| share.arrivals), link.arrivals);
    assert_eq!(total(|share| share.drops), link.drops.by_queue());
    assert_eq!(total(|share| share.served_bytes), link.served_bytes);
    assert!((shares.iter().map(|share| share.share).sum::<f64>() - 1.0).abs() < 1e-12);
    for share in shares {
        assert!(share.share > 0.0 && share.throughput_variance_to_mean_bps > 0.0, "{share:?}");
        let position = &share.position;
        assert!(position.mean > 0.0 && position.mean < 1.0 && position.median < 1.0, "{position:?}");
        assert!((position.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && position.entropy <= 1.0);
    }
}

#[test]
fn a_group_alone_is_told_apart_only_if_somebody_asks() {
    let valid = Valid { groups: vec![group("forward", (0, 2), "bulk", 2)], ..valid(&[]) };
    assert!(run::run(&valid, 1, Meter::new(&valid)).0.finish().shares.is_empty());
    let summary = run::run(&valid, 1, Meter::with_shares(&valid)).0.finish();
    assert_eq!(summary.shares.iter().map(|share| share.share).collect::<Vec<_>>(), [1.0]);
    assert_eq!(summary.shares[0].drop_ratio(), summary.links[0].drop_ratio());
}

#[test]
fn a_noisy_clock_is_heard_by_its_sender_alone() {
    let run = |noise: u64| {
        let mut valid = valid(&[]);
        valid.groups.pop();
        // Without losses or timeouts Reno makes nothing of round trips.
        valid.network.links[BOTTLENECK.0 as usize].limit = Limit::Packets(10_000);
        valid.groups[0].tcp = Some(Options {
            rtt_noise: Span::from_millis(noise),
            rto_min: Span::from_secs(60),
            rto_initial: Span::from_secs(60),
            ..Options::default()
        });
        run::run(&valid, 1, Meter::new(&valid)).0.finish()
    };
    let (exact, noisy) = (run(0), run(40));
    let heard = |summary: &Summary, group: usize| summary.groups[group].rtt.mean;
    assert_eq!(exact.links, noisy.links);
    assert_eq!(heard(&exact, 1), heard(&noisy, 1));
    let added = heard(&noisy, 0) - heard(&exact, 0);
    assert!((added - 0.04).abs() < 0.005, "{added}");
}

#[test]
fn the_same_seed_measures_the_same() {
    let json = |seed| serde_json::to_string(&simulated(seed).0).unwrap();
    assert_eq!(json(7), json(7));
    assert_ne!(json(7), json(8));
}
