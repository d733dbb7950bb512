// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state over time: one row per sampling instant of the run, the measurement window and the rest.

use super::Table;
use crate::run::{Event, FlowId, LinkId, Observer, Roster, Slot, View};
use crate::scenario::Valid;
use crate::units::Time;

/// Writes down queues, windows and throughputs at each sampling instant.
#[derive(Clone, Debug)]
pub struct Series {
    links: Vec<LinkId>,
    flows: Vec<FlowId>,
    /// The group of each flow slot that belongs to one.
    group_of: Vec<Option<usize>>,
    /// What each group's senders heard acknowledged since the last sample.
    acked: Vec<u64>,
    last: Time,
    table: Table,
}

impl Series {
    /// Follows every measured link and `flows` flows of each group, spread evenly over it.
    pub fn new(valid: &Valid, flows: usize) -> Series {
        let roster = Roster::new(valid);
        let group_of = |slot: &Slot| match slot {
            Slot::Flow { group, .. } => Some(*group),
            Slot::Web { .. } | Slot::Cbr { .. } => None,
        };
        let measured = || (0..).zip(&valid.network.links).filter(|(_, link)| link.measured);
        let followed: Vec<(FlowId, String)> = (0..)
            .zip(roster.fixed())
            .filter_map(|(flow, slot)| match *slot {
                Slot::Flow { group, index }
                    if spread(valid.flows[group].flows.len(), flows).contains(&index) =>
                {
                    Some((FlowId(flow), format!("window_packets[{}/{index}]", valid.flows[group].name)))
                }
                _ => None,
            })
            .collect();
        let mut columns = vec!["time_s".to_string()];
        columns.extend(measured().map(|(_, link)| format!("queue_packets[{}]", link.name)));
        columns.extend(valid.flows.iter().map(|group| format!("throughput_bps[{}]", group.name)));
        columns.extend(followed.iter().map(|(_, column)| column.clone()));
        Series {
            links: measured().map(|(link, _)| LinkId(link)).collect(),
            flows: followed.iter().map(|(flow, _)| *flow).collect(),
            group_of: roster.fixed().iter().map(group_of).collect(),
            acked: vec![0; valid.flows.len()],
            last: Time::ZERO,
            table: Table { columns, rows: Vec::new() },
        }
    }

    /// What was written down.
    pub fn table(self) -> Table {
        self.table
    }
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
    #[cold]
    fn sample(&mut self, at: Time, view: &dyn View) {
        let elapsed = at.since(self.last).as_secs_f64();
        let mut row = Vec::with_capacity(self.table.columns.len());
        row.push(at.as_secs_f64());
        row.extend(self.links.iter().map(|link| f64::from(view.backlog(*link).packets)));
        // At the first instant no time has passed and 0/0 says so.
        row.extend(self.acked.iter().map(|bytes| 8.0 * *bytes as f64 / elapsed));
        row.extend(self.flows.iter().map(|flow| view.window(*flow)));
        self.table.rows.push(row);
        self.acked.fill(0);
        self.last = at;
    }
}

impl Observer for Series {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Acked { flow, acked, .. } => {
                if let Some(Some(group)) = self.group_of.get(flow.0 as usize) {
                    self.acked[*group] += acked.0;
                }
            }
            Event::Sample { view } => self.sample(at, *view),
            _ => {}
        }
    }
}
