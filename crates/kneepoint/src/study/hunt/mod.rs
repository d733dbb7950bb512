// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hunt: a search for networks on which a controller is far worse than a reference.
//!
//! ```text
//! profile ─draw, mutate, cross→ Genome ─valid→ two runs ─Gauge→ scores ─offer→ Archive ─shrink→ the simplest network
//!    ▲                                                                            │
//!    └───────────────────────────── next round ───────────────────────────────────┘
//! ```
//!
//! The state is a value without clock, disk or threads: [`Hunt::round`] gives networks, and their scores come back by [`Hunt::take`]. A
//! hunt is not a [`Study`](super::Study), whose every run is kept by name: a run takes less time than writing its rows to disk.

pub mod archive;
pub mod arena;
pub mod contest;
pub mod gauge;
pub mod gene;
pub mod genome;
pub mod profile;
pub mod search;
pub mod shrink;
mod told;
pub mod weakness;

pub use archive::{AXES, Archive, Cell, Elite};
pub use arena::Arena;
pub use contest::{Company, Contestants, Line};
pub use gene::Gene;
pub use genome::{Genome, Step};
pub use profile::{PROFILES, Profile};
pub use shrink::{Shrunk, shrink};
pub use weakness::{WEAKNESSES, Weakness};

use crate::spec::Invalid;
use crate::table::number::counted;
use crate::units::Bytes;

/// A hunt and how far it is.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The contestants and weaknesses.
    pub arena: Arena,
    /// The bounds of networks.
    pub profile: Profile,
    /// The seed of the search.
    pub seed: u64,
    /// The findings.
    pub progress: Progress,
}

/// The state of a hunt, from which it can resume.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Networks that were evaluated.
    pub evaluations: u64,
    /// An archive for each weakness.
    pub archives: Vec<Archive>,
}

impl Progress {
    /// The progress of an earlier hunt with the question of this one, after this many evaluations, that kept
    /// these networks of each weakness. The error names the first part that no such hunt has.
    pub fn restored(hunt: &Hunt, evaluations: u64, kept: Vec<Vec<Elite>>) -> Result<Progress, String> {
        let (packet, weaknesses) = (hunt.packet(), &hunt.arena.weaknesses);
        let archives = weaknesses.iter().zip(kept).map(|(weakness, elites)| {
            let of = |why: String| format!("archive of `{}`, {why}", weakness.name);
            let archive = Archive::restored(elites, &hunt.profile, packet).map_err(of)?;
            let count = archive.elites().len();
            // An evaluation fills at most one cell, and the first fills one.
            match (count as u64) <= evaluations && (count > 0 || evaluations == 0) {
                true => Ok(archive),
                false => {
                    let made = counted(evaluations, "evaluation");
                    Err(of(format!("{made} cannot leave {}", counted(count, "network"))))
                }
            }
        });
        let archives = archives.collect::<Result<Vec<Archive>, String>>()?;
        Ok(Progress { evaluations, archives })
    }
}

impl Hunt {
    /// A hunt before its first round.
    pub fn new(arena: Arena, profile: Profile, seed: u64) -> Hunt {
        let archives = vec![Archive::default(); arena.weaknesses.len()];
        Hunt { arena, profile, seed, progress: Progress { evaluations: 0, archives } }
    }

    /// The next networks, until this many are evaluated in all; none if they are.
    pub fn round(&self, last: u64) -> Vec<Genome> {
        let Progress { evaluations, archives } = &self.progress;
        search::candidates(self.seed, *evaluations, last, &self.profile, archives)
    }

    /// The scores of a network of a round; 0 where no archive would keep it.
    pub fn scores(&self, genome: &Genome) -> Result<Vec<f64>, Invalid> {
        let cell = archive::cell(genome, self.packet());
        let known: Vec<f64> = self.progress.archives.iter().map(|archive| archive.known(cell)).collect();
        self.arena.scores_above(genome, &known)
    }

    /// Takes the scores of all networks of a round, in its order.
    pub fn take(&mut self, round: &[Genome], scores: &[Vec<f64>]) {
        let packet = self.packet();
        for (genome, own) in round.iter().zip(scores) {
            let cell = archive::cell(genome, packet);
            for (archive, score) in self.progress.archives.iter_mut().zip(own) {
                archive.offer(cell, *score, genome);
            }
        }
        self.progress.evaluations += round.len() as u64;
    }

    /// A full packet of the subject, the unit of a buffer in bandwidth-delay products.
    pub fn packet(&self) -> Bytes {
        self.arena.contestants.contest(Company::Alone, false).packet()
    }

    /// Each weakness with its archive.
    pub fn archives(&self) -> impl Iterator<Item = (&'static Weakness, &Archive)> {
        self.arena.weaknesses.iter().copied().zip(&self.progress.archives)
    }

    /// The networks of a weakness that may be findings, the worst first: of each change of the rate one.
    pub fn suspects(&self, weakness: usize) -> Vec<&Elite> {
        let found = self.arena.weaknesses[weakness].found;
        let mut seen = Vec::new();
        let ranked = self.progress.archives[weakness].ranked();
        let kept = ranked.into_iter().filter(|elite| {
            let new = elite.score >= found && !seen.contains(&elite.cell[0]);
            seen.extend(new.then_some(elite.cell[0]));
            new
        });
        kept.collect()
    }
}
