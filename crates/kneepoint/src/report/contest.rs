// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Contests: cases of a study that differ in nothing but their algorithms, judged by runs of the same seeds.
//!
//! ```text
//! condition       the levels of all factors that are no choice of algorithms, as of the RTT or the buffer
//! p               of each pair in a condition, Student's paired test, corrected over all its pairs by Holm
//! best            the best mean, if p < 0.05 against some rival
//! alike           p >= 0.05 against the best, or a delay that differs by less than the time of a packet
//! ```
//!
//! Holm's correction counts all pairs, not only pairs with the best, because the same runs choose the best. Cases with equal best means all have the mark of the best.

use std::collections::BTreeMap;

use super::document::Standing;
use super::figures::bottleneck;
use super::{Comparison, Factor, RunResult, SchemeResult};
use crate::chart::scheme_class;
use crate::metric::Better;
use crate::table::Estimate;
use crate::table::paired::{LEVEL, Paired, holm};

/// Parts of a field's path that make it a choice of algorithms, or of their parameters.
const CHOICES: [&str; 6] = ["scheme", "cc", "queue", "reverse_queue", "feedback", "tcp"];

/// Fewer seeds than this separate only large differences among several rivals.
pub(super) const FEW_SEEDS: usize = 4;

/// Whether the levels of a factor are choices, and not conditions.
pub(super) fn is_choice(factor: &Factor) -> bool {
    factor.key.split('.').any(|part| CHOICES.contains(&part))
}

/// Cases under the same conditions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contest {
    /// The ranks of the schemes.
    pub(super) rivals: Vec<usize>,
}

impl Comparison {
    /// The contests of several rivals, in order of appearance.
    pub(super) fn contests(&self) -> Vec<Contest> {
        if !self.factors.iter().any(is_choice) {
            return Vec::new();
        }
        let mut all: Vec<(Vec<usize>, Contest)> = Vec::new();
        for (rank, scheme) in self.schemes.iter().enumerate() {
            let condition = self.condition(scheme);
            match all.iter_mut().find(|(known, _)| *known == condition) {
                Some((_, contest)) => contest.rivals.push(rank),
                None => all.push((condition, Contest { rivals: vec![rank] })),
            }
        }
        all.into_iter().map(|(_, contest)| contest).filter(|contest| contest.rivals.len() > 1).collect()
    }

    /// The levels of the factors other than choices.
    fn condition(&self, scheme: &SchemeResult) -> Vec<usize> {
        let levels = self.factors.iter().zip(&scheme.levels);
        levels.filter(|(factor, _)| !is_choice(factor)).map(|(_, level)| *level).collect()
    }

    /// The class of a case's colour, or of its algorithm where other factors vary as well.
    pub(super) fn class_of(&self, rank: usize) -> String {
        let choice =
            self.varied().find(|(_, factor)| is_choice(factor)).filter(|_| self.varied().count() > 1);
        scheme_class(choice.map_or(rank, |(place, _)| self.schemes[rank].levels[place]))
    }

    /// The same for a row of a table; none where only conditions vary, which are on the axes of the figure above.
    pub(super) fn class_of_row(&self, rank: usize) -> Option<String> {
        let colours = self.varied().any(|(_, factor)| is_choice(factor)) || self.varied().next().is_none();
        colours.then(|| self.class_of(rank))
    }

    /// The levels of the factors, without the algorithm where there is one.
    pub(super) fn varied_levels(&self, scheme: &SchemeResult) -> String {
        let told = self.varied().map(|(place, factor)| factor.told(scheme.levels[place]));
        told.collect::<Vec<_>>().join(", ")
    }

    /// The levels of a case that its rivals share: `RTT 20 ms, buffer 1 BDP`.
    pub(super) fn shared_by(&self, rank: usize) -> String {
        let met = self.varied().filter(|(_, factor)| !is_choice(factor));
        let told = met.map(|(place, factor)| factor.told(self.schemes[rank].levels[place]));
        told.collect::<Vec<_>>().join(", ")
    }

