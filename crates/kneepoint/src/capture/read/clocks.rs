// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Clocks that were set while they captured.
//!
//! ```text
//! jump     two packets in a row at one interface whose times go back by more than 5 ms, or forward by more than 1 s
//! elapsed  Δ of a host's TCP timestamps ÷ the rate of their clock, between its packets before and after the jump
//! step     Δ of the capture's clock − elapsed
//! ```
//!
//! A jump back is a step by the median over the hosts; where they have no timestamps and their numbers advance, the time after the jump
//! continues at the time before. Where timestamps or numbers go back as well, the file is only unordered. A jump forward is a step if
//! two directions say so, or one for a jump of 10 s, and by the least that one of them says: otherwise the hosts were idle. All packets
//! after a step are moved by it.

use std::collections::BTreeMap;

use super::copies::Points;
use super::{Direction, Segment};
use crate::units::{Span, Time};

/// Packets of one interface may be disordered by less, as by several queues of a network card.
const BACK: i128 = 5_000_000;
const FORWARD: i128 = 1_000_000_000;
/// A jump forward that one direction alone can tell from a stall of the path.
const ALONE: i128 = 10_000_000_000;

/// A clock that was set during a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStep {
    /// Place of the file in the order of reading, from 1.
    pub file: u32,
    /// The first packet after it, from 1.
    pub packet: u64,
    /// Time from the first packet of the interface.
    pub since: Span,
    /// By how much.
    pub by: Span,
    /// Whether it was set back.
    pub back: bool,
    /// Whether the packets after it were moved by as much. If not, nothing says whether the clock was set or the file is unordered.
    pub mended: bool,
}

/// A jump of the time from one packet to the next.
#[derive(Clone, Copy, Debug)]
struct Jump {
    interface: u32,
    number: u64,
    from: Time,
    to: Time,
}

impl Jump {
    fn length(&self) -> i128 {
        i128::from(self.to.0) - i128::from(self.from.0)
    }
}

/// The times of the packets of one file.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// The first and the last time of each interface.
    times: BTreeMap<u32, (Time, Time)>,
    jumps: Vec<Jump>,
}

/// What one direction says of a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Vote {
    /// By its timestamps, how far the clock was set, in ns.
    Step(i128),
    /// By its numbers, what is later in the file was sent later, or earlier.
    Later(bool),
}

impl Clocks {
    /// Notes the time of a packet.
    pub(super) fn note(&mut self, interface: u32, number: u64, at: Time) {
        let (_, last) = self.times.entry(interface).or_insert((at, at));
        let jump = Jump { interface, number, from: *last, to: at };
        *last = at;
        if jump.length() < -BACK || jump.length() > FORWARD {
            self.jumps.push(jump);
        }
    }

