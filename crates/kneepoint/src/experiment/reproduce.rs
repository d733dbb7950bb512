// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproduce: published figures and tables, every point of every experiment with every seed.

use std::collections::BTreeSet;

use super::{Experiment, Judgement, Pace, Reproduction, Scope, Variant, Verdict, bins};
use crate::study::{Frame, Records, Study, Wanted, Work};
use crate::table::Labels;

/// Experiments that are to be run.
#[derive(Clone, Debug)]
pub struct Reproduce {
    /// The experiments to run.
    pub experiments: Vec<Experiment>,
    /// Their durations.
    pub pace: Pace,
    /// The readings that are run.
    pub scope: Scope,
    /// The experiments whose other readings are run, by their ids; of all if there is no list.
    pub doubted: Option<BTreeSet<String>>,
    /// Seeds of each experiment that are run only if its claims are not decided without them, none for some; without any list, all
    /// seeds are run and no further ones.
    pub held: Vec<Vec<u64>>,
}

/// Seeds of an experiment before the first look at its claims.
const FIRST_SEEDS: usize = 3;

/// Seeds of an experiment, at most, where a verdict is within the noise of fewer.
pub const MOST_SEEDS: usize = 20;

/// The reason for a further round, of fixed seeds and of those that grow.
const READINGS: &str = "where a claim does not hold for certain, other readings are run";
const READINGS_AND_SEEDS: &str = "where a claim does not hold for certain, other readings are run, and more seeds where it is within the noise";

impl Reproduce {
    /// The same study, whose experiments stop as soon as their claims are decided either way, and have further seeds where their own
    /// leave one within the noise.
    #[must_use]
    pub fn early(mut self) -> Reproduce {
        let hold =
            |experiment: &mut Experiment| experiment.seeds.split_off(FIRST_SEEDS.min(experiment.seeds.len()));
        self.held = self.experiments.iter_mut().map(hold).collect();
        self
    }

    /// Doubles the seeds of experiments with open claims, from the seeds held back; returns whether there are any such experiments.
    fn release(&mut self, outcomes: &[Reproduction]) -> bool {
        let mut further = false;
        for ((experiment, held), outcome) in self.experiments.iter_mut().zip(&mut self.held).zip(outcomes) {
            if !held.is_empty() && !outcome.decided() {
                experiment.seeds.extend(held.drain(..experiment.seeds.len().min(held.len())));
                further = true;
            }
        }
        further
    }

    /// Marks experiments with uncertain claims; returns whether there are any new ones.
    fn doubt(&mut self, outcomes: &[Reproduction]) -> bool {
        let last = |(place, outcome): (usize, &Reproduction)| !self.holds(place) || outcome.decided();
        let last: Vec<bool> = outcomes.iter().enumerate().map(last).collect();
        let Some(doubted) = self.doubted.as_mut().filter(|_| self.scope == Scope::Single) else {
            return false;
        };
        let met = |judgement: &Judgement| judgement.verdict == Verdict::Holds && judgement.certain;
        let open = outcomes.iter().zip(last).filter(|(_, last)| *last).map(|(outcome, _)| outcome);
        let open = open.filter(|outcome| !outcome.judgements().iter().all(met));
        open.filter(|outcome| doubted.insert(outcome.experiment.id.clone())).count() > 0
    }

    /// Whether an experiment has seeds that are held back.
    fn holds(&self, place: usize) -> bool {
        self.held.get(place).is_some_and(|held| !held.is_empty())
    }

    /// Adds seeds at points where a verdict is within the noise: as many as its comparison has, and at most [`MOST_SEEDS`] in all;
    /// returns whether there are any.
    fn seed(&mut self, outcomes: &[Reproduction]) -> bool {
        let open = self.experiments.iter_mut().zip(outcomes).zip(&self.held);
        let mut further = false;
        for ((experiment, outcome), _) in open.filter(|(_, held)| held.is_empty()) {
            let doubted = outcome.doubted();
            // A bin has runs of any point.
            let pooled = experiment.bins.as_ref().and(doubted.values().max()).copied();
            further |= seed_further(experiment, |labels| pooled.or(doubted.get(labels).copied()));
        }
        further
    }

    /// Whether a variant is run.
    fn asks(&self, experiment: &Experiment, variant: &Variant) -> bool {
        let doubted = self.doubted.as_ref().is_none_or(|doubted| doubted.contains(&experiment.id));
        variant.within(if doubted { self.scope } else { Scope::Taken })
    }
}

/// Gives the points of the readings taken twice as many seeds as `had` says, at most [`MOST_SEEDS`]; returns whether any is new.
fn seed_further(experiment: &mut Experiment, had: impl Fn(&Labels) -> Option<usize>) -> bool {
    let own = experiment.seeds.len();
    let mut further = false;
    for point in &mut experiment.variants[0].points {
        let labels = point.labels.iter().cloned().collect();
        let enough = had(&labels).map_or(0, |seeds| (2 * seeds).min(MOST_SEEDS).saturating_sub(own) as u64);
        further |= enough > point.more;
        point.more = point.more.max(enough);
    }
    further
}

