// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observer that sums a run up.
//!
//! It hears of every packet on every link, so it allocates nothing on the way, looks at no link that is not
//! measured, and keeps what belongs together in one place.

use super::distribution::Recorder;
use super::mixture::Mixture;
use super::occupancy::Occupancy;
use super::summary::{CbrSummary, Drops, GroupSummary, LinkSummary, Summary, WebSummary};
use crate::link::LinkSpec;
use crate::packet::{Flags, Packet};
use crate::queue::{Fate, Limit};
use crate::spec::{Group, Roster, Slot, Valid};
use crate::trace::{Event, FlowId, LinkId, Observer};
use crate::traffic::Kind;
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// Sums up what happens in the measurement window of a run.
#[derive(Clone, Debug)]
pub struct Meter {
    window: Interval,
    /// By link; none where it is not measured. Boxed so that the table itself stays small.
    links: Vec<Option<Box<Link>>>,
    /// By flow slot, those known before the run.
    flows: Vec<Flow>,
    /// The group of each slot opened during the run.
    opened: Vec<u32>,
    groups: Vec<Counts>,
}

/// What is counted of a group of traffic.
#[derive(Clone, Debug)]
struct Counts {
    kind: Kind,
    transfers: Transfers,
    datagrams: Datagrams,
}

/// What is counted at a measured link.
#[derive(Clone, Debug)]
struct Link {
    name: String,
    rate: Option<Rate>,
    /// The bits that the link can carry in the window.
    capacity: f64,
    limit: Limit,
    full_packet: Bytes,
    first: bool,
    arrivals: u64,
    drops: Drops,
    marks: u64,
    served_packets: u64,
    served_bytes: u64,
    /// The last transmission that began before the window, and the last in it: when, and of how many bytes.
    before: (Time, u16),
    latest: (Time, u16),
    queue: Occupancy,
    waited: Recorder,
    /// Who got what of the first measured link, if somebody wants to know.
    mixture: Option<Box<Mixture>>,
}

/// What is counted of one flow slot.
#[derive(Clone, Copy, Debug)]
struct Flow {
    group: usize,
    acked: u64,
    crosses_bottleneck: bool,
}

/// What is counted of the connections of a group.
#[derive(Clone, Debug)]
struct Transfers {
    name: String,
    cc: String,
    acked: u64,
    rtt: Recorder,
    repairs: u64,
    timeouts: u64,
    completions: Recorder,
    completed_bytes: u64,
}

/// What is counted of the datagrams of a group.
#[derive(Clone, Debug)]
struct Datagrams {
    name: String,
    packets: u64,
    bytes: u64,
    delay: Recorder,
}

impl Meter {
    /// A meter for one run of `valid`, which tells [`shares`](Summary::shares) if there are several groups.
    pub fn new(valid: &Valid) -> Meter {
        if valid.groups.len() > 1 { Meter::with_shares(valid) } else { Meter::without_shares(valid) }
    }

    /// A meter that tells shares even of a group that is alone.
    pub fn with_shares(valid: &Valid) -> Meter {
        let mut meter = Meter::without_shares(valid);
        if let Some(link) = meter.links.iter_mut().flatten().next() {
            let names = valid.groups.iter().map(|group| group.name.clone());
            link.mixture = Some(Box::new(Mixture::new(names, link.limit, valid.schedule.measure)));
        }
        meter
    }

    fn without_shares(valid: &Valid) -> Meter {
        let full_packet = valid.full_packet();
        let first = valid.network.links.iter().position(|link| link.measured);
        let link = |(place, spec): (usize, &LinkSpec)| {
            spec.measured
                .then(|| Box::new(Link::new(spec, full_packet, first == Some(place), valid.schedule.measure)))
        };
        let flow = |slot: &Slot| Flow { group: slot.group, acked: 0, crosses_bottleneck: false };
        Meter {
            window: valid.schedule.measure,
            links: valid.network.links.iter().enumerate().map(link).collect(),
            flows: Roster::new(valid).fixed().iter().map(flow).collect(),
            opened: Vec::new(),
            groups: valid.groups.iter().map(Counts::new).collect(),
        }
    }

    /// What the run amounts to; the last state of each queue lasts to the end of the window.
    pub fn finish(self) -> Summary {
        let window = self.window.span();
        let mut links = self.links;
        let mixture = links.iter_mut().flatten().find_map(|link| link.mixture.take());
        let of = |wanted: fn(Kind) -> bool| {
            self.groups.iter().enumerate().filter(move |(_, counts)| wanted(counts.kind))
        };
        Summary {
            window_s: window.as_secs_f64(),
            links: links.into_iter().flatten().map(|link| link.finish(self.window)).collect(),
            groups: of(Kind::listed)
                .map(|(place, counts)| counts.transfers.finish_group(place, &self.flows, window))
                .collect(),
            web: of(Kind::opens).map(|(_, counts)| counts.transfers.finish_web(window)).collect(),
            cbr: of(|kind| kind == Kind::Datagrams)
                .map(|(_, counts)| counts.datagrams.finish(window))
                .collect(),
            shares: mixture.map_or(Vec::new(), |mixture| mixture.finish()),
        }
    }

