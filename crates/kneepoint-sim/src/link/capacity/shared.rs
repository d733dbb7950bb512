// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shared: both directions between two nodes share the link's rate; while one transmits, the other waits.
//!
//! A half-duplex medium without collisions or contention: first come, first served. A transmitter takes the packet at the head of
//! its queue as soon as its own last transmission has ended, and holds it until the medium is free; so directions that are
//! both busy take turns, packet by packet. Utilization of a direction is its part of the common rate.

use super::constant::Constant;
use super::{Capacity, Facts};
use crate::units::{Interval, Time};

crate::settings! {
    /// A shared capacity is the `rate` of both links together.
    pub struct Params {}
}

/// A medium.
#[derive(Clone, Debug)]
pub struct Shared(Constant);

impl Capacity for Shared {
    type Params = Params;

    fn new(_: Params, facts: Facts) -> Shared {
        Shared(Constant::at(facts.rate))
    }
    fn shared(&self) -> bool {
        true
    }
    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        self.0.send(at, size)
    }
    fn bits(&self, window: Interval) -> f64 {
        self.0.bits(window)
    }
}
