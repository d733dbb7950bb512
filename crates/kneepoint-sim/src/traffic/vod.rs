// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Video on demand: segments of stored video, fetched one after another into a playout buffer.
//!
//! As players of DASH and HLS do it (ISO/IEC 23009-1; RFC 8216): the next segment is requested when the last has arrived and there is
//! room for it in the buffer, in the bit rate that a rule chooses (`abr/`).
//!
//! ```text
//! before playback   until `startup` of video is there
//! playing           the buffer falls by a second in each second, and grows by `segment` where one arrives
//! stalled           from an empty buffer until `resume` is there
//! pause             until buffer + segment ≤ room
//! size of a segment rate · length / 8, times its share of the frame sizes over their mean
//! ```
//!
//! One connection stays open (HTTP/1.1). A request reaches the server with the acknowledgement of earlier data. Frame sizes belong to one
//! encoding; they repeat, and every rung of the ladder varies as they do. A player's actions are reported with each segment, and without
//! segments about once in the length of one, a second late; a run's end therefore cuts off about that much.

mod segments;
mod viewing;

use super::abr::{self, Ladder, Seen};
use super::sample::Sample;
use super::{Cue, Kind, Nature, Request, Site, Source, Streams};
use crate::metric::Reports;
use crate::rng::Rng;
use crate::settings::{Auto, FilePath, Inline, Or};
use crate::units::{Bytes, Span, Time};
use segments::Segments;
use viewing::Played;
pub use viewing::{BITS, FETCHED, PLAYED, STALLED, STALLS, STARTUP, SWITCHES, UTILITY};

crate::settings! {
    /// A viewer of stored video.
    pub struct Params {
        /// Bit rates in which the video is encoded.
        ladder: Ladder = Ladder::default();
        /// The rule that chooses the bit rate of a segment, one of `knee list rules`; with parameters, as in `bba:reservoir=0.4`.
        rule: abr::Config = abr::Config::default();
        /// Length of a segment.
        segment: Span = Span::from_secs(4), Span::from_millis(100)..=Span::from_secs(60);
        /// Video that the playout buffer holds at most.
        room: Span = Span::from_secs(30), Span::from_millis(200)..=Span::from_secs(3600);
        /// Video in the buffer with which playback begins.
        startup: Span = Span::from_secs(4), Span::from_millis(1)..=Span::from_secs(600);
        /// Video in the buffer with which playback resumes after a stall.
        resume: Span = Span::from_secs(4), Span::from_millis(1)..=Span::from_secs(600);
        /// Sizes of the frames of one encoding, in order, as a list or as the text of a CSV file; `auto` makes all segments of
        /// an encoding equal.
        frames: Or<Sample, Auto> = Or::WORD;
        /// The CSV file to take them from: a column `size_bytes`, `size_kb` or `size_mb`.
        frames_file: Or<FilePath, Inline> = Or::WORD;
        /// Frames a second of these.
        fps: f64 = 24.0, 1.0..=1000.0;
        /// Sizes of the segments in bytes, a line for each with a number for each rung, the lowest first; `auto` has them follow from the
        /// ladder.
        segments: Or<Segments, Auto> = Or::WORD;
        /// The file to take them from: files of Pensieve side by side, or a film of Sabre in JSON, whose ladder and length of segments
        /// replace `ladder` and `segment`.
        segments_file: Or<FilePath, Inline> = Or::WORD;
    } check |params| {
        let least = params.startup.max(params.resume);
        let (ladder, segment) = params.film();
        let needed = Span(least.0.div_ceil(segment.0).max(1) * segment.0);
        if let Some(segments) = params.segments.get().filter(|own| own.rungs() != ladder.rates().len()) {
            return Err(format!(
                "segments have {} sizes, and the ladder has {} rungs: give a `ladder` of as many",
                segments.rungs(),
                ladder.rates().len()
            ));
        }
        if params.segments.get().is_some() && params.frames.get().is_some() {
            return Err("both `segments` and `frames` are given: leave one of them out".into());
        }
        if params.room < needed {
            return Err(format!(
                "room, {}, is less than the {needed} of whole segments that playback needs: raise it, or lower startup, resume or segment",
                params.room
            ));
        }
        Ok(())
    }
}

