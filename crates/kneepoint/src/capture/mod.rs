// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures of real traffic: the bytes of pcap and pcapng files to TCP segments, and those to what a sender could
//! have known.
//!
//! Ethernet with or without VLAN tags, raw IP, BSD loopback and Linux cooked captures; IPv4 and IPv6. A capture of both
//! directions may be in several files, as one for each interface. Packets that are not TCP are counted and left
//! alone; a file that is not what it says it is gets an error with its place.

mod file;
mod headers;
mod outstanding;
mod transfer;

use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::fmt;

pub use transfer::{Transfer, Vantage};

use crate::units::Time;

/// What is wrong with a capture, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The byte of the file, from 0.
    pub offset: usize,
    /// What was expected there.
    pub message: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

/// One direction of a connection: who sends to whom.
pub type Direction = (SocketAddr, SocketAddr);

/// A TCP segment as it passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// When.
    pub at: Time,
    /// Its sequence number.
    pub seq: u32,
    /// What it acknowledges.
    pub ack: Option<u32>,
    /// Whether it opens a connection.
    pub syn: bool,
    /// Bytes of payload, captured or not.
    pub payload: u32,
    /// Ranges received out of order; empty ones last.
    pub sack: [(u32, u32); 4],
    /// Its timestamp and the one that it echoes.
    pub timestamps: Option<(u32, u32)>,
    /// The largest segment that its sender takes.
    pub mss: Option<u16>,
}

/// Segments of all connections in one or several files.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    segments: BTreeMap<Direction, Vec<Segment>>,
    others: u64,
}

/// Whether a file begins as a capture does.
pub fn is_capture(bytes: &[u8]) -> bool {
    file::Kind::of(bytes).is_some()
}

impl Capture {
    /// Takes in a file.
    pub fn read(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let Capture { segments, others } = self;
        file::frames(bytes, |frame| match headers::segment(frame) {
            Some((direction, segment)) => segments.entry(direction).or_default().push(segment),
            None => *others += 1,
        })
    }

    /// Packets that were no whole TCP header over IP.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Every direction in which data travelled, with its bytes, the most first.
    pub fn senders(&self) -> Vec<(Direction, u64)> {
        let carried = |segments: &[Segment]| segments.iter().map(|segment| u64::from(segment.payload)).sum();
        let all = self.segments.iter().map(|(direction, segments)| (*direction, carried(segments)));
        let mut all: Vec<(Direction, u64)> = all.filter(|(_, bytes)| *bytes > 0).collect();
        all.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        all
    }

    /// The segments of one direction, as they were read.
    pub fn segments(&self, direction: Direction) -> &[Segment] {
        self.segments.get(&direction).map_or(&[], Vec::as_slice)
    }

    /// What the sender of one direction could have known; none if it sent no data.
    pub fn transfer(&self, (from, to): Direction) -> Option<Transfer> {
        let (data, answers) = (self.segments((from, to)), self.segments((to, from)));
        data.iter().any(|segment| segment.payload > 0).then(|| Transfer::new(data, answers))
    }
}

/// Reads `ADDRESS:PORT-ADDRESS:PORT`, the sender first; IPv6 addresses stand in brackets.
pub fn parse_direction(text: &str) -> Option<Direction> {
    let (from, to) = text.split_once('-')?;
    Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
}
