// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Media: a live encoder over RTP with feedback, whose rate a control sets.
//!
//! RFC 8834 and RFC 8888 (RTP, feedback for congestion control); RFC 8593, 2019, §5 (sizes of frames); RFC 8867, 2021, §4 (rates).
//!
//! ```text
//! frame k          at start + k / fps; size = target / fps / 8 · (1 + x), x Laplacian of scale `deviation`, within −1 and 1
//! packet           up to `size` on the wire, with headers of IP, UDP and RTP (40 bytes)
//! sender           a queue of packets; the next leaves when its pace and window (`rtp/`) allow
//! report           every `interval` after arrivals, of 44 + 2 bytes for each packet, on the path back, where it may be lost
//! loss             a packet that a report skips; or all in flight after a second without a report
//! ```
//!
//! The target of the control includes headers. A report repeats arrivals that lost reports told. While the oldest packet of the queue has
//! waited longer than `deadline`, frames are skipped. With `pause` and `resume` nothing is encoded in between. A control
//! that asks for it sends ECT(1), and marks are reported for each packet. Departures: no retransmission, no audio, frames
//! have no types, a gap is a loss at once even where a path reorders, and a report has the exact times of arrivals.

mod calls;
mod way;

use std::collections::{BTreeMap, VecDeque};

use super::rtp::{self, Limits, Outcome, Seen};
use super::{Cue, Demand, Kind, Nature, Request, Site, Source, Streams};
use crate::metric::Reports;
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span, Time};

use way::{Arrival, Parcel, Told};

crate::settings! {
    /// A live encoder with feedback.
    pub struct Params {
        /// The rate control, one of `knee list rate-controls`; with parameters, as in `scream:l4s=true`.
        control: rtp::Config = rtp::Config::default();
        /// Lowest bit rate of the encoder.
        min: Rate = Rate(150_000), Rate(8_000)..=Rate::from_mbit(1_000);
        /// Highest bit rate of the encoder.
        max: Rate = Rate(1_500_000), Rate(8_000)..=Rate::from_mbit(1_000);
        /// Bit rate at the start.
        initial: Rate = Rate(300_000), Rate(8_000)..=Rate::from_mbit(1_000);
        /// Frames a second.
        fps: f64 = 25.0, 1.0..=240.0;
        /// Scale of the deviation of a frame's size, as a part of the size.
        deviation: f64 = 0.15, 0.0..=1.0;
        /// Size of a full packet on the wire.
        size: Bytes = Bytes(1240), Bytes(100)..=Bytes(9000);
        /// Time between two reports of the receiver.
        interval: Span = Span::from_millis(50), Span::from_millis(1)..=Span::from_secs(1);
        /// Delay from the capture after which a frame is late.
        deadline: Span = Span::from_millis(400), Span::from_millis(1)..=Span::from_secs(10);
        /// Time from the start at which nothing more is encoded; `0s` never pauses.
        pause: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100_000);
        /// Time from the start at which encoding resumes.
        resume: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100_000);
    } check |params| {
        if !(params.min <= params.initial && params.initial <= params.max) {
            return Err(format!(
                "initial, {}, is not between min, {}, and max, {}: change one of them",
                params.initial, params.min, params.max
            ));
        }
        if params.resume < params.pause {
            return Err(format!("resume, {}, is before pause, {}: raise it", params.resume, params.pause));
        }
        Ok(())
    }
}

/// Headers of IP, UDP and RTP.
const HEADERS: f64 = 40.0;
/// Bytes of a report without its packets: headers of IP and UDP, and RFC 8888's own with one source.
const REPORT: u64 = 44;
/// Time without a report after which packets in flight are lost.
const SILENCE: Span = Span::from_secs(1);

/// A member: the encoder and sender, and the receiver of its packets.
#[derive(Clone, Debug)]
pub struct Media {
    params: Params,
    control: rtp::Any,
    start: Time,
    stop: Time,
    frames: u64,
    next_frame: Time,
    queue: VecDeque<Parcel>,
    /// The earliest sending of the next packet.
    paced: Time,
    sent: u32,
    /// Sent and not reported.
    flying: VecDeque<Parcel>,
    bytes: f64,
    most: f64,
    heard: Time,
    /// Frames whose packets are not all there: capture, packets missing.
    partial: BTreeMap<u64, (Time, u32)>,
    arrivals: VecDeque<Arrival>,
    /// Arrivals that the sender knows.
    known: u64,
    told: VecDeque<Told>,
    reports: u32,
    reported: u64,
    next_report: Time,
    wakeup: Time,
}

