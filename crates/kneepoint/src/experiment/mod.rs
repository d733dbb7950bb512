// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A published figure or table as data: what to run, and what was claimed of it.
//!
//! ```text
//! experiment.toml ─parse→ Experiment ─points × seeds→ Packets | Computation ─→ Row ─→ Frame ─claims→ Judgement
//! ```
//!
//! An experiment is a scenario with a sweep and, beside it, what the publication says:
//!
//! ```text
//! [experiment]    id, title, source, and what the figure shows
//! [[claim]]       a sentence of ours for what is claimed, the comparison that tests it, the published numbers
//! [[reading]]     where the publication is silent: what we took, and what else could have been meant
//! [quick]         what to shorten for a first look
//! ```
//!
//! A section `[predict]` lets congestion predictors watch a flow of the scenario; `[windows]` names stretches of the run,
//! as in `early = "0s..100s"`, each of which has all numbers of the measurement window under the label `window`. A
//! section `[compute]` takes the scenario's place where there are no packets. Where nothing can be run at all, each claim
//! says as its `reason` why.
//!
//! Each alternative of a reading is run too: whether a verdict depends on how the silence is read is part of the
//! result.

pub mod claim;
pub mod compute;
pub mod expression;
mod outcome;
mod read;
mod sections;
mod vet;
pub mod work;

pub use claim::{Claim, Comparison, Judgement, Verdict};
pub use compute::Computation;
pub use outcome::{Effort, Outcome};
pub use read::parse;
pub use sections::{Figure, Scale};
pub use work::{Packets, Watch, Yield};

crate::choice! {
    /// How long an experiment may take.
    pub enum Pace {
        /// As published.
        Full = "full",
        /// Shortened, for a first look.
        Quick = "quick",
    }
}

/// A published figure or table.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What files and reports call it: `pert-fig6`.
    pub id: String,
    /// The publication, as the command line calls it; what the id begins with, unless somebody knows better.
    pub paper: String,
    /// What it is about.
    pub title: String,
    /// Publication, section, figure.
    pub source: String,
    /// How its figure is drawn; none if there is nothing to draw.
    pub figure: Option<Figure>,
    /// What was claimed.
    pub claims: Vec<Claim>,
    /// Where the publication is silent.
    pub readings: Vec<Reading>,
    /// One run at each point for each.
    pub seeds: Vec<u64>,
    /// The readings taken, and then each alternative.
    pub variants: Vec<Variant>,
}

impl Experiment {
    /// The name on the command line: `pert.fig6`.
    pub fn name(&self) -> String {
        match self.id.split_once('-') {
            Some((_, figure)) => format!("{}.{figure}", self.paper),
            None => self.id.clone(),
        }
    }
}

/// Where a publication is silent.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What it does not say.
    pub about: String,
    /// What we took.
    pub taken: String,
}

/// An experiment under one set of readings.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What is different; nothing in the first.
    pub name: Option<String>,
    /// The points of its sweep.
    pub points: Vec<Point>,
}

/// One combination of the sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Axes and their values.
    pub labels: Vec<(String, String)>,
    /// What has to be done.
    pub work: Work,
}

/// What has to be done at a point.
#[derive(Clone, Debug)]
pub enum Work {
    /// A simulation.
    Packets(Box<Packets>),
    /// A computation, which takes no seed and little time.
    Computation(Box<Computation>),
}

impl Work {
    /// Everything that its rows depend on, but for the seed and the program.
    pub fn identity(&self) -> String {
        match self {
            Work::Packets(packets) => packets.identity(),
            Work::Computation(computation) => computation.identity(),
        }
    }
}
