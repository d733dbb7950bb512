// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Disjoint ranges of bytes, in order.

use std::collections::VecDeque;

/// Half-open ranges of bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    /// Adds a range, and returns the new parts of it.
    pub(super) fn add(&mut self, from: u64, to: u64, mut new: impl FnMut(u64, u64)) {
        if from >= to {
            return;
        }
        let first = self.0.partition_point(|range| range.1 < from);
        let (mut at, mut end, mut merged) = (from, first, (from, to));
        while let Some(&(begins, ends)) = self.0.get(end).filter(|range| range.0 <= to) {
            if at < begins {
                new(at, begins);
            }
            at = at.max(ends);
            merged = (merged.0.min(begins), merged.1.max(ends));
            end += 1;
        }
        if at < to {
            new(at, to);
        }
        if end == first {
            self.0.insert(first, merged);
        } else {
            self.0[first] = merged;
            self.0.drain(first + 1..end);
        }
    }

    /// Forgets everything below `at`.
    pub(super) fn forget_below(&mut self, at: u64) {
        while self.0.front().is_some_and(|range| range.1 <= at) {
            self.0.pop_front();
        }
        if let Some(first) = self.0.front_mut() {
            first.0 = first.0.max(at);
        }
    }

    /// The end of the first range, if that begins at or below `at`; else `at`.
    pub(super) fn reach(&self, at: u64) -> u64 {
        self.0.front().filter(|range| range.0 <= at).map_or(at, |range| range.1.max(at))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|(from, to)| to - from).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kneepoint::rng::Rng;

    #[test]
    fn ranges_agree_with_a_set_of_bytes() {
        let mut rng = Rng::stream(1, "ranges", 0);
        for _ in 0..200 {
            let (mut ranges, mut bytes, mut below) = (Ranges::default(), [false; 64], 0);
            for _ in 0..40 {
                let from = rng.below(56);
                let to = from + rng.below(8);
                let mut told = Vec::new();
                ranges.add(from, to, |a, b| told.extend(a..b));
                let new: Vec<u64> = (from..to).filter(|at| !bytes[*at as usize]).collect();
                // Forgotten segments may be reported again.
                told.retain(|at| *at >= below);
                assert_eq!(told, new.into_iter().filter(|at| *at >= below).collect::<Vec<_>>());
                (from..to).for_each(|at| bytes[at as usize] = true);
                if rng.below(4) == 0 {
                    below = below.max(rng.below(64));
                }
                ranges.forget_below(below);
                assert_eq!(ranges.bytes(), (below..64).filter(|at| bytes[*at as usize]).count() as u64);
                let reach = (below..64).find(|at| !bytes[*at as usize]).unwrap_or(64);
                assert_eq!(ranges.reach(below), reach);
                assert!(ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.1 < b.0));
            }
        }
    }
}
