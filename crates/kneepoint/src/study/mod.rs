// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Studies: the runs that answer a question, and the outcome that their rows amount to.
//!
//! ```text
//! Study ─wanted→ Wanted (work, seed) ─conductor→ Record (rows, series) ─outcome→ tables, figures, claims
//!   ▲                                                                    │
//!   └──────────────────────────── again ─────────────────────────────────┘
//! ```
//!
//! A study is pure: it has no clock, disk or threads. A conductor, one for each surface, executes the runs and keeps
//! each under its [name](fingerprint::name), so that studies share runs and none is executed twice. Where an outcome calls for further
//! runs, the study has another round.

pub mod caution;
pub mod coexist;
pub mod compare;
pub mod compute;
pub mod dumbbell;
pub mod fingerprint;
pub mod fluid;
mod frame;
pub mod hash;
pub mod hunt;
pub mod identify;
pub mod live;
pub mod markov;
pub mod precision;
pub mod predict;
mod record;
pub mod watch;
pub mod work;

pub use compute::Computation;
pub use frame::Frame;
pub use record::{Effort, Record, Records, Wanted};
pub use watch::{Measured, Watch, Yield};
pub use work::{FOLLOWED, Packets, Watched, Work};

use crate::scenario::{Document, Fault};

/// The runs of a study and the outcome of their rows.
pub trait Study {
    /// The result of the study.
    type Outcome;

    /// The runs of this round and of earlier ones, the most informative first: a study may be interrupted.
    fn wanted(&self) -> Vec<Wanted<'_>>;

    /// The result of the known runs; missing runs are left out.
    fn outcome(&self, records: &Records) -> Self::Outcome;

    /// Begins the next round if the outcome of this one calls for further runs, and returns the reason. Most studies have one round.
    fn again(&mut self, _outcome: &Self::Outcome) -> Option<String> {
        None
    }

    /// Requests the runs of every round at once, independent of outcomes: for a conductor that makes runs by name and
    /// sees no outcomes.
    fn every_round(&mut self) {}
}

/// A scenario of a study that is not valid.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// Its name in the study.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its faults, with places in the text.
    pub faults: Vec<Fault>,
}

impl Invalid {
    fn of(name: String, document: Document, faults: Vec<Fault>) -> Box<Invalid> {
        Box::new(Invalid { name, text: document.into_text(), faults })
    }
}

/// All cases with one seed, then with the next, so that an interrupted study has every case with some seeds.
pub(crate) fn seed_by_seed<'w, C: Clone + Iterator<Item = &'w Work>>(
    seeds: &[u64],
    cases: C,
) -> Vec<Wanted<'w>> {
    seeds
        .iter()
        .flat_map(|seed| cases.clone().map(|work| Wanted { work, seed: *seed, series: false }))
        .collect()
}
