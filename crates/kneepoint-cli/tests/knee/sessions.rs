// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Several sessions in one process, each with its own caller, store and algorithms.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use clap::Parser;
use kneepoint::cc::{self, External};
use kneepoint::report::csv;
use kneepoint::scenario::Extensions;
use kneepoint_bench::answer::Answer;
use kneepoint_bench::failure::Failure;
use kneepoint_bench::program::Program;
use kneepoint_bench::session::{Given, Session, Share};
use kneepoint_cli::Knee;
use tempfile::TempDir;

use super::names;

/// A scenario with a controller that each session defines for itself.
const SCENARIO: &str = "
name = 'own'
[run]
duration = '4s'
seeds = 3
[topology]
kind = 'dumbbell'
rate = '5mbit'
rtt = '20ms'
[[flows]]
cc = 'own'
count = 2
";

/// A caller with a store, and with a controller that it calls `own`.
struct Party {
    store: TempDir,
    own: fn() -> External,
}

impl Party {
    fn new(own: fn() -> External) -> Party {
        Party { store: tempfile::tempdir().expect("a directory"), own }
    }

    fn words(&self) -> Vec<String> {
        let store = self.store.path().display().to_string();
        ["run", "-", "--jobs", "2", "--store", &store].map(str::to_string).to_vec()
    }

    fn given(&self) -> Given {
        let extensions = Extensions::NONE.controller((self.own)()).expect("a free name");
        Given { words: self.words(), input: Some(SCENARIO.into()), extensions, ..Given::default() }
    }

    fn answer(&self, given: Given) -> (Session, Arc<Program>, Result<Answer, Failure>) {
        let program = Arc::<Program>::default();
        let session = Session::new(program.clone(), given);
        let words = std::iter::once("knee".to_string()).chain(session.words().to_vec());
        let answer = Knee::try_parse_from(words).expect("words of the command line").answer(&session);
        (session, program, answer)
    }

    fn rows(&self) -> String {
        let (_, program, answer) = self.answer(self.given());
        assert!(program.take_warnings().is_empty());
        rows(&answer.expect("an answer"))
    }
}

/// All measurements, without the time that they took.
fn rows(answer: &Answer) -> String {
    let measured = answer.tables.iter().filter(|(name, _)| ["groups", "links"].contains(&name.as_str()));
    let measured: Vec<String> =
        measured.map(|(name, records)| format!("{name}\n{}", csv::records(records))).collect();
    assert_eq!(measured.len(), 2);
    measured.concat()
}

fn parties() -> [Party; 2] {
    [
        || cc::external::of::<cc::reno::Reno>("own", "//! Reno.").versioned("reno"),
        || cc::external::of::<cc::vegas::Vegas>("own", "//! Vegas.").versioned("vegas"),
    ]
    .map(|own: fn() -> External| Party::new(own))
}

fn kept(store: &Path) -> usize {
    names(store).len()
}

#[test]
fn sessions_with_other_stores_and_algorithms_work_at_the_same_time() {
    let alone = parties().map(|party| party.rows());
    assert_ne!(alone[0], alone[1], "the two controllers differ");
    let parties = parties();
    let [one, other] = &parties;
    let together = thread::scope(|scope| {
        [one, other]
            .map(|party| scope.spawn(move || party.rows()))
            .map(|thread| thread.join().expect("no panic"))
    });
    assert_eq!(together, alone);
    for party in &parties {
        assert_eq!(kept(party.store.path()), 3, "each store has the runs of its own session");
    }
}

#[test]
fn a_session_that_is_stopped_stops_no_other() {
    let [one, other] = parties();
    let given = one.given();
    given.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let (stopped, _, answer) = one.answer(given);
    assert!(stopped.asked() && matches!(answer, Err(Failure::Interrupted(_))));
    let (session, _, answered) = other.answer(other.given());
    assert!(!session.asked() && answered.is_ok());
    assert_eq!((kept(one.store.path()), kept(other.store.path())), (0, 3));
}

#[test]
fn what_is_said_to_a_caller_and_left_to_it_is_its_own() {
    let [one, other] = parties();
    one.rows();
    let (_, program, answer) = one.answer(one.given());
    assert!(answer.is_ok());
    let told = program.take_remarks().join("\n");
    assert!(told.contains("3 of 3 runs were read back from") && told.contains(&one.words()[5]), "{told}");
    let (session, silent, refused) = other.answer(Given { share: Share::None, ..other.given() });
    assert!(matches!(refused, Err(Failure::Said(0))));
    assert_eq!((session.take_planned().len(), silent.take_remarks().len()), (3, 0));
}
