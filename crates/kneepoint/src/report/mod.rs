// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports. A [document](document::Document) is made of an outcome by one function of one file here and is written by
//! every [format]; files for machines are views of rows. Equal input produces identical bytes.

pub mod coexistence;
pub mod comparison;
pub mod connections;
mod contest;
pub mod csv;
pub mod difference;
pub mod document;
pub mod factor;
pub mod figure;
mod figures;
pub mod fluid;
pub mod format;
pub mod gate;
mod grid;
pub mod hunt;
pub mod identification;
pub mod json;
pub mod live;
mod loads;
mod manifest;
pub mod markov;
pub mod names;
pub mod output;
mod parts;
pub mod pictures;
mod pivot;
pub mod playback;
pub mod predictions;
pub mod reading;
pub mod recording;
mod remarks;
pub mod reproduction;
mod shares;
pub mod studio;
pub mod tables;
mod transfers;
pub mod verdict;

use std::collections::BTreeMap;

use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Deserializer};

pub use factor::{Factor, Factors, Level};

use crate::fluid::{Misfit, Theory};
use crate::keys::Shape;
use crate::measure::Subject;
use crate::study::caution::Caution;
use crate::table::{Estimate, Labels, Row, Table, number, value};

/// The subjects of a run that have their own table in CSV and JSON, by its name.
pub const PARTS: [(&str, Subject); 7] = [
    ("links", Subject::Link),
    ("groups", Subject::Group),
    ("crossings", Subject::Crossing),
    ("classes", Subject::Class),
    ("completions", Subject::Completion),
    ("startups", Subject::Startup),
    ("drop_windows", Subject::DropWindow),
];

/// The version of the layout of files written here; it determines every key.
pub const SCHEMA_VERSION: u32 = 4;

/// Schemes that ran the same scenario with the same seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The title of the report.
    pub title: String,
    /// The factors of the schemes: of a comparison, the scheme itself and other varied settings; of a sweep, its axes.
    pub factors: Vec<Factor>,
    /// The schemes, in order.
    pub schemes: Vec<SchemeResult>,
    /// The limits of the runs.
    pub cautions: Vec<Caution>,
    /// The manifest of the runs.
    pub manifest: Manifest,
}

/// The results of one scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeResult {
    /// Its full name.
    pub scheme: String,
    /// The place of its level in each factor of the comparison.
    pub levels: Vec<usize>,
    /// The congestion controls of its groups, by group; groups without one are absent.
    pub controls: Labels,
    /// One run per seed.
    pub runs: Vec<RunResult>,
    /// The part of each run that was measured, in seconds, where that is known.
    pub measured: Option<(f64, f64)>,
    /// The state over time of the first run.
    pub series: Option<Table>,
    /// Its fluid model, if one was requested, or the reason why there is none.
    pub theory: Option<Result<Beside, String>>,
}

crate::keys! {
    /// A fluid model of a scheme.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Beside {
        /// The model's solution.
        #[serde(flatten)]
        pub theory: Theory,
        /// The distance of the first run from the model; null where it was not sampled.
        pub misfit: Option<Misfit>,
    }
}

impl SchemeResult {
    /// The estimate of a metric of the whole run.
    pub fn estimate(&self, metric: &str) -> Estimate {
        self.estimate_of(&|run| value(&run.rows, metric, &[]))
    }

    /// The estimate of a quantity of its runs.
    fn estimate_of(&self, quantity: &dyn Fn(&RunResult) -> f64) -> Estimate {
        Estimate::of(&self.distinct().iter().map(quantity).collect::<Vec<_>>())
    }

    /// The runs to estimate from: a single one where all seeds gave the same run, since several equal numbers contain no
    /// information on their error.
    pub fn distinct(&self) -> &[RunResult] {
        if self.is_certain() { &self.runs[..1] } else { &self.runs }
    }

    /// Whether several seeds gave the same run.
    pub fn is_certain(&self) -> bool {
        self.runs.len() > 1 && self.runs.windows(2).all(|pair| pair[0].is_same(&pair[1]))
    }
}

crate::keys! {
    /// The results of one run.
    #[derive(Clone, Debug, PartialEq, Deserialize)]
    pub struct RunResult {
        /// The seed; of a run on a kernel, the number of the repetition.
        pub seed: u64,
        /// Processor time that the run took; null where it was not simulated.
        pub cpu_seconds: f64,
        /// Packets that the bottleneck served in the whole run.
        pub bottleneck_packets: u64,
        /// Events that the engine handled; 0 where it was not simulated.
        pub events: u64,
        /// The results: numbers under labels.
        #[serde(serialize_with = "known")]
        pub rows: Vec<Row>,
    }
}

/// Rows without the metrics that are undefined: most of them do not apply to most rows.
fn known<S: Serializer>(rows: &[Row], serializer: S) -> Result<S::Ok, S::Error> {
    let defined = |row: &Row| Row {
        labels: row.labels.clone(),
        values: row
            .values
            .iter()
            .filter(|(_, value)| value.is_some())
            .map(|(key, value)| (key.clone(), *value))
            .collect(),
    };
    serializer.collect_seq(rows.iter().map(defined))
}

impl RunResult {
    /// Whether both runs are the same.
    fn is_same(&self, other: &RunResult) -> bool {
        self.rows == other.rows && self.events == other.events
    }
}

crate::keys! {
    /// The provenance of runs: enough to repeat them.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    pub struct Manifest {
        /// The version of the layout of all documents and tables.
        pub schema_version: u32,
        /// The version of knee.
        pub tool_version: String,
        /// The revision of its source; null where it is unknown.
        pub git_revision: Option<String>,
        /// The scenarios that were run.
        #[serde(serialize_with = "named_texts", deserialize_with = "texts_by_name")]
        pub scenario: Vec<(String, String)> => Shape::List(&Named::SHAPE),
        /// SHA-256 of these texts in order.
        pub scenario_hash: String,
        /// The files that they name, by name.
        pub files: BTreeMap<String, String> => Shape::Each("<name>", "SHA-256 of the file."),
        /// The presets that they name.
        pub presets: BTreeMap<String, String> => Shape::Each("<name>", "What the preset stands for."),
        /// The seeds of the runs.
        pub seeds: Vec<u64>,
        /// The name of the machine.
        pub host: Option<String>,
        /// Its kernel.
        pub kernel: Option<String>,
        /// The date, ISO 8601.
        pub created: Option<String>,
        /// The command line.
        pub command: Option<String>,
        /// Remarks for readers.
        pub notes: Vec<String>,
    }

    /// A scenario.
    struct Named<'a> {
        /// A name.
        name: &'a str,
        /// The TOML, which `knee run` runs again.
        text: &'a str,
    }
}

/// A list of scenarios.
fn named_texts<S: Serializer>(texts: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(texts.len()))?;
    for (name, text) in texts {
        list.serialize_element(&Named { name, text })?;
    }
    list.end()
}

/// The list that [`named_texts`] wrote.
fn texts_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, String)>, D::Error> {
    #[derive(Deserialize)]
    struct Text {
        name: String,
        text: String,
    }
    let list = Vec::<Text>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|Text { name, text }| (name, text)).collect())
}

#[cfg(test)]
mod example;
