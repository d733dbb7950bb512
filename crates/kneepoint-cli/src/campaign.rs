// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Many runs over all cores, in order, until they are done or somebody asks to stop.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kneepoint::run::{Outcome, Simulation};
use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint::units::{Span, Time};

use crate::failure::Failure;
use crate::{interrupt, machine};

/// One run to be made.
pub struct Job<'a> {
    /// Which row of the report it belongs to.
    pub case: usize,
    /// What to run.
    pub valid: &'a Valid,
    /// With which randomness.
    pub seed: u64,
}

/// What became of a run that finished.
pub struct Finished<O> {
    /// Who watched it.
    pub observer: O,
    /// What the engine counted.
    pub outcome: Outcome,
    /// The CPU time it took.
    pub cpu: Duration,
}

/// How far the campaign is, for everybody who works on it.
struct Campaign {
    next: AtomicUsize,
    failed: AtomicBool,
    bar: ProgressBar,
}

/// How much simulated time passes between two looks at the progress and at Ctrl-C.
const SLICE: Span = Span::from_millis(500);

/// Makes the runs in order, `workers` at a time, and hands each to `keep` the moment it ends.
///
/// `watch` makes the observer of a run. After Ctrl-C what is under way is given up; what was kept comes back,
/// in the order of `jobs`. The first failure stops everything.
pub fn run<O, T>(
    jobs: &[Job],
    workers: usize,
    watch: impl Fn(&Job) -> Result<O, Failure> + Sync,
    keep: impl Fn(&Job, Finished<O>) -> Result<T, Failure> + Sync,
) -> Result<Vec<Option<T>>, Failure>
where
    O: Observer,
    T: Send,
{
    let campaign =
        Campaign { next: AtomicUsize::new(0), failed: AtomicBool::new(false), bar: progress_bar(jobs) };
    let kept = Mutex::new(jobs.iter().map(|_| None).collect::<Vec<_>>());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while let Some(place) = campaign.take(jobs.len()) {
                    let job = &jobs[place];
                    let result = watch(job).and_then(|observer| match campaign.simulate(job, observer) {
                        Some(finished) => keep(job, finished).map(Some),
                        None => Ok(None),
                    });
                    match result {
                        Ok(result) => lock(&kept)[place] = result,
                        Err(failure) => {
                            campaign.failed.store(true, Ordering::Relaxed);
                            lock(&failures).push(failure);
                        }
                    }
                    campaign.say(&lock(&kept));
                }
            });
        }
    });
    campaign.bar.finish_and_clear();
    let first = lock(&failures).drain(..).next();
    match first {
        Some(failure) => Err(failure),
        None => Ok(std::mem::take(&mut *lock(&kept))),
    }
}

impl Campaign {
    fn stopped(&self) -> bool {
        interrupt::asked() || self.failed.load(Ordering::Relaxed)
    }

    /// The next run to be made.
    fn take(&self, jobs: usize) -> Option<usize> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        (place < jobs && !self.stopped()).then_some(place)
    }

    /// One run from beginning to end; nothing if somebody stopped it.
    fn simulate<O: Observer>(&self, job: &Job, watcher: O) -> Option<Finished<O>> {
        let began = machine::thread_cpu_time();
        let end = job.valid.schedule.duration;
        let mut simulation = Simulation::new(job.valid, job.seed, watcher);
        let mut now = Time::ZERO;
        while now < end {
            if self.stopped() {
                return None;
            }
            let until = end.min(now + SLICE);
            simulation.advance(until);
            self.bar.inc(work(job.valid, until.since(now)));
            now = until;
        }
        let (observer, outcome) = simulation.finish();
        Some(Finished { observer, outcome, cpu: machine::thread_cpu_time().saturating_sub(began) })
    }

    /// Tells how many runs are done.
    fn say<T>(&self, kept: &[Option<T>]) {
        let done = kept.iter().filter(|result| result.is_some()).count();
        self.bar.set_message(format!("{done} of {} runs", kept.len()));
    }
}

/// A bar that counts what bottlenecks can carry, so that a fast link is known to take longer than a slow one.
fn progress_bar(jobs: &[Job]) -> ProgressBar {
    let total = jobs.iter().map(|job| work(job.valid, job.valid.schedule.duration.since(Time::ZERO))).sum();
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    // The template is a constant that the library accepts; its own style is no worse.
    let style = ProgressStyle::with_template("{msg}  {wide_bar} {percent}%  {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(format!("0 of {} runs", jobs.len()));
    bar
}

/// About how much there is to do: kilobytes that measured links can carry in `span`.
fn work(valid: &Valid, span: Span) -> u64 {
    let rates = valid.network.links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    rates.map(|rate| rate.carries(span).0 / 1000).sum::<u64>().max(1)
}

/// A lock that a worker's panic does not poison for the others.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
