// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observer that measures a run: it routes each event to the counters of its subjects.
//!
//! It receives every packet on every link, so it allocates nothing while packets flow, and handles measured links
//! separately from all others.

use super::crossing::Crossed;
use super::flow::Flow;
use super::group::Group;
use super::link::Link;
use super::mixture::{Mixture, Share};
use super::registry::{REPORTED, Subject};
use super::run::Run;
use super::slowdown::Alone;
use super::{class, crossing, flow, group, lateness, link, mixture, position, run};
use crate::link::{LinkSpec, Routes};
use crate::metric::fill;
use crate::packet::{Flags, Packet};
use crate::run::Joined;
use crate::spec::{self, Roster, Valid};
use crate::table::Row;
use crate::trace::{Event, FlowId, LinkId, Observer, Passage};
use crate::units::{Interval, Span, Time};

/// Measures a run inside its measurement window.
#[derive(Clone, Debug)]
pub struct Meter {
    window: Interval,
    /// For each link; none if it is not measured. Boxed so that the table itself stays small.
    links: Vec<Option<Box<Link>>>,
    /// For each flow slot: those known before the run, then those opened in it.
    flows: Vec<Flow>,
    groups: Vec<Group>,
    /// The number of slots known before the run.
    listed: usize,
    /// Whether a link changes the order of packets.
    reorders: bool,
}

impl Meter {
    /// A meter for the run of `valid` with this seed. It measures shares of links if there are several groups.
    pub fn new(valid: &Valid, seed: u64) -> Meter {
        let meter = Meter::without_shares(valid, seed, valid.schedule().measure);
        if meter.groups.len() > 1 { meter.sharing(valid) } else { meter }
    }

    /// A meter that measures shares even of a lone group.
    pub fn with_shares(valid: &Valid, seed: u64) -> Meter {
        Meter::in_window(valid, seed, valid.schedule().measure)
    }

    /// A meter with shares, for another window than the spec's.
    pub fn in_window(valid: &Valid, seed: u64, window: Interval) -> Meter {
        Meter::without_shares(valid, seed, window).sharing(valid)
    }

    fn without_shares(valid: &Valid, seed: u64, window: Interval) -> Meter {
        let full_packet = valid.full_packet();
        let mut ranks = 0..;
        let link = |(place, spec): (usize, &LinkSpec)| {
            let rank = spec.measured.then(|| ranks.next()).flatten()?;
            let capacity = spec.capacity_bits(window, seed, place);
            Some(Box::new(Link::new(spec, full_packet, rank, window, capacity)))
        };
        let roster = Roster::new(valid);
        let mut routes = Routes::new(valid.network());
        // Transfers that a proxy carries on begin where the first of their connections does.
        let group = |(place, group): (usize, &spec::Group)| {
            let slot = roster.fixed().iter().position(|slot| slot.group == place);
            let alone = valid
                .legs(place)
                .map(|leg| Alone::between(&valid.network().links, &mut routes, &valid.groups()[leg].pairs))
                .reduce(|later, earlier| earlier.then(later))
                .unwrap_or_default();
            let forwarded = valid.behind(place).is_some();
            Group::new(group, forwarded, slot.unwrap_or_default(), window, alone)
        };
        Meter {
            window,
            links: valid.network().links.iter().enumerate().map(link).collect(),
            flows: roster.fixed().iter().map(|slot| Flow::new(slot.group as u32)).collect(),
            groups: valid.groups().iter().enumerate().map(group).collect(),
            listed: roster.fixed().len(),
            reorders: false,
        }
        .with_order(valid)
    }

    /// It measures the order of packets if a link changes that.
    fn with_order(mut self, valid: &Valid) -> Meter {
        let effects = valid.network().links.iter().filter_map(|link| link.effects.as_deref());
        self.reorders = effects.into_iter().any(|all| all.reordering.p > 0.0);
        if self.reorders {
            self.groups.iter_mut().for_each(|group| group.order = Some(Box::default()));
        }
        self
    }

