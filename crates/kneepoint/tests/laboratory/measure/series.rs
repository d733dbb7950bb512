// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sampled series.

use kneepoint::cc;
use kneepoint::measure::{COLUMNS, Followed, Series};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Reason};
use kneepoint::table::Table;
use kneepoint::trace::{Event, FlowId, LinkId, Observer, View};
use kneepoint::units::{Bytes, Span, Time};
use kneepoint::{run, scenario};

use super::{ACCESS, BOTTLENECK, secs, valid};

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
fn every_flow_can_have_its_window_its_round_trip_and_its_rate() {
    let mut series = Series::new(&valid(&[]), 1, Followed::Every);
    series.on(secs(0), &Event::Started { flow: FlowId(1), group: 0 });
    series.on(secs(1), &Event::Sample { view: &Still });
    let packet = &Packet::data(1, 0, 1040, Flags::default(), Time::ZERO);
    series.on(secs(2), &Event::Delivered { packet, payload: Bytes(1000) });
    let rtt = Some(Span::from_millis(70));
    series
        .on(secs(2), &Event::Acked { flow: FlowId(1), acked: Bytes(1000), rtt, window: 11.0, one_way: None });
    series.on(secs(3), &Event::Sample { view: &Still });
    let table = series.table();
    let last = |quantity: &str| -> Vec<(String, f64)> {
        let columns = table.columns_of(quantity).into_iter();
        columns.map(|column| (table.subject(column).to_string(), table.rows[1][column])).collect()
    };
    let named = |values: [f64; 3]| {
        ["forward/0", "forward/1", "reverse/0"].into_iter().map(String::from).zip(values).collect::<Vec<_>>()
    };
    assert_eq!(last("window_packets"), named([10.0, 11.0, 12.0]));
    assert_eq!(last("flow_throughput_bps"), named([0.0, 4000.0, 0.0]));
    let rtts = last("flow_rtt_ms");
    assert!(rtts[1].1 == 70.0 && rtts[0].1.is_nan() && rtts[2].1.is_nan(), "{rtts:?}");
}

