// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One turn of time as a ring of lists, threaded through the table of entities.

use super::{Entity, NONE, Pending};

/// The lists of a ring.
pub(super) const SLOTS: u64 = 4096;

/// A ring of lists, with a bit for each list that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    pub(super) heads: Box<[Entity; SLOTS as usize]>,
    occupied: [u64; SLOTS as usize / 64],
}

impl Wheel {
    pub(super) fn new() -> Wheel {
        Wheel { heads: Box::new([NONE; SLOTS as usize]), occupied: [0; SLOTS as usize / 64] }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, slot: u64, entity: Entity, entities: &mut [Pending]) {
        let place = (slot % SLOTS) as usize;
        entities[entity as usize].next = self.heads[place];
        self.heads[place] = entity;
        self.occupied[place / 64] |= 1 << (place % 64);
    }

    /// Empties a slot and returns the first entity of its list.
    #[inline]
    pub(super) fn take(&mut self, slot: u64) -> Entity {
        let place = (slot % SLOTS) as usize;
        self.occupied[place / 64] &= !(1 << (place % 64));
        std::mem::replace(&mut self.heads[place], NONE)
    }

    pub(super) fn remove(&mut self, slot: u64, entity: Entity, entities: &mut [Pending]) {
        let place = (slot % SLOTS) as usize;
        let after = entities[entity as usize].next;
        if self.heads[place] == entity {
            self.heads[place] = after;
            if after == NONE {
                self.occupied[place / 64] &= !(1 << (place % 64));
            }
            return;
        }
        let mut before = self.heads[place];
        while entities[before as usize].next != entity {
            before = entities[before as usize].next;
        }
        entities[before as usize].next = after;
    }

    /// The first occupied slot at or after `slot`, without wrapping.
    pub(super) fn occupied_from(&self, slot: u64) -> Option<u64> {
        let word = slot / 64;
        match self.occupied[word as usize] & (!0 << (slot % 64)) {
            0 if (word as usize) + 1 < self.occupied.len() => self.first_from((word + 1) * 64),
            0 => None,
            bits => Some(lowest(word as usize, bits)),
        }
    }

    /// The first occupied slot, where no earlier slot of the same word is occupied.
    #[inline(always)]
    pub(super) fn first_from(&self, slot: u64) -> Option<u64> {
        let mut word = slot as usize / 64;
        let mut bits = self.occupied[word];
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some(lowest(word, bits))
    }

    /// The entity at the head of the first occupied slot, where no earlier one is occupied, if both share a word.
    #[inline(always)]
    pub(super) fn first_near(&self, slot: u64) -> Option<Entity> {
        let word = (slot % SLOTS) as usize / 64;
        let bits = self.occupied[word];
        (bits != 0).then(|| self.heads[lowest(word, bits) as usize])
    }
}

/// The slot of the lowest bit of a word.
#[inline(always)]
fn lowest(word: usize, bits: u64) -> u64 {
    (word as u64 * 64 + u64::from(bits.trailing_zeros())) % SLOTS
}
