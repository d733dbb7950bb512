// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mixture: how groups share a bottleneck.
//!
//! Groups of traffic in one queue differ in their share of the link, their losses, the variation of their throughput, and
//! the queue that their packets meet.
//!
//! ```text
//! share             bytes of the group that were served / all bytes served
//! drop ratio        packets of it that the queue dropped / packets of it that arrived
//! variance to mean  s² / x̄ of the bits of it served in each whole second of the window      bits/s
//! position          the backlog at the arrival of an accepted packet of it / the limit      [0, 1]
//! entropy           -Σ p·ln p / ln 20 over twentieths of the buffer                          [0, 1]
//! ```
//!
//! Both data and acknowledgements that cross the bottleneck count, so the shares of a run add up to one.

use super::metric::{BYTES, Entry, KBIT, PERCENT, PLAIN, number};
use crate::queue::{Backlog, Fate, Limit, Reason};
use crate::trace::Event;
use crate::units::{Interval, Span, Time};

/// Parts of the buffer in a reported distribution of positions.
const BINS: usize = 20;
/// Parts of the buffer in which positions are counted, so that the median is known to a thousandth.
const CELLS: usize = 1000;
const SECOND: Span = Span::from_secs(1);

/// Counts the packets of each group at one link, inside the measurement window.
#[derive(Clone, Debug)]
pub(super) struct Mixture {
    limit: Limit,
    window: Interval,
    /// Whole seconds of the window, and the end of the one that is counted now.
    seconds: u64,
    ends: Time,
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    arrivals: u64,
    drops: u64,
    served_bytes: u64,
    /// Bytes served in this second; over all whole seconds their sum, and the sum of their squares.
    second: u64,
    sum: u64,
    squares: u128,
    positions: Positions,
}

/// The queues that packets met.
#[derive(Clone, Debug)]
struct Positions {
    sum: u128,
    cells: Vec<u64>,
}

impl Mixture {
    pub(super) fn new(groups: usize, limit: Limit, window: Interval) -> Mixture {
        let group = Group {
            arrivals: 0,
            drops: 0,
            served_bytes: 0,
            second: 0,
            sum: 0,
            squares: 0,
            positions: Positions { sum: 0, cells: vec![0; CELLS] },
        };
        Mixture {
            limit,
            window,
            seconds: window.span().0 / SECOND.0,
            ends: window.from + SECOND,
            groups: vec![group; groups],
        }
    }

    /// An event of a packet of `group`, which met `backlog` if it arrives.
    #[inline]
    pub(super) fn on(&mut self, group: usize, at: Time, backlog: Backlog, event: &Event) {
        match event {
            Event::Arrival { fate, .. } => self.arrival(group, backlog, *fate),
            Event::Fate { fate, .. } => self.fate(group, *fate),
            Event::Service { packet, .. } => self.service(group, at, packet.size),
            _ => {}
        }
    }

    /// A packet of a group met this backlog.
    #[inline]
    fn arrival(&mut self, group: usize, backlog: Backlog, fate: Fate) {
        let Some(group) = self.groups.get_mut(group) else { return };
        group.arrivals += 1;
        if let Fate::Dropped(reason) = fate {
            group.dropped(reason);
            return;
        }
        match self.limit {
            Limit::Packets(limit) => group.positions.count(u64::from(backlog.packets), u64::from(limit)),
            Limit::Bytes(limit) => group.positions.count(backlog.bytes.0, limit.0),
            Limit::Unlimited => {}
        }
    }

    /// An accepted packet of a group met its fate.
    #[inline]
    fn fate(&mut self, group: usize, fate: Fate) {
        if let (Some(group), Fate::Dropped(reason)) = (self.groups.get_mut(group), fate) {
            group.dropped(reason);
        }
    }

    /// A packet of a group begins its transmission.
    #[inline]
    fn service(&mut self, group: usize, at: Time, size: u16) {
        if at >= self.ends {
            self.turn(at);
        }
        if let Some(group) = self.groups.get_mut(group) {
            group.served_bytes += u64::from(size);
            group.second += u64::from(size);
        }
    }

    /// Closes the second that was counted; `at` is in the one to be counted next. Those between were idle, and a
    /// zero adds nothing to a sum.
    #[cold]
    fn turn(&mut self, at: Time) {
        let whole = self.ends <= self.window.to;
        for group in &mut self.groups {
            let bytes = std::mem::take(&mut group.second);
            if whole {
                group.sum += bytes;
                group.squares += u128::from(bytes) * u128::from(bytes);
            }
        }
        let begun = at.since(self.window.from).0 / SECOND.0;
        self.ends = self.window.from + Span((begun + 1).saturating_mul(SECOND.0));
    }

