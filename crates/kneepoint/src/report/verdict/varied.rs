// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Verdicts over several conditions, over conditions alone, and of a single case.

use std::collections::BTreeMap;

use super::super::contest::{Contest, Judgement};
use super::super::document::Prose;
use super::super::{Comparison, Factor, SchemeResult};
use super::gauge::{Gauge, percent};
use super::places::Places;
use super::{Cost, Difference, MOST_NAMED, costs, joined};
use crate::metric::Better;
use crate::table::Estimate;

/// Several conditions: which rival is best in how many of them, where, and at what cost.
pub(super) fn tally(comparison: &Comparison, contests: &[Contest], gauge: &Gauge, others: &[Gauge]) -> Prose {
    let judged: Vec<Judgement> = contests
        .iter()
        .filter_map(|contest| Judgement::of(comparison, contest, gauge.better, &|run| gauge.of(run)))
        .collect();
    let untested = judged.iter().all(|one| one.p(one.best(), one.order[1]).is_none());
    let (won, tied): (Vec<&Judgement>, Vec<&Judgement>) =
        judged.iter().partition(|one| untested || one.worse().len() + 1 == one.order.len());
    let mut by_name: BTreeMap<String, Vec<&Judgement>> = BTreeMap::new();
    for one in won {
        by_name.entry(comparison.rival(one.best())).or_default().push(one);
    }
    let mut winners: Vec<(String, Vec<&Judgement>)> = by_name.into_iter().collect();
    winners.sort_by_key(|(_, theirs)| std::cmp::Reverse(theirs.len()));
    let places = Places::of(comparison, &judged);
    let Some((first, rest)) = winners.split_first() else {
        return Prose::from(format!(
            "None is statistically distinguishable as the best in {} at any of {}.",
            gauge.name,
            places.counted()
        ));
    };
    let at = |held: &[&Judgement]| places.told(held).map_or(String::new(), |place| format!(" ({place})"));
    let (name, theirs) = first;
    let lead = |contest: &&Judgement| {
        let (one, other) = (contest.mean(contest.best()).mean, contest.mean(contest.order[1]).mean);
        (one - other).abs() / other.abs()
    };
    let mut said = format!(
        " has {} at {} {}{}, {} {} than the next ({}){}",
        gauge.best(),
        if theirs.len() == judged.len() { "all".to_string() } else { format!("{} of", theirs.len()) },
        places.counted(),
        at(theirs),
        range(theirs.iter().map(lead)),
        gauge.how(gauge.better == Better::Less),
        if untested { "one run of each, untested" } else { "p < 0.05" },
        costs(others, |other| cost(comparison, theirs, other, &places))
    );
    for (other, others_won) in rest.iter().take(MOST_NAMED) {
        said += &format!("; {other} at {}{}", others_won.len(), at(others_won));
    }
    if !tied.is_empty() {
        said += &format!(
            "; at {}{} the best is statistically indistinguishable from others",
            tied.len(),
            at(&tied)
        );
    }
    Prose::default().strong(name.clone()).then(said + ".")
}

/// `0.1 % to 4 % less utilization at RTT 20 ms`: by how much it is worse than the next, and where.
fn cost(comparison: &Comparison, won: &[&Judgement], gauge: &Gauge, places: &Places) -> Cost {
    let difference = |judged: &&Judgement| {
        let schemes = [judged.best(), judged.order[1]].map(|rank| &comparison.schemes[rank]);
        Difference::of(gauge, schemes)
    };
    let all: Vec<Difference> = won.iter().map(difference).collect();
    let is_worse = |one: &Difference| one.better(gauge) == Some(false);
    let worse: Vec<&Difference> = all.iter().filter(|one| is_worse(one)).collect();
    let Some(first) = worse.first() else {
        return if all.iter().all(|one| one.better(gauge) == Some(true)) { Cost::Gain } else { Cost::None };
    };
    let parts = worse.iter().map(|one| (one.one - one.other).abs() / one.other.abs());
    let said = gauge.changed(&range(parts), first.one < first.other);
    let paid: Vec<&Judgement> =
        won.iter().zip(&all).filter(|(_, one)| is_worse(one)).map(|(judged, _)| *judged).collect();
    let place = match places.told(&paid) {
        _ if paid.len() == won.len() => String::new(),
        Some(place) => format!(" at {place}"),
        None => format!(" in {} of them", paid.len()),
    };
    Cost::Paid(said + &place)
}

