// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parts of a network that several threads simulate: each has all links, and uses its own.
//!
//! A link belongs to the part of its first node, except for its arrivals: they are events of the part of its last node. Packets that
//! leave a part are handed over with their arrivals, which are at least the link's delay away.

use super::Links;
use super::link::End;
use super::paths::{Hop, Step};
use crate::event::EventQueue;
use crate::packet::Packet;
use crate::trace::LinkId;
use crate::units::Time;

impl Links {
    /// The links of a path, from its first hop.
    pub fn path(&self, first: u32) -> impl Iterator<Item = LinkId> + '_ {
        let hops = &self.hops[first as usize..];
        let last = hops.iter().position(|hop| hop.step.ends()).map_or(hops.len(), |last| last + 1);
        hops[..last].iter().map(|hop| LinkId(hop.link))
    }

    /// For each link: whether every packet on it continues on another link, in the order of arrival.
    pub fn continues(&self) -> Vec<bool> {
        let mut continues: Vec<bool> = self.links.iter().map(|link| link.end == End::Links).collect();
        for hop in &self.hops {
            continues[hop.link as usize] &= matches!(hop.step, Step::Join | Step::Through);
        }
        continues
    }

    /// Packets on the links for which `leaves` is true arrive in another part, if they [continue](Links::continues): until they are taken
    /// from here, they wait on the link.
    pub fn cut(&mut self, leaves: impl Fn(LinkId) -> bool) {
        let through = |hop: &Hop| hop.step == Step::Through && leaves(LinkId(hop.link));
        self.cut = self.hops.iter().map(through).collect();
        for (hop, _) in self.hops.iter_mut().zip(&self.cut).filter(|(_, cut)| **cut) {
            hop.step = Step::Join;
        }
    }

    /// The discipline of a link stays idle, since the link belongs to another part.
    pub fn idle(&mut self, link: LinkId, events: &mut EventQueue) {
        events.schedule(self.tick(link.0 as usize), Time::NEVER);
    }

    /// Takes the packets on a link that is cut, with their arrivals.
    pub fn leaving(&mut self, link: LinkId, events: &mut EventQueue) -> Vec<(Packet, Time)> {
        let place = link.0 as usize;
        let packets = self.pool.clear(&mut self.links[place].flight);
        if !packets.is_empty() {
            events.schedule(self.arrival(place), Time::NEVER);
        }
        packets
    }

    /// A packet of another part arrives here. Whether its arrival is an event that the whole network does not have.
    pub fn enter(&mut self, packet: &Packet, arrival: Time, events: &mut EventQueue) -> bool {
        let link = self.hops[packet.hop as usize].link as usize;
        if self.pool.push(&mut self.links[link].flight, arrival, packet) {
            events.begin(self.arrival(link), arrival);
        }
        self.passes(packet)
    }

    /// Packets of other parts that have [entered](Links::enter) and not arrived, by events that the whole network does not have.
    pub fn awaited(&self) -> usize {
        let packets = self.links.iter().flat_map(|link| self.pool.line(link.flight));
        packets.filter(|packet| self.passes(packet)).count()
    }

    /// Whether a packet that is between two parts passes through there in the whole network.
    fn passes(&self, packet: &Packet) -> bool {
        self.cut.get(packet.hop as usize).is_some_and(|cut| *cut)
    }
}
