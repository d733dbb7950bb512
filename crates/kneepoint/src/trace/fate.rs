// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What becomes of a packet at a queue or on a link, and how much waits.

use crate::units::Bytes;

/// What waits in a queue; the packet in transmission has left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many packets.
    pub packets: u32,
    /// How many bytes.
    pub bytes: Bytes,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits, or passed.
    Passed,
    /// So, with a congestion mark.
    Marked,
    /// It is gone.
    Dropped(Reason),
}

/// Why a packet is gone.
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
}

impl Reason {
    /// Every reason, in order.
    pub const ALL: [Reason; 4] = [Reason::Overflow, Reason::Early, Reason::Late, Reason::Channel];

    /// As tables name it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Overflow => "overflow",
            Reason::Early => "early",
            Reason::Late => "late",
            Reason::Channel => "channel",
        }
    }
}