#[test]
fn a_series_has_a_row_per_sample_and_units_in_its_columns() {
    let mut series = Series::new(&valid(&[]), 1, 2);
    series.on(secs(1), &Event::Sample { view: &Still });
    let packet = &Packet::data(1, 0, 1040, Flags::default(), Time::ZERO);
    series.on(secs(2), &Event::Delivered { packet, payload: Bytes(1000) });
    series.on(secs(2), &Event::Delivered { packet, payload: Bytes(0) });
    series.on(secs(2), &Event::Repair { flow: FlowId(2), timeout: true });
    series.on(secs(2), &Event::Repair { flow: FlowId(2), timeout: false });
    series.on(secs(3), &Event::Sample { view: &Still });
    let table = series.table();
    assert_eq!(
        table.columns,
        [
            "time_s",
            "queue_packets[b-c]",
            "link_throughput_bps[b-c]",
            "drops[b-c]",
            "marks[b-c]",
            "throughput_bps[forward]",
            "throughput_bps[reverse]",
            "active_flows[forward]",
            "active_flows[reverse]",
            "retransmissions[forward]",
            "retransmissions[reverse]",
            "timeouts[forward]",
            "timeouts[reverse]",
            "rtt_ms[forward]",
            "rtt_ms[reverse]",
            "window_packets[forward/0]",
            "window_packets[forward/1]",
            "window_packets[reverse/0]",
        ]
    );
    // A thousand bytes in two seconds.
    assert_eq!(table.rows[1][..13], [3.0, 3.0, 0.0, 0.0, 0.0, 4000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(table.rows[1][15..], [10.0, 11.0, 12.0]);
    for (column, name) in table.columns.iter().enumerate() {
        assert!(COLUMNS.iter().any(|one| one.name == table.quantity(column)), "{name}");
    }
    // Flows one by one are of `Followed::Every`.
    let of_what_changes = ["capacity_bps", "delay_ms", "flow_rtt_ms", "flow_throughput_bps"];
    for column in COLUMNS {
        assert_eq!(
            table.columns_of(column.name).is_empty(),
            of_what_changes.contains(&column.name),
            "{column:?}"
        );
    }
}

/// A dumbbell of 20 Mbit/s that is sampled every 10 ms.
fn dumbbell(more: &str) -> Table {
    let text = format!(
        "[run]\nduration = '20s'\nsample = '10ms'\n[topology]\nkind = 'dumbbell'\nrate = '20mbit'\nrtt = '60ms'\n{more}"
    );
    let valid = scenario::parse(&text).unwrap().cases.remove(0).valid;
    run::run(&valid, 1, Series::new(&valid, 1, 1)).0.table()
}

#[test]
fn throughput_is_never_above_the_link_though_repairs_release_segments_by_the_hundred() {
    // Acknowledged in order, 612 kB come in one interval: 490 Mbit/s.
    let table = dumbbell("buffer = '150pkt'\n[[flows]]\ncc = 'cubic'\nsize = '20mb'\n");
    let of = |quantity: &str| -> Vec<f64> { table.values(table.columns_of(quantity)[0]).collect() };
    assert!(of("drops").iter().sum::<f64>() > 100.0, "a slow start overshoots");
    let throughput = of("throughput_bps");
    // A packet may end in the interval in which it did not begin.
    let most = 20e6 + 8.0 * 1040.0 / 0.01;
    let greatest = throughput.iter().copied().fold(0.0, f64::max);
    assert!((18e6..=most).contains(&greatest), "{greatest}");
    let carried = throughput.iter().filter(|rate| rate.is_finite()).sum::<f64>() * 0.01;
    assert!((carried - 8.0 * 20e6).abs() < 1.0, "every byte once: {carried}");
    let active = of("active_flows");
    assert_eq!((active[1], active.last()), (1.0, Some(&0.0)));
}

#[test]
fn a_capacity_and_a_delay_that_change_have_columns() {
    let table = dumbbell(
        "delay_steps = ['8s: 50ms']\n[capacity]\nkind = 'steps'\nrates = ['0s: 20mbit', '5s: 5mbit']\n\
         [[flows]]\ncc = 'cubic'\n",
    );
    let at = |quantity: &str, instant: usize| {
        let place = table.columns_of(quantity)[0];
        table.rows.iter().find(|row| row[0] >= instant as f64).map(|row| row[place]).unwrap()
    };
    // The interval that ends at 5 s has all of the old rate.
    let capacity = [1, 5, 6].map(|second| at("capacity_bps", second).round());
    assert_eq!(capacity, [20e6, 20e6, 5e6]);
    let delay = [7, 8, 9].map(|second| at("delay_ms", second));
    assert_eq!((delay[1], delay[2]), (50.0, 50.0));
    assert!(delay[0] < 50.0, "{delay:?}");
}

#[test]
fn what_crosses_a_link_counts_in_its_interval_even_if_it_is_told_ahead() {
    let mut series = Series::new(&valid(&["pages"]), 1, 0);
    // 25 kB take 0.2 s at 1 Mbit/s.
    let data = Packet::data(0, 0, 25_000, Flags::default(), Time::ZERO);
    let packet = &data;
    let millis = |millis| Span::from_millis(millis).after_start();
    for begins in [800, 1000, 1900] {
        let event = Event::Service { link: BOTTLENECK, packet, waited: Span::ZERO };
        series.on(millis(begins), &event);
    }
    for (at, link, fate) in [
        (700, BOTTLENECK, Fate::Passed),
        (700, BOTTLENECK, Fate::Dropped(Reason::Overflow)),
        (700, ACCESS, Fate::Dropped(Reason::Overflow)),
        (1000, BOTTLENECK, Fate::Dropped(Reason::Early)),
        (1500, BOTTLENECK, Fate::Marked),
    ] {
        series.on(millis(at), &Event::Arrival { link, packet, fate });
    }
    for reason in [Reason::Late, Reason::PushedOut, Reason::Channel] {
        let fate = Fate::Dropped(reason);
        series.on(millis(1600), &Event::Fate { link: BOTTLENECK, packet, fate });
    }
    series.on(secs(1), &Event::Sample { view: &Still });
    let again = Packet::data(0, 0, 25_000, Flags::RETRANSMITTED, Time::ZERO);
    for (group, sent) in [(0, &again), (0, &data), (1, &again), (1, &again), (2, &again), (3, &again)] {
        series.on(millis(1500), &Event::Sent { packet: sent, group });
    }
    series.on(secs(2), &Event::Sample { view: &Still });
    series.on(secs(3), &Event::Sample { view: &Still });
    let table = series.table();
    let of = |column: &str| {
        let place = table.columns.iter().position(|one| one == column).unwrap();
        table.values(place).collect::<Vec<f64>>()
    };
    // The last of the three transmissions lies half in the second interval and half in the third.
    assert_eq!(of("link_throughput_bps[b-c]"), [200e3, 300e3, 100e3]);
    assert_eq!((of("drops[b-c]"), of("marks[b-c]")), (vec![1.0, 3.0, 0.0], vec![0.0, 1.0, 0.0]));
    assert_eq!(of("retransmissions[forward]"), [0.0, 1.0, 0.0]);
    assert_eq!(of("retransmissions[reverse]"), [0.0, 2.0, 0.0]);
    assert_eq!(of("retransmissions[pages]"), [0.0, 1.0, 0.0]);
    assert!(!table.columns.contains(&"retransmissions[constant]".into()), "it has no senders");
}

/// A view whose controllers show the number of their flow, and which is otherwise [`Still`].
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
    let mut series = Series::new(&watched, 1, 0);
    let sample = |one: &mut Series, at| one.on(secs(at), &Event::Sample { view: &Remembering });
    sample(&mut series, 1);
    for flow in [FlowId(0), FlowId(1)] {
        series.on(secs(1), &Event::Started { flow, group: 0 });
        let rtt = Some(Span::from_millis(60 + 20 * u64::from(flow.0)));
        series.on(secs(2), &Event::Acked { flow, acked: Bytes(1000), rtt, one_way: None, window: 1.0 });
    }
    sample(&mut series, 3);
    series.on(secs(4), &Event::Closed { flow: FlowId(0) });
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
