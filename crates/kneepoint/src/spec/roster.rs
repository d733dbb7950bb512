// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who is who: flow slots in the order of groups, then web sessions' slots, then constant-rate sources.

use super::Valid;
use crate::trace::FlowId;

/// What a flow slot serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A transfer: group and place in [`FlowGroup::flows`](super::FlowGroup).
    Flow {
        /// Index of the group.
        group: usize,
        /// Index in the group.
        index: usize,
    },
    /// Transfers of a web population.
    Web {
        /// Index of the group.
        group: usize,
    },
    /// A constant-rate source.
    Cbr {
        /// Index of the group.
        group: usize,
        /// Index in the group.
        index: usize,
    },
}

/// Which slot serves what. Slots of web populations are opened as needed, after all others.
#[derive(Clone, Debug)]
pub struct Roster {
    fixed: Vec<Slot>,
}

impl Roster {
    /// The slots known before the run.
    pub fn new(valid: &Valid) -> Roster {
        let flows =
            valid.flows.iter().enumerate().flat_map(|(group, flows)| {
                (0..flows.flows.len()).map(move |index| Slot::Flow { group, index })
            });
        let cbr = valid.cbr.iter().enumerate().flat_map(|(group, sources)| {
            (0..sources.pairs.len()).map(move |index| Slot::Cbr { group, index })
        });
        Roster { fixed: flows.chain(cbr).collect() }
    }

    /// The slots known before the run, in order.
    pub fn fixed(&self) -> &[Slot] {
        &self.fixed
    }

    /// What a slot serves, if it was known before the run; later ones belong to web populations.
    #[inline]
    pub fn slot(&self, flow: FlowId) -> Option<Slot> {
        self.fixed.get(flow.0 as usize).copied()
    }
}
