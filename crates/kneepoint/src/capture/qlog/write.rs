// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes a flow of a run as a JSON text sequence.

use std::collections::VecDeque;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::SEPARATOR;
use crate::packet::{Flags, Packet};
use crate::spec::{Roster, Valid};
use crate::trace::{Event, FlowId, Observer};
use crate::units::{Span, Time};

/// The state of the sender between repairs, and while it repairs. The draft leaves the names to the algorithm.
const STATES: [&str; 2] = ["open", "recovery"];

/// Observer that writes a flow.
pub struct Tracer<W> {
    out: W,
    flow: FlowId,
    payload: u64,
    /// Bytes of a full packet, which windows and flights are counted in, as QUIC counts them.
    packet: u64,
    /// Number of the next transmission.
    number: u64,
    /// Number of the next packet that the peer would send.
    answers: u64,
    /// The first segment not acknowledged, and the last transmissions of it and of those after it; none of one that arrived out of order.
    una: u64,
    outstanding: VecDeque<Option<u64>>,
    /// How many of these did not arrive.
    in_flight: u64,
    /// Packets that arrived and are not reported yet.
    arrived: Vec<u64>,
    /// A recovery episode lasts until this segment is acknowledged.
    repaired: Option<u64>,
    trip: Trip,
    failure: Option<io::Error>,
}

/// Round trips as RFC 9002 §5 estimates them.
#[derive(Clone, Copy, Debug, Default)]
struct Trip {
    least: Option<Span>,
    smoothed: f64,
    variance: f64,
}

impl Trip {
    fn update(&mut self, rtt: Span) {
        let latest = rtt.as_millis_f64();
        match self.least {
            None => (self.smoothed, self.variance) = (latest, latest / 2.0),
            Some(_) => {
                self.variance = 0.75 * self.variance + 0.25 * (self.smoothed - latest).abs();
                self.smoothed = 0.875 * self.smoothed + 0.125 * latest;
            }
        }
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }
}

#[derive(Serialize)]
struct Record<'a> {
    time: f64,
    name: &'a str,
    data: Value,
}

