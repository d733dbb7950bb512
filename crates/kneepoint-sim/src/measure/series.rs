// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state over time: one row per sampling instant of the run, the measurement window and the rest.
//!
//! [`COLUMNS`] says what a column has: the state at the instant, or what happened since the one before. A transmission that
//! is under way at an instant counts on both sides of it, with the part of its bits that the link's rate carries on each.
//!
//! Throughput counts what the network delivers. Payload acknowledged in order would not grow while a loss is repaired, and would then
//! jump to many times the rate of the link.

mod columns;
mod crossed;
mod flows;

pub use columns::{COLUMNS, Column};
pub use flows::{Followed, spread};

use super::tally::Ahead;
use crate::cc::Start;
use crate::metric::{Course, Tallies};
use crate::packet::Flags;
use crate::spec::{Group, Roster, Valid};
use crate::table::Table;
use crate::trace::{Event, FlowId, LinkId, Observer, View};
use crate::units::{Interval, Span, Time};
use crossed::Crossed;
use flows::Flows;

/// Records queues, windows, throughputs, losses and the state of controllers at each sampling instant.
#[derive(Clone, Debug)]
pub struct Series {
    interval: Span,
    /// For each link; none if it is not measured.
    links: Vec<Option<Crossed>>,
    flows: Flows,
    /// The group of each flow slot that belongs to one, by its place among groups with listed connections.
    group_of: Vec<Option<usize>>,
    /// The number of slots known before the run.
    listed: usize,
    /// The place of each group among groups with listed connections, if it has them.
    shown: Vec<Option<usize>>,
    /// The latest round-trip time of each active flow slot; zero before the first sample.
    latest: Vec<Option<Span>>,
    /// Bytes that reached each group's receivers for the first time since the last sample.
    arrived: Vec<Ahead>,
    /// Active flows of each group.
    active: Vec<u32>,
    /// Timers of each group that expired since the last sample.
    timeouts: Vec<u32>,
    /// Segments that the senders of each group retransmitted since then; none of a group without senders.
    resent: Vec<Option<u64>>,
    /// The numbers averaged over each group: round-trip times, and the state of controllers.
    states: Vec<Vec<&'static str>>,
    /// Reports of each group's sources since the last sample; none of a group whose reports have no course.
    reported: Vec<Option<(&'static [Course], Tallies)>>,
    last: Time,
    table: Table,
}

impl Series {
    /// Follows every measured link, every group and these flows in the run seeded with `seed`.
    pub fn new(valid: &Valid, seed: u64, followed: impl Into<Followed>) -> Series {
        let roster = Roster::new(valid);
        // The flows whose connections are known before the run, and the place of each group among them.
        let listed = || valid.groups().iter().filter(|group| group.kind().listed());
        let mut places = 0..;
        let place = |group: &Group| group.kind().listed().then(|| places.next()).flatten();
        let shown: Vec<Option<usize>> = valid.groups().iter().map(place).collect();
        let controlled = || valid.groups().iter().filter(|group| group.cc.is_some());
        let links = &valid.network().links;
        let interval = valid.schedule().sample.unwrap_or(Span(u64::MAX));
        let first = interval.after_start();
        let crossed: Vec<Option<Crossed>> = links
            .iter()
            .enumerate()
            .map(|(at, link)| link.measured.then(|| Crossed::new(link, (at, seed), first)))
            .collect();
        let flows = Flows::new(valid, &roster, followed.into(), interval);
        let mut columns = vec!["time_s".to_string()];
        let mut of_links = |name: &str, wanted: fn(&Crossed) -> bool| {
            let having = links.iter().zip(&crossed).filter(|(_, one)| one.as_ref().is_some_and(wanted));
            columns.extend(having.map(|(link, _)| format!("{name}[{}]", link.name)));
        };
        of_links("queue_packets", |_| true);
        of_links("link_throughput_bps", |_| true);
        of_links("capacity_bps", Crossed::varies);
        of_links("delay_ms", Crossed::moves);
        of_links("drops", |_| true);
        of_links("marks", |_| true);
        for name in ["throughput_bps", "active_flows"] {
            columns.extend(listed().map(|group| format!("{name}[{}]", group.name)));
        }
        columns.extend(controlled().map(|group| format!("retransmissions[{}]", group.name)));
        columns.extend(listed().map(|group| format!("timeouts[{}]", group.name)));
        let states: Vec<Vec<&'static str>> = listed().map(remembered).collect();
        for (group, names) in listed().zip(&states) {
            columns.extend(names.iter().map(|name| format!("{name}[{}]", group.name)));
        }
        let courses = |group: &Group| Some(group.source.reports().courses).filter(|all| !all.is_empty());
        for (group, all) in valid.groups().iter().filter_map(|group| Some((group, courses(group)?))) {
            columns.extend(all.iter().map(|course| format!("{}[{}]", course.name, group.name)));
        }
        columns.extend(flows.columns());
        Series {
            interval,
            links: crossed,
            flows,
            group_of: roster.fixed().iter().map(|slot| shown[slot.group]).collect(),
            listed: roster.fixed().len(),
            shown,
            latest: vec![None; roster.fixed().len()],
            arrived: vec![Ahead::new(interval); listed().count()],
            active: vec![0; listed().count()],
            timeouts: vec![0; listed().count()],
            resent: valid.groups().iter().map(|group| group.cc.as_ref().map(|_| 0)).collect(),
            states,
            reported: valid.groups().iter().map(|one| Some((courses(one)?, Tallies::default()))).collect(),
            last: Time::ZERO,
            table: Table { columns, rows: Vec::new() },
        }
    }

