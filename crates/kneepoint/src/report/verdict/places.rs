// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The conditions of a study in which something holds, in as few exact words as possible.
//!
//! ```text
//! all levels of some factors, some of others     RTT 20 ms and 80 ms with buffer 1 BDP
//! the same for the complement                    all but RTT 320 ms
//! a few such combinations                        RTT 20 ms; RTT 80 ms with buffer 2 BDP
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::super::contest::{Judgement, is_choice};
use super::super::{Comparison, Factor};
use super::joined;

/// More conditions than this are not listed.
const MOST_LISTED: usize = 3;

/// The level of each factor that varies and is not a choice of algorithms.
type Condition = Vec<usize>;

/// The conditions of a study.
pub(super) struct Places<'c> {
    comparison: &'c Comparison,
    /// Their places among the factors of the study.
    factors: Vec<(usize, &'c Factor)>,
    all: Vec<Condition>,
}

impl<'c> Places<'c> {
    pub(super) fn of(comparison: &'c Comparison, judged: &[Judgement]) -> Places<'c> {
        let factors = comparison.varied().filter(|(_, factor)| !is_choice(factor)).collect();
        let mut places = Places { comparison, factors, all: Vec::new() };
        places.all = judged.iter().map(|one| places.condition(one)).collect();
        places
    }

    fn condition(&self, judged: &Judgement) -> Condition {
        let levels = &self.comparison.schemes[judged.best()].levels;
        self.factors.iter().map(|(place, _)| levels[*place]).collect()
    }

    /// `9 combinations of buffer and RTT`
    pub(super) fn counted(&self) -> String {
        let names: Vec<String> = self.factors.iter().map(|(_, factor)| factor.name.clone()).collect();
        let what = if names.len() == 1 { "values" } else { "combinations" };
        format!("{} {what} of {}", self.all.len(), joined(&names))
    }

    /// `RTT 20 ms and 80 ms`; none where something holds everywhere, or where it would take too many words.
    pub(super) fn told(&self, held: &[&Judgement]) -> Option<String> {
        let held: BTreeSet<Condition> = held.iter().map(|one| self.condition(one)).collect();
        let rest: BTreeSet<Condition> = self.all.iter().filter(|one| !held.contains(*one)).cloned().collect();
        if rest.is_empty() || held.is_empty() {
            return None;
        }
        let but = |words: String| format!("all but {words}");
        self.block(&held)
            .or_else(|| self.block(&rest).map(but))
            .or_else(|| self.blocks(&held))
            .or_else(|| self.list(&held))
            .or_else(|| self.blocks(&rest).or_else(|| self.list(&rest)).map(but))
    }

    /// Conditions as a few blocks, the fewest that result from merging the levels of one factor.
    fn blocks(&self, held: &BTreeSet<Condition>) -> Option<String> {
        let along = |at: usize| {
            let mut alike: BTreeMap<BTreeSet<Condition>, BTreeSet<Condition>> = BTreeMap::new();
            for level in levels(held, at) {
                let own: BTreeSet<Condition> = held.iter().filter(|one| one[at] == level).cloned().collect();
                let without = |one: &Condition| [&one[..at], &one[at + 1..]].concat();
                alike.entry(own.iter().map(without).collect()).or_default().extend(own);
            }
            let mut groups: Vec<BTreeSet<Condition>> = alike.into_values().collect();
            groups.sort();
            groups
        };
        let fewest = (0..self.factors.len()).map(along).min_by_key(Vec::len)?;
        let words = fewest.iter().map(|group| self.block(group)).collect::<Option<Vec<_>>>();
        words.filter(|told| told.len() <= MOST_LISTED).map(|told| told.join("; "))
    }

    /// Conditions that are all combinations of some levels of each factor.
    fn block(&self, held: &BTreeSet<Condition>) -> Option<String> {
        let of = |at: usize| (self.factors[at].1, levels(held, at), levels(&self.all, at));
        let axes: Vec<(&Factor, BTreeSet<usize>, BTreeSet<usize>)> =
            (0..self.factors.len()).map(of).collect();
        let within = |condition: &&Condition| {
            condition.iter().zip(&axes).all(|(level, (_, own, _))| own.contains(level))
        };
        if self.all.iter().filter(within).count() > held.len() {
            return None;
        }
        let restricted = axes.iter().filter(|(_, own, known)| own.len() < known.len());
        let words = restricted.map(|(factor, own, known)| stretch(factor, own, known));
        words.collect::<Option<Vec<_>>>().map(|told| told.join(" with "))
    }

    /// A few conditions.
    fn list(&self, held: &BTreeSet<Condition>) -> Option<String> {
        let one = |condition: &Condition| -> String {
            let levels = self.factors.iter().zip(condition);
            levels.map(|((_, factor), level)| factor.told(*level)).collect::<Vec<_>>().join(" with ")
        };
        (held.len() <= MOST_LISTED).then(|| held.iter().map(one).collect::<Vec<_>>().join("; "))
    }
}

/// The levels of a factor in some conditions.
fn levels<'c>(conditions: impl IntoIterator<Item = &'c Condition>, at: usize) -> BTreeSet<usize> {
    conditions.into_iter().map(|condition| condition[at]).collect()
}

/// `RTT 20 ms and 80 ms`, `RTT 80 ms to 320 ms`: some of the known levels of a factor; none if they take too many words.
fn stretch(factor: &Factor, own: &BTreeSet<usize>, known: &BTreeSet<usize>) -> Option<String> {
    let number = |level: &usize| factor.levels[*level].number.unwrap_or(*level as f64);
    let sorted = |levels: &BTreeSet<usize>| -> Vec<usize> {
        let mut places: Vec<usize> = levels.iter().copied().collect();
        places.sort_by(|one, other| number(one).total_cmp(&number(other)));
        places
    };
    let (some, all) = (sorted(own), sorted(known));
    let text = |level: usize| factor.levels[level].text.clone();
    let (first, others) = some.split_first()?;
    let neighbours = all.windows(some.len()).any(|window| window == some);
    match others {
        [.., last] if some.len() > 2 && factor.is_numeric() && neighbours => {
            Some(format!("{} to {}", factor.told(*first), text(*last)))
        }
        few if some.len() <= MOST_LISTED => {
            let words: Vec<String> =
                [factor.told(*first)].into_iter().chain(few.iter().map(|level| text(*level))).collect();
            Some(joined(&words))
        }
        _ => None,
    }
}
