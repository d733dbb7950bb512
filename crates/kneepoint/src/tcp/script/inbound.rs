// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From an acknowledgement of a script to the packet that the sender takes in.

use super::plan::{Agreed, Arrival};
use crate::packet::{Flags, Packet};
use crate::tcp::Options;
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

/// The options of a host that learns the receive window in this acknowledgement.
pub(super) fn with_window(options: Options, agreed: Agreed, window: Option<u64>) -> Options {
    let packets = window.map(|window| window / u64::from(agreed.payload));
    let max_window = packets.map_or(options.max_window, |packets| packets.clamp(1, 1_000_000_000) as u32);
    Options { max_window, ..options }
}
