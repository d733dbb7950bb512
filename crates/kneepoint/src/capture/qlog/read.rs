// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads qlog of any stack: JSON text sequences, a record a line, or one document; of this draft and of earlier ones
//! with other names.

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use super::SEPARATOR;
use super::course::{Course, Instant};
use super::exchange::Exchange;
use crate::capture::{Malformed, Transfer};
use crate::units::Time;

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
/// Larger numbers are not times: a century in milliseconds.
pub(super) const LATEST: f64 = 3.2e12;

/// Whether a file is qlog, by its first bytes.
pub fn is_qlog(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD)];
    let named = [&b"\"qlog_version\""[..], b"\"qlog_format\"", b"\"file_schema\""];
    let head = head.strip_prefix(&[SEPARATOR]).unwrap_or(head).trim_ascii_start();
    head.first() == Some(&b'{') && named.iter().any(|name| head.windows(name.len()).any(|part| part == *name))
}

/// The traces of a file, and the place where it was cut off, if it was. Fails unless it is qlog of a supported form.
pub fn read(bytes: &[u8]) -> Result<(Vec<Traced>, Option<Malformed>), Malformed> {
    if let Some(one) = document(bytes) {
        let traces = one.traces.into_iter().enumerate();
        return Ok((traces.map(|(place, trace)| trace.traced(place)).collect::<Result<_, _>>()?, None));
    }
    let mut records = records(bytes);
    let (first, head) = records.next().ok_or_else(|| fault(0, "there is no record"))?;
    let head: Head = serde_json::from_slice(head).map_err(|error| unreadable(first, &error))?;
    let mut trace = head.trace.unwrap_or_default();
    trace.title = trace.title.or(head.title);
    let mut cut = None;
    for (offset, record) in records {
        match serde_json::from_slice(record) {
            Ok(event) => trace.events.push(event),
            // The last record of a file that is still written to.
            Err(error) if error.is_eof() && offset + record.len() >= bytes.trim_ascii_end().len() => {
                cut = Some(fault(offset, "the last record is incomplete"));
            }
            Err(error) => return Err(unreadable(offset, &error)),
        }
    }
    Ok((vec![trace.traced(0)?], cut))
}

fn fault(offset: usize, message: impl ToString) -> Malformed {
    Malformed { offset, message: message.to_string() }
}

/// A record at `offset` that cannot be read.
fn unreadable(offset: usize, error: &serde_json::Error) -> Malformed {
    let message = match error.classify() {
        Category::Eof => "the record ends too early: it is no whole JSON".into(),
        Category::Data => format!("the record is not one of qlog: {error}"),
        Category::Syntax | Category::Io => {
            format!("the record is no JSON from its line {}, column {} on", error.line(), error.column())
        }
    };
    Malformed { offset, message }
}

/// The whole file as one document with traces.
fn document(bytes: &[u8]) -> Option<Document> {
    if bytes.first() == Some(&SEPARATOR) {
        return None;
    }
    serde_json::from_slice(bytes).ok()
}

/// The records of a sequence with their places, by separators or by lines.
fn records(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let by = if bytes.first() == Some(&SEPARATOR) { SEPARATOR } else { b'\n' };
    let parts = bytes.split(move |byte| *byte == by).scan(0, |at, part| {
        let place = *at;
        *at += part.len() + 1;
        Some((place, part.trim_ascii()))
    });
    parts.filter(|(_, part)| !part.is_empty())
}

#[derive(Deserialize)]
struct Document {
    traces: Vec<Trace>,
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
}

impl Trace {
    fn traced(self, place: usize) -> Result<Traced, Malformed> {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_string);
        let ids = ["ODCID", "odcid", "group_id"].map(|key| text(&self.common_fields[key]));
        let name = self.title.clone().or(ids.into_iter().flatten().next());
        let name =
            name.or(text(&self.vantage_point["name"])).unwrap_or_else(|| format!("trace {}", place + 1));
        let relative = matches!(
            self.common_fields["time_format"].as_str(),
            Some("relative_to_previous_event" | "delta")
        );
        let (mut course, mut exchange) = (Course::default(), Exchange::default());
        let (mut begin, mut last) = (None, 0.0);
        for Happened { time, name: event, data } in &self.events {
            if !time.is_finite() || time.abs() > LATEST {
                return Err(fault(0, format!("{time} is not a time in milliseconds")));
            }
            last = if relative { last + time } else { *time };
            let since = (last - *begin.get_or_insert(last)).clamp(0.0, LATEST);
            let at = Time(libm::round(since * 1e6) as u64);
            course.take(at, event, data);
            exchange.take(at, event, data);
        }
        let (transfer, instants) = course.finish();
        Ok(Traced { name, transfer, instants, exchange })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

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
        assert_eq!((traces[0].transfer.packets, cut.map(|cut| cut.offset)), (0, Some(57)));
        let amid = "\u{1e}{\"qlog_version\":1}\n\u{1e}{\"time\":1,\n\u{1e}{\"time\":1,\"name\":\"a\"}";
        assert!(read(amid.as_bytes()).is_err());
        assert!(read(b"").is_err() && read(b"\x1e").is_err() && read(b"{}").is_ok());
    }
}
