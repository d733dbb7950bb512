// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Object: one line for each completed transfer inside the measurement window.
//!
//! ```text
//! group   began_s   size_bytes   completion_time_s
//! ```
//!
//! A run may have millions, so nobody records them unless asked; their distributions are metrics of groups and classes.

use super::roster::Groups;
use crate::spec::Valid;
use crate::table::{Cell, Records};
use crate::trace::{Event, Observer};
use crate::units::{Bytes, Interval, Span, Time};

/// Records every completed transfer.
#[derive(Clone, Debug)]
pub struct Objects {
    window: Interval,
    groups: Groups,
    /// The group of each slot; none before a slot opens.
    slots: Vec<Option<u32>>,
    completed: Vec<Object>,
}

/// A completed transfer.
#[derive(Clone, Copy, Debug)]
struct Object {
    group: u32,
    began: Time,
    took: Span,
    size: Bytes,
}

impl Objects {
    /// Records the transfers of one run of `valid`.
    pub fn new(valid: &Valid) -> Objects {
        let groups = Groups::new(valid);
        let slots = groups.listed.iter().map(|group| Some(*group)).collect();
        Objects { window: valid.schedule.measure, groups, slots, completed: Vec::new() }
    }

    /// The transfers in the order of their completion.
    pub fn records(&self) -> Records {
        let columns = ["group", "began_s", "size_bytes", "completion_time_s"];
        let row = |object: &Object| -> Vec<Cell> {
            vec![
                Cell::Text(self.groups.known[object.group as usize].name.clone()),
                object.began.as_secs_f64().into(),
                (object.size.0 as f64).into(),
                object.took.as_secs_f64().into(),
            ]
        };
        Records {
            columns: columns.map(String::from).to_vec(),
            rows: self.completed.iter().map(row).collect(),
        }
    }
}

impl Observer for Objects {
    #[inline]
    fn on(&mut self, _: Time, event: &Event) {
        if let Some((flow, group)) = self.groups.opened(event) {
            let slot = flow.0 as usize;
            self.slots.resize(self.slots.len().max(slot + 1), None);
            self.slots[slot] = Some(group);
        }
        if let Event::Completed { flow, began, delivered, size } = event
            && self.window.contains(*delivered)
            && let Some(group) = self.slots.get(flow.0 as usize).copied().flatten()
        {
            let took = delivered.since(*began);
            self.completed.push(Object { group, began: *began, took, size: *size });
        }
    }
}
