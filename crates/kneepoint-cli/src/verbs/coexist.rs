// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee coexist`: pairs of controllers on one bottleneck, in many settings.
//!
//! Every pair shares every buffer with every number of flows, and each controller is paired with itself, which shows the
//! noise. Where both have the same number of flows one run serves both orders.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use kneepoint::report::{Manifest, coexistence, json, output, reproduction};
use kneepoint::scenario::{self, Queues, scheme};
use kneepoint::study::coexist::{Coexist, Coexistence, Question, Refused, row_flows};
use kneepoint::study::{Effort, Invalid, Study, Work, precision};
use kneepoint::units::{Interval, Rate, Span};
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::forecast::Forecast;
use kneepoint_bench::session::Session;

use super::Verb;
use super::compare::{apart, read_scheme, replacing, short_names, tcp_options};
use crate::comparison::{refused, write_scenarios};
use crate::completion;
use crate::failure::Failure;
use crate::means::{Sweep, SweepOptions, USUAL_BUDGET, first_seeds};
use crate::named::NamedFiles;
use crate::outputs::{Out, numbered, report_at, write_report};
use crate::path::{Fields, PathOptions};
use crate::pictures::{ChartOptions, Format};
use crate::values::{OneOf, distinct, meant, number, of_range};
use crate::{manifest, parquet, results, terminal};

/// Test which controllers can share a link
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee coexist --quick
  knee coexist pert-adaptive cubic sack --rate 150mbit --rtt 60ms --buffers 0.25bdp,1bdp,4bdp
  knee coexist cubic sack vegas --flows 10 --queue red-ecn --seeds 10 --out out/red
  knee coexist pert cubic --mix 0.1 --flows 10,50   a tenth of the flows are the row's
  knee coexist cubic bbr --trace modem.csv --buffers 1bdp --flows 2 --set tcp.preset=linux
  knee coexist --json | jq '.verdicts[] | {controller, verdict}'

OUT/report.html has the verdicts and the matrices, and figures/ has them as SVG and PNG; \
coexistence.csv, .parquet and .json the numbers, scenarios/ what `knee run` repeats. \
Each run is kept the moment it ends and is not repeated, so that more seeds, \
settings or controllers cost only what they add.")]
pub struct Arguments {
    /// Controllers that are to meet, each with settings after a colon
    #[arg(value_name = "CONTROLLER", default_values = DEFAULTS, add = completion::controller())]
    controllers: Vec<String>,
    /// Rate of the bottleneck [default: from --path, or 150mbit]
    #[arg(long)]
    rate: Option<Rate>,
    /// Base round-trip time [default: from --path, or 60ms]
    #[arg(long, value_name = "TIME")]
    rtt: Option<Span>,
    /// Buffers that they share; in bdp never less than two packets a flow [default:
    /// 0.25bdp,0.5bdp,1bdp,2bdp,4bdp, or 0.5bdp,1bdp,2bdp with --quick]
    #[arg(long, value_delimiter = ',', value_name = "SIZE,…")]
    buffers: Vec<String>,
    /// Total number of flows of both [default: 2,10,50, or 2,10 with --quick]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = of_range::<u32>(2..=100_000))]
    flows: Vec<u32>,
    /// The row's part of the flows
    #[arg(long, default_value_t = 0.5, value_name = "PART", allow_negative_numbers = true, value_parser = number)]
    mix: f64,
    /// Queue of the bottleneck
    #[arg(long, default_value = "droptail", add = completion::queue())]
    queue: String,
    /// The sufficient part of a fair share, to get and to leave
    #[arg(long, default_value_t = 0.8, value_name = "PART", allow_negative_numbers = true, value_parser = number)]
    enough: f64,
    /// Length of a run in simulated time [default: 200s, or 40s with --quick]
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Measurement window [default: all but the first quarter, 50s..200s of 200s]
    #[arg(long, value_name = "FROM..TO")]
    measure: Option<Interval>,
    /// Interval of random start times [default: the first twentieth, 0s..10s of 200s]
    #[arg(long, value_name = "FROM..TO")]
    start: Option<Interval>,
    /// Runs of each pair in each setting [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    /// Run further seeds until the 95 % interval of every share has at most this half-width, in parts of the fair share: 5%
    #[arg(long, value_name = "PART", value_parser = precision::part)]
    precision: Option<f64>,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "SEED", value_parser = scenario::seed)]
    seed: u64,
    /// Options of every TCP, as `knee explain tcp` lists them (repeatable, or with commas)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', add = completion::tcp())]
    tcp: Vec<String>,
    /// Source of the queues' default settings
    #[arg(long, default_value = "paper", value_parser = OneOf::of(Queues::ALL.iter().map(|queues| queues.name())))]
    queues: String,
    /// Fewer settings, shorter runs and fewer seeds where none are given, for a first look
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    sweep: SweepOptions,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for report, pictures and numbers [default: out/coexist, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// The controllers by default: a new one, and widely deployed ones.
const DEFAULTS: [&str; 4] = ["pert-adaptive", "cubic", "bbr", "sack"];

/// Runs every pair and reports.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let (mut study, named) = study(session, arguments)?;
    let sweep = sweep(arguments);
    sweep.check(session, false)?;
    if arguments.sweep.dry_run() {
        Forecast::of(session, &study, &sweep, false, |_| Vec::new())?.print(session, as_json)?;
        if let Some(wanted) = arguments.precision {
            session.tell(first_seeds(study.seeds().len(), &precision::percent(wanted), &sweep));
        }
        return Ok(());
    }
    let printer = arguments.charts.or(&[Format::Png]).printer()?;
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from("out/coexist")).settle(session)?;
    let Conclusion { answer, manifest, effort } = conduct(session, &mut study, arguments)?;
    let Answer { document, json, tables, unfinished, .. } = answer;
    write_report(session, &document, &out, &printer)?;
    write_scenarios(&study.scenarios, &named.into_texts(), &out)?;
    files::write(&out.join(MEETINGS), &json)?;
    parquet::save_tables(&tables, |_| &output::COEXISTENCE, &manifest, &out)?;
    let place = format!("{}\n{}", reproduction::effort(&effort), report_at(&out.publish(session)?));
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    if let Some(stopped) = unfinished {
        return Err(Failure::Interrupted(format!("{stopped}\n{place}")));
    }
    session.tell(place);
    Ok(())
}

