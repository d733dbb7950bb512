// SPDX-License-Identifier: Apache-2.0 OR MIT
//! QUIC connections over time, from their qlog.

use std::path::PathBuf;

use kneepoint::capture::qlog::Traced;
use kneepoint::report::connections::{self, Connection};
use kneepoint::report::{csv, json};
use kneepoint::table::Records;
use kneepoint_bench::answer::Answer;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::Arguments;
use crate::failure::Failure;
use crate::outputs::{Out, directory, numbered, report_at, write_report};
use crate::pictures::Printer;
use crate::terminal;
use crate::verbs::predict::{Connections, is_qlog, open_qlog};

/// The connections of the files; none if a directory is meant.
pub fn read(session: &Session, arguments: &Arguments) -> Result<Option<connections::Connections>, Failure> {
    let paths = &arguments.results;
    let is_one = |path: &PathBuf| match path.is_dir() {
        true => Ok(false),
        // What does not exist and is not named like one is a directory that is missing.
        false => is_qlog(path).or_else(|why| if path.exists() { Err(why) } else { Ok(false) }),
    };
    let qlog = paths.iter().map(is_one).collect::<Result<Vec<bool>, Failure>>()?;
    if !qlog.contains(&true) {
        return Ok(None);
    }
    if let Some(other) = qlog.iter().position(|qlog| !qlog) {
        let message = format!("`{}` is not qlog", paths[other].display());
        return Err(Failure::usage(message, "give qlog only, or one directory"));
    }
    arguments.figure.none("connections are drawn over time")?;
    let Connections { all, notes } = open_qlog(session, paths)?;
    if all.is_empty() {
        return Err(Failure::run("the files have no connection", "let the stack write qlog of one"));
    }
    let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    let connections = all.into_iter().map(shortened).map(Connection::of).collect();
    Ok(Some(connections::Connections { title: names.join(", "), connections, notes }))
}

/// The same with a name that fits into a table: files may have titles of any length.
fn shortened(mut traced: Traced) -> Traced {
    if traced.name.chars().count() > LONGEST {
        traced.name = traced.name.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    traced
}

/// Characters of a connection's name.
const LONGEST: usize = 60;

/// The report, and a series of each connection.
pub fn answered(all: &connections::Connections) -> Answer {
    Answer::whole(connections::document(all), json::render(all), series(all))
}

fn series(all: &connections::Connections) -> Vec<(String, Records)> {
    let names: Vec<&str> = all.connections.iter().map(|one| one.name.as_str()).collect();
    let named =
        |(place, one): (usize, &Connection)| (format!("series/{}", numbered(&names, place)), one.records());
    all.connections.iter().enumerate().map(named).collect()
}

/// Writes the report.
pub fn report(
    session: &Session,
    all: &connections::Connections,
    arguments: &Arguments,
    printer: &Printer,
    as_json: bool,
) -> Result<(), Failure> {
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/plot")).settle(session)?;
    let Answer { document, json, tables, .. } = answered(all);
    write_report(session, &document, &out, printer)?;
    files::write(&out.join("connections.json"), &json)?;
    directory(&out, "series")?;
    for (name, records) in &tables {
        files::write(&out.join(format!("{name}.csv")), csv::records(records))?;
    }
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    session.tell(place);
    Ok(())
}
