// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Group: the counters and metrics of a group of traffic.
//!
//! ```text
//! goodput           payload acknowledged in order / window, in total
//! Jain              (Σ x)² / (n · Σ x²) over the goodputs x of its listed flows
//! RTT               round-trip times that its senders measured
//! timeouts          expiries of its senders' retransmission timers, on SYNs as on data
//! retransmissions   segments of data that its senders send and have sent before
//!   and their rate  retransmissions / segments of data that its senders send
//! completion time   from a transfer's first packet to the delivery of its last byte
//! session rate      size of a completed transfer / its completion time
//! delay             from sending to delivery of a datagram
//! ```
//!
//! A SYN is not a segment of data. A segment counts when it is sent: a retransmission that is dropped on its way is one, and so is
//! one that proves unnecessary. A transfer counts as completed where its last byte arrived inside the window. Metrics that do
//! not apply to a group, as timeouts of datagrams, are NaN.

use super::class::Classes;
use super::crossing::Crossed;
use super::lateness::Lateness;
use super::reordering::Order;
use super::slowdown::Alone;
use crate::metric::{
    BYTES, Entry, INDEX, MBIT, PACKETS, PERCENT, PLAIN, Recorder, SECONDS, Statistic, Tallies, number,
    rate_bps, times,
};
use crate::spec;
use crate::table::{Row, jain_index};
use crate::trace::{Event, FlowId};
use crate::units::{Interval, Span, Time};

/// The counters of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) name: String,
    /// Whether a congestion control drives it: transfers, no datagrams.
    pub(super) controlled: bool,
    /// Whether its connections end at a proxy.
    forwarded: bool,
    /// The length of the measurement window.
    pub(super) window: Span,
    /// The goodputs of its listed flows, known at the end of the run.
    pub(super) goodputs: Vec<f64>,
    /// The measured links that data of these flows reached.
    pub(super) crossed: Crossed,
    /// Its completed transfers by size.
    pub(super) classes: Classes,
    acked: u64,
    rtt: Recorder,
    repairs: u64,
    pub(super) senders: Senders,
    completed_bytes: u64,
    completion_times: Recorder,
    /// The rates of completed transfers in bit/s: their sum, and the sum of their squares.
    rates: (f64, f64),
    /// Of live streams.
    pub(super) lateness: Option<Box<Lateness>>,
    /// The reports of its sources, and their metrics.
    pub(super) reported: Tallies,
    pub(super) reports: &'static [Entry<Tallies>],
    /// Its first slot among those known before the run.
    pub(super) first: u32,
    datagrams: u64,
    datagram_bytes: u64,
    delay: Recorder,
    /// The order of its packets, where a link changes it.
    pub(super) order: Option<Box<Order>>,
}

impl Group {
    /// A group that a proxy forwards, or not.
    pub(super) fn new(
        spec: &spec::Group,
        forwarded: bool,
        first: usize,
        window: Interval,
        alone: Alone,
    ) -> Group {
        Group {
            name: spec.name.clone(),
            controlled: spec.cc.is_some(),
            forwarded,
            window: window.span(),
            first: first as u32,
            lateness: Lateness::of(spec, window),
            reports: spec.source.reports().metrics,
            classes: Classes::new(alone),
            ..Group::default()
        }
    }

    /// One of its flows begins.
    pub(super) fn began(&mut self, flow: FlowId, at: Time) {
        if let Some(lateness) = &mut self.lateness {
            lateness.began(flow.0.wrapping_sub(self.first) as usize, at);
        }
    }