    fn sharing(mut self, valid: &Valid) -> Meter {
        let groups = self.groups.len();
        for (link, spec) in self.links.iter_mut().zip(&valid.network().links) {
            if let Some(link) = link {
                link.mixture = Some(Box::new(Mixture::new(groups, spec.limit, self.window)));
            }
        }
        self
    }

    /// Ends the window at `end`, for a run that ended before the spec's end. No later event may have been reported.
    pub fn end(&mut self, end: Time, valid: &Valid, seed: u64) {
        self.window.to = self.window.to.min(end).max(self.window.from);
        for (place, spec) in valid.network().links.iter().enumerate() {
            if let Some(link) = &mut self.links[place] {
                link.end(self.window, spec.capacity_bits(self.window, seed, place));
            }
        }
        self.groups.iter_mut().for_each(|group| group.window = self.window.span());
    }

    /// The rows of every subject.
    pub fn finish(self) -> Vec<Row> {
        self.rows(Subject::ALL)
    }

    /// The rows of some subjects: the run, each link and each group, in this order.
    pub fn rows(mut self, subjects: &[Subject]) -> Vec<Row> {
        let listed = &self.flows[..self.listed];
        for flow in listed {
            let group = &mut self.groups[flow.group as usize];
            if group.controlled {
                group.goodputs.push(flow.goodput_bps(self.window.span()));
                group.crossed.join(flow.crossed);
            }
        }
        let (mut of_links, mut of_groups) = (Vec::new(), Vec::new());
        // For each link: its name, and the share of each group.
        let mut shares: Vec<(String, Vec<Share>)> = Vec::new();
        for link in self.links.iter_mut().flatten() {
            link.queue.close();
            of_links.extend(rows_of_link(link));
            shares.extend(link.mixture.take().map(|mixture| (link.name.clone(), mixture.finish())));
        }
        let unknown = Share::unknown();
        for (place, group) in self.groups.iter().enumerate() {
            // On several links a group has a share only where it sent something.
            let of_first = shares.first().map(|(_, by_group)| &by_group[place]);
            let whole = of_first.filter(|share| shares.len() == 1 || share.arrivals > 0).unwrap_or(&unknown);
            of_groups.extend(rows_of_group(group, whole));
            // A single link's shares are the groups' own.
            let crossings = shares.iter().filter(|_| shares.len() > 1);
            let crossings = crossings.map(|(link, by_group)| (link, &by_group[place]));
            of_groups.extend(crossings.filter(|(_, share)| share.arrivals > 0).map(|(link, share)| {
                let labels = [("group", group.name.clone()), ("link", link.clone())];
                fill(Row::new(labels), crossing::METRICS, share)
            }));
            if subjects.contains(&Subject::Flow) && group.controlled {
                let own = listed.iter().filter(|flow| flow.group as usize == place);
                of_groups.extend(own.enumerate().map(|(index, flow)| {
                    let labels = [("group", group.name.clone()), ("flow", index.to_string())];
                    fill(Row::new(labels), flow::METRICS, &(*flow, self.window.span()))
                }));
            }
        }
        let run = std::iter::once(self.row_of_run(of_links.first()));
        let rows = run.chain(of_links).chain(of_groups);
        rows.filter(|row| subjects.iter().any(|subject| subject.has(row))).collect()
    }

    fn row_of_run(&self, bottleneck: Option<&Row>) -> Row {
        let of_bottleneck = Subject::Link.metrics().iter().filter(|metric| metric.headline);
        let headlines = of_bottleneck.fold(Row::new([]), |row, metric| {
            row.with(&metric.key, bottleneck.map_or(f64::NAN, |link| link.value(&metric.key)))
        });
        let forward: Vec<&Group> =
            self.groups.iter().filter(|group| group.crossed.has(Crossed::BOTTLENECK)).collect();
        let goodputs = forward.iter().flat_map(|group| group.goodputs.iter().copied()).collect();
        let one_path = forward.windows(2).all(|pair| pair[0].crossed == pair[1].crossed);
        let senders = self.groups.iter().map(|group| group.senders).sum();
        fill(headlines, run::METRICS, &Run { window: self.window.span(), goodputs, one_path, senders })
    }

    #[inline]
    fn link(&mut self, link: LinkId) -> Option<&mut Link> {
        self.links.get_mut(link.0 as usize)?.as_deref_mut()
    }

