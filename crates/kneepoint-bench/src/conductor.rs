// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The conductor of every study: reads kept runs back, makes missing ones on all cores, and keeps each as soon as
//! it ends.

mod campaign;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use kneepoint::run::Cost;
use kneepoint::run::cost::Term;
use kneepoint::study::{Record, Records, Study, Wanted, Work, fingerprint};
use kneepoint::trace::Observer;
use kneepoint::units::Span;

use crate::budget::Budget;
use crate::cluster::{Cluster, Job};
use crate::failure::{Failure, Left};
use crate::means::Sweep;
use crate::session::{Session, Share, lock};
use crate::{machine, threads};
use campaign::{Campaign, cost};

/// The outcome of a study and its runs.
pub struct Conducted<O> {
    /// The result of the study.
    pub outcome: O,
    /// The runs that are known.
    pub records: Records,
    /// The number of distinct runs requested.
    pub planned: usize,
    /// Whether some were not begun for lack of time.
    pub spent: bool,
}

impl<O> Conducted<O> {
    /// Requested runs that did not finish.
    pub fn left(&self) -> usize {
        self.planned - self.records.len()
    }

    /// Refuses an outcome without a finished run.
    pub fn nonempty(&self, session: &Session, sweep: &Sweep) -> Result<(), Failure> {
        match sweep.budget.filter(|_| self.spent) {
            _ if !self.records.is_empty() => Ok(()),
            Some(budget) => Err(Failure::run(
                format!("the budget, {}, ended before the first run finished", people(budget)),
                format!("allow more time with `{}`, as in 5min", session.option("budget", "TIME")),
            )),
            None => {
                Err(Failure::Interrupted("stopped before the first run finished: nothing to report".into()))
            }
        }
    }
}

/// A time in its written form.
pub fn people(time: Duration) -> String {
    Span(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).to_string()
}

/// Work on each run in addition to keeping it.
pub trait Aside: Sync {
    /// An observer of a run for something that is not kept, such as packets.
    type Listener: Observer;

    /// Whether there are listeners. Runs with one are always simulated.
    fn listens(&self) -> bool;

    /// The memory of an observer of a run.
    fn takes(&self, _cost: &Cost) -> Vec<Term> {
        Vec::new()
    }

    /// The listener to the requested run at a place.
    fn listener(&self, place: usize) -> Result<Self::Listener, Failure>;

    /// The requested run at a place has ended.
    fn heard(&self, place: usize, listener: Self::Listener) -> Result<(), Failure>;

    /// The record of the requested run at a place is known.
    fn known(&self, place: usize, record: &Record) -> Result<(), Failure>;
}

/// Nothing.
impl Aside for () {
    type Listener = ();

    fn listens(&self) -> bool {
        false
    }

