// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A film that is played while it arrives, of runs on a machine alone.
//!
//! ```text
//! late picture     its last byte arrived after its presentation time by the playback clock
//! audio starving   the sound's buffer ran empty: a run of late audio frames counts once
//! start-up         from the arrival of the request at the server to the first picture
//! stall            the playback clock stopped for lack of data until its cache was filled again
//! variation        of the congestion window, sampled every 10 ms from the first picture until all is sent: deviation / mean
//! ```

use crate::metric::{Entry, Metric, PLAIN, RATIO, SECONDS, described, fill, number};
use crate::table::Row;
use crate::units::Span;

/// Observations of a playback, at both of its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Played {
    /// Late pictures.
    pub late_pictures: u64,
    /// Times that the sound starved.
    pub starvings: u64,
    /// From request to picture; none without a picture.
    pub startup: Option<Span>,
    /// Stalls.
    pub stalls: u64,
    /// The time of all stalls.
    pub stalled: Span,
    /// The variation of the congestion window; NaN where it is unknown.
    pub window_variation: f64,
}

const METRICS: &[Entry<Played>] = &[
    number("late_pictures", "Late pictures per playback", "late pictures", PLAIN, |one: &Played| {
        one.late_pictures as f64
    }),
    number("audio_starvings", "Audio starvings per playback", "starvings", PLAIN, |one: &Played| {
        one.starvings as f64
    }),
    number("startup_s", "From the request to the first picture", "start-up", SECONDS, |one: &Played| {
        one.startup.map_or(f64::NAN, Span::as_secs_f64)
    }),
    number("stalls", "Stalls per playback", "stalls", PLAIN, |one: &Played| one.stalls as f64),
    number("stalled_s", "Time stalled per playback", "stalled", SECONDS, |one: &Played| {
        one.stalled.as_secs_f64()
    }),
    number("window_variation", "Variation of the congestion window", "window cv", RATIO, |one: &Played| {
        one.window_variation
    }),
];

impl Played {
    /// Its metrics.
    pub fn metrics() -> impl Iterator<Item = Metric> {
        described(METRICS)
    }

    /// Its numbers under the name of its group.
    pub fn row(&self, group: &str) -> Row {
        fill(Row::new([("group", group.to_string())]), METRICS, self)
    }
}