    #[inline]
    fn is_measured(&self, link: LinkId) -> bool {
        self.links.get(link.0 as usize).is_some_and(Option::is_some)
    }

    /// An event at a measured link. It is not inlined, so that it costs nothing on other links.
    #[inline(never)]
    fn at_link(&mut self, at: Time, link: LinkId, packet: &Packet, event: &Event) {
        let inside = self.window.contains(at);
        let Some(link) = self.links.get_mut(link.0 as usize).and_then(Option::as_deref_mut) else { return };
        if !inside {
            if matches!(event, Event::Service { .. }) && at < self.window.from {
                link.served_before(at, packet.size);
            }
            return;
        }
        link.on(at, event);
        let Some(flow) = self.flows.get_mut(packet.flow as usize) else { return };
        if matches!(event, Event::Arrival { .. }) && !packet.flags.has(Flags::ACK) {
            flow.crossed.add(link.rank);
        }
        if let Some(mixture) = &mut link.mixture {
            mixture.on(flow.group as usize, at, link.queue.backlog(), event);
        }
    }

    /// A packet passes a queue inside the window: [`at_link`](Meter::at_link) and the change of the queue in one call.
    #[inline]
    fn passed(&mut self, at: Time, passage: &Passage) {
        let Passage { packet, waited, backlog, .. } = *passage;
        let Some(link) = self.links.get_mut(passage.link.0 as usize).and_then(Option::as_deref_mut) else {
            return;
        };
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            if !packet.flags.has(Flags::ACK) {
                flow.crossed.add(link.rank);
            }
            if let Some(mixture) = &mut link.mixture {
                mixture.passed(flow.group as usize, at, link.queue.backlog(), passage);
            }
        }
        link.passed(at + waited, packet.size, waited);
        if waited > Span::ZERO {
            link.queue.change(at, backlog);
        }
    }

    /// A packet reaches its host, in any order.
    #[inline(never)]
    fn ordered(&mut self, at: Time, packet: &Packet) {
        if packet.flags.has(Flags::ACK) || !self.window.contains(at) {
            return;
        }
        let Some(flow) = self.flows.get(packet.flow as usize) else { return };
        if let Some(order) = self.groups.get_mut(flow.group as usize).and_then(|group| group.order.as_mut()) {
            order.arrives(packet.flow, packet.id, at);
        }
    }

    /// An event of a flow inside the window.
    #[inline(always)]
    fn of_flow(&mut self, at: Time, flow: FlowId, event: &Event) {
        let Some(flow) = self.flows.get_mut(flow.0 as usize) else { return };
        flow.on(event);
        if let Some(group) = self.groups.get_mut(flow.group as usize) {
            group.on(at, event);
        }
    }

    /// A slot opens for a group.
    #[cold]
    fn open(&mut self, flow: FlowId, group: u32) {
        let slot = flow.0 as usize;
        if slot >= self.flows.len() {
            self.flows.resize(slot + 1, Flow::new(group));
        }
        self.flows[slot].group = group;
    }
}

/// All sums are of integers, so that their order does not matter.
impl Joined for Meter {
    fn join(&mut self, other: Meter, theirs: &dyn Fn(LinkId) -> bool) {
        for (place, (link, measured)) in self.links.iter_mut().zip(other.links).enumerate() {
            if theirs(LinkId(place as u32)) {
                *link = measured;
            }
        }
        self.flows.iter_mut().zip(other.flows).for_each(|(flow, more)| flow.join(more));
        self.groups.iter_mut().zip(&other.groups).for_each(|(group, more)| group.join(more));
    }
}

impl Observer for Meter {
    #[inline]
    fn pass(&mut self, at: Time, passage: &Passage) {
        if self.window.contains(at) && at + passage.waited < self.window.to {
            self.passed(at, passage);
        } else {
            passage.tell(at, self);
        }
    }

