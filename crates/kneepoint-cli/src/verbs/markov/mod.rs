// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee markov`: the Markov renewal analysis of a persistent session, compared with drawings and packets.

mod parameters;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::markov::{Params, Protocol};
use kneepoint::report::{self, csv, json};
use kneepoint::scenario;
use kneepoint::settings::{Raw, Setting, Settings};
use kneepoint::study::Invalid;
use kneepoint::study::markov::{Outcome, Place, Point, Question, Trial, cases};
use kneepoint::units::Span;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::machine;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;
use crate::means::{Means, MeansOptions, Sweep};
use crate::outputs::{Out, report_at, write_report, write_scenarios};
use crate::pictures::ChartOptions;
use crate::terminal;
use crate::values::{distinct, of_range};
use parameters::Chosen;

/// Analyse RATCP and TCP competing with short sessions as a Markov renewal process
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee markov                                        Figure 4: RATCP with two backlogs and TCP over the arrivals
  knee markov --arrivals 0.1                         one point, with the size of its chains
  knee markov --along buffer=10..40:7 --arrivals 0.01
  knee markov --along arrivals=0.01..4.5:8:log --monte-carlo --packets --out out/markov
  knee markov --sensitivity --arrivals 0.5 --monte-carlo
  knee markov --readings packet-by-packet --ahead served --json | jq '.points[0].solution'

--monte-carlo draws the same process; --packets simulates a dumbbell with the same parameters and TCP's own timers. \
Runs of packets are kept, so that another reading of the analysis repeats none of them.")]
pub struct Arguments {
    /// Protocols of the persistent session
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", default_value = "ratcp,tcp")]
    protocols: Vec<String>,
    /// RATCP's target backlog in packets, δ; a session for each
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "N,…",
        default_value = "1,4",
        allow_hyphen_values = true
    )]
    backlogs: Vec<String>,
    /// The parameter to vary: NAME=FROM..TO[:POINTS][:log]
    /// [default: arrivals=0.001..4.5:20:log unless --arrivals or --sensitivity is given]
    #[arg(long, value_name = "AXIS")]
    along: Option<String>,
    /// Change each reading of the paper by itself, and show the effect
    #[arg(long)]
    sensitivity: bool,
    /// Draw this many intervals or recoveries at each point, too [default without a number: 2000000]
    #[arg(long, value_name = "CYCLES", num_args = 0..=1, default_missing_value = "2000000",
          value_parser = of_range::<u64>(1000..=1_000_000_000))]
    monte_carlo: Option<u64>,
    /// Simulate packets at each point, too
    #[arg(long)]
    packets: bool,
    /// Simulated time of a run of packets, of which the first twentieth is not measured
    #[arg(long, value_name = "TIME", default_value = "4000s")]
    duration: Span,
    /// Runs of packets at each point
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = scenario::seeds)]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1, value_name = "SEED", value_parser = scenario::seed)]
    seed: u64,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    means: MeansOptions,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for the report, its figures and markov.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// The axis of Figure 4.
const FIGURE_4: &str = "arrivals=0.001..4.5:20:log";

/// Solves, draws and simulates as requested, and prints.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let printer = arguments.charts.printer()?;
    let Solved { answer: Answer { document, json, tables, .. }, scenarios } = solved(session, arguments)?;
    if let Some(out) = &arguments.out {
        let out = Out::Given(out.clone()).settle(session)?;
        write_report(session, &document, &out, &printer)?;
        for (name, records) in &tables {
            files::write(&out.join(format!("{name}.csv")), csv::records(records))?;
        }
        if !scenarios.is_empty() {
            write_scenarios(&scenarios, &out)?;
        }
        session.tell(report_at(&out.publish(session)?));
    }
    session.print(if as_json { json } else { terminal::shown(&document) })
}

/// Solves, draws and simulates as requested.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    Ok(solved(session, arguments)?.answer)
}

/// The analysis, and the scenarios of its runs of packets.
struct Solved {
    answer: Answer,
    scenarios: Vec<(String, String)>,
}