/// Runs every pair, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let (mut study, _) = study(session, arguments)?;
    Ok(conduct(session, &mut study, arguments)?.answer)
}

/// The encounters, and the files that their scenarios name.
fn study(session: &Session, arguments: &Arguments) -> Result<(Coexist, NamedFiles), Failure> {
    let fields = arguments.path.fields(session, claims(arguments))?;
    let question = question(session, arguments, &fields)?;
    let named = NamedFiles::default();
    let study = question.plan(&|name| named.given(name)).map_err(|why| match why {
        Refused::Invalid(invalid) => {
            let Invalid { name, text, faults } = *invalid;
            let origin = format!("the scenario that these arguments make for {name}");
            refused(origin, text, &fields, faults)
        }
        Refused::Replaced { scheme, by } => Failure::usage(
            format!("{} replaces a part of `{scheme}` with `{by}`", replacing(&fields)),
            "name controllers, and the queue with `--queue`; `knee run` takes any setting",
        ),
        Refused::Varied => Failure::usage(
            format!("{}: the pairs, their flows, buffers and seeds come from the options", varying(&fields)),
            "leave out what sets other buffers, seeds or a sweep; `knee run` takes any setting",
        ),
    })?;
    Ok((study.precise(arguments.precision), named))
}

/// The fields that options of this verb set by themselves.
fn claims(arguments: &Arguments) -> Fields {
    let mut fields = Fields::default();
    if let Some(rate) = arguments.rate {
        fields.claim("topology.rate", format!("--rate {rate}"));
    }
    if let Some(rtt) = arguments.rtt {
        fields.claim("topology.rtt", format!("--rtt {rtt}"));
    }
    fields
}

/// The option that sets the factor of the pairs.
fn varying(fields: &Fields) -> String {
    let varied = |field: &str| ["topology.buffer", "run.seed", "run.seeds"].contains(&field);
    fields.swept_by().or_else(|| fields.option_of(varied)).unwrap_or_else(|| "--set".to_string())
}

/// The means of the study. A study that continues until it is precise has a budget.
fn sweep(arguments: &Arguments) -> Sweep {
    Sweep::from(&arguments.sweep).within(arguments.precision.map(|_| USUAL_BUDGET))
}

/// The conclusions from the encounters.
struct Conclusion {
    answer: Answer,
    manifest: Manifest,
    effort: Effort,
}

fn conduct(session: &Session, study: &mut Coexist, arguments: &Arguments) -> Result<Conclusion, Failure> {
    let run = study.wanted().into_iter().find_map(|wanted| match wanted.work {
        Work::Packets(packets) => Some(&packets.valid),
        Work::Computation(_) => None,
    });
    let mut notes = arguments.path.notes(run);
    let sweep = sweep(arguments);
    let conducted = conductor::conduct(session, study, &sweep, &())?;
    conducted.nonempty(session, &sweep)?;
    let (left, effort) = (conducted.left(), conducted.records.effort());
    let why = if conducted.spent { "the budget was spent" } else { "interrupted" };
    notes.extend((left > 0).then(|| format!("{why}: {left} runs were not finished")));
    notes.extend(study.told(&conducted.outcome));
    let manifest = manifest::of(session, study.scenarios.clone(), study.seeds().to_vec(), notes);
    let unfinished = (left > 0 && !conducted.spent)
        .then(|| format!("stopped: {left} runs were not finished; the same command continues"));
    let answer = Answer { unfinished, ..report(&conducted.outcome, &manifest) };
    Ok(Conclusion { answer, manifest, effort })
}

/// The file with the numbers of pairs.
pub(super) const MEETINGS: &str = "coexistence.json";

/// The output of this verb in a directory, if there is any.
pub fn kept(place: &Path) -> Result<Option<(Coexistence, Manifest)>, Failure> {
    results::of_verb(place, MEETINGS, coexistence::read)
}

