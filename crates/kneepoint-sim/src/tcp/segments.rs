// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A set of nearby segment numbers: one bit each, in a ring of words.

use std::collections::VecDeque;
use std::ops::Range;

/// A set of segment numbers.
#[derive(Clone, Debug, Default)]
pub struct SegmentSet {
    /// The number of the first bit; a multiple of 64.
    base: u32,
    words: VecDeque<u64>,
    len: u32,
}

impl SegmentSet {
    /// Their number.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it contains `seq`.
    pub fn contains(&self, seq: u32) -> bool {
        self.word(seq).is_some_and(|word| self.words[word] >> (seq % 64) & 1 == 1)
    }

    /// Adds `seq`; returns whether it was new.
    pub fn insert(&mut self, seq: u32) -> bool {
        self.insert_range(seq..seq + 1) == 1
    }

    /// Adds a range, and returns the number of new ones.
    pub fn insert_range(&mut self, range: Range<u32>) -> u32 {
        if range.is_empty() {
            return 0;
        }
        self.reach(range.start, range.end - 1);
        let before = self.len;
        let (first, last) = ((range.start - self.base) / 64, (range.end - 1 - self.base) / 64);
        for word in first..=last {
            let mask = self.mask(word, &range);
            let bits = &mut self.words[word as usize];
            self.len += (mask & !*bits).count_ones();
            *bits |= mask;
        }
        self.len - before
    }

    /// Forgets everything below `seq`.
    pub fn remove_below(&mut self, seq: u32) {
        while self.base + 64 <= seq && !self.words.is_empty() {
            self.len -= self.words.pop_front().unwrap_or(0).count_ones();
            self.base += 64;
        }
        if let Some(word) = self.words.front_mut()
            && seq > self.base
        {
            let mask = (1u64 << (seq - self.base)) - 1;
            self.len -= (*word & mask).count_ones();
            *word &= !mask;
        }
        if self.len == 0 {
            self.words.clear();
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// The number of elements in a range.
    pub fn count(&self, range: Range<u32>) -> u32 {
        let end = range.end.min(self.base + 64 * self.words.len() as u32);
        let range = range.start.max(self.base)..end;
        if range.is_empty() {
            return 0;
        }
        let (first, last) = ((range.start - self.base) / 64, (range.end - 1 - self.base) / 64);
        if first == last {
            return (self.words[first as usize] & self.mask(first, &range)).count_ones();
        }
        (first..last + 1).map(|word| (self.words[word as usize] & self.mask(word, &range)).count_ones()).sum()
    }

    /// The first number at or above `seq` that is not in it.
    pub fn first_absent(&self, seq: u32) -> u32 {
        let mut seq = seq;
        while let Some(word) = self.word(seq) {
            let run = (self.words[word] >> (seq % 64)).trailing_ones().min(64 - seq % 64);
            seq += run;
            if run == 0 || !seq.is_multiple_of(64) {
                break;
            }
        }
        seq
    }

    /// The first number of the run that ends just before `seq`; `seq` itself if there is none.
    pub fn run_start(&self, seq: u32) -> u32 {
        let mut start = seq;
        while start > self.base
            && let Some(word) = self.word(start - 1)
        {
            let place = (start - 1) % 64;
            let run = (self.words[word] << (63 - place)).leading_ones().min(place + 1);
            start -= run;
            if run < place + 1 {
                break;
            }
        }
        start
    }

    /// The `n`-th greatest number in it, counting from one.
    pub fn nth_greatest(&self, n: u32) -> Option<u32> {
        let mut left = n;
        for (index, &word) in self.words.iter().enumerate().rev() {
            if word.count_ones() < left {
                left -= word.count_ones();
                continue;
            }
            let mut word = word;
            for _ in 1..left {
                word &= !(1 << word.ilog2());
            }
            return Some(self.base + 64 * index as u32 + word.ilog2());
        }
        None
    }

    fn word(&self, seq: u32) -> Option<usize> {
        let word = (seq.checked_sub(self.base)? / 64) as usize;
        (word < self.words.len()).then_some(word)
    }

    /// The bits of `range` that lie in a word.
    fn mask(&self, word: u32, range: &Range<u32>) -> u64 {
        let first = self.base + 64 * word;
        let from = range.start.max(first) - first;
        let to = range.end.min(first + 64) - first;
        (!0 << from) & (!0 >> (64 - to))
    }

    /// Makes words for `from` to `to`.
    fn reach(&mut self, from: u32, to: u32) {
        if self.words.is_empty() {
            self.base = from / 64 * 64;
        }
        while from < self.base {
            self.words.push_front(0);
            self.base -= 64;
        }
        while to >= self.base + 64 * self.words.len() as u32 {
            self.words.push_back(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn it_agrees_with_a_plain_set() {
        let mut rng = Rng::stream(5, "segments", 0);
        for _ in 0..200 {
            let (mut set, mut model) = (SegmentSet::default(), BTreeSet::new());
            let mut floor = 1000 + rng.below(100) as u32;
            for _ in 0..200 {
                let seq = floor + rng.below(400) as u32;
                match rng.below(4) {
                    0 => assert_eq!(set.insert(seq), model.insert(seq)),
                    1 => {
                        let range = seq..seq + rng.below(150) as u32;
                        let new = range.clone().filter(|&one| model.insert(one)).count() as u32;
                        assert_eq!(set.insert_range(range), new);
                    }
                    2 if rng.chance(0.3) => {
                        floor += rng.below(120) as u32;
                        set.remove_below(floor);
                        model.retain(|&one| one >= floor);
                    }
                    _ => {
                        let range = seq..seq + rng.below(300) as u32;
                        assert_eq!(set.count(range.clone()), model.range(range).count() as u32);
                        assert_eq!(set.contains(seq), model.contains(&seq));
                        let absent = (seq..).find(|seq| !model.contains(seq));
                        assert_eq!(Some(set.first_absent(seq)), absent);
                        let mut start = seq;
                        while start > 0 && model.contains(&(start - 1)) {
                            start -= 1;
                        }
                        assert_eq!(set.run_start(seq), start);
                        let n = 1 + rng.below(70) as u32;
                        assert_eq!(set.nth_greatest(n), model.iter().rev().nth(n as usize - 1).copied());
                    }
                }
                assert_eq!(set.len(), model.len() as u32);
            }
        }
    }
}
