// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Events of a run, and the observers of them. Without an observer they cost nothing.
//!
//! Events of one kind come in the order of their times for each link and each flow, except for the arrival of a packet
//! whose transfer ended: by then its slot may serve another transfer on another path. Different kinds and different
//! links need not be in order: a drop-tail link reports a packet's service when the packet arrives, and a link whose
//! only source is another link computes its packets ahead. Every event carries its time, and [`Ordered`] hands an
//! observer all of them in order.
//!
//! Links that are not measured report drops only.

mod fate;
mod ordered;

pub use fate::{Alteration, Backlog, Fate, Reason};
pub use ordered::Ordered;

use crate::metric::Report;
use crate::packet::Packet;
use crate::units::{Bytes, Span, Time};

/// A link, by its place in the network's list of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A flow slot of a run, in the order of the run's roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Something that happened.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// A packet arrived at a link.
    Arrival {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// Its fate on arrival.
        fate: Fate,
    },
    /// A packet was pushed out of the queue, dropped or marked at its head, or lost by the channel.
    Fate {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// Its fate.
        fate: Fate,
    },
    /// A packet continues, but changed.
    Altered {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// The change.
        how: Alteration,
    },
    /// A packet begins its transmission.
    Service {
        /// The link.
        link: LinkId,
        /// The packet.
        packet: &'a Packet,
        /// The time that it waited.
        waited: Span,
    },
    /// The queue of a measured link changed.
    Queue {
        /// The link.
        link: LinkId,
        /// The queue from now on.
        backlog: Backlog,
    },
    /// A sender hands a packet to the network: a segment of data or a SYN.
    Sent {
        /// The packet.
        packet: &'a Packet,
        /// The group it belongs to: its place among the groups of traffic.
        group: u32,
    },
    /// A packet reached the host at the end of its path.
    Delivered {
        /// The packet.
        packet: &'a Packet,
        /// Payload that the host did not have before: none in an acknowledgement, in a segment that arrives again, or in one
        /// whose transfer ended.
        payload: Bytes,
    },
    /// A sender received an acknowledgement.
    Acked {
        /// The flow.
        flow: FlowId,
        /// Payload newly acknowledged in order.
        acked: Bytes,
        /// The round-trip time it measured.
        rtt: Option<Span>,
        /// The congestion window in packets, from now on.
        window: f64,
        /// The time from sender to receiver that it measured.
        one_way: Option<Span>,
    },
    /// A sender begins to repair losses.
    Repair {
        /// The flow.
        flow: FlowId,
        /// Whether its timer expired.
        timeout: bool,
    },
    /// A transfer begins.
    Started {
        /// The flow.
        flow: FlowId,
        /// The group it belongs to: its place among the groups of traffic.
        group: u32,
    },
    /// A connection ended: all its data is acknowledged, and none follows.
    Closed {
        /// The flow.
        flow: FlowId,
    },
    /// A transfer ended: all its data is acknowledged.
    Completed {
        /// The flow.
        flow: FlowId,
        /// The group it belongs to: its place among the groups of traffic.
        group: u32,
        /// The time of its first packet.
        began: Time,
        /// The time at which the receiver had everything.
        delivered: Time,
        /// The data carried.
        size: Bytes,
    },
    /// A source reports a number of its application.
    Reported {
        /// The group of its member.
        group: u32,
        /// The number.
        report: Report,
    },
    /// A sampling instant.
    Sample {
        /// The state, to look at.
        view: &'a dyn View,
    },
}

/// A look at the state of a run, at a sampling instant.
pub trait View {
    /// The queue of a link.
    fn backlog(&self, link: LinkId) -> Backlog;
    /// The congestion window of a flow in packets.
    fn window(&self, flow: FlowId) -> f64;
    /// The state of a flow's controller.
    fn controller(&self, flow: FlowId) -> Vec<(&'static str, f64)>;
    /// The state of a link's discipline.
    fn discipline(&self, link: LinkId) -> Vec<(&'static str, f64)>;
}

/// The path of a packet through a queue that can compute the start of its transmission when it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// The link.
    pub link: LinkId,
    /// The packet.
    pub packet: &'a Packet,
    /// The queue with the packet, if it waits.
    pub backlog: Backlog,
    /// The time that it waits.
    pub waited: Span,
}

impl Passage<'_> {
    /// Tells an observer of its events: the arrival at `at`, the queue, the service.
    #[inline]
    pub fn tell<O: Observer + ?Sized>(&self, at: Time, watch: &mut O) {
        let Passage { link, packet, backlog, waited } = *self;
        watch.on(at, &Event::Arrival { link, packet, fate: Fate::Passed });
        if waited > Span::ZERO {
            watch.on(at, &Event::Queue { link, backlog });
        }
        watch.on(at + waited, &Event::Service { link, packet, waited });
    }
}

/// Watches a run.
pub trait Observer {
    /// `event` happened at `at`.
    fn on(&mut self, at: Time, event: &Event);
    /// A packet arrived at `at` and passes a queue, which makes up to three events. They are passed one by one unless
    /// the observer takes a batch at lower cost.
    #[inline(always)]
    fn pass(&mut self, at: Time, passage: &Passage) {
        passage.tell(at, self);
    }
    /// Whether [`advance`](Observer::advance) must be called; queried once, when a run begins or continues. Without it
    /// the clock costs nothing.
    fn clock(&self) -> bool {
        false
    }
    /// The run's clock is at `now`: all earlier events have been reported, and all further ones happen at `now` or
    /// later.
    fn advance(&mut self, _now: Time) {}
}

/// Nobody watches.
impl Observer for () {
    #[inline(always)]
    fn on(&mut self, _: Time, _: &Event) {}
    #[inline(always)]
    fn pass(&mut self, _: Time, _: &Passage) {}
}

/// Two observers watch as one.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        self.0.on(at, event);
        self.1.on(at, event);
    }
    #[inline(always)]
    fn pass(&mut self, at: Time, passage: &Passage) {
        self.0.pass(at, passage);
        self.1.pass(at, passage);
    }
    fn clock(&self) -> bool {
        self.0.clock() || self.1.clock()
    }
    fn advance(&mut self, now: Time) {
        self.0.advance(now);
        self.1.advance(now);
    }
}

/// An observer that may be absent.
impl<O: Observer> Observer for Option<O> {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        if let Some(observer) = self {
            observer.on(at, event);
        }
    }
    #[inline(always)]
    fn pass(&mut self, at: Time, passage: &Passage) {
        if let Some(observer) = self {
            observer.pass(at, passage);
        }
    }
    fn clock(&self) -> bool {
        self.as_ref().is_some_and(O::clock)
    }
    fn advance(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.advance(now);
        }
    }
}

/// An observer by reference.
impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline(always)]
    fn on(&mut self, at: Time, event: &Event) {
        (**self).on(at, event);
    }
    #[inline(always)]
    fn pass(&mut self, at: Time, passage: &Passage) {
        (**self).pass(at, passage);
    }
    fn clock(&self) -> bool {
        (**self).clock()
    }
    fn advance(&mut self, now: Time) {
        (**self).advance(now);
    }
}
