// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Verdicts over conditions alone: how the quantities change along a number, or between which numbers they are.

use super::super::document::Prose;
use super::super::{Comparison, Factor, SchemeResult};
use super::gauge::Gauge;
use super::price::Price;
use super::varied::{capital, runs};
use super::{joined, seeds};
use crate::table::Estimate;

/// The course of quantities along a number, or their ranges.
pub(super) fn ranges(comparison: &Comparison, gauges: &[Gauge]) -> Prose {
    let varied: Vec<(usize, &Factor)> = comparison.varied().collect();
    match varied.as_slice() {
        [(place, factor)] if factor.is_numeric() => along(comparison, (*place, factor), gauges),
        _ => between(comparison, gauges),
    }
}

/// From the least level of a factor to the greatest.
fn along(comparison: &Comparison, (place, factor): (usize, &Factor), gauges: &[Gauge]) -> Prose {
    let level = |rank: usize| comparison.schemes[rank].levels[place];
    let number = |rank: usize| factor.levels[level(rank)].number.unwrap_or(f64::NAN);
    let mut ranks: Vec<usize> = (0..comparison.schemes.len()).collect();
    ranks.sort_by(|one, other| number(*one).total_cmp(&number(*other)));
    let [low, .., high] = ranks[..] else { return Prose::default() };
    let courses: Vec<Course> = gauges.iter().map(|gauge| Course::of(comparison, gauge, &ranks)).collect();
    let name = |rank: usize| factor.told(level(rank));
    let changes: Vec<String> = courses.iter().map(|course| course.told(&name)).collect();
    let level_ones: Vec<&Course> = courses.iter().filter(|course| course.is_level()).collect();
    let names: Vec<String> = level_ones.iter().map(|course| course.gauge.name.clone()).collect();
    let ends = match names.len() {
        0 => String::new(),
        all if all == courses.len() && all > 1 => {
            "; the ends are statistically indistinguishable in all of these".into()
        }
        _ => format!("; the ends are statistically indistinguishable in {}", joined(&names)),
    };
    let said = format!("From {} to {}, {}{ends}", name(low), name(high), joined(&changes));
    let judged: Vec<_> =
        level_ones.iter().filter_map(|course| course.ends.as_ref()).map(Price::judged).collect();
    let said = Prose::from(said + &runs(&comparison.schemes[low]));
    if judged.is_empty() { said } else { seeds::advised(said, comparison, &judged) }
}

/// A quantity at the levels of a factor, from the least to the greatest.
struct Course<'c> {
    gauge: &'c Gauge<'c>,
    levels: Vec<(usize, Estimate)>,
    /// The first and the last level as rivals.
    ends: Option<Price>,
}

/// More levels than this are described by the least and the greatest number.
const MOST_LISTED: usize = 5;

impl<'c> Course<'c> {
    fn of(comparison: &Comparison, gauge: &'c Gauge<'c>, ranks: &[usize]) -> Course<'c> {
        let estimate = |rank: &usize| (*rank, gauge.estimate(&comparison.schemes[*rank]));
        let ends = [ranks[0], ranks[ranks.len() - 1]];
        Course {
            gauge,
            levels: ranks.iter().map(estimate).collect(),
            ends: Price::of(comparison, &ends, gauge),
        }
    }

    fn ends(&self) -> [&(usize, Estimate); 2] {
        [&self.levels[0], &self.levels[self.levels.len() - 1]]
    }

    /// Whether all levels have the same number as shown.
    fn is_same(&self) -> bool {
        let shown = |place: usize| self.gauge.shown(&self.levels[place].1);
        (1..self.levels.len()).all(|place| shown(place) == shown(0))
    }

    fn is_apart(&self) -> bool {
        let [low, high] = self.ends();
        self.ends.as_ref().is_some_and(|ends| ends.differ(low.0, high.0))
    }

    /// Whether levels differ as shown, and the ends are indistinguishable.
    fn is_level(&self) -> bool {
        !self.is_same() && !self.is_apart()
    }

    /// `queueing delay rises from 8.0 to 320 ms`, or its number at each level.
    fn told(&self, level: &dyn Fn(usize) -> String) -> String {
        let (gauge, [low, high]) = (self.gauge, self.ends());
        let (begin, end) = (gauge.bare(&low.1), gauge.shown(&high.1));
        let within = |(_, one): &(usize, Estimate)| {
            one.mean >= low.1.mean.min(high.1.mean) && one.mean <= low.1.mean.max(high.1.mean)
        };
        let ordered =
            |one: &&(usize, Estimate), other: &&(usize, Estimate)| one.1.mean.total_cmp(&other.1.mean);
        match (self.levels.iter().min_by(ordered), self.levels.iter().max_by(ordered)) {
            _ if self.is_same() && self.levels.len() == 2 => format!("{} is {end} at both", gauge.name),
            _ if self.is_same() => format!("{} is {end} throughout", gauge.name),
            _ if self.is_apart() && self.levels.iter().all(within) => {
                let way = if low.1.mean < high.1.mean { "rises" } else { "falls" };
                format!("{} {way} from {begin} to {end}", gauge.name)
            }
            (Some(least), Some(most)) if self.levels.len() > MOST_LISTED => format!(
                "{} is from {} ({}) to {} ({})",
                gauge.name,
                gauge.bare(&least.1),
                level(least.0),
                gauge.shown(&most.1),
                level(most.0)
            ),
            _ => {
                let each: Vec<String> = self.levels.iter().map(|(_, one)| gauge.bare(one)).collect();
                format!("{} is {}{}", gauge.name, joined(&each), gauge.after())
            }
        }
    }
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
            comparison.varied_levels(least.1),
            gauge.shown(&most.0),
            comparison.varied_levels(most.1)
        ))
    };
    let all: Vec<String> = gauges.iter().take(2).filter_map(said).collect();
    match comparison.schemes.first() {
        Some(first) => Prose::from(capital(&joined(&all)) + &runs(first)),
        None => Prose::default(),
    }
}