    fn listener(&self, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    fn heard(&self, _: usize, (): ()) -> Result<(), Failure> {
        Ok(())
    }

    fn known(&self, _: usize, _: &Record) -> Result<(), Failure> {
        Ok(())
    }
}

/// Makes the runs that a study requests, round by round. After Ctrl-C, unfinished runs are abandoned and the finished ones are returned.
pub fn conduct<S: Study>(
    session: &Session,
    study: &mut S,
    sweep: &Sweep,
    aside: &impl Aside,
) -> Result<Conducted<S::Outcome>, Failure> {
    if matches!(session.share(), Share::Only(_)) {
        // Runs requested by name may be of any round.
        study.every_round();
    }
    remark(session, &study.wanted());
    let ends = sweep.budget.map(|budget| machine::wall_time() + budget);
    let mut conducted = round(session, study, sweep, aside, ends, Records::default())?;
    // Only the shard that knows the outcome acts on it: the others have ended.
    let whole = sweep.whole();
    while conducted.left() == 0
        && let Some(why) = study.again(&conducted.outcome)
    {
        session.tell(why);
        conducted = round(session, study, &whole, aside, ends, conducted.records)?;
    }
    Ok(conducted)
}

/// Says once what readers must know of controllers that run in another engine.
fn remark(session: &Session, runs: &[Wanted]) {
    let packets = runs.iter().filter_map(|run| match run.work {
        Work::Packets(packets) => Some(packets),
        Work::Computation(_) => None,
    });
    let controllers =
        packets.flat_map(|packets| packets.valid.groups()).filter_map(|group| group.cc.as_ref());
    let remarks = controllers.filter_map(|one| session.engine_of(one)?.remark(one));
    remarks.collect::<BTreeSet<_>>().iter().for_each(|remark| session.warn(remark));
}

/// Makes the runs of one round that are not known from those before it; none begins after `ends`.
fn round<S: Study>(
    session: &Session,
    study: &S,
    sweep: &Sweep,
    aside: &impl Aside,
    ends: Option<Duration>,
    mut records: Records,
) -> Result<Conducted<S::Outcome>, Failure> {
    sweep.check(session, aside.listens())?;
    let store = sweep.store(session)?;
    // Before the first run, so that an interrupt is handled from then on.
    session.listen()?;
    let wanted = study.wanted();
    let names: Vec<String> = fingerprint::names(&wanted);
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(place);
    }
    let planned = places.len();
    if let Some(elsewhere) = sweep.elsewhere(session)
        && !wanted.iter().all(Wanted::lasts)
    {
        return Err(Failure::usage(
            format!("`{elsewhere}`: an algorithm of this study has no version, so its runs are not kept"),
            format!("leave out `{elsewhere}`"),
        ));
    }
    // The files of a shard's runs are written by the shard that reports.
    let shard = sweep.shard;
    let attend = |name: &str, record: &mut Record| -> Result<(), Failure> {
        let places = &places[name];
        if shard.is_none() {
            places.iter().try_for_each(|place| aside.known(*place, record))?;
        }
        if !places.iter().any(|place| wanted[*place].series) {
            record.series = None;
        }
        Ok(())
    };
    // Reads a run back, if it is kept.
    let read = |place: usize| -> Result<Option<Record>, Failure> {
        let Some(mut record) = store.get(session, &names[place], wanted[place].seed)? else {
            return Ok(None);
        };
        attend(&names[place], &mut record)?;
        Ok(Some(record))
    };
    // A run requested twice is made once, except for packets that go to two files.
    let first = |place: &usize| places[names[*place].as_str()][0] == *place || aside.listens();
    let new = |place: &usize| !records.contains(&names[*place]);
    let mut missing: Vec<usize> = (0..names.len()).filter(new).filter(first).collect();
    let known = records.len();
    if !sweep.fresh && !aside.listens() {
        let kept: Vec<_> =
            threads::map(session, &missing, |place| read(*place)).into_iter().collect::<Result<_, _>>()?;
        let found =
            missing.iter().zip(kept).filter_map(|(place, record)| Some((names[*place].clone(), record?)));
        found.for_each(|(name, record)| records.insert(name, record));
        missing.retain(|place| !records.contains(&names[*place]));
    }
    if records.len() > known {
        let (back, folder) = (records.len() - known, store.folder().display());
        session.tell(format!("{back} of {planned} runs were read back from {folder}"));
    }
    if aside.listens() {
        session.tell("packets and objects are not kept: every run is simulated");
    }
    leave_to_others(session, sweep, &wanted, &names, &mut missing)?;
    if let Some(cluster) = sweep.cluster(session) {
        let mut back = |place: usize| {
            let record = read(place)?;
            Ok(record.map(|record| records.insert(names[place].clone(), record)).is_some())
        };
        hand_over(session, sweep, cluster, &wanted, &names, &mut missing, &mut back)?;
    }
    let made: Vec<Wanted> = missing.iter().map(|place| wanted[*place]).collect();
    let reported: Vec<Wanted> = places.values().map(|places| wanted[places[0]]).collect();
    let budget =
        Budget::new(&made, &reported, sweep.workers(), sweep.allowance(session), |_, cost| aside.takes(cost));
    budget.check()?;
    if let Some(remark) = budget.remark(sweep.workers()) {
        session.tell(remark);
    }
    let records = Mutex::new(records);
    // A cluster or another program that chose the runs has other work for the cores.
    let budget = if *session.share() == Share::All { budget } else { budget.undivided() };
    let campaign = Campaign::new(session, &made, budget, ends);
    let make = |place: usize| -> Result<(), Failure> {
        if let Some((mut record, listener)) =
            campaign.make(wanted[place], (aside.listens(), aside.listener(place)?))?
        {
            aside.heard(place, listener)?;
            if wanted[place].lasts() {
                store.put(session, &names[place], &record)?;
            }
            attend(&names[place], &mut record)?;
            lock(&records).insert(names[place].clone(), record);
        }
        Ok(())
    };
    let failures = Mutex::new(Vec::new());
    threads::crew(session, campaign.budget.jobs.clamp(1, missing.len().max(1)), || {
        session.work(|| {
            while let Some(turn) = campaign.take() {
                match make(missing[turn]) {
                    Ok(()) => campaign.say(lock(&records).len(), planned),
                    Err(failure) => {
                        campaign.failed.store(true, Ordering::Relaxed);
                        lock(&failures).push(failure);
                    }
                }
            }
        });
    });
    campaign.bar.close();
    if let Some(failure) = lock(&failures).drain(..).next() {
        return Err(failure);
    }
    let records = std::mem::take(&mut *lock(&records));
    let ended = !campaign.stopped();
    if let Some(part) = shard.filter(|_| ended) {
        // Each shard keeps its own runs before it reads the others', so the last one finds all.
        // A damaged one counts as missing.
        let places: Vec<_> = places.iter().collect();
        let look = |(name, at): &(&&str, &Vec<usize>)| store.get(session, name, wanted[at[0]].seed);
        let found = threads::map(session, &places, look).into_iter().collect::<Result<Vec<_>, Failure>>()?;
        let kept = found.iter().flatten().count();
        let left = Left { shard: part.to_string(), runs: planned, kept, left: planned - kept };
        return if kept < planned {
            Err(Failure::Left(left))
        } else {
            // Read back once more, because a copy is written next to the report.
            round(session, study, &sweep.whole(), aside, ends, Records::default())
        };
    }
    if ended && sweep.divided(session) && records.len() < planned {
        return Err(Failure::Said(0));
    }
    let spent = campaign.spent.load(Ordering::Relaxed);
    Ok(Conducted { outcome: study.outcome(&records), records, planned, spent })
}

