// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A player without a screen: a bounded buffer and a playback clock, fed with the bytes of a transport stream.
//!
//! ```text
//! ahead            the complete part of every stream after the playback position
//! start-up         from the request until `caching` is ahead: the clock starts
//! reading          only while less than `buffer` is ahead; the kernel's receive buffer is extra
//! late picture     its last byte arrived after its presentation time by the clock, so that it is skipped
//! audio starving   the sound's buffer ran empty: a run of late audio units counts once
//! stall            under `pause`, nothing of a stream is ahead: the clock stops until `caching` is ahead again. The picture that was
//!                  missing is late, or the sound starves; what follows it is not late
//! ```
//!
//! Under `skip` the clock continues, as for events that a player logs without buffering again. Units that had not arrived when the run
//! ended and were due are late, too ([`Playback::settle`]).

use kneepoint::units::{Span, Time};

use super::stream::{Kind, Stream, Unit};

/// The action of a player when its buffer is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Empty {
    /// Skips late pictures.
    #[default]
    Skip,
    /// Stops the clock until its cache is filled again.
    Pause,
}

/// The buffering of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    /// The buffered amount when playback starts or resumes.
    pub caching: Span,
    /// The largest buffered amount.
    pub buffer: Span,
    /// The action when the buffer is empty.
    pub empty: Empty,
}

/// Events of a playback.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Playback {
    /// The time of the request.
    pub requested: Time,
    /// The time of the first picture, if any was shown.
    pub started: Option<Time>,
    /// Pictures that arrived.
    pub pictures: u64,
    /// Pictures that were late.
    pub late_pictures: u64,
    /// Times that the sound's buffer ran empty.
    pub starvings: u64,
    /// The times of stalls for lack of data, and their lengths.
    pub stalls: Vec<(Time, Span)>,
    /// Whether everything arrived.
    pub complete: bool,
}

impl Playback {
    /// With pictures of the clip that had not arrived when they were due, which is before the end of the run.
    pub fn settle(&mut self, clip: u64, empty: Empty) {
        if empty == Empty::Skip && self.started.is_some() {
            self.late_pictures += clip.saturating_sub(self.pictures);
        }
    }
}

/// A player.
#[derive(Debug)]
pub struct Player {
    buffering: Buffering,
    stream: Stream,
    clock: Clock,
    tracks: [Track; 2],
    starving: bool,
    seen: Playback,
}

/// The playback position.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// The time since which it has stalled here.
    Stands(Span, Time),
    /// It existed then and still does.
    Runs(Span, Time),
}

/// The received part of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    /// The decoding time of the latest unit.
    latest: Option<Span>,
    /// Between the latest two units.
    step: Span,
}

impl Track {
    /// The end of its complete part.
    fn end(&self) -> Span {
        self.latest.map_or(Span::ZERO, |latest| latest + self.step)
    }
}

impl Player {
    /// A player that sent its request at `requested`.
    pub fn new(buffering: Buffering, requested: Time) -> Player {
        Player {
            buffering,
            stream: Stream::default(),
            clock: Clock::Stands(Span::ZERO, requested),
            tracks: [Track::default(); 2],
            starving: false,
            seen: Playback { requested, ..Playback::default() },
        }
    }

    /// Bytes arrived.
    pub fn take(&mut self, bytes: &[u8], now: Time) {
        self.advance(now);
        let mut units = Vec::new();
        self.stream.take(bytes, now, |unit| units.push(unit));
        units.into_iter().for_each(|unit| self.unit(unit));
        self.fill(now);
    }

    /// No more bytes follow.
    pub fn end(&mut self, now: Time) {
        self.advance(now);
        let mut units = Vec::new();
        self.stream.end(|unit| units.push(unit));
        units.into_iter().for_each(|unit| self.unit(unit));
        self.seen.complete = true;
        self.fill(now);
    }

    /// Whether it continues reading at `now`.
    pub fn reads(&self, now: Time) -> bool {
        self.ahead(now).is_none_or(|ahead| ahead < self.buffering.buffer)
    }

    /// The time of the next check of the clock, unless bytes arrive before.
    pub fn due(&self, now: Time) -> Time {
        match self.clock {
            Clock::Runs(position, since) if self.pauses() => {
                since + self.complete_to().saturating_sub(position)
            }
            _ => now + Span::from_secs(3600),
        }
    }

    /// The clock reaches `now`.
    pub fn advance(&mut self, now: Time) {
        let Clock::Runs(position, since) = self.clock else { return };
        let end = self.complete_to();
        let empty = since + end.saturating_sub(position);
        if self.pauses() && empty <= now {
            let missing = |track: &Track| track.end() <= end;
            self.seen.late_pictures += u64::from(missing(&self.tracks[0]));
            self.seen.starvings +=
                u64::from(missing(&self.tracks[1]) && self.stream.has(Kind::Audio) == Some(true));
            self.clock = Clock::Stands(end.max(position), empty);
        }
    }

    /// Processes everything until `now`. An unfinished stall counts up to now.
    pub fn finish(mut self, now: Time) -> Playback {
        self.advance(now);
        if let Clock::Stands(_, since) = self.clock
            && self.seen.started.is_some()
        {
            self.seen.stalls.push((since, now.since(since)));
        }
        self.seen
    }

    /// Whether the clock may stop.
    fn pauses(&self) -> bool {
        self.buffering.empty == Empty::Pause && !self.seen.complete
    }

    fn unit(&mut self, unit: Unit) {
        let track = &mut self.tracks[unit.kind as usize];
        track.step = track.latest.map_or(track.step, |latest| unit.decoded.saturating_sub(latest));
        track.latest = Some(unit.decoded);
        let late = match self.clock {
            Clock::Runs(position, since) => {
                unit.arrived.since(since) > unit.presented.saturating_sub(position)
            }
            Clock::Stands(..) => false,
        };
        match unit.kind {
            Kind::Video => {
                self.seen.pictures += 1;
                self.seen.late_pictures += u64::from(late);
            }
            Kind::Audio => {
                self.seen.starvings += u64::from(late && !self.starving);
                self.starving = late;
            }
        }
    }

    /// Starts or resumes when enough is ahead.
    fn fill(&mut self, now: Time) {
        let Clock::Stands(position, since) = self.clock else { return };
        let all = self.seen.complete && self.seen.pictures > 0;
        if all || self.ahead(now).is_some_and(|ahead| ahead >= self.buffering.caching) {
            if self.seen.started.is_some() {
                self.seen.stalls.push((since, now.since(since)));
            } else {
                self.seen.started = Some(now);
            }
            self.clock = Clock::Runs(position, now);
        }
    }

    fn position(&self, now: Time) -> Span {
        match self.clock {
            Clock::Stands(position, _) => position,
            Clock::Runs(position, since) => position + now.since(since),
        }
    }

    /// The end of the part in which every stream is complete.
    fn complete_to(&self) -> Span {
        let there = |kind: &Kind| self.stream.has(*kind) == Some(true);
        let kinds = [Kind::Video, Kind::Audio].into_iter().filter(there);
        kinds.map(|kind| self.tracks[kind as usize].end()).min().unwrap_or_default()
    }

    /// The complete part after the position; none before the streams are known.
    fn ahead(&self, now: Time) -> Option<Span> {
        self.stream.has(Kind::Video)?;
        Some(self.complete_to().saturating_sub(self.position(now)))
    }
}

#[cfg(test)]
mod tests;
