// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Studies: the runs that answer a question, and the outcome that their rows amount to.
//!
//! ```text
//! Study ─wanted→ Wanted (work, seed) ─conductor→ Record (rows, series) ─outcome→ tables, figures, claims
//! ```
//!
//! A study is pure: it has no clock, disk or threads. A conductor, one for each surface, executes the runs and keeps
//! each under its [name](fingerprint::name), so that studies share runs and none is executed twice.

pub mod coexist;
pub mod compare;
pub mod dumbbell;
pub mod fingerprint;
pub mod fluid;
pub mod hash;
pub mod live;
pub mod markov;
pub mod predict;
mod record;
pub mod reproduce;

pub use record::{Record, Records, Wanted};

/// The runs of a study and the outcome of their rows.
pub trait Study {
    /// The result of the study.
    type Outcome;

    /// The runs, the most informative first: a study may be interrupted.
    fn wanted(&self) -> Vec<Wanted<'_>>;

    /// The result of the known runs; missing runs are left out.
    fn outcome(&self, records: &Records) -> Self::Outcome;
}

/// All cases with one seed, then with the next, so that an interrupted study has every case with some seeds.
fn seed_by_seed<'w, C: Clone + Iterator<Item = &'w crate::experiment::Work>>(
    seeds: &[u64],
    cases: C,
) -> Vec<Wanted<'w>> {
    seeds
        .iter()
        .flat_map(|seed| cases.clone().map(|work| Wanted { work, seed: *seed, series: false }))
        .collect()
}
