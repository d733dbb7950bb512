// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Events in the order of time, for observers that need it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

use super::{Alteration, Event, Fate, LinkId, Observer};
use crate::packet::Packet;
use crate::units::{Bytes, Span, Time};

/// Passes events to an observer in time order, and events of one time in the order in which the run reported
/// them.
///
/// A run looks ahead where that is exact, so it reports some events before their time. They wait here until the
/// run's clock has reached them. At most as many events wait as there are packets in flight.
#[derive(Clone)]
pub struct Ordered<O> {
    watch: O,
    /// No earlier event is still to come.
    now: Time,
    waiting: BinaryHeap<Waiting>,
    told: u64,
}

/// An event reported early; the greatest of a heap is the next.
#[derive(Clone)]
struct Waiting {
    at: Time,
    number: u64,
    event: Kept,
}

/// An event with its own packet.
#[derive(Clone)]
enum Kept {
    Arrival(LinkId, Packet, Fate),
    Fate(LinkId, Packet, Fate),
    Altered(LinkId, Packet, Alteration),
    Service(LinkId, Packet, Span),
    Sent(Packet, u32),
    Delivered(Packet, Bytes),
    Plain(Event<'static>),
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Waiting {}

/// A view, which an event may hold, has no text.
impl<O: fmt::Debug> fmt::Debug for Ordered<O> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Ordered").field("watch", &self.watch).field("now", &self.now).finish_non_exhaustive()
    }
}

impl<O: Observer> Ordered<O> {
    /// Orders the events for `watch`.
    pub fn new(watch: O) -> Ordered<O> {
        Ordered { watch, now: Time::ZERO, waiting: BinaryHeap::new(), told: 0 }
    }

    /// Passes on the waiting events, and returns the observer. Must be called at the end of the run.
    pub fn finish(mut self) -> O {
        self.pass(Time::NEVER);
        self.watch
    }

    /// Delivers all events up to `until`.
    #[inline]
    fn pass(&mut self, until: Time) {
        while let Some(next) = self.waiting.peek()
            && next.at <= until
            && let Some(Waiting { at, event, .. }) = self.waiting.pop()
        {
            self.watch.on(at, &event.event());
        }
    }
}

impl<O: Observer> Observer for Ordered<O> {
    fn clock(&self) -> bool {
        true
    }

    fn advance(&mut self, now: Time) {
        self.now = now;
        self.pass(now);
    }

    fn on(&mut self, at: Time, event: &Event) {
        if at <= self.now {
            // No waiting event is earlier: it was passed on when the clock passed it.
            self.watch.on(at, event);
        } else if let Some(event) = Kept::of(event) {
            self.told += 1;
            self.waiting.push(Waiting { at, number: self.told, event });
        }
    }
}

impl Kept {
    /// A copy. A view of the state cannot be kept and is delivered at once.
    fn of(event: &Event) -> Option<Kept> {
        Some(match *event {
            Event::Arrival { link, packet, fate } => Kept::Arrival(link, *packet, fate),
            Event::Fate { link, packet, fate } => Kept::Fate(link, *packet, fate),
            Event::Altered { link, packet, how } => Kept::Altered(link, *packet, how),
            Event::Service { link, packet, waited } => Kept::Service(link, *packet, waited),
            Event::Sent { packet, group } => Kept::Sent(*packet, group),
            Event::Delivered { packet, payload } => Kept::Delivered(*packet, payload),
            Event::Queue { link, backlog } => Kept::Plain(Event::Queue { link, backlog }),
            Event::Acked { flow, acked, rtt, window, one_way } => {
                Kept::Plain(Event::Acked { flow, acked, rtt, window, one_way })
            }
            Event::Repair { flow, timeout } => Kept::Plain(Event::Repair { flow, timeout }),
            Event::Started { flow, group } => Kept::Plain(Event::Started { flow, group }),
            Event::Completed { flow, group, began, delivered, size } => {
                Kept::Plain(Event::Completed { flow, group, began, delivered, size })
            }
            Event::Closed { flow } => Kept::Plain(Event::Closed { flow }),
            Event::Reported { group, report } => Kept::Plain(Event::Reported { group, report }),
            Event::Sample { .. } => return None,
        })
    }

    fn event(&self) -> Event<'_> {
        match self {
            Kept::Arrival(link, packet, fate) => Event::Arrival { link: *link, packet, fate: *fate },
            Kept::Fate(link, packet, fate) => Event::Fate { link: *link, packet, fate: *fate },
            Kept::Altered(link, packet, how) => Event::Altered { link: *link, packet, how: *how },
            Kept::Service(link, packet, waited) => Event::Service { link: *link, packet, waited: *waited },
            Kept::Sent(packet, group) => Event::Sent { packet, group: *group },
            Kept::Delivered(packet, payload) => Event::Delivered { packet, payload: *payload },
            Kept::Plain(event) => *event,
        }
    }
}
