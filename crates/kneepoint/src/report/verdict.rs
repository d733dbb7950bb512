// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdict of a comparison: a sentence that can be quoted. The best scheme, its lead, the confidence in it, and its
//! cost.
//!
//! ```text
//! two rivals           pie has 31 % less queueing delay than droptail (12.3 ms against 17.9 ms, 10 seeds, p < 0.001), at 0.4 % less
//!                      utilization.
//! several              pie has the least queueing delay of 4: 12.3 ms, 31 % less than codel, the next (17.9 ms, …).
//! several conditions   pie has the least queueing delay at 7 of 9 combinations of buffer and RTT (all but RTT 20 ms with …), …
//! conditions alone     From RTT 20 ms to RTT 320 ms, queueing delay falls from 12.3 ms to 4.1 ms, …
//! one case             Queueing delay is 12.3 ± 0.4 ms, …
//! ```
//!
//! Probabilities are those of [contests](super::contest). A difference of delays below the time of one packet is none. A relative
//! difference is a part of the mean of the rival behind `than`. A cost is measured against the rival that is best in that quantity.

mod course;
mod gauge;
mod places;
mod price;
mod seeds;
mod varied;

use super::contest::{Contest, Judgement};
use super::document::Prose;
use super::transfers::Group;
use super::{Comparison, number};
use crate::metric::Better;
use gauge::Gauge;
use price::{Cost, Paid, Price, costs};

/// The sentence; empty where nothing is known.
pub fn verdict(comparison: &Comparison) -> Prose {
    if let Some(group) = Gauge::leading(comparison).filter(|_| !comparison.contests().is_empty()) {
        return of_transfers(comparison, group);
    }
    let gauges = Gauge::all(comparison);
    let Some(first) = gauges.first() else { return Prose::default() };
    match (comparison.contests().as_slice(), comparison.schemes.as_slice()) {
        ([], [one]) => varied::alone(one, &gauges),
        ([], _) => course::ranges(comparison, &gauges),
        (contests, _) => judged(comparison, contests, first, &Gauge::costs(comparison)),
    }
}

/// The quantity that the sentence is about first, as figures name it.
pub(super) fn subject(comparison: &Comparison) -> Option<String> {
    Gauge::all(comparison).into_iter().next().map(|gauge| gauge.key)
}

/// The group of short transfers that the sentence is about, where it is about one.
pub(super) fn leading(comparison: &Comparison) -> Option<Group<'_>> {
    Gauge::leading(comparison).filter(|_| !comparison.contests().is_empty())
}

/// The sentence about the short transfers of a group.
pub(super) fn of_transfers<'c>(comparison: &'c Comparison, group: Group<'c>) -> Prose {
    let costs = Gauge::costs_of_transfers(comparison, &group);
    match comparison.contests().as_slice() {
        [] => Prose::default(),
        contests => judged(comparison, contests, &Gauge::of_transfers(&group), &costs),
    }
}

/// Rivals under one condition, or under several.
fn judged(comparison: &Comparison, contests: &[Contest], gauge: &Gauge, costs: &[Gauge]) -> Prose {
    match contests {
        [one] => told(comparison, one, gauge, costs),
        several => varied::tally(comparison, several, gauge, costs),
    }
}

/// One contest in words.
fn told(comparison: &Comparison, contest: &Contest, gauge: &Gauge, others: &[Gauge]) -> Prose {
    let judged = gauge.judged(comparison, contest);
    judged.map_or_else(Prose::default, |judged| Telling { comparison, gauge, others, judged }.sentence())
}

/// A contest in words.
struct Telling<'t> {
    comparison: &'t Comparison,
    /// The quantity that decides it.
    gauge: &'t Gauge<'t>,
    /// The permitted cost of the best.
    others: &'t [Gauge<'t>],
    judged: Judgement,
}

