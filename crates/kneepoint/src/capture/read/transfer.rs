// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One direction of a connection: the signals that its sender could have observed, derived from a capture.
//!
//! ```text
//! RTT      time of an ACK − transmission of the newest packet that it or a new SACK block of it covers, both at the
//!          capture point; for retransmitted packets only if the timestamp echo identifies the transmission (Karn)
//! window   bytes outstanding before the ACK / MSS
//! one-way  receiver's timestamp × its tick − transmission, up to a constant
//! loss     transmission time of a packet that was retransmitted before any ACK covered it
//! ```
//!
//! Readings: a loss is dated by the lost transmission; it reached the queue then, or later by at most the delay of the path to it. Packets
//! retransmitted after a timeout count as lost unless SACK blocks covered them. The window is the data outstanding, which equals the congestion
//! window only where that limits the sender. A segment merged by a network card counts as the packets of one MSS that the wire carried. Packets and
//! losses are counted in the segments of the first transmission, however retransmissions cut or join them; probes of a closed window are neither. A
//! packet first seen after later ones was reordered if it came within half of the handshake's round trip, and lost before the capture otherwise.
//! Where most repairs are of that kind, the capture is behind the losses, and these count, dated by the packet that showed the hole.

use std::collections::BTreeMap;

use super::Segment;
use super::copies::Once;
use super::outstanding::{Outstanding, round_trip};
use super::probes::Window;
use super::sizes::{mss, packets_of};
use crate::predict::{Config, Judge, Laboratory, Sample, Score};
use crate::rng::Rng;
use crate::units::{Span, Time};

/// Position of the capture point on the path, from the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vantage {
    /// Round trip between here and the data sender.
    pub to_sender: Span,
    /// Round trip between here and the receiver.
    pub to_receiver: Span,
}

/// The part of the round trip that may lie before a point of capture that counts as the sender's.
const UNSEEN: f64 = 0.1;
/// The time that a host itself may take to answer.
const HOST: Span = Span::from_micros(200);

impl Vantage {
    /// The part of the round trip that lies before it.
    pub fn unseen(&self) -> f64 {
        self.to_sender.0 as f64 / (self.to_sender.0 + self.to_receiver.0).max(1) as f64
    }

    /// Whether it is at the data sender.
    pub fn is_at_sender(&self) -> bool {
        self.unseen() <= UNSEEN || self.to_sender <= HOST
    }

    /// The round trip to the sender, unless that is no longer than a host takes to answer.
    pub fn way_to_sender(&self) -> Span {
        if self.to_sender > HOST { self.to_sender } else { Span::ZERO }
    }

    /// Whether it is at the receiver.
    pub fn is_at_receiver(&self) -> bool {
        !self.is_at_sender() && self.unseen() >= 1.0 - UNSEEN
    }
}

/// The signals of one direction of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Round-trip samples, in order of time.
    pub samples: Vec<Sample>,
    /// Losses, in order of time.
    pub losses: Vec<Time>,
    /// Payload bytes.
    pub bytes: u64,
    /// Data packets, in the segments of the first transmission.
    pub packets: u64,
    /// Retransmissions of other sizes than the lost segments: parts of a segment, or several in one.
    pub resized: u64,
    /// Probes of a closed window or of an idle connection, which are not among the data packets.
    pub probes: u64,
    /// Spurious retransmissions.
    pub needless: u64,
    /// Packets first seen after later ones, later than reordering explains.
    pub holes: u64,
    /// Packets first seen after later ones, soon enough for reordering.
    pub reordered: u64,
    /// Whether losses show as these holes: the capture was taken downstream of the losses.
    pub behind: bool,
    /// Copies of packets, which were counted once.
    pub copies: u64,
    /// Packets at capture points that duplicate another point.
    pub set_aside: u64,
    /// From the first packet to the last.
    pub lasted: Span,
    /// Maximum segment size, in bytes.
    pub mss: u32,
    /// Capture point, if the handshake was captured.
    pub vantage: Option<Vantage>,
    /// Ticks per second of the receiver's timestamp clock, if one-way delays are known.
    pub clock: Option<f64>,
}

/// Usual timestamp clocks, in ticks per second.
const CLOCKS: [f64; 4] = [1000.0, 100.0, 250.0, 1e6];
/// Relative error up to which a measured clock counts as one of these.
const CLOCK_TOLERANCE: f64 = 0.05;

