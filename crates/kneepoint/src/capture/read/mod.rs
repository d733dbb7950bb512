// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads pcap and pcapng files into TCP segments, and derives the signals of the sender from these.
//!
//! IPv4 and IPv6 over the link layers of [`supported`]. The two directions may come from several files, such as one per
//! interface, and what was captured more than once counts once. Packets other than TCP are counted and skipped; a file
//! that was cut off is used up to there; a malformed one is an error with its byte offset.

mod copies;
mod file;
mod headers;
mod outstanding;
mod transfer;

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::fmt;

use copies::{Once, Point, Points};
use file::End;
pub use headers::supported;
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
    /// Identification of the IPv4 packet.
    pub id: Option<u16>,
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
    segments: BTreeMap<Direction, Points>,
    files: u32,
    others: u64,
    /// Frames of link layers that are not read, by their numbers.
    foreign: BTreeMap<i32, u64>,
}

/// Whether a file starts with the magic number of pcap or pcapng.
pub fn is_capture(bytes: &[u8]) -> bool {
    file::Kind::of(bytes).is_some()
}

impl Capture {
    /// Adds the segments of a file. Where it was cut off, the place is told, and what is before it was read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Option<Malformed>, Malformed> {
        let Capture { segments, files, others, foreign } = self;
        *files += 1;
        let read = file::frames(bytes, |frame| match headers::segment(frame) {
            Some((direction, segment)) => {
                let place = headers::place(frame.link, frame.bytes);
                let point = Point { file: *files, interface: frame.interface, place };
                segments.entry(direction).or_default().entry(point).or_default().push(segment);
            }
            None if headers::supports(frame.link) => *others += 1,
            None => *foreign.entry(frame.link).or_default() += 1,
        });
        match read {
            Ok(()) => Ok(None),
            Err(End::Cut(cut)) => Ok(Some(cut)),
            Err(End::Fault(fault)) => Err(fault),
        }
    }

    /// Packets without a complete TCP header over IP.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Frames of link layers that are not read: the number of each, and how many.
    pub fn foreign(&self) -> impl Iterator<Item = (i32, u64)> {
        self.foreign.iter().map(|(link, frames)| (*link, *frames))
    }

    /// Every direction that carried data, with its payload bytes at the point that saw most, largest first.
    pub fn senders(&self) -> Vec<(Direction, u64)> {
        let payload =
            |segments: &Vec<Segment>| segments.iter().map(|segment| u64::from(segment.payload)).sum();
        let carried = |points: &Points| points.values().map(payload).max().unwrap_or(0);
        let all = self.segments.iter().map(|(direction, points)| (*direction, carried(points)));
        let mut all: Vec<(Direction, u64)> = all.filter(|(_, bytes)| *bytes > 0).collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all
    }

    /// The segments of one direction, by point of capture in the order of reading.
    pub fn segments(&self, direction: Direction) -> impl Iterator<Item = &Segment> {
        self.segments.get(&direction).into_iter().flat_map(Points::values).flatten()
    }

    /// The transfer in one direction; `None` if it carried no data.
    pub fn transfer(&self, (from, to): Direction) -> Option<Transfer> {
        let none = Points::new();
        let points = |direction| self.segments.get(&direction).unwrap_or(&none);
        let carries = self.segments((from, to)).any(|segment| segment.payload > 0);
        carries.then(|| Transfer::new(Once::of(points((from, to)), points((to, from)))))
    }
}

/// Parses `ADDRESS:PORT-ADDRESS:PORT`, sender first; IPv6 addresses in brackets.
pub fn parse_direction(text: &str) -> Option<Direction> {
    let (from, to) = text.split_once('-')?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}
