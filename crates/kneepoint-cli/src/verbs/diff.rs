// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee diff`: two results compared, with intervals of their differences and the differences of their scenarios.

use std::path::PathBuf;

use clap::Args;
use kneepoint::report::difference::{self, Difference};
use kneepoint::report::{Comparison, Manifest, json, output};
use kneepoint::suggest::guess;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;
use crate::outputs::{Out, report_at, write_report};
use crate::pictures::ChartOptions;
use crate::{manifest, parquet, results, terminal};

/// Compare two results
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee diff out/before out/after
  knee diff out/my out/my-2 --metric goodput_bps,queueing_delay_p99_ms
  knee diff out/before out/after --out out/difference --json | jq '.cases[].metrics[] | select(.apart)'

Cases are matched by their factors, runs by their seeds. A difference is B - A with its 95 % confidence interval, and is separated from \
chance after Holm's correction for the number of differences. Differing settings, seeds and versions are listed. \
Differences are results: the exit status is 0.")]
pub struct Arguments {
    /// A directory with results of `knee run` or `knee compare`
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Another directory; differences are its numbers minus the numbers of A
    #[arg(value_name = "B")]
    second: PathBuf,
    /// Metrics by their keys, of the run and of its links, groups and others [default: the metrics of the headline table]
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    metric: Vec<String>,
    /// Directory for a report with tables in every format [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Compares.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    is_apart(arguments)?;
    let Answer { document, json, tables, .. } = answer(session, arguments)?;
    let written = arguments.out.as_ref().map(|out| {
        let out = Out::Given(out.clone()).settle(session)?;
        parquet::save_tables(&tables, |_| &output::DIFFERENCES, &origin(session), &out)?;
        files::write(&out.join("difference.json"), &json)?;
        write_report(session, &document, &out, &ChartOptions::default().printer()?)?;
        out.publish(session)
    });
    let written = written.transpose()?;
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    if let Some(place) = written {
        session.tell(report_at(&place));
    }
    Ok(())
}

/// Refuses to write the report over the results that it reads.
fn is_apart(arguments: &Arguments) -> Result<(), Failure> {
    let Some(out) = &arguments.out else { return Ok(()) };
    for place in [&arguments.first, &arguments.second] {
        let there = results::directory(place)?.canonicalize().ok();
        if there.is_some() && there == out.canonicalize().ok() {
            return Err(Failure::usage(
                format!("--out: `{}` has results that are compared", out.display()),
                "name another directory",
            ));
        }
    }
    Ok(())
}

/// Compares, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let known: Vec<&str> = difference::known_metrics().collect();
    if let Some(unknown) = arguments.metric.iter().find(|key| !known.contains(&key.as_str())) {
        return Err(Failure::usage(
            format!("--metric: no metric is called `{unknown}`"),
            guess(unknown, &known) + "`knee list metrics` shows all",
        ));
    }
    let read = |place: &PathBuf| -> Result<(String, Comparison), Failure> {
        Ok((place.display().to_string(), results::read(session, place, false)?))
    };
    let ((name_a, a), (name_b, b)) = (read(&arguments.first)?, read(&arguments.second)?);
    let found: Difference = difference::difference((&name_a, &a), (&name_b, &b), &arguments.metric);
    let tables = vec![answer::named("differences", difference::records(&found))];
    Ok(Answer::whole(difference::document(&found), json::render(&found), tables))
}

/// The provenance of the comparison itself.
fn origin(session: &Session) -> Manifest {
    manifest::of(session, Vec::new(), Vec::new(), Vec::new())
}
