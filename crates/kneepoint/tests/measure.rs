// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The meter on traces made by hand, whose sums can be checked on paper, and on a run.

use kneepoint::cc;
use kneepoint::link::{LinkSpec, Network, NodeId};
use kneepoint::measure::{Meter, Objects, Series, Subject};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Limit, Reason};
use kneepoint::run;
use kneepoint::spec::{Builder, Group, Member, Schedule, Valid};
use kneepoint::table::{Cell, Row, value};
use kneepoint::tcp::Options;
use kneepoint::trace::{Event, FlowId, LinkId, Observer, View};
use kneepoint::traffic;
use kneepoint::units::{Bytes, Interval, Rate, Span, Time};

const ACCESS: LinkId = LinkId(0);
const BOTTLENECK: LinkId = LinkId(1);
const OF_BOTTLENECK: &[(&str, &str)] = &[("link", "b-c")];

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
    let parts = Builder {
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
    };
    parts.build().expect("a valid spec")
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
    let rows = meter.finish();
    let link = |metric| value(&rows, metric, OF_BOTTLENECK);
    // 4 for five seconds and 6 for five seconds.
    assert_eq!((link("queue_mean_packets"), link("queue_mean_bytes")), (5.0, 5000.0));
    assert_eq!((link("buffer_packets"), link("queue_mean_normalized")), (10.0, 0.5));
    assert_eq!(value(&rows, "queue_mean_packets", &[]), 5.0);
    let lengths = rows.iter().filter(|row| Subject::Length.has(row));
    let lengths: Vec<_> = lengths.map(|row| (row.label("bin"), row.value("queue_length_share"))).collect();
    assert_eq!(lengths, [("0", 0.0), ("1", 0.0), ("2", 0.0), ("3", 0.0), ("4", 0.5), ("5", 0.0), ("6", 0.5)]);
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
    let rows = meter.finish();
    assert_eq!(rows.iter().filter(|row| Subject::Link.has(row)).count(), 1);
    let link = |metric: &str| value(&rows, metric, OF_BOTTLENECK);
    assert_eq!((link("arrivals"), link("marks")), (6.0, 2.0));
    let drops = Reason::ALL.map(|reason| link(&format!("drops_{}", reason.name())));
    assert_eq!(drops, [2.0, 0.0, 2.0, 2.0, 0.0]);
    // Two at the tail and two at the head; the channel's are not the queue's.
    assert_eq!((link("drops"), link("drop_ratio"), link("mark_ratio")), (4.0, 4.0 / 6.0, 2.0 / 6.0));
}

#[test]
fn utilization_is_served_bits_over_what_the_rate_carries() {
    let mut meter = Meter::new(&valid(&[]));
    let data = packet(0, Flags::default());
    for millis in 10_000..10_625 {
        let at = Span::from_millis(millis).after_start();
        meter.on(at, &Event::Service { link: BOTTLENECK, packet: &data, waited: Span::from_millis(40) });
    }
    let rows = meter.finish();
    let link = |metric| value(&rows, metric, OF_BOTTLENECK);
    // 625 packets of 8000 bits are half of 10 s at 1 Mbit/s.
    assert_eq!((link("utilization"), link("served_packets"), link("served_bytes")), (0.5, 625.0, 625_000.0));
    assert_eq!((link("queueing_delay_mean_ms"), link("queueing_delay_max_ms")), (40.0, 40.0));
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
    let rows = meter.finish();
    let forward = |metric| value(&rows, metric, &[("group", "forward")]);
    let flow = |group, flow| value(&rows, "goodput_bps", &[("group", group), ("flow", flow)]);
    assert_eq!((flow("forward", "0"), flow("forward", "1"), flow("reverse", "0")), (800.0, 1600.0, 4000.0));
    assert_eq!((forward("goodput_bps"), forward("flows"), forward("rtt_mean_ms")), (2400.0, 2.0, 30.0));
    assert_eq!((forward("repairs"), forward("timeouts")), (2.0, 1.0));
    let crosses = |group| value(&rows, "crosses_bottleneck", &[("group", group)]);
    assert_eq!((crosses("forward"), crosses("reverse")), (1.0, 0.0));
    let headline = |metric| value(&rows, metric, &[]);
    assert_eq!((headline("goodput_bps"), headline("jain_index")), (1200.0, 0.9));
    assert_eq!(headline("window_s"), 10.0);
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
    let rows = meter.finish();
    let pages = |metric| value(&rows, metric, &[("group", "pages")]);
    assert_eq!((pages("completions"), pages("completed_bytes")), (2.0, 14_000.0));
    assert_eq!(pages("completion_time_mean_ms"), 2000.0);
    assert_eq!(value(&rows, "completions", &[("group", "forward")]), 2.0);
    let class = [("group", "pages"), ("class", "1kB")];
    assert_eq!(value(&rows, "completions", &class), 2.0);
    assert_eq!(value(&rows, "completion_time_p95_ms", &class), 2000.0);
}