fn solved(session: &Session, arguments: &Arguments) -> Result<Solved, Failure> {
    Means::from(&arguments.means).check(session)?;
    let question = question(arguments)?;
    let places = question
        .places()
        .map_err(|why| Failure::usage(format!("--along: {why}"), "vary a parameter within its range"))?;
    let Some(computed) =
        conductor::each(session, places.len(), |place| timed(&question, &places[place], place))?
    else {
        return Err(Failure::Interrupted("interrupted; nothing was written".into()));
    };
    let took: Duration = computed.iter().map(|(_, took)| *took).sum();
    let mut points: Vec<Point> = computed.into_iter().map(|(point, _)| point).collect();
    session.tell(format!("{} chains took {:.1} s of CPU time", points.len(), took.as_secs_f64()));
    let mut scenarios = Vec::new();
    if arguments.packets {
        scenarios = simulate(session, arguments, &question, &mut points)?;
    }
    let Question { cases, along, .. } = question;
    let outcome = Outcome { cases, along, points };
    let tables = vec![answer::named("markov", report::markov::records(&outcome))];
    let answer = Answer::whole(report::markov::document(&outcome), json::render(&outcome), tables);
    Ok(Solved { answer, scenarios })
}

/// A point and the CPU time that it took.
fn timed(question: &Question, place: &Place, number: usize) -> (Point, Duration) {
    let began = machine::thread_cpu_time();
    let point = question.compute(place, number);
    (point, machine::thread_cpu_time().saturating_sub(began))
}

/// Simulates packets at every point and notes them there. Returns the scenarios, each with its name.
fn simulate(
    session: &Session,
    arguments: &Arguments,
    question: &Question,
    points: &mut [Point],
) -> Result<Vec<(String, String)>, Failure> {
    let first = arguments.seed;
    let seeds = (0..u64::from(arguments.seeds)).map(|place| first + place).collect();
    let trial = Trial { seeds, duration: arguments.duration };
    let places: Vec<Place> = points.iter().map(|point| point.place.clone()).collect();
    let mut trials = trial.plan(&question.cases, &places).map_err(|invalid| {
        let Invalid { name, text, faults } = *invalid;
        Failure::Scenario { origin: format!("the scenario of {name}"), text, faults }
    })?;
    let conducted = conductor::conduct(session, &mut trials, &Sweep::from(&arguments.means), &())?;
    if conducted.left() > 0 {
        let left = conducted.left();
        let message = format!("stopped: {left} runs were not finished; the same command continues");
        return Err(Failure::Interrupted(message));
    }
    for (point, observed) in points.iter_mut().zip(conducted.outcome) {
        point.packets = observed;
    }
    Ok(trials.scenarios)
}

/// The arguments with all defaults.
fn question(arguments: &Arguments) -> Result<Question, Failure> {
    let Arguments { chosen, sensitivity, .. } = arguments;
    let base = chosen.params()?;
    let by_default = (!sensitivity && !chosen.has("arrivals")).then_some(FIGURE_4);
    let along = arguments.along.as_deref().or(by_default).map(axis).transpose()?;
    if let Some(name) = along.as_ref().map(|axis| &axis.name).filter(|name| chosen.has(name)) {
        let option = name.replace('_', "-");
        return Err(Failure::usage(
            format!("--{option} is already varied by --along"),
            format!("omit --{option}, or vary another parameter"),
        ));
    }
    let protocols = arguments.protocols.iter().map(|name| {
        Protocol::read(&Raw::Text(name.clone()))
            .map_err(|why| Failure::usage(format!("--protocols: {why}"), "write `--protocols ratcp,tcp`"))
    });
    let protocols = protocols.collect::<Result<Vec<_>, _>>()?;
    distinct("--protocols:", &arguments.protocols, |name| Protocol::read(&Raw::Text(name.clone())).ok())?;
    let backlog = |text: &String| {
        let mut params = Params::default();
        parameters::set(&mut params, "backlog", text).map(|()| params.backlog)
    };
    let mut backlogs = arguments.backlogs.iter().map(backlog).collect::<Result<Vec<_>, _>>()?;
    distinct("--backlogs:", &arguments.backlogs, |text| backlog(text).ok())?;
    if along.as_ref().is_some_and(|axis| axis.name == "backlog") {
        backlogs.truncate(1);
    }
    let cases = cases(&base, &protocols, &backlogs);
    if along.is_none() {
        base.check()
            .map_err(|why| Failure::usage(why, "`knee markov --help` shows every option with its default"))?;
    }
    Ok(Question {
        cases,
        along,
        every_reading: *sensitivity,
        cycles: arguments.monte_carlo,
        seed: arguments.seed,
    })
}

fn axis(text: &str) -> Result<ParameterAxis, Failure> {
    text.parse()
        .map_err(|why| Failure::usage(format!("--along: {why}"), format!("write it as `--along {FIGURE_4}`")))
}
