// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Link: the counters and metrics of a measured link.
//!
//! ```text
//! drop ratio    packets that the queue dropped / packets that arrived
//! channel loss  packets that the channel lost / packets transmitted, where there is a model of losses
//! mark ratio    packets that got a congestion mark / packets that arrived
//! utilization   bits transmitted inside the window / bits that the link can carry in it
//! capacity      bits that the link can carry in the window / its length
//! throughput    bits transmitted inside the window / its length
//! ```
//!
//! Losses of the channel are not the queue's, so they do not count in the drop ratio. The queue is without the packet in
//! transmission. A transmission across an edge of the window counts with the part inside on a link of constant rate;
//! where capacity varies, that part is known only to within a packet, and utilization is at most one.

use super::mixture::Mixture;
use super::occupancy::Occupancy;
use crate::link::LinkSpec;
use crate::metric::{BYTES, Entry, MBIT, PACKETS, PERCENT, PLAIN, Recorder, number, packets, times};
use crate::queue::{Fate, Limit, Reason};
use crate::trace::{Alteration, Event};
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// The counters of a measured link. Events reach it inside the measurement window, unless its methods say otherwise.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) name: String,
    /// Its place among the measured links; the first is the bottleneck of headlines.
    pub(super) rank: u32,
    /// The shares of groups in it, if of interest.
    pub(super) mixture: Option<Box<Mixture>>,
    pub(super) queue: Occupancy,
    rate: Option<Rate>,
    /// Whether its capacity varies.
    varies: bool,
    /// The bits that the link can carry inside the window; NaN without a rate.
    capacity: f64,
    limit: Limit,
    full_packet: Bytes,
    /// Whether its channel may lose packets.
    lossy: bool,
    window: Interval,
    arrivals: u64,
    /// By reason.
    drops: [u64; Reason::ALL.len()],
    marks: u64,
    corrupted: u64,
    duplicated: u64,
    /// Whether it has effects other than queue and channel.
    effects: bool,
    served_packets: u64,
    served_bytes: u64,
    /// The last transmission that began before the window, and the last before its end: when, and of how many bytes.
    before: (Time, u16),
    latest: (Time, u16),
    waited: Recorder,
    /// The backlog when packets were dropped, in thousandths of a packet.
    queue_at_drop: Recorder,
}

impl Link {
    /// A link that can carry `capacity` bits inside the window.
    pub(super) fn new(
        spec: &LinkSpec,
        full_packet: Bytes,
        rank: u32,
        window: Interval,
        capacity: f64,
    ) -> Link {
        Link {
            name: spec.name.clone(),
            rank,
            mixture: None,
            queue: Occupancy::new(window),
            rate: spec.rate,
            varies: spec.capacity != crate::link::capacity::Config::default(),
            lossy: spec.loss != crate::link::loss::Config::default(),
            capacity,
            limit: spec.limit,
            full_packet,
            window,
            arrivals: 0,
            drops: [0; Reason::ALL.len()],
            marks: 0,
            corrupted: 0,
            duplicated: 0,
            effects: spec.effects.is_some(),
            served_packets: 0,
            served_bytes: 0,
            before: (Time::ZERO, 0),
            latest: (Time::ZERO, 0),
            waited: Recorder::default(),
            queue_at_drop: Recorder::default(),
        }
    }

