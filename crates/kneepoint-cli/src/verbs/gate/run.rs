// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee gate run`: the cases, the result of each, and an exit status.

use clap::Args;
use kneepoint::experiment::gate::Outcome;
use kneepoint::report::{self, Manifest, gate, json};
use kneepoint::table::{Cell, Records};
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::session::Session;

use super::asked::Options;
use super::written::{self, Files};
use crate::failure::Failure;
use crate::terminal;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    files: Files,
}

/// Runs the cases.
pub fn run(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let mut planned = arguments.options.plan(session, false)?;
    arguments.files.check(&planned.inputs)?;
    let (outcome, manifest) = planned.conduct(session, &arguments.options)?;
    written::write(&arguments.files, &outcome, &manifest, &planned.place)?;
    let document = gate::document(&outcome, &manifest);
    written::tell_github(session, &outcome, &document, &planned.place, as_json)?;
    session.print(if as_json {
        json::render(&gate::told(&outcome, &manifest))
    } else {
        terminal::shown(&document)
    })?;
    match outcome.exit_status() {
        0 => Ok(()),
        status => Err(Failure::Said(status)),
    }
}

/// Runs the cases, and leaves no files behind. Failures are in the rows.
pub fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let mut planned = arguments.options.plan(session, false)?;
    let (outcome, manifest) = planned.conduct(session, &arguments.options)?;
    Ok(told(&outcome, &manifest))
}

fn told(outcome: &Outcome, manifest: &Manifest) -> Answer {
    let mut rows = Vec::new();
    for case in &outcome.cases {
        for claim in &case.claims {
            let why = report::gate::why(claim, outcome);
            let cells = [&case.suite, &case.id, &claim.claim.id, claim.status.name(), &why];
            rows.push(cells.map(Cell::from).to_vec());
        }
    }
    let columns = ["suite", "case", "claim", "status", "why"].map(String::from).to_vec();
    let tables = vec![answer::named("gate", Records { columns, rows })];
    Answer::whole(gate::document(outcome, manifest), json::render(&gate::told(outcome, manifest)), tables)
}
