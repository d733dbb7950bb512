// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A connection from its first event to its last.

use std::collections::BTreeMap;

use serde_json::Value;

use super::clock::LATEST;
use crate::capture::Transfer;
use crate::predict::Sample;
use crate::units::{Span, Time};

/// QUIC's least packet, where no packet is larger.
const LEAST: u64 = 1200;

/// The state of a sender's recovery. Quantities that a stack does not log are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instant {
    /// When.
    pub at: Time,
    /// The congestion window in bytes.
    pub window: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// The smallest round-trip time so far.
    pub least: Option<Span>,
    /// The smoothed round-trip time.
    pub smoothed: Option<Span>,
    /// The latest round-trip time.
    pub latest: Option<Span>,
    /// Bytes of packets that were acknowledged so far.
    pub delivered: u64,
}

/// Data gathered while events pass.
#[derive(Default)]
pub(super) struct Course {
    transfer: Transfer,
    /// Packets in flight: when each left, and its bytes.
    outstanding: BTreeMap<u64, (Time, u64)>,
    largest: u64,
    /// Packets acknowledged since the last sample.
    acked: u32,
    /// The latest round trip, in the file's own number.
    latest: Option<f64>,
    /// The window in bytes at each sample.
    windows: Vec<u64>,
    now: Instant,
    instants: Vec<Instant>,
    packets_in_flight: Option<u64>,
    /// Packets and bytes lost since the last event of recovery.
    lost: (u64, u64),
    /// Whether acknowledged packets are known by their numbers.
    has_frames: bool,
    /// Whether a packet was sent, and one received after that.
    asked: bool,
    answered: bool,
}

impl Course {
    pub(super) fn take(&mut self, at: Time, name: &str, data: &Value) {
        self.transfer.lasted = self.transfer.lasted.max(at.since(Time::ZERO));
        // Categories changed from draft to draft.
        match name.rsplit(':').next().unwrap_or_default() {
            "packet_sent" => self.sent(at, data),
            "packet_received" => self.received(data),
            "packet_lost" => self.lose(at, data),
            "metrics_updated" | "recovery_metrics_updated" => self.measured(at, data),
            _ => {}
        }
    }

    fn sent(&mut self, at: Time, data: &Value) {
        self.asked = true;
        let Some(number) = number(data) else { return };
        let bytes = length(data);
        self.largest = self.largest.max(bytes);
        self.transfer.packets += 1;
        self.transfer.bytes = self.transfer.bytes.saturating_add(bytes);
        self.outstanding.insert(number, (at, bytes));
    }

    fn received(&mut self, data: &Value) {
        if self.asked && !self.answered {
            self.answered = true;
            // The round trip before any answer is an initial estimate.
            self.transfer.samples.clear();
            self.windows.clear();
            for instant in self.instants.iter_mut().chain([&mut self.now]) {
                (instant.least, instant.smoothed, instant.latest) = (None, None, None);
            }
        }
        if !carries_data(data) {
            return;
        }
        for (from, to) in acked_ranges(data) {
            self.has_frames = true;
            let within = self.outstanding.range(from..=to).map(|(number, _)| *number).collect::<Vec<_>>();
            for number in within {
                let (_, bytes) = self.outstanding.remove(&number).unwrap_or_default();
                self.now.delivered = self.now.delivered.saturating_add(bytes);
                self.acked += 1;
            }
        }
    }

    fn lose(&mut self, at: Time, data: &Value) {
        let Some(number) = number(data) else { return };
        let sent = self.outstanding.remove(&number);
        self.lost = (self.lost.0 + 1, self.lost.1.saturating_add(sent.map_or(0, |(_, bytes)| bytes)));
        self.transfer.losses.push(sent.map_or(at, |(sent, _)| sent));
    }