    #[inline]
    fn link(&mut self, link: LinkId) -> Option<&mut Link> {
        self.links.get_mut(link.0 as usize)?.as_deref_mut()
    }

    /// A packet's group, where a link wants to know it.
    #[inline]
    fn group_at(&self, link: LinkId, packet: &Packet) -> Option<usize> {
        self.links.get(link.0 as usize)?.as_ref()?.mixture.as_ref()?;
        self.group(FlowId(packet.flow))
    }

    /// The group that a flow slot serves. One opened during the run serves no other.
    #[inline]
    fn group(&self, flow: FlowId) -> Option<usize> {
        match self.flows.get(flow.0 as usize) {
            Some(known) => Some(known.group),
            None => {
                let opened = (flow.0 as usize).checked_sub(self.flows.len())?;
                Some(*self.opened.get(opened)? as usize)
            }
        }
    }

    #[inline]
    fn arrival(&mut self, link: LinkId, packet: &Packet, fate: Fate) {
        let group = self.group_at(link, packet);
        let Some(link) = self.link(link) else { return };
        link.arrivals += 1;
        link.fate(fate);
        if let (Some(group), Some(mixture)) = (group, &mut link.mixture) {
            mixture.arrival(group, link.queue.backlog(), fate);
        }
        if link.first
            && !packet.flags.has(Flags::ACK)
            && let Some(flow) = self.flows.get_mut(packet.flow as usize)
        {
            flow.crosses_bottleneck = true;
        }
    }

    /// The counts of the connections that a flow slot carries.
    #[inline]
    fn transfers(&mut self, flow: FlowId) -> Option<&mut Transfers> {
        let group = self.group(flow)?;
        self.groups.get_mut(group).map(|counts| &mut counts.transfers)
    }

    /// Notes the group of a slot that was opened during the run.
    fn open(&mut self, flow: FlowId, group: u32) {
        if let Some(opened) = (flow.0 as usize).checked_sub(self.flows.len()) {
            self.opened.resize(self.opened.len().max(opened + 1), group);
            self.opened[opened] = group;
        }
    }

    #[inline]
    fn acked(&mut self, flow: FlowId, acked: Bytes, rtt: Option<Span>) {
        if let Some(flow) = self.flows.get_mut(flow.0 as usize) {
            flow.acked += acked.0;
        }
        if let Some(transfers) = self.transfers(flow) {
            transfers.acked += acked.0;
            if let Some(rtt) = rtt {
                transfers.rtt.record(rtt);
            }
        }
    }

    fn delivered(&mut self, packet: &Packet, at: Time) {
        let group = self.group(FlowId(packet.flow));
        if let Some(counts) = group.and_then(|group| self.groups.get_mut(group)) {
            let datagrams = &mut counts.datagrams;
            datagrams.packets += 1;
            datagrams.bytes += u64::from(packet.size);
            datagrams.delay.record(at.since(packet.sent));
        }
    }
}

impl Observer for Meter {
    // Where the kind of event is known, only its own arm remains and the event is never put together.
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        // A queue's past before the window is what it begins with; all else counts only inside.
        if let Event::Queue { link, backlog } = event {
            if let Some(link) = self.link(*link) {
                link.queue.change(at, *backlog);
            }
            return;
        }
        if let Event::Completed { flow, began, delivered, size, .. } = event {
            if self.window.contains(*delivered)
                && let Some(transfers) = self.transfers(*flow)
            {
                transfers.completions.record(delivered.since(*began));
                transfers.completed_bytes += size.0;
            }
            return;
        }
        if let Event::Started { flow, group } = event {
            self.open(*flow, *group);
        }
        if !self.window.contains(at) {
            // What is in transmission when the window begins takes up some of it.
            if let Event::Service { link, packet, .. } = event
                && at < self.window.from
                && let Some(link) = self.link(*link)
            {
                link.before = (at, packet.size);
            }
            return;
        }
        match event {
            Event::Arrival { link, packet, fate } => self.arrival(*link, packet, *fate),
            Event::Fate { link, packet, fate } => {
                let group = self.group_at(*link, packet);
                if let Some(link) = self.link(*link) {
                    link.fate(*fate);
                    if let (Some(group), Some(mixture)) = (group, &mut link.mixture) {
                        mixture.fate(group, *fate);
                    }
                }
            }
            Event::Service { link, packet, waited } => {
                let group = self.group_at(*link, packet);
                if let Some(link) = self.link(*link) {
                    if let (Some(group), Some(mixture)) = (group, &mut link.mixture) {
                        mixture.service(group, at, packet.size);
                    }
                    link.served_packets += 1;
                    link.served_bytes += u64::from(packet.size);
                    link.latest = (at, packet.size);
                    link.waited.record(*waited);
                }
            }
            Event::Acked { flow, acked, rtt, .. } => self.acked(*flow, *acked, *rtt),
            Event::Delivered { packet } if packet.flags.has(Flags::DATAGRAM) => self.delivered(packet, at),
            Event::Repair { flow, timeout } => {
                if let Some(transfers) = self.transfers(*flow) {
                    let counter = if *timeout { &mut transfers.timeouts } else { &mut transfers.repairs };
                    *counter += 1;
                }
            }
            Event::Delivered { .. }
            | Event::Started { .. }
            | Event::Sample { .. }
            | Event::Queue { .. }
            | Event::Completed { .. } => {}
        }
    }
}

