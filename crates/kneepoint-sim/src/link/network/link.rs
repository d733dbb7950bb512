// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A link at work, with its queue in the cheapest form that suffices.

use super::flight::Flight;
use super::paths::Step;
use crate::feedback::Stamper;
use crate::link::LinkSpec;
use crate::link::capacity::Capacity;
use crate::link::capacity::constant::Constant;
use crate::link::effects::Working;
use crate::link::{Line, Tail};
use crate::packet::Packet;
use crate::queue::{Buffer, Facts, Fate, Limit, Reason};
use crate::rng::Rng;
use crate::trace::{Event, LinkId, Observer, Passage};
use crate::units::{Bytes, Rate, Span, Time};

/// The representation of a link's queue.
#[derive(Clone, Debug)]
pub(super) enum Queue {
    /// Nobody asks for its length.
    Free,
    /// Departures are computed as packets arrive.
    Tail(Box<Tail>),
    /// A discipline rules it, and each transmission ends with an event.
    Ruled(Box<Ruled>),
}

#[derive(Clone, Debug)]
pub(super) struct Ruled {
    pub(super) buffer: Buffer,
    /// The feedback that looks at packets, if there is any.
    pub(super) stamper: Option<Box<Stamper>>,
    /// Further effects of the link on packets, if any.
    pub(super) effects: Option<Box<Working>>,
    pub(super) transmitting: bool,
    pub(super) rng: Rng,
}

/// The end of a link, which decides the effect of its arrival event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Hosts: the first packet arrives.
    Hosts,
    /// Other links: the first packet continues.
    Links,
    /// Both: the first packet decides.
    Both,
    /// Other links, and `flight` holds the packets that wait in front of this link, in the order of their turns, instead of those that
    /// left it.
    Merged,
}

impl End {
    /// Whether a packet with this step may be at this end.
    pub(super) fn admits(self, step: Step) -> bool {
        self == End::Both || step.ends() == (self == End::Hosts)
    }
}

/// A link at work; two cache lines, because a thousand flows have four thousand links.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) queue: Queue,
    pub(super) transmitter: Constant,
    /// The place of its capacity among [`Links::capacities`](super::Links), unless it is constant. Such a link is ruled.
    pub(super) capacity: Option<u32>,
    pub(super) line: Line,
    pub(super) flight: Flight,
    pub(super) end: End,
    /// Whether it has no queue, jitter, delay steps or losses: a packet's arrival follows from its sending time.
    pub(super) plain: bool,
    pub(super) measured: bool,
    pub(super) served: u64,
}

impl Link {
    /// Whether it processes packets ahead of time: it computes departures, and its queue is not observed.
    pub(super) fn ahead(&self) -> bool {
        !self.measured && !matches!(self.queue, Queue::Ruled(_))
    }

    /// Whether packets may leave it in another order or number than they arrived.
    pub(super) fn scatters(&self) -> bool {
        matches!(&self.queue, Queue::Ruled(ruled) if ruled.effects.is_some())
    }

    /// Whether it only holds packets back at random.
    pub(super) fn only_noise(&self) -> bool {
        matches!(self.queue, Queue::Free) && self.transmitter.instant() && self.line.only_noise()
    }

    /// The time at which a packet that enters at `at` reaches the other end of a plain link.
    #[inline(always)]
    pub(super) fn cross(&mut self, at: Time, size: u16) -> Time {
        self.line.end(self.transmitter.send(at, size).1)
    }

    /// [`cross`](Link::cross), for a packet that will enter next.
    pub(super) fn foresee(&self, at: Time, size: u16) -> Time {
        self.line.end(self.transmitter.clone().send(at, size).1)
    }

    pub(super) fn new(spec: &LinkSpec, capacity: Option<u32>, packet: Bytes, seed: u64, index: u64) -> Link {
        let facts = |rate| Facts { rate, delay: spec.delay, limit: spec.limit, packet };
        // A link that transmits at once never has a queue; its discipline is built for the greatest rate there is.
        let facts = facts(spec.rate.unwrap_or(Rate(u64::MAX)));
        let discipline = spec.queue.build(facts);
        let stamper = Stamper::new(spec.feedback.build(facts));
        let effects = spec.effects.as_deref().map(|effects| Box::new(Working::new(effects, seed, index)));
        let computed = capacity.is_none() && stamper.is_none() && effects.is_none();
        let queue = match discipline.passive() && computed {
            true if !spec.measured && spec.limit == Limit::Unlimited => Queue::Free,
            true => Queue::Tail(Box::new(Tail::new(spec.limit))),
            false => Queue::Ruled(Box::new(Ruled {
                buffer: Buffer::new(discipline, spec.limit),
                stamper,
                effects,
                transmitting: false,
                rng: Rng::stream(seed, "queue", index),
            })),
        };
        let line = Line::new(
            spec.delay,
            spec.jitter,
            (&spec.delay_steps, spec.delay_period),
            spec.loss.build(),
            Rng::stream(seed, "line", index),
        );
        Link {
            plain: matches!(queue, Queue::Free) && line.plain(),
            queue,
            transmitter: Constant::at(spec.rate),
            capacity,
            line,
            flight: Flight::EMPTY,
            end: End::Both,
            measured: spec.measured,
            served: 0,
        }
    }

    pub(super) fn interval(&self) -> Option<Span> {
        match &self.queue {
            Queue::Ruled(ruled) => ruled.buffer.discipline().interval(),
            _ => None,
        }
    }

    /// Sends a packet through a queue that computes departures: when its transmission ends, unless it is dropped.
    #[inline(never)]
    pub(super) fn pass_tail<O: Observer>(
        &mut self,
        id: LinkId,
        packet: &Packet,
        at: Time,
        watch: &mut O,
    ) -> Option<Time> {
        let Queue::Tail(tail) = &mut self.queue else { return None };
        while let Some(start) = tail.leave(at) {
            if self.measured {
                watch.on(start, &Event::Queue { link: id, backlog: tail.backlog() });
            }
        }
        if !tail.admits(packet.size) {
            let fate = Fate::Dropped(Reason::Overflow);
            watch.on(at, &Event::Arrival { link: id, packet, fate });
            return None;
        }
        let (start, end) = self.transmitter.send(at, packet.size);
        self.served += 1;
        if start > at {
            tail.join(start, packet.size);
        }
        if self.measured {
            watch.pass(at, &Passage { link: id, packet, backlog: tail.backlog(), waited: start - at });
        }
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_two_cache_lines() {
        assert!(size_of::<Link>() <= 128, "{}", size_of::<Link>());
    }
}
