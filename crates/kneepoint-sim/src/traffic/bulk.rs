// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bulk: long transfers, each with a start, and optionally a stop and a size, that send as fast as permitted.
//!
//! The greedy (FTP) source of the congestion control literature: Floyd and Jacobson, "On traffic phase effects in
//! packet-switched gateways", Internetworking 3(3), 1992.
//!
//! There is nothing to decide while a transfer runs, so the run's agenda starts and stops it and the machine is never
//! asked: a transfer costs what its packets cost.

use super::{Cue, Kind, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::units::Time;

crate::settings! {
    /// Transfers have only the parameters of their members.
    pub struct Params {}
}

/// A transfer.
#[derive(Clone, Debug)]
pub struct Bulk;

impl Source for Bulk {
    type Params = Params;

    fn new(_: Params, _: Site) -> Bulk {
        Bulk
    }
    fn nature(&self) -> Nature {
        Nature {
            section: "flows",
            kind: Kind::Transfers,
            streams: Streams { starts: "start", shared: true, draws: "transfer" },
            packet: None,
            pressing: None,
            live: None,
        }
    }
    fn on(&mut self, _: Cue, _: Time, _: &mut Rng, _: &mut Vec<Request>) {}
    fn next_wakeup(&self) -> Time {
        Time::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_asks_for_anything() {
        let bulk = Bulk::new(Params {}, Site { start: Time::ZERO, stop: Time::NEVER, pairs: 1 });
        assert_eq!(bulk.next_wakeup(), Time::NEVER);
    }
}
