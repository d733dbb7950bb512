// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Lateness: the packets of live streams that arrive too late to be played, for every start-up delay.
//!
//! ```text
//! lateness of a packet      its delivery in order − when it was made and handed to TCP
//! late at a start-up delay  lateness > delay, or not delivered at all
//! on time                   a stream of whose packets less than 1 in 10 000 are late
//! ```
//!
//! Packets count that are made inside the measurement window, and at least the longest start-up delay, 21 s, before its
//! end. The criterion is from Wang, Kurose, Shenoy and Towsley (ACM Multimedia 2004), which the paper on PERT for video
//! takes (§III.B).

use crate::metric::{Entry, PERCENT, number};
use crate::spec;
use crate::traffic::Beat;
use crate::units::{Interval, Span, Time};

/// The start-up delays, in milliseconds.
const STARTUPS: [u64; 24] = [
    100, 200, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000, 11_000, 12_000, 13_000,
    14_000, 15_000, 16_000, 17_000, 18_000, 19_000, 20_000, 21_000,
];
/// The fraction of late packets from which on a stream is not on time.
const TOLERATED: f64 = 1e-4;

/// The live streams of a group.
#[derive(Clone, Debug)]
pub(super) struct Lateness {
    beat: Beat,
    from: Time,
    streams: Vec<Stream>,
}

/// A live stream.
#[derive(Clone, Debug)]
struct Stream {
    /// The time of its first packet; [`Time::NEVER`] if there was none.
    began: Time,
    /// The last time at which packets count.
    until: Time,
    /// Packets by the shortest start-up delay at which they are on time.
    on_time: [u32; STARTUPS.len()],
}

/// The success of a group's streams at a start-up delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Playback {
    late: f64,
    on_time: f64,
}

impl Lateness {
    /// The group's, if it streams live.
    pub(super) fn of(spec: &spec::Group, window: Interval) -> Option<Box<Lateness>> {
        let beat = spec.source.nature().live?;
        let longest = Span::from_millis(*STARTUPS.last()?);
        let last = Time(window.to.0.saturating_sub(longest.0));
        // A source does not send at the instant at which it stops.
        let until = |stop: Option<Time>| stop.map_or(last, |stop| last.min(Time(stop.0.saturating_sub(1))));
        let stream = |stop| Stream { began: Time::NEVER, until: until(stop), on_time: Default::default() };
        let streams = spec.members.iter().map(|member| stream(member.stop)).collect();
        Some(Box::new(Lateness { beat, from: window.from, streams }))
    }

    /// A stream begins.
    pub(super) fn began(&mut self, stream: usize, at: Time) {
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.began = at;
        }
    }

    /// A packet of a stream is delivered so long after it was made.
    pub(super) fn delivered(&mut self, stream: usize, made: Time, took: Span) {
        let Some(stream) = self.streams.get_mut(stream) else { return };
        let shortest = STARTUPS.partition_point(|millis| Span::from_millis(*millis) < took);
        if (self.from..=stream.until).contains(&made)
            && let Some(count) = stream.on_time.get_mut(shortest)
        {
            *count += 1;
        }
    }

    /// Each start-up delay, with the success of the streams that have packets.
    pub(super) fn playbacks(&self) -> Vec<(String, Playback)> {
        let streams: Vec<(&Stream, u64)> = self
            .streams
            .iter()
            .map(|stream| (stream, self.made(stream)))
            .filter(|(_, made)| *made > 0)
            .collect();
        let at = |place: usize| {
            let late = |(stream, made): &(&Stream, u64)| {
                let on_time: u64 = stream.on_time[..=place].iter().copied().map(u64::from).sum();
                1.0 - on_time as f64 / *made as f64
            };
            let all: Vec<f64> = streams.iter().map(late).collect();
            let share = |sum: f64| sum / all.len() as f64;
            let good = all.iter().filter(|fraction| **fraction < TOLERATED).count();
            Playback { late: share(all.iter().sum()), on_time: share(good as f64) }
        };
        let named = STARTUPS.iter().enumerate().filter(|_| !streams.is_empty());
        named.map(|(place, millis)| (Span::from_millis(*millis).to_string(), at(place))).collect()
    }

    /// The number of a stream's packets that count.
    fn made(&self, stream: &Stream) -> u64 {
        let by = |time: Time| {
            if time < stream.began { 0 } else { self.beat.made_by(time.since(stream.began)) }
        };
        let before = self.from.0.checked_sub(1).map_or(0, |last| by(Time(last)));
        by(stream.until).saturating_sub(before)
    }
}

/// The metrics of a start-up delay; its label is that delay.
pub(super) const METRICS: &[Entry<Playback>] = &[
    number(
        "late_share",
        "Packets of live streams that come too late, mean over streams",
        "late",
        PERCENT,
        |play| play.late,
    ),
    number(
        "streams_on_time_share",
        "Live streams with less than 1 in 10 000 packets too late",
        "on time",
        PERCENT,
        |play| play.on_time,
    ),
];
