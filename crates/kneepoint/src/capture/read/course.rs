// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The course of a transfer in segments: what its sender sent and heard, step by step, so that another sender can be led through it.
//!
//! ```text
//! segment      the bytes of a first transmission, at most one MSS; a retransmission is of every segment that it touches
//! at           capture time; acknowledgements later by the round trip between the capture and the sender, unless that is a host's own time;
//!              away from the sender, data earlier by the queue before the capture, if there are timestamps (`stamps`)
//! echo         when the transmission left whose timestamp an acknowledgement echoes; without timestamps, of the first segment that was
//!              not acknowledged before (RFC 7323 §4.3) the last transmission that is half of the least round trip old
//! ```

use std::collections::BTreeMap;

use super::Segment;
use super::copies::Once;
use super::guessed::add_blocks;
use super::sizes::{mss, packets_of};
use super::stamps::Stamps;
use super::transfer::{Vantage, vantage};
use crate::units::{Span, Time};

/// A step of a transfer, at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The time.
    pub at: Time,
    /// What happened.
    pub what: Happened,
}

/// What happened at a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It sent a segment, for the first time if that is one above all before.
    Sent(u32),
    /// An acknowledgement arrived.
    Heard {
        /// The first segment that the receiver does not have.
        una: u32,
        /// Segments that it has beyond that, as [first, end); empty ones last.
        blocks: [(u32, u32); 3],
        /// When the transmission left that it echoes.
        echo: Time,
    },
}

/// One direction of a connection as its sender saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Steps, in order of time, which begins with the first packet.
    pub steps: Vec<Step>,
    /// Bytes of a full segment.
    pub mss: u32,
    /// The round trip of the handshake and when it ended, if it was captured.
    pub opening: Option<(Time, Span)>,
    /// Whether the receiver sends blocks (RFC 2018); known only after a loss.
    pub selective: bool,
    /// Whether the blocks are guessed, because the capture lacks them.
    pub guessed: bool,
    /// Whether the capture has timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether the sender has a retransmission timeout: TCP's has one, and QUIC's has none (RFC 9002 §6.2).
    pub expires: bool,
    /// Whether it was captured away from the sender, and timestamps say when data left.
    pub dated: bool,
    /// Where it was captured, if the handshake was.
    pub vantage: Option<Vantage>,
    /// Windows that the sender logged, in packets, each after so many steps; none of a capture.
    pub windows: Vec<(usize, f64)>,
}

/// Segments by their bytes.
#[derive(Default)]
struct Numbers {
    /// Beginnings and ends, and the times of the first and the last transmission.
    segments: Vec<(u64, u64, Time, Time)>,
    una: u32,
    /// One above the last byte sent.
    high: u64,
    /// The latest transmission that was echoed.
    echo: Time,
}

impl Numbers {
    fn unwrapped(&self, seq: u32) -> u64 {
        self.high.saturating_add_signed(i64::from(seq.wrapping_sub(self.high as u32) as i32))
    }

    /// The first segment that ends behind a byte.
    fn ending_after(&self, byte: u64) -> u32 {
        self.segments.partition_point(|segment| segment.1 <= byte) as u32
    }

    /// The segments that a packet carries.
    fn send(&mut self, packet: &Segment, at: Time) -> std::ops::Range<u32> {
        if self.segments.is_empty() {
            self.high = (1 << 40) + u64::from(packet.seq);
        }
        let start = self.unwrapped(packet.seq);
        let end = start + u64::from(packet.payload);
        let first = self.ending_after(start).max(self.una);
        let known = self.segments.len() as u32;
        if end > self.high {
            let begin = start.max(self.high);
            // What was not captured was sent by now.
            if begin > self.high {
                self.segments.push((self.high, begin, at, at));
            }
            self.segments.push((begin, end, at, at));
            self.high = end;
        }
        let last = if end > start { self.ending_after(end - 1) + 1 } else { first };
        for segment in first..last.min(known) {
            self.segments[segment as usize].3 = at;
        }
        first..last.min(self.segments.len() as u32)
    }

    /// The first segment that an acknowledgement leaves open, and its blocks.
    fn hear(&self, answer: &Segment, ack: u32) -> (u32, [(u32, u32); 3]) {
        let una = self.ending_after(self.unwrapped(ack));
        let mut blocks = [(0, 0); 3];
        let told = answer.sack.into_iter().filter(|(left, right)| left != right);
        for (block, (left, right)) in blocks.iter_mut().zip(told) {
            let (left, right) = (self.unwrapped(left), self.unwrapped(right));
            let first = self.segments.partition_point(|segment| segment.0 < left) as u32;
            let end = self.ending_after(right);
            *block = if first < end { (first, end) } else { (0, 0) };
        }
        (una, blocks)
    }
}

/// Converts times of the capture to sender times that start with a tick of its clock, in which the first packet left.
struct Clock {
    begin: Time,
    /// From that tick to the first packet.
    past: Span,
    way: Span,
}

impl Clock {
    fn sent(&self, at: Time) -> Time {
        Time(at.since(self.begin).0) + self.past
    }
    /// Later than what was sent by the way to the sender and back.
    fn heard(&self, at: Time) -> Time {
        Time(self.sent(at).0.saturating_add(self.way.0))
    }
}