    /// An event of one of its flows inside the window.
    #[inline(always)]
    pub(super) fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Acked { acked, rtt, .. } => {
                self.acked += acked.0;
                if let Some(rtt) = rtt {
                    self.rtt.record(*rtt);
                }
            }
            Event::Repair { timeout, .. } => {
                let counter = if *timeout { &mut self.senders.timeouts } else { &mut self.repairs };
                *counter += 1;
            }
            Event::Completed { flow, began, delivered, size, .. } => {
                let took = delivered.since(*began);
                match &mut self.lateness {
                    Some(lateness) => {
                        lateness.delivered(flow.0.wrapping_sub(self.first) as usize, *began, took)
                    }
                    None => self.classes.completed(took, *size),
                }
                self.completion_times.record(took);
                let rate = rate_bps(size.0, took);
                self.rates = (self.rates.0 + rate, self.rates.1 + rate * rate);
                self.completed_bytes += size.0;
            }
            // Of datagrams alone.
            Event::Delivered { packet, .. } => {
                self.datagrams += 1;
                self.datagram_bytes += u64::from(packet.size);
                self.delay.record(at.since(packet.sent));
            }
            _ => {}
        }
    }

    /// Adds the counters of another region with long transfers, of which none completes.
    pub(super) fn join(&mut self, other: &Group) {
        debug_assert!(
            other.completion_times.count() == 0 && other.datagrams == 0,
            "only transfers without end"
        );
        self.acked += other.acked;
        self.rtt.join(&other.rtt);
        self.repairs += other.repairs;
        self.senders = [self.senders, other.senders].into_iter().sum();
    }

    /// One of its senders sends a segment of data, perhaps not for the first time.
    #[inline(always)]
    pub(super) fn sent(&mut self, again: bool) {
        self.senders.segments += 1;
        self.senders.again += u64::from(again);
    }

    /// The fraction of the completed transfers that took no longer than each of [`WITHIN`], once one completed.
    pub(super) fn completed_within(&self) -> impl Iterator<Item = (String, f64)> {
        let times = WITHIN.iter().filter(|_| self.completion_times.count() > 0);
        times.map(|millis| {
            let time = Span::from_millis(*millis);
            (time.to_string(), self.completion_times.fraction_up_to(time.0))
        })
    }

    /// A number of transfers; NaN for datagrams.
    fn of_transfers(&self, number: f64) -> f64 {
        if self.controlled { number } else { f64::NAN }
    }

    /// A number of datagrams; NaN for transfers.
    fn of_datagrams(&self, number: f64) -> f64 {
        if self.controlled { f64::NAN } else { number }
    }

    /// The mean rate of completed transfers, each counted once.
    fn session_rate(&self) -> f64 {
        self.rates.0 / self.completion_times.count() as f64
    }

    /// The standard deviation of the rates of completed transfers over their mean.
    fn session_rate_variation(&self) -> f64 {
        let count = self.completion_times.count() as f64;
        let variance = (self.rates.1 - self.rates.0 * self.session_rate()) / (count - 1.0);
        libm::sqrt(variance) / self.session_rate()
    }

    /// A number of the order of its packets; NaN where no link changes it.
    fn of_order(&self, number: impl Fn(&Order) -> f64) -> f64 {
        self.order.as_deref().map_or(f64::NAN, number)
    }

    fn goodput(&self) -> f64 {
        match self.goodputs.as_slice() {
            [] => self.of_transfers(rate_bps(self.acked, self.window)),
            listed => listed.iter().sum(),
        }
    }
}

/// The counters of senders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Senders {
    /// Segments of data sent.
    segments: u64,
    /// Retransmitted segments.
    pub(super) again: u64,
    pub(super) timeouts: u64,
}

impl Senders {
    /// NaN if nothing was sent.
    pub(super) fn retransmission_rate(self) -> f64 {
        self.again as f64 / self.segments as f64
    }
}

impl std::iter::Sum for Senders {
    fn sum<I: Iterator<Item = Senders>>(all: I) -> Senders {
        all.fold(Senders::default(), |sum, one| Senders {
            segments: sum.segments + one.segments,
            again: sum.again + one.again,
            timeouts: sum.timeouts + one.timeouts,
        })
    }
}

/// The times of a reported distribution of completion times, in milliseconds.
const WITHIN: [u64; 52] = [
    1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 100, 120, 150, 200, 250, 300, 400,
    500, 600, 700, 800, 1000, 1200, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 7000, 8000, 10_000, 12_000,
    15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000,
];

/// The metrics of a time after the beginning of transfers; its label is that time.
pub(super) const COMPLETIONS: &[Entry<f64>] = &[number(
    "completed_within_share",
    "Fraction of the group's completed transfers that took no longer",
    "of transfers",
    PERCENT,
    |share| *share,
)];

/// Whether the row of a group is about connections that end at a proxy, whose data another group delivers.
pub fn ends_at_proxy(row: &Row) -> bool {
    row.value(ENDS_AT_PROXY) == 1.0
}

