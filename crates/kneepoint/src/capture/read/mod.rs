// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads pcap and pcapng files into TCP segments, and derives the signals of the sender from these.
//!
//! Link layers: Ethernet with or without VLAN tags, raw IP, BSD loopback, Linux cooked; IPv4 and IPv6. The two
//! directions may come from several files, such as one per interface. Packets other than TCP are counted and skipped;
//! a malformed file is an error with its byte offset.

mod file;
mod headers;
mod outstanding;
mod transfer;

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::fmt;

pub use transfer::{Transfer, Vantage};

use crate::units::Time;

/// A malformed capture: the place and the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Byte offset in the file.
    pub offset: usize,
    /// The fault.
    pub message: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

/// One direction of a connection: source and destination.
pub type Direction = (SocketAddr, SocketAddr);

/// A captured TCP segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Capture time.
    pub at: Time,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: Option<u32>,
    /// Whether the SYN flag is set.
    pub syn: bool,
    /// Bytes of payload, captured or not.
    pub payload: u32,
    /// SACK blocks; unused ones are empty and come last.
    pub sack: [(u32, u32); 4],
    /// Timestamp value and echo reply (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// Maximum segment size option, in bytes.
    pub mss: Option<u16>,
}

/// Segments of all connections in one or more files.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    segments: BTreeMap<Direction, Vec<Segment>>,
    others: u64,
}

/// Whether a file starts with the magic number of pcap or pcapng.
pub fn is_capture(bytes: &[u8]) -> bool {
    file::Kind::of(bytes).is_some()
}

impl Capture {
    /// Adds the segments of a file.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let Capture { segments, others } = self;
        file::frames(bytes, |frame| match headers::segment(frame) {
            Some((direction, segment)) => segments.entry(direction).or_default().push(segment),
            None => *others += 1,
        })
    }

    /// Packets without a complete TCP header over IP.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Every direction that carried data, with its payload bytes, largest first.
    pub fn senders(&self) -> Vec<(Direction, u64)> {
        let carried = |segments: &[Segment]| segments.iter().map(|segment| u64::from(segment.payload)).sum();
        let all = self.segments.iter().map(|(direction, segments)| (*direction, carried(segments)));
        let mut all: Vec<(Direction, u64)> = all.filter(|(_, bytes)| *bytes > 0).collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all
    }

    /// The segments of one direction, in the order of reading.
    pub fn segments(&self, direction: Direction) -> &[Segment] {
        self.segments.get(&direction).map_or(&[], Vec::as_slice)
    }

    /// The transfer in one direction; `None` if it carried no data.
    pub fn transfer(&self, (from, to): Direction) -> Option<Transfer> {
        let (data, answers) = (self.segments((from, to)), self.segments((to, from)));
        data.iter().any(|segment| segment.payload > 0).then(|| Transfer::new(data, answers))
    }
}

/// Parses `ADDRESS:PORT-ADDRESS:PORT`, sender first; IPv6 addresses in brackets.
pub fn parse_direction(text: &str) -> Option<Direction> {
    let (from, to) = text.split_once('-')?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}