    /// The name of a case among its rivals: its algorithms alone.
    pub(super) fn rival(&self, rank: usize) -> String {
        let scheme = &self.schemes[rank];
        let chosen = self.factors.iter().zip(&scheme.levels).filter(|(factor, _)| is_choice(factor));
        let told: Vec<String> = chosen.map(|(factor, level)| factor.told(*level)).collect();
        if told.is_empty() { scheme.scheme.clone() } else { told.join(", ") }
    }
}

/// The rivals of a contest in a quantity.
pub(super) struct Judgement {
    /// Their ranks from the best mean to the worst.
    pub(super) order: Vec<usize>,
    /// Their means in the unit of the quantity.
    means: BTreeMap<usize, Estimate>,
    /// For each pair of rivals, the smaller rank first; none for a pair without two common seeds.
    p: BTreeMap<(usize, usize), f64>,
    /// Smaller differences do not count.
    pub(super) grain: f64,
}

/// The time of a packet at the bottleneck in milliseconds, the longest of any run of these schemes: a queueing delay is the time of
/// some packets, and a difference below one packet is irrelevant. 0 for all metrics but delays of the queue.
fn grain<'s>(key: &str, schemes: impl Iterator<Item = &'s SchemeResult>) -> f64 {
    if !key.starts_with("queueing_delay") {
        return 0.0;
    }
    let of_packet = |run: &RunResult| {
        let link = bottleneck(run)?;
        let bytes = link.value("served_bytes") / link.value("served_packets");
        Some(8e3 * bytes / link.value("capacity_bps"))
    };
    schemes
        .flat_map(|scheme| &scheme.runs)
        .filter_map(of_packet)
        .filter(|time| time.is_finite())
        .fold(0.0, f64::max)
}

impl Judgement {
    /// By the metric of this key, if it is one; none where fewer than two rivals have the quantity.
    pub(super) fn of(
        comparison: &Comparison,
        contest: &Contest,
        (key, better): (&str, Better),
        quantity: &dyn Fn(&RunResult) -> f64,
    ) -> Option<Judgement> {
        let schemes = &comparison.schemes;
        let mean = |rank: &usize| {
            let values = schemes[*rank].distinct().iter().map(quantity).filter(|value| value.is_finite());
            let mean = Estimate::of(&values.collect::<Vec<_>>());
            mean.mean.is_finite().then_some((*rank, mean))
        };
        let means: BTreeMap<usize, Estimate> = contest.rivals.iter().filter_map(mean).collect();
        let mut order: Vec<usize> = means.keys().copied().collect();
        order.sort_by(|one, other| {
            let ascending = means[one].mean.total_cmp(&means[other].mean);
            if better == Better::Less { ascending } else { ascending.reverse() }
        });
        let pairs = order.iter().enumerate();
        let pairs =
            pairs.flat_map(|(place, one)| order[place + 1..].iter().map(move |other| pair(*one, *other)));
        let probability = |(one, other)| {
            let p = contrast(&schemes[one], &schemes[other], quantity).p?;
            Some(((one, other), p))
        };
        let (pairs, single): (Vec<(usize, usize)>, Vec<f64>) = pairs.filter_map(probability).unzip();
        let p = pairs.into_iter().zip(holm(&single)).collect();
        let grain = grain(key, order.iter().map(|rank| &schemes[*rank]));
        (order.len() > 1).then_some(Judgement { order, means, p, grain })
    }

    /// The rival with the best mean.
    pub(super) fn best(&self) -> usize {
        self.order[0]
    }

    /// The mean of a rival.
    pub(super) fn mean(&self, rank: usize) -> Estimate {
        self.means[&rank]
    }

    /// The corrected probability of such a difference between equal rivals.
    pub(super) fn p(&self, one: usize, other: usize) -> Option<f64> {
        self.p.get(&pair(one, other)).copied()
    }

    /// Whether two rivals differ by too little to count.
    pub(super) fn is_within(&self, one: usize, other: usize) -> bool {
        (self.means[&one].mean - self.means[&other].mean).abs() < self.grain
    }

