// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Viewing: actions of a group's players inside the measurement window.
//!
//! ```text
//! playbacks       that began; a viewer whose playback has not begun has no start-up time yet
//! start-up time   from the request for the first segment, as it reaches the server, to the beginning of playback
//! stall           playback stands still, after it began, because the buffer is empty
//! stall share     time stalled / (time played + time stalled)
//! bit rate        of the segments that arrived, each weighted with its length
//! utility         ln(bit rate / lowest of the ladder), mean over the segments (BOLA's, INFOCOM 2016, §III)
//! ```
//!
//! A player's actions count when it reports them: with each segment, and about once per segment length while none
//! arrives.

use super::Request;
use crate::metric::{Entry, MBIT, PERCENT, PLAIN, Quantity, Reports, Tallies, number, times};
use crate::units::{Rate, Span, Time};

/// The duration of playback.
pub const PLAYED: Quantity = Quantity::number("played");
/// The duration of stalls for lack of data after playback had begun.
pub const STALLED: Quantity = Quantity::number("stalled");
/// The number of stalls.
pub const STALLS: Quantity = Quantity::number("stalls");
/// Changes of the requested bit rate.
pub const SWITCHES: Quantity = Quantity::number("switches");
/// The time until playback began.
pub const STARTUP: Quantity = Quantity::times("startup");
/// The lengths of segments that arrived.
pub const FETCHED: Quantity = Quantity::number("fetched");
/// Their bit rates, each times its length in seconds.
pub const BITS: Quantity = Quantity::number("bits");
/// Their utilities, each times its length in seconds.
pub const UTILITY: Quantity = Quantity::number("utility");

/// A player's actions since its last report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Played {
    pub(super) played: Span,
    pub(super) stalled: Span,
    pub(super) stalls: u32,
    pub(super) switches: u32,
    pub(super) startup: Option<Span>,
}

impl Played {
    /// Reports it.
    pub(super) fn report(self, now: Time, requests: &mut Vec<Request>) {
        let Played { played, stalled, stalls, switches, startup } = self;
        let always = [
            PLAYED.took(played, now),
            STALLED.took(stalled, now),
            STALLS.is(stalls.into(), now),
            SWITCHES.is(switches.into(), now),
        ];
        let startup = startup.map(|startup| STARTUP.took(startup, now));
        requests.extend(always.into_iter().chain(startup).map(Request::Report));
    }
}

/// Reports a segment that arrived: its length, its bit rate, and the lowest in which the video is encoded.
pub(super) fn arrived(length: Span, rate: Rate, lowest: Rate, now: Time, requests: &mut Vec<Request>) {
    let seconds = length.as_secs_f64();
    let reports = [
        FETCHED.took(length, now),
        BITS.is(rate.as_f64() * seconds, now),
        UTILITY.is(libm::log(rate.as_f64() / lowest.as_f64()) * seconds, now),
    ];
    requests.extend(reports.map(Request::Report));
}

/// Seconds that were played or stalled.
fn elapsed(all: &Tallies) -> f64 {
    (all.sum(PLAYED) + all.sum(STALLED)) / 1e9
}

/// The mean over the segments of a quantity that is weighted with their lengths.
fn of_segments(all: &Tallies, quantity: Quantity) -> f64 {
    all.sum(quantity) / all.seconds(FETCHED)
}

/// The metrics of a group's players; NaN without one.
const METRICS: &[Entry<Tallies>] = &[
    number("playbacks", "Playbacks that began", "playbacks", PLAIN, |all| match all.count(PLAYED) {
        0 => f64::NAN,
        _ => all.count(STARTUP) as f64,
    }),
    times("startup_time", "Time until playback begins", "start-up", |all| all.times(STARTUP)),
    number("stalls_per_minute", "Stalls in a minute of playback", "stalls/min", PLAIN, |all| {
        60.0 * all.sum(STALLS) / elapsed(all)
    }),
    number("stall_share", "Part of playback that is stalled", "stalled", PERCENT, |all| {
        all.seconds(STALLED) / elapsed(all)
    }),
    number("bitrate_mean_bps", "Mean bit rate of segments", "bit rate", MBIT, |all| of_segments(all, BITS)),
    number("bitrate_utility", "Mean utility of the bit rate, ln(R / R_min)", "utility", PLAIN, |all| {
        of_segments(all, UTILITY)
    }),
    number(
        "switches_per_minute",
        "Changes of the bit rate in a minute of playback",
        "switches/min",
        PLAIN,
        |all| 60.0 * all.sum(SWITCHES) / elapsed(all),
    ),
];

/// The reports of players.
pub(super) const REPORTS: Reports =
    Reports { source: include_str!("viewing.rs"), metrics: METRICS, courses: &[] };
