// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a study: the number of runs, the number of kept ones, the time of the others on this machine, and the memory. A
//! study that does not fit is refused before any trial.
//!
//! ```text
//! CPU time of a run   packets that its bottleneck can carry in all × time per packet
//! time per packet     measured on the first [`TRIAL`] of up to [`TRIALS`] of these runs, spread over the list
//! time                CPU time of all new runs / threads side by side, and at least that of the longest run, over its threads
//! ```
//!
//! A bottleneck that is not full carries less: the estimate is rather high. Computations are not estimated. The
//! [budget](crate::budget) estimates memory; a trial ends before it takes much.

use std::collections::BTreeSet;
use std::time::Duration;

use kneepoint::run::cost::Term;
use kneepoint::run::{Cost, Simulation};
use kneepoint::study::{Packets, Study, Wanted, Work};
use kneepoint::units::{Span, Time};
use serde::Serialize;

use crate::budget::{Budget, number};
use crate::failure::Failure;
use crate::means::Sweep;
use crate::memory::size;
use crate::session::Session;
use crate::{machine, threads};

/// CPU time spent on a run to see how fast it is.
const TRIAL: Duration = Duration::from_millis(100);
/// Runs that are tried.
const TRIALS: usize = 8;
/// Simulated time between two looks at the clock.
const SLICE: Span = Span::from_millis(50);

/// The forecast of a study.
#[derive(Serialize)]
pub struct Forecast {
    /// Distinct runs that it requests.
    runs: usize,
    /// Runs that would be read back.
    kept: usize,
    /// Runs that would be made.
    new: usize,
    /// Runs that other shards would make.
    left: usize,
    /// CPU time of the new ones, if some were tried.
    cpu_seconds: Option<f64>,
    /// Time that passes; unknown on a cluster.
    seconds: Option<f64>,
    /// Parallel runs; on a cluster, if they are limited.
    jobs: Option<usize>,
    /// Threads of the run that has most.
    threads: usize,
    /// Packets that the new ones send.
    packets: f64,
    /// Memory of these parallel runs with the results of all; on a cluster, the memory of one run.
    memory_bytes: u64,
    /// Their limit; unknown on a cluster, and where the machine does not report its memory.
    memory_allowed_bytes: Option<u64>,
    /// The largest parts of the memory of the largest run.
    memory: Vec<Part>,
    /// The part of the runs, as 1/2.
    shard: Option<String>,
    /// The cluster.
    on: Option<String>,
    /// The directory searched for kept runs.
    store: String,
    /// The URL that the directory mirrors; its contents were not listed.
    url: Option<String>,
}

/// A part of the memory of a run.
#[derive(Serialize)]
struct Part {
    #[serde(flatten)]
    term: Term,
    bytes: u64,
}

impl Forecast {
    /// Looks up kept runs, and tries some of the missing ones; `afresh` if all are simulated.
    pub fn of(
        session: &Session,
        study: &impl Study,
        sweep: &Sweep,
        afresh: bool,
        beside: impl Fn(&Cost) -> Vec<Term>,
    ) -> Result<Forecast, Failure> {
        session.listen()?;
        let store = sweep.kept(session);
        let mut seen = BTreeSet::new();
        let mut wanted: Vec<(String, Wanted)> =
            study.wanted().into_iter().map(|run| (run.name(), run)).collect();
        wanted.retain(|(name, _)| seen.insert(name.clone()));
        let (runs, all) = (wanted.len(), wanted.iter().map(|(_, run)| *run).collect::<Vec<_>>());
        let again = afresh || sweep.fresh;
        let (mut ours, mut left) = (Vec::new(), 0);
        for (place, (name, run)) in wanted.into_iter().enumerate().take_while(|_| !session.asked()) {
            if !again && store.look(session, &name, run.seed)?.is_some() {
                continue;
            }
            match sweep.shard.is_none_or(|shard| shard.has(place)) {
                true => ours.push((name, run)),
                false => left += 1,
            }
        }
        // In an order independent of the cases.
        ours.sort_by(|one, other| one.0.cmp(&other.0));
        let new: Vec<Wanted> = ours.into_iter().map(|(_, run)| run).collect();
        let on = sweep.cluster(session).map(ToString::to_string);
        // A worker of a cluster makes one run at a time, in the memory of its machine.
        let budget = match on {
            Some(_) => Budget::new(&new, &[], 1, None, |_, cost| beside(cost)),
            None => {
                Budget::new(&new, &all, sweep.workers(), sweep.allowance(session), |_, cost| beside(cost))
            }
        };
        budget.check()?;
        let packets: Vec<f64> = new.iter().filter_map(|run| Some(carried(simulated(run)?))).collect();
        let per_packet = per_packet(session, &new, &budget);
        if session.asked() {
            return Err(Failure::Interrupted("stopped: nothing was run, and nothing was written".into()));
        }
        let cpu_seconds = per_packet.map(|each| each * packets.iter().sum::<f64>());
        let in_a_row = |run: &Wanted| Some(carried(simulated(run)?) / budget.threads(run) as f64);
        let longest = new.iter().filter_map(in_a_row).fold(0.0, f64::max);
        let threads = new.iter().map(|run| budget.threads(run)).max().unwrap_or(1);
        let jobs = match on {
            Some(_) => sweep.jobs.map(usize::from),
            None => Some(budget.jobs),
        };
        let sent =
            new.iter().filter_map(|run| Some(budget.of(run)?.packets * observed(simulated(run)?))).sum();
        let part = |term: &Term| Part { bytes: term.bytes(), term: term.clone() };
        let terms = budget.greatest().map_or(&[][..], |cost| &cost.terms).iter();
        let mut memory: Vec<Part> = terms.map(part).filter(|part| part.bytes > 0).collect();
        memory.sort_by_key(|one| std::cmp::Reverse(one.bytes));
        let times = cpu_seconds.zip(per_packet).filter(|_| on.is_none());
        let abreast = (budget.jobs * threads).max(1);
        let seconds = times.map(|(cpu, each)| (cpu / abreast as f64).max(each * longest));
        Ok(Forecast {
            runs,
            kept: runs - new.len() - left,
            new: new.len(),
            left,
            cpu_seconds,
            seconds,
            jobs,
            threads,
            packets: sent,
            memory_bytes: budget.takes(threads),
            memory_allowed_bytes: budget.allowed(),
            memory,
            shard: sweep.shard.map(|shard| shard.to_string()),
            on,
            store: store.folder().display().to_string(),
            url: sweep.url(),
        })
    }