    /// Whether two rivals differ by more than noise, and enough to count.
    pub(super) fn is_apart(&self, one: usize, other: usize) -> bool {
        !self.is_within(one, other) && self.p(one, other).is_some_and(|p| p < LEVEL)
    }

    /// Whether only the size of their difference makes two rivals equal.
    pub(super) fn is_close(&self, one: usize, other: usize) -> bool {
        self.is_within(one, other) && self.p(one, other).is_none_or(|p| p < LEVEL)
    }

    /// The rivals that are distinguishable from the best, in their order.
    pub(super) fn worse(&self) -> Vec<usize> {
        self.order[1..].iter().copied().filter(|rank| self.is_apart(self.best(), *rank)).collect()
    }

    /// The mark of a rival; no marks where the best is indistinguishable from all.
    pub(super) fn standing(&self, rank: usize) -> Standing {
        match (self.worse().as_slice(), self.means.contains_key(&rank)) {
            ([], _) | (_, false) => Standing::Unmarked,
            _ if self.means[&rank].mean == self.means[&self.best()].mean => Standing::Best,
            (worse, _) if worse.contains(&rank) => Standing::Unmarked,
            _ if self.is_close(self.best(), rank) => Standing::Close,
            _ => Standing::Alike,
        }
    }
}

fn pair(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

/// The runs of two cases with the seeds that both have.
pub(super) fn twins<'r>(
    one: &'r SchemeResult,
    other: &'r SchemeResult,
) -> Vec<(&'r RunResult, &'r RunResult)> {
    let twin = |run: &'r RunResult| Some((run, other.runs.iter().find(|rival| rival.seed == run.seed)?));
    one.runs.iter().filter_map(twin).collect()
}

/// The quantity of two cases in these runs.
pub(super) fn paired(
    one: &SchemeResult,
    other: &SchemeResult,
    quantity: &dyn Fn(&RunResult) -> f64,
) -> Vec<(f64, f64)> {
    twins(one, other).into_iter().map(|(own, rival)| (quantity(own), quantity(rival))).collect()
}

/// Two cases in a quantity, the first minus the other, before any correction.
pub(super) fn contrast(
    one: &SchemeResult,
    other: &SchemeResult,
    quantity: &dyn Fn(&RunResult) -> f64,
) -> Paired {
    let found = Paired::of(paired(one, other, quantity));
    // Where no seed changes a run, counts are not random either.
    let certain = one.is_certain() && other.is_certain();
    Paired { p: found.p.map(|p| if certain && p < 1.0 { 0.0 } else { p }), ..found }
}

#[cfg(test)]
mod tests {
    use super::super::{Factors, example};
    use super::*;
    use crate::table::{Row, value};

    /// A case: the levels of its factors, and a number for each seed.
    type Given = (&'static [(&'static str, &'static str)], &'static [f64]);

    fn comparison(cases: &[Given]) -> Comparison {
        let mut comparison = example::of("t", &vec!["case"; cases.len()]);
        let settings = |(levels, _): &Given| {
            levels.iter().map(|(key, level)| (key.to_string(), level.to_string())).collect()
        };
        let Factors { factors, levels } = Factors::of(&cases.iter().map(settings).collect::<Vec<_>>());
        comparison.factors = factors;
        for ((scheme, places), (_, numbers)) in comparison.schemes.iter_mut().zip(levels).zip(cases) {
            let template = scheme.runs[0].clone();
            let run = |(seed, number): (u64, &f64)| {
                let rows = vec![Row::new([]).with("x", *number)];
                RunResult { seed, events: seed, rows, ..template.clone() }
            };
            (scheme.levels, scheme.runs) = (places, (1..).zip(*numbers).map(run).collect());
        }
        comparison
    }

