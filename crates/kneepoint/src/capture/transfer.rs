// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One direction of a connection: what its sender could have known, from what passed somewhere.
//!
//! ```text
//! RTT      acknowledgement − transmission of the newest packet that it, or a new SACK range of it, covers, both as they
//!          pass here; of a packet sent twice only if the echoed timestamp tells which (Karn)
//! window   bytes outstanding before the acknowledgement / MSS
//! one-way  receiver's timestamp · its tick − transmission, up to a constant
//! loss     at a transmission that was sent again before anything said that it had arrived
//! ```
//!
//! Readings: a loss has the time of the transmission that was lost, for that is when it met the queue, up to the way
//! there. Packets sent again all the same after a timeout count as lost unless selective acknowledgements had named them. The
//! window is what is outstanding, which is the congestion window only where that is what limits the sender.

use std::collections::BTreeMap;

use super::Segment;
use super::outstanding::{Outstanding, Seen, round_trip};
use crate::predict::{Config, Judge, Laboratory, Sample, Score};
use crate::units::{Span, Time};

/// Where on the path a capture was taken, by the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vantage {
    /// The round trip from here to the sender of the data.
    pub to_sender: Span,
    /// The round trip from here to its receiver.
    pub to_receiver: Span,
}

/// What a sender could have known.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Round trips, in order.
    pub samples: Vec<Sample>,
    /// Losses, in order.
    pub losses: Vec<Time>,
    /// Data packets.
    pub packets: u64,
    /// Those sent again although they had arrived.
    pub needless: u64,
    /// Those that came after later ones without having been seen before.
    pub holes: u64,
    /// Bytes in a full segment.
    pub mss: u32,
    /// Where this was captured, if the handshake was.
    pub vantage: Option<Vantage>,
    /// Ticks per second of the receiver's timestamps, where one-way times are known.
    pub clock: Option<f64>,
}

/// Ticks per second that hosts use.
const CLOCKS: [f64; 4] = [1000.0, 100.0, 250.0, 1e6];
/// By how much a clock may seem to differ from one of those.
const CLOCK_TOLERANCE: f64 = 0.05;

impl Transfer {
    pub(super) fn new(data: &[Segment], answers: &[Segment]) -> Transfer {
        let mut transfer = Transfer {
            samples: Vec::new(),
            losses: Vec::new(),
            packets: 0,
            needless: 0,
            holes: 0,
            mss: mss(data, answers),
            vantage: vantage(data, answers),
            clock: clock(answers),
        };
        let mut passed: Vec<(&Segment, bool)> = data.iter().map(|segment| (segment, true)).collect();
        passed.extend(answers.iter().map(|segment| (segment, false)));
        passed.sort_by_key(|(segment, _)| segment.at);
        let begin = passed.first().map_or(Time::ZERO, |(segment, _)| segment.at);
        let (mut out, mut transits) = (Outstanding::default(), Vec::new());
        for (segment, is_data) in passed {
            if is_data {
                transfer.send(&mut out, segment, begin);
            } else {
                transits.extend(transfer.hear(&mut out, segment, begin));
            }
        }
        transfer.losses.sort_unstable();
        transfer.add_transits(&transits);
        transfer
    }

    fn send(&mut self, out: &mut Outstanding, segment: &Segment, begin: Time) {
        if segment.syn {
            out.open(segment.seq);
        }
        if segment.payload == 0 {
            return;
        }
        self.packets += 1;
        match out.send(segment) {
            Seen::New => {}
            Seen::Lost(sent) => self.losses.push(Time(sent.since(begin).0)),
            Seen::Needless => self.needless += 1,
            Seen::Hole => self.holes += 1,
        }
    }

