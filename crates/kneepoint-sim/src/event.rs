// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The event queue: at most one pending event per entity, ordered by (time, entity).
//!
//! The order is total, so ties are never random: at equal times the entity with the smaller number comes first. An
//! entity is a link, a timer or a source, not a packet, so the queue has O(links + flows) entries for any number of
//! packets.
//!
//! Two timing wheels hold entities in lists threaded through one array: `near` covers the slots of the current
//! block, `far` the blocks after it; a sorted set holds the rest. The list of a block is spread over `near` when the
//! block begins. The list of a slot is sorted when the slot begins, unless it holds one or two events, as most do.
//! Scheduling and popping take constant time as long as a slot holds about one event.

mod wheel;

use std::collections::BTreeSet;

use crate::units::{Span, Time};
use wheel::{SLOTS, Wheel};

/// Something that has at most one pending event.
pub type Entity = u32;

const NONE: Entity = u32::MAX;

/// Pending events in the order of (time, entity).
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// Log2 of the nanoseconds of a slot.
    shift: u32,
    /// The slot whose events are in `current`. In `near`, it and all slots before it are empty.
    slot: u64,
    /// The first slot after the block of `slot`.
    end: u64,
    /// Events of `slot`, and any scheduled before it, the next one last.
    current: Vec<(Time, Entity)>,
    near: Wheel,
    far: Wheel,
    beyond: BTreeSet<(Time, Entity)>,
    entities: Vec<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    at: Time,
    next: Entity,
}

impl EventQueue {
    /// Bytes for each entity.
    pub const ENTITY: usize = size_of::<Pending>();

    /// An empty queue for entities below `entities`, fastest when about one event falls in each `resolution`.
    pub fn new(entities: usize, resolution: Span) -> EventQueue {
        EventQueue {
            shift: resolution.0.clamp(1, 1 << 30).ilog2(),
            slot: 0,
            end: SLOTS,
            current: Vec::new(),
            near: Wheel::new(),
            far: Wheel::new(),
            beyond: BTreeSet::new(),
            entities: vec![Pending { at: Time::NEVER, next: NONE }; entities],
        }
    }

    /// Makes room for entities below `entities`.
    pub fn grow(&mut self, entities: usize) {
        if entities > self.entities.len() {
            self.entities.resize(entities, Pending { at: Time::NEVER, next: NONE });
        }
    }

    /// The time of the entity's event; [`Time::NEVER`] if none is pending.
    #[inline]
    pub fn due(&self, entity: Entity) -> Time {
        self.entities[entity as usize].at
    }

    /// Schedules the entity's event at `at`, in place of a pending one; [`Time::NEVER`] cancels it.
    #[inline(always)]
    pub fn schedule(&mut self, entity: Entity, at: Time) {
        if self.entities[entity as usize].at != Time::NEVER {
            self.withdraw(entity);
        }
        self.entities[entity as usize].at = at;
        if at != Time::NEVER {
            self.insert(entity, at);
        }
    }

    /// [`schedule`](EventQueue::schedule) for an entity without a pending event.
    #[inline(always)]
    pub fn begin(&mut self, entity: Entity, at: Time) {
        debug_assert!(self.due(entity) == Time::NEVER && at != Time::NEVER, "{entity} has an event already");
        self.entities[entity as usize].at = at;
        self.insert(entity, at);
    }

    /// Takes the next event due at or before `until`.
    #[inline(always)]
    pub fn pop(&mut self, until: Time) -> Option<(Time, Entity)> {
        if self.current.is_empty()
            && let Some(place) = self.near.first_from(self.slot % SLOTS)
        {
            let entity = self.near.heads[place as usize];
            let Pending { at, next } = self.entities[entity as usize];
            if next == NONE {
                // A lone event needs no sorting. If it is not due, it stays in its slot.
                return (at <= until).then(|| {
                    self.near.take(place);
                    self.slot = self.slot / SLOTS * SLOTS + place;
                    self.entities[entity as usize].at = Time::NEVER;
                    (at, entity)
                });
            }
            let other = self.entities[next as usize];
            if other.next == NONE && place > 0 {
                // Of two events the later one stays in its slot, which then counts as pending.
                let (first, rest) =
                    if (at, entity) < (other.at, next) { (entity, next) } else { (next, entity) };
                let at = at.min(other.at);
                return (at <= until).then(|| {
                    self.near.heads[place as usize] = rest;
                    self.slot = self.slot / SLOTS * SLOTS + place - 1;
                    self.entities[rest as usize].next = NONE;
                    self.entities[first as usize].at = Time::NEVER;
                    (at, first)
                });
            }
        }
        self.pop_sorted(until)
    }

    /// The entity whose event is most likely next, unless that takes more than one word of the near wheel.
    #[inline(always)]
    pub fn upcoming(&self) -> Option<Entity> {
        self.near.first_near(self.slot % SLOTS)
    }

