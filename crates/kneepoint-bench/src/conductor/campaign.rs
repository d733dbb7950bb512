// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Campaign: the runs of a round, made one after another by all workers. Where workers are at least twice as many as parallel runs, a large
//! run is divided over those that would have none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kneepoint::run::{Division, Outcome, Simulation};
use kneepoint::spec::Valid;
use kneepoint::study::{Measured, Packets, Record, Wanted, Work};
use kneepoint::trace::Observer;
use kneepoint::units::{Span, Time};

use crate::budget::{Budget, Guard};
use crate::failure::Failure;
use crate::machine;
use crate::session::{Bar, Session};
use crate::threads;

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

/// A region that is done, and the processor time of its thread.
type Part = (Measured, Outcome, Duration);

/// The record of a run by its regions; none if one was stopped.
fn joined(seed: u64, division: &Division, parts: Vec<Option<Part>>) -> Option<Record> {
    let parts: Vec<Part> = parts.into_iter().collect::<Option<_>>()?;
    let spent: Duration = parts.iter().map(|(.., spent)| *spent).sum();
    let watched = parts.into_iter().map(|(watch, outcome, _)| (watch, outcome));
    let (watch, outcome) = division.join(watched)?;
    Some(Record::simulated(seed, spent.as_secs_f64(), outcome, watch.finish()))
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
        if !listens
            && let Some(division) = self.budget.division(&wanted, packets)
            && let Some(made) = self.divided(&wanted, packets, division)
        {
            return Ok(made?.map(|record| (record, listener)));
        }
        let end = if listens { packets.valid.schedule().duration } else { packets.observed() };
        let simulation = Simulation::new(&packets.valid, seed, (packets.watch(seed), listener));
        let done = |span| self.bar.add(load(&packets.valid, span));
        let made = self.simulated(packets, simulation, end, self.budget.guard(&wanted, 1), done)?;
        Ok(made.map(|((watch, heard), outcome)| {
            (Record::simulated(seed, cpu_seconds(), outcome, watch.finish()), heard)
        }))
    }

    /// A run made by several threads; nothing if the machine does not have them.
    fn divided(
        &self,
        wanted: &Wanted,
        packets: &Packets,
        mut division: Division,
    ) -> Option<Result<Option<Record>, Failure>> {
        let Wanted { seed, .. } = *wanted;
        let count = division.count();
        let made = threads::regions(self.session, &mut division, |region| {
            let (began, first) = (machine::thread_cpu_time(), region.place() == 0);
            let simulation = region.simulation(seed, (packets.watch(seed), ()));
            // All are as far as the first.
            let done = |span| self.bar.add(if first { load(&packets.valid, span) } else { 0 });
            let guard = self.budget.guard(wanted, count);
            let part = self.simulated(packets, simulation, packets.observed(), guard, done);
            let spent = machine::thread_cpu_time().saturating_sub(began);
            part.map(|part| part.map(|((watch, ()), outcome)| (watch.of_region(), outcome, spent)))
        })?;
        let parts: Result<Vec<Option<Part>>, Failure> = made.into_iter().collect();
        Some(parts.map(|parts| joined(seed, &division, parts)))
    }

    /// A simulation as far as it is observed, and longer until its rows are known; nothing if it was stopped.
    fn simulated<O: Observer>(
        &self,
        packets: &Packets,
        mut simulation: Simulation<O>,
        end: Time,
        mut guard: Guard,
        done: impl Fn(Span),
    ) -> Result<Option<(O, Outcome)>, Failure> {
        while let Some(until) = packets.next(&simulation, end, SLICE.min(guard.step())) {
            let now = simulation.now();
            guard.advance(&mut simulation, until)?;
            sound(&packets.valid)?;
            // Also at the end, because this run's failure may have stopped the call.
            if self.stopped() {
                return Ok(None);
            }
            done(until.since(now));
        }
        Ok(Some(simulation.finish()))
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
    use crate::memory::Allowance;
    use crate::program;
    use crate::session::Spelling;

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

    /// A run with more than [`REGION`] packets between two exchanges.
    fn large() -> Work {
        let text = "[run]\nduration = '6s'\nmeasure = '1s..5s'\n[topology]\nkind = 'parking-lot'\nrate = '200mbit'\nrouters = 4\n\
                    hop_delay = '100ms'\n[[flows]]\ncount = 20\ncc = 'cubic'\n";
        let valid = kneepoint::scenario::parse(text).unwrap().cases.remove(0).valid;
        Work::Packets(Box::new(Packets { shown: true, ..Packets::from(valid) }))
    }

    fn wanted(work: &Work) -> Wanted<'_> {
        Wanted { work, seed: 5, series: false }
    }

    #[test]
    fn a_large_run_that_is_alone_has_all_workers_and_the_same_record() {
        let work = large();
        let Work::Packets(packets) = &work else { panic!("packets") };
        let made = [wanted(&work)];
        let session = program::session();
        let made_by = |workers| {
            let budget = Budget::new(&made, &made, workers, None, |_, _| Vec::new());
            let campaign = Campaign::new(&session, &made, budget, None);
            let regions = campaign.budget.division(&made[0], packets).map_or(1, |division| division.count());
            let (record, ()) = campaign.make(made[0], (false, ())).unwrap().unwrap();
            (regions, Record { cpu_seconds: 0.0, ..record })
        };
        let bits = |record: &Record| serde_json::to_string(record).unwrap();
        let ((alone, one), (together, other)) = (made_by(1), made_by(2));
        assert_eq!((alone, together), (1, 2));
        assert_eq!(bits(&one), bits(&other));
    }

    #[test]
    fn regions_fit_into_the_limit_of_their_run_and_stop_with_it() {
        let work = large();
        let made = [wanted(&work)];
        let session = program::session();
        let campaign = |bytes: u64| {
            let allowed = Allowance::new(Some(kneepoint::units::Bytes(bytes)), Spelling::Dashes);
            Campaign::new(&session, &made, Budget::new(&made, &[], 4, allowed, |_, _| Vec::new()), None)
        };
        let Work::Packets(packets) = &work else { panic!("packets") };
        let estimate = packets.cost().bytes();
        let regions =
            |bytes| campaign(bytes).budget.division(&made[0], packets).map(|division| division.count());
        assert_eq!([regions(estimate), regions(2 * estimate), regions(u64::MAX)], [None, Some(2), Some(4)]);
        session.stop();
        assert!(campaign(u64::MAX).make(made[0], (false, ())).unwrap().is_none());
    }
}