    /// The recorded table.
    pub fn table(self) -> Table {
        self.table
    }
}

/// Round-trip times, and the names of the state variables of a group's controllers.
fn remembered(group: &Group) -> Vec<&'static str> {
    let initial_window = group.tcp.clone().unwrap_or_default().initial_window;
    let start = Start::new(initial_window);
    let state = group.cc.as_ref().map_or(Vec::new(), |cc| cc.build(start).state());
    std::iter::once("rtt_ms").chain(state.into_iter().map(|(name, _)| name)).collect()
}

impl Series {
    /// Only active flows have a round-trip time, and a new one has none yet.
    fn became(&mut self, flow: FlowId, rtt: Option<Span>) {
        let slot = flow.0 as usize;
        let (Some(latest), Some(group)) = (self.latest.get_mut(slot), self.group_of.get(slot)) else {
            return;
        };
        if let Some(group) = group {
            self.active[*group] -= u32::from(latest.is_some());
            self.active[*group] += u32::from(rtt.is_some());
        }
        *latest = rtt;
    }

    /// A flow that was not known before the run may begin in a group whose flows are shown.
    #[cold]
    fn open(&mut self, flow: FlowId, group: u32) {
        let slots = self.group_of.len().max(flow.0 as usize + 1);
        self.group_of.resize(slots, None);
        self.latest.resize(slots, None);
        self.group_of[flow.0 as usize] = self.shown.get(group as usize).copied().flatten();
    }

