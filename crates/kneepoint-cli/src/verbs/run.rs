// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee run`: a scenario from a file, with every case of its sweep.

use std::path::PathBuf;

use clap::Args;
use kneepoint::scenario::{self, Case};
use kneepoint::settings::Raw;
use kneepoint::spec::{Invalid, Valid};
use kneepoint::units::{Rate, Span};
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use super::Verb;
use super::compare::tcp_options;
use crate::comparison::{self, ComparisonPlan, Rows, refused};
use crate::completion;
use crate::failure::Failure;
use crate::library;
use crate::named::NamedFiles;
use crate::outputs::{self, Out};
use crate::path::{Fields, PathOptions};
use crate::values::{Sampling, distinct, meant};

/// The name of an unnamed scenario.
pub(super) const UNNAMED: &str = "untitled";

/// Run a scenario file, with every case of its sweep
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee init my.toml && knee run my.toml
  knee run my.toml --seeds 10 --out out/ten --sample 10ms
  knee run my.toml --set topology.rtt=20ms --set 'flows.*.count=10' --dry-run
  knee run my.toml --json | jq '.schemes[].utilization.mean'
  knee run grid.toml --x rtt --by cc --facet buffer --metric utilization,jain_index
  knee run my.toml --overlay fluid
  knee run my.toml --trace modem.csv --tcp linux
  knee run my.toml --rtt 20ms,60ms,120ms --buffer 0.5bdp,1bdp --loss 0.1%
  knee run my.toml --pcap r1-r2 && wireshark out/my/captures/*.pcapng
  knee run my.toml --seeds 1000 --on ray://head:10001 --store s3://bucket/runs

A report has one row for each case of the scenario's sweep.")]
pub struct Arguments {
    /// A scenario in TOML; `-` for standard input
    file: PathBuf,
    /// Directory for report, summary and series [default: out/ and the file's name, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of seeds, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    /// The first seed, instead of the scenario's
    #[arg(long, value_name = "SEED", value_parser = scenario::seed)]
    seed: Option<u64>,
    /// Sampling interval of the state, instead of the scenario's or one that suffices for plots, 0s for never; with `all`, the
    /// window, RTT and rate of every flow
    ///
    /// By default every 100 ms, or less often in runs of more than 400 s.
    #[arg(long, value_name = "TIME|all|TIME,all")]
    sample: Option<Sampling>,
    /// Rate of the bottleneck, or several: every case runs with each
    #[arg(long, value_delimiter = ',', value_name = "RATE,…")]
    rate: Vec<Rate>,
    /// Base round-trip time, or several
    #[arg(long, value_delimiter = ',', value_name = "TIME,…")]
    rtt: Vec<Span>,
    /// Buffer of the bottleneck, or several: 1bdp, 750pkt, 500kb, 100ms
    #[arg(long, value_delimiter = ',', value_name = "SIZE,…")]
    buffer: Vec<String>,
    /// Options of every TCP, or the host that has them: linux, rto_min=1s (repeatable, or with commas)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', add = completion::tcp())]
    tcp: Vec<String>,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    settings: comparison::ComparisonOptions,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Runs.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    plan(session, arguments)?.conduct(session, &arguments.settings, as_json)
}

/// Runs, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    plan(session, arguments)?.answer(session, &arguments.settings)
}

fn plan(session: &Session, arguments: &Arguments) -> Result<ComparisonPlan, Failure> {
    let text = library::scenario(session, &arguments.file)?;
    let origin = arguments.file.display().to_string();
    let named = NamedFiles::default();
    let beside = |name: &str| named.beside(&arguments.file, name);
    let given = |name: &str| named.set(&arguments.file, name);
    let fields = fields(session, arguments)?;
    let (plan, text) = match session.extensions().parse_set(&text, fields.lines(), &beside, &given) {
        Ok(read) => read,
        Err(faults) => return Err(refused(origin, text, &fields, faults)),
    };
    let faults = session.misfits(&text, &plan);
    if !faults.is_empty() {
        return Err(Failure::Scenario { origin, text, faults });
    }
    let stem = arguments.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|stem| stem != "-").unwrap_or_else(|| plan.name.clone());
    let told = [&fields.told, fields.set()].concat();
    let title = title(if plan.name == UNNAMED { &name } else { &plan.name }, &told);
    let row = |case: Case| {
        let valid = case.valid;
        let usual = valid.schedule().sample.unwrap_or_else(|| usual_sample(&valid));
        let sampled = valid.with_sample(arguments.sample.unwrap_or_default().interval_or(usual));
        let sampled = sampled.map_err(|Invalid { message, help }| Failure::usage(message, help))?;
        Ok((case.settings, sampled))
    };
    let rows = Rows::new(&title, plan.cases.into_iter().map(row).collect::<Result<_, Failure>>()?);
    Ok(ComparisonPlan {
        notes: arguments.path.notes(rows.first()),
        scenarios: vec![(name.clone(), text)],
        files: named.into_texts(),
        seeds: seeds(arguments, &plan.seeds),
        objects: plan.objects,
        every_flow: arguments.sample.is_some_and(|sample| sample.every_flow),
        figure: plan.figure,
        rows,
        out: Out::or_free(arguments.out.as_deref(), PathBuf::from("out").join(outputs::slug(&name))),
        title,
    })
}

/// The fields that options set.
fn fields(session: &Session, arguments: &Arguments) -> Result<Fields, Failure> {
    let Arguments { rate, rtt, buffer, .. } = arguments;
    distinct("--rate:", rate, Rate::clone)?;
    distinct("--rtt:", rtt, Span::clone)?;
    distinct("--buffer:", buffer, |size| meant(size))?;
    let mut fields = Fields::default();
    let given = [
        ("rate", rate.iter().map(Rate::to_string).collect()),
        ("rtt", rtt.iter().map(Span::to_string).collect()),
        ("buffer", buffer.clone()),
    ];
    for (word, values) in given {
        let values: Vec<String> = values;
        let usual = arguments.path.usual_of(word).filter(|_| word != "rate" || !arguments.path.has_trace());
        fields.vary(word, values, usual);
    }
    let settled = [
        ("run.seeds", "seeds", arguments.seeds.map(|seeds| seeds.to_string())),
        ("run.seed", "seed", arguments.seed.map(|seed| seed.to_string())),
    ];
    for (field, option, value) in settled {
        if let Some(value) = value {
            fields.claim(field, format!("--{option} {value}"));
        }
    }
    for (name, value) in tcp_options(&arguments.tcp)? {
        fields.add(&format!("--tcp {name}={value}"), format!("tcp.{name}={value}"));
        fields.told.push(format!(
            "{name}={}",
            if let Raw::Text(text) = &value { text.clone() } else { value.to_string() }
        ));
    }
    arguments.path.fields(session, fields)
}

/// The name of a scenario with fields set from outside: its text differs.
fn title(name: &str, set: &[String]) -> String {
    // Seeds and length are given elsewhere in every report.
    let told: Vec<&str> =
        set.iter().map(|line| line.trim()).filter(|line| !line.starts_with("run.")).collect();
    match told.len() {
        0 => name.to_string(),
        few if few <= MOST_TOLD => format!("{name}, with {}", told.join(", ")),
        many => format!("{name}, with {many} fields set"),
    }
}

/// More fields than this are counted in titles.
const MOST_TOLD: usize = 3;

/// Often enough for plots: 100 ms, but no more than 4000 samples of a long run.
pub(super) fn usual_sample(valid: &Valid) -> Span {
    Span::from_millis(100).max(Span(valid.schedule().duration.0 / 4000))
}

/// The requested seeds, or the scenario's.
fn seeds(arguments: &Arguments, planned: &[u64]) -> Vec<u64> {
    if arguments.seeds.is_none() && arguments.seed.is_none() {
        return planned.to_vec();
    }
    let first = arguments.seed.or(planned.first().copied()).unwrap_or(1);
    let count = arguments.seeds.map_or(planned.len() as u64, u64::from);
    (0..count).map(|place| first.saturating_add(place)).collect()
}

/// The name of a case in the report: its place in the sweep, or the scenario's name without one.
pub(super) fn row_name(plan: &str, settings: &[(String, String)]) -> String {
    if settings.is_empty() {
        return plan.to_string();
    }
    let setting = |(key, value): &(String, String)| match key.as_str() {
        // A scheme's name needs no key.
        "scheme" => value.clone(),
        _ => format!("{key}={value}"),
    };
    settings.iter().map(setting).collect::<Vec<_>>().join(" ")
}
