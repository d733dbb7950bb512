// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Blocks of selective acknowledgements that a capture lacks, because headers were cut or an export has no column of them.
//!
//! The capture says later which transmission of a segment arrived: the last one. On a path that keeps the order, segments arrive in the order of these, so
//! acknowledgements say how many of them had arrived:
//!
//! ```text
//! below segment U, which is missing    all up to the last of these, in this order
//! acknowledgements of U                a duplicate names one more (RFC 5681 §4.2), and all of them those before U itself
//! ```
//!
//! Where duplicates are fewer than what they name, those of them, and the one that asked for U first, named several that came latest after what they name was
//! sent: as many as are needed, and none before the least round trip. One that acknowledges a single segment is taken for one that U's successor caused, while the
//! receiver waited for a second segment to acknowledge.

use std::ops::Range;

use super::course::{Happened, Step};
use crate::units::{Span, Time};

/// The times of the first and the last transmission of a segment.
type Sent = (Time, Time);

/// An acknowledgement: its step, its time, and the segment that it asks for.
type Answer = (usize, Time, u32);

/// Blocks of an acknowledgement.
const BLOCKS: usize = 3;

/// Adds the blocks to the steps of a transfer.
pub(super) fn add_blocks(steps: &mut [Step]) {
    let answers: Vec<Answer> = (steps.iter().enumerate())
        .filter_map(|(place, step)| match step.what {
            Happened::Heard { una, .. } => Some((place, step.at, una)),
            Happened::Sent(_) => None,
        })
        .collect();
    let arrivals = Arrivals::of(steps, &answers);
    let (mut before, mut rest, mut una) = (0, Vec::new(), 0);
    for group in answers.chunk_by(|one, next| next.2 <= one.2) {
        let asked = group[0].2.max(una);
        let first = arrivals.below(una..asked, before, group[0].1);
        for ((place, ..), arrived) in
            group.iter().zip(arrivals.of_answers(group, first, asked, asked == una + 1))
        {
            let named =
                std::mem::take(&mut rest).into_iter().chain(arrivals.order[before..arrived].iter().copied());
            let (now, later) = in_blocks(named.filter(|segment| *segment > asked).collect());
            (before, rest) = (arrived, later);
            if let Happened::Heard { blocks, .. } = &mut steps[*place].what {
                *blocks = now;
            }
        }
        una = asked;
    }
}

/// The blocks of these segments, and those that find no room: they come with the next acknowledgement.
fn in_blocks(mut segments: Vec<u32>) -> ([(u32, u32); BLOCKS], Vec<u32>) {
    segments.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for segment in segments {
        match runs.last_mut() {
            Some(run) if run.1 == segment => run.1 = segment + 1,
            _ => runs.push((segment, segment + 1)),
        }
    }
    let rest = runs.split_off(runs.len().min(BLOCKS));
    let mut blocks = [(0, 0); BLOCKS];
    blocks.iter_mut().zip(runs).for_each(|(block, run)| *block = run);
    (blocks, rest.into_iter().flat_map(|(first, end)| first..end).collect())
}

/// The arrivals of a transfer.
struct Arrivals {
    segments: Vec<Sent>,
    /// The segments in the order of their arrivals, and the place of each in it.
    order: Vec<u32>,
    places: Vec<usize>,
    /// The least round trip.
    least: Span,
}