    // Where the kind of event is known, only its own arm remains and no event is constructed.
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            // The queue at the start of the window is the queue after the last change before it.
            Event::Queue { link, backlog } => {
                if let Some(link) = self.link(*link) {
                    link.queue.change(at, *backlog);
                }
            }
            Event::Arrival { link, packet, .. }
            | Event::Fate { link, packet, .. }
            | Event::Altered { link, packet, .. }
            | Event::Service { link, packet, .. } => {
                if self.is_measured(*link) {
                    self.at_link(at, *link, packet, event);
                }
            }
            Event::Acked { flow, .. } | Event::Repair { flow, .. } => {
                if self.window.contains(at) {
                    self.of_flow(at, *flow, event);
                }
            }
            Event::Sent { packet, group } => {
                if !packet.flags.has(Flags::SYN)
                    && self.window.contains(at)
                    && let Some(group) = self.groups.get_mut(*group as usize)
                {
                    group.sent(packet.flags.has(Flags::RETRANSMITTED));
                }
            }
            Event::Completed { flow, delivered, .. } => {
                if self.window.contains(*delivered) {
                    self.of_flow(at, *flow, event);
                }
            }
            Event::Started { flow, group } => {
                if flow.0 as usize >= self.listed {
                    self.open(*flow, *group);
                } else if let Some(group) = self.groups.get_mut(*group as usize) {
                    group.began(*flow, at);
                }
                if self.window.contains(at) {
                    self.of_flow(at, *flow, event);
                }
            }
            // Transfers are counted by acknowledgements, datagrams where they arrive.
            Event::Delivered { packet, .. } => {
                if self.reorders {
                    self.ordered(at, packet);
                }
                let other = Flags::CORRUPT.with(Flags::ACK);
                let sound = packet.flags.has(Flags::DATAGRAM) && !packet.flags.has_any(other);
                if sound && self.window.contains(at) {
                    self.of_flow(at, FlowId(packet.flow), event);
                }
            }
            Event::Reported { group, report } => {
                if self.window.contains(report.at)
                    && let Some(group) = self.groups.get_mut(*group as usize)
                {
                    group.reported.add(report);
                }
            }
            Event::Closed { .. } | Event::Sample { .. } => {}
        }
    }
}

fn rows_of_link(link: &Link) -> Vec<Row> {
    let row = |bin: Option<usize>| {
        let bin = bin.map(|bin| ("bin", bin.to_string()));
        Row::new([("link", link.name.clone())].into_iter().chain(bin))
    };
    let lengths = link.queue.distribution().into_iter();
    let bins = lengths.map(|(shortest, share)| fill(row(Some(shortest)), link::LENGTHS, &share));
    std::iter::once(fill(row(None), link::METRICS, link)).chain(bins).collect()
}

fn rows_of_group(group: &Group, share: &Share) -> Vec<Row> {
    let row = |more: Option<(&'static str, String)>| {
        Row::new([("group", group.name.clone())].into_iter().chain(more))
    };
    let reported = REPORTED.iter().map(|(_, reports)| reports.metrics).chain([group.reports]);
    let whole = reported.fold(row(None), |row, metrics| fill(row, metrics, &group.reported));
    let whole = fill(fill(whole, group::METRICS, group), group::DATAGRAMS, group);
    let whole = fill(whole, group::ORDER, group);
    let whole = fill(whole, mixture::METRICS, share);
    let positions = share
        .positions()
        .map(|(middle, part)| fill(row(Some(("bin", format!("{middle:.4}")))), position::POSITIONS, &part));
    let classes =
        group.classes.seen().map(|(label, class)| fill(row(Some(("class", label))), class::METRICS, class));
    let completions = group
        .completed_within()
        .map(|(time, part)| fill(row(Some(("within", time))), group::COMPLETIONS, &part));
    let startups = group.lateness.iter().flat_map(|lateness| lateness.playbacks());
    let startups =
        startups.map(|(delay, play)| fill(row(Some(("startup", delay))), lateness::METRICS, &play));
    let drops = share
        .drop_windows()
        .map(|(window, part)| fill(row(Some(("cwnd", window))), mixture::DROP_WINDOWS, &part));
    std::iter::once(whole)
        .chain(positions)
        .chain(classes)
        .chain(completions)
        .chain(startups)
        .chain(drops)
        .collect()
}
