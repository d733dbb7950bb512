// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reductions that prove needless, and are undone.
//!
//! Three proofs, as Linux has them (`tcp_may_undo`, `tcp_try_undo_*`):
//!
//! ```text
//! D-SACK  every retransmission of the episode was reported as a duplicate             RFC 3708 §3
//! Eifel   an acknowledgement of new data echoes a timestamp that is older than the first retransmission   RFC 4015 §3
//! F-RTO   after a timeout something arrives that was never retransmitted              RFC 5682 §3
//! ```
//!
//! Undoing restores the former window, unless the present one is larger; so does it with the threshold. After a mark
//! nothing is undone: it means congestion, regardless of the fate of the segments.

use crate::packet::Packet;
use crate::units::Time;

/// The millisecond of a timestamp (RFC 7323), which senders compare in whole ones.
pub fn millisecond(time: Time) -> u64 {
    time.0 / 1_000_000
}

/// The state that undoing a reduction needs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// The first segment outstanding at the beginning of the episode, if one is in progress that may be undone.
    pub marker: Option<u32>,
    /// Retransmissions of the episode that no D-SACK has reported; none before the first.
    pub unreported: Option<u32>,
    /// The time of the first retransmission.
    pub first: Option<Time>,
    /// The window at the beginning of the episode.
    pub window: f64,
    /// The threshold at the beginning of the episode, unless a mark forbids undoing it.
    pub threshold: Option<f64>,
}

impl Undo {
    /// An episode begins, with `resent` retransmissions in flight.
    pub fn begin(&mut self, una: u32, resent: u32) {
        self.marker = Some(una);
        self.unreported = (resent > 0).then_some(resent);
    }

    /// A segment was retransmitted.
    pub fn resent(&mut self, now: Time) {
        self.first = self.first.or(Some(now));
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// A D-SACK reports `segments`, of which the last is `last`.
    pub fn report(&mut self, last: u32, segments: u32) {
        if let Some(unreported) = &mut self.unreported
            && self.marker.is_some_and(|marker| last >= marker)
        {
            *unreported = unreported.saturating_sub(segments);
        }
    }

    /// Whether D-SACKs reported all retransmissions.
    pub fn all_reported(&self) -> bool {
        self.marker.is_some() && self.unreported == Some(0)
    }

    /// Whether an acknowledgement answers a segment that was sent before the first retransmission; true if nothing was
    /// retransmitted.
    pub fn delayed(&self, packet: &Packet, timestamps: bool) -> bool {
        match self.first {
            Some(first) => timestamps && millisecond(packet.sent) < millisecond(first),
            None => true,
        }
    }
}
