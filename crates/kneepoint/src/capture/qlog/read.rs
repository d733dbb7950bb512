// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads qlog of any stack: JSON text sequences, a record a line, or one document; of this draft and of earlier ones
//! with other names.

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::SEPARATOR;
use super::clock::Clock;
use super::course::{Course, Instant};
use super::exchange::Exchange;
use super::fault::{Fault, Place};
use super::numbers::Numbers;
use crate::capture::Transfer;

/// A connection in a file, seen from the side that wrote the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Its title, or another name.
    pub name: String,
    /// Its signals as a sender.
    pub transfer: Transfer,
    /// The state of its recovery, each time that it was logged, in order of time.
    pub instants: Vec<Instant>,
    /// Its packets.
    pub exchange: Exchange,
}

/// Leading bytes of a document that contain its identification.
const HEAD: usize = 4096;
/// Characters of what is said about a record: its values may be of any length.
const LONGEST: usize = 120;

/// Whether a file is qlog, by its first bytes.
pub fn is_qlog(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let named = [&b"\"qlog_version\""[..], b"\"qlog_format\"", b"\"file_schema\""];
    let head = head.strip_prefix(&[SEPARATOR]).unwrap_or(head).trim_ascii_start();
    head.first() == Some(&b'{') && named.iter().any(|name| head.windows(name.len()).any(|part| part == *name))
}

/// For a file of another form.
const FORM: &str = "qlog is a JSON text sequence, a record a line, or one document with `traces`";
/// For an event that cannot have happened.
const EVENT: &str = "give the log as the stack wrote it, of one endpoint and one connection";

/// The traces of a file, and the place where it was cut off, if it was. Fails unless it is qlog of a supported form.
pub fn read(bytes: &[u8]) -> Result<(Vec<Traced>, Option<Fault>), Fault> {
    let broken = match document(bytes) {
        Ok(Some(traces)) => {
            let traces = traces.into_iter().zip(1..).map(|(trace, place)| trace.traced(place));
            return Ok((traces.collect::<Result<_, _>>()?, None));
        }
        Ok(None) => None,
        Err(error) if error.is_data() => return Err(unreadable(1, &error)),
        Err(error) => Some(error),
    };
    let mut records = records(bytes);
    let first = records.next().ok_or_else(|| fault(1, "there is no record"))?;
    let head: Head = serde_json::from_slice(first.bytes).map_err(|error| match &broken {
        // The first line of a document of several lines.
        Some(broken) if error.is_eof() => unreadable(1, broken),
        _ => unreadable(first.line, &error),
    })?;
    let mut trace = head.trace.unwrap_or_default();
    trace.title = trace.title.or(head.title);
    let mut cut = None;
    for record in records {
        match serde_json::from_slice(record.bytes) {
            Ok(event) => trace.events.push(Happened { line: Some(record.line), ..event }),
            // The last record of a file that is still written to.
            Err(error) if error.is_eof() && record.end >= bytes.trim_ascii_end().len() => {
                cut = Some(fault(record.line, "the last record is incomplete"));
            }
            Err(error) => return Err(unreadable(record.line, &error)),
        }
    }
    Ok((vec![trace.traced(1)?], cut))
}

fn fault(line: usize, message: impl ToString) -> Fault {
    Fault { place: Place::Line(line), message: message.to_string(), remedy: FORM }
}

/// A record from this line on that cannot be read.
fn unreadable(line: usize, error: &serde_json::Error) -> Fault {
    let (within, column) = (error.line(), error.column());
    let line = line + within.saturating_sub(1);
    match error.classify() {
        Category::Eof => fault(line, "the record ends too early: it is no whole JSON"),
        Category::Data => {
            let message = error.to_string();
            let message = message.trim_end_matches(&format!(" at line {within} column {column}"));
            fault(line, format!("up to column {column} it is no record of qlog: {}", shortened(message)))
        }
        Category::Syntax | Category::Io => {
            fault(line, format!("the record is no JSON from column {column} on"))
        }
    }
}

/// A message that is not as long as the values of a file may be.
fn shortened(message: &str) -> String {
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_string(),
    }
}

