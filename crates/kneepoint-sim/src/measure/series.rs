// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state over time: one row per sampling instant of the run, the measurement window and the rest.
//!
//! [`COLUMNS`] says what a column has: the state at the instant, or what happened since the one before. A transmission that
//! is under way at an instant counts on both sides of it, with the part of its bits that the link's rate carries on each.

use super::registry::Subject;
use super::tally::Tally;
use crate::cc::Start;
use crate::link::LinkSpec;
use crate::packet::Flags;
use crate::queue::{Fate, Reason};
use crate::spec::{Group, Roster, Slot, Valid};
use crate::table::Table;
use crate::trace::{Event, FlowId, LinkId, Observer, View};
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// A quantity of a series: `drops` has the columns `drops[r1-r2]`, ….
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name before the brackets, with the unit.
    pub name: &'static str,
    /// The subject, whose name stands in the brackets: a measured link, a group, or one of its flows.
    pub subject: Subject,
    /// A sentence.
    pub about: &'static str,
}

/// Every quantity, but for the variables that controllers show: these are means over a group's active flows.
pub const COLUMNS: [Column; 9] = [
    column("time_s", Subject::Run, "The sampling instant."),
    column("queue_packets", Subject::Link, "Packets that wait, without the one in transmission."),
    column(
        "link_throughput_bps",
        Subject::Link,
        "Bits transmitted since the instant before, over the time since.",
    ),
    column("drops", Subject::Link, "Packets that the queue dropped since the instant before."),
    column("marks", Subject::Link, "Packets that got a congestion mark since the instant before."),
    column(
        "throughput_bps",
        Subject::Group,
        "Payload acknowledged in order since the instant before, over the time since.",
    ),
    column(
        "retransmissions",
        Subject::Group,
        "Segments that its senders sent again since the instant before.",
    ),
    column("rtt_ms", Subject::Group, "Mean over its active flows of the latest round-trip time."),
    column("window_packets", Subject::Flow, "Congestion window of some flows."),
];

impl Column {
    /// Its name with that of its subject between `<` and `>`: `queue_packets[<link>]`.
    pub fn pattern(&self) -> String {
        match self.subject {
            Subject::Run => self.name.to_string(),
            Subject::Flow => format!("{}[<group>/<flow>]", self.name),
            subject => format!("{}[<{subject}>]", self.name),
        }
    }
}

const fn column(name: &'static str, subject: Subject, about: &'static str) -> Column {
    Column { name, subject, about }
}

/// Records queues, windows, throughputs, losses and the state of controllers at each sampling instant.
#[derive(Clone, Debug)]
pub struct Series {
    interval: Span,
    /// By link; none where it is not measured.
    links: Vec<Option<Crossed>>,
    flows: Vec<FlowId>,
    /// The group of each flow slot that belongs to one, by its place among those with listed connections.
    group_of: Vec<Option<usize>>,
    /// How many slots are known before the run.
    listed: usize,
    /// The place of each group among those with listed connections, if it has them.
    shown: Vec<Option<usize>>,
    /// The latest round-trip time of each active flow slot; zero before the first sample.
    latest: Vec<Option<Span>>,
    /// Bytes acknowledged to each group's senders since the last sample.
    acked: Vec<u64>,
    /// Segments that the senders of each group sent again since then; none of a group without senders.
    resent: Vec<Option<u64>>,
    /// The numbers averaged over each group: round-trip times, and the state of controllers.
    states: Vec<Vec<&'static str>>,
    last: Time,
    table: Table,
}