    /// An event of this link inside the window. Changes of the queue reach [`Occupancy`] without this detour.
    #[inline(always)]
    pub(super) fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Arrival { fate, .. } => {
                self.arrivals += 1;
                self.fate(*fate);
            }
            Event::Fate { fate, .. } => self.fate(*fate),
            Event::Altered { how: Alteration::Corrupted, .. } => self.corrupted += 1,
            Event::Altered { how: Alteration::Duplicated, .. } => self.duplicated += 1,
            Event::Service { packet, waited, .. } => self.serves(at, packet.size, *waited),
            _ => {}
        }
    }

    /// A packet arrives, and its transmission begins at `start`, both inside the window.
    #[inline(always)]
    pub(super) fn passed(&mut self, start: Time, size: u16, waited: Span) {
        self.arrivals += 1;
        self.serves(start, size, waited);
    }

    #[inline(always)]
    fn serves(&mut self, at: Time, size: u16, waited: Span) {
        self.served_packets += 1;
        self.served_bytes += u64::from(size);
        self.latest = (at, size);
        self.waited.record(waited);
    }

    /// Changes its window to this one, in which it can carry `capacity` bits.
    pub(super) fn end(&mut self, window: Interval, capacity: f64) {
        (self.window, self.capacity) = (window, capacity);
        self.queue.end(window);
        if let Some(mixture) = &mut self.mixture {
            mixture.end(window);
        }
    }

    /// A transmission that begins before the window may take up some of it.
    pub(super) fn served_before(&mut self, at: Time, size: u16) {
        self.before = (at, size);
        self.latest = self.before;
    }

    #[inline]
    fn fate(&mut self, fate: Fate) {
        match fate {
            Fate::Passed => {}
            Fate::Marked => self.marks += 1,
            Fate::Dropped(reason) => self.dropped(reason),
        }
    }

    #[cold]
    fn dropped(&mut self, reason: Reason) {
        self.drops[reason as usize] += 1;
        if reason != Reason::Channel {
            self.queue_at_drop.add(1000 * u64::from(self.queue.backlog().packets));
        }
    }

    fn drops_by(&self, reason: Reason) -> f64 {
        self.drops[reason as usize] as f64
    }

    /// The packets that the queue dropped: all but those the channel lost.
    fn dropped_by_queue(&self) -> u64 {
        self.drops.iter().sum::<u64>() - self.drops[Reason::Channel as usize]
    }

    /// The fraction of the transmitted packets that the channel lost; NaN where it loses none.
    fn channel_loss(&self) -> f64 {
        if self.lossy { self.drops_by(Reason::Channel) / self.served_packets as f64 } else { f64::NAN }
    }

    /// A count of events that only effects cause; NaN where there are none.
    fn effect(&self, count: u64) -> f64 {
        if self.effects { count as f64 } else { f64::NAN }
    }

    /// The capacity of the buffer in packets of full size; NaN without a limit.
    fn buffer_packets(&self) -> f64 {
        match self.limit {
            Limit::Packets(limit) => f64::from(limit),
            Limit::Bytes(limit) => limit.0 as f64 / self.full_packet.0 as f64,
            Limit::Unlimited => f64::NAN,
        }
    }

    fn queue_normalized(&self) -> f64 {
        match self.limit {
            Limit::Packets(limit) => self.queue.mean_packets() / f64::from(limit),
            Limit::Bytes(limit) => self.queue.mean_bytes() / limit.0 as f64,
            Limit::Unlimited => f64::NAN,
        }
    }

    /// The bits transmitted inside the window: of a transmission across its edge, only the part inside. Without a rate
    /// transmissions take no time.
    fn bits(&self) -> f64 {
        let served = 8.0 * self.served_bytes as f64;
        let Some(rate) = self.rate else { return served };
        let beyond = |(began, size): (Time, u16), edge: Time| {
            let end = began + rate.time_for(Bytes(u64::from(size)));
            rate.as_f64() * end.since(edge).as_secs_f64()
        };
        served + beyond(self.before, self.window.from) - beyond(self.latest, self.window.to)
    }

    fn utilization(&self) -> f64 {
        let utilization = self.bits() / self.capacity;
        if self.varies && utilization > 1.0 { 1.0 } else { utilization }
    }
}