/// The traces of a file that is one document; none of another one.
fn document(bytes: &[u8]) -> Result<Option<Vec<Trace>>, serde_json::Error> {
    match bytes.first() {
        Some(&SEPARATOR) => Ok(None),
        _ => serde_json::from_slice(bytes).map(|Document { traces }| traces),
    }
}

/// A record of a sequence.
struct Record<'b> {
    bytes: &'b [u8],
    /// Its first line, from 1.
    line: usize,
    /// The byte after it.
    end: usize,
}

/// The records of a sequence, by separators or by lines.
fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let by = if bytes.first() == Some(&SEPARATOR) { SEPARATOR } else { b'\n' };
    let lines = |part: &[u8]| part.iter().filter(|byte| **byte == b'\n').count();
    let parts = bytes.split_inclusive(move |byte| *byte == by).scan((0, 1), move |(at, line), part| {
        let blank = part.len() - part.trim_ascii_start().len();
        let record = part.strip_suffix(&[by]).unwrap_or(part).trim_ascii();
        let found =
            Record { bytes: record, line: *line + lines(&part[..blank]), end: *at + blank + record.len() };
        *at += part.len();
        *line += lines(part);
        Some(found)
    });
    parts.filter(|record| !record.bytes.is_empty())
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    traces: Option<Vec<Trace>>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    trace: Option<Trace>,
}

#[derive(Default, Deserialize)]
struct Trace {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    common_fields: Value,
    #[serde(default)]
    vantage_point: Value,
    #[serde(default)]
    events: Vec<Happened>,
}

#[derive(Deserialize)]
struct Happened {
    time: f64,
    name: String,
    #[serde(default)]
    data: Value,
    /// Of a sequence.
    #[serde(skip)]
    line: Option<usize>,
}

