// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Studies: what is to be run, and what becomes of what the runs yield.
//!
//! ```text
//! Study ─wanted→ Wanted (work, seed) ─conductor→ Record (rows, series) ─outcome→ tables, figures, claims
//! ```
//!
//! A study is pure: it knows no clock, no disk and no thread. A conductor, one for each surface, makes the runs that
//! are wanted and keeps each under its [name](fingerprint::name), so that no run is made twice, whichever study
//! wants it.

pub mod coexist;
pub mod compare;
pub mod dumbbell;
pub mod fingerprint;
pub mod fluid;
pub mod hash;
pub mod predict;
mod record;
pub mod reproduce;

pub use record::{Record, Records, Wanted};

/// What is to be run, and what becomes of the rows.
pub trait Study {
    /// What the study finds out.
    type Outcome;

    /// The runs in the order of their use: of an interrupted study the first part is the most telling.
    fn wanted(&self) -> Vec<Wanted<'_>>;

    /// What the runs amount to. Runs that are missing are left out.
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
