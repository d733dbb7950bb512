// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which case of one result is which of another: those with the same levels of the factors that both have.

use super::super::{Comparison, SchemeResult};

/// The levels of a case in the factors that both results have, for people.
type Levels<'c> = Vec<&'c str>;

/// The places of the cases that both results have, in the order of the second. A case is matched where its levels in the common factors
/// are those of one case of each result; two results of a single case each are matched whatever it is called.
pub(super) fn matched(a: &Comparison, b: &Comparison) -> Vec<(usize, usize)> {
    let common: Vec<&str> = a
        .factors
        .iter()
        .map(|factor| factor.key.as_str())
        .filter(|key| b.factors.iter().any(|other| other.key == *key))
        .collect();
    let (first, second) = (levels(a, &common), levels(b, &common));
    let only = |of: &[Levels], wanted: &Levels| {
        let mut found = of.iter().enumerate().filter(|(_, levels)| *levels == wanted);
        found.next().map(|(place, _)| place).filter(|_| found.next().is_none())
    };
    let twin = |(place, own): (usize, &Levels)| {
        only(&second, own)?;
        Some((only(&first, own)?, place))
    };
    let found: Vec<(usize, usize)> = second.iter().enumerate().filter_map(twin).collect();
    match found.is_empty() && first.len() == 1 && second.len() == 1 {
        true => vec![(0, 0)],
        false => found,
    }
}

/// The levels of each case in some factors.
fn levels<'c>(comparison: &'c Comparison, keys: &[&str]) -> Vec<Levels<'c>> {
    let places: Vec<usize> = keys
        .iter()
        .filter_map(|key| comparison.factors.iter().position(|factor| factor.key == *key))
        .collect();
    let of = |scheme: &'c SchemeResult| {
        let level = |place: &usize| comparison.factors[*place].levels[scheme.levels[*place]].text.as_str();
        places.iter().map(level).collect()
    };
    comparison.schemes.iter().map(of).collect()
}
