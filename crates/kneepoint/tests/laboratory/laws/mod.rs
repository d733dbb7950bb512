// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws that hold for every registered algorithm. The laws of controllers, queues and sources are in the library, so
//! that other crates can try them on theirs; `stamps`, `rules` and `probabilities` are tried here.

mod probabilities;
mod rules;
mod stamps;

use std::collections::BTreeSet;
use std::fmt::Debug;

use kneepoint::laws::{self, controllers, queues, sources};
use kneepoint::settings::{Assign, Entry};
use kneepoint::traffic::{self, abr, rtp};
use kneepoint::{cc, feedback, law, queue};

/// The common rules of the registries of all families.
trait Family: Assign + Clone + PartialEq + Debug {
    const REGISTRY: &'static [Entry];
    fn named(name: &str) -> Option<Self>;

    /// Every algorithm with its defaults.
    fn all() -> impl Iterator<Item = Self> {
        Self::REGISTRY.iter().map(|entry| Self::named(entry.name).expect("a registered name"))
    }

    /// Every algorithm with its defaults, then with each parameter at each end of its range and at each choice.
    fn variants() -> Vec<Self> {
        Self::all().flat_map(|one| laws::variants(&one)).collect()
    }
}

macro_rules! families {
    ($($family:ident)*) => { $(
        impl Family for $family::Config {
            const REGISTRY: &'static [Entry] = $family::REGISTRY;
            fn named(name: &str) -> Option<Self> {
                $family::Config::named(name)
            }
        }
    )* };
}
families! { law cc queue feedback traffic abr rtp }

fn entries_are_named_documented_and_tested<F: Family>() {
    let mut names = BTreeSet::new();
    for entry in F::REGISTRY {
        let name = entry.name;
        assert!(names.insert(name), "{name} is registered twice");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        assert!(entry.source.contains("SPDX-License-Identifier"), "{name} has no licence line");
        assert!(F::named(name).is_some());
        laws::documented(entry);
    }
    assert!(F::named("no-such-algorithm").is_none());
}

#[test]
fn every_algorithm_is_named_documented_and_tested() {
    entries_are_named_documented_and_tested::<law::Config>();
    entries_are_named_documented_and_tested::<cc::Config>();
    entries_are_named_documented_and_tested::<queue::Config>();
    entries_are_named_documented_and_tested::<traffic::Config>();
    entries_are_named_documented_and_tested::<abr::Config>();
    entries_are_named_documented_and_tested::<rtp::Config>();
}

fn parameters_are_declared_and_held_to_their_range<F: Family>() {
    for entry in F::REGISTRY {
        laws::held_to_their_range(entry.name, &F::named(entry.name).expect("a registered name"));
    }
}

#[test]
fn every_parameter_out_of_range_is_refused_with_the_range_in_the_message() {
    parameters_are_declared_and_held_to_their_range::<law::Config>();
    parameters_are_declared_and_held_to_their_range::<cc::Config>();
    parameters_are_declared_and_held_to_their_range::<queue::Config>();
    parameters_are_declared_and_held_to_their_range::<feedback::Config>();
    parameters_are_declared_and_held_to_their_range::<traffic::Config>();
    parameters_are_declared_and_held_to_their_range::<abr::Config>();
    parameters_are_declared_and_held_to_their_range::<rtp::Config>();
}

#[test]
fn a_window_is_at_least_one_packet_and_finite_whatever_the_signals() {
    cc::Config::variants().iter().zip(0..).for_each(|(config, seed)| controllers::stay_sane(config, seed));
}

#[test]
fn a_loss_or_a_timeout_never_widens_a_window_beyond_two_packets_or_what_a_known_rate_allows() {
    cc::Config::all().for_each(|config| controllers::give_way(&config));
}

#[test]
fn a_cloned_controller_has_the_same_future_and_so_has_the_same_seed() {
    cc::Config::variants()
        .iter()
        .zip(0..)
        .for_each(|(config, seed)| controllers::have_one_future(config, seed));
}

#[test]
fn a_controller_is_small_enough_to_lie_beside_its_flow() {
    let size = size_of::<cc::Any>();
    assert!(size <= 208, "{size} bytes");
}

#[test]
fn packets_are_conserved_by_identity_and_leave_in_the_order_that_their_discipline_promises() {
    queue::Config::variants()
        .iter()
        .zip(0..)
        .for_each(|(config, seed)| queues::conserve_packets(config, seed));
}

#[test]
fn a_cloned_queue_has_the_same_future_and_so_has_the_same_seed() {
    queue::Config::variants()
        .iter()
        .zip(0..)
        .for_each(|(config, seed)| queues::have_one_future(config, seed));
}

/// Names the case while a panic unwinds.
struct Case(String);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the case of {}", self.0);
        }
    }
}

#[test]
fn a_source_asks_for_what_there_is_stops_when_told_and_has_one_future() {
    for config in traffic::Config::variants() {
        let _case = Case(format!("{config:?}"));
        sources::ask_for_what_there_is(&config);
    }
}

#[test]
fn every_source_runs_a_small_network_at_every_extreme_and_stops_when_told() {
    for config in traffic::Config::variants() {
        let _case = Case(format!("{config:?}"));
        sources::stop_when_told(&config);
    }
}