/// The results of encounters, as a document, JSON and a table.
pub fn report(all: &Coexistence, manifest: &Manifest) -> Answer {
    let tables = vec![answer::named("coexistence", coexistence::records(all))];
    Answer::whole(
        coexistence::document(all, manifest),
        json::render(&coexistence::json(all, manifest)),
        tables,
    )
}

/// The arguments with all defaults.
fn question(session: &Session, arguments: &Arguments, path: &Fields) -> Result<Question, Failure> {
    let quick = arguments.quick;
    let usual = |full: &[&str], short: &[&str]| -> Vec<String> {
        (if quick { short } else { full }).iter().map(|text| text.to_string()).collect()
    };
    let buffers = match &arguments.buffers[..] {
        [] => usual(&["0.25bdp", "0.5bdp", "1bdp", "2bdp", "4bdp"], &["0.5bdp", "1bdp", "2bdp"]),
        given => given.to_vec(),
    };
    let flows = match &arguments.flows[..] {
        [] if quick => vec![2, 10],
        [] => vec![2, 10, 50],
        given => given.to_vec(),
    };
    let controllers: Vec<String> =
        arguments.controllers.iter().map(|written| scheme::declared(written)).collect();
    apart(session, &controllers)?;
    distinct("the controller", &controllers, String::clone)?;
    distinct("--buffers:", &buffers, |buffer| meant(buffer))?;
    distinct("--flows:", &flows, u32::clone)?;
    if controllers.len() < 2 {
        return Err(Failure::usage(
            format!("`{}` is the only controller", controllers[0]),
            "name two controllers or more; `knee list controllers` shows what there is",
        ));
    }
    for (name, part) in [("--mix", arguments.mix), ("--enough", arguments.enough)] {
        if !(part > 0.0 && part < 1.0) {
            let message = format!("{name} {part} is outside the allowed range, between 0 and 1");
            return Err(Failure::usage(message, format!("write a part of one, as in `{name} 0.5`")));
        }
    }
    divisible(arguments.mix, &flows)?;
    let tcp = tcp_options(&arguments.tcp)?;
    let read = |name: &String| match name.split_once('/') {
        Some((control, queue)) => Err(Failure::usage(
            format!("`{name}` is a scheme: all controllers meet in one queue"),
            format!("name `{control}`, and the queue with `--queue {queue}`"),
        )),
        None => read_scheme(session, &format!("{name}/{}", arguments.queue), &tcp),
    };
    let bare = controllers.iter().map(|name| name.split(':').next().unwrap_or(name));
    let bare = bare.collect::<Vec<_>>();
    let (seeds, first) = (arguments.seeds.unwrap_or(if quick { 3 } else { 5 }), arguments.seed);
    Ok(Question {
        controllers: short_names(&controllers),
        short: (0..bare.len()).map(|place| numbered(&bare, place)).collect(),
        schemes: controllers.iter().map(read).collect::<Result<_, _>>()?,
        queue: arguments.queue.clone(),
        extensions: session.extensions().clone(),
        tcp,
        queues: Queues::named(&arguments.queues).unwrap_or(Queues::Paper),
        // A trace has its own rate.
        rate: match path.get("topology.rate").and_then(|rate| rate.parse().ok()).or(arguments.rate) {
            Some(rate) => rate,
            None => path_default(arguments, "rate", "150mbit")?,
        },
        rtt: arguments.rtt.map_or_else(|| path_default(arguments, "rtt", "60ms"), Ok)?,
        buffers,
        flows,
        mix: arguments.mix,
        enough: arguments.enough,
        path: path.lines().to_vec(),
        also: [&path.told, path.set()].concat(),
        full: path.both_ways,
        duration: arguments.duration.unwrap_or(Span::from_secs(if quick { 40 } else { 200 })),
        measure: arguments.measure,
        start: arguments.start,
        seeds: (0..u64::from(seeds)).map(|place| first + place).collect(),
    })
}

/// A property of the path where no option says it.
fn path_default<T: FromStr<Err = String>>(
    arguments: &Arguments,
    word: &str,
    usual: &str,
) -> Result<T, Failure> {
    arguments.path.usual(word, usual).parse().map_err(|why| Failure::usage(why, "give it by its option"))
}

/// Refuses flows that cannot be divided as `mix` says, to a twentieth of them.
fn divisible(mix: f64, flows: &[u32]) -> Result<(), Failure> {
    let divides = |count: u32| row_flows(mix, count).1 <= f64::from(count) / 20.0;
    let Some(undivided) = flows.iter().copied().find(|count| !divides(*count)) else { return Ok(()) };
    let (row, _) = row_flows(mix, undivided);
    let message = format!(
        "--mix {mix} of {undivided} flows is not a whole number: the nearest are {row} and {}",
        undivided - row
    );
    // Half a flow is a twentieth of ten, and one flow a twentieth of twenty.
    let next = (undivided..).find(|count| divides(*count)).unwrap_or(20);
    Err(Failure::usage(message, format!("give numbers of flows that it divides, as in `--flows {next}`")))
}
