// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The matching of two results' cases: cases with the same levels of common factors. A field that one result
//! varies and all scenarios of the other share is a factor of both.

use super::super::{Comparison, Factor, SchemeResult};
use super::settings::fixed;

/// The places of the cases that both results have, in the order of the second. A case is matched where one case of each
/// result has its levels in the common factors; two results of a single case each are matched regardless of the name.
pub(super) fn matched(a: &Comparison, b: &Comparison) -> Vec<(usize, usize)> {
    let mut common: Vec<(&str, [Known; 2])> = Vec::new();
    for factor in a.factors.iter().chain(&b.factors) {
        let new = common.iter().all(|(key, _)| *key != factor.key);
        if let (true, Some(one), Some(other)) = (new, Known::of(a, factor), Known::of(b, factor)) {
            common.push((factor.key.as_str(), [one, other]));
        }
    }
    let levels = |of: &'_ Comparison, side: usize| -> Vec<Vec<String>> {
        let level = |scheme: &SchemeResult| -> Vec<String> {
            common.iter().map(|(_, known)| known[side].level(of, scheme)).collect()
        };
        of.schemes.iter().map(level).collect()
    };
    let (first, second) = (levels(a, 0), levels(b, 1));
    let only = |of: &[Vec<String>], wanted: &Vec<String>| {
        let mut found = of.iter().enumerate().filter(|(_, one)| *one == wanted);
        found.next().map(|(place, _)| place).filter(|_| found.next().is_none())
    };
    let twin = |(place, own): (usize, &Vec<String>)| {
        only(&second, own)?;
        Some((only(&first, own)?, place))
    };
    let found: Vec<(usize, usize)> = second.iter().enumerate().filter_map(twin).collect();
    match found.is_empty() && first.len() == 1 && second.len() == 1 {
        true => vec![(0, 0)],
        false => found,
    }
}

/// The origin of the level of a factor in a result.
enum Known {
    /// Its cases differ in it: the place among its factors.
    Varied(usize),
    /// All of its scenarios contain it, in the words of the result that varies it.
    Fixed(String),
}

impl Known {
    /// None where it neither varies nor is given.
    fn of(comparison: &Comparison, factor: &Factor) -> Option<Known> {
        let own = comparison.factors.iter().position(|own| own.key == factor.key);
        own.map(Known::Varied).or_else(|| {
            let said = fixed(&comparison.manifest, &factor.key)?;
            let level = factor.level_of(&said);
            Some(Known::Fixed(level.map_or(said, |level| factor.levels[level].text.clone())))
        })
    }

    fn level(&self, comparison: &Comparison, scheme: &SchemeResult) -> String {
        match self {
            Known::Varied(place) => comparison.factors[*place].levels[scheme.levels[*place]].text.clone(),
            Known::Fixed(text) => text.clone(),
        }
    }
}