    /// [`EventQueue::pop`] through `current`, for a slot that holds more events.
    #[inline(never)]
    fn pop_sorted(&mut self, until: Time) -> Option<(Time, Entity)> {
        while self.current.is_empty() {
            if !self.advance() {
                return None;
            }
        }
        let (at, entity) = self.current.pop_if(|(at, _)| *at <= until)?;
        self.entities[entity as usize].at = Time::NEVER;
        Some((at, entity))
    }

    #[inline(always)]
    fn insert(&mut self, entity: Entity, at: Time) {
        let slot = at.0 >> self.shift;
        if slot > self.slot && slot < self.end {
            self.near.push(slot, entity, &mut self.entities);
        } else {
            self.insert_elsewhere(entity, at, slot);
        }
    }

    #[inline(never)]
    fn insert_elsewhere(&mut self, entity: Entity, at: Time, slot: u64) {
        if slot <= self.slot {
            let place = self.current.partition_point(|&other| other > (at, entity));
            self.current.insert(place, (at, entity));
        } else if slot / SLOTS - self.slot / SLOTS < SLOTS {
            self.far.push(slot / SLOTS, entity, &mut self.entities);
        } else {
            self.beyond.insert((at, entity));
        }
    }

    #[cold]
    fn withdraw(&mut self, entity: Entity) {
        let at = self.entities[entity as usize].at;
        let slot = at.0 >> self.shift;
        if slot <= self.slot {
            self.current.retain(|&(_, other)| other != entity);
        } else if slot / SLOTS == self.slot / SLOTS {
            self.near.remove(slot, entity, &mut self.entities);
        } else if slot / SLOTS - self.slot / SLOTS < SLOTS {
            self.far.remove(slot / SLOTS, entity, &mut self.entities);
        } else {
            self.beyond.remove(&(at, entity));
        }
    }

    /// Moves to the next occupied slot, or to the next occupied block; false if no event is pending.
    fn advance(&mut self) -> bool {
        let block = self.slot / SLOTS;
        if let Some(slot) = self.near.first_from(self.slot % SLOTS) {
            self.slot = block * SLOTS + slot;
            let mut entity = self.near.take(slot);
            while entity != NONE {
                let pending = self.entities[entity as usize];
                self.current.push((pending.at, entity));
                entity = pending.next;
            }
            if self.current.len() > 1 {
                self.current.sort_unstable_by(|a, b| b.cmp(a));
            }
            return true;
        }
        // The current block is empty. In the far wheel, blocks behind this place come before those that wrapped.
        let place = block % SLOTS;
        let ahead = self.far.occupied_from(place).map(|found| found - place);
        let around = || self.far.occupied_from(0).map(|found| found + SLOTS - place);
        let outside = || self.beyond.first().map(|&(at, _)| (at.0 >> self.shift) / SLOTS - block);
        let Some(steps) = ahead.or_else(around).or_else(outside) else { return false };
        self.enter(block + steps);
        true
    }

    /// Spreads the events of `block` over the near wheel, and moves events from `beyond` that are now in reach.
    fn enter(&mut self, block: u64) {
        self.slot = block * SLOTS;
        self.end = self.slot.saturating_add(SLOTS);
        let mut entity = self.far.take(block % SLOTS);
        while entity != NONE {
            let Pending { at, next } = self.entities[entity as usize];
            self.insert(entity, at);
            entity = next;
        }
        while let Some(&(at, far)) = self.beyond.first() {
            if (at.0 >> self.shift) / SLOTS - block >= SLOTS {
                break;
            }
            self.beyond.pop_first();
            self.insert(far, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn events_come_in_the_order_of_time_then_entity() {
        let mut queue = EventQueue::new(4, Span(100));
        queue.schedule(3, Time(50));
        queue.schedule(1, Time(70));
        queue.schedule(2, Time(50));
        queue.schedule(0, Time::NEVER);
        assert_eq!(queue.pop(Time(60)), Some((Time(50), 2)));
        assert_eq!(queue.pop(Time(60)), Some((Time(50), 3)));
        assert_eq!(queue.pop(Time(60)), None);
        assert_eq!(queue.due(1), Time(70));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(70), 1)));
        assert_eq!(queue.pop(Time::NEVER), None);
    }

    #[test]
    fn a_lone_event_stays_until_it_is_due() {
        let mut queue = EventQueue::new(3, Span(16));
        queue.schedule(0, Time(1000));
        assert_eq!(queue.pop(Time(999)), None);
        // A pop before the event is due does not advance the queue: earlier slots still take events.
        queue.schedule(1, Time(500));
        queue.schedule(2, Time(1001));
        assert_eq!(queue.pop(Time(1000)), Some((Time(500), 1)));
        assert_eq!(queue.pop(Time(1000)), Some((Time(1000), 0)));
        assert_eq!(queue.pop(Time(1000)), None);
        assert_eq!(queue.pop(Time(1001)), Some((Time(1001), 2)));
    }