impl Arrivals {
    fn of(steps: &[Step], answers: &[Answer]) -> Arrivals {
        let mut segments: Vec<Sent> = Vec::new();
        for step in steps {
            let Happened::Sent(segment) = step.what else { continue };
            match segments.get_mut(segment as usize) {
                Some(known) => known.1 = step.at,
                None => segments.push((step.at, step.at)),
            }
        }
        let mut order: Vec<u32> = (0..segments.len() as u32).collect();
        order.sort_by_key(|segment| segments[*segment as usize].1);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, segment)| places[*segment as usize] = place);
        let newest = |(_, at, una): &Answer| {
            let (first, last) = segments.get(una.checked_sub(1)? as usize)?;
            (first == last && last <= at).then(|| at.since(*last))
        };
        let least = answers.iter().filter_map(newest).min().unwrap_or(Span::MAX);
        Arrivals { segments, order, places, least }
    }

    /// When the segment of this place left.
    fn sent(&self, place: usize) -> Option<Time> {
        self.order.get(place).map(|segment| self.segments[*segment as usize].1)
    }

    /// How many had arrived when these were acknowledged. One that was retransmitted later, for nothing, had arrived before.
    fn below(&self, acked: Range<u32>, before: usize, at: Time) -> usize {
        let known = self.segments.len() as u32;
        let arrived = acked.filter(|segment| *segment < known && self.segments[*segment as usize].1 < at);
        arrived.map(|segment| self.places[segment as usize] + 1).fold(before, usize::max)
    }

    /// How many had arrived at each acknowledgement that asks for the same segment, of which the first says that `first` had; it is of a `single` segment more
    /// than the one before.
    fn of_answers(&self, answers: &[Answer], first: usize, asked: u32, single: bool) -> Vec<usize> {
        let most = self.places.get(asked as usize).map_or(self.order.len(), |place| (*place).max(first));
        let lacks = |all: &[usize]| all.last().is_some_and(|arrived| *arrived < most);
        let within = |longest: Span, caused: bool| self.within(answers, first..most, longest, caused);
        let by_duplicates = within(Span::MAX, false);
        if !lacks(&by_duplicates) {
            return by_duplicates;
        }
        let by_caused = within(Span::MAX, single);
        if !lacks(&by_caused) {
            return by_caused;
        }
        // The longest time after which all are named.
        let (mut least, mut longest) = (self.least.0, Span::MAX.0);
        while longest.saturating_sub(least) > 1 {
            let middle = least + (longest - least) / 2;
            match lacks(&within(Span(middle), single)) {
                true => longest = middle,
                false => least = middle,
            }
        }
        within(Span(least), single)
    }

    /// The same, if each duplicate names one arrival, so does the first acknowledgement if one `caused` it, and each names those that were sent `longest` before.
    fn within(&self, answers: &[Answer], arrivals: Range<usize>, longest: Span, caused: bool) -> Vec<usize> {
        let mut arrived = arrivals.start;
        let step = |(place, (_, at, _)): (usize, &Answer)| {
            let left = |next: usize| self.sent(next).filter(|sent| next < arrivals.end && sent < at);
            if (place > 0 || caused) && left(arrived).is_some() {
                arrived += 1;
            }
            while left(arrived).is_some_and(|sent| at.since(sent) >= longest) {
                arrived += 1;
            }
            arrived
        };
        answers.iter().enumerate().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    fn sent(millis: u64, segment: u32) -> Step {
        Step { at: Time(millis * MILLI), what: Happened::Sent(segment) }
    }

    fn heard(millis: u64, una: u32) -> Step {
        let at = Time(millis * MILLI);
        Step { at, what: Happened::Heard { una, blocks: [(0, 0); BLOCKS], echo: at } }
    }

    /// The blocks of each acknowledgement.
    fn blocks(mut steps: Vec<Step>) -> Vec<Vec<(u32, u32)>> {
        add_blocks(&mut steps);
        let blocks = |step: &Step| match step.what {
            Happened::Heard { blocks, .. } => {
                Some(blocks.into_iter().filter(|block| *block != (0, 0)).collect())
            }
            Happened::Sent(_) => None,
        };
        steps.iter().filter_map(blocks).collect()
    }

    #[test]
    fn nothing_is_named_while_nothing_is_missing_however_long_round_trips_become() {
        let mut steps: Vec<Step> = (0..8).map(|segment| sent(u64::from(segment), segment)).collect();
        steps.extend([heard(20, 2), heard(30, 4), heard(50, 4), heard(80, 6), heard(90, 8)]);
        assert_eq!(blocks(steps), vec![Vec::new(); 5]);
    }

    #[test]
    fn each_duplicate_names_the_next_arrival_and_what_was_sent_again_arrived_last() {
        let mut steps: Vec<Step> = (0..6).map(|segment| sent(u64::from(segment), segment)).collect();
        // 1 and 3 are lost, and leave once more at 24 and 25; 6 follows them.
        steps.extend([
            heard(20, 1),
            heard(22, 1),
            heard(23, 1),
            heard(24, 1),
            sent(24, 1),
            sent(25, 3),
            sent(26, 6),
        ]);
        steps.extend([heard(44, 3), heard(45, 6), heard(46, 7)]);
        let expected = [vec![], vec![(2, 3)], vec![(4, 5)], vec![(5, 6)], vec![], vec![], vec![]];
        assert_eq!(blocks(steps), expected);
    }

    #[test]
    fn fewer_duplicates_name_several_as_late_as_all_are_named() {
        let mut steps: Vec<Step> = (0..8).map(|segment| sent(u64::from(segment), segment)).collect();
        // Of 0 to 7 the receiver lacks 2, and answers 4 and 5, 6 and 7 together.
        steps.extend([heard(20, 2), heard(22, 2), heard(24, 2), heard(26, 2), sent(26, 2), heard(46, 8)]);
        assert_eq!(blocks(steps), [vec![], vec![(3, 4)], vec![(4, 6)], vec![(6, 8)], vec![]]);
    }

    #[test]
    fn what_acknowledges_a_single_segment_was_caused_by_the_next_one_if_duplicates_are_too_few() {
        let mut steps: Vec<Step> = (0..8).map(|segment| sent(u64::from(segment), segment)).collect();
        // The receiver waits with 4 for a second one; 6 arrives without 5.
        steps.extend([heard(21, 2), heard(23, 4), heard(25, 5), heard(26, 5), sent(26, 5), heard(46, 8)]);
        assert_eq!(blocks(steps), [vec![], vec![], vec![(6, 7)], vec![(7, 8)], vec![]]);
    }
}