impl<W: Write> Tracer<W> {
    /// Starts a file for this flow of `valid`, which is called `name`. A flow without a connection before the run is an error.
    pub fn new(out: W, valid: &Valid, flow: FlowId, name: &str) -> io::Result<Tracer<W>> {
        let slot = Roster::new(valid).slot(flow);
        let group = slot.and_then(|slot| valid.groups().get(slot.group));
        let Some(tcp) = group.and_then(|group| group.tcp.as_ref()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` has no connection")));
        };
        let mut tracer = Tracer {
            out,
            flow,
            payload: tcp.payload.0.max(1),
            packet: (tcp.payload + tcp.header).0,
            number: 0,
            answers: 0,
            una: 0,
            outstanding: VecDeque::new(),
            in_flight: 0,
            arrived: Vec::new(),
            repaired: None,
            trip: Trip::default(),
            failure: None,
        };
        tracer.record(&json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": name,
            "trace": {
                "title": name,
                "description": "a sender of a simulation; each transmission of a segment is a packet",
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
                "vantage_point": { "name": "kneepoint", "type": "server" },
                "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
            },
        }))?;
        Ok(tracer)
    }

    /// Flushes the file and returns the inner writer, or the first write error.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failure {
            Some(failure) => Err(failure),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    fn record(&mut self, record: &impl Serialize) -> io::Result<()> {
        self.out.write_all(&[SEPARATOR])?;
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")
    }

    fn event(&mut self, at: Time, name: &str, data: Value) -> io::Result<()> {
        // Milliseconds, to the nanosecond.
        self.record(&Record { time: at.0 as f64 / 1e6, name, data })
    }

    fn sent(&mut self, at: Time, seq: u64, size: u64) -> io::Result<()> {
        let number = self.number;
        self.number += 1;
        match seq.checked_sub(self.una).map(|place| place as usize) {
            Some(place) if place < self.outstanding.len() => match self.outstanding[place].replace(number) {
                Some(lost) => self.event(at, "quic:packet_lost", json!({ "header": header(lost) }))?,
                None => self.in_flight += 1,
            },
            Some(place) => {
                self.in_flight += (place + 1 - self.outstanding.len()) as u64;
                self.outstanding.resize(place + 1, Some(number));
            }
            // The recovery of segments that had arrived.
            None => {}
        }
        self.event(at, "quic:packet_sent", json!({ "header": header(number), "raw": { "length": size } }))
    }

    fn acked(&mut self, at: Time, bytes: u64, rtt: Option<Span>, window: f64) -> io::Result<()> {
        let segments = bytes.div_ceil(self.payload).min(self.outstanding.len() as u64);
        let before = self.arrived.len();
        self.arrived.extend(self.outstanding.drain(..segments as usize).flatten());
        self.in_flight -= (self.arrived.len() - before) as u64;
        self.una += segments;
        self.answer(at)?;
        let mut metrics = json!({
            "congestion_window": (window * self.packet as f64) as u64,
            "bytes_in_flight": self.in_flight * self.packet,
            "packets_in_flight": self.in_flight,
        });
        if let Some(rtt) = rtt {
            self.trip.update(rtt);
            metrics["latest_rtt"] = json!(rtt.as_millis_f64());
            metrics["smoothed_rtt"] = json!(self.trip.smoothed);
            metrics["rtt_variance"] = json!(self.trip.variance);
            metrics["min_rtt"] = json!(self.trip.least.unwrap_or(rtt).as_millis_f64());
        }
        self.event(at, "quic:recovery_metrics_updated", metrics)?;
        if self.repaired.is_some_and(|until| self.una >= until) {
            self.repaired = None;
            self.state(at, [1, 0], None)?;
        }
        Ok(())
    }

    /// Takes the segments that an acknowledgement reports out of order. Those in order follow as [`Event::Acked`].
    fn hear(&mut self, at: Time, packet: &Packet) -> io::Result<()> {
        let before = self.arrived.len();
        for (first, end) in packet.sack() {
            let from = u64::from(first).max(self.una);
            for segment in from..u64::from(end).max(from) {
                let place = self.outstanding.get_mut((segment - self.una) as usize);
                self.arrived.extend(place.and_then(Option::take));
            }
        }
        self.in_flight -= (self.arrived.len() - before) as u64;
        if u64::from(packet.seq) > self.una { Ok(()) } else { self.answer(at) }
    }

    /// The ACK frame of what arrived.
    fn answer(&mut self, at: Time) -> io::Result<()> {
        let mut acked = std::mem::take(&mut self.arrived);
        if acked.is_empty() {
            return Ok(());
        }
        acked.sort_unstable();
        let frame = json!({ "frame_type": "ack", "acked_ranges": ranges(&acked) });
        let answer = self.answers;
        self.answers += 1;
        self.event(at, "quic:packet_received", json!({ "header": header(answer), "frames": [frame] }))
    }

    fn state(&mut self, at: Time, [old, new]: [usize; 2], trigger: Option<&str>) -> io::Result<()> {
        let mut data = json!({ "old": STATES[old], "new": STATES[new] });
        if let Some(trigger) = trigger {
            data["trigger"] = json!(trigger);
        }
        self.event(at, "quic:congestion_state_updated", data)
    }

    fn take(&mut self, at: Time, event: &Event) -> io::Result<()> {
        match event {
            // The handshake is TCP's.
            Event::Sent { packet, .. } if packet.flow == self.flow.0 && !packet.flags.has(Flags::SYN) => {
                self.sent(at, packet.seq.into(), packet.size.into())
            }
            Event::Delivered { packet, .. }
                if packet.flow == self.flow.0
                    && packet.flags.has(Flags::ACK)
                    && !packet.flags.has(Flags::SYN) =>
            {
                self.hear(at, packet)
            }
            Event::Acked { flow, acked, rtt, window, .. } if *flow == self.flow => {
                self.acked(at, acked.0, *rtt, *window)
            }
            Event::Repair { flow, timeout } if *flow == self.flow => {
                let old = usize::from(self.repaired.is_some());
                self.repaired = Some(self.una + self.outstanding.len() as u64);
                self.state(at, [old, 1], Some(if *timeout { "timeout" } else { "loss" }))
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write> Observer for Tracer<W> {
    fn on(&mut self, at: Time, event: &Event) {
        if self.failure.is_none() {
            self.failure = self.take(at, event).err();
        }
    }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// Numbers in order as ranges: `[7]`, `[10, 22]`.
fn ranges(numbers: &[u64]) -> Vec<Vec<u64>> {
    let runs = numbers.chunk_by(|one, next| next - one == 1);
    runs.map(|run| if let [only] = run { vec![*only] } else { vec![run[0], run[run.len() - 1]] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_a_range() {
        assert_eq!(ranges(&[1, 2, 4, 7, 8, 9]), [vec![1, 2], vec![4], vec![7, 9]]);
        assert!(ranges(&[]).is_empty());
    }
}