impl Params {
    /// The ladder and the length of a segment, the film's own where it has them.
    fn film(&self) -> (Ladder, Span) {
        let own = self.segments.get().and_then(|segments| segments.own.clone());
        own.unwrap_or_else(|| (self.ladder.clone(), self.segment))
    }
}

/// The one connection of a member.
const OWN: u32 = 0;
/// The greatest delay of a server's notice that a segment has arrived.
const LAG: Span = Span::from_secs(1);

/// A viewer.
#[derive(Clone, Debug)]
pub struct Vod {
    params: Params,
    rule: abr::Any,
    /// The mean size of the frames.
    mean: f64,
    stop: Time,
    step: Step,
    player: Player,
    /// Segments requested.
    asked: u64,
    rung: usize,
    throughputs: Vec<f64>,
    wakeup: Time,
}

/// The event that it awaits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Its start.
    Start,
    /// A segment of this size, requested at that time of the client's.
    Segment(Bytes, Time),
    /// Room in the buffer, which there will be at that time of the client's.
    Room(Time),
    /// Nothing: it is closed.
    End,
}

impl Source for Vod {
    type Params = Params;

    fn new(params: Params, site: Site) -> Vod {
        let starts = site.start < site.stop;
        let (step, wakeup) = if starts { (Step::Start, site.start) } else { (Step::End, Time::NEVER) };
        let player = Player::new(site.start);
        let (ladder, segment) = params.film();
        let params = Params { ladder, segment, ..params };
        Vod {
            rule: params.rule.build(),
            mean: f64::NAN,
            params,
            stop: site.stop,
            step,
            player,
            asked: 0,
            rung: 0,
            throughputs: Vec::new(),
            wakeup,
        }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "vod",
            kind: Kind::Streams,
            streams: Streams { starts: "start-vod", shared: false, draws: "vod" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn reports(&self) -> Reports {
        viewing::REPORTS
    }

    fn rule(&self) -> Option<&'static str> {
        Some(self.params.rule.name())
    }

    fn on(&mut self, cue: Cue, now: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        match (cue, self.step) {
            (Cue::Time, Step::Start) => {
                let frames = self.params.frames.get().map_or(&[][..], |frames| frames.values());
                self.mean = frames.iter().map(|size| size.0 as f64).sum::<f64>() / frames.len() as f64;
                requests.push(Request::Open { connection: OWN, pair: 0, size: None });
                self.ask(now, now, requests);
            }
            (Cue::Time, _) if now >= self.stop => {
                (self.step, self.wakeup) = (Step::End, Time::NEVER);
                requests.push(Request::Close { connection: OWN });
            }
            (Cue::Time, Step::Room(at)) => {
                self.player.advance(at);
                self.ask(at, now, requests);
            }
            (Cue::Time, Step::Segment(..)) => {
                self.player.advance(Time(now.0.saturating_sub(LAG.0)));
                self.player.tell().report(now, requests);
                self.wake(now + self.params.segment);
            }
            (Cue::Delivered { at, .. }, Step::Segment(size, asked)) => {
                self.arrived(size, asked, at, now, requests)
            }
            // It is closed, or was not requested.
            _ => {}
        }
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

impl Vod {
    /// A segment is there: plays on, and asks for the next when there is room.
    fn arrived(&mut self, size: Bytes, asked: Time, at: Time, now: Time, requests: &mut Vec<Request>) {
        let (segment, room) = (self.params.segment, self.params.room);
        let needed = if self.player.begun { self.params.resume } else { self.params.startup };
        self.throughputs.push(8.0 * size.0 as f64 / at.since(asked).as_secs_f64());
        self.player.advance(at);
        self.player.take(segment, needed);
        self.player.tell().report(now, requests);
        let rates = self.params.ladder.rates();
        viewing::arrived(segment, rates[self.rung], rates[0], now, requests);
        match (self.player.buffer + segment).saturating_sub(room) {
            Span::ZERO => self.ask(at, now, requests),
            pause => {
                self.step = Step::Room(at + pause);
                self.wake(now + pause);
            }
        }
    }

    /// Asks for the next segment, at this time of the client's.
    fn ask(&mut self, at: Time, now: Time, requests: &mut Vec<Request>) {
        let seen = Seen {
            ladder: self.params.ladder.rates(),
            segment: self.params.segment,
            buffer: self.player.buffer,
            room: self.params.room,
            last: self.rung,
            throughputs: &self.throughputs,
        };
        let rung = self.rule.rung(&seen);
        if self.asked > 0 && rung != self.rung {
            self.player.told.switches += 1;
        }
        self.rung = rung;
        let size = self.size();
        self.asked += 1;
        requests.push(Request::Write { connection: OWN, size, transfer: Some(size) });
        self.step = Step::Segment(size, at);
        self.wake(now + self.params.segment);
    }

    /// The size of the next segment.
    fn size(&self) -> Bytes {
        if let Some(segments) = self.params.segments.get() {
            return segments.size(self.asked, self.rung);
        }
        let seconds = self.params.segment.as_secs_f64();
        let even = self.params.ladder.rates()[self.rung].as_f64() * seconds / 8.0;
        let share = self.params.frames.get().map_or(1.0, |frames| {
            let frames = frames.values();
            let frame = |segments: u64| (segments as f64 * seconds * self.params.fps) as usize;
            let own = frame(self.asked)..frame(self.asked + 1).max(frame(self.asked) + 1);
            let count = own.len() as f64;
            own.map(|place| frames[place % frames.len()].0 as f64).sum::<f64>() / (count * self.mean)
        });
        Bytes((even * share).ceil().max(1.0) as u64)
    }

    fn wake(&mut self, at: Time) {
        self.wakeup = at.min(self.stop);
    }
}

/// The buffer and the screen, by the client's clock.
#[derive(Clone, Debug)]
struct Player {
    requested: Time,
    at: Time,
    buffer: Span,
    playing: bool,
    begun: bool,
    told: Played,
}

impl Player {
    fn new(requested: Time) -> Player {
        let told = Played::default();
        Player { requested, at: requested, buffer: Span::ZERO, playing: false, begun: false, told }
    }

    /// Plays until then, or stalls.
    fn advance(&mut self, to: Time) {
        let elapsed = to.since(self.at);
        self.at = self.at.max(to);
        let played = if self.playing { elapsed.min(self.buffer) } else { Span::ZERO };
        self.buffer = self.buffer.saturating_sub(played);
        self.told.played = self.told.played + played;
        if played < elapsed && self.begun {
            self.told.stalls += u32::from(self.playing);
            self.told.stalled = self.told.stalled + elapsed.saturating_sub(played);
            self.playing = false;
        }
    }

    /// A segment arrives; playback begins or resumes if there is enough.
    fn take(&mut self, segment: Span, needed: Span) {
        self.buffer = self.buffer + segment;
        if !self.playing && self.buffer >= needed {
            self.playing = true;
            if !self.begun {
                self.begun = true;
                self.told.startup = Some(self.at.since(self.requested));
            }
        }
    }

    /// Its actions since its last report.
    fn tell(&mut self) -> Played {
        std::mem::take(&mut self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Tallies;
    use crate::settings::{Raw, Setting};
    use crate::units::Rate;

    /// Sizes of the segments, and the player's actions, over a link of a constant rate without delay, for 40 s.
    fn watch(params: Params, rate: Rate) -> (Vec<Bytes>, Tallies) {
        let stop = Time::ZERO + Span::from_secs(40);
        let mut viewer = Vod::new(params, Site { start: Time::ZERO, stop, pairs: 1 });
        let (mut rng, mut requests) = (Rng::stream(1, "vod", 0), Vec::new());
        let (mut sizes, mut did, mut arrives) = (Vec::new(), Tallies::default(), Time::NEVER);
        loop {
            let now = viewer.next_wakeup().min(arrives);
            if now == Time::NEVER {
                return (sizes, did);
            }
            let cue = if now == arrives {
                arrives = Time::NEVER;
                Cue::Delivered { connection: OWN, bytes: Bytes(0), at: now }
            } else {
                Cue::Time
            };
            viewer.on(cue, now, &mut rng, &mut requests);
            for request in requests.drain(..) {
                match request {
                    Request::Write { size, .. } => {
                        sizes.push(size);
                        arrives = now + rate.time_for(size);
                    }
                    Request::Report(report) => did.add(&report),
                    _ => {}
                }
            }
        }
    }

    /// Seconds until playback began, of playback and of stalls, and how many there were of these.
    fn whole(did: &Tallies) -> (f64, f64, f64, f64) {
        (did.seconds(STARTUP), did.seconds(PLAYED), did.seconds(STALLED), did.sum(STALLS))
    }

    fn one_rate(mbit: u64) -> Params {
        let ladder = Ladder::read(&Raw::Text(format!("{mbit}mbit"))).expect("a rate");
        Params { ladder, room: Span::from_secs(12), ..Params::default() }
    }

    #[test]
    fn a_fast_link_fills_the_buffer_and_the_player_then_waits_for_room() {
        let (sizes, did) = watch(one_rate(1), Rate::from_mbit(4));
        // 4 s of 1 Mbit/s are 500 kB and take 1 s. Playback begins after 1 s; 12 s are nearly there after 3 s, then one every 4 s.
        assert!(sizes.iter().all(|size| *size == Bytes(500_000)));
        // The last arrives at 38 s and 37 s were played until then.
        assert_eq!(sizes.len(), 12);
        assert_eq!((whole(&did), did.count(STARTUP)), ((1.0, 37.0, 0.0, 0.0), 1));
    }

    #[test]
    fn a_slow_link_stalls_as_computed_by_hand() {
        let params = Params { startup: Span::from_secs(8), ..one_rate(2) };
        let (_, did) = watch(params, Rate::from_mbit(1));
        // A segment takes 8 s. Playback begins with the second, at 16 s, and has 8 s until 24 s, when the third arrives and
        // lasts until 28 s; the player stalls until 32 s, and again from 36 s to 40 s.
        assert_eq!((whole(&did), did.count(STARTUP)), ((16.0, 16.0, 8.0, 2.0), 1));
    }

    #[test]
    fn a_film_has_the_sizes_of_its_own_segments_in_the_rung_that_is_chosen() {
        let segments = Or::read(&Raw::Text("1000 30000\n2000 40000\n".into())).expect("segments");
        let ladder = Ladder::read(&Raw::Text("[8kbit, 240kbit]".into())).expect("a ladder");
        let params = Params { segments, ladder, ..one_rate(1) };
        assert_eq!(crate::settings::Settings::check(&params), Ok(()));
        let (sizes, _) = watch(params.clone(), Rate::from_mbit(100));
        // The first segment and the second by turns, in the lowest rung at the start and in the highest once the link is known.
        assert_eq!(sizes[..4], [Bytes(1000), Bytes(2000), Bytes(30_000), Bytes(40_000)]);
        assert!(sizes[4..].chunks_exact(2).all(|two| two == [Bytes(30_000), Bytes(40_000)]), "{sizes:?}");
        let three = Ladder::read(&Raw::Text("[8kbit, 240kbit, 1mbit]".into())).expect("a ladder");
        let wrong = crate::settings::Settings::check(&Params { ladder: three, ..params }).unwrap_err();
        assert!(wrong.contains("segments have 2 sizes, and the ladder has 3 rungs"), "{wrong}");
    }

    #[test]
    fn segments_vary_as_the_frames_do() {
        let frames = Or::read(&Raw::Text("size_bytes\n100\n300\n".into())).expect("frames");
        let params = Params {
            frames,
            fps: 1.0,
            segment: Span::from_secs(1),
            startup: Span::from_secs(1),
            resume: Span::from_secs(1),
            ..one_rate(1)
        };
        let (sizes, _) = watch(params, Rate::from_mbit(100));
        // 125 kB a second, half as much and three halves by turns.
        assert_eq!(sizes[..4], [Bytes(62_500), Bytes(187_500), Bytes(62_500), Bytes(187_500)]);
    }
}