    #[test]
    fn the_upcoming_entity_is_that_of_the_next_occupied_slot() {
        let mut queue = EventQueue::new(3, Span(16));
        assert_eq!(queue.upcoming(), None);
        queue.schedule(2, Time(3000));
        queue.schedule(1, Time(300));
        queue.schedule(0, Time(400));
        assert_eq!(queue.upcoming(), Some(1));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(300), 1)));
        assert_eq!(queue.upcoming(), Some(0));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(400), 0)));
        // The next one is out of this word.
        assert_eq!(queue.upcoming(), None);
    }

    #[test]
    fn an_event_in_the_slot_of_the_last_one_is_next() {
        let mut queue = EventQueue::new(4, Span(1 << 10));
        queue.schedule(0, Time(2048));
        queue.schedule(3, Time(3072));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(2048), 0)));
        // The same slot again, now behind the wheel, with two entities that share an instant.
        queue.schedule(2, Time(2050));
        queue.schedule(1, Time(2050));
        queue.schedule(0, Time(2049));
        let order = [(Time(2049), 0), (Time(2050), 1), (Time(2050), 2), (Time(3072), 3)];
        assert_eq!(order.map(|_| queue.pop(Time::NEVER).unwrap()), order);
    }

    #[test]
    fn a_lone_event_can_be_moved_and_taken_away() {
        let mut queue = EventQueue::new(2, Span(1));
        queue.schedule(0, Time(100));
        queue.schedule(0, Time(50));
        assert_eq!(queue.pop(Time(100)), Some((Time(50), 0)));
        queue.schedule(1, Time(60));
        queue.schedule(1, Time::NEVER);
        assert_eq!(queue.pop(Time::NEVER), None);
        assert_eq!(queue.due(1), Time::NEVER);
    }

    #[test]
    fn blocks_meet_without_a_gap() {
        // The last slot of a block, the first of the next, the last that the far wheel holds and the first beyond it.
        let times =
            [SLOTS - 1, SLOTS, SLOTS + 1, SLOTS * SLOTS - 1, SLOTS * SLOTS, SLOTS * SLOTS + 1].map(Time);
        let mut queue = EventQueue::new(times.len(), Span(1));
        for (entity, &at) in times.iter().enumerate().rev() {
            queue.schedule(entity as Entity, at);
        }
        for (entity, &at) in times.iter().enumerate() {
            assert_eq!(queue.pop(Time::NEVER), Some((at, entity as Entity)));
        }
    }

    #[test]
    fn the_end_of_time_is_in_reach() {
        let mut queue = EventQueue::new(3, Span(1));
        let last = Time::NEVER.0 - 1;
        queue.schedule(0, Time(last - 10));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(last - 10), 0)));
        queue.schedule(1, Time(last));
        queue.schedule(2, Time(last));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(last), 1)));
        assert_eq!(queue.pop(Time::NEVER), Some((Time(last), 2)));
        assert_eq!(queue.pop(Time::NEVER), None);
    }

    #[test]
    fn it_agrees_with_a_sorted_set_over_random_schedules() {
        // Gaps from nothing to far beyond both wheels, so that every level and every crossing is used.
        for (seed, resolution) in [(1, Span(1)), (2, Span(1 << 4)), (3, Span(1 << 20))] {
            let mut rng = Rng::stream(seed, "events", 0);
            let entities = 200;
            let mut queue = EventQueue::new(entities, resolution);
            let mut model = BTreeSet::new();
            let mut now = Time::ZERO;
            for _ in 0..60_000 {
                let entity = rng.below(entities as u64) as Entity;
                let magnitude = rng.below(44);
                let at = now + Span(rng.below(1 << magnitude));
                match rng.below(4) {
                    0 | 1 => {
                        let fresh = !model.remove(&(queue.due(entity), entity));
                        model.insert((at, entity));
                        match fresh {
                            true => queue.begin(entity, at),
                            false => queue.schedule(entity, at),
                        }
                    }
                    2 => {
                        let until = if rng.chance(0.5) { at } else { Time::NEVER };
                        let expected = model.first().copied().filter(|&(due, _)| due <= until);
                        assert_eq!(queue.pop(until), expected);
                        if let Some(event) = expected {
                            model.remove(&event);
                            now = event.0;
                        }
                    }
                    _ if rng.chance(0.1) => {
                        model.remove(&(queue.due(entity), entity));
                        queue.schedule(entity, Time::NEVER);
                    }
                    _ => {}
                }
            }
            while let Some(event) = queue.pop(Time::NEVER) {
                assert_eq!(model.pop_first(), Some(event));
            }
            assert!(model.is_empty());
        }
    }
}