/// The metrics of a link.
pub(super) const METRICS: &[Entry<Link>] = &[
    number("queue_mean_packets", "Mean queue", "queue", PACKETS, |link: &Link| link.queue.mean_packets())
        .less()
        .headline(),
    number("queue_mean_normalized", "Mean queue of buffer", "of buffer", PERCENT, Link::queue_normalized)
        .less()
        .headline(),
    times("queueing_delay", "Queueing delay", "delay", |link: &Link| &link.waited).less().headline(),
    number("drop_ratio", "Packets dropped", "dropped", PERCENT, |link: &Link| {
        link.dropped_by_queue() as f64 / link.arrivals as f64
    })
    .less()
    .headline(),
    number("channel_loss_ratio", "Packets lost by the channel", "channel loss", PERCENT, Link::channel_loss)
        .less()
        .headline(),
    number("mark_ratio", "Packets marked", "marked", PERCENT, |link: &Link| {
        link.marks as f64 / link.arrivals as f64
    })
    .headline(),
    number("utilization", "Utilization", "utilization", PERCENT, Link::utilization).more().headline(),
    number("throughput_bps", "Throughput of the link", "throughput", MBIT, |link: &Link| {
        link.bits() / link.window.span().as_secs_f64()
    })
    .detail(),
    number("queue_mean_bytes", "Mean queue in bytes", "queue", BYTES, |link: &Link| link.queue.mean_bytes())
        .detail(),
    number("capacity_bps", "Mean capacity", "capacity", MBIT, |link: &Link| {
        link.capacity / link.window.span().as_secs_f64()
    })
    .detail(),
    number("buffer_packets", "Buffer", "buffer", PACKETS, Link::buffer_packets),
    number("arrivals", "Packets arrived", "arrived", PLAIN, |link: &Link| link.arrivals as f64),
    number("drops", "Packets dropped by the queue", "drops", PLAIN, |link: &Link| {
        link.dropped_by_queue() as f64
    }),
    number("drops_overflow", "Packets that found no room", "no room", PLAIN, |link: &Link| {
        link.drops_by(Reason::Overflow)
    })
    .detail(),
    number(
        "drops_early",
        "Packets dropped on arrival by the discipline",
        "dropped early",
        PLAIN,
        |link: &Link| link.drops_by(Reason::Early),
    )
    .detail(),
    number("drops_late", "Packets dropped at the head of the queue", "dropped late", PLAIN, |link: &Link| {
        link.drops_by(Reason::Late)
    })
    .detail(),
    number("drops_pushed_out", "Waiting packets pushed out", "pushed out", PLAIN, |link: &Link| {
        link.drops_by(Reason::PushedOut)
    })
    .detail(),
    number("drops_channel", "Packets lost by the channel", "channel losses", PLAIN, |link: &Link| {
        link.drops_by(Reason::Channel)
    })
    .detail(),
    number("drops_policed", "Packets dropped by the policer", "policed", PLAIN, |link: &Link| {
        link.effect(link.drops[Reason::Policed as usize])
    })
    .detail(),
    number("duplicated", "Packets that went on twice", "duplicated", PLAIN, |link: &Link| {
        link.effect(link.duplicated)
    })
    .detail(),
    number("corrupted", "Packets that went on with a wrong bit", "corrupted", PLAIN, |link: &Link| {
        link.effect(link.corrupted)
    })
    .detail(),
    packets("queue_at_drop", "Queue on arrival of dropped packets", "queue at drop", |link: &Link| {
        &link.queue_at_drop
    })
    .detail(),
    number("marks", "Packets marked by the queue", "marks", PLAIN, |link: &Link| link.marks as f64).detail(),
    number("served_packets", "Packets transmitted", "served", PACKETS, |link: &Link| {
        link.served_packets as f64
    }),
    number("served_bytes", "Bytes transmitted", "served", BYTES, |link: &Link| link.served_bytes as f64)
        .detail(),
];

/// The metrics of a bin of the queue's length; its label is the shortest length in it.
pub(super) const LENGTHS: &[Entry<f64>] =
    &[number("queue_length_share", "Fraction of time at this queue length", "of time", PERCENT, |share| {
        *share
    })];
