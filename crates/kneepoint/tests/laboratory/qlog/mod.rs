// SPDX-License-Identifier: Apache-2.0 OR MIT
//! qlog: our files follow the drafts and can be read; files of another stack can be read, too.

use std::collections::BTreeSet;

use kneepoint::capture::qlog::{Tracer, is_qlog, read};
use kneepoint::cc;
use kneepoint::link::loss;
use kneepoint::link::{LinkSpec, NodeId};
use kneepoint::packet::Flags;
use kneepoint::queue::Limit;
use kneepoint::spec::{Builder, Group, Member, Valid};
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::traffic;
use kneepoint::units::{Rate, Span, Time};
use serde_json::Value;

/// Two flows over 10 Mbit/s and 40 ms that lose one packet in a hundred.
fn lossy(name: &str) -> Valid {
    let (a, b, delay) = (NodeId(0), NodeId(1), Span::from_millis(20));
    let there = LinkSpec {
        rate: Some(Rate::from_mbit(10)),
        delay,
        limit: Limit::Packets(30),
        loss: loss::Config::Uniform(loss::uniform::Params { p: 0.01 }),
        measured: true,
        ..LinkSpec::new(a, b)
    };
    let mut group = Group::new("long", traffic::Config::default());
    group.cc = cc::Config::named(name);
    Builder::new("lossy")
        .duration(Span::from_secs(20))
        .node("a")
        .node("b")
        .link(there)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(group.member(a, b, Member::default()).member(a, b, Member::default()))
        .build()
        .expect("a network")
}

/// A run's record of its second flow.
#[derive(Default)]
struct Counted {
    sent: u64,
    bytes: u64,
    /// Retransmissions of segments that had not arrived.
    again: u64,
    /// Segments that arrived out of order and were not retransmitted since.
    held: BTreeSet<u32>,
    trips: Vec<(Time, Span)>,
    windows: Vec<f64>,
    repairs: usize,
}

impl Observer for Counted {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Sent { packet, .. } if packet.flow == 1 && !packet.flags.has(Flags::SYN) => {
                self.sent += 1;
                self.bytes += u64::from(packet.size);
                let arrived = self.held.remove(&packet.seq);
                self.again += u64::from(packet.flags.has(Flags::RETRANSMITTED) && !arrived);
            }
            Event::Delivered { packet, .. }
                if packet.flow == 1 && packet.flags.has(Flags::ACK) && !packet.flags.has(Flags::SYN) =>
            {
                self.held.extend(packet.sack().into_iter().flat_map(|(first, end)| first..end));
            }
            Event::Acked { flow: FlowId(1), rtt, window, .. } => {
                self.trips.extend(rtt.map(|rtt| (at, rtt)));
                self.windows.push(*window);
            }
            Event::Repair { flow: FlowId(1), .. } => self.repairs += 1,
            _ => {}
        }
    }
}

fn written(valid: &Valid) -> (Vec<u8>, Counted) {
    let tracer = Tracer::new(Vec::new(), valid, FlowId(1), "long/1").expect("a flow");
    let ((tracer, counted), _) = kneepoint::run::run(valid, 1, (tracer, Counted::default()));
    (tracer.finish().expect("written"), counted)
}

#[test]
fn a_flow_that_is_written_is_read_as_it_was() {
    for name in ["reno", "cubic", "pert", "bbr"] {
        let (bytes, counted) = written(&lossy(name));
        assert!(is_qlog(&bytes[..16]));
        let (traces, cut) = read(&bytes).expect("qlog");
        assert_eq!((traces.len(), cut, traces[0].name.as_str()), (1, None, "long/1"));
        let transfer = &traces[0].transfer;
        assert_eq!((transfer.packets, transfer.bytes), (counted.sent, counted.bytes), "{name}");
        assert!(counted.again > 10 && counted.trips.len() > 1000, "{name}: {}", counted.again);
        assert_eq!(transfer.losses.len() as u64, counted.again, "{name}");
        let trips: Vec<Span> = transfer.samples.iter().map(|sample| sample.rtt).collect();
        // An acknowledgement of nothing new with the previous round trip is not a sample.
        let told: BTreeSet<u64> = counted.trips.iter().map(|(_, rtt)| rtt.0).collect();
        let read: BTreeSet<u64> = trips.iter().map(|rtt| rtt.0).collect();
        assert_eq!(read, told, "{name}");
    }
}