    fn measured(&mut self, at: Time, data: &Value) {
        let whole = |names: &[&str]| names.iter().find_map(|name| data[*name].as_u64());
        let span = |name: &str| milliseconds(data, name).map(|trip| Span(libm::round(trip * 1e6) as u64));
        let now = &mut self.now;
        now.at = at;
        now.window = whole(&["congestion_window", "cwnd"]).or(now.window);
        now.least = span("min_rtt").or(now.least);
        now.smoothed = span("smoothed_rtt").or(now.smoothed);
        now.latest = span("latest_rtt").or(now.latest);
        let (packets, bytes) = std::mem::take(&mut self.lost);
        let left = fall(&mut self.packets_in_flight, whole(&["packets_in_flight"])).saturating_sub(packets);
        let gone = fall(&mut now.in_flight, whole(&["bytes_in_flight"])).saturating_sub(bytes);
        if !self.has_frames {
            self.acked = self.acked.saturating_add(u32::try_from(left).unwrap_or(u32::MAX));
            now.delivered = now.delivered.saturating_add(gone);
        }
        self.instants.push(*now);
        self.sample(at, data);
    }

    fn sample(&mut self, now: Time, data: &Value) {
        let Some(latest) = milliseconds(data, "latest_rtt") else { return };
        let same = self.latest.replace(latest) == Some(latest);
        if same && self.acked == 0 {
            return;
        }
        let acked = std::mem::take(&mut self.acked).max(1);
        let rtt = Span(libm::round(latest * 1e6) as u64);
        self.transfer.samples.push(Sample { now, rtt, window: 1.0, one_way: None, acked });
        self.windows.push(self.now.window.unwrap_or(0));
    }

    pub(super) fn finish(mut self) -> (Transfer, Vec<Instant>) {
        let mss = if self.largest > 0 { self.largest } else { LEAST };
        self.transfer.mss = u32::try_from(mss).unwrap_or(u32::MAX);
        for (sample, window) in self.transfer.samples.iter_mut().zip(&self.windows) {
            sample.window = (*window as f64 / mss as f64).max(1.0);
        }
        self.transfer.losses.sort_unstable();
        (self.transfer, self.instants)
    }
}

/// By how much a quantity fell, if it is known now.
fn fall(known: &mut Option<u64>, now: Option<u64>) -> u64 {
    let Some(now) = now else { return 0 };
    known.replace(now).map_or(0, |before| before.saturating_sub(now))
}

/// A round trip that was logged, above zero.
fn milliseconds(data: &Value, name: &str) -> Option<f64> {
    data[name].as_f64().filter(|trip| *trip > 0.0 && *trip < LATEST)
}

/// The ranges of packets that a packet acknowledges, with their last numbers.
pub(super) fn acked_ranges(data: &Value) -> impl Iterator<Item = (u64, u64)> {
    let frames = data["frames"].as_array().into_iter().flatten();
    let acks = frames.filter(|frame| frame["frame_type"] == "ack");
    let ranges = acks.filter_map(|ack| ack["acked_ranges"].as_array()).flatten();
    let ends = ranges.filter_map(|range| {
        let from = range[0].as_u64()?;
        Some((from, range[1].as_u64().unwrap_or(from)))
    });
    ends.filter(|(from, to)| from <= to)
}

/// The length of a packet. Some stacks write it into the header.
pub(super) fn length(data: &Value) -> u64 {
    let lengths = [&data["raw"]["length"], &data["header"]["packet_size"], &data["header"]["length"]];
    lengths.into_iter().find_map(Value::as_u64).unwrap_or(0)
}

/// The number of a packet that may carry data.
pub(super) fn number(data: &Value) -> Option<u64> {
    let number = data["header"]["packet_number"].as_u64().or(data["packet_number"].as_u64());
    number.filter(|_| carries_data(data))
}

/// Whether a packet may carry data: handshake packets have their own number space.
pub(super) fn carries_data(data: &Value) -> bool {
    kind(data).is_none() || is_application(data)
}

/// Whether a packet is known to be of application data.
pub(super) fn is_application(data: &Value) -> bool {
    kind(data).is_some_and(|kind| matches!(kind, "1RTT" | "0RTT" | "application_data"))
}

/// The type of a packet, where it was logged.
fn kind(data: &Value) -> Option<&str> {
    let kinds = [&data["header"]["packet_type"], &data["packet_type"], &data["type"]];
    kinds.into_iter().find_map(Value::as_str)
}
