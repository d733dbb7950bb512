// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Copies: packets that were captured more than once.
//!
//! A file of all interfaces of a forwarder has each packet twice, and so have the files of both ends of a path, and that of a
//! mirror port that copies both directions of a switch's port. Counted twice, they are retransmissions that never happened.
//!
//! ```text
//! at one point    the same sequence number, length, acknowledgement, flags, timestamps, SACK blocks and IP identification, within
//!                 1 s; within 1 ms where there are neither an identification nor timestamps
//! at two points   more than half of what one of them saw, the other saw, too
//! ```
//!
//! A sender gives a retransmission another identification, and a later timestamp wherever it comes a tick of the clock later. A
//! point of capture is an interface of a file; on Linux's "any" it is what the frame's header says. Of two points that saw the
//! same data the one that saw more of it is taken: what is lost between them was seen by the first alone. Points that saw
//! different parts, as those of a bond, are put together.

use std::collections::{BTreeMap, BTreeSet};

use super::Segment;
use crate::units::Span;

/// Where packets were captured: the file, the interface in it, and the place on a host with several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub file: u32,
    pub interface: u32,
    /// The interface of a host, times two, and whether the host sent.
    pub place: u32,
}

impl Point {
    /// The same interface, whatever the direction.
    fn beside(self, other: Point) -> bool {
        (self.file, self.interface, self.place >> 1) == (other.file, other.interface, other.place >> 1)
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
    /// Packets at points that saw what another saw.
    pub set_aside: u64,
}

impl Once {
    pub(super) fn of(data: &Points, answers: &Points) -> Once {
        let mut once = Once::default();
        let sent = once.cleared(data);
        let taken = chosen(sent, extents);
        let heard = once.cleared(answers);
        // Answers from where the data was seen, if any were.
        let near = |point: Point| taken.iter().any(|(own, _)| own.beside(point));
        let (close, far): (Vec<_>, Vec<_>) = heard.into_iter().partition(|(point, _)| near(*point));
        let candidates = if close.is_empty() { far } else { close };
        let answered = chosen(candidates, |segments| segments.iter().filter_map(|one| one.ack).collect());
        once.data = merged(taken);
        once.answers = merged(answered);
        let all = [data, answers].into_iter().flat_map(Points::values).map(Vec::len).sum::<usize>();
        let used = once.data.len() + once.answers.len();
        once.set_aside = (all - used) as u64 - once.copies;
        once
    }

    /// The segments of each point without copies.
    fn cleared(&mut self, points: &Points) -> Vec<(Point, Vec<Segment>)> {
        let mut clear = |(point, segments): (&Point, &Vec<Segment>)| {
            let kept = distinct(segments);
            self.copies += (segments.len() - kept.len()) as u64;
            (*point, kept)
        };
        points.iter().map(&mut clear).collect()
    }
}

/// The points that are taken: from the one that saw most, those that did not see the same.
fn chosen<T: Ord>(
    mut points: Vec<(Point, Vec<Segment>)>,
    seen: impl Fn(&[Segment]) -> BTreeSet<T>,
) -> Vec<(Point, Vec<Segment>)> {
    let bytes = |segments: &[Segment]| segments.iter().map(|one| u64::from(one.payload)).sum::<u64>();
    let weight = |(point, segments): &(Point, Vec<Segment>)| {
        let first = segments.first().map(|one| one.at);
        (std::cmp::Reverse((bytes(segments), segments.len())), first, *point)
    };
    points.sort_by_cached_key(weight);
    let mut taken: Vec<(Point, Vec<Segment>)> = Vec::new();
    let mut known = BTreeSet::new();
    for (point, segments) in points {
        let own = seen(&segments);
        let again = own.iter().filter(|one| known.contains(*one)).count();
        if 2 * again <= own.len() {
            known.extend(own);
            taken.push((point, segments));
        }
    }
    taken
}

/// The blocks of 512 bytes that begin in the payloads: network cards put packets together and take them apart, so their ends differ
/// from point to point.
fn extents(segments: &[Segment]) -> BTreeSet<u32> {
    const BLOCK: u32 = 512;
    let blocks = |one: &Segment| {
        let (first, payload) = (one.seq.div_ceil(BLOCK), one.payload);
        let end = one.seq.saturating_add(payload).div_ceil(BLOCK);
        first..end
    };
    segments.iter().flat_map(blocks).collect()
}

/// All segments in the order of time.
fn merged(points: Vec<(Point, Vec<Segment>)>) -> Vec<Segment> {
    let mut all: Vec<Segment> = points.into_iter().flat_map(|(_, segments)| segments).collect();
    all.sort_by_key(|segment| segment.at);
    all
}

/// The segments of a point without copies, in the order of time.
fn distinct(segments: &[Segment]) -> Vec<Segment> {
    let mut sorted: Vec<&Segment> = segments.iter().collect();
    sorted.sort_by_key(|segment| segment.at);
    let mut latest = BTreeMap::new();
    let fresh = |segment: &&Segment| {
        let Segment { at, id, seq, ack, syn, payload, sack, timestamps, .. } = **segment;
        let named = id.is_some_and(|id| id != 0) || timestamps.is_some();
        let within = if named { Span::from_secs(1) } else { Span::from_millis(1) };
        let before = latest.insert((seq, payload, ack, syn, id, timestamps, sack), at);
        before.is_none_or(|before| at.since(before) > within)
    };
    sorted.into_iter().filter(fresh).cloned().collect()
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
            syn: false,
            payload: 1000,
            sack: [(0, 0); 4],
            timestamps: None,
            mss: None,
        }
    }

    fn point(interface: u32) -> Point {
        Point { file: 0, interface, place: 0 }
    }

    #[test]
    fn a_copy_has_the_same_identification_and_a_retransmission_another() {
        let seen = [segment(0, 1000, 7), segment(1, 1000, 7), segment(300, 1000, 8), segment(301, 2000, 9)];
        let kept: Vec<Time> = distinct(&seen).iter().map(|one| one.at).collect();
        assert_eq!(kept, [0, 300, 301].map(|millis| Span::from_millis(millis).after_start()));
    }

    #[test]
    fn without_a_name_only_what_follows_at_once_is_a_copy() {
        let bare = |micros: u64| Segment {
            id: Some(0),
            at: Span::from_micros(micros).after_start(),
            ..segment(0, 1, 0)
        };
        assert_eq!(distinct(&[bare(0), bare(400), bare(5000)]).len(), 2);
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
}
