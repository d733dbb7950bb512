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
//! continues at the time before. Where timestamps or numbers go back as well, the file is only unordered. A jump forward is a step if two
//! directions agree, or a single one for a jump of 10 s; its size is the least of their values. Otherwise the hosts were idle. Without
//! timestamps, a jump of 10 s is a step if data was outstanding and new data follows: a sender that waits so long retransmits. All packets
//! after a step are shifted by it.

use std::collections::BTreeMap;

use super::copies::{Point, Points};
use super::work::step;
use super::{Direction, Segment};
use crate::units::{Span, Time};

/// Packets of one interface may be disordered by less, as by several queues of a network card.
const BACK: i128 = 5_000_000;
const FORWARD: i128 = 1_000_000_000;
/// A jump forward that one direction alone distinguishes from a stall of the path.
const ALONE: i128 = 10_000_000_000;

/// Packets of a direction that are inspected on either side of a jump.
const NEAR: usize = 64;

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
    /// Whether the packets after it were moved by as much. If not, either the clock was set or the file is unordered; nothing distinguishes the two.
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
    /// The number of times that time went back by less than a jump.
    pub(super) setbacks: u64,
}

/// The evidence of one direction on a jump.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Vote {
    /// The step of the clock by its timestamps, in ns.
    Step(i128),
    /// The order of sending by its numbers: packets later in the file were sent later, or earlier.
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
        self.setbacks += u64::from((-BACK..0).contains(&jump.length()));
    }

    /// Moves the segments of a file that follow a step; returns the steps.
    pub(super) fn mend(&self, segments: &mut BTreeMap<Direction, Points>, file: u32) -> Vec<ClockStep> {
        if self.jumps.is_empty() {
            return Vec::new();
        }
        let mut by_interface: BTreeMap<u32, Vec<Jump>> = BTreeMap::new();
        self.jumps.iter().for_each(|jump| by_interface.entry(jump.interface).or_default().push(*jump));
        let mut places: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
        for (&direction, points) in segments.iter() {
            let own = points
                .keys()
                .filter(|point| point.file == file && by_interface.contains_key(&point.interface));
            own.for_each(|point| places.entry(point.interface).or_default().push((direction, *point)));
        }
        let mut steps = Vec::new();
        for (&interface, jumps) in &by_interface {
            let first = self.times.get(&interface).map_or(Time::ZERO, |(first, _)| *first);
            let places = places.remove(&interface).unwrap_or_default();
            let (own, moves) = Clock { file, first }.steps(segments, &places, jumps);
            steps.extend(own);
            for (direction, point) in places {
                let seen = segments.get_mut(&direction).and_then(|points| points.get_mut(&point));
                seen.into_iter().flatten().for_each(|segment| shift(segment, &moves));
            }
        }
        steps.sort_by_key(|step| step.packet);
        steps
    }
}

/// The positions of an interface's segments.
type Place = (Direction, Point);

/// The shift of the segments from a packet on, in ns.
type Move = (u64, i128);

/// The clock of an interface.
struct Clock {
    file: u32,
    /// The time of its first packet.
    first: Time,
}

impl Clock {
    /// The jumps that are steps.
    fn steps(
        &self,
        segments: &BTreeMap<Direction, Points>,
        places: &[Place],
        jumps: &[Jump],
    ) -> (Vec<ClockStep>, Vec<Move>) {
        let mut votes = vec![Vec::new(); jumps.len()];
        let seen = |(direction, point): &Place| segments.get(direction)?.get(point).map(Vec::as_slice);
        places.iter().filter_map(seen).for_each(|seen| vote(seen, jumps, &mut votes));
        let through = awaited(places.iter().filter_map(|place| Some((place.0, seen(place)?))), jumps);
        let (mut steps, mut moves): (Vec<ClockStep>, Vec<Move>) = (Vec::new(), Vec::new());
        for ((jump, cast), waited) in jumps.iter().zip(&votes).zip(through) {
            let stamped = cast.iter().any(|vote| matches!(vote, Vote::Step(_)));
            let by_data = || (!stamped && waited && jump.length() >= ALONE).then(|| Some(jump.length()));
            let Some(step) = decide(jump, cast).or_else(by_data) else { continue };
            let before = moves.last().map_or(0, |(_, moved)| *moved);
            steps.push(self.step(jump, step, before));
            moves.extend(step.map(|step| (jump.number, before + step)));
        }
        (steps, moves)
    }

    /// A step, where the time at the jump was `moved` before.
    fn step(&self, jump: &Jump, step: Option<i128>, moved: i128) -> ClockStep {
        let by = step.unwrap_or(jump.length());
        let nanos = |value: i128| Span(u64::try_from(value).unwrap_or(0));
        ClockStep {
            file: self.file,
            packet: jump.number,
            since: nanos(i128::from(jump.from.0) - moved - i128::from(self.first.0)),
            by: nanos(by.abs()),
            back: by < 0,
            mended: step.is_some(),
        }
    }
}

