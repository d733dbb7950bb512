// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The group of each flow slot, for observers: groups are numbered over all kinds of traffic.

use crate::spec::{Roster, Slot, Valid};
use crate::trace::{Event, FlowId};

/// A group as observers know it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) name: String,
    /// Whether a congestion control drives it.
    pub(super) controlled: bool,
}

/// Groups and slots of a run.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) known: Vec<Known>,
    /// The group of each slot known before the run.
    pub(super) listed: Vec<u32>,
    /// The index of the first group of web traffic.
    web: u32,
}

impl Groups {
    pub(super) fn new(valid: &Valid) -> Groups {
        let known = |name: &String, controlled| Known { name: name.clone(), controlled };
        let flows = valid.flows.iter().map(|group| known(&group.name, true));
        let web = valid.web.iter().map(|group| known(&group.name, true));
        let cbr = valid.cbr.iter().map(|group| known(&group.name, false));
        let (web_begin, cbr_begin) = (valid.flows.len(), valid.flows.len() + valid.web.len());
        let group = |slot: &Slot| match slot {
            Slot::Flow { group, .. } => *group as u32,
            Slot::Web { group } => (web_begin + group) as u32,
            Slot::Cbr { group, .. } => (cbr_begin + group) as u32,
        };
        Groups {
            known: flows.chain(web).chain(cbr).collect(),
            listed: Roster::new(valid).fixed().iter().map(group).collect(),
            web: web_begin as u32,
        }
    }

    /// The slot that an event opens, and its group.
    #[inline]
    pub(super) fn opened(&self, event: &Event) -> Option<(FlowId, u32)> {
        match event {
            Event::Started { flow, web: Some(population) } => Some((*flow, self.web + population)),
            _ => None,
        }
    }
}
