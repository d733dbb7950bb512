// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reordering: some packets are held back behind the link, while others overtake them.
//!
//! RFC 4737 defines the metrics of reordering, which the receiving groups report. Held by time, as on a parallel path with a longer delay;
//! or by distance, until this many packets have overtaken, as in a switch that spreads packets over several lanes.
//!
//! ```text
//! arrival of a held packet = min(its own + delay, the arrival of the last of the `packets` that overtake it)
//! ```
//!
//! Held packets keep their order among themselves.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::units::{Span, Time};

crate::settings! {
    /// A link on which packets overtake others.
    pub struct Reordering {
        /// Probability that a packet is held back.
        p: f64 = 0.0, 0.0..=1.0;
        /// The longest time for which it is held back.
        delay: Span = Span::from_millis(10), Span(1)..=Span::from_secs(100);
        /// The most packets that overtake it; 0 for no limit within that time.
        packets: u32 = 0, 0..=1_000_000;
    }
}

/// Packets that are held back behind a link.
#[derive(Clone, Debug)]
pub(in crate::link) struct Held {
    pub(super) p: f64,
    delay: Span,
    /// The number that overtake each.
    distance: u64,
    /// Packets that were not held, so far.
    passed: u64,
    /// In order of arrival: the time, and the passing packet that each follows.
    waiting: VecDeque<(Time, u64, Packet)>,
}

impl Held {
    pub(super) fn new(reordering: &Reordering) -> Held {
        let Reordering { p, delay, packets } = *reordering;
        let distance = if packets == 0 { u64::MAX } else { u64::from(packets) };
        Held { p, delay, distance, passed: 0, waiting: VecDeque::new() }
    }

    /// Holds a packet back that would arrive at `arrival`.
    pub(super) fn hold(&mut self, packet: &Packet, arrival: Time) {
        let behind = self.passed.saturating_add(self.distance);
        self.waiting.push_back((arrival + self.delay, behind, *packet));
    }

    /// A packet passes that was not held.
    pub(in crate::link) fn overtake(&mut self) {
        self.passed += 1;
    }

    /// The next packet that enough others have overtaken.
    pub(in crate::link) fn overtaken(&mut self) -> Option<Packet> {
        let passed = self.passed;
        let enough = self.waiting.pop_front_if(|(_, behind, _)| *behind <= passed)?;
        Some(enough.2)
    }

    /// The next packet that was held for long enough at `now`.
    pub(in crate::link) fn ripe(&mut self, now: Time) -> Option<Packet> {
        self.waiting.pop_front_if(|(due, ..)| *due <= now).map(|(.., packet)| packet)
    }

    /// The arrival of the next packet, unless enough others overtake it before.
    pub(super) fn due(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |(due, ..)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(id: u32) -> Packet {
        let mut packet = Packet::default();
        packet.id = id;
        packet
    }

    #[test]
    fn a_held_packet_leaves_behind_the_last_that_may_overtake_it() {
        let mut held = Held::new(&Reordering { p: 1.0, delay: Span(1000), packets: 3 });
        held.hold(&packet(1), Time(10));
        held.overtake();
        held.hold(&packet(3), Time(30));
        held.overtake();
        assert_eq!(held.overtaken(), None);
        held.overtake();
        assert_eq!(held.overtaken().map(|one| one.id), Some(1));
        assert_eq!((held.overtaken(), held.due()), (None, Time(1030)));
        held.overtake();
        assert_eq!(held.overtaken().map(|one| one.id), Some(3));
    }

    #[test]
    fn a_held_packet_arrives_when_its_time_is_over_though_none_overtakes_it() {
        let mut held = Held::new(&Reordering { p: 1.0, delay: Span(50), packets: 3 });
        held.hold(&packet(1), Time(10));
        assert_eq!((held.due(), held.ripe(Time(59))), (Time(60), None));
        assert_eq!(held.ripe(Time(60)).map(|one| one.id), Some(1));
        assert_eq!(held.due(), Time::NEVER);
    }
}