    /// The share of each group.
    pub(super) fn finish(mut self) -> Vec<Share> {
        self.turn(self.window.to);
        let all: u64 = self.groups.iter().map(|group| group.served_bytes).sum();
        let (limit, seconds) = (self.limit, self.seconds);
        self.groups.into_iter().map(|group| group.finish(all, limit, seconds)).collect()
    }
}

impl Group {
    fn dropped(&mut self, reason: Reason) {
        self.drops += u64::from(reason != Reason::Channel);
    }

    fn finish(self, all: u64, limit: Limit, seconds: u64) -> Share {
        let position = match limit {
            Limit::Packets(limit) => self.positions.finish(f64::from(limit)),
            Limit::Bytes(limit) => self.positions.finish(limit.0 as f64),
            Limit::Unlimited => Position::UNKNOWN,
        };
        Share {
            share: self.served_bytes as f64 / all as f64,
            throughput_variance_to_mean_bps: self.variance_to_mean(seconds),
            arrivals: self.arrivals,
            drops: self.drops,
            served_bytes: self.served_bytes,
            position,
        }
    }

    /// Sums of integers are exact, so nothing cancels before the last step.
    fn variance_to_mean(&self, seconds: u64) -> f64 {
        if seconds < 2 {
            return f64::NAN;
        }
        let sum = u128::from(self.sum);
        let spread =
            (u128::from(seconds).saturating_mul(self.squares)).saturating_sub(sum.saturating_mul(sum));
        // s²/x̄ = (n·Σx² - (Σx)²) / (n·(n-1)) · n/Σx, of bytes; a byte has eight bits.
        8.0 * spread as f64 / ((seconds - 1) as f64 * self.sum as f64)
    }
}

impl Positions {
    #[inline]
    fn count(&mut self, waiting: u64, limit: u64) {
        self.sum += u128::from(waiting);
        // A packet is accepted only where there is room, and a limit of zero has none.
        let cell = (waiting * CELLS as u64 / limit.max(1)) as usize;
        self.cells[cell.min(CELLS - 1)] += 1;
    }

    fn finish(&self, limit: f64) -> Position {
        let count: u64 = self.cells.iter().sum();
        if count == 0 {
            return Position::UNKNOWN;
        }
        let bins =
            self.cells.chunks(CELLS / BINS).map(|cells| cells.iter().sum::<u64>() as f64 / count as f64);
        let shares: Vec<f64> = bins.collect();
        let mut seen = 0;
        let median = self.cells.iter().position(|cell| {
            seen += cell;
            2 * seen >= count
        });
        let surprise: f64 =
            shares.iter().filter(|share| **share > 0.0).map(|share| -share * libm::log(*share)).sum();
        Position {
            mean: self.sum as f64 / (count as f64 * limit),
            median: median.map_or(f64::NAN, |cell| cell as f64 / CELLS as f64),
            entropy: surprise / libm::log(BINS as f64),
            shares,
        }
    }
}

/// The share of a group at the bottleneck.
#[derive(Clone, Debug)]
pub(super) struct Share {
    share: f64,
    arrivals: u64,
    drops: u64,
    served_bytes: u64,
    throughput_variance_to_mean_bps: f64,
    position: Position,
}

/// The queue that accepted packets of a group met, over its limit. NaN without an accepted packet, or without a limit.
#[derive(Clone, Debug)]
struct Position {
    /// Exact.
    mean: f64,
    /// Down to a thousandth.
    median: f64,
    entropy: f64,
    /// The fraction of the packets in each twentieth of the buffer, from its front; empty where it is unknown.
    shares: Vec<f64>,
}

impl Position {
    const UNKNOWN: Position =
        Position { mean: f64::NAN, median: f64::NAN, entropy: f64::NAN, shares: Vec::new() };
}

impl Share {
    /// A group whose share was not counted.
    pub(super) const UNKNOWN: Share = Share {
        share: f64::NAN,
        arrivals: 0,
        drops: 0,
        served_bytes: 0,
        throughput_variance_to_mean_bps: f64::NAN,
        position: Position::UNKNOWN,
    };

    /// The middle of each part of the buffer, and the fraction of the packets that met it.
    pub(super) fn positions(&self) -> impl Iterator<Item = (f64, f64)> {
        let shares = &self.position.shares;
        let parts = shares.len() as f64;
        shares.iter().enumerate().map(move |(place, share)| ((place as f64 + 0.5) / parts, *share))
    }

    /// A number of packets or bytes; NaN where none were counted.
    fn counted(&self, number: u64) -> f64 {
        if self.share.is_nan() && self.arrivals == 0 { f64::NAN } else { number as f64 }
    }
}

