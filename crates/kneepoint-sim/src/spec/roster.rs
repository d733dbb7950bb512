// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Roster: the flow slots known before a run, listed connections first, then datagrams.
//!
//! Slots of connections that are opened in the run follow them, in the order of opening.

use super::Valid;
use crate::trace::FlowId;
use crate::traffic::Kind;

/// The user of a flow slot: a member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index of the group.
    pub group: usize,
    /// Index of the member in the group.
    pub index: usize,
}

/// The user of a slot.
#[derive(Clone, Debug)]
pub struct Roster {
    fixed: Vec<Slot>,
}

impl Roster {
    /// The slots known before the run.
    pub fn new(valid: &Valid) -> Roster {
        let slots = |wanted: fn(Kind) -> bool| {
            let groups = valid.groups().iter().enumerate().filter(move |(_, group)| wanted(group.kind()));
            groups.flat_map(|(group, one)| (0..one.members.len()).map(move |index| Slot { group, index }))
        };
        Roster { fixed: slots(Kind::listed).chain(slots(|kind| kind == Kind::Datagrams)).collect() }
    }

    /// The slots known before the run, in order.
    pub fn fixed(&self) -> &[Slot] {
        &self.fixed
    }

    /// The user of a slot, if known before the run.
    #[inline]
    pub fn slot(&self, flow: FlowId) -> Option<Slot> {
        self.fixed.get(flow.0 as usize).copied()
    }
}