impl Transfer {
    pub(super) fn new(once: Once) -> Transfer {
        let Once { data, answers, copies, set_aside } = &once;
        let mut transfer = Transfer {
            samples: Vec::new(),
            losses: Vec::new(),
            bytes: 0,
            packets: 0,
            resized: 0,
            probes: 0,
            needless: 0,
            holes: 0,
            reordered: 0,
            behind: false,
            copies: *copies,
            set_aside: *set_aside,
            lasted: Span::ZERO,
            mss: mss(data, answers),
            vantage: vantage(data, answers),
            clock: clock(answers),
        };
        let mut passed: Vec<(&Segment, bool)> = data.iter().map(|segment| (segment, true)).collect();
        passed.extend(answers.iter().map(|segment| (segment, false)));
        passed.sort_by_key(|(segment, _)| (segment.at, segment.number));
        let begin = passed.first().map_or(Time::ZERO, |(segment, _)| segment.at);
        transfer.lasted = passed.last().map_or(Span::ZERO, |(segment, _)| segment.at.since(begin));
        let (mut out, mut window) = (Outstanding::default(), Window::default());
        let (mut transits, mut holes) = (Vec::new(), Vec::new());
        for (segment, is_data) in passed {
            if is_data {
                for packet in packets_of(segment, transfer.mss) {
                    holes.extend(transfer.send(&mut out, &window, &packet, begin));
                }
            } else {
                window.hear(segment);
                transits.extend(transfer.hear(&mut out, segment, begin));
            }
        }
        let (packets, bytes) = out.admitted;
        transfer.packets += packets;
        transfer.bytes += bytes;
        transfer.probes = transfer.probes.saturating_sub(packets);
        // A repair that only fills a hole was not lost here, wherever the handshake places the capture.
        transfer.behind = holes.len() > transfer.losses.len();
        if transfer.behind {
            transfer.losses.append(&mut holes);
        }
        transfer.losses.sort_unstable();
        transfer.add_transits(&transits);
        transfer
    }

    /// Processes a data packet; returns the time of a loss before the capture, if it repairs one.
    fn send(
        &mut self,
        out: &mut Outstanding,
        window: &Window,
        segment: &Segment,
        begin: Time,
    ) -> Option<Time> {
        if segment.syn {
            out.open(segment.seq);
        }
        if segment.payload == 0 {
            return None;
        }
        if window.is_probed(segment, out.edges(), self.mss) {
            self.probes += 1;
            out.probe(segment);
            return None;
        }
        let sent = out.send(segment);
        self.bytes += u64::from(segment.payload);
        self.packets += sent.segments;
        self.needless += u64::from(sent.needless);
        self.resized += u64::from(sent.resized);
        self.losses.extend(sent.lost.iter().map(|lost| Time(lost.since(begin).0)));
        match sent.hole? {
            since if segment.at.since(since) <= self.soon() => {
                self.reordered += 1;
                None
            }
            since => {
                self.holes += 1;
                Some(Time(since.since(begin).0))
            }
        }
    }

    /// The greatest lateness of a packet that was only reordered: no retransmission arrives within half a round trip.
    fn soon(&self) -> Span {
        self.vantage.map_or(Span::ZERO, |vantage| Span((vantage.to_sender.0 + vantage.to_receiver.0) / 2))
    }

