// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From numbers to bytes: one pure function per format. Equal input makes equal bytes.

pub mod coexistence;
pub mod csv;
mod figures;
pub mod fluid;
mod grid;
pub mod html;
pub mod json;
pub mod markdown;
use crate::table::number;
pub mod predictions;
pub mod reproduction;
mod shares;
pub mod svg;
pub mod text;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::measure::{Estimates, Misfit, Summary, Theory};
use crate::table::Table;

/// The version of the layout of files written here; a reader that knows it knows every key.
pub const SCHEMA_VERSION: u32 = 1;

/// Schemes that ran the same scenario with the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was compared.
    pub title: String,
    /// What ran.
    pub schemes: Vec<SchemeResult>,
    /// What it takes to run it again.
    pub manifest: Manifest,
}

/// What one scheme did.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeResult {
    /// What tables call it.
    pub scheme: String,
    /// One run per seed.
    pub runs: Vec<RunResult>,
    /// The state over time of the first run.
    pub series: Option<Table>,
    /// The fluid model beside it, if one was wanted, or why there is none.
    pub theory: Option<Result<Beside, String>>,
}

/// A fluid model beside a scheme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// What it says.
    #[serde(flatten)]
    pub theory: Theory,
    /// How far the first run is from it, if that was sampled.
    pub misfit: Option<Misfit>,
}

impl SchemeResult {
    /// Its headline figures.
    pub fn estimates(&self) -> Estimates {
        Estimates::of(self.runs.iter().map(|run| &run.summary))
    }
}

/// What one run did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// Its seed.
    pub seed: u64,
    /// Processor time it took.
    pub cpu_seconds: f64,
    /// Packets that the bottleneck served in the whole run.
    pub bottleneck_packets: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// What it amounts to.
    pub summary: Summary,
}

/// What it takes to run it again, and what is known of the run before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The version of the laboratory.
    pub tool_version: String,
    /// The revision of its source.
    pub git_revision: Option<String>,
    /// Names and texts of the scenarios, as they were read.
    #[serde(serialize_with = "named_texts")]
    pub scenario: Vec<(String, String)>,
    /// A digest of them.
    pub scenario_hash: String,
    /// The seeds of the runs, in order.
    pub seeds: Vec<u64>,
    /// The machine.
    pub host: Option<String>,
    /// Its kernel.
    pub kernel: Option<String>,
    /// When.
    pub created: Option<String>,
    /// The command line.
    pub command: Option<String>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// A list of objects with `name` and `text`.
fn named_texts<S: Serializer>(texts: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a> {
        name: &'a str,
        text: &'a str,
    }
    let mut list = serializer.serialize_seq(Some(texts.len()))?;
    for (name, text) in texts {
        list.serialize_element(&Named { name, text })?;
    }
    list.end()
}

#[cfg(test)]
mod example;
