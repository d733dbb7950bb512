// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads pcap and pcapng files into TCP segments, and derives the signals of the sender from these.
//!
//! IPv4 and IPv6 over the link layers of [`supported`], also through tunnels and in fragments. The two directions may come from several
//! files, such as one per interface, and packets captured more than once count once. Packets other than TCP are counted
//! and skipped;
//! a file that was cut off is used up to there; a malformed one is an error with its byte offset.

mod clocks;
mod copies;
mod course;
mod exported;
mod file;
mod formats;
mod fragments;
mod guessed;
mod internet;
mod links;
mod others;
mod outstanding;
mod probes;
mod ranges;
mod sizes;
mod stamps;
mod tcp;
mod transfer;
mod tunnels;
mod work;

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::fmt;

pub use clocks::ClockStep;
use clocks::Clocks;
use copies::{Once, Point, Points};
pub use course::{Course, Happened, Step};
pub use exported::is_export;
use file::{End, Record};
pub use formats::{Format, foreign_format};
use internet::{Decoder, Found};
pub use links::supported;
pub use others::Other;
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Place of its packet in the file, from 1; of the last fragment, if it came in several.
    pub number: u64,
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
    /// The window, in units of the receiver; none of a reset.
    pub window: Option<u16>,
    /// Whether the capture cut the header off, and options with it.
    pub cut: bool,
}

/// Segments of all connections in one or more files.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    segments: BTreeMap<Direction, Points>,
    files: u32,
    others: BTreeMap<Other, u64>,
    /// Frames of link layers that are not read, by their numbers.
    foreign: BTreeMap<i32, u64>,
    steps: Vec<ClockStep>,
    setbacks: u64,
    fragmented: Fragmented,
}

/// Packets that came in IP fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragmented {
    /// Reassembled packets.
    pub whole: u64,
    /// Packets with missing fragments.
    pub incomplete: u64,
}

/// A packet that has no time.
const TIMELESS: Other = Other::Named("simple packet blocks of pcapng, which have no time");
/// A fragment without ports.
const LONE: Other = Other::Named("IP fragments without the first one of their packet");

/// Whether a file starts with the magic number of pcap or pcapng.
pub fn is_capture(bytes: &[u8]) -> bool {
    file::Kind::of(bytes).is_some()
}

impl Capture {
    /// Adds the segments of a file. The place of a truncation is reported, and the part before it was read.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Option<Malformed>, Malformed> {
        self.files += 1;
        let (mut decoder, mut clocks, mut number) = (Decoder::default(), Clocks::default(), 0);
        let read = file::records(bytes, |record| {
            number += 1;
            let Record::Frame(frame) = record else { return self.skip(TIMELESS, 1) };
            clocks.note(frame.interface, number, frame.at);
            if !links::supports(frame.link) {
                *self.foreign.entry(frame.link).or_default() += 1;
                return;
            }
            let place = links::place(frame.link, frame.bytes);
            let point = Point { file: self.files, interface: frame.interface, place };
            self.take(number, point, decoder.segment(&frame, point));
        });
        self.fragmented.whole += decoder.put_together();
        let left = decoder.finish();
        self.skip(LONE, left.lone);
        for (point, found) in left.incomplete {
            self.fragmented.incomplete += 1;
            self.take(number, point, found);
        }
        self.setbacks += clocks.setbacks;
        self.steps.extend(clocks.mend(&mut self.segments, self.files));
        match read {
            Ok(()) => Ok(None),
            Err(End::Cut(cut)) => Ok(Some(cut)),
            Err(End::Fault(fault)) => Err(fault),
        }
    }

    fn take(&mut self, number: u64, point: Point, found: Found) {
        match found {
            Ok(Some((direction, segment))) => {
                let seen = self.segments.entry(direction).or_default().entry(point).or_default();
                seen.push(Segment { number, ..segment });
            }
            Ok(None) => {}
            Err(other) => self.skip(other, 1),
        }
    }

    fn skip(&mut self, other: Other, packets: u64) {
        if packets > 0 {
            *self.others.entry(other).or_default() += packets;
        }
    }

    /// Packets without a TCP header over IP that can be read.
    pub fn others(&self) -> u64 {
        self.others.values().sum()
    }

    /// The same by kind, the most frequent first.
    pub fn kinds(&self) -> Vec<(Other, u64)> {
        let mut kinds: Vec<(Other, u64)> =
            self.others.iter().map(|(other, count)| (*other, *count)).collect();
        kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        kinds
    }

    /// Packets that came in IP fragments.
    pub fn fragmented(&self) -> Fragmented {
        self.fragmented
    }

    /// Clocks that were set while they captured, in the order of the files.
    pub fn clock_steps(&self) -> &[ClockStep] {
        &self.steps
    }

    /// How often time went backwards between two packets of an interface, by less than a set clock would explain.
    pub fn setbacks(&self) -> u64 {
        self.setbacks
    }

    /// TCP segments, with data or without.
    pub fn tcp(&self) -> u64 {
        self.segments.values().flat_map(Points::values).map(|segments| segments.len() as u64).sum()
    }

    /// TCP headers that the capture cut off, and options with them.
    pub fn cut_headers(&self) -> u64 {
        let all = self.segments.values().flat_map(Points::values).flatten();
        all.filter(|segment| segment.cut).count() as u64
    }

    /// Directions without data that acknowledge data of a direction that is not in the capture, and how many bytes, largest first.
    pub fn answers_alone(&self) -> Vec<(Direction, u64)> {
        let carried = |direction| self.segments(direction).any(|segment| segment.payload > 0);
        let acknowledged = |direction| {
            let mut numbers = self.segments(direction).filter_map(|segment| segment.ack);
            let first = numbers.next()?;
            let most = numbers.map(|ack| ack.wrapping_sub(first) as i32).max()?;
            // A SYN or a FIN has its own number.
            u64::try_from(most).ok().filter(|bytes| *bytes > 2)
        };
        let missing = |(from, to): &&Direction| !carried((*to, *from));
        let alone = self.segments.keys().filter(missing);
        let mut alone: Vec<_> =
            alone.filter_map(|&direction| Some((direction, acknowledged(direction)?))).collect();
        alone.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        alone
    }

    /// Whether there are acknowledgements of the data of a direction, after its handshake.
    pub fn is_answered(&self, (from, to): Direction) -> bool {
        self.segments((to, from)).any(|segment| segment.ack.is_some() && !segment.syn)
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

    /// The course of the transfer in one direction, at its sender; `None` if it carried no data.
    pub fn course(&self, (from, to): Direction) -> Option<Course> {
        let none = Points::new();
        let points = |direction| self.segments.get(&direction).unwrap_or(&none);
        let carries = self.segments((from, to)).any(|segment| segment.payload > 0);
        carries.then(|| Course::new(&Once::of(points((from, to)), points((to, from)))))
    }
}

/// Parses `ADDRESS:PORT-ADDRESS:PORT`, sender first; IPv6 addresses in brackets.
pub fn parse_direction(text: &str) -> Option<Direction> {
    let (from, to) = text.split_once('-')?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}
