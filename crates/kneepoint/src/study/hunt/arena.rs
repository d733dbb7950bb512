// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arena: a network to the scores of the subject on it.

use super::contest::{Company, Contest, Contestants};
use super::gauge::{Gauge, Gauged};
use super::genome::Genome;
use super::weakness::{Compared, Weakness};
use crate::run::run;
use crate::spec::Invalid;

/// The contestants, and the weaknesses that are searched for.
#[derive(Clone, Debug)]
pub struct Arena {
    /// The contestants.
    pub contestants: Contestants,
    /// The weaknesses, in the order of their scores.
    pub weaknesses: Vec<&'static Weakness>,
    /// The subject's contest and the reference's, for each set of opponents of a weakness.
    contests: Vec<(Company, [Contest; 2])>,
}

/// The seed of runs of the search, and the first of the confirming runs.
const SEED: u64 = 1;

/// Round trips that two flows share at least: before, chance divides the path.
const TRIPS: f64 = 50.0;

/// Seeds that confirm a finding on a network with randomness.
const SEEDS: u64 = 3;

impl Arena {
    /// An arena.
    pub fn new(contestants: Contestants, weaknesses: Vec<&'static Weakness>) -> Arena {
        let used = |company: &&Company| weaknesses.iter().any(|one| one.company == **company);
        let both = |company: &Company| {
            (*company, [false, true].map(|of_reference| contestants.contest(*company, of_reference)))
        };
        let contests = Company::ALL.iter().filter(used).map(both).collect();
        Arena { contestants, weaknesses, contests }
    }

    /// A score for each weakness, of one run of each contest.
    pub fn scores(&self, genome: &Genome) -> Result<Vec<f64>, Invalid> {
        self.scores_with(genome, SEED, None)
    }

    /// The same where scores count only above these, in the order of the weaknesses. The reference does not run where no score could:
    /// the scores are then 0.
    pub fn scores_above(&self, genome: &Genome, known: &[f64]) -> Result<Vec<f64>, Invalid> {
        self.scores_with(genome, SEED, Some(known))
    }

    /// The mean scores over the seeds of a finding.
    pub fn confirmed(&self, genome: &Genome) -> Result<Vec<f64>, Invalid> {
        let seeds = Arena::seeds(genome);
        let mut sums = vec![0.0; self.weaknesses.len()];
        for seed in SEED..SEED + seeds {
            for (sum, score) in sums.iter_mut().zip(self.scores_with(genome, seed, None)?) {
                *sum += score / seeds as f64;
            }
        }
        Ok(sums)
    }

    /// The number of seeds of a finding on this network.
    pub fn seeds(genome: &Genome) -> u64 {
        if genome.is_random() { SEEDS } else { 1 }
    }

    /// The subject's numbers on this network and the reference's.
    pub fn gauged(
        &self,
        genome: &Genome,
        company: Company,
        seed: u64,
    ) -> Result<Option<[Gauged; 2]>, Invalid> {
        let Some((_, [subject, reference])) = self.contests.iter().find(|(one, _)| *one == company) else {
            return Ok(None);
        };
        Ok(Some([gauge(genome, subject, seed)?, gauge(genome, reference, seed)?]))
    }

    fn scores_with(&self, genome: &Genome, seed: u64, known: Option<&[f64]>) -> Result<Vec<f64>, Invalid> {
        let mut scores = vec![0.0; self.weaknesses.len()];
        let best = Gauged::best(genome);
        // Two flows of the reference are the standard of both kinds of pairs.
        let mut pair: Option<Gauged> = None;
        for (company, [contest, opposite]) in &self.contests {
            if contest.is_pair() && genome.shared_trips() < TRIPS {
                continue;
            }
            let subject = gauge(genome, contest, seed)?;
            let packet = contest.packet();
            let score = |weakness: &Weakness, reference: &Gauged| {
                (weakness.score)(&Compared { genome, subject: &subject, reference, packet })
            };
            let own = || self.weaknesses.iter().enumerate().filter(|(_, one)| one.company == *company);
            if known.is_some_and(|known| own().all(|(place, one)| score(one, &best) <= known[place])) {
                continue;
            }
            let reference = match pair.take() {
                Some(two) => two,
                None => gauge(genome, opposite, seed)?,
            };
            own().for_each(|(place, weakness)| scores[place] = score(weakness, &reference));
            pair = contest.is_pair().then_some(reference);
        }
        Ok(scores)
    }
}

fn gauge(genome: &Genome, contest: &Contest, seed: u64) -> Result<Gauged, Invalid> {
    let rated = genome.rated(contest.is_pair());
    let valid = genome.valid(contest, rated)?;
    let (gauge, _) = run(&valid, seed, Gauge::new(genome.duration().after_start(), rated));
    Ok(gauge.finish())
}
