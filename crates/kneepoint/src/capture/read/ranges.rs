// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sets of numbers, as ranges that do not meet. However many there are, one is found in logarithmic time.

use std::collections::BTreeMap;

use super::work::step;

/// Ends by beginnings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// From starts and lengths.
    pub(super) fn of(parts: impl Iterator<Item = (u32, u32)>) -> Ranges {
        let mut ranges = Ranges::default();
        parts.for_each(|(start, length)| ranges.add(start.into(), u64::from(start) + u64::from(length)));
        ranges
    }

    /// Adds the numbers from `start` up to `end`, which is not one of them.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        while let Some((from, to)) = self.0.range(..=end).next_back().map(|(from, to)| (*from, *to)) {
            step();
            if to < start {
                break;
            }
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Adds the numbers of another set.
    pub(super) fn extend(&mut self, other: &Ranges) {
        other.0.iter().for_each(|(start, end)| self.add(*start, *end));
    }

    /// The number of numbers.
    pub(super) fn len(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// The end of the range that has a number.
    pub(super) fn reach(&self, number: u64) -> Option<u64> {
        step();
        self.0.range(..=number).next_back().map(|(_, end)| *end).filter(|end| *end > number)
    }

    /// The number of numbers in both.
    pub(super) fn shared(&self, other: &Ranges) -> u64 {
        let common = |(start, end): (&u64, &u64)| -> u64 {
            let before = other.reach(*start).map_or(0, |reached| reached.min(*end) - start);
            let within = other.0.range(start + 1..(*end).max(start + 1));
            before + within.map(|(from, to)| to.min(end) - from).inspect(|_| step()).sum::<u64>()
        };
        self.0.iter().map(common).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one_and_what_two_sets_share_is_counted_once() {
        let mut own = Ranges::of([(10, 5), (30, 10), (0, 0), (15, 5), (12, 2)].into_iter());
        assert_eq!((own.len(), own.reach(10), own.reach(20), own.reach(39)), (20, Some(20), None, Some(40)));
        let other = Ranges::of([(5, 7), (19, 12), (38, 100)].into_iter());
        assert_eq!((own.shared(&other), other.shared(&own)), (2 + 1 + 1 + 2, 6));
        own.extend(&other);
        assert_eq!(own, Ranges::of([(5, 133)].into_iter()));
    }
}
