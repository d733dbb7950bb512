// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Copies: packets that were captured more than once.
//!
//! A file of all interfaces of a forwarder has each packet twice, and so have the files of both ends of a path, and that of a
//! mirror port that copies both directions of a switch's port. Counted twice, they are retransmissions that never happened.
//!
//! ```text
//! at one point    the same sequence number, length, acknowledgement, flags, timestamps, SACK blocks and IP identification, within
//!                 1 s; within 1 ms where there are neither an identification nor timestamps
//!                 bytes that were sent with the same timestamp, in packets of other sizes: network cards put packets together
//!                 and take them apart, and number the parts from the identification of the whole
//! at two points   more than half of the packets at one of them also passed the other
//! ```
//!
//! A sender gives a retransmission another identification, and a later timestamp wherever it comes a tick of the clock
//! later. A point of capture is an interface of a file; on Linux's "any", the frame's header names it. Of two points
//! with the same data the one with more of it is taken: packets lost between them passed only the first. Points with
//! different parts, as in a bond, are put together. Resets contain no data of a transfer and are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::Segment;
use super::ranges::Ranges;
use crate::units::Span;

/// The place where packets were captured: the file, the interface in it, and the place on a host with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub file: u32,
    pub interface: u32,
    /// The interface of a host, times two, and whether the host sent.
    pub place: u32,
}

impl Point {
    /// The interface, in either direction.
    fn interface(self) -> (u32, u32, u32) {
        (self.file, self.interface, self.place >> 1)
    }
}

/// Segments of a direction by point of capture.
pub(super) type Points = BTreeMap<Point, Vec<Segment>>;

/// A direction and its acknowledgements, each packet once, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Once {
    pub data: Vec<Segment>,
    pub answers: Vec<Segment>,
    /// Copies at one point.
    pub copies: u64,
    /// Packets at points that repeat another point's packets.
    pub set_aside: u64,
}

impl Once {
    pub(super) fn of(data: &Points, answers: &Points) -> Once {
        let mut once = Once::default();
        let sent = once.cleared(data);
        let taken = chosen(sent, extents);
        let heard = once.cleared(answers);
        // Acknowledgements from the capture point of the data, if it has any.
        let near: BTreeSet<_> = taken.iter().map(|(own, _)| own.interface()).collect();
        let (close, far): (Vec<_>, Vec<_>) =
            heard.into_iter().partition(|(point, _)| near.contains(&point.interface()));
        let candidates = if close.is_empty() { far } else { close };
        let numbers =
            |segments: &[Segment]| Ranges::of(segments.iter().filter_map(|one| Some((one.ack?, 1))));
        let answered = chosen(candidates, numbers);
        once.data = merged(taken);
        once.answers = merged(answered);
        let all =
            [data, answers].into_iter().flat_map(Points::values).flatten().filter(|one| tells(one)).count();
        let used = once.data.len() + once.answers.len();
        once.set_aside = (all - used) as u64 - once.copies;
        once
    }

    /// The segments of each point without copies.
    fn cleared(&mut self, points: &Points) -> Vec<(Point, Vec<Segment>)> {
        let mut clear = |(point, segments): (&Point, &Vec<Segment>)| {
            let telling: Vec<&Segment> = segments.iter().filter(|one| tells(one)).collect();
            let all = telling.len();
            let kept = distinct(telling);
            self.copies += (all - kept.len()) as u64;
            (*point, kept)
        };
        points.iter().map(&mut clear).collect()
    }
}

/// Whether a segment says something of a transfer; a bare reset does not.
fn tells(segment: &Segment) -> bool {
    segment.payload > 0 || segment.syn || segment.ack.is_some()
}

