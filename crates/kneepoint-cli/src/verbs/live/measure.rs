// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The runs of `knee live` on the kernel.

use std::cell::Cell;
use std::sync::Mutex;
use std::thread::{self, Builder};

use kneepoint_bench::session::Session;

use super::study::{Machine, Measured};
use kneepoint::measure::{Meter, RECEIVING, SENDING, Series};
use kneepoint::run as engine;
use kneepoint::study::{Record, Yield};
use kneepoint::table::Row;
use kneepoint::units::Span;
use kneepoint_linux::live as kernel;

use super::Runs;
use super::cases::Case;
use crate::failure::Failure;

/// Flows of each group whose windows the series follows.
pub const FOLLOWED: usize = 4;

/// The time that runs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The machine's time: another attempt may be better.
    Real,
    /// The kernel's own time: another attempt would be the same.
    Virtual,
}

impl Clock {
    fn name(self) -> &'static str {
        match self {
            Clock::Real => "real",
            Clock::Virtual => "virtual",
        }
    }
}

/// A run of the kernel.
pub trait Ran: Send {
    /// The measurements.
    fn measured(&self) -> &Measured;
}

impl Ran for Measured {
    fn measured(&self) -> &Measured {
        self
    }
}

/// An attempt at a run of a case.
pub struct Attempt<'a> {
    pub repetition: u64,
    /// Its number among those at this run.
    pub number: u32,
    /// Receives the elapsed part of the run, if known.
    pub passed: &'a dyn Fn(f64),
}

/// A run of a case, by its place.
type Once<'a, R> = dyn Fn(usize, &Attempt) -> Result<R, Failure> + Sync + 'a;

/// Of a run on a bar.
const PARTS: u64 = 1000;

/// All runs: every case once, then every case again; as many concurrently as requested. After an interruption, the
/// finished ones.
pub fn measure<R: Ran>(
    session: &Session,
    runs: &Runs,
    repetitions: u64,
    names: &[&str],
    clock: Clock,
    once: &Once<R>,
) -> Result<Vec<Vec<R>>, Failure> {
    let all = (1..=repetitions).flat_map(|repetition| (0..names.len()).map(move |place| (place, repetition)));
    let count = names.len() as u64 * repetitions;
    let bar = session.bar(count * PARTS);
    bar.say(format!("{count} runs in {} time", clock.name()));
    bar.tick();
    let left = Mutex::new(all);
    let finished: Mutex<Vec<Vec<R>>> = Mutex::new(names.iter().map(|_| Vec::new()).collect());
    let work = || -> Result<(), Failure> {
        loop {
            let next = left.lock().expect("no panic inside").next();
            let Some((place, repetition)) = next.filter(|_| !session.asked()) else { return Ok(()) };
            let attempts = if clock == Clock::Virtual { 1 } else { runs.attempts };
            let shown = Cell::new(0);
            let show = |parts: u64| bar.add(parts.saturating_sub(shown.replace(parts.max(shown.get()))));
            let passed = |part: f64| show((part.min(1.0) * PARTS as f64) as u64);
            let ran = repeated(session, attempts, names[place], repetition, &|number| {
                once(place, &Attempt { repetition, number, passed: &passed })
            });
            if session.asked() {
                return Ok(());
            }
            let ran = ran?;
            finished.lock().expect("no panic inside")[place].push(ran);
            show(PARTS);
        }
    };
    thread::scope(|scope| {
        let workers = (0..runs.at_once).map(|_| Builder::new().spawn_scoped(scope, work));
        let workers = workers.collect::<Result<Vec<_>, _>>();
        let workers = workers.map_err(|error| Failure::of_system("start a thread", &error))?;
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic inside"))
    })?;
    bar.close();
    let mut runs_done = finished.into_inner().expect("no panic inside");
    runs_done.iter_mut().for_each(|done| done.sort_by_key(|one| one.measured().record.seed));
    Ok(runs_done)
}

/// A run, repeated if it was spoiled.
fn repeated<R: Ran>(
    session: &Session,
    attempts: u32,
    name: &str,
    repetition: u64,
    once: &dyn Fn(u32) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut attempt = 1;
    loop {
        let ran = once(attempt)?;
        let Some(why) = &ran.measured().machine.spoiled else { return Ok(ran) };
        if session.asked() || attempt == attempts {
            return Ok(ran);
        }
        session.tell(format!("{name}, repetition {repetition}: spoiled, {why}"));
        attempt += 1;
    }
}

/// One run of the kernel.
pub fn once(session: &Session, runs: &Runs, case: &Case, attempt: &Attempt) -> Result<Measured, Failure> {
    let plan = runs.plan(case, attempt.repetition)?;
    Ok(carried_out(session, case, plan, attempt)?.0)
}

/// A run of a plan, with the films that were played in it.
pub fn carried_out(
    session: &Session,
    case: &Case,
    plan: kernel::Plan,
    attempt: &Attempt,
) -> Result<(Measured, Vec<kernel::video::Shown>), Failure> {
    let (valid, repetition) = (&case.valid, attempt.repetition);
    let watch = (Meter::new(valid, repetition), Series::new(valid, repetition, FOLLOWED));
    let seen = kernel::experiment(valid, repetition, plan, watch, &|| session.asked()).map_err(|error| {
        let message = format!("{}: the kernel's hosts failed: {error}", case.name);
        Failure::run(message, "`knee doctor` shows what this machine allows")
    })?;
    let (meter, series) = seen.watch;
    let seen_of_run = Yield { rows: meter.finish(), series: Some(series.table()), parts: None };
    let groups = valid.groups().iter().zip(&seen.groups).map(|(group, effort)| {
        Row::new([("group", group.name.clone())]).with(SENDING, effort.ns_per_packet())
    });
    let receiving = Row::new([]).with(RECEIVING, seen.receiving.ns_per_packet());
    let micros = |span: Span| span.0 as f64 / 1e3;
    let measured = Measured {
        processor: groups.chain([receiving]).collect(),
        machine: Machine {
            attempts: attempt.number,
            late_us: [seen.late.p50, seen.late.p99, seen.late.max].map(micros),
            spoiled: seen.spoiled,
            superpackets: seen.superpackets,
            refused: seen.refused,
        },
        record: Record::simulated(repetition, 0.0, engine::Outcome::default(), seen_of_run),
    };
    Ok((measured, seen.shown))
}
