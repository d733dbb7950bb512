// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links that corrupt, duplicate or reorder packets: what happens behind their transmitters.

use super::Links;
use super::link::{Link, Queue};
use crate::event::{Entity, EventQueue};
use crate::packet::Packet;
use crate::trace::{Alteration, Event, LinkId, Observer};
use crate::units::Time;

impl Link {
    /// The discipline's first tick is the first event that effects share with it.
    pub(super) fn begin_ticks(&mut self) {
        let interval = self.interval();
        if let (Queue::Ruled(ruled), Some(interval)) = (&mut self.queue, interval)
            && let Some(effects) = &mut ruled.effects
        {
            effects.tick = Time::ZERO + interval;
        }
    }
}

impl Links {
    /// A packet whose transmission ended at `end` arrives at `arrival`, unless it is held back: perhaps corrupted, perhaps twice. Packets
    /// of such a link wait for their arrival one by one.
    #[inline(never)]
    pub(super) fn scatter<O: Observer>(
        &mut self,
        index: usize,
        mut packet: Packet,
        (end, arrival): (Time, Time),
        events: &mut EventQueue,
        watch: &mut O,
    ) {
        let (entity, tick) = (self.arrival(index), self.tick(index));
        let link = &mut self.links[index];
        let Queue::Ruled(ruled) = &mut link.queue else { return };
        let Some(effects) = &mut ruled.effects else { return };
        let id = LinkId(index as u32);
        if effects.corrupts(&mut packet) {
            watch.on(end, &Event::Altered { link: id, packet: &packet, how: Alteration::Corrupted });
        }
        let twice = effects.duplicates();
        if twice {
            watch.on(end, &Event::Altered { link: id, packet: &packet, how: Alteration::Duplicated });
        }
        for _ in 0..1 + u32::from(twice) {
            if effects.holds(&packet, arrival) {
                continue;
            }
            let mut first = self.pool.push(&mut link.flight, arrival, &packet);
            effects.held.overtake();
            while let Some(held) = effects.held.overtaken() {
                first |= self.pool.push(&mut link.flight, arrival, &held);
            }
            if first {
                events.begin(entity, arrival);
            }
        }
        let next = effects.next();
        if events.due(tick) != next {
            events.schedule(tick, next);
        }
    }

    /// The event that a link's discipline shares with the packets that the link holds back.
    #[inline(never)]
    pub(super) fn release_held<O: Observer>(
        &mut self,
        (index, entity): (usize, Entity),
        packet: &mut Packet,
        now: Time,
        events: &mut EventQueue,
        watch: &mut O,
    ) -> Option<Time> {
        let link = &mut self.links[index];
        let (interval, end) = (link.interval(), link.end);
        let Queue::Ruled(ruled) = &mut link.queue else { return None };
        let effects = ruled.effects.as_mut()?;
        if effects.tick <= now {
            ruled.buffer.tick(now);
            effects.tick = interval.map_or(Time::NEVER, |interval| now + interval);
        }
        let held = effects.held.ripe(now);
        events.schedule(entity, effects.next());
        *packet = held?;
        self.land(end, packet, now, events, watch)
    }
}
