// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state over time: one row per sampling instant of the run, the measurement window and the rest.

use crate::cc::Start;
use crate::spec::{Group, Roster, Slot, Valid};
use crate::table::Table;
use crate::trace::{Event, FlowId, LinkId, Observer, View};
use crate::units::{Span, Time};

/// Records queues, windows, throughputs and the state of controllers at each sampling instant.
#[derive(Clone, Debug)]
pub struct Series {
    links: Vec<LinkId>,
    flows: Vec<FlowId>,
    /// The group of each flow slot that belongs to one.
    group_of: Vec<Option<usize>>,
    /// The latest round-trip time of each active flow slot; zero before the first sample.
    latest: Vec<Option<Span>>,
    /// Bytes acknowledged to each group's senders since the last sample.
    acked: Vec<u64>,
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
        let group_of = |slot: &Slot| {
            let before = valid.groups()[..slot.group].iter().filter(|group| group.kind().listed());
            valid.groups()[slot.group].kind().listed().then(|| before.count())
        };
        let measured = || (0..).zip(&valid.network().links).filter(|(_, link)| link.measured);
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
        columns.extend(measured().map(|(_, link)| format!("queue_packets[{}]", link.name)));
        columns.extend(listed().map(|group| format!("throughput_bps[{}]", group.name)));
        let states: Vec<Vec<&'static str>> = listed().map(remembered).collect();
        for (group, names) in listed().zip(&states) {
            columns.extend(names.iter().map(|name| format!("{name}[{}]", group.name)));
        }
        columns.extend(followed.iter().map(|(_, column)| column.clone()));
        Series {
            links: measured().map(|(link, _)| LinkId(link)).collect(),
            flows: followed.iter().map(|(flow, _)| *flow).collect(),
            group_of: roster.fixed().iter().map(group_of).collect(),
            latest: vec![None; roster.fixed().len()],
            acked: vec![0; listed().count()],
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

impl Series {
    /// Only active flows have a round-trip time, and a new one has none yet.
    fn became(&mut self, flow: FlowId, rtt: Option<Span>) {
        if let Some(latest) = self.latest.get_mut(flow.0 as usize) {
            *latest = rtt;
        }
    }

    #[cold]
    fn sample(&mut self, at: Time, view: &dyn View) {
        let elapsed = at.since(self.last).as_secs_f64();
        let mut row = Vec::with_capacity(self.table.columns.len());
        row.push(at.as_secs_f64());
        row.extend(self.links.iter().map(|link| f64::from(view.backlog(*link).packets)));
        // No time has passed at the first instant: 0/0 is NaN.
        row.extend(self.acked.iter().map(|bytes| 8.0 * *bytes as f64 / elapsed));
        row.extend((0..self.states.len()).flat_map(|group| self.means(group, view)));
        row.extend(self.flows.iter().map(|flow| view.window(*flow)));
        self.table.rows.push(row);
        self.acked.fill(0);
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
            let values = std::iter::once(("rtt_ms", measured)).chain(state);
            for ((sum, known), (name, value)) in sums.iter_mut().zip(names).zip(values) {
                if *known == name && value.is_finite() {
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
            Event::Started { flow, .. } => self.became(*flow, Some(Span::ZERO)),
            Event::Closed { flow } => self.became(*flow, None),
            Event::Sample { view } => self.sample(at, *view),
            _ => {}
        }
    }
}
