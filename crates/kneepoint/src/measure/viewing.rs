// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Viewing: what the players of a group did inside the measurement window.
//!
//! ```text
//! playbacks       that began; a viewer whose playback has not has no start-up time yet
//! start-up time   from the request for the first segment, as it reaches the server, to the beginning of playback
//! stall           playback stands still, after it began, because the buffer is empty
//! stall share     time stalled / (time played + time stalled)
//! bit rate        of the segments that arrived, each weighted with its length
//! utility         ln(bit rate / lowest of the ladder), mean over the segments (BOLA's, INFOCOM 2016, §III)
//! ```
//!
//! What a player did counts when it tells so: with each segment, and about once in a segment's length while none comes.

use super::distribution::Recorder;
use super::group::Group;
use super::metric::{Entry, MBIT, PERCENT, PLAIN, number, times};
use crate::trace::{Played, Segment};
use crate::units::Span;

/// The counters of a group's players.
#[derive(Clone, Debug, Default)]
pub(super) struct Viewing {
    /// Whether a player told anything.
    seen: bool,
    startup: Recorder,
    played: Span,
    stalled: Span,
    stalls: u32,
    switches: u32,
    fetched: Span,
    /// Seconds times bit/s, and seconds times utility.
    bits: f64,
    utility: f64,
}

impl Viewing {
    pub(super) fn on(&mut self, told: &Played) {
        self.seen = true;
        self.played = self.played + told.played;
        self.stalled = self.stalled + told.stalled;
        self.stalls += told.stalls;
        self.switches += told.switches;
        if let Some(startup) = told.startup {
            self.startup.record(startup);
        }
        if let Some(Segment { length, rate, lowest }) = told.segment {
            let seconds = length.as_secs_f64();
            self.fetched = self.fetched + length;
            self.bits += rate.as_f64() * seconds;
            self.utility += libm::log(rate.as_f64() / lowest.as_f64()) * seconds;
        }
    }

    /// A number for each minute that was played or stalled.
    fn per_minute(&self, count: u32) -> f64 {
        60.0 * f64::from(count) / (self.played + self.stalled).as_secs_f64()
    }

    fn stall_share(&self) -> f64 {
        self.stalled.as_secs_f64() / (self.played + self.stalled).as_secs_f64()
    }
}

/// The metrics of a group's players; NaN without one.
pub(super) const METRICS: &[Entry<Group>] = &[
    number("playbacks", "Playbacks that began", "playbacks", PLAIN, |group: &Group| {
        if group.viewing.seen { group.viewing.startup.count() as f64 } else { f64::NAN }
    }),
    times("startup_time", "Time until playback begins", "start-up", |group: &Group| &group.viewing.startup),
    number("stalls_per_minute", "Stalls in a minute of playback", "stalls/min", PLAIN, |group: &Group| {
        group.viewing.per_minute(group.viewing.stalls)
    }),
    number("stall_share", "Part of playback that is stalled", "stalled", PERCENT, |group: &Group| {
        group.viewing.stall_share()
    }),
    number("bitrate_mean_bps", "Mean bit rate of segments", "bit rate", MBIT, |group: &Group| {
        group.viewing.bits / group.viewing.fetched.as_secs_f64()
    }),
    number(
        "bitrate_utility",
        "Mean utility of the bit rate, ln(R / R_min)",
        "utility",
        PLAIN,
        |group: &Group| group.viewing.utility / group.viewing.fetched.as_secs_f64(),
    ),
    number(
        "switches_per_minute",
        "Changes of the bit rate in a minute of playback",
        "switches/min",
        PLAIN,
        |group: &Group| group.viewing.per_minute(group.viewing.switches),
    ),
];
