// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Verdicts over several conditions, and of a single case.

use std::collections::BTreeMap;

use super::super::contest::{Contest, Judgement};
use super::super::document::Prose;
use super::super::{Comparison, SchemeResult};
use super::gauge::{Gauge, percent};
use super::places::Places;
use super::price::{Cost, Paid, Price, costs};
use super::{MOST_NAMED, joined, seeds};
use crate::metric::Better;

/// Several conditions: the best rivals, their number of conditions, where, and at what cost.
pub(super) fn tally(comparison: &Comparison, contests: &[Contest], gauge: &Gauge, others: &[Gauge]) -> Prose {
    let judged: Vec<Judgement> =
        contests.iter().filter_map(|contest| gauge.judged(comparison, contest)).collect();
    let untested = judged.iter().all(|one| one.p(one.best(), one.order[1]).is_none());
    let is_won = |one: &&Judgement| match untested {
        true => !one.is_within(one.best(), one.order[1]),
        false => one.worse().len() + 1 == one.order.len(),
    };
    let (won, tied): (Vec<&Judgement>, Vec<&Judgement>) = judged.iter().partition(is_won);
    let close = tied.iter().any(|one| one.is_close(one.best(), one.order[1]));
    let or_equal = if close { ", or equal within the time of one packet" } else { "" };
    let mut by_name: BTreeMap<String, Vec<&Judgement>> = BTreeMap::new();
    for one in won {
        by_name.entry(comparison.rival(one.best())).or_default().push(one);
    }
    let mut winners: Vec<(String, Vec<&Judgement>)> = by_name.into_iter().collect();
    winners.sort_by_key(|(_, theirs)| std::cmp::Reverse(theirs.len()));
    let places = Places::of(comparison, &judged);
    let Some((first, rest)) = winners.split_first() else {
        let said = format!(
            "At none of {} is one the best in {}: the next is statistically indistinguishable{or_equal}.",
            places.counted(),
            gauge.name
        );
        return seeds::advised(Prose::from(said), comparison, &tied);
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
        costs(others, "", |other| cost(comparison, theirs, other, &places))
    );
    for (other, others_won) in rest.iter().take(MOST_NAMED) {
        said += &format!("; {other} at {}{}", others_won.len(), at(others_won));
    }
    if !tied.is_empty() {
        said += &format!(
            "; at {}{} the best is statistically indistinguishable from others{or_equal}",
            tied.len(),
            at(&tied)
        );
    }
    seeds::advised(Prose::default().strong(name.clone()).then(said + "."), comparison, &tied)
}

/// `0.1 % to 4 % less utilization at RTT 20 ms`: by how much it is worse than the best rival there, and where.
fn cost(comparison: &Comparison, won: &[&Judgement], gauge: &Gauge, places: &Places) -> Cost {
    let prices: Vec<(&Judgement, Price)> = won
        .iter()
        .filter_map(|judged| Some((*judged, Price::of(comparison, &judged.order, gauge)?)))
        .collect();
    let paid: Vec<(&Judgement, f64, f64)> = prices
        .iter()
        .filter_map(|(judged, price)| {
            let above = price.best_above(judged.best())?;
            Some((*judged, price.mean(judged.best()), price.mean(above)))
        })
        .collect();
    let Some((_, one, other)) = paid.first() else {
        let gains = !prices.is_empty() && prices.iter().all(|(judged, price)| price.is_best(judged.best()));
        return if gains { Cost::Gain } else { Cost::None };
    };
    let parts = paid.iter().map(|(_, own, best)| (own - best).abs() / best.abs());
    let several = won.iter().any(|judged| judged.order.len() > 2);
    let held: Vec<&Judgement> = paid.iter().map(|(judged, ..)| *judged).collect();
    let place = match places.told(&held) {
        _ if paid.len() == won.len() => String::new(),
        Some(place) => format!(" at {place}"),
        None => format!(" in {} of them", paid.len()),
    };
    Cost::Paid(Paid {
        words: gauge.changed(&range(parts), one < other),
        than: if several { "the best rival in it".into() } else { String::new() },
        place,
    })
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

/// A single case.
pub(super) fn alone(scheme: &SchemeResult, gauges: &[Gauge]) -> Prose {
    let said = |gauge: &Gauge| format!("{} is {}", gauge.name, gauge.with_spread(&gauge.estimate(scheme)));
    let all: Vec<String> = gauges.iter().map(said).collect();
    Prose::from(capital(&joined(&all)) + &runs(scheme))
}

/// ` (10 seeds).`
pub(super) fn runs(scheme: &SchemeResult) -> String {
    match scheme.runs.len() {
        _ if scheme.is_certain() => " (nothing here is random).".into(),
        1 => " (one run).".into(),
        several => format!(" ({several} seeds)."),
    }
}

pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