impl Study for Reproduce {
    type Outcome = Vec<Reproduction>;

    fn again(&mut self, outcomes: &Vec<Reproduction>) -> Option<String> {
        let full = self.pace == Pace::Full;
        // Held-back runs come first: noise is estimated from all seeds of an experiment, and other readings are for the
        // final verdict.
        let further = full && (self.doubt(outcomes) | self.seed(outcomes));
        let further = self.release(outcomes) | further;
        further.then(|| String::from(if self.held.is_empty() { READINGS } else { READINGS_AND_SEEDS }))
    }

    fn every_round(&mut self) {
        let full = self.pace == Pace::Full;
        for (experiment, held) in self.experiments.iter_mut().zip(&mut self.held) {
            experiment.seeds.append(held);
            if full {
                seed_further(experiment, |_| Some(MOST_SEEDS));
            }
        }
        if full {
            self.doubted = None;
        }
    }

    fn wanted(&self) -> Vec<Wanted<'_>> {
        let mut wanted = Vec::new();
        for experiment in &self.experiments {
            // An alternative that is not requested has no results, even if it shares runs with one that is.
            let asked = experiment.variants.iter().filter(|variant| self.asks(experiment, variant));
            let mut runs: Vec<Wanted> = Vec::new();
            for variant in asked {
                let works: Vec<&Work> = variant.points.iter().map(|point| &point.work).collect();
                let run = |(seed, place): (u64, usize)| Wanted { work: works[place], seed, series: true };
                runs.extend(experiment.runs(variant).map(run));
            }
            runs.sort_by_key(|run| run.seed);
            wanted.extend(runs);
        }
        wanted
    }

    fn outcome(&self, records: &Records) -> Vec<Reproduction> {
        let frame = |variant: &Variant, experiment: &Experiment| {
            let points: Vec<_> =
                variant.points.iter().map(|point| (&point.labels, records.by_seed(&point.work))).collect();
            let runs = experiment.runs(variant).filter_map(|(seed, place)| {
                let (labels, run) = &points[place];
                Some((labels.as_slice(), seed, run(seed)?.rows_over_time()))
            });
            bins::frame(experiment.bins.as_ref(), runs)
        };
        let outcome = |experiment: &Experiment| {
            let frames = experiment.variants.iter().map(|variant| {
                if self.asks(experiment, variant) { frame(variant, experiment) } else { Frame::default() }
            });
            Reproduction { frames: frames.collect(), pace: self.pace, experiment: experiment.clone() }
        };
        self.experiments.iter().map(outcome).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::parse;
    use crate::study::Record;
    use crate::table::Row;

    const TEXT: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"

[run]
duration = "2s"
seeds = 2

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
cc = "reno"

[[reading]]
about = "The rate."
taken = "1 Mbit/s."

[[reading.alternative]]
name = "10 Mbit/s"

[reading.alternative.set]
"topology.rate" = "10mbit"

[[claim]]
id = "used"
text = "Half is used."
check = "utilization > 0.5"
"#;

    fn study(pace: Pace) -> Reproduce {
        let experiments = vec![parse(TEXT, pace).expect("an experiment")];
        let doubted = Some(BTreeSet::new());
        Reproduce { experiments, pace, scope: Scope::Single, doubted, held: Vec::new() }.early()
    }

    fn names(study: &Reproduce) -> BTreeSet<String> {
        study.wanted().iter().map(Wanted::name).collect()
    }

    /// The runs that each round wants, where the one with each seed uses this part of the link.
    fn rounds(study: &mut Reproduce, used: impl Fn(u64) -> f64) -> Vec<BTreeSet<String>> {
        let mut rounds = Vec::new();
        loop {
            let mut records = Records::default();
            for run in study.wanted() {
                let rows = vec![Row::new([]).with("utilization", used(run.seed))];
                records.insert(run.name(), Record::computed(run.seed, 0.0, rows));
            }
            rounds.push(names(study));
            let outcome = study.outcome(&records);
            if study.again(&outcome).is_none() {
                return rounds;
            }
        }
    }

    #[test]
    fn a_round_follows_where_a_claim_is_in_doubt_and_wants_more_than_the_one_before() {
        let noisy = |seed| if seed % 2 == 0 { 0.7 } else { 0.32 };
        type Case<'c> = (&'c dyn Fn(u64) -> f64, Pace, &'c [usize]);
        let every: [Case; 4] = [
            (&|_| 0.9, Pace::Full, &[2]),
            // The other reading with each seed.
            (&|_| 0.1, Pace::Full, &[2, 4]),
            (&noisy, Pace::Full, &[2, 6, 10, 18, 22]),
            (&noisy, Pace::Quick, &[2]),
        ];
        for (used, pace, expected) in every {
            let rounds = rounds(&mut study(pace), used);
            assert_eq!(rounds.iter().map(BTreeSet::len).collect::<Vec<_>>(), expected);
            assert!(rounds.windows(2).all(|pair| pair[0].is_subset(&pair[1])));
        }
    }

    #[test]
    fn further_seeds_are_for_the_points_that_an_open_comparison_reads_and_certain_claims_keep_theirs() {
        let (head, claims) = TEXT.split_once("[[claim]]").unwrap();
        let sweep = "[sweep]\n\"topology.rate\" = [\"1mbit\", \"2mbit\", \"4mbit\"]\n\n[[reading]]";
        let swept = head.replace("[[reading]]", sweep);
        let further = "[[claim]]\nid = \"all\"\ntext = \"The links are used.\"\ncheck = \"mean(utilization over topology.rate) > 0.4\"\n";
        let open = claims.replace("utilization >", "utilization[topology.rate=1mbit] >");
        let text = format!("{swept}[[claim]]{open}{further}");
        let text = text.replace("\"topology.rate\" = \"10mbit\"", "\"run.duration\" = \"3s\"");
        let experiments = vec![parse(&text, Pace::Full).expect("an experiment")];
        let mut study = Reproduce { experiments, scope: Scope::Taken, ..study(Pace::Full) };
        let place = |of: &Reproduce, work: &Work| {
            let points = &of.experiments[0].variants[0].points;
            points.iter().position(|point| std::ptr::eq(&point.work, work)).unwrap()
        };
        let used = |at: usize, seed: u64| {
            if at == 0 { [0.32, 0.7][seed as usize % 2] } else { 0.9 + 0.01 * seed as f64 }
        };
        loop {
            let mut records = Records::default();
            for run in study.wanted() {
                let rows = vec![Row::new([]).with("utilization", used(place(&study, run.work), run.seed))];
                records.insert(run.name(), Record::computed(run.seed, 0.0, rows));
            }
            let outcome = study.outcome(&records);
            if study.again(&outcome).is_none() {
                let [first, every] = &outcome[0].judgements()[..] else { panic!("two claims") };
                assert_eq!((first.certain, first.points[0].sides.len()), (false, MOST_SEEDS));
                // 0.38 ± 0.76 with two seeds, and 0.39 ± 0.11 with four. Over these: 0.51 at the first point, and 0.925 at the others.
                assert_eq!((every.certain, every.points[0].sides.len()), (true, 4));
                assert!((every.points[0].left - (0.51 + 2.0 * 0.925) / 3.0).abs() < 1e-9);
                break;
            }
        }
        let seeds = study.experiments[0].variants[0].points.iter().map(|one| 2 + one.more as usize);
        assert_eq!(seeds.collect::<Vec<_>>(), [MOST_SEEDS, 4, 4]);
    }

    #[test]
    fn an_experiment_stops_as_soon_as_its_claims_are_decided_and_has_its_own_seeds_at_most() {
        let text = TEXT.replace("seeds = 2", "seeds = 10");
        let early = || {
            let experiments = vec![parse(&text, Pace::Full).expect("an experiment")];
            let study = Reproduce { experiments, ..study(Pace::Full) };
            Reproduce { scope: Scope::Taken, ..study }.early()
        };
        let counts = |used: &dyn Fn(u64) -> f64| {
            rounds(&mut early(), used).iter().map(BTreeSet::len).collect::<Vec<_>>()
        };
        assert_eq!(counts(&|seed| 0.9 + 0.001 * seed as f64), [3]);
        assert_eq!(counts(&|seed| 0.1 + 0.001 * seed as f64), [3]);
        // 0.53 ± 0.02: p = 0.035 of three, and 0.0004 of six.
        assert_eq!(counts(&|seed| 0.52 + 0.01 * (seed % 3) as f64), [3, 6]);
        assert_eq!(counts(&|seed| if seed % 2 == 0 { 0.7 } else { 0.32 }), [3, 6, 10, 20]);
        let mut all = early();
        all.every_round();
        assert_eq!(names(&all).len(), MOST_SEEDS);
    }

    #[test]
    fn seeds_that_were_asked_for_are_all_and_no_further_ones() {
        let asked = |pace| Reproduce { held: Vec::new(), ..study(pace) };
        let noisy = |seed| if seed % 2 == 0 { 0.7 } else { 0.32 };
        let counts = rounds(&mut asked(Pace::Full), noisy).iter().map(BTreeSet::len).collect::<Vec<_>>();
        // The other reading, with the same two seeds.
        assert_eq!(counts, [2, 4]);
        let mut all = asked(Pace::Full);
        all.every_round();
        assert_eq!(names(&all).len(), 4);
    }

    #[test]
    fn every_round_is_what_the_rounds_may_want() {
        for pace in [Pace::Full, Pace::Quick] {
            let last = rounds(&mut study(pace), |seed| if seed % 2 == 0 { 0.7 } else { 0.32 }).pop();
            let mut all = study(pace);
            all.every_round();
            assert_eq!(last, Some(names(&all)));
        }
    }
}
