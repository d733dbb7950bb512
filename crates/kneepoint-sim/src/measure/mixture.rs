// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mixture: how groups share a link.
//!
//! Groups of traffic in one queue differ in their share of the link, their losses, the variation of their throughput, and
//! the queue that their packets meet.
//!
//! ```text
//! share             bytes of the group that were served / all bytes served
//! drop ratio        packets of it that the queue dropped / packets of it that arrived
//! variance to mean  s² / x̄ of the bits of it served in each whole second of the window      bits/s
//! window            the congestion window that a data packet of it carries, at its arrival or where it is dropped
//! queueing delay    the wait of its packets
//! position          the backlog at the arrival of an accepted packet of it / the limit      [0, 1]
//! entropy           -Σ p·ln p / ln 20 over twentieths of the buffer                          [0, 1]
//! ```
//!
//! Both data and acknowledgements that cross the link count, so the shares of a run add up to one. The metrics of a
//! group are measured at the bottleneck, the first measured link.

use super::position::{Position, Positions};
use super::seconds::Seconds;
use crate::metric::{
    BYTES, Entry, KBIT, PACKET_RATE, PACKETS, PERCENT, PLAIN, Recorder, number, packets, rate_bps, times,
};
use crate::packet::{Body, Flags, Packet};
use crate::queue::{Backlog, Fate, Limit, Reason};
use crate::trace::{Event, Passage};
use crate::units::{Interval, Span, Time};

/// Counts the packets of each group at one link, inside the measurement window.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    limit: Limit,
    window: Interval,
    groups: Vec<Group>,
}

/// Bytes of a group's counters.
pub(super) const GROUP: usize = size_of::<Group>();

#[derive(Clone, Debug)]
struct Group {
    arrivals: u64,
    /// Bytes of arriving packets that had been sent before.
    resent_bytes: u64,
    drops: u64,
    served_bytes: u64,
    /// Bytes served in each second.
    served: Seconds,
    /// Packets dropped in each second.
    dropped: Seconds,
    positions: Positions,
    waited: Recorder,
    /// Windows that arriving packets carried: how many, and their sum.
    windows: (u64, f64),
    /// Windows that dropped packets carried, in thousandths of a packet.
    drop_windows: Recorder,
}

impl Mixture {
    pub(super) fn new(groups: usize, limit: Limit, window: Interval) -> Mixture {
        let group = Group {
            arrivals: 0,
            resent_bytes: 0,
            drops: 0,
            served_bytes: 0,
            served: Seconds::new(window),
            dropped: Seconds::new(window),
            positions: Positions::new(),
            waited: Recorder::default(),
            windows: (0, 0.0),
            drop_windows: Recorder::default(),
        };
        Mixture { limit, window, groups: vec![group; groups] }
    }

    /// The window is this one.
    pub(super) fn end(&mut self, window: Interval) {
        self.window = window;
    }

    /// An event of a packet of `group`, which found `backlog` if it arrives.
    #[inline]
    pub(super) fn on(&mut self, group: usize, at: Time, backlog: Backlog, event: &Event) {
        let Some(group) = self.groups.get_mut(group) else { return };
        match event {
            Event::Arrival { packet, fate, .. } => {
                group.arrives(packet);
                match fate {
                    Fate::Dropped(reason) => group.loses(at, packet, *reason),
                    _ => group.accepts(self.limit, backlog),
                }
            }
            Event::Fate { packet, fate: Fate::Dropped(reason), .. } => group.loses(at, packet, *reason),
            Event::Service { packet, waited, .. } => group.serves(at, packet.size, *waited),
            _ => {}
        }
    }

    /// A packet of `group` finds `backlog` and passes the queue inside the window.
    #[inline(never)]
    pub(super) fn passed(&mut self, group: usize, at: Time, backlog: Backlog, passage: &Passage) {
        let Some(group) = self.groups.get_mut(group) else { return };
        let Passage { packet, waited, .. } = *passage;
        group.arrives(packet);
        group.accepts(self.limit, backlog);
        group.serves(at + waited, packet.size, waited);
    }

