// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee check`: validates scenarios and experiments without running them.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::experiment::{Pace, Scope};
use kneepoint::scenario::Fault;
use kneepoint::table::number::counted;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::{Value, json};

use super::Verb;
use crate::failure::{self, Failure};
use crate::library::{self, Volume};

/// Check scenarios without running them
#[derive(Args)]
#[command(after_help = "Example:\n  knee check my.toml yours.toml")]
pub struct Arguments {
    /// Scenarios or experiments; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Checks all files.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let (mut answers, mut status) = (Vec::new(), 0);
    for path in &arguments.files {
        match check_one(session, path) {
            Ok((answer, failure)) => {
                if let Some(failure) = failure {
                    status = 2;
                    if !as_json {
                        failure::report(&failure, as_json);
                    }
                } else if !as_json {
                    session.print(line(&answer))?;
                }
                answers.push(answer);
            }
            Err(failure) => {
                status = status.max(1);
                failure::report(&failure, as_json);
            }
        }
    }
    // Without a file that can be read there is no answer.
    if as_json && !answers.is_empty() {
        session.print_json(&json!({ "files": answers }))?;
    }
    if status == 0 { Ok(()) } else { Err(Failure::Said(status)) }
}

/// The result for a file as JSON, and as a failure if the file is invalid.
fn check_one(session: &Session, path: &Path) -> Result<(Value, Option<Failure>), Failure> {
    let text = files::read_text(session, path)?;
    let origin = path.display().to_string();
    if library::is_experiment(&text) {
        return Ok(match library::find(session, &[path], Pace::Full, Scope::Single) {
            Ok(found) => (figure(&origin, &found), None),
            Err(Failure::Scenario { origin: file, text: read, faults }) => refused(file, read, faults),
            Err(other) => return Err(other),
        });
    }
    let checked = session.extensions().parse_with(&text, &|named| files::beside(path, named));
    let checked = checked.and_then(|plan| match session.misfits(&text, &plan) {
        faults if faults.is_empty() => Ok(plan),
        faults => Err(faults),
    });
    Ok(match checked {
        Ok(plan) => {
            let answer = json!({
                "file": origin,
                "valid": true,
                "name": plan.name,
                "cases": plan.cases.len(),
                "seeds": plan.seeds,
                "extent": extent(plan.cases.len(), plan.seeds.len()),
                "faults": [],
            });
            (answer, None)
        }
        Err(faults) => refused(origin, text, faults),
    })
}

fn refused(origin: String, text: String, faults: Vec<Fault>) -> (Value, Option<Failure>) {
    let list = failure::faults(&origin, &text, &faults);
    let answer = json!({
        "file": origin, "valid": false, "name": null, "cases": null, "seeds": null, "extent": null, "faults": list,
    });
    (answer, Some(Failure::Scenario { origin, text, faults }))
}

/// The result for a valid experiment.
fn figure(origin: &str, found: &[Volume]) -> Value {
    let experiments = found.iter().map(|volume| &volume.experiment);
    let cases: usize = experiments.clone().map(|one| one.variants[0].points.len()).sum();
    let seeds: Vec<u64> = experiments.clone().flat_map(|one| one.seeds.clone()).collect();
    let title: Vec<&str> = experiments.map(|one| one.title.as_str()).collect();
    json!({
        "file": origin,
        "valid": true,
        "name": title.join("; "),
        "cases": cases,
        "seeds": seeds,
        "extent": extent(cases, seeds.len()),
        "faults": [],
    })
}

/// The line for a valid file.
fn line(answer: &Value) -> String {
    let part = |key: &str| answer[key].as_str().unwrap_or_default();
    format!("{}: valid, {}", part("file"), part("extent"))
}

fn extent(cases: usize, seeds: usize) -> String {
    format!("{} with {}: {}", counted(cases, "case"), counted(seeds, "seed"), counted(cases * seeds, "run"))
}