/// For each jump, whether data was outstanding through it, and new data follows instead of the retransmission after a timeout.
fn awaited<'s>(seen: impl Iterator<Item = (Direction, &'s [Segment])>, jumps: &[Jump]) -> Vec<bool> {
    let mut directions: BTreeMap<Direction, Vec<&Segment>> = BTreeMap::new();
    seen.for_each(|(direction, seen)| directions.entry(direction).or_default().extend(seen));
    directions.values_mut().for_each(|all| all.sort_by_key(|one| one.number));
    // The additional number of directions that waited through this jump, compared with the previous one.
    let mut more = vec![0_i64; jumps.len() + 1];
    for (&(from, to), data) in &directions {
        let answers = directions.get(&(to, from)).map_or(&[][..], Vec::as_slice);
        for (place, two) in data.windows(2).enumerate() {
            let passed = |number: u64| jumps.partition_point(|jump| jump.number <= number);
            let (mut next, end) = (passed(two[0].number), passed(two[1].number));
            let (before, after) = data.split_at(place + 1);
            // All jumps before the next answer are alike.
            while next < end {
                step();
                let heard = answers.partition_point(|answer| answer.number < jumps[next].number);
                let until = answers.get(heard).map_or(end, |answer| passed(answer.number).min(end));
                if is_outstanding(before, after, &answers[..heard]) {
                    more[next] += 1;
                    more[until] -= 1;
                }
                next = until;
            }
        }
    }
    let waiting = more.iter().scan(0, |sum, more| {
        *sum += more;
        Some(*sum > 0)
    });
    waiting.take(jumps.len()).collect()
}

/// Whether data sent before a jump was still unacknowledged, and new data follows.
fn is_outstanding(before: &[&Segment], after: &[&Segment], answers: &[&Segment]) -> bool {
    let data = |one: &&&Segment| one.payload > 0;
    let end = before.iter().rev().take(NEAR).find(data).map(|one| one.seq.wrapping_add(one.payload));
    let next = after.iter().take(NEAR).find(data).map(|one| one.seq);
    let ack = answers.iter().rev().take(NEAR).find_map(|one| one.ack);
    match (ack, end, next) {
        (Some(ack), Some(end), Some(next)) => ahead(ack, end) > 0 && ahead(end, next) >= 0,
        _ => false,
    }
}

fn shift(segment: &mut Segment, moves: &[(u64, i128)]) {
    let passed = moves.partition_point(|(number, _)| *number <= segment.number);
    if let Some((_, moved)) = passed.checked_sub(1).and_then(|last| moves.get(last)) {
        segment.at = Time(u64::try_from(i128::from(segment.at.0) - moved).unwrap_or(0));
    }
}

/// Adds the evidence of one direction on each jump.
fn vote(seen: &[Segment], jumps: &[Jump], votes: &mut [Vec<Vote>]) {
    let jumps_by = |segment: &Segment| jumps.partition_point(|jump| jump.number <= segment.number);
    let crossed = |two: &[Segment]| (jumps_by(&two[0]), jumps_by(&two[1]));
    let calm = seen.windows(2).filter(|two| crossed(two).0 == crossed(two).1);
    let rate = rate(calm);
    for (place, two) in seen.windows(2).enumerate() {
        let (before, after) = crossed(two);
        // A direction without packets between two jumps is not evidence of either.
        if after == before + 1 {
            votes[before].extend(opinion(seen, place + 1, rate));
        }
    }
}

/// The evidence of a direction on the jump before one of its packets.
fn opinion(seen: &[Segment], place: usize, rate: Option<f64>) -> Option<Vote> {
    let (before, after) = (&seen[place - 1], &seen[place]);
    let passed = elapsed(before, after);
    // A new connection may have another offset of its timestamps.
    let ticks = ticks(before, after).filter(|_| !after.syn);
    if let (Some(ticks), Some(rate)) = (ticks, rate) {
        return Some(Vote::Step(passed - (f64::from(ticks) / rate * 1e9) as i128));
    }
    let (from, to) = (place.saturating_sub(NEAR), (place + NEAR).min(seen.len()));
    let progress = progress(&seen[from..place], &seen[place..to])?;
    (!after.syn || progress < 0).then_some(Vote::Later(passed < 0 && progress > 0))
}

/// The lead of the second packets' numbers over the first's, by their acknowledgements or else their data.
fn progress(before: &[Segment], after: &[Segment]) -> Option<i32> {
    let furthest =
        |seen: &[Segment], number: fn(&Segment) -> Option<u32>| seen.iter().filter_map(number).reduce(later);
    let numbers: [fn(&Segment) -> Option<u32>; 2] = [|one| one.ack, |one| Some(one.seq)];
    let ahead = |number| Some(ahead(furthest(before, number)?, furthest(after, number)?));
    numbers.into_iter().filter_map(ahead).find(|ahead| *ahead != 0)
}

/// The distance by which the second number is ahead of the first.
fn ahead(one: u32, two: u32) -> i32 {
    two.wrapping_sub(one) as i32
}

fn later(one: u32, two: u32) -> u32 {
    if ahead(one, two) > 0 { two } else { one }
}

fn elapsed(before: &Segment, after: &Segment) -> i128 {
    i128::from(after.at.0) - i128::from(before.at.0)
}

/// The advance of a host's timestamps.
fn ticks(before: &Segment, after: &Segment) -> Option<i32> {
    Some(after.timestamps?.0.wrapping_sub(before.timestamps?.0) as i32)
}

/// Ticks per second of a host's timestamps, where they were seen for long enough.
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

/// The step of the clock; none if it was not set, and an unknown amount without evidence.
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
        // The least advance of time.
        return (*middle < -BACK).then(|| Some((*middle).min(length)));
    }
    let later = votes.iter().filter(|vote| **vote == Vote::Later(true)).count();
    match 2 * later {
        _ if votes.is_empty() => Some(None),
        double if double > votes.len() => Some(Some(length)),
        _ => None,
    }
}