    #[cold]
    fn sample(&mut self, at: Time, view: &dyn View) {
        let elapsed = at.since(self.last).as_secs_f64();
        let mut row = Vec::with_capacity(self.table.columns.len());
        row.push(at.as_secs_f64());
        let measured = (0..).zip(&self.links).filter(|(_, crossed)| crossed.is_some());
        row.extend(measured.map(|(link, _)| f64::from(view.backlog(LinkId(link)).packets)));
        // No time has passed at the first instant: 0/0 is NaN.
        let next = at + self.interval;
        let since = Interval { from: self.last, to: at };
        let mut crossed = |of: &dyn Fn(&mut Crossed) -> Option<f64>| {
            row.extend(self.links.iter_mut().flatten().filter_map(of));
        };
        crossed(&|link| Some(link.bits.turn(at, next) as f64 / elapsed));
        crossed(&|link| Some(link.capacity_bits(since)? / elapsed));
        crossed(&|link| Some(link.delay(at)?.as_millis_f64()));
        crossed(&|link| Some(link.drops.turn(at, next) as f64));
        crossed(&|link| Some(link.marks.turn(at, next) as f64));
        row.extend(self.arrived.iter_mut().map(|bytes| 8.0 * bytes.turn(at, next) as f64 / elapsed));
        row.extend(self.active.iter().map(|flows| f64::from(*flows)));
        row.extend(self.resent.iter().flatten().map(|segments| *segments as f64));
        row.extend(self.timeouts.iter().map(|expired| f64::from(*expired)));
        row.extend((0..self.states.len()).flat_map(|group| self.means(group, view)));
        for (courses, tallies) in self.reported.iter_mut().flatten() {
            row.extend(courses.iter().map(|course| (course.value)(tallies)));
            *tallies = Tallies::default();
        }
        row.extend(self.flows.sample(view, &self.latest, (at, next), elapsed));
        self.table.rows.push(row);
        self.timeouts.fill(0);
        self.resent.iter_mut().flatten().for_each(|segments| *segments = 0);
        self.last = at;
    }

    /// The mean over a group's active flows of the latest round-trip time and of the controllers' state; NaN if no flow
    /// is active.
    fn means(&self, group: usize, view: &dyn View) -> Vec<f64> {
        let names = &self.states[group];
        let mut sums = vec![(0.0, 0u32); names.len()];
        for (slot, (of, latest)) in self.group_of.iter().zip(&self.latest).enumerate() {
            let Some(rtt) = latest.filter(|_| *of == Some(group)) else { continue };
            let measured = if rtt > Span::ZERO { rtt.as_millis_f64() } else { f64::NAN };
            let state = view.controller(FlowId(slot as u32));
            let values: Vec<_> = std::iter::once(("rtt_ms", measured)).chain(state).collect();
            for (sum, known) in sums.iter_mut().zip(names) {
                let value = values.iter().find(|(name, _)| known == name).map(|(_, value)| *value);
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    *sum = (sum.0 + value, sum.1 + 1);
                }
            }
        }
        sums.into_iter().map(|(sum, count)| sum / f64::from(count)).collect()
    }
}

impl Observer for Series {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Delivered { packet, payload } => {
                if payload.0 > 0
                    && let Some(Some(group)) = self.group_of.get(packet.flow as usize)
                {
                    self.arrived[*group].count(at, payload.0);
                    self.flows.count(packet.flow, at, payload.0);
                }
            }
            Event::Acked { flow, rtt: Some(rtt), .. } => {
                // A flow that is not active has none.
                if let Some(Some(latest)) = self.latest.get_mut(flow.0 as usize) {
                    *latest = *rtt;
                }
            }
            Event::Repair { flow, timeout: true } => {
                if let Some(Some(group)) = self.group_of.get(flow.0 as usize) {
                    self.timeouts[*group] += 1;
                }
            }
            Event::Arrival { link, .. } | Event::Fate { link, .. } | Event::Service { link, .. } => {
                if let Some(Some(crossed)) = self.links.get_mut(link.0 as usize) {
                    crossed.on(at, event);
                }
            }
            Event::Sent { packet, group } if packet.flags.has(Flags::RETRANSMITTED) => {
                if let Some(Some(segments)) = self.resent.get_mut(*group as usize) {
                    *segments += 1;
                }
            }
            Event::Started { flow, group } => {
                if flow.0 as usize >= self.listed {
                    self.open(*flow, *group);
                }
                self.became(*flow, Some(Span::ZERO));
            }
            Event::Reported { group, report } => {
                if let Some(Some((_, tallies))) = self.reported.get_mut(*group as usize) {
                    tallies.add(report);
                }
            }
            Event::Closed { flow } => self.became(*flow, None),
            Event::Sample { view } => self.sample(at, *view),
            _ => {}
        }
    }
}
