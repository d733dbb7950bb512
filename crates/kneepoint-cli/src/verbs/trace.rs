// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee trace`: describes trace files, and converts them from one form to another.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::link::recording::{Recognised, Recording};
use kneepoint::report::{json, recording};
use kneepoint::units::Span;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;
use crate::{terminal, traced};

/// Describe and convert traces of a link's capacity
#[derive(Args)]
#[command(after_help = "\
The form of a file is recognised:
  mahimahi  a whole number of milliseconds in each line, each an opportunity to deliver 1500 bytes
  text      two columns without names: seconds and Mbit/s
  csv       a header that names columns with units: time_s or duration_ms, rate_kbps or Mbps, delay_ms, rtt_ms, loss
  json      a list of such objects: [{\"duration_ms\": 1000, \"bandwidth_kbps\": 700, \"latency_ms\": 20}]

Lines that begin with # are comments. A rate holds until the next one; after the last the trace begins again.

Examples:
  knee trace modem.csv
  knee trace *.trace --interval 100ms --gap 1s --json | jq '.traces[] | {file, mean_bps, longest_gap_ms}'
  knee trace sabre.json --to mahimahi --out sabre.trace
  knee trace verizon.trace --to csv --interval 500ms --out verizon.csv
  knee compare cubic bbr --trace modem.csv")]
pub struct Arguments {
    /// Trace files; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Average rates over so long intervals [default: 1s, or a tenth of a shorter trace]
    #[arg(long, value_name = "TIME")]
    interval: Option<Span>,
    /// Least length of a gap: a time without any capacity
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    gap: Span,
    /// Convert the file to this form; Mahimahi's opportunities become mean rates of intervals
    #[arg(long, value_enum, value_name = "FORM", requires = "out")]
    to: Option<Target>,
    /// The file to which the converted trace is written
    #[arg(long, value_name = "FILE", requires = "to")]
    out: Option<PathBuf>,
}

/// The form of a converted trace.
#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// Delivery opportunities of 1500 bytes; delay and loss are left out
    Mahimahi,
    /// Durations and rates under a header
    Csv,
    /// Durations and rates as a list of objects
    Json,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Describes, and converts.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let Answer { document, json, .. } = answer(session, arguments)?;
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    if let Some(out) = &arguments.out {
        session.tell(format!("the converted trace is {}", out.display()));
    }
    Ok(())
}

/// Describes, and converts.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let Arguments { files, to, out, .. } = arguments;
    if let (Some(_), [_, other, ..]) = (to, &files[..]) {
        let message = format!("--to converts one trace, and `{}` is another", other.display());
        return Err(Failure::usage(message, "convert each with its own call"));
    }
    let known = files.iter().map(|file| traced::read(session, file)).collect::<Result<Vec<_>, _>>()?;
    let describe = |(file, one): (&PathBuf, &Recognised)| {
        let interval = arguments.interval(&one.recording);
        let named = file.display().to_string();
        recording::describe(&named, one, interval, arguments.gap).ok_or_else(|| too_short(file, interval))
    };
    let traces = files.iter().zip(&known).map(describe).collect::<Result<Vec<_>, _>>()?;
    if let (Some(target), Some(place), [one]) = (to, out, &known[..]) {
        let interval = arguments.interval(&one.recording);
        let text = target.written(&one.recording, interval).ok_or_else(|| too_short(&files[0], interval))?;
        files::write(place, text)?;
    }
    let traces = recording::Traces { traces };
    let tables = vec![answer::named("traces", recording::records(&traces))];
    Ok(Answer::whole(recording::document(&traces), json::render(&traces), tables))
}

impl Arguments {
    fn interval(&self, recording: &Recording) -> Span {
        self.interval.unwrap_or_else(|| recording::usual_interval(recording))
    }
}

impl Target {
    fn written(self, recording: &Recording, interval: Span) -> Option<String> {
        match self {
            Target::Mahimahi => Some(recording.to_mahimahi()),
            Target::Csv => recording.to_csv(interval),
            Target::Json => recording.to_json(interval),
        }
    }
}

fn too_short(file: &Path, interval: Span) -> Failure {
    Failure::usage(
        format!("--interval {interval}: `{}` would have more than a million of these", file.display()),
        "give a longer one, above 0s",
    )
}
