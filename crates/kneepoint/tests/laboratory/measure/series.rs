// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sampled series.

use kneepoint::cc;
use kneepoint::measure::{COLUMNS, Series};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Reason};
use kneepoint::trace::{Event, FlowId, LinkId, Observer, View};
use kneepoint::units::{Bytes, Span, Time};

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
            "link_throughput_bps[b-c]",
            "drops[b-c]",
            "marks[b-c]",
            "throughput_bps[forward]",
            "throughput_bps[reverse]",
            "retransmissions[forward]",
            "retransmissions[reverse]",
            "rtt_ms[forward]",
            "rtt_ms[reverse]",
            "window_packets[forward/0]",
            "window_packets[forward/1]",
            "window_packets[reverse/0]",
        ]
    );
    // A thousand bytes in two seconds.
    assert_eq!(table.rows[1][..9], [3.0, 3.0, 0.0, 0.0, 0.0, 4000.0, 0.0, 0.0, 0.0]);
    assert_eq!(table.rows[1][11..], [10.0, 11.0, 12.0]);
    for (column, name) in table.columns.iter().enumerate() {
        assert!(COLUMNS.iter().any(|one| one.name == table.quantity(column)), "{name}");
    }
    assert!(COLUMNS.iter().all(|one| !table.columns_of(one.name).is_empty()));
}

#[test]
fn what_crosses_a_link_counts_in_its_interval_even_if_it_is_told_ahead() {
    let mut series = Series::new(&valid(&["pages"]), 0);
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
