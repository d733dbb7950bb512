// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets that keep their order without an event for each: in front of a link that noisy hosts share, and on the last
//! link to a host that is ahead of its time.

use super::Links;
use super::paths::Step;
use crate::event::{Entity, EventQueue};
use crate::link::capacity::Capacity;
use crate::packet::Packet;
use crate::trace::Observer;
use crate::units::Time;

/// Links that reorder arriving packets.
impl Links {
    /// Puts a packet in front of the next link, where its turn comes at `turn`. Of several turns at one instant,
    /// packets that noise held back come first, in the order of their links.
    #[inline(never)]
    pub(super) fn merge(&mut self, packet: &Packet, turn: Time, events: &mut EventQueue) {
        let hops = &self.hops;
        let own = if turn > packet.sent { hops[packet.hop as usize].link } else { u32::MAX };
        let next = hops[packet.hop as usize + 1].link as usize;
        let link = &mut self.links[next];
        let behind = |other: Time, one: &Packet| (other, hops[one.hop as usize].link) > (turn, own);
        if self.pool.insert(&mut link.flight, turn, packet, behind) {
            let end = link.foresee(turn, packet.size);
            events.schedule(self.arrival(next), end);
        }
    }

    /// The packet that waited in front of a link reaches its end, and the end of the one behind it is known.
    #[inline(never)]
    pub(super) fn leave<O: Observer>(
        &mut self,
        (link, entity): (usize, Entity),
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let link = &mut self.links[link];
        let (began, _) = self.pool.first(link.flight)?;
        (*packet, _) = self.pool.pop(&mut link.flight)?;
        link.transmitter.send(began, packet.size);
        if let Some((turn, next)) = self.pool.first(link.flight) {
            events.begin(entity, link.foresee(turn, next.size));
        }
        // Over the hop of its noise, and over this link.
        packet.hop += 2;
        self.carry(packet, now, events, watch)
    }
}

/// Packets that wait for their arrival where others are processed ahead of time.
impl Links {
    /// Whether a packet is on a last link whose receivers answer ahead of time.
    #[inline]
    pub fn reaches(&self, packet: &Packet) -> bool {
        self.hops[packet.hop as usize].step == Step::Reach
    }

    /// Leaves a packet that was to be taken ahead of its time on its last link until it arrives.
    pub fn hold(&mut self, packet: &Packet, arrival: Time, events: &mut EventQueue) {
        let link = self.hops[packet.hop as usize].link as usize;
        if self.pool.push(&mut self.links[link].flight, arrival, packet) {
            events.begin(self.arrival(link), arrival);
        }
    }

    /// Releases the packets and arrivals that waited behind a packet held until now.
    pub fn release(&mut self, packet: &Packet, events: &mut EventQueue) -> Vec<(Packet, Time)> {
        let link = self.hops[packet.hop as usize].link as usize;
        events.schedule(self.arrival(link), Time::NEVER);
        self.pool.clear(&mut self.links[link].flight)
    }

    /// Whether a packet on its last link must wait for its arrival, perhaps because another one does.
    pub fn waits(&self, packet: &Packet) -> bool {
        let link = self.hops[packet.hop as usize].link as usize;
        !(self.reaches(packet) && self.links[link].flight.is_empty())
    }
}
