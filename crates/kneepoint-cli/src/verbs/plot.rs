// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee plot`: the report of finished runs, its figures and its tables, drawn again without simulating; and recorded
//! connections over time.

mod recorded;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::report::comparison::with_figure;
use kneepoint::report::figure::Parts;
use kneepoint::report::json;
use kneepoint::table::Records;
use kneepoint_bench::answer::{Answer, Series};
use kneepoint_bench::session::Session;

use super::{Verb, coexist};
use crate::comparison::tables;
use crate::failure::Failure;
use crate::figure::FigureOptions;
use crate::outputs::{Folder, Out, label, report_at, write_report};
use crate::pictures::ChartOptions;
use crate::{results, terminal};

/// Draw the report of finished runs again without simulating, or recorded QUIC connections over time
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee plot out/compare
  knee plot out/my --charts pdf --size 3.3in
  knee plot out/grid --x rtt --by cc --facet buffer --metric utilization,jain_index
  knee plot out/my --charts svg,png --out paper
  knee plot out/served/*.sqlog              QUIC connections: windows, round trips, losses, rates over time

Figures, tables and report of DIR are replaced; its numbers and your own files stay. With --out they go to another directory.

qlog of any stack is drawn, compressed (.gz .zst .xz) or not; report, figures/, series/ and connections.json go to out/plot.")]
pub struct Arguments {
    /// A directory with results of `knee run`, `knee compare` or `knee coexist`; or files of qlog
    #[arg(value_name = "DIR|FILE", required = true)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    charts: ChartOptions,
    #[command(flatten)]
    figure: FigureOptions,
    /// Directory for report, figures and tables [default: DIR itself; for qlog out/plot, or the first free of out/plot-2, …]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

impl Arguments {
    /// The only directory.
    fn place(&self) -> Result<&Path, Failure> {
        match self.results.as_slice() {
            [place] => Ok(place),
            _ => Err(Failure::usage("several directories", "name one, or files of qlog only")),
        }
    }
}

/// Draws.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    if let Some(connections) = recorded::read(session, arguments)? {
        return recorded::report(session, &connections, arguments, &printer, as_json);
    }
    let results = arguments.place()?;
    let Answer { document, json, .. } = answer(session, arguments)?;
    let out = match elsewhere(arguments)? {
        Some(out) => Out::Given(out).settle(session)?,
        None => redrawn(session, results)?,
    };
    write_report(session, &document, &out, &printer)?;
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    session.tell(place);
    Ok(())
}

/// Reads the results back, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    if let Some(connections) = recorded::read(session, arguments)? {
        return Ok(recorded::answered(&connections));
    }
    let kept = arguments.place()?;
    if let Some((all, manifest)) = coexist::kept(kept)? {
        arguments.figure.none("matrices of pairs have no axes to choose")?;
        return Ok(coexist::report(&all, &manifest));
    }
    let comparison = results::read(session, kept, true)?;
    let own = results::figure(session, kept, &comparison)?;
    let wish = arguments.figure.wish(&own, &comparison.factors, &Parts::of_results(&comparison))?;
    let names: Vec<&str> = comparison.schemes.iter().map(|scheme| scheme.scheme.as_str()).collect();
    let series = comparison.schemes.iter().enumerate().filter_map(|(place, scheme)| {
        let seed = scheme.runs.first()?.seed;
        Some((format!("series/{}", label(&names, (place, seed))), Records::from(scheme.series.as_ref()?)))
    });
    Ok(Answer {
        document: with_figure(&comparison, &wish),
        json: json::render(&comparison),
        tables: tables(&comparison).into_iter().chain(series).collect(),
        series: Series::default(),
        unfinished: None,
    })
}

/// The directory of the drawings, if it differs from the results'. Numbers of another study are not replaced by drawings.
fn elsewhere(arguments: &Arguments) -> Result<Option<PathBuf>, Failure> {
    let Some(out) = &arguments.out else { return Ok(None) };
    let same = |one: &Path, other: &Path| {
        one.canonicalize().ok().zip(other.canonicalize().ok()).is_some_and(|(a, b)| a == b)
    };
    if same(out, &results::directory(arguments.place()?)?) {
        return Ok(None);
    }
    match [results::SUMMARY, coexist::MEETINGS].iter().any(|numbers| out.join(numbers).exists()) {
        true => Err(Failure::usage(
            format!("--out {}: it has the results of another study", out.display()),
            "name another directory",
        )),
        false => Ok(Some(out.clone())),
    }
}

/// The directory of the results, with everything in it except for drawings.
fn redrawn(session: &Session, place: &Path) -> Result<Folder, Failure> {
    let out = Folder::given(session, results::directory(place)?)?;
    out.keep(|path| !is_drawn(path))?;
    Ok(out)
}

/// Whether a file of a report is drawn from its numbers.
fn is_drawn(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy());
    let is_top = path.components().count() == 1;
    let is_text = |name: std::borrow::Cow<str>| ["report", "tables", "table"].contains(&&*name);
    path.starts_with("figures") || is_top && stem.is_some_and(is_text)
}
