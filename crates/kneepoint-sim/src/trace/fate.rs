// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fate of a packet at a queue or on a link, and how much waits.

use crate::units::Bytes;

/// The length of a queue, without the packet in transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// The number of packets.
    pub packets: u32,
    /// The number of bytes.
    pub bytes: Bytes,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It waits, or was sent.
    Passed,
    /// The same, with a congestion mark.
    Marked,
    /// It was dropped.
    Dropped(Reason),
}

/// The effect of a link on a packet that it forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alteration {
    /// It continues with a wrong bit, so its receiver ignores it.
    Corrupted,
    /// It continues twice.
    Duplicated,
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The limit left no room.
    Overflow,
    /// The discipline dropped it on arrival.
    Early,
    /// The discipline dropped it at the head of the queue.
    Late,
    /// The channel lost it, after transmission.
    Channel,
    /// The discipline dropped it while it waited, in favour of an arrival.
    PushedOut,
    /// A policer dropped it, before the queue.
    Policed,
}

impl Reason {
    /// Every reason, in order.
    pub const ALL: [Reason; 6] =
        [Reason::Overflow, Reason::Early, Reason::Late, Reason::Channel, Reason::PushedOut, Reason::Policed];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Overflow => "overflow",
            Reason::Early => "early",
            Reason::Late => "late",
            Reason::Channel => "channel",
            Reason::PushedOut => "pushed_out",
            Reason::Policed => "policed",
        }
    }
}