    /// The share of each group.
    pub(super) fn finish(self) -> Vec<Share> {
        let all: u64 = self.groups.iter().map(|group| group.served_bytes).sum();
        self.groups.into_iter().map(|group| group.finish(all, self.limit, self.window)).collect()
    }
}

/// The window that a data packet carries; none in acknowledgements and datagrams.
#[inline]
fn window(packet: &Packet) -> Option<f64> {
    match packet.body() {
        Body::Data { hint, .. } if hint.window > 0.0 => Some(hint.window),
        _ => None,
    }
}

impl Group {
    /// A packet arrives, to be accepted or dropped.
    #[inline(always)]
    fn arrives(&mut self, packet: &Packet) {
        self.arrivals += 1;
        if packet.flags.has(Flags::RETRANSMITTED) {
            self.resent_bytes += u64::from(packet.size);
        }
        if let Some(window) = window(packet) {
            self.windows.0 += 1;
            self.windows.1 += window;
        }
    }

    /// The packet that arrived joins a queue with this backlog.
    #[inline(always)]
    fn accepts(&mut self, limit: Limit, backlog: Backlog) {
        match limit {
            Limit::Packets(limit) => self.positions.count(u64::from(backlog.packets), u64::from(limit)),
            Limit::Bytes(limit) => self.positions.count(backlog.bytes.0, limit.0),
            Limit::Unlimited => {}
        }
    }

    /// Counts a packet that the queue dropped. Losses of the channel do not count.
    fn loses(&mut self, at: Time, packet: &Packet, reason: Reason) {
        if reason == Reason::Channel {
            return;
        }
        self.drops += 1;
        self.dropped.count(at, 1);
        if let Some(window) = window(packet) {
            self.drop_windows.add((1e3 * window) as u64);
        }
    }

    /// A packet begins its transmission.
    #[inline(always)]
    fn serves(&mut self, at: Time, size: u16, waited: Span) {
        self.served_bytes += u64::from(size);
        self.served.count(at, u64::from(size));
        self.waited.record(waited);
    }

    fn finish(self, all: u64, limit: Limit, window: Interval) -> Share {
        let position = match limit {
            Limit::Packets(limit) => self.positions.finish(f64::from(limit)),
            Limit::Bytes(limit) => self.positions.finish(limit.0 as f64),
            Limit::Unlimited => Position::UNKNOWN,
        };
        Share {
            share: self.served_bytes as f64 / all as f64,
            window_span: window.span(),
            // A byte has eight bits.
            throughput_variance_to_mean_bps: 8.0 * self.served.finish(window).1,
            drops_variance: self.dropped.finish(window).0,
            drop_rate: self.drops as f64 / window.span().as_secs_f64(),
            arrivals: self.arrivals,
            resent_bytes: self.resent_bytes,
            drops: self.drops,
            served_bytes: self.served_bytes,
            position,
            waited: self.waited,
            window: self.windows.1 / self.windows.0 as f64,
            drop_windows: self.drop_windows,
        }
    }
}

/// The share of a group at a link.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) share: f64,
    /// The length of the window.
    window_span: Span,
    pub(super) arrivals: u64,
    resent_bytes: u64,
    pub(super) drops: u64,
    served_bytes: u64,
    throughput_variance_to_mean_bps: f64,
    /// s² of the drops in each whole second.
    drops_variance: f64,
    /// Per second.
    drop_rate: f64,
    position: Position,
    pub(super) waited: Recorder,
    /// The mean window of arriving packets.
    window: f64,
    drop_windows: Recorder,
}

impl Share {
    /// A group whose share was not counted.
    pub(super) fn unknown() -> Share {
        Share {
            share: f64::NAN,
            window_span: Span::ZERO,
            arrivals: 0,
            resent_bytes: 0,
            drops: 0,
            served_bytes: 0,
            throughput_variance_to_mean_bps: f64::NAN,
            drops_variance: f64::NAN,
            drop_rate: f64::NAN,
            position: Position::UNKNOWN,
            waited: Recorder::default(),
            window: f64::NAN,
            drop_windows: Recorder::default(),
        }
    }

    /// The middle of each part of the buffer, and the fraction of the packets that found it.
    pub(super) fn positions(&self) -> impl Iterator<Item = (f64, f64)> {
        let shares = &self.position.shares;
        let parts = shares.len() as f64;
        shares.iter().enumerate().map(move |(place, share)| ((place as f64 + 0.5) / parts, *share))
    }

