// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Advice to run more seeds: where few seeds leave rivals indistinguishable, or where their intervals do not overlap.

use super::super::Comparison;
use super::super::contest::{FEW_SEEDS, Judgement};
use super::super::document::Prose;

/// Enough to separate most rivals; a study that has as many gets twice its own.
const ENOUGH: usize = 10;

/// The advice after a sentence on rivals that are indistinguishable from all, or from some.
pub(super) fn advised(said: Prose, comparison: &Comparison, judged: &[&Judgement]) -> Prose {
    let ranks = judged.iter().flat_map(|one| &one.order);
    let runs = ranks.map(|rank| &comparison.schemes[*rank]).filter(|scheme| !scheme.is_certain());
    let Some(seeds) = runs.map(|scheme| scheme.runs.len()).min().filter(|seeds| *seeds > 1) else {
        return said;
    };
    let words = match judged.iter().any(|one| looks_apart(one)) {
        true => " Some of their 95 % intervals do not overlap: more seeds may separate them (".to_string(),
        false if seeds < FEW_SEEDS => {
            format!(" {seeds} seeds separate only large differences; more may help (")
        }
        false => return said,
    };
    let more = if seeds < ENOUGH { ENOUGH } else { 2 * seeds };
    said.then(words).code(format!("--seeds {more}")).then(").")
}

/// Whether a rival that is indistinguishable from the best has a separate interval.
fn looks_apart(judged: &Judgement) -> bool {
    let interval = |rank: usize| judged.mean(rank).interval();
    let (low, high) = interval(judged.best());
    let beyond = |rank: &usize| {
        let (least, most) = interval(*rank);
        let is_alike = !judged.is_apart(judged.best(), *rank) && !judged.is_within(judged.best(), *rank);
        is_alike && (least > high || most < low)
    };
    judged.order[1..].iter().any(beyond)
}
