// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counters, fed with events.

use kneepoint::measure::{Meter, Objects, Subject};
use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Reason};
use kneepoint::table::{Cell, value};
use kneepoint::trace::{Event, FlowId, LinkId, Observer};
use kneepoint::units::{Bytes, Interval, Span, Time};

use super::{ACCESS, BOTTLENECK, OF_BOTTLENECK, secs, valid};

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
    let mut meter = Meter::new(&valid(&[]), 1);
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
    let mut meter = Meter::new(&valid(&[]), 1);
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
    assert_eq!(drops[..5], [2.0, 0.0, 2.0, 2.0, 0.0]);
    assert!(drops[5].is_nan(), "a link without a policer polices nothing");
    // Two at the tail and two at the head; the channel's are not the queue's.
    assert_eq!((link("drops"), link("drop_ratio"), link("mark_ratio")), (4.0, 4.0 / 6.0, 2.0 / 6.0));
}

#[test]
fn utilization_is_served_bits_over_what_the_rate_carries() {
    let mut meter = Meter::new(&valid(&[]), 1);
    let data = packet(0, Flags::default());
    for millis in 10_000..10_625 {
        let at = Span::from_millis(millis).after_start();
        meter.on(at, &Event::Service { link: BOTTLENECK, packet: &data, waited: Span::from_millis(40) });
    }
    let rows = meter.finish();
    let link = |metric| value(&rows, metric, OF_BOTTLENECK);
    // 625 packets of 8000 bits are half of 10 s at 1 Mbit/s.
    assert_eq!((link("utilization"), link("served_packets"), link("served_bytes")), (0.5, 625.0, 625_000.0));
    assert_eq!(link("throughput_bps"), 0.5e6);
    assert_eq!((link("queueing_delay_mean_ms"), link("queueing_delay_max_ms")), (40.0, 40.0));
}

#[test]
fn segments_count_where_they_are_sent_and_those_sent_before_by_themselves() {
    let mut meter = Meter::new(&valid(&["pages"]), 1);
    for at in [9, 10, 19, 20] {
        let (fresh, again) = (Flags::default(), Flags::RETRANSMITTED);
        for (group, flags) in [(0, fresh), (0, fresh), (0, again), (0, Flags::SYN), (1, fresh), (2, again)] {
            meter.on(secs(at), &Event::Sent { packet: &packet(0, flags), group });
        }
    }
    for (flow, timeout) in [(0, true), (2, true), (2, false)] {
        meter.on(secs(15), &Event::Repair { flow: FlowId(flow), timeout });
    }
    let rows = meter.finish();
    let of = |labels: &[(&str, &str)]| {
        ["retransmissions", "retransmission_rate", "timeouts"].map(|metric| value(&rows, metric, labels))
    };
    assert_eq!(of(&[("group", "forward")]), [2.0, 1.0 / 3.0, 1.0]);
    assert_eq!(of(&[("group", "reverse")]), [0.0, 0.0, 1.0]);
    assert_eq!(of(&[("group", "pages")]), [2.0, 1.0, 0.0]);
    assert!(of(&[("group", "constant")]).iter().all(|number| number.is_nan()));
    // Four of ten segments, of all senders.
    assert_eq!(of(&[]), [4.0, 0.4, 2.0]);
}

#[test]
fn a_transmission_longer_than_the_window_counts_only_inside_it() {
    let data = Packet::data(0, 0, 60_000, Flags::default(), Time::ZERO);
    // 60 kB at 1 Mbit/s take 0.48 s; from 9.6 s on they take up 0.08 s of the window, which is also all of a window of 0.02 s.
    let begins = Span::from_millis(9_600).after_start();
    for (to, expected) in [(20_000, 0.008), (10_020, 1.0)] {
        let window = Interval { from: secs(10), to: Span::from_millis(to).after_start() };
        let mut meter = Meter::in_window(&valid(&[]), 1, window);
        meter.on(begins, &Event::Service { link: BOTTLENECK, packet: &data, waited: Span::ZERO });
        let used = value(&meter.finish(), "utilization", OF_BOTTLENECK);
        assert!((used - expected).abs() < 1e-12, "{used} until {to} ms");
    }
}

#[test]
fn goodput_is_per_flow_and_only_forward_flows_make_headlines() {
    let mut meter = Meter::new(&valid(&[]), 1);
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
    assert_eq!((headline("flow_goodput_bps"), headline("jain_index")), (1200.0, 0.9));
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
    let mut meter = Meter::new(&valid(&["pages"]), 1);
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
    let mut meter = Meter::new(&valid(&["pages", "slots"]), 1);
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
    let mut meter = Meter::new(&valid(&[]), 1);
    let mut sent = packet(3, Flags::DATAGRAM);
    sent.sent = secs(9);
    for at in [10, 11, 20] {
        meter.on(secs(at), &Event::Delivered { packet: &sent, payload: Bytes(0) });
    }
    meter.on(secs(12), &Event::Delivered { packet: &packet(0, Flags::default()), payload: Bytes(1000) });
    let rows = meter.finish();
    let constant = |metric| value(&rows, metric, &[("group", "constant")]);
    assert_eq!((constant("delivered_packets"), constant("throughput_bps")), (2.0, 1600.0));
    assert_eq!(constant("delay_mean_ms"), 1500.0);
    assert!(constant("timeouts").is_nan() && constant("goodput_bps").is_nan());
}
