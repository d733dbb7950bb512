// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Events of a log as segments, and logs that are refused.

use serde_json::{Value, json};

use super::{Exchange, Unfit};
use crate::capture::Happened::{self, Heard, Sent};
use crate::units::Time;

fn sent(number: u64) -> (&'static str, Value) {
    let header = json!({ "packet_type": "1RTT", "packet_number": number });
    ("transport:packet_sent", json!({ "header": header, "raw": { "length": 1200 } }))
}

fn acked(ranges: &Value) -> (&'static str, Value) {
    let frame = json!({ "frame_type": "ack", "acked_ranges": ranges });
    ("packet_received", json!({ "header": { "packet_type": "1RTT" }, "frames": [frame] }))
}

fn lost(number: u64) -> (&'static str, Value) {
    ("recovery:packet_lost", json!({ "header": { "packet_type": "1RTT", "packet_number": number } }))
}

fn in_flight(packets: u64) -> (&'static str, Value) {
    ("recovery_metrics_updated", json!({ "bytes_in_flight": packets * 1200 }))
}

/// An event a millisecond.
fn logged(events: &[(&str, Value)]) -> Exchange {
    let mut exchange = Exchange::default();
    for (at, (name, data)) in (7_000_000..).step_by(1_000_000).zip(events) {
        exchange.take(Time(at), name, data);
    }
    exchange
}

fn steps(exchange: &Exchange) -> Vec<(u64, Happened)> {
    let steps = exchange.course().expect("a sender").steps;
    steps.iter().map(|step| (step.at.0 / 1_000_000, step.what)).collect()
}

/// Four packets, of which the second one is lost and repaired by the fifth.
const COURSE: [(u64, Happened); 8] = [
    (0, Sent(0)),
    (1, Sent(1)),
    (2, Sent(2)),
    (3, Sent(3)),
    (4, Heard { una: 1, blocks: [(0, 0); 3], echo: Time::ZERO }),
    (5, Heard { una: 1, blocks: [(2, 4), (0, 0), (0, 0)], echo: Time(3_000_000) }),
    (7, Sent(1)),
    (8, Heard { una: 4, blocks: [(0, 0); 3], echo: Time(7_000_000) }),
];

#[test]
fn the_packet_after_a_lost_one_repairs_it() {
    let four = (0..4).map(sent);
    let rest =
        [acked(&json!([[0]])), acked(&json!([[0], [2, 3]])), lost(1), sent(4), acked(&json!([[0], [2, 4]]))];
    let exchange = logged(&four.chain(rest).collect::<Vec<_>>());
    assert!(!exchange.is_derived());
    assert_eq!(steps(&exchange), COURSE);
}

#[test]
fn without_frames_the_oldest_packets_that_are_not_lost_left() {
    let event = |place: u64| match place {
        4 => in_flight(3),
        5 => in_flight(1),
        6 => lost(1),
        7 => sent(4),
        8 => in_flight(0),
        _ => sent(place),
    };
    // The first event says what is in flight already.
    let mut exchange = Exchange::default();
    exchange.take(Time::ZERO, "metrics_updated", &json!({ "bytes_in_flight": 0 }));
    for place in 0..9 {
        let (name, data) = event(place);
        exchange.take(Time((7 + place) * 1_000_000), name, &data);
    }
    assert!(exchange.is_derived());
    assert_eq!(steps(&exchange), COURSE);
}

#[test]
fn a_packet_that_was_not_lost_after_all_is_not_repaired() {
    let events = [sent(0), sent(1), lost(0), acked(&json!([[0]])), sent(2)];
    let what: Vec<_> = steps(&logged(&events)).into_iter().map(|(_, what)| what).collect();
    assert_eq!(what[3], Sent(2), "{what:?}");
}

#[test]
fn four_blocks_are_two_acknowledgements() {
    let eight = (0..8).map(sent).chain([acked(&json!([[1], [3], [5], [7]]))]);
    let what: Vec<_> = steps(&logged(&eight.collect::<Vec<_>>())).into_iter().map(|(_, what)| what).collect();
    let blocks = |one: &Happened| match one {
        Heard { blocks, .. } => *blocks,
        Sent(_) => panic!("{one:?}"),
    };
    assert_eq!(blocks(&what[8]), [(1, 2), (3, 4), (5, 6)]);
    assert_eq!(blocks(&what[9]), [(7, 8), (0, 0), (0, 0)]);
}

#[test]
fn packets_that_ask_for_nothing_and_those_before_the_data_are_left_out() {
    let frames = |number: u64, kinds: [&str; 2], bytes: u64| {
        let frames = kinds.map(|kind| json!({ "frame_type": kind }));
        let header = json!({ "packet_type": "1RTT", "packet_number": number });
        ("packet_sent", json!({ "header": header, "frames": frames, "raw": { "length": bytes } }))
    };
    let events = [
        frames(0, ["crypto", "padding"], 300),
        frames(1, ["ack", "padding"], 1200),
        acked(&json!([[0, 1]])),
        frames(2, ["stream", "ack"], 1200),
        acked(&json!([[0, 2]])),
    ];
    let exchange = logged(&events);
    assert_eq!(steps(&exchange).len(), 2);
    assert_eq!(exchange.course().expect("a sender").mss, 1200);
}

#[test]
fn a_log_that_is_no_senders_is_refused_with_the_reason() {
    let received = || ("packet_received", json!({ "header": { "packet_type": "1RTT" } }));
    let receiver: Vec<_> = [sent(0)].into_iter().chain((0..3).map(|_| received())).collect();
    assert_eq!(logged(&receiver).course().unwrap_err(), Unfit::Receiver);
    assert_eq!(logged(&[]).course().unwrap_err(), Unfit::Silent);
    // Nothing with data arrived, and no packet with data left.
    let answered: Vec<_> = (0..3).map(|_| acked(&json!([[0]]))).collect();
    assert_eq!(logged(&answered).course().unwrap_err(), Unfit::Silent);
    let bare = |number: u64| ("packet_sent", json!({ "header": { "packet_number": number }, "raw": {} }));
    let mixed: Vec<_> = (0..3).flat_map(|number| [bare(number), received()]).collect();
    assert_eq!(logged(&mixed).course().unwrap_err(), Unfit::Silent);
    // Only acknowledgements left.
    let answer = |number: u64| {
        let header = json!({ "packet_type": "1RTT", "packet_number": number });
        ("packet_sent", json!({ "header": header, "raw": { "length": 30 } }))
    };
    let answers: Vec<_> = (0..3).flat_map(|number| [received(), answer(number)]).collect();
    assert_eq!(logged(&answers).course().unwrap_err(), Unfit::Receiver);
    assert_eq!(logged(&[sent(0), received(), sent(1)]).course().unwrap_err(), Unfit::Unanswered);
    assert!(Unfit::Unanswered.to_string().contains("ACK frames"));
}
