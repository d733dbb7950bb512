// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A run in progress, advanced step by step by its page.

use kneepoint::experiment::Experiment;
use kneepoint::run::Simulation;
use kneepoint::study::{Packets, Watch, Work, hash};
use kneepoint::table::Row;
use kneepoint::units::{Span, Time};
use self_cell::self_cell;
use serde::Serialize;

use crate::film::{Columns, Film};
use crate::question::{Problem, Question};

/// A run is finished once.
type Going<'p> = Option<Simulation<'p, (Watch, Film)>>;

self_cell!(
    /// A run with the scenario that it borrows.
    struct Held {
        owner: Packets,
        #[not_covariant]
        dependent: Going,
    }
);

/// A run in progress.
pub struct Running(Held);

/// A finished run.
#[derive(Serialize)]
pub struct Answer {
    /// Packets that the bottleneck served.
    pub bottleneck_packets: u64,
    /// Events that the engine handled.
    pub events: u64,
    /// The hash of the rows.
    pub hash: String,
    /// Its rows, as of `knee run`.
    pub rows: Vec<Row>,
    /// The columns that a page draws.
    pub film: Columns,
}

/// The hash of rows, the same on every machine.
pub fn hashed(rows: &[Row]) -> String {
    let written: Vec<String> =
        rows.iter().map(|row| serde_json::to_string(row).unwrap_or_default()).collect();
    hash::of(written.iter().map(String::as_str))
}

impl Running {
    /// The run of one case with one seed, about to begin.
    pub fn new(question: &Question) -> Result<Running, Vec<Problem>> {
        let (mut plan, _) = question.plan()?;
        let last = plan.cases.len().saturating_sub(1);
        let case = plan.cases.swap_remove(question.case.min(last));
        let seed = question.seed.or(plan.seeds.first().copied()).unwrap_or(1);
        Ok(Running::of(Packets::from(case.valid), question, seed))
    }

    /// The run of a point of a published figure.
    pub fn of_figure(experiment: &Experiment, question: &Question) -> Result<Running, Vec<Problem>> {
        let point = experiment.variants.first().and_then(|taken| taken.points.get(question.case));
        match point.map(|point| &point.work) {
            Some(Work::Packets(packets)) => {
                Ok(Running::of((**packets).clone(), question, question.seed.unwrap_or(1)))
            }
            _ => {
                Err(vec![Problem::new(format!("{} has no run {} of packets", experiment.id, question.case))])
            }
        }
    }

    /// A simulation that is filmed, about to begin.
    fn of(packets: Packets, question: &Question, seed: u64) -> Running {
        let film = Film::new(&packets.valid, question);
        Running(Held::new(packets, |packets| {
            Some(Simulation::new(&packets.valid, seed, (packets.watch(seed), film)))
        }))
    }

    /// Runs on until this many seconds of simulated time, or to the end; the time reached, and whether that is the end.
    pub fn advance(&mut self, until_s: f64) -> (f64, bool) {
        self.0.with_dependent_mut(|packets, going| {
            let Some(simulation) = going else { return (0.0, true) };
            simulation.advance(Time::ZERO + Span::from_secs_f64(until_s.max(0.0)));
            let now = simulation.now();
            (now.as_secs_f64(), now >= packets.valid.schedule().duration)
        })
    }

    /// The part of a run in progress that a page draws; nothing once it has ended.
    pub fn so_far(&self) -> Option<Columns> {
        self.0.with_dependent(|_, going| {
            let simulation = going.as_ref()?;
            let (_, film) = simulation.observer();
            Some(film.columns_so_far(simulation.now()))
        })
    }

    /// Ends the run where it is.
    pub fn finish(mut self) -> Option<Answer> {
        let simulation = self.0.with_dependent_mut(|_, going| going.take().map(Simulation::finish));
        let ((watch, film), outcome) = simulation?;
        let rows = watch.finish().rows;
        Some(Answer {
            bottleneck_packets: outcome.bottleneck_packets,
            events: outcome.events,
            hash: hashed(&rows),
            rows,
            film: film.columns(),
        })
    }
}