/// The chosen points: the one with the most packets, then those that add packets.
fn chosen(
    mut points: Vec<(Point, Vec<Segment>)>,
    seen: impl Fn(&[Segment]) -> Ranges,
) -> Vec<(Point, Vec<Segment>)> {
    let bytes = |segments: &[Segment]| segments.iter().map(|one| u64::from(one.payload)).sum::<u64>();
    let weight = |(point, segments): &(Point, Vec<Segment>)| {
        let first = segments.first().map(|one| one.at);
        (std::cmp::Reverse((bytes(segments), segments.len())), first, *point)
    };
    points.sort_by_cached_key(weight);
    let mut taken: Vec<(Point, Vec<Segment>)> = Vec::new();
    let mut known = Ranges::default();
    for (point, segments) in points {
        let own = seen(&segments);
        if 2 * own.shared(&known) <= own.len() {
            known.extend(&own);
            taken.push((point, segments));
        }
    }
    taken
}

/// The bytes of the payloads, regardless of their packets.
fn extents(segments: &[Segment]) -> Ranges {
    Ranges::of(segments.iter().map(|one| (one.seq, one.payload)))
}

/// All segments in the order of time.
fn merged(points: Vec<(Point, Vec<Segment>)>) -> Vec<Segment> {
    let mut all: Vec<Segment> = points.into_iter().flat_map(|(_, segments)| segments).collect();
    all.sort_by_key(|segment| segment.at);
    all
}

/// The segments of a point without copies, in the order of time.
fn distinct(mut segments: Vec<&Segment>) -> Vec<Segment> {
    segments.sort_by_key(|segment| segment.at);
    let (mut latest, mut sent) = (BTreeMap::new(), Sent::default());
    let fresh = |segment: &&Segment| {
        let Segment { at, id, seq, ack, syn, payload, sack, timestamps, .. } = **segment;
        let named = id.is_some_and(|id| id != 0) || timestamps.is_some();
        let within = if named { Span::from_secs(1) } else { Span::from_millis(1) };
        let before = latest.insert((seq, payload, ack, syn, id, timestamps, sack), at);
        before.is_none_or(|before| at.since(before) > within) && sent.is_new(segment)
    };
    segments.into_iter().filter(fresh).cloned().collect()
}

/// The data sent with each timestamp in packets of each identification.
#[derive(Default)]
struct Sent(BTreeMap<(u32, u16), Ranges>);

/// Packets that a network card makes of one at most, of 64 kB.
const PARTS: u16 = 64;

impl Sent {
    /// Whether the bytes were sent with this timestamp for the first time.
    fn is_new(&mut self, segment: &Segment) -> bool {
        let Some((stamp, _)) = segment.timestamps.filter(|_| segment.payload > 0) else { return true };
        let (start, own) = (u64::from(segment.seq), segment.id.unwrap_or(0));
        let end = start + u64::from(segment.payload);
        let new = !covered(start, end, |at| self.reach(stamp, own, at));
        if new {
            self.0.entry((stamp, own)).or_default().add(start, end);
        }
        new
    }

    /// How far the bytes from `at` on were sent before, in packets of which one with this identification may be a part.
    fn reach(&self, stamp: u32, own: u16, at: u64) -> Option<u64> {
        let first = own.wrapping_sub(PARTS - 1);
        // Identifications wrap.
        let (one, two) = if first <= own { (first..=own, None) } else { (first..=u16::MAX, Some(0..=own)) };
        let ids = std::iter::once(one).chain(two);
        let sent = ids.flat_map(|ids| self.0.range((stamp, *ids.start())..=(stamp, *ids.end())));
        sent.filter_map(|(_, ranges)| ranges.reach(at)).max()
    }
}