    /// Prints it.
    pub fn print(&self, session: &Session, as_json: bool) -> Result<(), Failure> {
        if as_json { session.print_json(self) } else { session.print(self.text()) }
    }

    fn text(&self) -> String {
        let Forecast { runs, kept, new, left, .. } = self;
        let plural = if *runs == 1 { "run" } else { "runs" };
        let mut text = format!("{runs} {plural}: {kept} kept, {new} new");
        if let Some(shard) = &self.shard {
            text += &format!(" in shard {shard}, {left} left to the other shards");
        }
        text.push('\n');
        let times = [
            self.on
                .as_ref()
                .zip(self.cpu_seconds)
                .map(|(on, cpu)| format!("about {} of processor time, on the cluster {on}\n", duration(cpu))),
            self.seconds.zip(self.jobs).map(|(seconds, jobs)| {
                let threads = match self.threads {
                    1 => String::new(),
                    threads => format!(" on {threads} threads"),
                };
                format!("about {} with {jobs} in parallel{threads}\n", duration(seconds))
            }),
        ];
        if let Some(time) = times.into_iter().flatten().next().filter(|_| *new > 0) {
            text += &time;
            text += "(by trial of some of them, and if their links are full)\n";
        }
        if *new > 0 {
            text += &self.memory_text();
        }
        if let Some(url) = &self.url {
            let store = &self.store;
            text += &format!(
                "runs that {url} has and {store} does not are counted as new, and would be read back\n"
            );
        }
        text
    }
}

impl Forecast {
    /// A line on memory, and one on its largest part.
    fn memory_text(&self) -> String {
        let allowed =
            self.memory_allowed_bytes.map_or(String::new(), |bytes| format!(" ({} allowed)", size(bytes)));
        let most = self.memory.first().map_or(String::new(), |Part { term, bytes }| {
            let (bytes, count) = (size(*bytes), number(term.count));
            format!("the largest part of a run: {bytes} for {count} {} of {} B each\n", term.name, term.each)
        });
        format!("about {} of memory{allowed}\n{most}", size(self.memory_bytes))
    }
}

/// A run that is simulated.
fn simulated<'w>(run: &Wanted<'w>) -> Option<&'w Packets> {
    match run.work {
        Work::Packets(packets) => Some(packets),
        Work::Computation(_) => None,
    }
}

/// The part of a run's duration in which it is observed, after which it ends.
fn observed(packets: &Packets) -> f64 {
    packets.observed().0 as f64 / packets.valid.schedule().duration.0.max(1) as f64
}

/// Packets that the bottleneck can carry in a run, as far as it is observed.
fn carried(packets: &Packets) -> f64 {
    let valid = &packets.valid;
    let rate = valid.network().links.iter().find(|link| link.measured).and_then(|link| link.rate);
    let bytes = rate.map_or(0, |rate| rate.carries(packets.observed().since(Time::ZERO)).0);
    bytes as f64 / valid.full_packet().0 as f64
}

/// Seconds of CPU time for each packet of the bottleneck, over some of the runs; nothing if they carried none.
fn per_packet(session: &Session, runs: &[Wanted], budget: &Budget) -> Option<f64> {
    let tried = runs.len().min(TRIALS);
    let places = (0..tried).map(|place| place * runs.len() / tried.max(1)).collect::<Vec<_>>();
    let side_by_side =
        |some: &[usize]| threads::map(session, some, |place| trial(session, &runs[*place], budget));
    let tries = places.chunks(budget.jobs.max(1)).flat_map(side_by_side).flatten();
    let (packets, seconds) = tries.fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (packets > 0).then(|| seconds / packets as f64)
}

/// Packets of the bottleneck and seconds of CPU time at the beginning of a run.
fn trial(session: &Session, run: &Wanted, budget: &Budget) -> Option<(u64, f64)> {
    let Work::Packets(packets) = run.work else { return None };
    if session.engine(&packets.valid).is_some() {
        return None;
    }
    let (end, began) = (packets.observed(), machine::thread_cpu_time());
    let spent = || machine::thread_cpu_time().saturating_sub(began);
    let mut simulation = Simulation::new(&packets.valid, run.seed, packets.watch(run.seed));
    let mut guard = budget.guard(run, 1);
    let slice = SLICE.min(Span(guard.step().0 / 10).max(Span(1)));
    while simulation.now() < end && spent() < TRIAL && !session.asked() {
        let until = end.min(simulation.now() + slice);
        // A run that grows too large was tried for long enough.
        if guard.advance(&mut simulation, until).is_err() {
            break;
        }
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