impl Series {
    /// Follows every measured link and `flows` flows of each group, spread evenly over it.
    pub fn new(valid: &Valid, flows: usize) -> Series {
        let roster = Roster::new(valid);
        // Those whose connections are known before the run, and the place of each group among them.
        let listed = || valid.groups().iter().filter(|group| group.kind().listed());
        let mut places = 0..;
        let place = |group: &Group| group.kind().listed().then(|| places.next()).flatten();
        let shown: Vec<Option<usize>> = valid.groups().iter().map(place).collect();
        let controlled = || valid.groups().iter().filter(|group| group.cc.is_some());
        let links = &valid.network().links;
        let measured = || links.iter().filter(|link| link.measured);
        let interval = valid.schedule().sample.unwrap_or(Span(u64::MAX));
        let crossed = |link: &LinkSpec| link.measured.then(|| Crossed::new(link, interval.after_start()));
        let followed: Vec<(FlowId, String)> = (0..)
            .zip(roster.fixed())
            .filter(|(_, slot)| {
                let group = &valid.groups()[slot.group];
                group.kind().listed() && spread(group.members.len(), flows).contains(&slot.index)
            })
            .map(|(flow, Slot { group, index })| {
                (FlowId(flow), format!("window_packets[{}/{index}]", valid.groups()[*group].name))
            })
            .collect();
        let mut columns = vec!["time_s".to_string()];
        for name in ["queue_packets", "link_throughput_bps", "drops", "marks"] {
            columns.extend(measured().map(|link| format!("{name}[{}]", link.name)));
        }
        columns.extend(listed().map(|group| format!("throughput_bps[{}]", group.name)));
        columns.extend(controlled().map(|group| format!("retransmissions[{}]", group.name)));
        let states: Vec<Vec<&'static str>> = listed().map(remembered).collect();
        for (group, names) in listed().zip(&states) {
            columns.extend(names.iter().map(|name| format!("{name}[{}]", group.name)));
        }
        columns.extend(followed.iter().map(|(_, column)| column.clone()));
        Series {
            interval,
            links: links.iter().map(crossed).collect(),
            flows: followed.iter().map(|(flow, _)| *flow).collect(),
            group_of: roster.fixed().iter().map(|slot| shown[slot.group]).collect(),
            listed: roster.fixed().len(),
            shown,
            latest: vec![None; roster.fixed().len()],
            acked: vec![0; listed().count()],
            resent: valid.groups().iter().map(|group| group.cc.as_ref().map(|_| 0)).collect(),
            states,
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

/// `wanted` of `count` places, the first and the last among them, evenly apart.
fn spread(count: usize, wanted: usize) -> Vec<usize> {
    match wanted.min(count) {
        0 => Vec::new(),
        1 => vec![0],
        wanted => (0..wanted).map(|place| place * (count - 1) / (wanted - 1)).collect(),
    }
}

/// What crossed a link since the last sample, and what did not.
#[derive(Clone, Debug)]
struct Crossed {
    rate: Option<Rate>,
    bits: Tally,
    drops: Tally,
    marks: Tally,
}

impl Crossed {
    fn new(link: &LinkSpec, first: Time) -> Crossed {
        let tally = || Tally::until(first);
        Crossed { rate: link.rate, bits: tally(), drops: tally(), marks: tally() }
    }

    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Arrival { fate, .. } | Event::Fate { fate, .. } => match fate {
                Fate::Passed | Fate::Dropped(Reason::Channel) => {}
                Fate::Marked => self.marks.count(at, 1),
                Fate::Dropped(_) => self.drops.count(at, 1),
            },
            Event::Service { packet, .. } => {
                let takes = |rate: Rate| rate.time_for(Bytes(u64::from(packet.size)));
                let to = at + self.rate.map_or(Span::ZERO, takes);
                self.bits.spread(Interval { from: at, to }, 8 * u64::from(packet.size));
            }
            _ => {}
        }
    }
}

impl Series {
    /// Only active flows have a round-trip time, and a new one has none yet.
    fn became(&mut self, flow: FlowId, rtt: Option<Span>) {
        if let Some(latest) = self.latest.get_mut(flow.0 as usize) {
            *latest = rtt;
        }
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
        let mut crossed = |of: fn(&mut Crossed) -> &mut Tally, over: f64| {
            let links = self.links.iter_mut().flatten();
            row.extend(links.map(|link| of(link).turn(at, next) as f64 / over));
        };
        crossed(|link| &mut link.bits, elapsed);
        crossed(|link| &mut link.drops, 1.0);
        crossed(|link| &mut link.marks, 1.0);
        row.extend(self.acked.iter().map(|bytes| 8.0 * *bytes as f64 / elapsed));
        row.extend(self.resent.iter().flatten().map(|segments| *segments as f64));
        row.extend((0..self.states.len()).flat_map(|group| self.means(group, view)));
        row.extend(self.flows.iter().map(|flow| view.window(*flow)));
        self.table.rows.push(row);
        self.acked.fill(0);
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
            Event::Acked { flow, acked, rtt, .. } => {
                let slot = flow.0 as usize;
                if let Some(Some(group)) = self.group_of.get(slot) {
                    self.acked[*group] += acked.0;
                    self.latest[slot] = rtt.or(self.latest[slot]);
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
            Event::Closed { flow } => self.became(*flow, None),
            Event::Sample { view } => self.sample(at, *view),
            _ => {}
        }
    }
}