    /// Takes in an acknowledgement; how long its packet was on its way, up to a constant, if it made a sample.
    fn hear(&mut self, out: &mut Outstanding, segment: &Segment, begin: Time) -> Option<i128> {
        let told = out.hear(segment);
        let sent = told.sent?;
        let rtt = round_trip(segment.at, sent)?;
        let mss = f64::from(self.mss.max(1));
        self.samples.push(Sample {
            now: Time(segment.at.since(begin).0),
            rtt,
            window: (told.flight as f64 / mss).max(1.0),
            one_way: None,
            acked: libm::ceil(told.acked as f64 / mss) as u32,
        });
        // Without a clock, a transit nobody will ask for.
        let (clock, (value, _)) = (self.clock.unwrap_or(1.0), segment.timestamps.unwrap_or_default());
        Some((f64::from(value) * 1e9 / clock) as i128 - i128::from(sent.0))
    }

    /// The least transit becomes zero.
    fn add_transits(&mut self, transits: &[i128]) {
        let least = transits.iter().min().copied().unwrap_or(0);
        if self.clock.is_some() {
            for (sample, transit) in self.samples.iter_mut().zip(transits) {
                sample.one_way = u64::try_from(transit - least).ok().map(Span);
            }
        }
    }

    /// What predictors would have been worth, held against the flow's own losses.
    pub fn score(&self, configs: &[(String, Config)], hold_off: f64) -> Vec<Score> {
        let mut laboratory = Laboratory::new(configs, hold_off, f64::INFINITY, 0);
        let mut losses = self.losses.iter().peekable();
        for sample in &self.samples {
            while let Some(&at) = losses.next_if(|at| **at < sample.now) {
                laboratory.lose(at, Judge::Flow);
            }
            laboratory.observe(sample);
        }
        losses.for_each(|&at| laboratory.lose(at, Judge::Flow));
        laboratory.finish().into_iter().filter(|score| score.judged_by == Judge::Flow).collect()
    }
}

/// The least that both ends announced, without the room for timestamps; else the most frequent payload.
fn mss(data: &[Segment], answers: &[Segment]) -> u32 {
    let opening = data.iter().chain(answers).filter(|segment| segment.syn);
    let announced = opening.filter_map(|segment| segment.mss).min().map(u32::from);
    let stamped = data.iter().any(|segment| !segment.syn && segment.timestamps.is_some());
    if let Some(mss) = announced.filter(|mss| *mss > 12) {
        return if stamped { mss - 12 } else { mss };
    }
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for segment in data.iter().filter(|segment| segment.payload > 0) {
        *counts.entry(segment.payload).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(1, |(payload, _)| payload)
}

/// SYN, its answer, and the answer to that, each as it passes.
fn vantage(data: &[Segment], answers: &[Segment]) -> Option<Vantage> {
    let opened = |segments: &[Segment], accepts: bool| {
        segments
            .iter()
            .find(|segment| segment.syn && segment.ack.is_some() == accepts)
            .map(|segment| segment.at)
    };
    let after = |segments: &[Segment], at: Time| {
        segments.iter().find(|segment| !segment.syn && segment.at >= at).map(|segment| segment.at)
    };
    if let (Some(syn), Some(accepted)) = (opened(data, false), opened(answers, true)) {
        let third = after(data, accepted)?;
        return Some(Vantage { to_receiver: accepted.since(syn), to_sender: third.since(accepted) });
    }
    let (syn, accepted) = (opened(answers, false)?, opened(data, true)?);
    let third = after(answers, accepted)?;
    Some(Vantage { to_sender: accepted.since(syn), to_receiver: third.since(accepted) })
}

/// Ticks per second of the timestamps in these segments, if they are near what hosts use.
fn clock(segments: &[Segment]) -> Option<f64> {
    let stamped = || segments.iter().filter_map(|segment| Some((segment.at, segment.timestamps?.0)));
    let ((begin, first), (end, last)) = (stamped().next()?, stamped().next_back()?);
    let seconds = end.since(begin).as_secs_f64();
    let measured = f64::from(last.wrapping_sub(first)) / seconds;
    let near = |clock: &&f64| (measured / **clock - 1.0).abs() < CLOCK_TOLERANCE;
    // In less than a second the tick itself is what blurs it.
    CLOCKS.iter().find(near).copied().filter(|_| seconds > 1.0)
}