impl Source for Media {
    type Params = Params;

    fn new(params: Params, site: Site) -> Media {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        let frame = Span::from_secs_f64(1.0 / params.fps);
        let limits =
            Limits { min: params.min, max: params.max, start: params.initial, packet: params.size, frame };
        Media {
            control: params.control.build(limits),
            params,
            start: site.start,
            stop: site.stop,
            frames: 0,
            next_frame: wakeup,
            queue: VecDeque::new(),
            paced: Time::ZERO,
            sent: 0,
            flying: VecDeque::new(),
            bytes: 0.0,
            most: 0.0,
            heard: site.start,
            partial: BTreeMap::new(),
            arrivals: VecDeque::new(),
            known: 0,
            told: VecDeque::new(),
            reports: 0,
            reported: 0,
            next_report: Time::NEVER,
            wakeup,
        }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "media",
            kind: Kind::Datagrams,
            streams: Streams { starts: "start-media", shared: false, draws: "media" },
            packet: Some(self.params.size),
            pressing: None,
            live: None,
        }
    }

    fn listens(&self) -> bool {
        true
    }

    fn control(&self) -> Option<&'static str> {
        Some(self.params.control.name())
    }

    fn reports(&self) -> Reports {
        calls::REPORTS
    }

    fn demand(&self) -> Option<Demand> {
        let size = self.params.size.0 as f64;
        Some(Demand::new(self.params.max.as_f64() / (8.0 * size), size, f64::INFINITY))
    }

    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        match cue {
            Cue::Time if now < self.stop => self.work(now, rng, requests),
            Cue::Arrived { number, marked } => self.arrived(number, marked, now, requests),
            Cue::Answered { number } => self.answered(number, now, requests),
            Cue::Time | Cue::Delivered { .. } | Cue::Completed { .. } => {}
        }
        if now < self.stop {
            self.send(now, requests);
        }
        self.wake(now);
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

impl Media {
    /// Whatever is due by time.
    fn work(&mut self, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        if now >= self.next_frame {
            self.encode(now, rng, requests);
        }
        if now >= self.next_report {
            self.report(now, requests);
        }
        if !self.flying.is_empty() && now >= self.heard + SILENCE {
            let all = self.sent;
            self.settle(all, None, now, requests);
        }
    }

    /// The time of a frame.
    fn beat(&self, frame: u64) -> Time {
        self.start + Span::from_secs_f64(frame as f64 / self.params.fps)
    }

    fn encode(&mut self, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        let frame = self.frames;
        self.frames += 1;
        self.next_frame = self.beat(self.frames);
        let since = now.since(self.start);
        if self.params.pause > Span::ZERO && since >= self.params.pause && since < self.params.resume {
            return;
        }
        let size = self.frame(rng);
        let waits = self.queue.front().map_or(Span::ZERO, |parcel| now.since(parcel.at));
        requests.push(Request::Report(calls::TARGET.is(self.control.target(), now)));
        if waits > self.params.deadline {
            self.control.on_frame(0.0, waits);
            requests.push(Request::Report(calls::SKIPPED.is(1.0, now)));
            return;
        }
        let full = self.params.size.0 as f64;
        let packets = (size / full).ceil().max(1.0);
        let each = (size / packets).ceil().max(HEADERS + 1.0).min(full) as u64;
        self.partial.insert(frame, (now, packets as u32));
        for _ in 0..packets as u32 {
            self.queue.push_back(Parcel { frame, size: each, at: now, number: 0, there: false });
        }
        self.control.on_frame(each as f64 * packets, waits);
    }

    /// The size of the next frame on the wire.
    fn frame(&self, rng: &mut Rng) -> f64 {
        let even = self.control.target() / self.params.fps / 8.0;
        let apart = rng.exponential(1.0) * self.params.deviation;
        let sign = if rng.chance(0.5) { 1.0 } else { -1.0 };
        even * (1.0 + sign * apart.min(1.0))
    }

