// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The budget of a study: how many parallel runs fit into memory, and how much each may take.
//!
//! ```text
//! needed by N in parallel     the results of all runs, kept for the report + the N greatest estimates
//! parallel runs               as many as are requested and fit; without one that fits the study is refused
//! limit of a run              its estimate + its part of the unneeded rest
//! threads of a run            requested ones / parallel runs, at most its limit / its estimate, as each has the whole network
//! ```
//!
//! An estimate is a prediction: [`Guard`] compares the memory of a run with its limit while the run lasts.

use std::collections::BTreeMap;

use kneepoint::run::cost::Term;
use kneepoint::run::{Cost, Division, Simulation};
use kneepoint::spec::Valid;
use kneepoint::study::{Packets, Wanted, Work};
use kneepoint::trace::Observer;
use kneepoint::units::{Span, Time};

use crate::failure::Failure;
use crate::memory::{Allowance, size};
use crate::session::Spelling;

/// The memory that the runs of a study need, and the memory that they may take.
pub struct Budget {
    allowed: Option<Allowance>,
    /// Estimates by the address of the work.
    costs: BTreeMap<usize, Cost>,
    /// Estimates of all runs in bytes, the greatest first, and the work of the first.
    bytes: Vec<u64>,
    greatest: Option<usize>,
    /// The memory that the results of all runs keep.
    left: u64,
    /// Parallel runs.
    pub jobs: usize,
    /// Threads for each run.
    threads: usize,
}

/// Packets that a region transmits between two exchanges, by estimate: enough that threads simulate for much longer than they wait for each
/// other.
const REGION: u64 = 1000;

/// The address of a work, which runs that differ by the seed alone share.
fn address(work: &Work) -> usize {
    std::ptr::from_ref(work) as usize
}

impl Budget {
    /// For the runs in `made`, with the overhead of each; runs in `wanted` are in memory when the study reports.
    pub fn new(
        made: &[Wanted],
        wanted: &[Wanted],
        asked: usize,
        allowed: Option<Allowance>,
        beside: impl Fn(&Wanted, &Cost) -> Vec<Term>,
    ) -> Budget {
        let (mut costs, mut rests) = (BTreeMap::new(), BTreeMap::new());
        for run in made {
            let Work::Packets(packets) = run.work else { continue };
            costs.entry(address(run.work)).or_insert_with(|| {
                let mut cost = packets.cost();
                cost.terms.extend(beside(run, &cost));
                cost
            });
        }
        let each = wanted.iter().filter_map(|run| {
            let Work::Packets(packets) = run.work else { return None };
            Some(*rests.entry((address(run.work), run.series)).or_insert_with(|| packets.left(run.series)))
        });
        let left = each.fold(0, u64::saturating_add);
        let of = |run: &Wanted| Some((costs.get(&address(run.work))?.bytes(), address(run.work)));
        let mut bytes: Vec<(u64, usize)> = made.iter().filter_map(of).collect();
        bytes.sort_unstable_by(|one, other| other.cmp(one));
        let greatest = bytes.first().map(|(_, work)| *work);
        let bytes = bytes.into_iter().map(|(bytes, _)| bytes).collect();
        let budget = Budget { allowed, costs, bytes, greatest, left, jobs: 1, threads: 1 };
        let room = allowed.map_or(u64::MAX, |allowed| allowed.bytes);
        let most = asked.clamp(1, made.len().max(1));
        let jobs = (1..=most).rev().find(|jobs| budget.needs(*jobs) <= room).unwrap_or(0);
        Budget { jobs, threads: asked / jobs.max(1), ..budget }
    }

    /// Bytes that this many parallel runs need, with the results of all runs.
    pub fn needs(&self, jobs: usize) -> u64 {
        self.bytes.iter().take(jobs).fold(self.left, |sum, one| sum.saturating_add(*one))
    }

    /// The estimate of the run that takes most.
    pub fn greatest(&self) -> Option<&Cost> {
        self.costs.get(&self.greatest?)
    }

    /// The estimate of a run.
    pub fn of(&self, run: &Wanted) -> Option<&Cost> {
        self.costs.get(&address(run.work))
    }

    /// The amount that may be taken.
    pub fn allowed(&self) -> Option<u64> {
        self.allowed.map(|allowed| allowed.bytes)
    }

    /// Refuses a study of which not even a single run fits.
    pub fn check(&self) -> Result<(), Failure> {
        let (0, Some(allowed)) = (self.jobs, self.allowed) else { return Ok(()) };
        let (needed, run) = (self.needs(1), self.bytes.first().copied().unwrap_or(0));
        if let Some(cost) = self.greatest().filter(|_| run >= self.left) {
            return Err(too_much(cost, &allowed));
        }
        Err(Failure::run(
            format!(
                "this study would take about {} of memory, above {allowed}; {} of it hold the results of all runs for the report",
                size(needed),
                size(self.left)
            ),
            format!(
                "make fewer runs, sample them less often, or allow more with `{}`",
                allowed.option("memory", "SIZE")
            ),
        ))
    }

    /// A sentence if fewer parallel runs fit than were requested, or if they need more than half of the limit.
    pub fn remark(&self, asked: usize) -> Option<String> {
        let allowed = self.allowed?;
        let needed = self.needs(self.jobs);
        let most = asked.clamp(1, self.bytes.len().max(1));
        if self.jobs < most {
            let run = size(self.bytes.first().copied().unwrap_or(0));
            return Some(format!(
                "{} in parallel instead of {most}: a run may take {run} of memory, and all together {allowed}",
                self.jobs
            ));
        }
        let tight = needed > allowed.bytes / 2;
        tight.then(|| format!("about {} of memory are needed, of {allowed}", size(needed)))
    }

