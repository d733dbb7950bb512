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

/// A transmission: its step and its time.
type Sent = (usize, Time);

/// An acknowledgement: its step, its time, and the segment that it asks for.
type Answer = (usize, Time, u32);

/// Blocks of an acknowledgement.
const BLOCKS: usize = 3;

/// Adds the blocks to the steps of a transfer.
pub(super) fn add_blocks(steps: &mut [Step]) {
    let answers = answers(steps);
    let arrivals = Arrivals::of(steps, &answers);
    let (mut before, mut rest, mut una) = (0, Vec::new(), 0);
    for group in answers.chunk_by(|one, next| one.2 == next.2) {
        let asked = group[0].2;
        let first = arrivals.below(una..asked, before);
        for ((place, ..), arrived) in group.iter().zip(arrivals.of_answers(group, first, una)) {
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

/// The acknowledgements, without those that others have overtaken: they name nothing.
fn answers(steps: &mut [Step]) -> Vec<Answer> {
    let (mut answers, mut most) = (Vec::new(), 0);
    for (place, step) in steps.iter_mut().enumerate() {
        let Happened::Heard { una, blocks, .. } = &mut step.what else { continue };
        *blocks = [(0, 0); BLOCKS];
        if *una >= most {
            most = *una;
            answers.push((place, step.at, most));
        }
    }
    answers
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

/// The transmissions of a segment.
#[derive(Clone, Copy)]
struct Transmissions {
    first: Sent,
    before: Sent,
    last: Sent,
}

/// The arrivals of a transfer.
struct Arrivals {
    /// When each segment left that arrived.
    sent: Vec<Sent>,
    /// The segments in the order of their arrivals, and the place of each in it.
    order: Vec<u32>,
    places: Vec<usize>,
    /// The least round trip; zero if none is known.
    least: Span,
}

impl Arrivals {
    fn of(steps: &[Step], answers: &[Answer]) -> Arrivals {
        let mut segments: Vec<Transmissions> = Vec::new();
        for (place, step) in steps.iter().enumerate() {
            let Happened::Sent(segment) = step.what else { continue };
            let now = (place, step.at);
            match segments.get_mut(segment as usize) {
                Some(known) => (known.before, known.last) = (known.last, now),
                None => segments.push(Transmissions { first: now, before: now, last: now }),
            }
        }
        // Of what was acknowledged in order.
        let once = |segment: u32| segments.get(segment as usize).filter(|sent| sent.first == sent.last);
        let in_order = |pair: &[Answer]| {
            let [(.., una), (_, at, asked)] = pair else { return None };
            once(*una)?;
            once(asked.checked_sub(1)?)
                .filter(|sent| asked > una && sent.last.1 <= *at)
                .map(|sent| at.since(sent.last.1))
        };
        let first = answers.first().and_then(|answer| in_order(&[(0, Time::ZERO, 0), *answer]));
        let least = answers.windows(2).filter_map(in_order).chain(first).min().unwrap_or(Span::ZERO);
        let mut sent: Vec<Sent> = segments.iter().map(|segment| segment.last).collect();
        let mut una = 0;
        for (_, at, asked) in answers {
            for segment in
                (una..*asked).map_while(|segment| segments.get(segment as usize).map(|_| segment as usize))
            {
                // So soon after the last transmission the one before it is acknowledged.
                if at.since(sent[segment].1).0 < least.0 / 2 {
                    sent[segment] = segments[segment].before;
                }
            }
            una = *asked;
        }
        let mut order: Vec<u32> = (0..sent.len() as u32).collect();
        order.sort_by_key(|segment| sent[*segment as usize].0);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, segment)| places[*segment as usize] = place);
        Arrivals { sent, order, places, least }
    }

    /// When the segment of this place left.
    fn sent(&self, place: usize) -> Option<Time> {
        self.order.get(place).map(|segment| self.sent[*segment as usize].1)
    }

    /// How many had arrived when these were acknowledged.
    fn below(&self, acked: Range<u32>, before: usize) -> usize {
        let arrived = acked.map_while(|segment| self.places.get(segment as usize));
        arrived.map(|place| place + 1).fold(before, usize::max)
    }

    /// How many had arrived at each acknowledgement that asks for the same segment, of which the first says that `first` had; before them segment `una` was
    /// asked for.
    fn of_answers(&self, answers: &[Answer], first: usize, una: u32) -> Vec<usize> {
        let (Some((.., asked)), Some((_, last, _))) = (answers.first(), answers.last()) else {
            return Vec::new();
        };
        let missing = self.places.get(*asked as usize).copied().unwrap_or(self.order.len());
        // What left less than a round trip before the last of them is not named by any.
        let early =
            self.order.partition_point(|segment| last.since(self.sent[*segment as usize].1) >= self.least);
        let most = missing.min(early).max(first);
        let lacks = |all: &[usize]| all.last().is_some_and(|arrived| *arrived < most);
        let within = |longest: Span, caused: bool| self.within(answers, first..most, longest, caused);
        let again = *asked == una;
        let by_duplicates = within(Span::MAX, again);
        if !lacks(&by_duplicates) {
            return by_duplicates;
        }
        let caused = again || *asked == una + 1;
        let by_caused = within(Span::MAX, caused);
        if !lacks(&by_caused) {
            return by_caused;
        }
        // The longest time after which all are named.
        let (mut least, mut longest) = (self.least.0, Span::MAX.0);
        while longest.saturating_sub(least) > 1 {
            let middle = least + (longest - least) / 2;
            match lacks(&within(Span(middle), caused)) {
                true => longest = middle,
                false => least = middle,
            }
        }
        within(Span(least), caused)
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
        // 1 and 3 are lost, and leave once more at 25 and 26; 6 follows them.
        steps.extend([
            heard(20, 1),
            heard(22, 1),
            heard(24, 1),
            heard(25, 1),
            sent(25, 1),
            sent(26, 3),
            sent(27, 6),
        ]);
        steps.extend([heard(45, 3), heard(46, 6), heard(47, 7)]);
        let expected = [vec![], vec![(2, 3)], vec![(4, 5)], vec![(5, 6)], vec![], vec![], vec![]];
        assert_eq!(blocks(steps), expected);
    }

    #[test]
    fn duplicates_of_the_first_segment_name_from_the_first_one_on() {
        let mut steps: Vec<Step> = (0..5).map(|segment| sent(u64::from(segment), segment)).collect();
        steps.extend([heard(21, 0), heard(22, 0), heard(23, 0), heard(24, 0), sent(24, 0), heard(44, 5)]);
        assert_eq!(blocks(steps), [vec![(1, 2)], vec![(2, 3)], vec![(3, 4)], vec![(4, 5)], vec![]]);
    }

    #[test]
    fn what_is_sent_again_for_nothing_had_arrived_before() {
        let mut steps: Vec<Step> = (0..8).map(|segment| sent(u64::from(segment), segment)).collect();
        steps.extend([heard(40, 2), heard(42, 4), sent(70, 5), heard(71, 6), heard(73, 8)]);
        assert_eq!(blocks(steps), vec![Vec::new(); 4]);
    }

    #[test]
    fn an_acknowledgement_that_was_overtaken_names_nothing() {
        let mut steps: Vec<Step> = (0..6).map(|segment| sent(u64::from(segment), segment)).collect();
        steps.extend([heard(20, 1), heard(21, 2), heard(22, 1), heard(23, 2), heard(24, 2), sent(24, 2)]);
        steps.extend([heard(25, 2), heard(44, 6), heard(44, 900)]);
        let expected = [vec![], vec![], vec![], vec![(3, 4)], vec![(4, 5)], vec![(5, 6)], vec![], vec![]];
        assert_eq!(blocks(steps), expected);
    }

    #[test]
    fn what_finds_no_room_is_named_by_the_next_one() {
        let mut steps: Vec<Step> = (0..12).map(|segment| sent(u64::from(segment), segment)).collect();
        // Every second one is lost, and two acknowledgements name all that arrived.
        steps.extend([heard(20, 2), heard(41, 2), heard(42, 2)]);
        steps.extend((2..12).step_by(2).map(|segment| sent(43, segment)));
        steps.push(heard(63, 12));
        let all = blocks(steps);
        assert_eq!(all[1], [(3, 4), (5, 6), (7, 8)]);
        assert_eq!(all[2], [(9, 10), (11, 12)]);
        add_blocks(&mut []);
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
        steps.extend([heard(20, 2), heard(22, 4), heard(25, 5), heard(26, 5), sent(26, 5), heard(46, 8)]);
        assert_eq!(blocks(steps), [vec![], vec![], vec![(6, 7)], vec![(7, 8)], vec![]]);
    }
}