    /// The fraction of the dropped packets that carried no window above each of [`WINDOWS`], once one was dropped.
    pub(super) fn drop_windows(&self) -> impl Iterator<Item = (String, f64)> {
        let windows = WINDOWS.iter().filter(|_| self.drop_windows.count() > 0);
        windows.map(|window| (window.to_string(), self.drop_windows.fraction_up_to(1000 * window)))
    }

    pub(super) fn throughput_bps(&self) -> f64 {
        rate_bps(self.served_bytes, self.window_span)
    }

    pub(super) fn drop_ratio(&self) -> f64 {
        self.drops as f64 / self.arrivals as f64
    }

    /// A number of packets or bytes; NaN where none were counted.
    fn counted(&self, number: u64) -> f64 {
        if self.share.is_nan() && self.arrivals == 0 { f64::NAN } else { number as f64 }
    }
}

/// The metrics of a group at the bottleneck.
pub(super) const METRICS: &[Entry<Share>] = &[
    number("share", "Share of the bottleneck's bytes", "share", PERCENT, |share: &Share| share.share),
    number("drop_ratio", "Packets of the group dropped", "dropped", PERCENT, Share::drop_ratio),
    number("drops", "Packets of the group that the queue dropped", "drops", PLAIN, |share: &Share| {
        share.counted(share.drops)
    })
    .detail(),
    number(
        "drop_rate_pps",
        "Packets of the group dropped per second",
        "dropped",
        PACKET_RATE,
        |share: &Share| share.drop_rate,
    )
    .detail(),
    number(
        "drops_variance",
        "Variance of the group's drops in 1 s",
        "variance of drops",
        PLAIN,
        |share: &Share| share.drops_variance,
    )
    .detail(),
    times("queueing_delay", "Queueing delay of the group's packets", "queueing", |share: &Share| {
        &share.waited
    })
    .detail(),
    number(
        "window_mean_packets",
        "Mean window that the group's packets carry",
        "window",
        PACKETS,
        |share: &Share| share.window,
    )
    .detail(),
    packets(
        "window_at_drop",
        "Window that the group's dropped packets carry",
        "window at drop",
        |share: &Share| &share.drop_windows,
    )
    .detail(),
    number("arrivals", "Packets of the group that arrived", "arrived", PLAIN, |share: &Share| {
        share.counted(share.arrivals)
    })
    .detail(),
    number(
        "retransmitted_bytes",
        "Bytes of the group that were retransmitted",
        "retransmitted",
        BYTES,
        |share: &Share| share.counted(share.resent_bytes),
    )
    .detail(),
    number("served_bytes", "Bytes of the group transmitted", "served", BYTES, |share: &Share| {
        share.counted(share.served_bytes)
    })
    .detail(),
    number(
        "throughput_variance_to_mean_bps",
        "Variance over mean of the throughput in 1 s",
        "variance to mean",
        KBIT,
        |share: &Share| share.throughput_variance_to_mean_bps,
    ),
    number(
        "queue_position_mean",
        "Mean occupancy of the buffer on arrival",
        "occupancy on arrival",
        PERCENT,
        |share: &Share| share.position.mean,
    ),
    number(
        "queue_position_median",
        "Median occupancy of the buffer on arrival",
        "median occupancy on arrival",
        PERCENT,
        |share: &Share| share.position.median,
    )
    .detail(),
    number(
        "queue_position_entropy",
        "Entropy of the occupancy on arrival",
        "entropy of occupancy",
        PLAIN,
        |share: &Share| share.position.entropy,
    )
    .detail(),
];

/// The windows of a reported distribution of windows at drops, in packets.
const WINDOWS: [u64; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30, 40, 60, 100, 200];

/// The metrics of a window; its label is that window in packets.
pub(super) const DROP_WINDOWS: &[Entry<f64>] = &[number(
    "dropped_up_to_share",
    "Fraction of the group's dropped packets that carried no greater window",
    "of drops",
    PERCENT,
    |share| *share,
)];

#[cfg(test)]
mod tests;
