// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Object: one line for each completed transfer inside the measurement window.
//!
//! ```text
//! group   began_s   size_bytes   completion_time_s
//! ```
//!
//! A run may have millions, so they are recorded on request only; their distributions are metrics of groups and classes.

use crate::run::cost::{Term, growing};
use crate::spec::Valid;
use crate::table::{Cell, Records};
use crate::trace::{Event, Observer};
use crate::units::{Bytes, Interval, Span, Time};

/// Records every completed transfer.
#[derive(Clone, Debug)]
pub struct Objects {
    window: Interval,
    /// Names by group.
    groups: Vec<String>,
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
    /// The memory of this many transfers, while they become lines of a table.
    pub fn cost(transfers: f64) -> Term {
        let cells = size_of::<Vec<Cell>>() + 4 * size_of::<Cell>() + 32;
        let remedy = ("completed transfers", "leave out the file of transfers, or shorten the run");
        Term::new(remedy, transfers, growing(size_of::<Object>()) + cells, "a line for each")
    }

    /// Records the transfers of one run of `valid`.
    pub fn new(valid: &Valid) -> Objects {
        let groups = valid.groups().iter().map(|group| group.name.clone()).collect();
        Objects { window: valid.schedule().measure, groups, completed: Vec::new() }
    }

    /// The transfers in the order of their completion.
    pub fn records(&self) -> Records {
        let columns = ["group", "began_s", "size_bytes", "completion_time_s"];
        let row = |object: &Object| -> Vec<Cell> {
            vec![
                Cell::Text(self.groups[object.group as usize].clone()),
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
        if let Event::Completed { group, began, delivered, size, .. } = event
            && self.window.contains(*delivered)
        {
            let took = delivered.since(*began);
            self.completed.push(Object { group: *group, began: *began, took, size: *size });
        }
    }
}
