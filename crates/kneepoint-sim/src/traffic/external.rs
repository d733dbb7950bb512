// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of other crates, behind a pointer.

use super::{Cue, Demand, Nature, Request, Site, Source};
use crate::metric::Reports;
use crate::rng::Rng;
use crate::units::Time;

crate::external! {
    trait Source(Site);
    asked {
        /// Its properties, which depend on the parameters alone.
        fn nature() -> Nature;
        /// The name of its rule of adaptive bit rate.
        fn rule() -> Option<&'static str>;
        /// Whether arrivals of its numbered datagrams and of their reports are cues.
        fn listens() -> bool;
        /// The name of its rate control of media.
        fn control() -> Option<&'static str>;
        /// Its reports on its application, and their metrics.
        fn reports() -> Reports;
        /// Its transfers, where known.
        fn demand() -> Option<Demand>;
        /// The expiry of its timer.
        fn next_wakeup() -> Time;
    }
    told {
        /// Handles an input; requests are appended to `requests`.
        fn on(cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>);
    }
}
