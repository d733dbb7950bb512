// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts a script's acknowledgement to the packet that the sender receives.

use super::plan::{Agreed, Arrival};
use crate::packet::{Flags, Lag, Packet};
use crate::units::{Span, Time};

/// The clocks of timestamps: the values that the first ones of the host and of its peer had, and when those were sent and arrived. A
/// value is the whole millisecond.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clocks {
    pub host: Option<(u32, Time)>,
    pub peer: Option<(u32, Time)>,
}

/// The millisecond of this value.
fn time((value, at): (u32, Time), later: u32) -> Time {
    let millis = (at.0 / 1_000_000).saturating_add_signed(i64::from(later.wrapping_sub(value) as i32));
    Time(millis * 1_000_000)
}

/// The packet, which arrives `now`. Without timestamps it does not show when the packet that it acknowledges was sent.
pub(super) fn packet(arrival: &Arrival, clocks: Clocks, now: Time) -> Packet {
    let flags = Flags::ACK.with(arrival.flags);
    let stamped = arrival.stamp.zip(clocks.host.zip(clocks.peer));
    let (sent, lag) = match stamped {
        Some(((value, echoed), (host, peer))) => {
            let sent = time(host, echoed).min(now);
            (sent, time(peer, value).since(sent))
        }
        None => (now, Span::ZERO),
    };
    let mut packet = Packet::ack(0, arrival.ack, 40, flags, sent, arrival.blocks);
    packet.lag = Lag::of(lag);
    arrival.marked.map_or(packet, |bytes| packet.with_marked_bytes(bytes))
}

/// The packet with the receive window, in whole segments.
pub(super) fn with_window(packet: Packet, window: Option<u64>, agreed: Agreed) -> Packet {
    match window.map(|window| window / u64::from(agreed.payload)) {
        Some(segments) => packet.with_receive_window(segments.min(u64::from(u32::MAX)) as u32),
        None => packet,
    }
}
