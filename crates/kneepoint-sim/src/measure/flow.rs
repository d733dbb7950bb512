// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Flow: the counters and metrics of a flow slot.

use super::crossing::Crossed;
use crate::metric::{Entry, MBIT, number, rate_bps};
use crate::trace::Event;
use crate::units::Span;

/// The counters of a flow slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The index of its group.
    pub(super) group: u32,
    /// The measured links that data of it reached.
    pub(super) crossed: Crossed,
    acked: u64,
}

impl Flow {
    pub(super) fn new(group: u32) -> Flow {
        Flow { group, crossed: Crossed::default(), acked: 0 }
    }

    /// An event of this flow inside the window.
    #[inline(always)]
    pub(super) fn on(&mut self, event: &Event) {
        if let Event::Acked { acked, .. } = event {
            self.acked += acked.0;
        }
    }

    /// Adds the counters of another region, which had some of its links or its sender.
    pub(super) fn join(&mut self, other: Flow) {
        self.crossed.join(other.crossed);
        self.acked += other.acked;
    }

    /// Payload acknowledged in order over the window.
    pub(super) fn goodput_bps(&self, window: Span) -> f64 {
        rate_bps(self.acked, window)
    }
}

/// The metrics of a flow, from its counters and the length of the window.
pub(super) const METRICS: &[Entry<(Flow, Span)>] =
    &[number("goodput_bps", "Goodput of the flow", "goodput", MBIT, |(flow, window)| {
        flow.goodput_bps(*window)
    })];