    /// Processes an ACK; returns the one-way delay of its packet, up to a constant, if it gives a sample.
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
        // Without a clock the transit is not used.
        let (clock, (value, _)) = (self.clock.unwrap_or(1.0), segment.timestamps.unwrap_or_default());
        Some((f64::from(value) * 1e9 / clock) as i128 - i128::from(sent.0))
    }

    /// Shifts the transits so that the smallest is zero, and stores them as one-way delays.
    fn add_transits(&mut self, transits: &[i128]) {
        let least = transits.iter().min().copied().unwrap_or(0);
        if self.clock.is_some() {
            for (sample, transit) in self.samples.iter_mut().zip(transits) {
                sample.one_way = u64::try_from(transit - least).ok().map(Span);
            }
        }
    }

    /// Scores predictors on the samples against the flow's own losses.
    pub fn score(&self, configs: &[(String, Config)], hold_off: f64) -> Vec<Score> {
        self.score_at(&self.losses, configs, hold_off)
    }

    /// Scores predictors against the same losses at other times: all of them later by a random time, and those that come after the
    /// end at the beginning. A predictor's score on them is due to chance.
    pub fn score_by_chance(&self, rng: &mut Rng, configs: &[(String, Config)], hold_off: f64) -> Vec<Score> {
        let length = self.lasted.0.max(1);
        let later = rng.below(length);
        // Clocks of captures may be centuries apart.
        let shifted = |at: &Time| Time(((u128::from(at.0) + u128::from(later)) % u128::from(length)) as u64);
        let mut losses: Vec<Time> = self.losses.iter().map(shifted).collect();
        losses.sort_unstable();
        self.score_at(&losses, configs, hold_off)
    }

    fn score_at(&self, losses: &[Time], configs: &[(String, Config)], hold_off: f64) -> Vec<Score> {
        let mut laboratory = Laboratory::new(configs, hold_off, f64::INFINITY, 0);
        let mut losses = losses.iter().peekable();
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

/// From the times of SYN, SYN-ACK and the ACK after it at the capture point.
pub(super) fn vantage(data: &[Segment], answers: &[Segment]) -> Option<Vantage> {
    if let Some((to_receiver, to_sender)) = handshake(data, answers) {
        return Some(Vantage { to_receiver, to_sender });
    }
    let (to_sender, to_receiver) = handshake(answers, data)?;
    Some(Vantage { to_sender, to_receiver })
}

/// The round trips from the capture point to the side that accepts a connection and to the side that opens it.
fn handshake(opener: &[Segment], accepter: &[Segment]) -> Option<(Span, Span)> {
    let syn = opener.iter().find(|segment| segment.syn && segment.ack.is_none())?;
    let accepted = accepter.iter().find(|segment| segment.syn && segment.ack.is_some())?;
    // Where the ACK was lost before the capture, data that follow it at once say as much; later ones do not.
    let follows = |segment: &Segment| segment.payload == 0 || segment.seq == syn.seq.wrapping_add(1);
    let third = opener.iter().find(|one| !one.syn && one.at >= accepted.at).filter(|third| follows(third))?;
    let to_accepter = accepted.at.since(syn.at);
    let to_opener = third.at.since(accepted.at);
    // If the first flight was lost as well, the next packet comes after a timeout.
    let least =
        |handshake: Span, echoed: Option<Span>| echoed.map_or(handshake, |echoed| handshake.min(echoed));
    Some((least(to_accepter, echoed(accepter, opener)), least(to_opener, echoed(opener, accepter))))
}

/// The least time from a timestamp of one side at the capture point to its echo.
fn echoed(echoes: &[Segment], stamped: &[Segment]) -> Option<Span> {
    let mut first = BTreeMap::new();
    for segment in stamped.iter().filter(|segment| !segment.syn) {
        if let Some((value, _)) = segment.timestamps {
            first.entry(value).or_insert(segment.at);
        }
    }
    let since = |segment: &Segment| {
        // Zero echoes nothing (RFC 7323 §3.2).
        let at = first.get(&segment.timestamps.filter(|(_, echo)| *echo > 0)?.1)?;
        (segment.at >= *at).then(|| segment.at.since(*at))
    };
    echoes.iter().filter(|segment| !segment.syn).filter_map(since).min()
}

/// The usual timestamp clock that these segments match, if any.
fn clock(segments: &[Segment]) -> Option<f64> {
    let stamped = || segments.iter().filter_map(|segment| Some((segment.at, segment.timestamps?.0)));
    let ((begin, first), (end, last)) = (stamped().next()?, stamped().next_back()?);
    let seconds = end.since(begin).as_secs_f64();
    let measured = f64::from(last.wrapping_sub(first)) / seconds;
    // Below one second the tick limits the precision.
    usual_clock(measured).filter(|_| seconds > 1.0)
}

/// The usual clock frequency nearest to a measured one.
pub(super) fn usual_clock(measured: f64) -> Option<f64> {
    let near = |clock: &&f64| (measured / **clock - 1.0).abs() < CLOCK_TOLERANCE;
    CLOCKS.iter().find(near).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milli: u64) -> Segment {
        Segment { at: Span::from_millis(milli).after_start(), ack: Some(1), ..Segment::default() }
    }

    /// A handshake of 10 ms and 40 ms, and what the opener sent after it.
    fn round_trips(later: &[Segment], answers: &[Segment]) -> Option<(u64, u64)> {
        let syn = Segment { syn: true, ack: None, ..at(0) };
        let accepted = Segment { syn: true, ..at(10) };
        let (to_accepter, to_opener) =
            handshake(&[&[syn], later].concat(), &[&[accepted], answers].concat())?;
        Some((to_accepter.0 / 1_000_000, to_opener.0 / 1_000_000))
    }

    #[test]
    fn without_the_handshakes_ack_only_the_first_data_tell_the_round_trip() {
        let data = |seq: u32, milli: u64| Segment { seq, payload: 100, ..at(milli) };
        assert_eq!(round_trips(&[at(50), data(1, 50)], &[]), Some((10, 40)));
        assert_eq!(round_trips(&[data(1, 50)], &[]), Some((10, 40)));
        // The first flight was lost, too: a probe of its tail.
        assert_eq!(round_trips(&[data(901, 271)], &[]), None);
    }

    #[test]
    fn no_round_trip_is_longer_than_the_least_echo_takes() {
        let data = |stamps: (u32, u32), milli: u64| Segment {
            seq: 1,
            payload: 100,
            timestamps: Some(stamps),
            ..at(milli)
        };
        let answer = |stamps: (u32, u32), milli: u64| Segment { timestamps: Some(stamps), ..at(milli) };
        // A timeout repeats the first packet; its answer of 281 ms is echoed 41 ms later.
        let later = [data((7, 0), 271), data((9, 5), 322), data((9, 6), 340)];
        assert_eq!(round_trips(&later, &[answer((5, 7), 281), answer((6, 9), 290)]), Some((10, 41)));
    }
}
