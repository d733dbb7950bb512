// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Crossed: a link since the last sample.

use super::super::tally::Tally;
use crate::link::{LinkSpec, capacity};
use crate::queue::{Fate, Reason};
use crate::trace::Event;
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// Bits that crossed a link since the last sample, packets that did not, and the capacity.
#[derive(Clone, Debug)]
pub(super) struct Crossed {
    rate: Option<Rate>,
    pub(super) bits: Tally,
    pub(super) drops: Tally,
    pub(super) marks: Tally,
    /// Its capacity, if that varies.
    capacity: Option<Box<capacity::Any>>,
    /// The link, if its delay changes.
    moving: Option<Box<LinkSpec>>,
}

impl Crossed {
    /// Link number `place` of the run seeded with `seed`, whose first sample is at `first`.
    pub(super) fn new(link: &LinkSpec, (place, seed): (usize, u64), first: Time) -> Crossed {
        let tally = || Tally::until(first);
        let capacity = link.transmitter(seed, place);
        Crossed {
            rate: link.rate,
            bits: tally(),
            drops: tally(),
            marks: tally(),
            capacity: (!capacity.constant()).then(|| Box::new(capacity)),
            moving: (!link.delay_steps.is_empty()).then(|| Box::new(link.clone())),
        }
    }

    /// Whether its capacity varies.
    pub(super) fn varies(&self) -> bool {
        self.capacity.is_some()
    }

    /// Whether its delay changes.
    pub(super) fn moves(&self) -> bool {
        self.moving.is_some()
    }

    /// Bits that it can carry in an interval that ends no earlier than the previous ones, if its capacity varies.
    pub(super) fn capacity_bits(&mut self, window: Interval) -> Option<f64> {
        let capacity = self.capacity.as_mut()?;
        // Random numbers up to this instant are drawn once.
        capacity.ready(window.to);
        Some(capacity.bits(window))
    }

    /// The delay of a packet from an instant on, if it changes.
    pub(super) fn delay(&self, at: Time) -> Option<Span> {
        self.moving.as_ref().map(|link| link.delay_at(at))
    }

    #[inline]
    pub(super) fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Arrival { fate, .. } | Event::Fate { fate, .. } => match fate {
                Fate::Passed | Fate::Dropped(Reason::Channel) => {}
                Fate::Marked => self.marks.count(at, 1),
                Fate::Dropped(_) => self.drops.count(at, 1),
            },
            Event::Service { packet, .. } => {
                let takes = |rate: Rate| rate.time_for(Bytes(u64::from(packet.size)));
                let to = at + self.rate.map_or(Span::ZERO, takes);
                self.bits.spread(Interval { from: at, to }, 8 * u64::from(packet.size));
            }
            _ => {}
        }
    }
}