    fn send(&mut self, now: Time, requests: &mut Vec<Request>) {
        while now >= self.paced
            && let Some(parcel) = self.queue.front().copied()
        {
            let size = parcel.size as f64;
            if !self.flying.is_empty() && self.bytes + size > self.control.window() {
                return;
            }
            self.queue.pop_front();
            if self.flying.is_empty() {
                self.heard = now;
            }
            let number = self.sent;
            self.sent = self.sent.wrapping_add(1);
            self.flying.push_back(Parcel { at: now, number, ..parcel });
            self.bytes += size;
            self.most = self.most.max(self.bytes);
            self.paced = now + Span::from_secs_f64(8.0 * size / self.control.pace());
            let scalable = self.control.scalable();
            requests.push(Request::Numbered { size: Bytes(parcel.size), number, scalable });
        }
    }

    fn arrived(&mut self, number: u32, marked: bool, now: Time, requests: &mut Vec<Request>) {
        self.arrivals.push_back(Arrival { number, at: now, marked });
        if self.next_report == Time::NEVER {
            self.next_report = now + self.params.interval;
        }
        let Ok(place) = self.flying.binary_search_by_key(&number, |parcel| parcel.number) else { return };
        if std::mem::replace(&mut self.flying[place].there, true) {
            return;
        }
        let frame = self.flying[place].frame;
        let Some((captured, missing)) = self.partial.get_mut(&frame) else { return };
        *missing -= 1;
        if *missing > 0 {
            return;
        }
        let delay = now.since(*captured);
        self.partial.remove(&frame);
        requests.push(Request::Report(calls::FRAME.took(delay, now)));
        let late = if delay > self.params.deadline { 1.0 } else { 0.0 };
        requests.push(Request::Report(calls::LATE.is(late, now)));
    }

    /// The receiver reports what arrived since its last report.
    fn report(&mut self, now: Time, requests: &mut Vec<Request>) {
        let arrivals = self.known + self.arrivals.len() as u64;
        if arrivals == self.reported {
            self.next_report = Time::NEVER;
            return;
        }
        let size = REPORT + 2 * (arrivals - self.reported);
        let number = self.reports;
        self.reports = self.reports.wrapping_add(1);
        self.reported = arrivals;
        self.told.push_back(Told { number, arrivals, made: now });
        self.next_report = now + self.params.interval;
        requests.push(Request::Answer { size: Bytes(size.min(1500)), number });
    }

    /// A report reaches the sender: it knows all arrivals until the report was made.
    fn answered(&mut self, number: u32, now: Time, requests: &mut Vec<Request>) {
        let Some(place) = self.told.iter().position(|told| told.number == number) else { return };
        let Told { arrivals, made, .. } = self.told[place];
        self.told.drain(..=place);
        let fresh = arrivals.saturating_sub(self.known) as usize;
        let Some(last) = self.arrivals.iter().take(fresh).max_by_key(|arrival| arrival.number).copied()
        else {
            return;
        };
        let sent = self.flying.iter().find(|parcel| parcel.number == last.number).map(|parcel| parcel.at);
        let held = made.since(last.at);
        let rtt = sent.map(|sent| now.since(sent).saturating_sub(held));
        self.heard = now;
        self.settle(last.number + 1, Some((fresh, rtt)), now, requests);
    }

    /// The fate of all packets before a number is known: the first arrivals tell which of them arrived, and the others are lost.
    fn settle(
        &mut self,
        end: u32,
        told: Option<(usize, Option<Span>)>,
        now: Time,
        requests: &mut Vec<Request>,
    ) {
        let (fresh, rtt) = told.unwrap_or_default();
        self.known += fresh as u64;
        let arrived: BTreeMap<u32, Arrival> =
            self.arrivals.drain(..fresh).map(|arrival| (arrival.number, arrival)).collect();
        let mut packets = Vec::new();
        while let Some(parcel) = self.flying.pop_front_if(|parcel| parcel.number < end) {
            self.bytes -= parcel.size as f64;
            let arrival = arrived.get(&parcel.number);
            let lost = arrival.is_none();
            if lost && self.partial.remove(&parcel.frame).is_some() {
                requests.push(Request::Report(calls::BROKEN.is(1.0, now)));
            }
            requests.push(Request::Report(calls::REPORTED.is(1.0, now)));
            requests.push(Request::Report(calls::LOST.is(f64::from(u8::from(lost)), now)));
            packets.push(Outcome {
                size: parcel.size as f64,
                sent: parcel.at,
                arrived: arrival.map(|arrival| arrival.at),
                marked: arrival.is_some_and(|arrival| arrival.marked),
            });
        }
        let flying = self.most;
        self.most = self.bytes;
        self.control.on_feedback(&Seen { packets: &packets, rtt, flying }, now);
    }

