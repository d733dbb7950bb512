// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Options of the verbs that make runs: where they are made, how many side by side, where they are kept.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::store::Store;
use crate::{host, machine};

/// Options of every verb that makes runs.
#[derive(Args, Clone)]
pub struct Means {
    /// Runs side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), overrides_with = "jobs")]
    jobs: Option<u16>,
    /// Repeat runs that are kept
    #[arg(long)]
    fresh: bool,
    /// Directory of kept runs, shared by all verbs [default: $KNEE_STORE, or out/runs]; with --on also a URL
    ///
    /// Each run is kept there the moment it ends, under a name made of everything that determines it. A run that is
    /// kept is read back instead of being simulated: by the same command after an interruption, and by any other.
    /// A URL is one that fsspec knows, as s3://bucket/runs; out/runs then has copies.
    #[arg(long, value_name = "DIR", overrides_with = "store")]
    store: Option<PathBuf>,
    /// Make only runs I, I+N, I+2N, … of the study, as far as they are missing: for several machines with one store
    ///
    /// Each of N machines is given a number I from 1 to N. The last to finish, or the same command without it, reports.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["fresh", "on"])]
    shard: Option<Shard>,
    /// Make the runs on a Ray cluster: `ray` is this machine or $RAY_ADDRESS, `ray://HOST:PORT` one that is running
    ///
    /// The Python package has them made: `pip install 'ray[client]' fsspec`. It is looked for beside this program, then with python3;
    /// $KNEE_PYTHON names another interpreter. Scenarios, and the files that they name, are on the same paths everywhere.
    #[arg(long, value_name = "CLUSTER")]
    on: Option<Cluster>,
}

/// A part of the runs, the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
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

/// The option of verbs that can say what they would do.
#[derive(Args, Clone, Copy)]
pub struct Dry {
    /// Say how many runs there would be, how many are kept, and how long the others would take; run and write nothing
    #[arg(long = "dry-run")]
    pub run: bool,
}

impl Means {
    /// The runs that are kept.
    pub fn store(&self) -> Result<Store, Failure> {
        if let Some(url) = self.url().filter(|_| self.on.is_none()) {
            return Err(Failure::usage(
                format!("the store `{url}` is no directory"),
                "name a directory with --store, or have the runs made on a cluster with --on ray",
            ));
        }
        Store::open(self.store.as_deref())
    }

    /// These, with the runs that were just made read back.
    pub fn going_on(&self) -> Means {
        Means { fresh: false, ..self.clone() }
    }

    /// Refuses a cluster, for verbs whose runs are not made by the simulator alone.
    pub fn stay_here(&self) -> Result<(), Failure> {
        self.on.as_ref().map_or(Ok(()), |cluster| {
            let message = format!("--on {cluster}: this verb runs on this machine");
            Err(Failure::usage(message, "leave out --on; `knee run` and `knee reproduce` take it"))
        })
    }

    /// The runs that are kept, to look into; nothing is made.
    pub fn kept(&self) -> Store {
        Store::at(self.store.as_deref())
    }

    /// Whether kept runs are repeated.
    pub fn fresh(&self) -> bool {
        self.fresh
    }

    /// The URL of the store, if it is no directory.
    pub fn url(&self) -> Option<String> {
        Store::url(self.store.as_deref())
    }

    /// The part of the runs to be made, if it is not all of them.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The cluster on which the runs are made. Within another program that is the other program's business.
    pub fn cluster(&self) -> Option<&Cluster> {
        self.on.as_ref().filter(|_| host::embedding().is_none())
    }

    /// Runs side by side at most, if that was given.
    pub fn limit(&self) -> Option<u16> {
        self.jobs
    }

    /// Runs side by side.
    pub fn workers(&self) -> usize {
        self.jobs.map_or_else(machine::cores, usize::from)
    }
}