    /// Moves the segments of a file that follow a step; returns the steps.
    pub(super) fn mend(&self, segments: &mut BTreeMap<Direction, Points>, file: u32) -> Vec<ClockStep> {
        if self.jumps.is_empty() {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (&interface, &(first, _)) in &self.times {
            let jumps: Vec<Jump> =
                self.jumps.iter().copied().filter(|one| one.interface == interface).collect();
            let own = || {
                segments
                    .values()
                    .flatten()
                    .filter(|(point, _)| (point.file, point.interface) == (file, interface))
            };
            let mut votes = vec![Vec::new(); jumps.len()];
            own().for_each(|(_, seen)| vote(seen, &jumps, &mut votes));
            let mut moves: Vec<(u64, i128)> = Vec::new();
            for (jump, votes) in jumps.iter().zip(&votes) {
                let Some(step) = decide(jump, votes) else { continue };
                let before = moves.last().map_or(0, |(_, moved)| *moved);
                let since = i128::from(jump.from.0) - before - i128::from(first.0);
                let by = step.unwrap_or(jump.length());
                let nanos = |value: i128| Span(u64::try_from(value).unwrap_or(0));
                let (packet, back, mended) = (jump.number, by < 0, step.is_some());
                steps.push(ClockStep {
                    file,
                    packet,
                    since: nanos(since),
                    by: nanos(by.abs()),
                    back,
                    mended,
                });
                moves.extend(step.map(|step| (jump.number, before + step)));
            }
            let seen = segments.values_mut().flatten();
            let seen = seen.filter(|(point, _)| (point.file, point.interface) == (file, interface));
            seen.flat_map(|(_, seen)| seen).for_each(|segment| shift(segment, &moves));
        }
        steps.sort_by_key(|step| step.packet);
        steps
    }
}

fn shift(segment: &mut Segment, moves: &[(u64, i128)]) {
    let passed = moves.partition_point(|(number, _)| *number <= segment.number);
    if let Some((_, moved)) = passed.checked_sub(1).and_then(|last| moves.get(last)) {
        segment.at = Time(u64::try_from(i128::from(segment.at.0) - moved).unwrap_or(0));
    }
}

/// Adds what one direction says of each jump.
fn vote(seen: &[Segment], jumps: &[Jump], votes: &mut [Vec<Vote>]) {
    let jumps_by = |segment: &Segment| jumps.partition_point(|jump| jump.number <= segment.number);
    let crossed = |two: &[Segment]| (jumps_by(&two[0]), jumps_by(&two[1]));
    let calm = seen.windows(2).filter(|two| crossed(two).0 == crossed(two).1);
    let rate = rate(calm);
    for two in seen.windows(2) {
        let (before, after) = crossed(two);
        // Of several jumps at once a direction can say nothing.
        if after == before + 1 && !two[1].syn {
            votes[before].extend(opinion(&two[0], &two[1], rate));
        }
    }
}

fn opinion(before: &Segment, after: &Segment, rate: Option<f64>) -> Option<Vote> {
    let passed = elapsed(before, after);
    let ticks = ticks(before, after);
    if let (Some(ticks), Some(rate)) = (ticks, rate) {
        return Some(Vote::Step(passed - (f64::from(ticks) / rate * 1e9) as i128));
    }
    let ahead = |one: u32, two: u32| two.wrapping_sub(one) as i32;
    let acknowledged = before.ack.zip(after.ack).map_or(0, |(one, two)| ahead(one, two));
    let progress = [ticks.unwrap_or(0), acknowledged, ahead(before.seq, after.seq)];
    let progress = progress.into_iter().find(|ahead| *ahead != 0)?;
    Some(Vote::Later(passed < 0 && progress > 0))
}

fn elapsed(before: &Segment, after: &Segment) -> i128 {
    i128::from(after.at.0) - i128::from(before.at.0)
}

/// By how much the timestamps of a host advanced.
fn ticks(before: &Segment, after: &Segment) -> Option<i32> {
    Some(after.timestamps?.0.wrapping_sub(before.timestamps?.0) as i32)
}

/// Ticks per second of a host's timestamps, where they are known for long enough.
fn rate<'a>(pairs: impl Iterator<Item = &'a [Segment]>) -> Option<f64> {
    let (mut nanos, mut advanced) = (0_i128, 0_i64);
    for two in pairs {
        let Some(ticks) = ticks(&two[0], &two[1]) else { continue };
        nanos += elapsed(&two[0], &two[1]);
        advanced += i64::from(ticks);
    }
    let measured = advanced as f64 * 1e9 / nanos as f64;
    (nanos > 100_000_000 && advanced >= 20)
        .then(|| super::transfer::usual_clock(measured).unwrap_or(measured))
}

/// By how much the clock was set; nothing if it was not, and an unknown amount if nothing says.
fn decide(jump: &Jump, votes: &[Vote]) -> Option<Option<i128>> {
    let mut steps: Vec<i128> = votes
        .iter()
        .filter_map(|vote| if let Vote::Step(step) = vote { Some(*step) } else { None })
        .collect();
    steps.sort_unstable();
    let length = jump.length();
    if length > 0 {
        let least = *steps.first()?;
        let enough = steps.len() > 1 || length > ALONE;
        return (enough && least > length / 2).then(|| Some(least.min(length)));
    }
    if let Some(middle) = steps.get(steps.len() / 2) {
        // The time goes on at least.
        return (*middle < -BACK).then(|| Some((*middle).min(length)));
    }
    let later = votes.iter().filter(|vote| **vote == Vote::Later(true)).count();
    match 2 * later {
        _ if votes.is_empty() => Some(None),
        double if double > votes.len() => Some(Some(length)),
        _ => None,
    }
}
