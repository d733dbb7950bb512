// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The packets that one side of a connection logged, and the course of its transfer in segments: another sender can be led through that.
//!
//! ```text
//! segment     an ack-eliciting packet of application data (RFC 9000 §13.2); the first one that is half as long as the longest begins the
//!             course
//! repair      the next packet after one was declared lost: stacks send lost data first, and few log offsets of streams
//! heard       segments of newly acknowledged packets, as cumulative acknowledgement and blocks; the echo is the newest of these packets
//!             (RFC 9002 §5.1)
//! window      of the events of recovery, where stacks log it
//! silent      a log without packets of data. That of a receiver has its acknowledgements, and what they answer
//! derived     without ACK frames, bytes that left flight without a loss are the oldest packets that are never declared lost
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::course::{acked_ranges, carries_data, length, number};
use super::segments::Segments;
use crate::capture::Course;
use crate::units::Time;

/// A packet without a list of frames and no longer than this carries only acknowledgements.
const LONE_ACK: u64 = 64;
/// Frames that are not ack-eliciting (RFC 9002 §2).
const SILENT: [&str; 3] = ["ack", "padding", "connection_close"];

/// What happened to packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Logged {
    /// An ack-eliciting packet was sent. A handshake packet has no number here, because its number space is another one.
    Sent {
        /// Its number.
        number: Option<u64>,
        /// Its length.
        bytes: u64,
    },
    /// One was acknowledged for the first time.
    Acked(u64),
    /// So many bytes left flight without a loss.
    Left(u64),
    /// One was declared lost.
    Lost(u64),
    /// The window is so many bytes.
    Window(u64),
}

/// Why a log tells nothing of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// No packet of application data was sent.
    Silent,
    /// It receives more than it sends.
    Receiver,
    /// Neither ACK frames nor bytes in flight say what was acknowledged.
    Unanswered,
}

impl fmt::Display for Unfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Unfit::Silent => "logs no `packet_sent` with data",
            Unfit::Receiver => "is the log of the receiver: more packets with data arrived than left",
            Unfit::Unanswered => {
                "logs no acknowledgements: neither ACK frames in `packet_received` nor `bytes_in_flight` in the events of recovery"
            }
        })
    }
}

/// The packets of a connection, as one side logged them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    events: Vec<(Time, Logged)>,
    /// Bytes of packets that were sent and not acknowledged.
    open: BTreeMap<u64, u64>,
    sent: u64,
    /// Packets of application data that were received, as far as is known not only with acknowledgements.
    received: u64,
    /// Whether packets were sent only to acknowledge.
    answers: bool,
    largest: u64,
    has_frames: bool,
    /// Bytes in flight by the last event of recovery and what was sent and lost since.
    in_flight: Option<u64>,
    doubts: Vec<String>,
}

impl Exchange {
    pub(super) fn take(&mut self, at: Time, name: &str, data: &Value) {
        match name.rsplit(':').next().unwrap_or_default() {
            "packet_sent" => self.send(at, data),
            "packet_received" => self.receive(at, data),
            "packet_lost" => self.lose(at, data),
            "metrics_updated" | "recovery_metrics_updated" => self.measure(at, data),
            _ => {}
        }
    }

    fn send(&mut self, at: Time, data: &Value) {
        let (number, bytes) = (number(data), length(data));
        if !asks(data, bytes) {
            self.answers |= carries_data(data) && is_told(data, bytes);
            return;
        }
        self.in_flight = self.in_flight.map(|known| known.saturating_add(bytes));
        if let Some(number) = number {
            self.sent += 1;
            self.largest = self.largest.max(bytes);
            self.open.insert(number, bytes);
        }
        self.events.push((at, Logged::Sent { number, bytes }));
    }

    fn receive(&mut self, at: Time, data: &Value) {
        if !carries_data(data) {
            return;
        }
        let bytes = length(data);
        self.received += u64::from(asks(data, bytes) || !is_told(data, bytes));
        for (from, to) in acked_ranges(data) {
            self.has_frames = true;
            while let Some((&number, _)) = self.open.range(from..=to).next() {
                self.open.remove(&number);
                self.events.push((at, Logged::Acked(number)));
            }
        }
    }

    fn lose(&mut self, at: Time, data: &Value) {
        let number = number(data);
        let known = number.and_then(|number| self.open.get(&number).copied());
        let bytes = known.unwrap_or_else(|| length(data));
        self.in_flight = self.in_flight.map(|before| before.saturating_sub(bytes));
        self.events.extend(number.map(|number| (at, Logged::Lost(number))));
    }

    fn measure(&mut self, at: Time, data: &Value) {
        let window = data["congestion_window"].as_u64().or(data["cwnd"].as_u64());
        self.events.extend(window.map(|bytes| (at, Logged::Window(bytes))));
        let Some(now) = data["bytes_in_flight"].as_u64() else { return };
        let left = self.in_flight.replace(now).map_or(0, |before| before.saturating_sub(now));
        if left > 0 {
            self.events.push((at, Logged::Left(left)));
        }
    }

    pub(super) fn doubt(&mut self, remarks: impl IntoIterator<Item = String>) {
        self.doubts.extend(remarks);
    }

    /// What the log cannot mean, and what was done with it. Sentences.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Whether acknowledgements are derived from bytes in flight.
    pub fn is_derived(&self) -> bool {
        !self.has_frames
    }

    /// The course of what this side sent.
    pub fn course(&self) -> Result<Course, Unfit> {
        let answered = self.has_frames || self.events.iter().any(|(_, what)| matches!(what, Logged::Left(_)));
        match () {
            () if self.sent == 0 && !(self.answers && self.received > 0) => return Err(Unfit::Silent),
            () if 2 * self.sent < self.received => return Err(Unfit::Receiver),
            () if !answered => return Err(Unfit::Unanswered),
            () => {}
        }
        let lost: BTreeSet<u64> = self.events.iter().filter_map(|(_, what)| what.lost()).collect();
        let mut segments = Segments::new(self.largest.div_ceil(2), (!self.has_frames).then_some(lost));
        self.events.iter().for_each(|(at, what)| segments.take(*at, *what));
        let (steps, windows) = segments.finish();
        Ok(Course {
            steps,
            mss: u32::try_from(self.largest).unwrap_or(u32::MAX),
            opening: None,
            selective: true,
            guessed: false,
            // An acknowledgement says which packets it answers.
            timestamps: true,
            expires: false,
            dated: false,
            vantage: None,
            windows: windows
                .into_iter()
                .map(|(after, bytes)| (after, bytes as f64 / self.largest.max(1) as f64))
                .collect(),
        })
    }
}

impl Logged {
    fn lost(self) -> Option<u64> {
        match self {
            Logged::Lost(number) => Some(number),
            _ => None,
        }
    }
}

/// Whether a packet is ack-eliciting.
fn asks(data: &Value, bytes: u64) -> bool {
    let frames = data["frames"].as_array().filter(|frames| !frames.is_empty());
    let kind = |frame: &Value| frame["frame_type"].as_str().is_some_and(|kind| SILENT.contains(&kind));
    frames.map_or(bytes > LONE_ACK, |frames| !frames.iter().all(kind))
}

/// Whether the log says what is in a packet. Some stacks log neither frames nor lengths of what they receive.
fn is_told(data: &Value, bytes: u64) -> bool {
    bytes > 0 || data["frames"].is_array()
}

#[cfg(test)]
mod tests;
