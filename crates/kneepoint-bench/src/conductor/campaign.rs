// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Campaign: the runs of a round, made one after another by all workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kneepoint::run::{Outcome, Simulation};
use kneepoint::spec::Valid;
use kneepoint::study::{Record, Wanted, Work};
use kneepoint::trace::Observer;
use kneepoint::units::{Span, Time};

use crate::budget::Budget;
use crate::failure::Failure;
use crate::machine;
use crate::session::{Bar, Session};

/// The progress of the runs, for all workers.
pub(super) struct Campaign<'s> {
    session: &'s Session,
    next: AtomicUsize,
    end: usize,
    pub(super) failed: AtomicBool,
    pub(super) bar: Arc<dyn Bar>,
    pub(super) budget: Budget,
    /// By the clock of the machine.
    ends: Option<Duration>,
    /// Whether that prevented a run from starting.
    pub(super) spent: AtomicBool,
}

/// The simulated time between two checks of the progress and of Ctrl-C.
const SLICE: Span = Span::from_millis(500);

impl Campaign<'_> {
    pub(super) fn new<'s>(
        session: &'s Session,
        runs: &[Wanted],
        budget: Budget,
        ends: Option<Duration>,
    ) -> Campaign<'s> {
        // The capacity of bottlenecks, because a fast link takes longer than a slow one.
        let bar = session.bar(runs.iter().map(|run| cost(run.work)).sum());
        Campaign {
            session,
            next: AtomicUsize::new(0),
            end: runs.len(),
            failed: AtomicBool::new(false),
            bar,
            budget,
            ends,
            spent: AtomicBool::new(false),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.session.asked() || self.failed.load(Ordering::Relaxed)
    }

    /// The next run to be made.
    pub(super) fn take(&self) -> Option<usize> {
        let place = self.next.fetch_add(1, Ordering::Relaxed);
        let begins = place < self.end && !self.stopped();
        if begins && self.ends.is_some_and(|ends| machine::wall_time() >= ends) {
            self.spent.store(true, Ordering::Relaxed);
            return None;
        }
        begins.then_some(place)
    }

    /// One run, as far as it is observed, or from beginning to end if someone listens; nothing if it was stopped.
    pub(super) fn make<O: Observer>(
        &self,
        wanted: Wanted,
        (listens, listener): (bool, O),
    ) -> Result<Option<(Record, O)>, Failure> {
        let Wanted { work, seed, .. } = wanted;
        let began = machine::thread_cpu_time();
        let cpu_seconds = || machine::thread_cpu_time().saturating_sub(began).as_secs_f64();
        let packets = match work {
            Work::Packets(packets) => packets,
            Work::Computation(computation) => {
                let rows = computation.rows().map_err(|why| {
                    let message = format!("nothing can be computed: {why}");
                    Failure::run(message, "change the parameters under [compute]")
                })?;
                return Ok(Some((Record::computed(seed, cpu_seconds(), rows), listener)));
            }
        };
        if let Some(engine) = self.session.engine(&packets.valid) {
            if let Some(why) = self.session.unfit(&packets.valid) {
                return Err(Failure::run(why, "leave that out of the scenario"));
            }
            let mut watch = (packets.watch(seed), listener);
            match engine.run(&packets.valid, seed, &mut watch, &|| self.stopped()) {
                Err(_) if self.stopped() => return Ok(None),
                ended => ended?,
            }
            self.bar.add(cost(work));
            let (watch, heard) = watch;
            let mut seen = watch.finish();
            seen.rows.iter_mut().for_each(|row| row.forget(engine.unseen()));
            return Ok(Some((Record::simulated(seed, cpu_seconds(), Outcome::default(), seen), heard)));
        }
        let end = if listens { packets.valid.schedule().duration } else { packets.observed() };
        let mut simulation = Simulation::new(&packets.valid, seed, (packets.watch(seed), listener));
        let mut guard = self.budget.guard(&wanted);
        while let Some(until) = packets.next(&simulation, end, SLICE.min(guard.step())) {
            let now = simulation.now();
            guard.advance(&mut simulation, until)?;
            sound(&packets.valid)?;
            // Also at the end, because this run's failure may have stopped the call.
            if self.stopped() {
                return Ok(None);
            }
            self.bar.add(load(&packets.valid, until.since(now)));
        }
        let ((watch, heard), outcome) = simulation.finish();
        Ok(Some((Record::simulated(seed, cpu_seconds(), outcome, watch.finish()), heard)))
    }

    pub(super) fn say(&self, done: usize, planned: usize) {
        self.bar.say(format!("{done} of {planned} runs"));
    }
}

/// Fails if the code of a caller's controller has failed: its run says nothing.
fn sound(valid: &Valid) -> Result<(), Failure> {
    let external = || valid.groups().iter().filter_map(|group| group.cc.as_ref()?.external());
    match external().find_map(|one| one.fault()) {
        None => Ok(()),
        Some(fault) => Err(Failure::run(fault, "mend the controller; its run is not kept")),
    }
}

/// A rough measure of a run's work, in kilobytes that measured links can carry.
pub(super) fn cost(work: &Work) -> u64 {
    match work {
        Work::Packets(packets) => load(&packets.valid, packets.observed().since(Time::ZERO)),
        Work::Computation(_) => 0,
    }
}

/// A rough measure of the work of `span` of a run.
fn load(valid: &Valid, span: Span) -> u64 {
    let rates = valid.network().links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    rates.map(|rate| rate.carries(span).0 / 1000).sum::<u64>().max(1)
}

#[cfg(test)]
mod tests {
    use kneepoint::cc::external::Object;
    use kneepoint::cc::{Controller, External, Start, reno};
    use kneepoint::scenario::Extensions;

    use super::*;

    const TEXT: &str = "[run]\nduration = \"1s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"20ms\"\n[[flows]]\ncc = \"mine\"\n";

    #[test]
    fn a_run_with_a_controller_that_failed_is_an_error() {
        let make = |params, start: Start| Box::new(reno::Reno::new(params, start)) as Box<dyn Object>;
        let mine = External::new("mine", "//! Mine.\n", make);
        let checked = |one: External| {
            let known = Extensions::default().controller(one).unwrap();
            sound(&known.parse(TEXT).unwrap().cases[0].valid)
        };
        assert!(checked(mine.clone()).is_ok());
        let failed = checked(mine.watched(|| Some("a window of NaN".into())));
        assert!(matches!(failed, Err(Failure::Run(complaint)) if complaint.message() == "a window of NaN"));
    }
}
