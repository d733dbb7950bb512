// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The means of a study: the number of parallel runs, their store, and the machines that make them.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use kneepoint::units::Bytes;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::machine;
use crate::memory::Allowance;
use crate::session::{Session, Share};
use crate::store::Store;

/// The means of every study: runs made here.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// Parallel runs, or threads of one large run; one per core by default.
    pub jobs: Option<u16>,
    /// Whether kept runs are repeated.
    pub fresh: bool,
    /// The directory of kept runs, or a URL; by default the one of the environment, or the usual one.
    pub store: Option<PathBuf>,
    /// Memory that the runs may take together; without it a share of the available memory.
    pub memory: Option<Bytes>,
}

/// The means of a sweep: its runs may be made elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Sweep {
    /// The means of this process.
    pub means: Means,
    /// The part of the runs to be made, if it is not all of them.
    pub shard: Option<Shard>,
    /// The cluster on which the runs are made.
    pub on: Option<Cluster>,
    /// The time after which no further run begins.
    pub budget: Option<Duration>,
}

/// The notation of a shard.
const SHARD: &str = "write its number from 1 and how many there are, as in 2/4";

/// A part of the runs, the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the part, from 1.
    number: usize,
    /// The number of parts.
    of: usize,
}

impl Shard {
    /// Whether it has the run at this place of the study, from 0. The order is the study's, so that every machine has
    /// the same order, with any number of kept runs.
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            Some((number, of @ 1..)) => {
                Err(format!("shard {number} is outside the allowed range, 1 to {of}: {SHARD}"))
            }
            _ => Err(SHARD.to_string()),
        }
    }
}

impl Means {
    /// Refuses a store at a URL: only a cluster keeps runs there.
    pub fn check(&self, session: &Session) -> Result<(), Failure> {
        match self.url() {
            None => Ok(()),
            Some(url) => Err(Failure::usage(
                format!("the store `{url}` is not a directory"),
                format!(
                    "name a directory, as in `{}`; runs that are made with `{}` can be kept at a URL",
                    session.option("store", "out/runs"),
                    session.option("on", "ray")
                ),
            )),
        }
    }

    /// The runs that are kept.
    pub fn store(&self, session: &Session) -> Result<Store, Failure> {
        Store::open(session, self.store.as_deref())
    }

    /// The kept runs, for reading only.
    pub fn kept(&self, session: &Session) -> Store {
        Store::at(session, self.store.as_deref())
    }

    /// The URL of the store, if it is not a directory.
    pub fn url(&self) -> Option<String> {
        Store::url(self.store.as_deref())
    }

    /// The memory that runs may take together, if there is a limit.
    pub fn allowance(&self, session: &Session) -> Option<Allowance> {
        Allowance::new(self.memory, session.spelling())
    }

    /// Parallel runs.
    pub fn workers(&self) -> usize {
        self.jobs.map_or_else(machine::cores, usize::from)
    }
}

impl Sweep {
    /// Refuses contradictory means, before anything is made. A run that `listens` writes packets or objects, which are not kept.
    pub fn check(&self, session: &Session, listens: bool) -> Result<(), Failure> {
        if self.on.is_none() {
            self.means.check(session)?;
        }
        match self.elsewhere(session).filter(|_| listens) {
            None => Ok(()),
            Some(elsewhere) => Err(Failure::usage(
                format!(
                    "`{elsewhere}`: runs are read back from the store, which has neither their packets nor their objects"
                ),
                format!(
                    "leave out `{}` and `{}`, or `{elsewhere}`",
                    session.option("pcap", ""),
                    session.option("objects", "")
                ),
            )),
        }
    }

    /// The option by which others make runs, as the caller writes it.
    pub fn elsewhere(&self, session: &Session) -> Option<String> {
        let shard = self.shard.map(|shard| session.option("shard", &shard.to_string()));
        let cluster = || self.on.as_ref().map(|cluster| session.option("on", &cluster.to_string()));
        shard.or_else(cluster)
    }

    /// These, with the runs that were just made read back, and no shard.
    pub fn whole(&self) -> Sweep {
        Sweep { means: Means { fresh: false, ..self.means.clone() }, shard: None, ..self.clone() }
    }

    /// These with this budget, unless they have their own.
    #[must_use]
    pub fn within(self, budget: Option<Duration>) -> Sweep {
        Sweep { budget: self.budget.or(budget), ..self }
    }

    /// The cluster on which the runs are made. Within another program, that is the program's responsibility.
    pub fn cluster(&self, session: &Session) -> Option<&Cluster> {
        self.on.as_ref().filter(|_| !session.is_embedded())
    }

    /// Whether others make some of the runs, and keep them in the same store.
    pub fn divided(&self, session: &Session) -> bool {
        self.shard.is_some() || *session.share() != Share::All
    }
}

impl From<Means> for Sweep {
    fn from(means: Means) -> Sweep {
        Sweep { means, shard: None, on: None, budget: None }
    }
}

impl Deref for Sweep {
    type Target = Means;

    fn deref(&self) -> &Means {
        &self.means
    }
}
