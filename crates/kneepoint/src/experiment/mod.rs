// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A published figure or table as data: its runs and its claims.
//!
//! ```text
//! experiment.toml ─parse→ Experiment ─points × seeds→ Packets | Computation ─→ Row ─→ Frame ─claims→ Judgement
//! ```
//!
//! An experiment is a scenario with a sweep, and the statements of the publication:
//!
//! ```text
//! [experiment]    id, title, source, and the content of the figure
//! [[claim]]       the claim in our words, the comparison that tests it, the published numbers
//! [[reading]]     where the publication is silent: our choice, and alternatives
//! [quick]         shortened settings for a first look
//! ```
//!
//! With a section `[predict]` congestion predictors watch a flow of the scenario; `[windows]` names intervals of the run, as
//! in `early = "0s..100s"`, each of which has all numbers of the measurement window under the label `window`. Columns of a
//! sampled series have the label `time`, the instant at the end of their interval: sampled every 100 ms,
//! `sum(drops[link=r1-r2] over time from 0.1 to 5)` are the drops of the first five seconds. A section `[compute]` replaces
//! the scenario in a figure without packets; together with a network, each point has the numbers of both. Where nothing can
//! be run at all, each claim gives the `reason`. A claim that fails has a `cause`: the publication, an unstated setting,
//! ours, or unknown.
//!
//! A section `[bins]` pools runs by a measured value, where a publication sorts its runs by a result ([`bins`]).
//!
//! Each alternative of a reading is run too: the result includes whether a verdict depends on the reading. Readings that
//! several experiments share are in a file of their publication ([`publication`]).

pub mod bins;
pub mod claim;
pub mod expression;
pub mod gate;
pub mod hunted;
mod outcome;
pub mod publication;
mod read;
pub mod reproduce;
mod sections;
mod subject;
mod vet;

pub use bins::Bins;
pub use claim::{Cause, CheckResult, Claim, Judgement, Verdict};
pub use outcome::{Because, Reproduction};
pub use publication::{Choice, Publication, Word};
pub use read::{parse, parse_for, parse_in, parse_known, parse_with};
pub use sections::{FigureSpec, Scale};
pub use vet::observed;

use crate::study::Work;

crate::choice! {
    /// The readings of a publication that are run.
    pub enum Scope {
        /// Those taken.
        Taken = "taken",
        /// The readings taken, and each alternative alone.
        Single = "single",
        /// Every combination of the alternatives that experiments of the publication share.
        Joint = "joint",
    }
}

impl Variant {
    /// Whether it is run in this scope.
    pub fn within(&self, scope: Scope) -> bool {
        match (&self.name, scope) {
            (None, _) => true,
            (_, Scope::Taken) => false,
            (_, Scope::Single) => self.choice.len() < 2,
            (_, Scope::Joint) => !self.choice.is_empty(),
        }
    }
}

crate::choice! {
    /// The permitted time of an experiment.
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
    /// Its name in files and reports: `pert-fig6`.
    pub id: String,
    /// The publication's name on the command line; by default the first part of the id.
    pub paper: String,
    /// Its title in reports.
    pub title: String,
    /// Publication, section, figure.
    pub source: String,
    /// The words of the source that it makes runnable; empty of a figure.
    pub quote: String,
    /// Its figure, if it has one.
    pub figure: Option<FigureSpec>,
    /// The pooling of runs before claims and figures.
    pub bins: Option<Bins>,
    /// The published claims.
    pub claims: Vec<Claim>,
    /// Readings where the publication is silent.
    pub readings: Vec<Reading>,
    /// One run at each point for each, in ascending order.
    pub seeds: Vec<u64>,
    /// The readings taken, and then each alternative.
    pub variants: Vec<Variant>,
}

impl Experiment {
    /// The name on the command line: `pert.fig6`.
    pub fn name(&self) -> String {
        name(&self.paper, &self.id)
    }

    /// The runs of a variant, seed by seed: each seed with the places of the points that have it.
    pub fn runs<'v>(&self, variant: &'v Variant) -> impl Iterator<Item = (u64, usize)> + use<'_, 'v> {
        let last = self.seeds.last().copied().unwrap_or_default();
        let most = variant.points.iter().map(|point| point.more).max().unwrap_or_default();
        let further = (1..=most).map(move |step| (last + step, step));
        let seeds = self.seeds.iter().map(|seed| (*seed, 0)).chain(further);
        seeds.flat_map(|(seed, step)| {
            let points = variant.points.iter().enumerate();
            points.filter(move |(_, point)| step <= point.more).map(move |(place, _)| (seed, place))
        })
    }
}

/// The name on the command line of a paper's experiment: `pert.fig6`.
pub fn name(paper: &str, id: &str) -> String {
    match id.split_once('-') {
        Some((_, figure)) => format!("{paper}.{figure}"),
        None => id.to_string(),
    }
}

/// A gap of a publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Its name within the publication, if other experiments share it.
    pub shared: Option<String>,
    /// The open question.
    pub about: String,
    /// The reading taken.
    pub taken: String,
    /// The reason for the choice, if given.
    pub because: String,
}

/// An experiment under one set of readings.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name of the alternative reading; none for the readings taken.
    pub name: Option<String>,
    /// The alternatives among them that other experiments share.
    pub choice: Choice,
    /// The points of its sweep.
    pub points: Vec<Point>,
}

/// One combination of the sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Axes and their values.
    pub labels: Vec<(String, String)>,
    /// The work there.
    pub work: Work,
    /// The number of further seeds, after the experiment's: where a verdict is within the noise of these.
    pub more: u64,
}
