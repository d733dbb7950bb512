// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of the best in one quantity, in another: against the rivals that tables mark as better there.

use super::super::Comparison;
use super::super::contest::{Contest, Judgement};
use super::gauge::Gauge;
use super::{LEAST, joined};
use crate::metric::Better;
use crate::table::paired::LEVEL;

/// The cost of the best in another quantity.
pub(super) enum Cost {
    /// It is worse.
    Paid(Paid),
    /// It is better in it, too.
    Gain,
    /// Nothing distinguishable.
    None,
}

/// A cost in words.
pub(super) struct Paid {
    /// `0.4 % less utilization`
    pub(super) words: String,
    /// Than which rival.
    pub(super) than: String,
    /// ` at RTT 20 ms`, where it is not paid everywhere.
    pub(super) place: String,
}

/// Further costs are in the tables.
const MOST_COSTS: usize = 2;

/// The costs in several quantities in words: those that are paid, or that there are none. `named` is the rival that the sentence has named.
pub(super) fn costs(gauges: &[Gauge], named: &str, of: impl Fn(&Gauge) -> Cost) -> String {
    let all: Vec<Cost> = gauges.iter().map(of).collect();
    let paid = all.iter().filter_map(|cost| if let Cost::Paid(paid) = cost { Some(paid) } else { None });
    let paid: Vec<&Paid> = paid.take(MOST_COSTS).collect();
    let is_named = paid.iter().all(|one| one.than == named);
    let told = |one: &&Paid| match is_named {
        true => format!("{}{}", one.words, one.place),
        false => format!("{} than {}{}", one.words, one.than, one.place),
    };
    let equal = gauges.iter().zip(&all).find(|(_, cost)| matches!(cost, Cost::None));
    match (paid.as_slice(), equal) {
        ([], _) if gauges.is_empty() => String::new(),
        ([], Some((gauge, _))) => format!(", at no distinguishable cost in {}", gauge.name),
        ([], None) => {
            let names: Vec<String> = gauges.iter().map(|gauge| gauge.name.clone()).collect();
            format!(", and is better in {}, too", joined(&names))
        }
        (some, _) => format!(", at {}", joined(&some.iter().map(told).collect::<Vec<_>>())),
    }
}

/// The rivals of a contest in a quantity that did not decide it.
pub(super) struct Price {
    judged: Judgement,
    better: Better,
}

impl Price {
    /// None where fewer than two of them have the quantity.
    pub(super) fn of(comparison: &Comparison, rivals: &[usize], gauge: &Gauge) -> Option<Price> {
        let contest = Contest { rivals: rivals.to_vec() };
        Some(Price { judged: gauge.judged(comparison, &contest)?, better: gauge.better })
    }

    pub(super) fn judged(&self) -> &Judgement {
        &self.judged
    }

    /// The mean of a rival.
    pub(super) fn mean(&self, rank: usize) -> f64 {
        self.judged.mean(rank).mean
    }

    /// Whether two differ by more than noise and rounding; single runs, by more than rounding.
    pub(super) fn differ(&self, one: usize, other: usize) -> bool {
        let (own, others) = (self.mean(one), self.mean(other));
        let visible = (own - others).abs() >= LEAST * others.abs();
        visible && self.judged.p(one, other).map_or(own != others, |p| p < LEVEL)
    }

    /// Whether one is better than another, by enough to count.
    pub(super) fn is_better(&self, one: usize, other: usize) -> bool {
        let more = self.mean(one) > self.mean(other);
        self.differ(one, other) && !self.judged.is_within(one, other) && more == (self.better == Better::More)
    }

    /// The best among the schemes that are better than a rival.
    pub(super) fn best_above(&self, rank: usize) -> Option<usize> {
        self.judged.order.iter().copied().find(|other| self.is_better(*other, rank))
    }

    /// Whether a rival is better than all others.
    pub(super) fn is_best(&self, rank: usize) -> bool {
        self.judged.order.iter().all(|other| *other == rank || self.is_better(rank, *other))
    }
}