impl Link {
    fn new(spec: &LinkSpec, full_packet: Bytes, first: bool, window: Interval) -> Link {
        Link {
            name: spec.name.clone(),
            rate: spec.rate,
            capacity: spec.capacity_bits(window),
            limit: spec.limit,
            full_packet,
            first,
            arrivals: 0,
            drops: Drops::default(),
            marks: 0,
            served_packets: 0,
            served_bytes: 0,
            before: (Time::ZERO, 0),
            latest: (Time::ZERO, 0),
            queue: Occupancy::new(window),
            waited: Recorder::new(),
            mixture: None,
        }
    }

    #[inline]
    fn fate(&mut self, fate: Fate) {
        match fate {
            Fate::Passed => {}
            Fate::Marked => self.marks += 1,
            Fate::Dropped(reason) => self.drops.count(reason),
        }
    }

    /// The bits that passed in the window: of a transmission across its edge, only the part inside.
    fn bits(&self, window: Interval) -> f64 {
        let Some(rate) = self.rate else { return f64::NAN };
        let beyond = |(began, size): (Time, u16), edge: Time| {
            let end = began + rate.time_for(Bytes(u64::from(size)));
            rate.as_f64() * end.since(edge).as_secs_f64()
        };
        8.0 * self.served_bytes as f64 + beyond(self.before, window.from) - beyond(self.latest, window.to)
    }

    fn finish(mut self, window: Interval) -> LinkSummary {
        let bits = self.bits(window);
        self.queue.close();
        let packets = self.queue.mean_packets();
        let bytes = self.queue.mean_bytes();
        let (buffer_packets, queue_mean_normalized) = match self.limit {
            Limit::Packets(limit) => (Some(f64::from(limit)), packets / f64::from(limit)),
            Limit::Bytes(limit) => (Some(limit.0 as f64 / self.full_packet.0 as f64), bytes / limit.0 as f64),
            Limit::Unlimited => (None, f64::NAN),
        };
        LinkSummary {
            name: self.name,
            queue_mean_packets: packets,
            queue_mean_bytes: bytes,
            buffer_packets,
            queue_mean_normalized,
            queue_distribution: self.queue.distribution(),
            queueing_delay: self.waited.finish(),
            arrivals: self.arrivals,
            drops: self.drops,
            marks: self.marks,
            served_packets: self.served_packets,
            served_bytes: self.served_bytes,
            utilization: bits / self.capacity,
        }
    }
}

/// Bits per second.
fn rate_bps(bytes: u64, window: Span) -> f64 {
    8.0 * bytes as f64 / window.as_secs_f64()
}

impl Counts {
    fn new(group: &Group) -> Counts {
        let cc = group.cc.as_ref().map_or("", |cc| cc.name());
        Counts {
            kind: group.kind(),
            transfers: Transfers::new(&group.name, cc),
            datagrams: Datagrams::new(&group.name),
        }
    }
}

impl Transfers {
    fn new(name: &str, cc: &str) -> Transfers {
        Transfers {
            name: name.into(),
            cc: cc.into(),
            acked: 0,
            rtt: Recorder::new(),
            repairs: 0,
            timeouts: 0,
            completions: Recorder::new(),
            completed_bytes: 0,
        }
    }

    fn finish_group(&self, place: usize, flows: &[Flow], window: Span) -> GroupSummary {
        let own = || flows.iter().filter(move |flow| flow.group == place);
        let completions = self.completions.finish();
        GroupSummary {
            name: self.name.clone(),
            cc: self.cc.clone(),
            crosses_bottleneck: own().any(|flow| flow.crosses_bottleneck),
            goodput_bps: own().map(|flow| rate_bps(flow.acked, window)).collect(),
            rtt: self.rtt.finish(),
            repairs: self.repairs,
            timeouts: self.timeouts,
            completed: completions.count,
            completions,
        }
    }

    fn finish_web(&self, window: Span) -> WebSummary {
        let completions = self.completions.finish();
        WebSummary {
            name: self.name.clone(),
            cc: self.cc.clone(),
            goodput_bps: rate_bps(self.acked, window),
            rtt: self.rtt.finish(),
            repairs: self.repairs,
            timeouts: self.timeouts,
            completed: completions.count,
            completed_bytes: self.completed_bytes,
            completions,
        }
    }
}

impl Datagrams {
    fn new(name: &str) -> Datagrams {
        Datagrams { name: name.into(), packets: 0, bytes: 0, delay: Recorder::new() }
    }

    fn finish(&self, window: Span) -> CbrSummary {
        CbrSummary {
            name: self.name.clone(),
            delivered_packets: self.packets,
            throughput_bps: rate_bps(self.bytes, window),
            delay: self.delay.finish(),
        }
    }
}
