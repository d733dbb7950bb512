// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of the verbs that make runs: how many side by side, where they are kept, and who makes them.

use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use kneepoint::units::Bytes;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::machine;
use crate::memory::Allowance;
use crate::session::{Session, Share};
use crate::store::Store;

/// Options of every verb that makes runs.
#[derive(Args, Clone)]
pub struct Means {
    /// Runs side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), overrides_with = "jobs")]
    jobs: Option<u16>,
    /// Repeat runs that are kept
    #[arg(long)]
    fresh: bool,
    /// Directory of kept runs, shared by all verbs [default: $KNEE_STORE, or out/runs]
    ///
    /// Each run is kept there the moment it ends, under a name made of everything that determines it. A run that is
    /// kept is read back instead of being simulated: by the same command after an interruption, and by any other. A file
    /// that is not what was kept is set aside as NAME.json.bad and named, and its run is made again.
    #[arg(long, value_name = "DIR", overrides_with = "store")]
    store: Option<PathBuf>,
    /// Memory that the runs may take together, as in 4gb [default: three quarters of what is available]
    ///
    /// It is estimated beforehand: fewer runs are made side by side if not all fit, and a run that does not fit alone is refused. One
    /// that grows beyond what it may take is stopped. Available is what the machine has, what the control group leaves, or half of what
    /// `ulimit -v` leaves, whichever is least. On a cluster this is the memory of each worker, which makes one run at a time.
    #[arg(long, value_name = "SIZE", overrides_with = "memory")]
    memory: Option<Bytes>,
}

/// Options of the verbs that sweep: their runs may be made elsewhere, and counted beforehand.
#[derive(Args, Clone)]
pub struct Sweep {
    #[command(flatten)]
    means: Means,
    /// Make only runs I, I+N, I+2N, … of the study, as far as they are missing: for several machines with one store
    ///
    /// Each of N machines is given a number I from 1 to N. The last to finish, or the same command without it, reports.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["fresh", "on"])]
    shard: Option<Shard>,
    /// Make the runs on a Ray cluster: `ray` is this machine or $RAY_ADDRESS, `ray://HOST[:PORT]` one that is running, by default at port 10001
    ///
    /// The store may then be a URL that fsspec knows, as in `--store s3://bucket/runs`; out/runs has copies.
    /// The Python package has the runs made: `pip install 'ray[client]' fsspec`. It is looked for beside this program, then with
    /// python3; $KNEE_PYTHON names another interpreter. Scenarios, and the files that they name, are on the same paths everywhere.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<Cluster>,
    /// Say how many runs there would be, who would make them, how many are kept, how long the others would take, and how much memory; run and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// A part of the runs, the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    number: usize,
    /// How many there are.
    of: usize,
}

impl Shard {
    /// Whether it has the run at this place of the study, from 0. The order is the study's, so that every machine has the same one,
    /// whatever is kept by now.
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
            _ => Err("write a number and how many there are, as in 2/4".to_string()),
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

    /// The runs that are kept, to look into; nothing is made.
    pub fn kept(&self, session: &Session) -> Store {
        Store::at(session, self.store.as_deref())
    }

    /// Whether kept runs are repeated.
    pub fn fresh(&self) -> bool {
        self.fresh
    }

    /// The URL of the store, if it is not a directory.
    pub fn url(&self) -> Option<String> {
        Store::url(self.store.as_deref())
    }

    /// Runs side by side at most, if that was given.
    pub fn limit(&self) -> Option<u16> {
        self.jobs
    }

    /// The memory that runs may take together, if there is a limit.
    pub fn allowance(&self, session: &Session) -> Option<Allowance> {
        Allowance::new(self.memory, session.spelling())
    }

    /// Runs side by side.
    pub fn workers(&self) -> usize {
        self.jobs.map_or_else(machine::cores, usize::from)
    }
}

impl Sweep {
    /// Whether runs are to be counted only.
    pub fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// Refuses what cannot go together, before anything is made. A run that `listens` writes packets or objects, which are not kept.
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

    /// The part of the runs to be made, if it is not all of them.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The cluster on which the runs are made. Within another program that is the other program's business.
    pub fn cluster(&self, session: &Session) -> Option<&Cluster> {
        self.on.as_ref().filter(|_| !session.is_embedded())
    }

    /// Whether others make some of the runs, and keep them in the same store.
    pub fn divided(&self, session: &Session) -> bool {
        self.shard.is_some() || *session.share() != Share::All
    }
}

/// Options of a verb whose runs are made here.
impl From<&Means> for Sweep {
    fn from(means: &Means) -> Sweep {
        Sweep { means: means.clone(), shard: None, on: None, dry_run: false }
    }
}

impl Deref for Sweep {
    type Target = Means;

    fn deref(&self) -> &Means {
        &self.means
    }
}