const ENDS_AT_PROXY: &str = "ends_at_proxy";

/// The metrics of a group's transfers.
pub(super) const METRICS: &[Entry<Group>] = &[
    number("flows", "Listed flows", "flows", PLAIN, |group: &Group| match group.goodputs.len() {
        0 => f64::NAN,
        flows => flows as f64,
    }),
    number("goodput_bps", "Goodput in total", "goodput", MBIT, Group::goodput),
    number("jain_index", "Jain fairness index", "Jain", INDEX, |group: &Group| jain_index(&group.goodputs)),
    times("rtt", "Round-trip time", "RTT", |group: &Group| &group.rtt),
    number("repairs", "Recovery episodes without a timeout", "recoveries", PLAIN, |group: &Group| {
        group.of_transfers(group.repairs as f64)
    }),
    number("timeouts", "Timeouts", "timeouts", PLAIN, |group: &Group| {
        group.of_transfers(group.senders.timeouts as f64)
    }),
    number("retransmissions", "Retransmitted segments", "retransmitted", PLAIN, |group: &Group| {
        group.of_transfers(group.senders.again as f64)
    })
    .detail(),
    number(
        "retransmission_rate",
        "Retransmitted segments, of all sent",
        "retransmitted",
        PERCENT,
        |group: &Group| group.senders.retransmission_rate(),
    ),
    number("completions", "Completed transfers", "completed", PLAIN, |group: &Group| {
        group.of_transfers(group.completion_times.count() as f64)
    }),
    number("completed_bytes", "Bytes of completed transfers", "completed", BYTES, |group: &Group| {
        group.of_transfers(group.completed_bytes as f64)
    })
    .detail(),
    times("completion_time", "Completion time", "completion", |group: &Group| &group.completion_times),
    number("session_rate_mean_bps", "Mean rate of completed transfers", "rate", MBIT, Group::session_rate)
        .detail(),
    number(
        "session_rate_variation",
        "Coefficient of variation of the rates of completed transfers",
        "variation",
        PLAIN,
        Group::session_rate_variation,
    )
    .detail(),
    number(ENDS_AT_PROXY, "1 for connections that end at a proxy", "to a proxy", PLAIN, |group: &Group| {
        if group.forwarded { 1.0 } else { f64::NAN }
    })
    .detail(),
];

/// The metrics of the order of a group's packets of data.
pub(super) const ORDER: &[Entry<Group>] = &[
    number("reordered_ratio", "Packets reordered (RFC 4737)", "reordered", PERCENT, |group: &Group| {
        group.of_order(Order::ratio)
    }),
    number(
        "three_reordered_ratio",
        "Packets 3-reordered (RFC 4737), which TCP takes for lost",
        "3-reordered",
        PERCENT,
        |group: &Group| group.of_order(Order::far_ratio),
    ),
    number(
        "reordering_extent_mean_packets",
        "Mean extent of reordered packets (RFC 4737)",
        "extent",
        PACKETS,
        |group: &Group| group.of_order(|order| order.extent.value(Statistic::Mean) / 1000.0),
    ),
    number(
        "reordering_late_mean_s",
        "Mean late time of reordered packets (RFC 4737)",
        "late by",
        SECONDS,
        |group: &Group| group.of_order(|order| order.late.seconds(Statistic::Mean)),
    ),
];

/// The metrics of a group's datagrams, and of its path.
pub(super) const DATAGRAMS: &[Entry<Group>] = &[
    number("delivered_packets", "Datagrams delivered", "delivered", PACKETS, |group: &Group| {
        group.of_datagrams(group.datagrams as f64)
    }),
    number("throughput_bps", "Datagram throughput", "throughput", MBIT, |group: &Group| {
        group.of_datagrams(rate_bps(group.datagram_bytes, group.window))
    }),
    times("delay", "Delay of datagrams", "delay", |group: &Group| &group.delay),
    number(
        "crosses_bottleneck",
        "Whether its data crosses the bottleneck",
        "crosses",
        PLAIN,
        |group: &Group| f64::from(u8::from(group.crossed.has(Crossed::BOTTLENECK))),
    )
    .detail(),
];