    /// Sets the timer: the next frame, report, sending, or the end of patience, before the stop.
    fn wake(&mut self, now: Time) {
        let mut at = self.next_frame.min(self.next_report);
        let open = self.queue.front().is_some_and(|parcel| {
            self.flying.is_empty() || self.bytes + parcel.size as f64 <= self.control.window()
        });
        if open {
            at = at.min(self.paced);
        }
        if !self.flying.is_empty() {
            at = at.min(self.heard + SILENCE);
        }
        self.wakeup = if at < self.stop { at.max(now) } else { Time::NEVER };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Tallies;

    /// Ten seconds over a path of 50 ms each way that loses every `nth` packet: packets, reports, and what was counted.
    fn call(params: Params, nth: u32) -> (Vec<(Time, Bytes)>, u32, Tallies) {
        let stop = Time::ZERO + Span::from_secs(10);
        let mut media = Media::new(params, Site { start: Time::ZERO, stop, pairs: 1 });
        let (mut rng, mut requests, mut did) = (Rng::stream(1, "media", 0), Vec::new(), Tallies::default());
        let (mut sent, mut reports) = (Vec::new(), 0);
        let mut way: VecDeque<(Time, Cue)> = VecDeque::new();
        loop {
            let first = way.front().map_or(Time::NEVER, |(at, _)| *at);
            let now = media.next_wakeup().min(first);
            if now == Time::NEVER {
                return (sent, reports, did);
            }
            let cue =
                if now == first { way.pop_front().map_or(Cue::Time, |(_, cue)| cue) } else { Cue::Time };
            media.on(cue, now, &mut rng, &mut requests);
            for request in requests.drain(..) {
                let at = now + Span::from_millis(50);
                match request {
                    Request::Numbered { size, number, .. } => {
                        sent.push((now, size));
                        if number % nth != nth - 1 {
                            way.push_back((at, Cue::Arrived { number, marked: false }));
                        }
                    }
                    Request::Answer { number, .. } => {
                        reports += 1;
                        way.push_back((at, Cue::Answered { number }));
                    }
                    Request::Report(report) => did.add(&report),
                    _ => {}
                }
            }
        }
    }

    fn constant() -> Params {
        let rate = Rate(300_000);
        Params { min: rate, max: rate, initial: rate, deviation: 0.0, ..Params::default() }
    }

    #[test]
    fn frames_of_the_target_are_sent_and_reported() {
        let (sent, reports, did) = call(constant(), u32::MAX);
        // 300 kbit/s in 25 frames: 1500 bytes each, in two packets; 250 frames in ten seconds.
        assert!(sent.iter().all(|(_, size)| *size == Bytes(750)));
        assert_eq!(sent.len(), 500);
        assert!((190..=200).contains(&reports), "{reports}");
        assert_eq!((did.count(calls::FRAME), did.sum(calls::LATE), did.sum(calls::LOST)), (250, 0.0, 0.0));
        // The second packet leaves 750 bytes at 2.5 · 300 kbit/s later: 8 ms.
        assert!((did.seconds(calls::FRAME) / 250.0 - 0.058).abs() < 1e-6);
    }

    #[test]
    fn a_lost_packet_breaks_its_frame_and_counts_once() {
        let (_, _, did) = call(constant(), 10);
        // Every tenth packet of 500; the last tell nothing any more.
        assert!((48.0..=50.0).contains(&did.sum(calls::LOST)), "{}", did.sum(calls::LOST));
        assert_eq!(did.sum(calls::LOST), did.sum(calls::BROKEN));
    }

    #[test]
    fn nothing_is_sent_during_a_pause() {
        let pause = Params { pause: Span::from_secs(4), resume: Span::from_secs(6), ..constant() };
        let (sent, _, _) = call(pause, u32::MAX);
        let within = |(at, _): &&(Time, Bytes)| (4_100_000_000..6_000_000_000).contains(&at.0);
        assert_eq!(sent.iter().filter(within).count(), 0);
        assert_eq!(sent.len(), 400);
    }
}