/// The fields of an event's data according to the drafts: draft-ietf-quic-qlog-quic-events-12, without frames.
const FIELDS: [(&str, &[&str]); 5] = [
    ("quic:packet_sent", &["header", "frames", "raw", "trigger", "is_mtu_probe_packet"]),
    ("quic:packet_received", &["header", "frames", "raw", "trigger"]),
    ("quic:packet_lost", &["header", "frames", "trigger", "is_mtu_probe_packet"]),
    (
        "quic:recovery_metrics_updated",
        &[
            "min_rtt",
            "smoothed_rtt",
            "latest_rtt",
            "rtt_variance",
            "pto_count",
            "congestion_window",
            "bytes_in_flight",
            "ssthresh",
            "packets_in_flight",
            "pacing_rate",
        ],
    ),
    ("quic:congestion_state_updated", &["old", "new", "trigger"]),
];

#[test]
fn what_is_written_is_what_the_drafts_have() {
    let (bytes, counted) = written(&lossy("cubic"));
    let text = String::from_utf8(bytes).expect("UTF-8");
    // RFC 7464: each text behind a separator, and a line feed after it.
    assert!(text.starts_with('\u{1e}') && text.ends_with('\n'));
    let records: Vec<Value> = text[1..]
        .split('\u{1e}')
        .map(|record| serde_json::from_str(record.strip_suffix('\n').expect("a line feed")).expect("JSON"))
        .collect();
    let (head, events) = records.split_first().expect("a head");
    assert_eq!(head["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(head["serialization_format"], "application/qlog+json-seq");
    let trace = &head["trace"];
    assert_eq!(trace["event_schemas"][0], "urn:ietf:params:qlog:events:quic-12");
    assert_eq!(trace["vantage_point"]["type"], "server");
    let clock = &trace["common_fields"]["reference_time"];
    assert_eq!((&clock["clock_type"], &clock["epoch"]), (&Value::from("monotonic"), &Value::from("unknown")));
    let (mut last, mut next, mut known, mut states) = (0.0, 0, BTreeSet::new(), Vec::new());
    for event in events {
        let time = event["time"].as_f64().expect("a time");
        assert!(time >= last, "{time} after {last}");
        last = time;
        let name = event["name"].as_str().expect("a name");
        let (_, fields) = FIELDS.iter().find(|(one, _)| *one == name).expect("an event of the draft");
        let data = event["data"].as_object().expect("data");
        assert!(data.keys().all(|key| fields.contains(&key.as_str())), "{event}");
        let number = event["data"]["header"]["packet_number"].as_u64();
        match name {
            "quic:packet_sent" => {
                assert_eq!(number, Some(next), "numbers are never used again");
                next += 1;
                known.insert(number);
            }
            "quic:packet_lost" => assert!(known.remove(&number), "{event}"),
            "quic:packet_received" => {
                let ranges = event["data"]["frames"][0]["acked_ranges"].as_array().expect("ranges");
                for range in ranges {
                    let range = range.as_array().expect("one or two numbers");
                    assert!(matches!(range.len(), 1 | 2));
                    let ends = [0, range.len() - 1].map(|end| range[end].as_u64().expect("a number"));
                    for acked in ends[0]..=ends[1] {
                        assert!(known.remove(&Some(acked)), "{acked} was not on its way");
                    }
                }
            }
            "quic:congestion_state_updated" => states.push(event["data"]["new"].as_str().unwrap_or_default()),
            _ => {}
        }
    }
    assert_eq!(states.iter().filter(|state| **state == "recovery").count(), counted.repairs);
    assert!(states.contains(&"open"));
}

#[test]
fn a_connection_that_aioquic_recorded_is_read() {
    let (traces, cut) = read(include_bytes!("aioquic.qlog")).expect("qlog");
    assert_eq!((traces.len(), cut), (1, None));
    let transfer = &traces[0].transfer;
    assert_eq!((transfer.packets, transfer.bytes, transfer.mss), (59, 64_558, 1200));
    let left: Vec<f64> = transfer.losses.iter().map(|at| (at.as_secs_f64() * 1e6).round() / 1e3).collect();
    assert_eq!(left, [92.513, 126.328]);
    assert!(transfer.samples.len() > 20);
    assert!(transfer.samples.iter().all(|sample| (sample.rtt.as_millis_f64() - 40.004).abs() < 0.006));
    assert_eq!(
        transfer.score(&kneepoint::predict::standard(), 1.0).len(),
        kneepoint::predict::standard().len()
    );
}
