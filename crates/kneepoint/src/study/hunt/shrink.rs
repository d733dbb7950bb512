// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shrink: from a network on which a weakness shows to the simplest one on which it still does.
//!
//! Delta debugging (A. Zeller, R. Hildebrandt, Simplifying and isolating failure-inducing input, IEEE TSE 28(2), 2002): leave something out, look
//! whether the failure stays, begin again. Numbers are halved, then rounded to 1, 2 or 5 times a power of ten.

use super::arena::Arena;
use super::gene::Gene;
use super::genome::Genome;
use super::profile::Profile;
use crate::spec::Invalid;

/// The part of its score that a shrunk network keeps.
const KEPT: f64 = 0.8;

/// Passes over a network; most need three.
const PASSES: usize = 8;

/// The reduced network.
#[derive(Clone, Debug, PartialEq)]
pub struct Shrunk {
    /// The network.
    pub genome: Genome,
    /// Its score, the mean over the seeds of a finding.
    pub score: f64,
    /// The number of networks tried.
    pub tried: u64,
}

/// A try: a reduced network, or nothing where nothing can be removed.
type Move = fn(&Genome, usize, &Profile) -> Option<Genome>;

/// The moves, the boldest first. Each is tried at every place from 0.
const MOVES: &[Move] =
    &[without_step, without_number, plain_queue, level_rate, level_delay, joined, half, round];

/// Shrinks a network on which the weakness at this place shows, as far as it comes while it goes on; none where it does not show over all seeds
/// of a finding.
pub fn shrink(
    arena: &Arena,
    weakness: usize,
    genome: &Genome,
    profile: &Profile,
    goes_on: impl Fn() -> bool,
) -> Result<Option<Shrunk>, Invalid> {
    let found = arena.weaknesses[weakness].found;
    let mut score = arena.confirmed(genome)?[weakness];
    let mut tried = 1;
    if score < found {
        return Ok(None);
    }
    let least = (KEPT * score).max(found);
    let mut genome = genome.clone();
    for _ in 0..PASSES {
        let before = genome.clone();
        for one in MOVES {
            for place in 0..genome.clone().numbers().len() {
                let Some(less) = one(&genome, place, profile).filter(|less| profile.allows(less)) else {
                    continue;
                };
                if !goes_on() {
                    return Ok(Some(Shrunk { genome, score, tried }));
                }
                tried += 1;
                let now = arena.confirmed(&less)?[weakness];
                if now >= least {
                    (genome, score) = (less, now);
                }
            }
        }
        if genome == before {
            break;
        }
    }
    Ok(Some(Shrunk { genome, score, tried }))
}

/// Without the step at a place, the last first.
fn without_step(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    let count = genome.steps.len();
    (count > 1 && place < count).then(|| {
        let mut less = genome.clone();
        less.steps.remove(count - 1 - place);
        less
    })
}

/// Without the optional number at a place.
fn without_number(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    changed(genome, place, |gene, _| gene.optional().then_some(0))
}

fn plain_queue(genome: &Genome, place: usize, profile: &Profile) -> Option<Genome> {
    let plain = profile.queues[0];
    (place == 0 && genome.queue != plain).then(|| Genome { queue: plain.into(), ..genome.clone() })
}

/// With the rate of a step also in the next one.
fn level_rate(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    let mut less = genome.clone();
    less.steps.get_mut(place + 1)?.rate = genome.steps.get(place)?.rate;
    (less != *genome).then_some(less)
}

fn level_delay(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    let mut less = genome.clone();
    less.steps.get_mut(place + 1)?.delay = genome.steps.get(place)?.delay;
    (less != *genome).then_some(less)
}

/// With two successive steps of the same rate and delay merged.
fn joined(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    let [one, next] = genome.steps.get(place..place + 2)? else { return None };
    ((one.rate, one.delay) == (next.rate, next.delay)).then(|| {
        let mut less = genome.clone();
        less.steps[place].lasting += next.lasting;
        less.steps.remove(place + 1);
        less
    })
}

fn half(genome: &Genome, place: usize, profile: &Profile) -> Option<Genome> {
    changed(genome, place, |gene, value| (value / 2 >= profile.bounds(gene).0.max(1)).then_some(value / 2))
}

fn round(genome: &Genome, place: usize, _: &Profile) -> Option<Genome> {
    changed(genome, place, |_, value| (value > 0).then(|| rounded(value)))
}

fn changed(genome: &Genome, place: usize, change: impl Fn(Gene, u32) -> Option<u32>) -> Option<Genome> {
    let mut less = genome.clone();
    let mut numbers = less.numbers();
    let (gene, number) = numbers.get_mut(place)?;
    **number = change(*gene, **number)?;
    (less != *genome).then_some(less)
}

/// The nearest of 1, 2 and 5 times a power of ten, by ratio.
fn rounded(value: u32) -> u32 {
    let value = u64::from(value);
    let decades = (0..10).map(|power| 10_u64.pow(power));
    let all = decades.flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    let ratio = |one: u64| if one > value { one as f64 / value as f64 } else { value as f64 / one as f64 };
    let nearest = all.min_by(|a, b| ratio(*a).total_cmp(&ratio(*b))).unwrap_or(value);
    u32::try_from(nearest).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_one_two_or_five() {
        let all = [1, 3, 4, 7, 8, 14, 15, 60, 999, 34_000];
        assert_eq!(all.map(rounded), [1, 2, 5, 5, 10, 10, 20, 50, 1000, 50_000]);
    }
}