/// The metrics of a group at the bottleneck.
pub(super) const METRICS: &[Entry<Share>] = &[
    number("share", "Share of the bottleneck's bytes", "share", PERCENT, |share: &Share| share.share),
    number("drop_ratio", "Packets of the group dropped", "dropped", PERCENT, |share: &Share| {
        share.drops as f64 / share.arrivals as f64
    }),
    number("drops", "Packets of the group that the queue dropped", "drops", PLAIN, |share: &Share| {
        share.counted(share.drops)
    })
    .detail(),
    number("arrivals", "Packets of the group that arrived", "arrived", PLAIN, |share: &Share| {
        share.counted(share.arrivals)
    })
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
        "Mean queue met by packets, of the buffer",
        "queue met",
        PERCENT,
        |share: &Share| share.position.mean,
    ),
    number(
        "queue_position_median",
        "Median queue met by packets, of the buffer",
        "median queue met",
        PERCENT,
        |share: &Share| share.position.median,
    )
    .detail(),
    number(
        "queue_position_entropy",
        "Entropy of the queue met by packets",
        "entropy of queue met",
        PLAIN,
        |share: &Share| share.position.entropy,
    )
    .detail(),
];

/// The metrics of a position; its label is the middle of a twentieth of the buffer.
pub(super) const POSITIONS: &[Entry<f64>] = &[number(
    "queue_position_share",
    "Fraction of the group's packets at this position",
    "of packets",
    PERCENT,
    |share| *share,
)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn two(limit: Limit) -> Mixture {
        let window = Interval { from: at(10_000), to: at(13_500) };
        Mixture::new(2, limit, window)
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(1000 * u64::from(packets)) }
    }

    #[test]
    fn shares_add_up_to_one_and_the_channel_is_no_fault_of_the_queue() {
        let mut mixture = two(Limit::Packets(10));
        mixture.arrival(0, waiting(0), Fate::Passed);
        mixture.arrival(0, waiting(10), Fate::Dropped(Reason::Overflow));
        mixture.arrival(1, waiting(1), Fate::Marked);
        mixture.fate(1, Fate::Dropped(Reason::Channel));
        mixture.service(0, at(10_000), 1000);
        mixture.service(1, at(10_100), 3000);
        let shares = mixture.finish();
        assert_eq!(shares.iter().map(|share| share.share).collect::<Vec<_>>(), [0.25, 0.75]);
        assert_eq!(
            shares.iter().map(|share| share.drops as f64 / share.arrivals as f64).collect::<Vec<_>>(),
            [0.5, 0.0]
        );
    }

    #[test]
    fn three_whole_seconds_of_1_0_and_2_kilobytes_have_a_variance_of_a_megabyte_squared() {
        let mut mixture = two(Limit::Unlimited);
        mixture.service(0, at(10_000), 400);
        mixture.service(0, at(10_999), 600);
        mixture.service(0, at(12_000), 2000);
        // Half a second at the end is none.
        mixture.service(0, at(13_000), 9000);
        let shares = mixture.finish();
        // Mean 1000 bytes, variance 1000² bytes², 8 bits a byte.
        assert_eq!(shares[0].throughput_variance_to_mean_bps, 8000.0);
        assert!(shares[1].throughput_variance_to_mean_bps.is_nan(), "nothing was served");
        assert!(shares[0].position.mean.is_nan() && shares[0].position.shares.is_empty());
    }

    #[test]
    fn positions_count_what_waits_before_a_packet_of_what_may_wait() {
        for (limit, scale) in [(Limit::Packets(40), 1.0), (Limit::Bytes(Bytes(80_000)), 0.5)] {
            let mut mixture = two(limit);
            for packets in [0, 10, 10, 39] {
                mixture.arrival(0, waiting(packets), Fate::Passed);
            }
            mixture.arrival(0, waiting(40), Fate::Dropped(Reason::Overflow));
            let position = mixture.finish().remove(0).position;
            assert_eq!((position.mean, position.median), (scale * 59.0 / 160.0, scale * 0.25));
            let bin = (scale * 5.0) as usize;
            assert_eq!((position.shares[0], position.shares[bin], position.shares.len()), (0.25, 0.5, BINS));
            // ¼, ½, ¼: 1.5·ln 2 of ln 20.
            let exact = 1.5 * core::f64::consts::LN_2 / libm::log(20.0);
            assert!((position.entropy - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn everywhere_alike_is_an_entropy_of_one_and_in_one_place_of_zero() {
        let mut mixture = two(Limit::Packets(20));
        (0..20).for_each(|packets| mixture.arrival(0, waiting(packets), Fate::Passed));
        (0..20).for_each(|_| mixture.arrival(1, waiting(7), Fate::Passed));
        let shares = mixture.finish();
        assert!((shares[0].position.entropy - 1.0).abs() < 1e-12);
        assert_eq!(shares[1].position.entropy, 0.0);
        let bins: Vec<(f64, f64)> = shares[1].positions().collect();
        assert_eq!(bins[7], (0.375, 1.0));
    }
}