/// Removes the missing runs that others make.
fn leave_to_others(
    session: &Session,
    sweep: &Sweep,
    wanted: &[Wanted],
    names: &[String],
    missing: &mut Vec<usize>,
) -> Result<(), Failure> {
    match session.share() {
        Share::None if !missing.is_empty() => {
            let budget = without_limit(wanted, missing);
            let run = |place: &usize| {
                let run = &wanted[*place];
                (names[*place].clone(), cost(run.work), budget.of(run).map_or(0, Cost::bytes))
            };
            session.plan(missing.iter().map(run));
            return Err(Failure::Said(0));
        }
        Share::Only(chosen) => {
            missing.retain(|place| chosen.contains(&names[*place]));
        }
        Share::None | Share::All => {}
    }
    if let Some(shard) = sweep.shard {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for name in names {
            let next = places.len();
            places.entry(name).or_insert(next);
        }
        missing.retain(|place| shard.has(places[names[*place].as_str()]));
    }
    Ok(())
}

/// Estimates of runs that are made elsewhere.
fn without_limit(wanted: &[Wanted], missing: &[usize]) -> Budget {
    let made: Vec<Wanted> = missing.iter().map(|place| wanted[*place]).collect();
    Budget::new(&made, &[], 1, None, |_, _| Vec::new())
}

/// Has missing runs made on a cluster, and reads them back.
fn hand_over(
    session: &Session,
    sweep: &Sweep,
    cluster: &Cluster,
    wanted: &[Wanted],
    names: &[String],
    missing: &mut Vec<usize>,
    mut read: impl FnMut(usize) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let url = sweep.url();
    let absent: BTreeSet<usize> = missing.iter().copied().collect();
    let there = (0..names.len()).filter(|place| url.is_some() && !absent.contains(place));
    let store = sweep.store(session)?;
    let budget = without_limit(wanted, missing);
    let run = |place: &usize| {
        let run = &wanted[*place];
        (names[*place].as_str(), cost(run.work), budget.of(run).map_or(0, Cost::bytes))
    };
    let job = Job {
        folder: store.folder(),
        url: url.as_deref(),
        missing: missing.iter().map(run).collect(),
        kept: there.map(|place| names[place].as_str()).collect(),
        fresh: sweep.fresh,
        jobs: sweep.jobs,
    };
    if job.missing.is_empty() && job.kept.is_empty() {
        return Ok(());
    }
    let bar = session.bar(0);
    cluster.make(session, &job, &*bar)?;
    bar.close();
    let mut left = Vec::new();
    for place in missing.drain(..) {
        if !read(place)? {
            left.push(place);
        }
    }
    *missing = left;
    if !missing.is_empty() && !session.asked() {
        let message = format!("{} runs did not come back from {cluster}", missing.len());
        return Err(Failure::run(
            message,
            "install this version of the package on every machine of the cluster",
        ));
    }
    Ok(())
}

/// Results in order, computed on all cores; none after Ctrl-C.
pub fn each<T: Send>(
    session: &Session,
    count: usize,
    make: impl Fn(usize) -> T + Sync,
) -> Result<Option<Vec<T>>, Failure> {
    session.listen()?;
    let bar = session.bar(count as u64);
    let places: Vec<usize> = (0..count).collect();
    let results = threads::map(session, &places, |place| {
        let result = (!session.asked()).then(|| make(*place));
        bar.add(1);
        result
    });
    bar.close();
    Ok(results.into_iter().collect())
}
