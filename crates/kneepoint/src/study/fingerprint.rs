// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names of runs: a kept run is found again as long as none of its inputs changed.
//!
//! ```text
//! name = hash(engine, algorithms that the run uses, identity of the work, seed)
//! ```
//!
//! An algorithm of another crate is identified by the source that documents it and by its author's version.
//!
//! The fingerprints of the engine and of the algorithms are made of their sources when the library is compiled
//! (`build/fingerprint.rs`). A new controller changes no run's name; a change of a helper changes the names of the
//! runs whose algorithms use it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Wanted, Work, hash};
use crate::spec::Valid;

include!(concat!(env!("OUT_DIR"), "/fingerprints.rs"));

/// Families of algorithms in which [`used`] finds the ones that a run uses. A run depends on all members of any other
/// family. A law counts as a part of the controllers and queues that apply it.
const KNOWN: [&str; 11] = [
    "law",
    "cc",
    "queue",
    "feedback",
    "link/loss",
    "link/capacity",
    "traffic",
    "traffic/abr",
    "traffic/rtp",
    "predict",
    "fluid",
];

/// An algorithm: its family and its name.
pub type Used = (&'static str, &'static str);

/// The name under which a run is kept.
pub fn name(work: &Work, seed: u64) -> String {
    Named::of(work).with(seed)
}

/// The fingerprint of the engine, a part of every name.
pub fn engine() -> &'static str {
    ENGINE
}

/// The names of runs. The common part of a work's seeds is hashed once, because a study may want thousands of them.
pub fn names(runs: &[Wanted]) -> Vec<String> {
    let mut known: BTreeMap<*const Work, Named> = BTreeMap::new();
    let one = |run: &Wanted| known.entry(run.work).or_insert_with(|| Named::of(run.work)).with(run.seed);
    runs.iter().map(one).collect()
}

/// The name of a work, but for the seed.
pub(super) struct Named {
    begun: hash::Begun,
    prints: Vec<&'static str>,
    external: Vec<String>,
}

impl Named {
    pub(super) fn of(work: &Work) -> Named {
        let prints: Vec<&str> = match work {
            Work::Packets(packets) => {
                let mut used = used(&packets.valid);
                let watched = packets.watched.iter().flat_map(|watched| watched.predictors());
                used.extend(watched.map(|name| ("predict", name)));
                prints(&used)
            }
            // A computation is quick, and its models borrow parameters from controllers and queues.
            Work::Computation(_) => ALGORITHMS.iter().map(|(.., print)| *print).chain([COMPUTED]).collect(),
        };
        let external = external(work).into_iter().map(|(print, _)| print).collect();
        Named { begun: hash::Begun::with([ENGINE, &work.identity()]), prints, external }
    }

    pub(super) fn with(&self, seed: u64) -> String {
        let external = self.external.iter().map(String::as_str);
        self.begun.and([&*seed.to_string()].into_iter().chain(self.prints.iter().copied()).chain(external))
    }
}

/// Whether a run has the same name in another process: if its external algorithms have versions.
pub fn lasts(work: &Work) -> bool {
    external(work).iter().all(|(_, versioned)| *versioned)
}

/// The prints of the algorithms from outside the registries, and whether they have versions. Without one, two
/// definitions are distinguished only as long as both exist.
fn external(work: &Work) -> Vec<(String, bool)> {
    let Work::Packets(packets) = work else { return Vec::new() };
    let valid = &packets.valid;
    let controllers = valid.groups().iter().filter_map(|group| group.cc.as_ref()?.external());
    let sources = valid.groups().iter().filter_map(|group| group.source.external());
    let queues = valid.network().links.iter().filter_map(|link| link.queue.external());
    let controllers = controllers.map(|one| (one.print(), one.version().is_some()));
    let sources = sources.map(|one| (one.print(), one.version().is_some()));
    let queues = queues.map(|one| (one.print(), one.version().is_some()));
    controllers.chain(sources).chain(queues).collect()
}

