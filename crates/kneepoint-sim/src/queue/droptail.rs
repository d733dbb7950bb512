// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drop tail: first in, first out; an arriving packet that finds no room is dropped.
//!
//! The default of every router; the baseline of RFC 2309.
//!
//! The discipline itself never objects: the limit is the queue's, and only the limit drops.
//! A link whose queue is drop tail computes departures as packets arrive, which is exact and halves the events.

use super::{Discipline, Facts};

crate::settings! {
    /// Drop tail has no parameters; its limit is the link's buffer.
    pub struct Params {}
}

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct DropTail;

impl Discipline for DropTail {
    type Params = Params;

    fn new(_: Params, _: Facts) -> DropTail {
        DropTail
    }

    fn passive(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Decision;
    use super::super::tests::{arrival, link, packet};
    use super::*;
    use crate::rng::Rng;
    use crate::units::Time;

    #[test]
    fn it_objects_to_nothing() {
        let mut queue = DropTail::new(Params::default(), link(10, 0.06));
        let mut rng = Rng::stream(1, "droptail", 0);
        for backlog in [0, 1, 1_000_000] {
            assert_eq!(queue.on_arrival(&arrival(&packet(), backlog, Time::ZERO), &mut rng), Decision::Pass);
        }
    }
}