impl Course {
    pub(super) fn new(once: &Once) -> Course {
        let Once { data, answers, .. } = once;
        let mss = mss(data, answers);
        let vantage = vantage(data, answers);
        let begin = [data.first(), answers.first()].into_iter().flatten().map(|one| one.at).min();
        let way = vantage.map_or(Span::ZERO, |vantage| vantage.way_to_sender());
        let begin = begin.unwrap_or(Time::ZERO);
        let mut stamps = Stamps::of(data);
        let past = stamps.as_ref().map_or(Span::ZERO, |stamps| stamps.since_tick(begin));
        let clock = Clock { begin, past, way };
        let opening = vantage.and_then(|vantage| {
            let third = data.iter().find(|one| !one.syn)?;
            let rtt = Span(vantage.to_receiver.0.saturating_add(vantage.to_sender.0));
            Some((clock.sent(third.at), rtt))
        });
        let heard: Vec<(Time, &Segment, bool)> =
            answers.iter().map(|segment| (clock.heard(segment.at), segment, false)).collect();
        let away = vantage.is_some_and(|vantage| !vantage.is_at_sender());
        let dated = away && stamps.is_some();
        if let Some(stamps) = stamps.as_mut().filter(|_| away) {
            heard.iter().for_each(|(at, answer, _)| stamps.hear(answer, *at));
        }
        let mut sent = |segment: &Segment| {
            let at = clock.sent(segment.at);
            stamps.as_mut().filter(|_| away).map_or(at, |stamps| stamps.sent(segment, at))
        };
        let mut passed: Vec<(Time, &Segment, bool)> =
            data.iter().map(|segment| (sent(segment), segment, true)).collect();
        passed.extend(heard);
        // Of one instant in the order in which they were captured, if that was in one file.
        passed.sort_by_key(|(at, segment, _)| (*at, segment.number));
        let mut course = Course {
            steps: Vec::new(),
            mss,
            opening,
            selective: false,
            guessed: false,
            timestamps: false,
            expires: true,
            dated,
            vantage,
            windows: Vec::new(),
        };
        let (mut numbers, mut echoes, mut least) = (Numbers::default(), BTreeMap::new(), None);
        let mut before = Time::ZERO;
        for (at, segment, is_data) in passed {
            if is_data {
                let mut left = at;
                if let Some((value, _)) = segment.timestamps {
                    course.timestamps = true;
                    // A segment that was captured after the tick of its timestamp is dated back into that tick, but not before the step before. Otherwise
                    // its echo would seem older than the segment, and a candidate would take a retransmission for spurious (Eifel).
                    let stamped = stamps.as_ref().map_or(at, |stamps| stamps.in_tick(value, begin, at));
                    left = stamped.min(at).max(before);
                    // Of those in a tick the last: an echo is of a retransmission unless its timestamp is an older one (RFC 3522 §3.2).
                    echoes.insert(value, stamped.max(left));
                }
                course.send(&mut numbers, segment, left);
                before = left;
            } else if let Some(ack) = segment.ack.filter(|_| !segment.syn && !numbers.segments.is_empty()) {
                let echoed = segment.timestamps.and_then(|(_, echo)| echoes.get(&echo).copied());
                course.hear(&mut numbers, segment, (ack, at, echoed), &mut least);
                before = at;
            }
        }
        match !course.selective && answers.iter().any(|answer| answer.cut) {
            true => course.with_guessed_blocks(),
            false => course,
        }
    }

    /// The same with the blocks that acknowledgements had, as far as the order of transmissions says it.
    #[must_use]
    pub fn with_guessed_blocks(mut self) -> Course {
        add_blocks(&mut self.steps);
        (self.selective, self.guessed) = (true, true);
        self
    }

    /// Segments that were sent before the first acknowledgement of data.
    pub fn first_flight(&self) -> u32 {
        let sent = self.steps.iter().take_while(|step| matches!(step.what, Happened::Sent(_)));
        sent.count() as u32
    }

    fn send(&mut self, numbers: &mut Numbers, segment: &Segment, at: Time) {
        if segment.payload == 0 {
            return;
        }
        for packet in packets_of(segment, self.mss) {
            let sent = numbers.send(&packet, at).map(|number| Step { at, what: Happened::Sent(number) });
            self.steps.extend(sent);
        }
    }

    fn hear(
        &mut self,
        numbers: &mut Numbers,
        answer: &Segment,
        (ack, at, echoed): (u32, Time, Option<Time>),
        least: &mut Option<Span>,
    ) {
        let (una, blocks) = numbers.hear(answer, ack);
        if answer.payload > 0 && una <= numbers.una && blocks[0] == (0, 0) {
            // It carries data of the other direction, and is no duplicate.
            return;
        }
        self.selective |= blocks[0] != (0, 0);
        let oldest = numbers.segments.get(numbers.una as usize);
        let (first, last) = oldest.map_or((at, at), |segment| (segment.2, segment.3));
        if una > numbers.una && first == last {
            *least = Some(least.map_or(at.since(last), |known| known.min(at.since(last))));
        }
        // So soon after a retransmission it answers what was sent before.
        let likely = if least.is_some_and(|least| at.since(last).0 < least.0 / 2) { first } else { last };
        // Timestamps in order never go back on a path that keeps the order.
        numbers.echo = numbers.echo.max(likely);
        let echo = echoed.unwrap_or(numbers.echo);
        numbers.una = numbers.una.max(una);
        self.steps.push(Step { at, what: Happened::Heard { una, blocks, echo } });
    }
}
