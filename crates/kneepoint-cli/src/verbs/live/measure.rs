// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The runs of `knee live` on the kernel.

use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::study::{Machine, Measured};
use kneepoint::experiment::Yield;
use kneepoint::measure::{Meter, RECEIVING, SENDING, Series};
use kneepoint::run as engine;
use kneepoint::study::Record;
use kneepoint::table::Row;
use kneepoint::units::Span;
use kneepoint_linux::live as kernel;

use super::cases::Case;
use super::{Arguments, plan};
use crate::conductor::progress_bar;
use crate::failure::Failure;
use crate::files::tell;
use crate::interrupt;

/// Flows of each group whose windows the series follows.
const FOLLOWED: usize = 4;

/// All runs: every case once, then every case again; as many at once as wanted. When it is interrupted, those that finished.
pub fn measure(arguments: &Arguments, cases: &[Case]) -> Result<Vec<Vec<Measured>>, Failure> {
    let runs = (1..=arguments.repetitions)
        .flat_map(|repetition| (0..cases.len()).map(move |place| (place, repetition)));
    let bar = progress_bar(cases.len() as u64 * arguments.repetitions);
    bar.set_message(format!("{} runs in real time", bar.length().unwrap_or_default()));
    bar.enable_steady_tick(Duration::from_secs(1));
    let left = Mutex::new(runs);
    let finished: Mutex<Vec<Vec<Measured>>> = Mutex::new(cases.iter().map(|_| Vec::new()).collect());
    let work = || -> Result<(), Failure> {
        loop {
            let next = left.lock().expect("no panic inside").next();
            let Some((place, repetition)) = next.filter(|_| !interrupt::asked()) else { return Ok(()) };
            let measured = repeated(arguments, &cases[place], repetition)?;
            if interrupt::asked() {
                return Ok(());
            }
            finished.lock().expect("no panic inside")[place].push(measured);
            bar.inc(1);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..arguments.at_once).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic inside"))
    })?;
    bar.finish_and_clear();
    let mut all = finished.into_inner().expect("no panic inside");
    all.iter_mut().for_each(|done| done.sort_by_key(|one| one.record.seed));
    Ok(all)
}

/// A run, again where it was spoiled.
fn repeated(arguments: &Arguments, case: &Case, repetition: u64) -> Result<Measured, Failure> {
    let mut attempt = 1;
    loop {
        let measured = once(arguments, case, repetition, attempt)?;
        let Some(why) = &measured.machine.spoiled else { return Ok(measured) };
        if interrupt::asked() || attempt == arguments.attempts {
            return Ok(measured);
        }
        tell(format!("{}, repetition {repetition}: spoiled, {why}", case.name));
        attempt += 1;
    }
}

/// One run of the kernel.
fn once(arguments: &Arguments, case: &Case, repetition: u64, attempt: u32) -> Result<Measured, Failure> {
    let valid = &case.valid;
    let plan = plan(arguments, case, repetition)?;
    let watch = (Meter::new(valid, repetition), Series::new(valid, FOLLOWED));
    let seen = kernel::experiment(valid, repetition, plan, watch, &interrupt::asked).map_err(|error| {
        let message = format!("{}: the kernel's hosts failed: {error}", case.name);
        Failure::run(message, "`knee doctor` shows what this machine allows")
    })?;
    let (meter, series) = seen.watch;
    let seen_of_run = Yield { rows: meter.finish(), series: Some(series.table()) };
    let groups = valid.groups().iter().zip(&seen.groups).map(|(group, effort)| {
        Row::new([("group", group.name.clone())]).with(SENDING, effort.ns_per_packet())
    });
    let receiving = Row::new([]).with(RECEIVING, seen.receiving.ns_per_packet());
    let micros = |span: Span| span.0 as f64 / 1e3;
    Ok(Measured {
        processor: groups.chain([receiving]).collect(),
        machine: Machine {
            attempts: attempt,
            late_us: [seen.late.p50, seen.late.p99, seen.late.max].map(micros),
            spoiled: seen.spoiled,
            superpackets: seen.superpackets,
            refused: seen.refused,
        },
        record: Record::simulated(repetition, 0.0, engine::Outcome::default(), seen_of_run),
    })
}
