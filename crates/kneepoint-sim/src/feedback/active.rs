// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The active flows at an edge device: flows whose data arrived in the last complete interval.

use super::Offered;
use crate::packet::Flags;
use crate::units::{Span, Time};

/// A count of active flows.
#[derive(Clone, Debug)]
pub struct Active {
    interval: Span,
    /// The present interval's number, from 1, and its end.
    number: u64,
    end: Time,
    /// For each flow, the last interval in which its data arrived.
    seen: Vec<u64>,
    /// Flows seen in the present interval, and in the previous one.
    counted: u64,
    before: u64,
}

impl Active {
    /// A count that is renewed after every `interval`.
    pub fn new(interval: Span) -> Active {
        Active { interval, number: 1, end: Time::ZERO + interval, seen: Vec::new(), counted: 0, before: 0 }
    }

    /// The flows of the last whole interval; one after an interval without data, and before the first has passed.
    pub fn flows(&self) -> u64 {
        self.before.max(1)
    }

    /// Time passes: the intervals that have ended by `now` are over.
    pub fn turn(&mut self, now: Time) {
        if now < self.end {
            return;
        }
        let intervals = 1 + (now - self.end).0 / self.interval.0;
        // Only the first of them had any data.
        self.before = if intervals == 1 { self.counted } else { 0 };
        self.end += Span(intervals * self.interval.0);
        self.number += intervals;
        self.counted = 0;
    }

    /// A packet arrives; acknowledgements do not count.
    pub fn arrive(&mut self, offered: &Offered) {
        self.turn(offered.now);
        if offered.packet.flags.has(Flags::ACK) {
            return;
        }
        let flow = offered.packet.flow as usize;
        if self.seen.len() <= flow {
            self.seen.resize(flow + 1, 0);
        }
        self.counted += u64::from(self.seen[flow] != self.number);
        self.seen[flow] = self.number;
    }
}