impl Telling<'_> {
    fn sentence(&self) -> Prose {
        let (best, order) = (self.judged.best(), &self.judged.order[1..]);
        // Of single runs, any difference counts.
        let behind = |rank: &usize| {
            !self.judged.is_within(best, *rank) && self.judged.mean(*rank).mean != self.judged.mean(best).mean
        };
        let worse: Vec<usize> = match self.judged.p(best, order[0]) {
            None => order.iter().copied().filter(behind).collect(),
            Some(_) => self.judged.worse(),
        };
        match worse.first() {
            None => self.tied(),
            Some(apart) => {
                let alike = order.iter().copied().filter(|rank| !worse.contains(rank));
                self.apart(&alike.collect::<Vec<_>>(), *apart)
            }
        }
    }

    /// The best against the next distinguishable one, and the indistinguishable ones.
    fn apart(&self, alike: &[usize], next: usize) -> Prose {
        let (first, of) = (self.judged.best(), self.judged.order.len());
        let (one, other) = (self.judged.mean(first).mean, self.judged.mean(next).mean);
        let (by, compared) = (self.gauge.by(one, other), self.gauge.compared(one, other));
        let (rival, evidence) = (self.name(next), self.evidence(first, next));
        let (own, others) = (self.shown(first), self.shown(next));
        let cost = self.cost(first, next);
        let told = match alike {
            [] if of == 2 => {
                format!(" has {compared} than {rival} ({own} against {others}, {evidence}){cost}.")
            }
            [] => format!(
                " has {} of {of}: {own}, {by} than {rival}, the next ({others}, {evidence}){cost}.",
                self.gauge.best()
            ),
            several => format!(
                " has {} of {of}: {own}, {by} than {rival} ({others}, {evidence}){cost}; {} ({}) {} {}{}.",
                self.gauge.best(),
                self.names(several),
                self.numbers(several),
                if several.len() == 1 { "is" } else { "are" },
                self.likeness(several),
                self.spared(first, several)
            ),
        };
        Prose::default().strong(self.name(first)).then(told)
    }

    /// The likeness of rivals to the best.
    fn likeness(&self, alike: &[usize]) -> String {
        let best = self.judged.best();
        let close = alike.iter().filter(|rank| self.judged.is_close(best, **rank)).count();
        let random = match self.judged.p(best, alike[0]) {
            Some(_) => "statistically indistinguishable from it",
            // A single run is untested, and has the same number.
            None => "equal to it",
        };
        match close {
            0 => random.into(),
            all if all == alike.len() => format!("equal to it within {}", self.packet()),
            _ => format!("{random} or equal within {}", self.packet()),
        }
    }

    /// `the time of one packet, 1.2 ms`
    fn packet(&self) -> String {
        format!("the time of one packet, {}{}", number::significant(self.judged.grain, 2), self.gauge.after())
    }

    /// None is distinguishable from the best.
    fn tied(&self) -> Prose {
        let order = &self.judged.order;
        let (first, last) = (self.judged.best(), order[order.len() - 1]);
        let (names, numbers) = (self.names(order), self.numbers(order));
        if self.judged.is_within(first, last) {
            let what = &self.gauge.name;
            return format!("The {what} of {names} is equal within {} ({numbers}).", self.packet()).into();
        }
        let pairs = order
            .iter()
            .enumerate()
            .flat_map(|(place, one)| order[..place].iter().map(move |two| (*one, *two)));
        let said = match pairs.into_iter().any(|(one, two)| self.judged.is_apart(one, two)) {
            true => format!(
                "None is statistically distinguishable in {} from {}, which has the best mean ({names}: {numbers}).",
                self.gauge.name,
                self.name(first)
            ),
            false => format!(
                "The {} of {names} is statistically indistinguishable ({numbers}, {}).",
                self.gauge.name,
                self.evidence(first, last)
            ),
        };
        seeds::advised(Prose::from(said), self.comparison, &[&self.judged])
    }

    fn name(&self, rank: usize) -> String {
        self.comparison.rival(rank)
    }

    /// `one, two and three`; of many the first.
    fn names(&self, ranks: &[usize]) -> String {
        named(&ranks.iter().map(|rank| self.name(*rank)).collect::<Vec<_>>())
    }

    fn shown(&self, rank: usize) -> String {
        self.gauge.shown(&self.judged.mean(rank))
    }

    /// `12.3, 12.5 and 12.9 ms`; of many the first and the last.
    fn numbers(&self, ranks: &[usize]) -> String {
        let bare = |rank: &usize| self.gauge.bare(&self.judged.mean(*rank));
        let told = match ranks {
            [first, .., last] if ranks.len() > MOST_NAMED => format!("{} to {}", bare(first), bare(last)),
            few => joined(&few.iter().map(bare).collect::<Vec<_>>()),
        };
        told + &self.gauge.after()
    }

    /// `10 seeds, p < 0.001`
    fn evidence(&self, one: usize, other: usize) -> String {
        let schemes = [one, other].map(|rank| &self.comparison.schemes[rank]);
        match self.judged.p(one, other) {
            None => "one run of each, untested".into(),
            Some(_) if schemes.iter().all(|scheme| scheme.is_certain()) => "nothing in them is random".into(),
            Some(p) => {
                let runs = schemes.iter().map(|scheme| scheme.runs.len()).min().unwrap_or(0);
                format!("{runs} seeds, {}", probability(p))
            }
        }
    }

    /// The rivals in a quantity that does not decide.
    fn price(&self, gauge: &Gauge) -> Option<Price> {
        Price::of(self.comparison, &self.judged.order, gauge)
    }

    /// `, at 0.4 % less utilization`: the quantities that are worse than the best rival's, or a note that there are none.
    fn cost(&self, best: usize, named: usize) -> String {
        costs(self.others, &self.name(named), |gauge| {
            let Some(price) = self.price(gauge) else { return Cost::None };
            match price.best_above(best) {
                Some(above) => Cost::Paid(Paid {
                    words: gauge.compared(price.mean(best), price.mean(above)),
                    than: self.name(above),
                    place: String::new(),
                }),
                None if price.is_best(best) => Cost::Gain,
                None => Cost::None,
            }
        })
    }

    /// ` with 14 % more utilization`: a cost of the best that its equal does not have.
    fn spared(&self, best: usize, alike: &[usize]) -> String {
        let spared = |gauge: &Gauge| {
            let price = self.price(gauge)?;
            price.best_above(best)?;
            let better = alike.iter().copied().filter(|rank| price.is_better(*rank, best));
            let order = |one: &usize, other: &usize| {
                let ascending = price.mean(*one).total_cmp(&price.mean(*other));
                if gauge.better == Better::More { ascending } else { ascending.reverse() }
            };
            let found = better.max_by(order)?;
            let words = gauge.compared(price.mean(found), price.mean(best));
            Some(match alike.len() {
                1 => format!(", with {words}"),
                _ => format!(", of which {} has {words}", self.name(found)),
            })
        };
        self.others.iter().find_map(spared).unwrap_or_default()
    }
}

/// More rivals are counted instead of named.
const MOST_NAMED: usize = 4;
/// Smaller relative differences are not worth a word.
const LEAST: f64 = 5e-4;

/// `p < 0.001`
fn probability(p: f64) -> String {
    if p < 0.001 { "p < 0.001".into() } else { format!("p = {}", number::significant(p, 1)) }
}

/// `one, two and three`; of many the first, and the number of others.
pub(super) fn named(names: &[String]) -> String {
    let shown = if names.len() > MOST_NAMED { MOST_NAMED - 1 } else { names.len() };
    let others = (shown < names.len()).then(|| format!("{} others", names.len() - shown));
    joined(&names[..shown].iter().cloned().chain(others).collect::<Vec<_>>())
}

/// `one, two and three`
fn joined(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests;