/// Whether all numbers from `start` up to `end` are reached, from one to the next in no more steps than a packet has parts.
fn covered(start: u64, end: u64, reach: impl Fn(u64) -> Option<u64>) -> bool {
    let mut reached = std::iter::successors(Some(start), |at| reach(*at)).take(usize::from(PARTS) + 1);
    reached.any(|at| at >= end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn segment(millis: u64, seq: u32, id: u16) -> Segment {
        Segment {
            at: Span::from_millis(millis).after_start(),
            id: Some(id),
            seq,
            ack: Some(1),
            payload: 1000,
            ..Segment::default()
        }
    }

    fn point(interface: u32) -> Point {
        Point { file: 0, interface, place: 0 }
    }

    #[test]
    fn a_copy_has_the_same_identification_and_a_retransmission_another() {
        let seen = [segment(0, 1000, 7), segment(1, 1000, 7), segment(300, 1000, 8), segment(301, 2000, 9)];
        let kept: Vec<Time> = distinct(seen.iter().collect()).iter().map(|one| one.at).collect();
        assert_eq!(kept, [0, 300, 301].map(|millis| Span::from_millis(millis).after_start()));
    }

    #[test]
    fn without_a_name_only_what_follows_at_once_is_a_copy() {
        let bare = |micros: u64| Segment {
            id: Some(0),
            at: Span::from_micros(micros).after_start(),
            ..segment(0, 1, 0)
        };
        assert_eq!(distinct([bare(0), bare(400), bare(5000)].iter().collect()).len(), 2);
    }

    #[test]
    fn of_two_points_that_saw_the_same_the_one_that_saw_more_is_taken() {
        // The second point did not see the fourth packet, and later by 10 ms.
        let before: Vec<Segment> =
            (0..8).map(|place| segment(place, 1000 * place as u32, place as u16 + 1)).collect();
        let after = before.iter().filter(|one| one.seq != 4000);
        let after: Vec<Segment> =
            after.map(|one| Segment { at: one.at + Span::from_millis(10), ..one.clone() }).collect();
        let points = Points::from([(point(1), after), (point(2), before.clone())]);
        let once = Once::of(&points, &Points::new());
        assert_eq!((once.data, once.set_aside), (before, 7));
    }

    #[test]
    fn points_that_saw_different_parts_are_put_together() {
        let part = |odd: u32| (0..8).filter(move |place| place % 2 == odd);
        let of =
            |odd| part(odd).map(|place| segment(u64::from(place), 1000 * place, place as u16 + 1)).collect();
        let once = Once::of(&Points::from([(point(1), of(0)), (point(2), of(1))]), &Points::new());
        assert_eq!((once.data.len(), once.set_aside), (8, 0));
        assert!(once.data.is_sorted_by_key(|one| one.at));
    }

    #[test]
    fn a_packet_that_a_card_put_together_is_the_same_data() {
        let whole: Vec<Segment> =
            (0..4).map(|place| segment(place, 1000 * place as u32, place as u16 + 1)).collect();
        let joined = Segment { payload: 4000, ..segment(9, 0, 99) };
        let once = Once::of(&Points::from([(point(1), whole), (point(2), vec![joined])]), &Points::new());
        assert_eq!(once.data.len(), 4);
    }

    #[test]
    fn the_parts_of_a_packet_that_was_seen_whole_are_copies_and_a_retransmission_of_a_part_is_none() {
        let stamped = |one: Segment| Segment { timestamps: Some((77, 1)), ..one };
        let whole = stamped(Segment { payload: 3000, ..segment(0, 0, 7) });
        let parts = (0..3).map(|place| stamped(segment(1, 1000 * place, 7 + place as u16)));
        let again = Segment { timestamps: Some((90, 1)), ..segment(13, 1000, 12) };
        let soon = stamped(segment(1, 2000, 300));
        let seen: Vec<Segment> =
            [whole.clone()].into_iter().chain(parts).chain([soon.clone(), again.clone()]).collect();
        assert_eq!(distinct(seen.iter().collect()), [whole, soon, again]);
    }

    #[test]
    fn a_bare_reset_is_neither_a_copy_nor_set_aside() {
        let reset = Segment { ack: None, payload: 0, ..segment(1, 1000, 0) };
        let once = Once::of(
            &Points::from([(point(1), vec![segment(0, 0, 1), reset.clone(), reset])]),
            &Points::new(),
        );
        assert_eq!((once.data.len(), once.copies, once.set_aside), (1, 0, 0));
    }
}
