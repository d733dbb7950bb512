// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Single flows in a series, in addition to the sums and means of their groups.

use super::super::tally::Ahead;
use crate::spec::{Roster, Slot, Valid};
use crate::trace::{FlowId, View};
use crate::units::{Span, Time};

/// The flows whose own state a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The windows of this many flows of each group, spread evenly over it.
    Windows(usize),
    /// Window, round-trip time and throughput of every flow that is known before the run.
    Every,
}

impl From<usize> for Followed {
    fn from(flows: usize) -> Followed {
        Followed::Windows(flows)
    }
}

impl Followed {
    /// Whether these are all flows.
    pub fn is_every(self) -> bool {
        self == Followed::Every
    }

    /// The selected flows of a group of this size.
    fn of(self, members: usize) -> Vec<usize> {
        match self {
            Followed::Windows(flows) => spread(members, flows),
            Followed::Every => (0..members).collect(),
        }
    }
}

/// The followed flows.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    flows: Vec<FlowId>,
    /// Their names: `long/0`.
    names: Vec<String>,
    /// For each flow slot: bytes that reached the receiver for the first time since the last sample. Empty where only
    /// windows are followed.
    arrived: Vec<Ahead>,
}

impl Flows {
    /// These flows of a run that is sampled every `interval`.
    pub(super) fn new(valid: &Valid, roster: &Roster, wanted: Followed, interval: Span) -> Flows {
        let groups = valid.groups();
        let chosen: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| if group.kind().listed() { wanted.of(group.members.len()) } else { Vec::new() })
            .collect();
        let slots = (0..).zip(roster.fixed());
        let followed = slots.filter(|(_, slot)| chosen[slot.group].binary_search(&slot.index).is_ok());
        let name = |slot: &Slot| format!("{}/{}", groups[slot.group].name, slot.index);
        let (flows, names) = followed.map(|(flow, slot)| (FlowId(flow), name(slot))).unzip();
        let counted = if wanted.is_every() { roster.fixed().len() } else { 0 };
        Flows { flows, names, arrived: vec![Ahead::new(interval); counted] }
    }

    /// The names of their columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = String> {
        let more: &[&str] =
            if self.arrived.is_empty() { &[] } else { &["flow_rtt_ms", "flow_throughput_bps"] };
        let all = std::iter::once(&"window_packets").chain(more);
        all.flat_map(|quantity| self.names.iter().map(move |name| format!("{quantity}[{name}]")))
    }

    /// Payload reaches the receiver of a flow for the first time.
    #[inline]
    pub(super) fn count(&mut self, flow: u32, at: Time, bytes: u64) {
        if let Some(arrived) = self.arrived.get_mut(flow as usize) {
            arrived.count(at, bytes);
        }
    }

    /// Their columns at an instant, `elapsed` seconds after the one before and followed by `next`; `latest` are round-trip times by slot.
    pub(super) fn sample(
        &mut self,
        view: &dyn View,
        latest: &[Option<Span>],
        (at, next): (Time, Time),
        elapsed: f64,
    ) -> Vec<f64> {
        let Flows { flows, arrived, .. } = self;
        let mut values: Vec<f64> = flows.iter().map(|flow| view.window(*flow)).collect();
        if !arrived.is_empty() {
            let rtt = |flow: &FlowId| latest[flow.0 as usize].filter(|rtt| *rtt > Span::ZERO);
            values.extend(flows.iter().map(|flow| rtt(flow).map_or(f64::NAN, Span::as_millis_f64)));
            let bytes = |flow: &FlowId| arrived[flow.0 as usize].turn(at, next);
            values.extend(flows.iter().map(bytes).map(|bytes| 8.0 * bytes as f64 / elapsed));
        }
        values
    }
}

/// `wanted` of `count` places, including the first and the last, evenly spaced.
pub fn spread(count: usize, wanted: usize) -> Vec<usize> {
    match wanted.min(count) {
        0 => Vec::new(),
        1 => vec![0],
        chosen => (0..chosen).map(|place| place * (count - 1) / (chosen - 1)).collect(),
    }
}