    /// The bytes that a run may take, if there is a limit.
    fn limit(&self, run: &Wanted) -> Option<u64> {
        let (cost, allowed) = self.of(run).zip(self.allowed)?;
        let jobs = self.jobs.max(1);
        let spare = allowed.bytes.saturating_sub(self.needs(jobs)) / jobs as u64;
        Some(cost.bytes().saturating_add(spare))
    }

    /// The same with one thread for each run.
    pub fn undivided(self) -> Budget {
        Budget { threads: 1, ..self }
    }

    /// A run as regions for its threads; none if it takes one.
    pub fn division<'w>(&self, run: &Wanted, packets: &'w Packets) -> Option<Division<'w>> {
        let estimate = self.of(run).map_or(1, Cost::bytes).max(1);
        let fit = self.limit(run).map_or(u64::MAX, |limit| limit / estimate);
        packets.division(self.threads.min(usize::try_from(fit).unwrap_or(usize::MAX)), REGION)
    }

    /// The number of threads that make a run.
    pub fn threads(&self, run: &Wanted) -> usize {
        let division = match run.work {
            Work::Packets(packets) => self.division(run, packets),
            Work::Computation(_) => None,
        };
        division.map_or(1, |division| division.count())
    }

    /// The bytes of parallel runs on this many threads each, with the results of all runs.
    pub fn takes(&self, threads: usize) -> u64 {
        let each = self.needs(self.jobs) - self.left;
        self.left.saturating_add(each.saturating_mul(threads as u64))
    }

    /// The guard of each of the regions of a run.
    pub fn guard(&self, run: &Wanted, regions: usize) -> Guard {
        let limit = self.limit(run).map_or(u64::MAX, |limit| limit / regions as u64);
        let allowed = self.allowed.filter(|_| self.of(run).is_some());
        Guard { limit, ..Guard::new(self.of(run), allowed, self.jobs.max(1)) }
    }
}

/// Refuses a single run above the default limit; the remedy names an option in this spelling.
pub fn admit(valid: &Valid, spelling: Spelling) -> Result<Guard, Failure> {
    let (cost, allowed) = (Cost::of(valid), Allowance::new(None, spelling));
    match allowed {
        Some(allowed) if cost.bytes() > allowed.bytes => Err(too_much(&cost, &allowed)),
        allowed => Ok(Guard {
            limit: allowed.map_or(u64::MAX, |allowed| allowed.bytes),
            ..Guard::new(Some(&cost), allowed, 1)
        }),
    }
}

/// The refusal of a run, with the term that makes it large.
fn too_much(cost: &Cost, allowed: &Allowance) -> Failure {
    let part = cost.greatest().map(|term| {
        let Term { name, count, each, why, .. } = term;
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        format!("; {} of it are {name}, {} of {each} B{why}", size(term.bytes()), number(*count))
    });
    let remedy = cost.greatest().map_or("", |term| term.remedy);
    Failure::run(
        format!(
            "a run would take about {} of memory, above {allowed}{}",
            size(cost.bytes()),
            part.unwrap_or_default()
        ),
        format!("{remedy}; or allow more with `{}`", allowed.option("memory", "SIZE")),
    )
}

/// A large number to three digits: 1.25e12.
pub fn number(count: u64) -> String {
    if count < 1_000_000 { count.to_string() } else { format!("{:.2e}", count as f64) }
}

/// Keeps a run within its limit.
pub struct Guard {
    limit: u64,
    /// Bytes of its observers, as estimated.
    beside: u64,
    step: Span,
    allowed: Option<Allowance>,
    jobs: usize,
    /// Events and population at which its memory is inspected next.
    events: u64,
    population: usize,
}

/// Events for each link and flow between two measurements of a run's size.
const SELDOM: u64 = 16;
/// Growth of a run in packets and flows between two measurements, in addition to a quarter of its size.
const GROWTH: usize = 100_000;

impl Guard {
    fn new(cost: Option<&Cost>, allowed: Option<Allowance>, jobs: usize) -> Guard {
        let beside = cost.map_or(0, |cost| cost.bytes().saturating_sub(cost.engine));
        let step = cost.map_or(Span(u64::MAX), |cost| cost.step);
        Guard { limit: u64::MAX, beside, step, allowed, jobs, events: 0, population: 0 }
    }

    /// The longest time between two checks for further requests.
    pub fn step(&self) -> Span {
        self.step
    }

    /// Goes on until `until`, or until the run takes more than it may.
    pub fn advance<O: Observer>(&mut self, run: &mut Simulation<O>, until: Time) -> Result<(), Failure> {
        while run.now() < until {
            run.advance(until.min(run.now() + self.step));
            if run.events() < self.events && run.population() < self.population {
                continue;
            }
            self.events = run.events() + SELDOM * run.parts() as u64;
            self.population = run.population() * 5 / 4 + GROWTH;
            let taken = run.footprint().saturating_add(self.beside);
            if let Some(allowed) = self.allowed.filter(|_| taken > self.limit) {
                return Err(self.outgrown(&allowed, taken, run.now()));
            }
        }
        Ok(())
    }

    fn outgrown(&self, allowed: &Allowance, taken: u64, now: Time) -> Failure {
        Failure::run(
            format!(
                "a run takes {} of memory after {}, above its limit of {}, of {allowed}, with {} in parallel",
                size(taken),
                now.since(Time::ZERO),
                size(self.limit),
                self.jobs
            ),
            format!(
                "finished runs are kept; let fewer flows arrive, run fewer in parallel with `{}`, or allow more with `{}`",
                allowed.option("jobs", "1"),
                allowed.option("memory", "SIZE")
            ),
        )
    }
}
