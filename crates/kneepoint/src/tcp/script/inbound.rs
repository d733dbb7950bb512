// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From an acknowledgement of a script to the packet that the sender takes in.

use super::plan::{Agreed, Arrival};
use crate::packet::{Flags, Packet};
use crate::units::{Span, Time};

/// The clock of timestamps: the value that the host's first one had, and when it was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub value: u32,
    pub at: Time,
}

impl Clock {
    /// When the timestamp of this value was sent: Linux counts milliseconds.
    fn time(self, value: u32) -> Time {
        match value.checked_sub(self.value) {
            Some(after) => self.at + Span::from_millis(u64::from(after)),
            None => Time(self.at.0.saturating_sub(u64::from(self.value - value) * 1_000_000)),
        }
    }
}

/// The packet, which arrives `now`. Without timestamps it says nothing of when the packet that it answers was sent.
pub(super) fn packet(arrival: &Arrival, clock: Option<Clock>, now: Time) -> Packet {
    let flags = Flags::ACK.with_if(arrival.echo, Flags::ECE);
    let sent = match (clock, arrival.echoed) {
        (Some(clock), Some(echoed)) => clock.time(echoed).min(now),
        _ => now,
    };
    Packet::ack(0, arrival.ack, 40, flags, sent, arrival.blocks)
}

/// The packet with the receive window, in whole segments.
pub(super) fn with_window(packet: Packet, window: Option<u64>, agreed: Agreed) -> Packet {
    match window.map(|window| window / u64::from(agreed.payload)) {
        Some(segments) => packet.with_receive_window(segments.min(u64::from(u32::MAX)) as u32),
        None => packet,
    }
}
