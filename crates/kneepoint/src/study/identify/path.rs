// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The path, as a capture shows it.
//!
//! ```text
//! base RTT   the smallest round trip of a segment that was sent once, a second after any retransmission; nearer to them where no second has none
//! rate       the greatest rate of arrivals, in order or not, over ten base round trips, which a standing queue keeps up
//! buffer     what the greatest round trips before losses have beyond the base, at that rate:  (RTT − base) · rate
//! host       segments before the first acknowledgement; packets that an acknowledgement answers
//! ```

use std::collections::BTreeSet;

use crate::capture::{Course, Happened};
use crate::units::{PacketRate, Span, Time};

/// Base round trips over which a rate is taken.
const OVER: u64 = 10;
/// After a retransmission, round trips do not count for so long: a repair that fills a hole acknowledges what arrived before.
const CALM: Span = Span::from_secs(1);
/// Losses so close, in base round trips, are one episode.
const TOGETHER: u64 = 2;

/// A path and its hosts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The smallest round trip.
    pub base: Span,
    /// Packets per second that arrive while a queue stands.
    pub rate: PacketRate,
    /// Packets that the queue holds when one is lost; none where nothing was lost.
    pub buffer: Option<f64>,
    /// Segments in the first flight.
    pub first_flight: u32,
    /// Whether the receiver answers every second packet, or fewer.
    pub delays: bool,
    /// Retransmissions.
    pub resent: u64,
    /// Episodes of loss.
    pub episodes: u32,
    /// From the first packet to the last.
    pub lasted: Span,
}

/// An acknowledgement in order: when, what, and the round trip of the newest segment if it was sent once.
struct Progress {
    at: Time,
    una: u32,
    rtt: Option<Span>,
}

/// The sent segments and the progress of a course.
#[derive(Default)]
struct Seen {
    /// When each segment was sent first, and whether once only.
    sent: Vec<(Time, bool)>,
    progress: Vec<Progress>,
    /// Segments that the receiver was known to have, in order or not, at each acknowledgement.
    arrived: Vec<(Time, u32)>,
    /// Those above the first that it lacks.
    held: BTreeSet<u32>,
    /// When segments were retransmitted.
    again: Vec<Time>,
    /// How long ago the last of them has to be for a round trip.
    calm: Span,
}

impl Seen {
    /// What is seen of round trips that are so long after retransmissions.
    fn of(course: &Course, calm: Span) -> Seen {
        let mut seen = Seen { calm, ..Seen::default() };
        for step in &course.steps {
            match step.what {
                Happened::Sent(segment) => match seen.sent.get_mut(segment as usize) {
                    Some((_, once)) => {
                        *once = false;
                        seen.again.push(step.at);
                    }
                    None => seen.sent.push((step.at, true)),
                },
                Happened::Heard { una, blocks, .. } => {
                    seen.hear(step.at, una);
                    seen.arrive(step.at, una, blocks);
                }
            }
        }
        seen
    }

    fn arrive(&mut self, at: Time, una: u32, blocks: [(u32, u32); 3]) {
        let una = una.max(self.progress.last().map_or(0, |last| last.una));
        self.held.extend(blocks.into_iter().flat_map(|(first, end)| first..end));
        self.held = self.held.split_off(&una);
        self.arrived.push((at, una + self.held.len() as u32));
    }

    fn hear(&mut self, at: Time, una: u32) {
        if una <= self.progress.last().map_or(0, |last| last.una) {
            return;
        }
        // What fills a hole says nothing of the newest segment below it.
        let newest = una - 1;
        let fills = self.held.contains(&newest) || !self.is_calm(at);
        let newest = self.sent.get(newest as usize).filter(|(_, once)| *once && !fills);
        let rtt = newest.map(|(sent, _)| at.since(*sent)).filter(|rtt| *rtt > Span::ZERO);
        self.progress.push(Progress { at, una, rtt });
    }

    /// Whether nothing was retransmitted lately.
    fn is_calm(&self, at: Time) -> bool {
        self.again.last().is_none_or(|last| at.since(*last) > self.calm)
    }

    fn base(&self) -> Option<Span> {
        self.progress.iter().filter_map(|one| one.rtt).min()
    }

    fn rate(&self, base: Span) -> PacketRate {
        let span = Span(base.0 * OVER);
        let (mut most, mut first) = (0.0_f64, 0);
        for (place, (at, packets)) in self.arrived.iter().enumerate() {
            while at.since(self.arrived[first].0) > span {
                first += 1;
            }
            let (from, before) = self.arrived[first];
            let seconds = at.since(from).as_secs_f64();
            // A short interval at the beginning tells of a burst.
            if place > first && 2.0 * seconds > span.as_secs_f64() {
                most = most.max(f64::from(packets.saturating_sub(before)) / seconds);
            }
        }
        PacketRate(most)
    }

    /// The times of the first retransmission of each episode.
    fn episodes(&self, base: Span) -> Vec<Time> {
        let mut began: Vec<Time> = Vec::new();
        let mut last: Option<Time> = None;
        for at in &self.again {
            if last.is_none_or(|last| at.since(last) > Span(base.0 * TOGETHER)) {
                began.push(*at);
            }
            last = Some(*at);
        }
        began
    }

    /// The median over the episodes of the last round trip before each.
    fn buffer(&self, episodes: &[Time], base: Span, rate: PacketRate) -> Option<f64> {
        let before = |at: &Time| {
            let known = self.progress.partition_point(|one| one.at <= *at);
            self.progress[..known].iter().rev().find_map(|one| one.rtt)
        };
        let mut queues: Vec<Span> =
            episodes.iter().filter_map(before).map(|rtt| rtt.saturating_sub(base)).collect();
        queues.sort_unstable();
        let median = queues.get(queues.len() / 2)?;
        Some((median.as_secs_f64() * rate.0).max(1.0))
    }

    /// Whether most acknowledgements in order answer more than one packet.
    fn delays(&self) -> bool {
        let steps = self.progress.windows(2).map(|pair| pair[1].una - pair[0].una);
        let (more, all) = steps.fold((0, 0), |(more, all), step| (more + u32::from(step > 1), all + 1));
        2 * more > all
    }
}

impl Path {
    /// The path of a transfer; none without a round trip.
    pub fn of(course: &Course) -> Option<Path> {
        let measured = |calm| {
            let seen = Seen::of(course, calm);
            seen.base().map(|base| (seen, base))
        };
        let (seen, base) = measured(CALM).or_else(|| measured(Span::ZERO))?;
        let rate = seen.rate(base);
        let episodes = seen.episodes(base);
        let (first, last) = (course.steps.first()?, course.steps.last()?);
        Some(Path {
            base,
            rate,
            buffer: seen.buffer(&episodes, base, rate),
            first_flight: course.first_flight(),
            delays: seen.delays(),
            resent: seen.again.len() as u64,
            episodes: episodes.len() as u32,
            lasted: last.at.since(first.at),
        })
    }

    /// Packets that the path holds without a queue.
    pub fn bdp(&self) -> f64 {
        self.rate.0 * self.base.as_secs_f64()
    }
}
