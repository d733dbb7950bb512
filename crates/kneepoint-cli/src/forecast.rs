// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a study would cost: how many runs, how many of them are kept, and about how long the others take on this machine.
//!
//! ```text
//! CPU time of a run   packets that its bottleneck can carry in all × time per packet
//! time per packet     measured on the first [`TRIAL`] of up to [`TRIALS`] of these runs, spread over the list
//! time                CPU time of all new runs / runs side by side, and the longest run at least
//! ```
//!
//! A bottleneck that is not full carries less: the estimate is rather high. Computations are not estimated.

use std::time::Duration;

use kneepoint::experiment::Work;
use kneepoint::run::Simulation;
use kneepoint::spec::Valid;
use kneepoint::study::{Study, Wanted};
use kneepoint::units::{Span, Time};
use rayon::prelude::*;
use serde_json::json;

use crate::failure::Failure;
use crate::means::Means;
use crate::{files, machine};

/// CPU time spent on a run to see how fast it is.
const TRIAL: Duration = Duration::from_millis(100);
/// Runs that are tried.
const TRIALS: usize = 8;
/// Simulated time between two looks at the clock.
const SLICE: Span = Span::from_millis(50);

/// The forecast of a study.
pub struct Forecast {
    /// Different runs that it wants.
    runs: usize,
    /// Those that would be read back.
    kept: usize,
    /// CPU time of the others, if they were tried.
    cpu_seconds: Option<f64>,
    /// Time that passes.
    seconds: Option<f64>,
    /// Runs side by side.
    jobs: usize,
}

impl Forecast {
    /// Looks what is kept, and tries some of the runs that are not; `afresh` if all are simulated whatever is kept.
    pub fn of(study: &impl Study, means: &Means, afresh: bool) -> Forecast {
        let store = means.kept();
        let mut wanted: Vec<(String, Wanted)> =
            study.wanted().into_iter().map(|run| (run.name(), run)).collect();
        wanted.sort_by(|one, other| one.0.cmp(&other.0));
        wanted.dedup_by(|one, other| one.0 == other.0);
        let runs = wanted.len();
        let again = afresh || means.fresh();
        let missing: Vec<Wanted> = wanted
            .into_iter()
            .filter(|(name, _)| again || store.get(name).is_none())
            .map(|(_, run)| run)
            .collect();
        let packets: Vec<f64> = missing.iter().filter_map(|run| Some(carried(simulated(run)?))).collect();
        let jobs = means.workers().clamp(1, missing.len().max(1));
        let per_packet = per_packet(&missing);
        let cpu_seconds = per_packet.map(|each| each * packets.iter().sum::<f64>());
        let longest = packets.iter().copied().fold(0.0, f64::max);
        let seconds = cpu_seconds.zip(per_packet).map(|(cpu, each)| (cpu / jobs as f64).max(each * longest));
        Forecast { runs, kept: runs - missing.len(), cpu_seconds, seconds, jobs }
    }

    /// Prints it.
    pub fn print(&self, as_json: bool) -> Result<(), Failure> {
        let Forecast { runs, kept, cpu_seconds, seconds, jobs } = self;
        let new = runs - kept;
        if as_json {
            return files::print_json(&json!({
                "runs": runs, "kept": kept, "new": new,
                "cpu_seconds": cpu_seconds, "seconds": seconds, "jobs": jobs,
            }));
        }
        let plural = |count: usize| if count == 1 { "run" } else { "runs" };
        let mut text = format!("{runs} {}: {kept} kept, {new} new\n", plural(*runs));
        if let Some(seconds) = seconds.filter(|_| new > 0) {
            text += &format!("about {} with {jobs} side by side\n", duration(seconds));
            text += "(by trial of some of them, and if their links are full)\n";
        }
        files::print(text)
    }
}

/// A run that is simulated.
fn simulated<'w>(run: &Wanted<'w>) -> Option<&'w Valid> {
    match run.work {
        Work::Packets(packets) => Some(&packets.valid),
        Work::Computation(_) => None,
    }
}

/// Packets that the bottleneck can carry in a run.
fn carried(valid: &Valid) -> f64 {
    let rate = valid.network().links.iter().find(|link| link.measured).and_then(|link| link.rate);
    let bytes = rate.map_or(0, |rate| rate.carries(valid.schedule().duration.since(Time::ZERO)).0);
    bytes as f64 / valid.full_packet().0 as f64
}

/// Seconds of CPU time for each packet of the bottleneck, over some of the runs; nothing if they carried none.
fn per_packet(runs: &[Wanted]) -> Option<f64> {
    let tried = runs.len().min(TRIALS);
    let places = (0..tried).map(|place| place * runs.len() / tried.max(1)).collect::<Vec<_>>();
    let tries = places.into_par_iter().filter_map(|place| trial(&runs[place]));
    let (packets, seconds) = tries.reduce(|| (0, 0.0), |one, other| (one.0 + other.0, one.1 + other.1));
    (packets > 0).then(|| seconds / packets as f64)
}

/// Packets of the bottleneck and seconds of CPU time at the beginning of a run.
fn trial(run: &Wanted) -> Option<(u64, f64)> {
    let Work::Packets(packets) = run.work else { return None };
    let (end, began) = (packets.valid.schedule().duration, machine::thread_cpu_time());
    let spent = || machine::thread_cpu_time().saturating_sub(began);
    let mut simulation = Simulation::new(&packets.valid, run.seed, packets.watch(run.seed));
    while simulation.now() < end && spent() < TRIAL {
        simulation.advance(end.min(simulation.now() + SLICE));
    }
    let seconds = spent().as_secs_f64();
    Some((simulation.finish().1.bottleneck_packets, seconds))
}

/// Seconds as people say them.
fn duration(seconds: f64) -> String {
    match seconds {
        ..1.5 => "a second".into(),
        ..90.0 => format!("{seconds:.0} seconds"),
        ..5400.0 => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{:.1} hours", seconds / 3600.0),
    }
}
