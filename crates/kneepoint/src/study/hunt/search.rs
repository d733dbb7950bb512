// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Search: rounds of candidates, at random at first, then children of the archive's networks.
//!
//! Candidate number *n* is drawn from the stream `hunt`, *n*, and from the state of the archive when its round begins:
//! the outcome depends on the seed, not on threads.

use super::archive::{Archive, Elite};
use super::genome::{Genome, Step};
use super::profile::Profile;
use crate::rng::Rng;

/// Candidates of a round.
pub const ROUND: u64 = 64;

/// The number of initial random rounds, before there are networks worth changing.
const FIRST: u64 = 2;

/// The part of later candidates that is still random, and the part that has two parents.
const FRESH: f64 = 0.15;
const CROSSED: f64 = 0.2;

/// The part of parents that is the best of all, so that a peak is climbed.
const BEST: f64 = 0.4;

/// The candidates from number `first` on, a round of them or as many as are left to `last`.
pub fn candidates(seed: u64, first: u64, last: u64, profile: &Profile, archives: &[Archive]) -> Vec<Genome> {
    let round = first..(first + ROUND).min(last);
    let ranked: Vec<Vec<&Elite>> = archives.iter().map(Archive::ranked).collect();
    round.map(|number| candidate(seed, number, profile, &ranked)).collect()
}

fn candidate(seed: u64, number: u64, profile: &Profile, ranked: &[Vec<&Elite>]) -> Genome {
    let mut rng = Rng::stream(seed, "hunt", number);
    // Weaknesses take turns.
    let elites = ranked.get((number % ranked.len().max(1) as u64) as usize).map_or(&[][..], |all| &all[..]);
    if number < FIRST * ROUND || elites.is_empty() || rng.chance(FRESH) {
        return profile.draw(&mut rng);
    }
    let mut child = parent(elites, &mut rng).clone();
    if rng.chance(CROSSED) {
        cross(&mut child, parent(elites, &mut rng), &mut rng);
    }
    mutate(&mut child, profile, &mut rng);
    profile.repair(&mut child);
    child
}

/// The best, or of any cell, the better of two.
fn parent<'e>(elites: &[&'e Elite], rng: &mut Rng) -> &'e Genome {
    let count = elites.len() as u64;
    let place = if rng.chance(BEST) { 0 } else { rng.below(count).min(rng.below(count)) };
    &elites[place as usize].genome
}

/// Takes each number from either parent with equal chance, and the other parent's steps after a random position.
fn cross(child: &mut Genome, other: &Genome, rng: &mut Rng) {
    let mut other = other.clone();
    let cut = rng.below(child.steps.len() as u64) as usize;
    let tail = other.steps.iter().skip(cut).copied().collect::<Vec<Step>>();
    if !tail.is_empty() {
        child.steps.truncate(cut);
        child.steps.extend(tail);
    }
    let theirs: Vec<_> = other.numbers().into_iter().map(|(gene, number)| (gene, *number)).collect();
    for (gene, value) in theirs {
        if rng.chance(0.5)
            && let Some(number) = child.number(gene)
        {
            *number = value;
        }
    }
    if rng.chance(0.5) {
        child.queue = other.queue;
    }
}

/// Changes one to three properties.
fn mutate(child: &mut Genome, profile: &Profile, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        match rng.below(10) {
            0 if (child.steps.len() as u32) < profile.steps => {
                let place = rng.below(child.steps.len() as u64) as usize;
                let copy = child.steps[place];
                child.steps.insert(place, copy);
            }
            1 if child.steps.len() > 1 => {
                child.steps.remove(rng.below(child.steps.len() as u64) as usize);
            }
            2 => child.queue = profile.queue(rng),
            3 => child.odd = !child.odd,
            _ => {
                let mut numbers = child.numbers();
                let place = rng.below(numbers.len() as u64) as usize;
                let (gene, number) = &mut numbers[place];
                **number = if rng.chance(0.3) || **number == 0 {
                    profile.value(*gene, rng)
                } else {
                    // A factor whose logarithm is normal: half of the factors are within a third of 1.
                    libm::round(f64::from(**number) * rng.lognormal(1.0, 0.45)) as u32
                };
            }
        }
    }
}
