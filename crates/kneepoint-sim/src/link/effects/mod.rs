// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Effects of a link on packets in addition to queueing, delay and loss: it polices, reorders, duplicates or corrupts them.
//!
//! A packet passes the policer before the queue. After its transmission, and unless the channel lost it, it may be corrupted,
//! then duplicated; each copy may be held back.

pub mod corruption;
pub mod duplication;
pub mod policer;
pub mod reordering;

use super::bucket::Bucket;
use crate::packet::Packet;
use crate::rng::Rng;
use crate::units::Time;
use corruption::Corruption;
use duplication::Duplication;
use policer::Policer;
use reordering::{Held, Reordering};

/// The effects of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// The policer of arrivals.
    pub policer: Policer,
    /// The packets that are overtaken.
    pub reordering: Reordering,
    /// The packets that arrive twice.
    pub duplication: Duplication,
    /// Corrupted packets.
    pub corruption: Corruption,
}

impl Effects {
    /// In a box, unless there are none.
    pub fn boxed(self) -> Option<Box<Effects>> {
        let idle = self.policer.rate.get().is_none()
            && [self.reordering.p, self.duplication.p, self.corruption.p] == [0.0; 3];
        (!idle).then(|| Box::new(self))
    }
}

/// Effects at work on a link.
#[derive(Clone, Debug)]
pub(super) struct Working {
    policer: Option<Bucket>,
    duplication: f64,
    corruption: f64,
    pub(super) held: Held,
    /// The next tick of the link's discipline, which shares an event with held packets.
    pub(super) tick: Time,
    rng: Rng,
}

impl Working {
    /// The facts of link number `index` of the run seeded with `seed`.
    pub(super) fn new(effects: &Effects, seed: u64, index: u64) -> Working {
        let Effects { policer, reordering, duplication, corruption } = effects;
        Working {
            policer: policer.rate.get().map(|rate| Bucket::new(*rate, policer.burst)),
            duplication: duplication.p,
            corruption: corruption.p,
            held: Held::new(reordering),
            tick: Time::NEVER,
            rng: Rng::stream(seed, "effects", index),
        }
    }

    /// Whether a packet passes the policer.
    #[inline]
    pub(super) fn admits(&mut self, now: Time, size: u16) -> bool {
        self.policer.as_mut().is_none_or(|tokens| tokens.take(now, size))
    }

    /// Corrupts a packet that crosses the link, perhaps; returns whether it did.
    pub(super) fn corrupts(&mut self, packet: &mut Packet) -> bool {
        let corrupts = happens(self.corruption, &mut self.rng);
        if corrupts {
            packet.corrupt();
        }
        corrupts
    }

    /// Whether a packet that crosses the link arrives twice.
    pub(super) fn duplicates(&mut self) -> bool {
        happens(self.duplication, &mut self.rng)
    }

    /// Holds a packet back that would arrive at `arrival`; returns whether it does.
    pub(super) fn holds(&mut self, packet: &Packet, arrival: Time) -> bool {
        let holds = happens(self.held.p, &mut self.rng);
        if holds {
            self.held.hold(packet, arrival);
        }
        holds
    }

    /// The next event without an arrival: the discipline's tick, or the release of a held packet.
    pub(super) fn next(&self) -> Time {
        self.tick.min(self.held.due())
    }
}

/// Whether an event of this probability happens. No random number is drawn where it never happens.
fn happens(p: f64, rng: &mut Rng) -> bool {
    p > 0.0 && rng.chance(p)
}