    /// The marks of all cases; less is better.
    fn marks(cases: &[Given]) -> Vec<&'static str> {
        let comparison = comparison(cases);
        let mut all = vec![""; cases.len()];
        for contest in comparison.contests() {
            let judged =
                Judgement::of(&comparison, &contest, ("x", Better::Less), &|run| value(&run.rows, "x", &[]));
            for rank in contest.rivals {
                all[rank] = judged.as_ref().map_or("", |judged| judged.standing(rank).mark());
            }
        }
        all
    }

    #[test]
    fn the_best_and_its_equals_have_marks_of_their_own_and_the_worst_mean_has_none() {
        let of = |scheme, numbers| -> Given { (scheme, numbers) };
        let cases = [
            of(&[("scheme", "a")], &[10.0, 20.0, 30.0, 40.0, 50.0]),
            of(&[("scheme", "b")], &[10.1, 19.9, 30.1, 39.9, 50.1]),
            of(&[("scheme", "c")], &[14.0, 24.1, 34.0, 43.9, 54.0]),
            of(&[("scheme", "d")], &[20.0, 30.1, 40.0, 49.9, 60.0]),
        ];
        assert_eq!(marks(&cases), ["*", "≈", "", ""]);
    }

    #[test]
    fn rows_have_the_colours_of_algorithms_and_none_where_conditions_alone_vary() {
        let of = |levels| -> Given { (levels, &[1.0]) };
        let rtts = comparison(&[of(&[("topology.rtt", "20ms")]), of(&[("topology.rtt", "80ms")])]);
        assert_eq!([0, 1].map(|rank| rtts.class_of_row(rank)), [None, None]);
        let queues = comparison(&[of(&[("queue.kind", "pie")]), of(&[("queue.kind", "red")])]);
        assert_eq!(queues.class_of_row(1), Some(queues.class_of(1)));
    }

    #[test]
    fn rivals_under_other_conditions_are_not_compared() {
        let cases: [Given; 4] = [
            (&[("flows.long.cc", "cubic"), ("topology.rtt", "20ms")], &[1.0, 2.0, 3.0]),
            (&[("flows.long.cc", "bbr"), ("topology.rtt", "20ms")], &[2.0, 3.0, 4.001]),
            (&[("flows.long.cc", "cubic"), ("topology.rtt", "80ms")], &[7.0, 8.0, 9.0]),
            (&[("flows.long.cc", "bbr"), ("topology.rtt", "80ms")], &[6.0, 7.0, 8.001]),
        ];
        assert_eq!(marks(&cases), ["*", "", "", "*"]);
        let alone: [Given; 2] =
            [(&[("topology.rtt", "20ms")], &[1.0, 2.0]), (&[("topology.rtt", "80ms")], &[3.0, 4.0])];
        assert_eq!(comparison(&alone).contests(), []);
    }

    #[test]
    fn several_comparisons_need_a_greater_difference_than_one() {
        // p = 0.03 for the pair alone, and 0.09 as the least of three.
        let (near, far): (&[f64], &[f64]) = (&[10.0, 10.0, 10.0, 10.0], &[11.0, 12.0, 11.5, 13.5]);
        let two: [Given; 2] = [(&[("scheme", "a")], near), (&[("scheme", "b")], far)];
        assert_eq!(marks(&two), ["*", ""]);
        let third: Given = (&[("scheme", "c")], &[10.0, 12.0, 11.5, 13.5]);
        assert_eq!(marks(&[two[0], two[1], third]), ["", "", ""]);
    }

    #[test]
    fn one_run_of_each_tells_nothing_apart_and_runs_without_randomness_tell_everything() {
        let lone: [Given; 2] = [(&[("scheme", "a")], &[1.0]), (&[("scheme", "b")], &[9.0])];
        assert_eq!(marks(&lone), ["", ""]);
        let mut certain =
            comparison(&[(&[("scheme", "a")], &[1.0, 1.0, 1.0]), (&[("scheme", "b")], &[9.0, 9.0, 9.0])]);
        for run in certain.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs) {
            run.events = 7;
        }
        let contests = certain.contests();
        let [contest] = &contests[..] else { panic!("one condition") };
        let judged =
            Judgement::of(&certain, contest, ("x", Better::More), &|run| value(&run.rows, "x", &[])).unwrap();
        assert_eq!((judged.best(), judged.p(0, 1)), (1, Some(0.0)));
    }
}