/// The algorithms at work in a run.
pub fn used(valid: &Valid) -> BTreeSet<Used> {
    let groups = valid.groups().iter().flat_map(|group| {
        let controller = group.cc.iter().map(|cc| ("cc", cc.name()));
        let rule = group.source.rule().map(|rule| ("traffic/abr", rule));
        let control = group.source.control().map(|control| ("traffic/rtp", control));
        controller.chain([("traffic", group.source.name())]).chain(rule).chain(control)
    });
    let links = valid.network().links.iter().flat_map(|link| {
        [
            ("queue", link.queue.name()),
            ("feedback", link.feedback.name()),
            ("link/loss", link.loss.name()),
            ("link/capacity", link.capacity.name()),
        ]
    });
    groups.chain(links).collect()
}

/// The fingerprints of these algorithms, and of all in families that a run does not list.
fn prints(used: &BTreeSet<Used>) -> Vec<&'static str> {
    let counts = |family, name| used.contains(&(family, name)) || !KNOWN.contains(&family);
    ALGORITHMS.iter().filter(|(family, name, _)| counts(*family, *name)).map(|(.., print)| *print).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{capacity, loss};
    use crate::scenario::Extensions;
    use crate::study::Packets;
    use crate::traffic::{self, abr, rtp};
    use crate::{cc, feedback, fluid, law, predict, queue};

    #[test]
    fn a_run_with_a_controller_of_another_crate_lasts_if_the_controller_has_a_version() {
        let gentle = || cc::external::of::<cc::reno::Reno>("gentle", "//! Gentle: it gives way.");
        let named = |controller: cc::External| {
            let known = Extensions::NONE.controller(controller).expect("a name that is free");
            let text =
                "[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '60ms'\n[[flows]]\ncc = 'gentle'\n";
            let valid = known.parse(text).expect("a scenario").cases.remove(0).valid;
            let work = Work::Packets(Box::new(Packets::from(valid)));
            (name(&work, 1), lasts(&work))
        };
        let [first, again, other] = ["1", "1", "2"].map(|version| named(gentle().versioned(version)));
        assert_eq!((&first, first.1), (&again, true));
        assert_ne!(first.0, other.0);
        assert!(!named(gentle()).1);
    }

    #[test]
    fn runs_have_the_same_names_one_by_one_and_together() {
        let simulated = |rate| {
            let text =
                format!("[topology]\nkind = 'dumbbell'\nrate = '{rate}mbit'\n[[flows]]\ncc = 'pert'\n");
            let valid = crate::scenario::parse(&text).expect("a scenario").cases.remove(0).valid;
            Work::Packets(Box::new(Packets::from(valid)))
        };
        let works = [simulated(5), simulated(10)];
        let pairs = [1, 2, 3].into_iter().flat_map(|seed| works.iter().map(move |work| (work, seed)));
        let runs: Vec<Wanted> = pairs.map(|(work, seed)| Wanted { work, seed, series: false }).collect();
        let alone: Vec<String> = runs.iter().map(|run| name(run.work, run.seed)).collect();
        assert_eq!(names(&runs), alone);
        assert_eq!(alone.into_iter().collect::<BTreeSet<_>>().len(), 6);
    }

    #[test]
    fn every_algorithm_has_a_fingerprint() {
        let families = [
            ("law", law::REGISTRY),
            ("cc", cc::REGISTRY),
            ("queue", queue::REGISTRY),
            ("feedback", feedback::REGISTRY),
            ("link/loss", loss::REGISTRY),
            ("link/capacity", capacity::REGISTRY),
            ("traffic", traffic::REGISTRY),
            ("traffic/abr", abr::REGISTRY),
            ("traffic/rtp", rtp::REGISTRY),
            ("predict", predict::REGISTRY),
            ("fluid", fluid::REGISTRY),
        ];
        for (family, registry) in families {
            let printed = ALGORITHMS.iter().filter(|(of, ..)| *of == family).map(|(_, name, _)| *name);
            let registered = registry.iter().map(|entry| entry.name);
            assert_eq!(printed.collect::<BTreeSet<_>>(), registered.collect(), "{family}");
        }
    }

    #[test]
    fn no_two_algorithms_share_a_fingerprint() {
        let prints: BTreeSet<_> = ALGORITHMS.iter().map(|(.., print)| print).collect();
        assert_eq!(prints.len(), ALGORITHMS.len());
    }

    #[test]
    fn a_run_is_asked_about_every_family() {
        let families: BTreeSet<_> = ALGORITHMS.iter().map(|(family, ..)| *family).collect();
        assert_eq!(families, BTreeSet::from(KNOWN), "teach `used` the new family, and add it to KNOWN");
    }
}