/// `12 % to 60 %`
fn range(parts: impl Iterator<Item = f64>) -> String {
    let (least, most) =
        parts.fold((f64::INFINITY, 0.0_f64), |(least, most), part| (least.min(part), most.max(part)));
    match (percent(least), percent(most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    }
}

/// Conditions alone: how the quantities change along a number, or between which numbers they are.
pub(super) fn ranges(comparison: &Comparison, gauges: &[Gauge]) -> Prose {
    let varied: Vec<(usize, &Factor)> = comparison.varied().collect();
    match varied.as_slice() {
        [(_, factor)] if factor.is_numeric() => along(comparison, factor, gauges),
        _ => between(comparison, gauges),
    }
}

/// From the least level of a factor to the greatest.
fn along(comparison: &Comparison, factor: &Factor, gauges: &[Gauge]) -> Prose {
    let level = |scheme: &SchemeResult| {
        let levels = scheme.levels.iter().zip(&comparison.factors);
        levels.filter(|(_, known)| known.key == factor.key).map(|(level, _)| *level).next().unwrap_or(0)
    };
    let number = |scheme: &&SchemeResult| factor.levels[level(scheme)].number.unwrap_or(f64::NAN);
    let ordered = |one: &&SchemeResult, other: &&SchemeResult| number(one).total_cmp(&number(other));
    let (Some(low), Some(high)) =
        (comparison.schemes.iter().min_by(ordered), comparison.schemes.iter().max_by(ordered))
    else {
        return Prose::default();
    };
    let change = |gauge: &Gauge| {
        let [from, to] = [low, high].map(|scheme| gauge.estimate(scheme));
        let (begin, end) = (gauge.bare(&from), gauge.shown(&to));
        let apart = Difference::of(gauge, [low, high]).better(gauge).is_some();
        match apart {
            _ if gauge.shown(&from) == end => format!("{} is {end} at both", gauge.name),
            false => format!("{} is {begin} and {end}, statistically indistinguishable", gauge.name),
            true if from.mean < to.mean => format!("{} rises from {begin} to {end}", gauge.name),
            true => format!("{} falls from {begin} to {end}", gauge.name),
        }
    };
    let changes: Vec<String> = gauges.iter().map(change).collect();
    let [from, to] = [low, high].map(|scheme| factor.told(level(scheme)));
    let said = format!("From {from} to {to}, {}", joined(&changes));
    Prose::from(said + &runs(low))
}

/// The least and the greatest of each quantity, and where.
fn between(comparison: &Comparison, gauges: &[Gauge]) -> Prose {
    let said = |gauge: &Gauge| {
        let all = || comparison.schemes.iter().map(|scheme| (gauge.estimate(scheme), scheme));
        let known = || all().filter(|(estimate, _)| estimate.mean.is_finite());
        let ordered = |one: &(Estimate, &SchemeResult), other: &(Estimate, &SchemeResult)| {
            one.0.mean.total_cmp(&other.0.mean)
        };
        let (least, most) = (known().min_by(ordered)?, known().max_by(ordered)?);
        if gauge.shown(&least.0) == gauge.shown(&most.0) {
            return Some(format!("{} is {} everywhere", gauge.name, gauge.shown(&least.0)));
        }
        Some(format!(
            "{} is from {} ({}) to {} ({})",
            gauge.name,
            gauge.shown(&least.0),
            least.1.scheme,
            gauge.shown(&most.0),
            most.1.scheme
        ))
    };
    let all: Vec<String> = gauges.iter().take(2).filter_map(said).collect();
    match comparison.schemes.first() {
        Some(first) => Prose::from(capital(&joined(&all)) + &runs(first)),
        None => Prose::default(),
    }
}

/// A single case.
pub(super) fn alone(scheme: &SchemeResult, gauges: &[Gauge]) -> Prose {
    let said = |gauge: &Gauge| format!("{} is {}", gauge.name, gauge.with_spread(&gauge.estimate(scheme)));
    let all: Vec<String> = gauges.iter().map(said).collect();
    Prose::from(capital(&joined(&all)) + &runs(scheme))
}

/// ` (10 seeds).`
fn runs(scheme: &SchemeResult) -> String {
    match scheme.runs.len() {
        _ if scheme.is_certain() => " (nothing here is random).".into(),
        1 => " (one run).".into(),
        several => format!(" ({several} seeds)."),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