impl Trace {
    /// The connection of this trace, which is the file's trace of this number.
    fn traced(self, trace: usize) -> Result<Traced, Fault> {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_string);
        let ids = ["ODCID", "odcid", "group_id"].map(|key| text(&self.common_fields[key]));
        let name = self.title.clone().or(ids.into_iter().flatten().next());
        let name = name.or(text(&self.vantage_point["name"])).unwrap_or_else(|| format!("trace {trace}"));
        let (mut course, mut exchange) = (Course::default(), Exchange::default());
        let mut clock = Clock::new(self.common_fields["time_format"].as_str());
        // A network reorders packets, and sees some of them.
        let mut numbers = (self.vantage_point["type"] != "network").then(Numbers::default);
        for (Happened { time, name: event, mut data, line }, count) in self.events.into_iter().zip(1..) {
            let place = line.map_or(Place::Event { trace, event: count }, Place::Line);
            let refused = |message| Fault { place, message, remedy: EVENT };
            let at = clock.take(place, time).map_err(refused)?;
            if let Some(numbers) = &mut numbers {
                numbers.take(place, &event, &mut data).map_err(refused)?;
            }
            course.take(at, &event, &data);
            exchange.take(at, &event, &data);
        }
        exchange.doubt(clock.doubt().into_iter().chain(numbers.and_then(|numbers| numbers.doubt())));
        let (transfer, instants) = course.finish();
        Ok(Traced { name, transfer, instants, exchange })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};

    /// Events as stacks of several drafts write them: pairs of name and data.
    const EVENTS: [(f64, &str, &str); 8] = [
        (
            1.0,
            "packet_sent",
            r#"{"header":{"packet_type":"initial","packet_number":0},"raw":{"length":1200}}"#,
        ),
        (1.0, "packet_sent", r#"{"header":{"packet_type":"1RTT","packet_number":0},"raw":{"length":1000}}"#),
        (2.5, "packet_sent", r#"{"header":{"packet_type":"1RTT","packet_number":1},"raw":{"length":1000}}"#),
        (3.0, "packet_sent", r#"{"header":{"packet_type":"1RTT","packet_number":2},"raw":{"length":900}}"#),
        (
            41.0,
            "packet_received",
            r#"{"header":{},"frames":[{"frame_type":"ack","acked_ranges":[[0],[2,2]]}]}"#,
        ),
        (41.0, "metrics_updated", r#"{"latest_rtt":40.25,"cwnd":5000}"#),
        (41.0, "packet_lost", r#"{"type":"1RTT","packet_number":1}"#),
        (41.0, "metrics_updated", r#"{"latest_rtt":40.25,"cwnd":2500}"#),
    ];

    fn check(text: &str) {
        assert!(is_qlog(text.as_bytes()), "{text}");
        let (traces, cut) = read(text.as_bytes()).expect("qlog");
        assert_eq!((traces.len(), cut), (1, None));
        let transfer = &traces[0].transfer;
        assert_eq!((transfer.packets, transfer.bytes, transfer.mss), (3, 2900, 1000));
        assert_eq!(transfer.losses, [Time(1_500_000)]);
        let [sample] = transfer.samples.as_slice() else { panic!("{:?}", transfer.samples) };
        assert_eq!((sample.now, sample.rtt, sample.acked), (Time(40_000_000), Span(40_250_000), 2));
        assert_eq!(sample.window, 5.0);
        let windows: Vec<_> = traces[0].instants.iter().map(|one| (one.window, one.delivered)).collect();
        assert_eq!(windows, [(Some(5000), 1900), (Some(2500), 1900)]);
    }

    /// quinn logs no ACK frames, and an initial estimate of the round trip before there is one.
    #[test]
    fn acknowledgements_without_frames_follow_from_the_bytes_in_flight() {
        let mut text =
            r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{"vantage_point":{}}}"#.to_string();
        let mut event = |time: u32, name: &str, data: &str| {
            text += &format!("\n{{\"time\":{time},\"name\":\"{name}\",\"data\":{data}}}");
        };
        event(0, "quic:packet_received", r#"{"header":{"packet_type":"initial","packet_number":0}}"#);
        event(
            0,
            "recovery:metrics_updated",
            r#"{"latest_rtt":333.0,"bytes_in_flight":0,"packets_in_flight":0}"#,
        );
        for number in 0..4 {
            let header =
                format!(r#"{{"header":{{"packet_type":"1RTT","packet_number":{number},"length":1000}}}}"#);
            event(1, "quic:packet_sent", &header);
        }
        event(1, "recovery:metrics_updated", r#"{"bytes_in_flight":4000,"packets_in_flight":4}"#);
        event(41, "quic:packet_received", r#"{"header":{"packet_type":"1RTT","packet_number":1}}"#);
        event(
            41,
            "recovery:packet_lost",
            r#"{"header":{"packet_type":"1RTT","packet_number":1,"length":1000}}"#,
        );
        event(
            41,
            "recovery:metrics_updated",
            r#"{"latest_rtt":40.0,"bytes_in_flight":1000,"packets_in_flight":1}"#,
        );
        let (traces, _) = read(text.as_bytes()).expect("qlog");
        let Traced { transfer, instants, .. } = &traces[0];
        let [sample] = transfer.samples.as_slice() else { panic!("{:?}", transfer.samples) };
        assert_eq!((sample.rtt, sample.acked), (Span::from_millis(40), 2));
        assert_eq!((transfer.losses.as_slice(), transfer.bytes), (&[Time(1_000_000)][..], 4000));
        let last = instants.last().expect("an instant");
        assert_eq!((last.delivered, last.in_flight), (2000, Some(1000)));
        assert!(instants.iter().all(|one| one.latest != Some(Span::from_millis(333))), "{instants:?}");
    }

    #[test]
    fn the_same_events_are_read_from_every_form() {
        let event = |(time, name, data): (f64, &str, &str)| {
            format!(r#"{{"time":{time},"name":"recovery:{name}","data":{data}}}"#)
        };
        let events = EVENTS.map(event);
        let head =
            r#"{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"one","trace":{"vantage_point":{}}}"#;
        check(&format!(r#"{{"qlog_version":"0.3","traces":[{{"events":[{}]}}]}}"#, events.join(",")));
        check(&format!("{head}\n{}\n", events.join("\n")));
        check(&format!("\u{1e}{head}\n\u{1e}{}\n", events.join("\n\u{1e}")));
    }

    #[test]
    fn a_file_is_used_up_to_where_it_was_cut_off() {
        let text = "\u{1e}{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\"}\n\u{1e}{\"time\":1,\"na";
        let (traces, cut) = read(text.as_bytes()).expect("qlog");
        assert_eq!((traces[0].transfer.packets, cut.map(|cut| cut.place)), (0, Some(Place::Line(2))));
        let amid = "\u{1e}{\"qlog_version\":1}\n\u{1e}{\"time\":1,\n\u{1e}{\"time\":1,\"name\":\"a\"}";
        assert!(read(amid.as_bytes()).is_err());
        assert!(read(b"").is_err() && read(b"\x1e").is_err() && read(b"{}").is_ok());
    }

    /// Why a file with these records after its head is refused.
    fn refused(records: &[&str]) -> String {
        let text = [&[r#"{"qlog_version":"0.3","trace":{}}"#], records].concat().join("\n");
        read(text.as_bytes()).expect_err("a fault").to_string()
    }

    #[test]
    fn a_fault_is_told_with_its_line_and_no_more_of_its_value_than_is_needed() {
        let good = r#"{"time":1,"name":"a"}"#;
        let sent = |number: u64| {
            let header = format!(r#"{{"packet_type":"1RTT","packet_number":{number}}}"#);
            format!(r#"{{"time":1,"name":"packet_sent","data":{{"header":{header}}}}}"#)
        };
        let long = format!(r#"{{"time":"{}","name":"a"}}"#, "x".repeat(5000));
        for (records, said) in [
            (
                vec![good, "", r#"{"tim":1,"name":"a"}"#],
                "at line 4: up to column 20 it is no record of qlog: missing field `time`",
            ),
            (vec![good, "{odd}", good], "at line 3: the record is no JSON from column 2 on"),
            (
                vec![good, r#"{"time":1e300,"name":"a"}"#],
                "at line 3: 1e300 is not a time in milliseconds, from 0 to",
            ),
            (vec![good, r#"{"time":-5,"name":"a"}"#], "at line 3: a time of -5 ms"),
            (vec![&long], "at line 2: up to column"),
            (vec![&sent(7), good, &sent(6)], "at line 4: packet 6 is sent after packet 7 of line 2"),
        ] {
            let refused = refused(&records);
            assert!(refused.contains(said) && refused.len() < 200, "{refused}");
        }
    }

    #[test]
    fn a_fault_of_a_document_is_told_with_its_place() {
        let document = |events: &str| {
            let text = format!("{{\"qlog_version\":\"0.3\",\n\"traces\":[{{\"events\":[\n{events}]}}]}}");
            read(text.as_bytes()).expect_err("a fault").to_string()
        };
        let good = r#"{"time":1,"name":"a"}"#;
        let untimed = document(&format!("{good},\n{{\"name\":\"a\"}}"));
        assert_eq!(untimed, "at line 4: up to column 12 it is no record of qlog: missing field `time`");
        assert!(document(&format!("{good},\n{{odd")).starts_with("at line 4: the record is no JSON"));
        let early = document(&format!(r#"{good},{{"time":-9,"name":"a"}}"#));
        assert!(early.starts_with("at event 2 of trace 1: a time of -9 ms"), "{early}");
    }

    #[test]
    fn what_an_endpoint_cannot_log_a_network_may_see() {
        let log = |side: &str| {
            let sent = [7, 6].map(|number| {
                let header = format!(r#"{{"packet_type":"1RTT","packet_number":{number}}}"#);
                format!("\n{{\"time\":1,\"name\":\"packet_sent\",\"data\":{{\"header\":{header}}}}}")
            });
            format!(r#"{{"trace":{{"vantage_point":{{"type":"{side}"}}}}}}{}"#, sent.concat())
        };
        assert!(read(log("network").as_bytes()).is_ok());
        assert_eq!(read(log("server").as_bytes()).expect_err("a fault").remedy, EVENT);
    }
}
