// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observations of a connection.

use kneepoint::units::Span;

use super::plan::Plan;

/// A played plan.
#[derive(Clone, Debug)]
pub struct Played {
    /// The plan.
    pub plan: Plan,
    /// All events, in order.
    pub records: Vec<Record>,
    /// The greatest lateness of the player.
    pub late: Span,
    /// The ticks of the kernel's clock, at which its timers expire.
    pub ticks: Ticks,
    /// The failure, if any.
    pub failure: Option<String>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The time since the SYN was handed to the kernel.
    pub at: Span,
    /// What.
    pub what: What,
}

/// The recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The application wrote this many bytes.
    Wrote(u32),
    /// The kernel received it.
    Inbound(Segment),
    /// The kernel sent it.
    Outbound(Segment),
}

/// A segment. Sequence numbers count from the first of each direction, as in packetdrill; the kernel's timestamps count
/// from
/// [`STAMP_ORIGIN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The bits of the header, CWR the greatest.
    pub flags: u8,
    /// The first byte.
    pub seq: u32,
    /// Bytes of payload.
    pub length: u32,
    /// The next byte that is expected.
    pub ack: u32,
    /// The receive window, unscaled.
    pub window: u16,
    /// Selectively acknowledged ranges.
    pub blocks: Vec<(u32, u32)>,
    /// The sender's clock and the echo of the other's.
    pub stamps: Option<(u32, u32)>,
}

/// The kernel's first timestamp in a record.
pub const STAMP_ORIGIN: u32 = 100;

/// The kernel's clock ticks: its timers expire only at ticks, and distant ones at every eighth or sixty-fourth tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// The time between two.
    pub every: Span,
    /// The first after the beginning.
    pub first: Span,
    /// Its number, modulo 4096.
    pub number: u32,
}