#[test]
fn objects_are_listed_one_by_one_if_somebody_asks() {
    let valid = valid(&["pages"]);
    let mut objects = Objects::new(&valid);
    for (delivered, flow, group) in [(9, 4, 2), (12, 4, 2), (15, 0, 0), (20, 4, 2)] {
        let (began, size) = (secs(delivered - 2), Bytes(7000));
        objects.on(began, &Event::Started { flow: FlowId(flow), group });
        let event = Event::Completed { flow: FlowId(flow), group, began, delivered: secs(delivered), size };
        objects.on(secs(delivered + 1), &event);
    }
    let records = objects.records();
    assert_eq!(records.columns, ["group", "began_s", "size_bytes", "completion_time_s"]);
    let line =
        |group: &str, began: f64| vec![Cell::Text(group.into()), began.into(), 7000.0.into(), 2.0.into()];
    assert_eq!(records.rows, [line("pages", 10.0), line("forward", 13.0)]);
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
    let rows = meter.finish();
    let of = |metric| ["pages", "slots"].map(|group| value(&rows, metric, &[("group", group)]));
    assert_eq!((of("goodput_bps"), of("completions")), ([0.0, 1000.0], [1.0, 1.0]));
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
    let rows = meter.finish();
    let constant = |metric| value(&rows, metric, &[("group", "constant")]);
    assert_eq!((constant("delivered_packets"), constant("throughput_bps")), (2.0, 1600.0));
    assert_eq!(constant("delay_mean_ms"), 1500.0);
    assert!(constant("timeouts").is_nan() && constant("goodput_bps").is_nan());
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
    let mut watched = valid(&[]).into_builder();
    watched.groups[0].cc = cc::Config::named("pert");
    let watched = watched.build().unwrap();
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

fn simulated(seed: u64) -> (Vec<Row>, usize) {
    // Without the datagrams, which alone would fill the link.
    let mut parts = valid(&["pages"]).into_builder();
    parts.groups.pop();
    let valid = parts.build().unwrap();
    let ((meter, series), _) = run::run(&valid, seed, (Meter::new(&valid), Series::new(&valid, 2)));
    (meter.finish(), series.table().rows.len())
}

#[test]
fn a_run_fills_its_bottleneck_and_conserves_its_packets() {
    let (rows, samples) = simulated(1);
    let link = |metric| value(&rows, metric, OF_BOTTLENECK);
    assert!((0.9..1.001).contains(&link("utilization")), "{}", link("utilization"));
    assert!((1.0..=10.0).contains(&link("queue_mean_packets")), "{}", link("queue_mean_packets"));
    assert!((sum(&rows, Subject::Length, "queue_length_share") - 1.0).abs() < 1e-9);
    // The difference is the backlog at the edges of the window.
    let (arrived, gone) = (link("arrivals"), link("served_packets") + link("drops"));
    assert!((arrived - gone).abs() <= 10.0, "{arrived} arrived and {gone} left");
    let goodput = value(&rows, "goodput_bps", &[("group", "forward")]);
    assert!(goodput > 0.0 && goodput < 1e6, "{goodput}");
    assert!(samples >= 29, "{samples}");
}

fn sum(rows: &[Row], subject: Subject, metric: &str) -> f64 {
    rows.iter().filter(|row| subject.has(row)).map(|row| row.value(metric)).sum()
}

#[test]
fn the_shares_of_the_groups_add_up_to_the_bottleneck() {
    let (rows, _) = simulated(1);
    let groups: Vec<&Row> = rows.iter().filter(|row| Subject::Group.has(row)).collect();
    assert_eq!(
        groups.iter().map(|row| row.label("group")).collect::<Vec<_>>(),
        ["forward", "reverse", "pages"]
    );
    for metric in ["arrivals", "drops", "served_bytes"] {
        assert_eq!(sum(&rows, Subject::Group, metric), value(&rows, metric, OF_BOTTLENECK), "{metric}");
    }
    assert!((sum(&rows, Subject::Group, "share") - 1.0).abs() < 1e-12);
    for row in groups {
        assert!(row.value("share") > 0.0 && row.value("throughput_variance_to_mean_bps") > 0.0, "{row:?}");
        let (mean, median) = (row.value("queue_position_mean"), row.value("queue_position_median"));
        assert!(
            mean > 0.0 && mean < 1.0 && median < 1.0 && row.value("queue_position_entropy") <= 1.0,
            "{row:?}"
        );
        let bins =
            rows.iter().filter(|bin| Subject::Position.has(bin) && bin.label("group") == row.label("group"));
        let total: f64 = bins.map(|bin| bin.value("queue_position_share")).sum();
        assert!((total - 1.0).abs() < 1e-12, "{row:?}");
    }
}

#[test]
fn the_share_of_a_lone_group_is_measured_only_if_somebody_asks() {
    let lone = vec![group("forward", (0, 2), "bulk", 2)];
    let valid = Builder { groups: lone, ..valid(&[]).into_builder() }.build().unwrap();
    let forward = [("group", "forward")];
    assert!(value(&run::run(&valid, 1, Meter::new(&valid)).0.finish(), "share", &forward).is_nan());
    let rows = run::run(&valid, 1, Meter::with_shares(&valid)).0.finish();
    assert_eq!(value(&rows, "share", &forward), 1.0);
    assert_eq!(value(&rows, "drop_ratio", &forward), value(&rows, "drop_ratio", &[]));
}

#[test]
fn every_registered_metric_is_in_the_rows_of_a_run_and_no_other() {
    let (rows, _) = simulated(1);
    for subject in Subject::ALL {
        let row = rows.iter().find(|row| subject.has(row)).unwrap_or_else(|| panic!("no row of a {subject}"));
        let mut keys: Vec<&str> = subject.metrics().iter().map(|metric| metric.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(row.values.keys().map(String::as_str).collect::<Vec<_>>(), keys, "{subject}");
    }
}

#[test]
fn rows_read_back_as_they_were() {
    let (rows, _) = simulated(1);
    let text = serde_json::to_string(&rows).unwrap();
    assert!(text.contains(":null"), "a group without datagrams has no delay of them");
    assert_eq!(serde_json::from_str::<Vec<Row>>(&text).unwrap(), rows);
}

#[test]
fn a_noisy_clock_is_heard_by_its_sender_alone() {
    let run = |noise: u64| {
        let mut parts = valid(&[]).into_builder();
        parts.groups.pop();
        // Without losses or timeouts Reno makes nothing of round trips.
        parts.network.links[BOTTLENECK.0 as usize].limit = Limit::Packets(10_000);
        parts.groups[0].tcp = Some(Options {
            rtt_noise: Span::from_millis(noise),
            rto_min: Span::from_secs(60),
            rto_initial: Span::from_secs(60),
            ..Options::default()
        });
        let valid = parts.build().unwrap();
        run::run(&valid, 1, Meter::new(&valid)).0.finish()
    };
    let (exact, noisy) = (run(0), run(40));
    let heard = |rows: &[Row], group| value(rows, "rtt_mean_ms", &[("group", group)]);
    let links = |rows: &[Row]| rows.iter().filter(|row| Subject::Link.has(row)).cloned().collect::<Vec<_>>();
    assert_eq!(links(&exact), links(&noisy));
    assert_eq!(heard(&exact, "reverse"), heard(&noisy, "reverse"));
    let added = heard(&noisy, "forward") - heard(&exact, "forward");
    assert!((added - 40.0).abs() < 5.0, "{added}");
}

#[test]
fn the_same_seed_measures_the_same() {
    let json = |seed| serde_json::to_string(&simulated(seed).0).unwrap();
    assert_eq!(json(7), json(7));
    assert_ne!(json(7), json(8));
}
