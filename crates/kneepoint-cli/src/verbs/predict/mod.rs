// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee predict`: which congestion predictor foresees losses, in a simulation or on a captured path.

mod captured;
pub(super) mod opened;
mod qlogs;
pub(super) mod simulation;

use std::path::PathBuf;

use clap::Args;
use kneepoint::predict::{self, Config};
use kneepoint::report::predictions::{self, Predictions};
use kneepoint::report::{csv, json};
use kneepoint::scenario;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

pub(super) use opened::is_qlog;
pub(super) use qlogs::{Connections, open as open_qlog};

use super::Verb;
use crate::completion;
use crate::failure::Failure;
use crate::means::MeansOptions;
use crate::outputs::{Out, report_at, write_report};
use crate::pictures::{ChartOptions, Printer};
use crate::terminal;
use crate::values::within;

/// Score congestion predictors, in a simulation or on a packet capture
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee predict                              the tagged flow of the PERT paper, shortened
  knee predict my.toml --flow long/3 --seeds 5
  knee predict my.toml --predictors rtt,srtt-0.99,ewma:history=0.95,threshold=2ms
  tcpdump -i eth0 -s 120 -w my.pcap tcp & curl …; knee predict my.pcap
  knee predict my.pcap.zst --flows
  knee predict data.pcapng answers.pcapng --flow 10.0.0.1:443-10.0.0.2:5001
  knee predict connection.qlog              a QUIC sender's own record
  knee predict --json | jq '.cases[].runs[].scores[]'

A predictor says low or high with each acknowledgement. Efficiency is the share of its highs that a loss \
followed, false positives the rest; false negatives are the losses that came from low. \
`knee list predictors` names the predictors, `knee explain NAME` gives their equations.

A capture is best taken at the sender of the data, with headers whole; its losses are those that the sender \
repaired, counted in the segments of the first transmission. Tunnels (VXLAN, Geneve, GRE, ERSPAN, IP in IP, GTP-U, \
MPLS) are opened and IP fragments put together. What cannot be read is named and counted: other protocols, headers \
that the snapshot length cut, the missing direction of the data. A file that was cut off is used up to there, with a warning; \
a damaged one is refused.")]
pub struct Arguments {
    /// A scenario in TOML, `-` for standard input; or captures of one path, pcap, pcapng or CSV of tshark, or qlog, compressed (.gz .zst .xz) or not
    /// [default: the PERT paper's tagged flow, shortened]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The flow to watch: GROUP/PLACE of a scenario, its place from 0 [default: the first]; or of a capture
    /// ADDRESS:PORT-ADDRESS:PORT, the sender first [default: the flow with the most data]
    #[arg(long)]
    flow: Option<String>,
    /// List the flows of a capture, and watch none
    #[arg(long, conflicts_with_all = ["flow", "all"])]
    flows: bool,
    /// Watch every flow of a capture that has 100 round trips or more
    #[arg(long, conflicts_with = "flow")]
    all: bool,
    /// Predictors, each with settings after a colon [default: all]
    #[arg(long, value_name = "NAME,…", add = completion::predictors())]
    predictors: Option<String>,
    /// Round trips from the last loss of an episode to its end
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = within(0.0..=1000.0))]
    hold_off: f64,
    /// Number of seeds, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    /// The first seed, instead of the scenario's
    #[arg(long, value_name = "SEED", value_parser = scenario::seed)]
    seed: Option<u64>,
    #[command(flatten)]
    means: MeansOptions,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for the report, figures/, scores.json and scores.csv [default: out/predict, or the first free of out/predict-2, …]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

impl Arguments {
    /// The same for a capture or a record.
    fn configs_of_what_happened(&self) -> Result<Vec<(String, Config)>, Failure> {
        if self.seeds.is_some() || self.seed.is_some() {
            let message = "--seeds and --seed have no effect on a capture";
            return Err(Failure::usage(message, "leave them out: a record has no seed"));
        }
        self.configs()
    }

    /// The predictors that are to watch.
    fn configs(&self) -> Result<Vec<(String, Config)>, Failure> {
        let Some(text) = &self.predictors else { return Ok(predict::standard()) };
        let remedy = "`knee list predictors presets` shows what there is, `knee explain NAME` its settings";
        let configs = predict::parse_list(text)
            .map_err(|message| Failure::usage(format!("--predictors: {message}"), remedy))?;
        let twice =
            (1..configs.len()).find(|place| configs[..*place].iter().any(|one| one.0 == configs[*place].0));
        match twice {
            Some(place) => Err(Failure::usage(
                format!("--predictors: `{}` is given twice", configs[place].0),
                "name each once",
            )),
            None => Ok(configs),
        }
    }
}

/// Watches and reports.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    match watched(session, arguments)? {
        Some(predictions) => report(session, predictions, arguments, &printer, as_json),
        None => captured::list(session, arguments, as_json),
    }
}

/// Watches, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    match watched(session, arguments)? {
        Some(predictions) => Ok(answered(&predictions)),
        None => {
            Err(Failure::usage("--flows prints the flows", "`knee predict FILE --flows` in a shell does"))
        }
    }
}

fn answered(predictions: &Predictions) -> Answer {
    let tables = vec![answer::named("scores", predictions::records(predictions))];
    Answer::whole(predictions::document(predictions), json::render(predictions), tables)
}

/// The results of the predictors; nothing if only the flows of a capture are listed.
fn watched(session: &Session, arguments: &Arguments) -> Result<Option<Predictions>, Failure> {
    let qlog = arguments.files.iter().map(|file| opened::is_qlog(file)).collect::<Result<Vec<_>, _>>()?;
    if qlog.contains(&true) {
        if let Some(other) = qlog.iter().position(|qlog| !qlog) {
            let message = format!("`{}` is not qlog", arguments.files[other].display());
            return Err(Failure::usage(message, "give qlog only, or none"));
        }
        return qlogs::watch(session, arguments).map(Some);
    }
    let captures = arguments.files.iter().map(|file| opened::is_capture(file));
    Ok(Some(match captures.collect::<Result<Vec<_>, _>>()?.as_slice() {
        all if (arguments.flows || arguments.all) && (all.is_empty() || all.contains(&false)) => {
            let message = "--flows and --all are about captures";
            return Err(Failure::usage(
                message,
                "give captures, pcap or pcapng; `knee check FILE` tells the groups of a scenario",
            ));
        }
        _ if arguments.flows => return Ok(None),
        [] => simulation::watch(session, None, arguments)?,
        [false] => simulation::watch(session, arguments.files.first(), arguments)?,
        all if all.iter().all(|capture| *capture) => captured::watch(session, arguments)?,
        all => {
            let other = all.iter().position(|capture| !capture).unwrap_or_default();
            let message = opened::unknown(&arguments.files[other]);
            return Err(Failure::usage(message, "give one scenario, or captures only"));
        }
    }))
}

fn report(
    session: &Session,
    predictions: Predictions,
    arguments: &Arguments,
    printer: &Printer,
    as_json: bool,
) -> Result<(), Failure> {
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/predict")).settle(session)?;
    let Answer { document, json, tables, .. } = answered(&predictions);
    write_report(session, &document, &out, printer)?;
    files::write(&out.join("scores.json"), &json)?;
    for (name, records) in &tables {
        files::write(&out.join(format!("{name}.csv")), csv::records(records))?;
    }
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    session.tell(place);
    Ok(())
}
