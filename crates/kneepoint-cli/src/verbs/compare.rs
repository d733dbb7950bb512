// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee compare`: schemes side by side on one bottleneck.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use kneepoint::scenario;
use kneepoint::scenario::Queues;
use kneepoint::scenario::scheme::{self, Scheme};
use kneepoint::settings::names::spelled;
use kneepoint::settings::{Raw, Refusal, Settings};
use kneepoint::study::Invalid;
use kneepoint::study::dumbbell::{Asked, FLOWS, Question, Refused, START, Sessions};
use kneepoint::suggest::did_you_mean;
use kneepoint::table::number::counted;
use kneepoint::tcp::{self, Host};
use kneepoint::units::{Interval, Rate, Span};
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::comparison::{self, ComparisonPlan, Rows};
use crate::completion;
use crate::failure::Failure;
use crate::named::NamedFiles;
use crate::outputs::Out;
use crate::path::{Fields, PathOptions};
use crate::values::{OneOf, Sampling, distinct, meant, of_range};
use crate::workload::Workload;

/// Compare schemes on one bottleneck
#[derive(Args)]
#[command(after_help = "\
A scheme is a congestion control, or a sender and a queue with a slash between:
  pert  sack/droptail  cubic/red-ecn  pert:t1=3ms,decrease=0.3  vegas/red:ecn=true

Examples:
  knee compare
  knee compare pert cubic/red-ecn --rate 50mbit --rtt 100ms --flows 20
  knee compare vegas cubic --duration 60s --buffer 750pkt --web 100 --seeds 10
  knee compare cubic bbr --rtt 20ms,80ms --buffer 0.5bdp,1bdp   every scheme with every round trip and buffer
  knee compare pert reno/red --overlay fluid
  knee compare cubic bbr --trace modem.csv --rtt 40ms
  knee compare --workload web
  knee compare sack/pi sack/cake --workload web --page my-site.har
  knee compare reno --tcp delayed_ack=true,rto_min=1s --json | jq .schemes

OUT/scenarios/ keeps a scenario for each scheme; `knee run` repeats it.")]
pub struct Arguments {
    /// Schemes to compare [default: pert sack/droptail sack/red-ecn vegas/droptail, or queues for the workload web]
    #[arg(value_name = "SCHEME", hide_default_value = true, add = completion::scheme())]
    schemes: Vec<String>,
    #[command(flatten)]
    workload: Workload,
    /// Rate of the bottleneck, or several rates [default: from --path, 150mbit, or 10mbit with --workload web]
    #[arg(long, value_delimiter = ',', value_name = "RATE,…")]
    rate: Vec<Rate>,
    /// Base round-trip time, or several [default: from --path, 60ms, or 200ms with --workload web]
    #[arg(long, value_delimiter = ',', value_name = "TIME,…")]
    rtt: Vec<Span>,
    /// Long transfers, or several numbers of them [default: 50, or 10 with --workload web]
    #[arg(long, value_delimiter = ',', value_name = "N,…", value_parser = of_range::<u32>(1..=100_000))]
    flows: Vec<u32>,
    /// Buffer of the bottleneck, or several: 1bdp, 750pkt, 500kb, 100ms; in bdp never less than two packets a flow
    /// [default: from --path, or 1bdp]
    #[arg(long, value_delimiter = ',', value_name = "SIZE,…")]
    buffer: Vec<String>,
    /// Long transfers in the other direction
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = of_range::<u32>(0..=100_000))]
    reverse: u32,
    /// Length of a run in simulated time [default: 400s]
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Measurement window [default: the middle half, 100s..300s of 400s]
    #[arg(long, value_name = "FROM..TO")]
    measure: Option<Interval>,
    /// Interval of random start times [default: the first eighth, 0s..50s of 400s]
    #[arg(long, value_name = "FROM..TO")]
    start: Option<Interval>,
    /// Runs of each scheme, each with its own seed [default: 3]
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "SEED", value_parser = scenario::seed)]
    seed: Option<u64>,
    /// Options of every TCP, as `knee explain tcp` lists them (repeatable, or with commas)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', add = completion::tcp())]
    tcp: Vec<String>,
    /// Source of the queues' default settings
    #[arg(long, default_value = "paper", value_parser = OneOf::of(Queues::ALL.iter().map(|queues| queues.name())))]
    queues: String,
    /// How often the state is sampled for the series, 0s for never; with `all`, the window, RTT and rate of every flow
    #[arg(long, default_value = "100ms", value_name = "TIME|all|TIME,all")]
    sample: Sampling,
    /// Directory for report, summary and series [default: out/compare, or the first free of out/compare-2, …]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    path: PathOptions,
    #[command(flatten)]
    settings: comparison::ComparisonOptions,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Compares.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    plan(session, arguments)?.conduct(session, &arguments.settings, as_json)
}

/// Compares, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    plan(session, arguments)?.answer(session, &arguments.settings)
}

fn plan(session: &Session, arguments: &Arguments) -> Result<ComparisonPlan, Failure> {
    let tcp = arguments.workload.tcp(tcp_options(&arguments.tcp)?);
    let varied = varied(arguments)?;
    let chosen = arguments.workload.choose()?;
    let named = NamedFiles::known(chosen.files.clone());
    let (of, given) = (|name: &str| named.of(name), |name: &str| named.given(name));
    let schemes = match arguments.schemes.is_empty() {
        true => arguments.workload.schemes(),
        false => arguments.schemes.iter().map(|written| scheme::declared(written)).collect(),
    };
    let named_schemes = short_names(&schemes).into_iter().zip(read_all(session, &schemes, &tcp)?);
    let mut fields = arguments.path.fields(session, claims(arguments))?;
    let unsaid = arguments.rate.is_empty() && fields.get("topology.rate").is_none();
    if let (true, Some(option)) = (unsaid, fields.option_of(is_trace)) {
        fields.add(&option, "topology.rate=\"auto\"".to_string());
    }
    let plain = question(session, arguments, named_schemes.collect(), tcp, chosen.sessions());
    let question = Question {
        varied,
        path: fields.own().to_vec(),
        set: fields.set().to_vec(),
        also: also(arguments, &fields),
        full: plain.full || fields.both_ways,
        ..plain
    };
    let Asked { title, rows, scenarios, seeds, figure } =
        question.plan(&of, &given).map_err(|refused| match refused {
            Refused::Invalid(invalid) => {
                let Invalid { name, text, faults } = *invalid;
                let origin = format!("the scenario that these arguments make for {name}");
                comparison::refused(origin, text, &fields, faults)
            }
            Refused::Replaced { scheme, by } => Failure::usage(
                format!("{} replaces a part of the scheme `{scheme}` with `{by}`", replacing(&fields)),
                "name it in the scheme, as in `sack/red-ecn`; `knee run` takes any setting",
            ),
        })?;
    let rows = Rows::new(&title, rows);
    Ok(ComparisonPlan {
        notes: arguments.path.notes(rows.first()),
        rows,
        title,
        scenarios,
        files: named.into_texts(),
        seeds,
        objects: false,
        every_flow: arguments.sample.every_flow,
        figure,
        out: Out::or_free(arguments.out.as_deref(), PathBuf::from("out/compare")),
    })
}

/// Refuses lists of schemes with commas, which must be separate arguments.
pub(super) fn apart(session: &Session, schemes: &[String]) -> Result<(), Failure> {
    let known = |name: &&str| session.extensions().scheme(name).is_ok();
    for list in schemes {
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if list.contains(',') && !names.is_empty() && names.iter().all(known) {
            let remedy = format!("write them with spaces between: `{}`", names.join(" "));
            return Err(Failure::usage(format!("`{list}` is a list of schemes"), remedy));
        }
    }
    Ok(())
}

/// The schemes, each named once.
fn read_all(session: &Session, schemes: &[String], tcp: &[(String, Raw)]) -> Result<Vec<Scheme>, Failure> {
    apart(session, schemes)?;
    let read = |(place, name): (usize, &String)| match schemes[..place].contains(name) {
        true => Err(Failure::usage(format!("the scheme `{name}` is given twice"), "name each scheme once")),
        false => read_scheme(session, name, tcp),
    };
    schemes.iter().enumerate().map(read).collect()
}

/// The fields of the scenario that take several values.
fn varied(arguments: &Arguments) -> Result<Vec<(String, Vec<Raw>)>, Failure> {
    let Arguments { rate, rtt, flows, buffer, .. } = arguments;
    distinct("--rate:", rate, Rate::clone)?;
    distinct("--rtt:", rtt, Span::clone)?;
    distinct("--flows:", flows, u32::clone)?;
    distinct("--buffer:", buffer, |buffer| meant(buffer))?;
    let fields = [
        ("topology.rate", rate.iter().map(text).collect()),
        ("topology.rtt", rtt.iter().map(text).collect()),
        ("topology.buffer", buffer.iter().map(text).collect()),
        (FLOWS, flows.iter().map(|count| Raw::Integer(i64::from(*count))).collect()),
    ];
    let several = fields.into_iter().filter(|(_, values): &(_, Vec<Raw>)| values.len() > 1);
    Ok(several.map(|(field, values)| (field.to_string(), values)).collect())
}

/// The fields that options of this verb set by themselves.
fn claims(arguments: &Arguments) -> Fields {
    let mut fields = Fields::default();
    let Arguments { rate, rtt, flows, buffer, duration, measure, start, seeds, seed, .. } = arguments;
    let several = [
        ("topology.rate", "rate", written(rate)),
        ("topology.rtt", "rtt", written(rtt)),
        ("topology.buffer", "buffer", written(buffer)),
        (FLOWS, "flows", written(flows)),
        (START, "start", written(start)),
        ("run.duration", "duration", written(duration)),
        ("run.measure", "measure", written(measure)),
        ("run.seeds", "seeds", written(seeds)),
        ("run.seed", "seed", written(seed)),
    ];
    for (field, option, values) in several {
        if !values.is_empty() {
            fields.claim(field, format!("--{option} {}", values.join(",")));
        }
    }
    for option in &arguments.tcp {
        let field = option.split_once('=').map_or("preset", |(name, _)| name.trim());
        fields.claim(&format!("tcp.{field}"), format!("--tcp {option}"));
    }
    fields
}

fn written<'v, T: ToString + 'v>(values: impl IntoIterator<Item = &'v T>) -> Vec<String> {
    values.into_iter().map(T::to_string).collect()
}

/// Whether a field names the trace of the bottleneck, which has its own rate.
fn is_trace(field: &str) -> bool {
    field == "capacity.file"
}

/// The option that replaces an algorithm of a scheme.
pub(super) fn replacing(fields: &Fields) -> String {
    let algorithm = |field: &str| field.split('.').any(|part| ["queue", "cc", "flows"].contains(&part));
    fields.option_of(algorithm).unwrap_or_else(|| "--set".to_string())
}

impl Arguments {
    /// A number of the network without an option: from the path's name, or the usual one of the workload.
    fn usual<T: FromStr>(&self, word: &str) -> T {
        let (bulk, web) = match word {
            "rate" => ("150mbit", "10mbit"),
            "rtt" => ("60ms", "200ms"),
            "flows" => ("50", "10"),
            _ => ("1bdp", "1bdp"),
        };
        let usual = self.path.usual(word, if self.workload.is_web() { web } else { bulk });
        usual.parse().unwrap_or_else(|_| panic!("{word} is written {usual}"))
    }
}

fn text(value: &impl ToString) -> Raw {
    Raw::Text(value.to_string())
}

/// Additions to rate, round trip, flows and buffer in the title.
fn also(arguments: &Arguments, path: &Fields) -> String {
    let reverse =
        (arguments.reverse > 0).then(|| format!("{} in reverse", counted(arguments.reverse, "flow")));
    let tcp = match arguments.tcp.len() {
        0 => None,
        1..=MOST_TOLD => Some(arguments.tcp.join(", ")),
        several => Some(format!("{several} options of TCP")),
    };
    let workload = arguments.workload.title().trim_start_matches(", ").to_string();
    let queues = Some(format!("queues={}", arguments.queues)).filter(|_| arguments.queues != "paper");
    let all = [Some(workload).filter(|told| !told.is_empty()), reverse, tcp, queues];
    all.into_iter().flatten().chain(path.told.iter().cloned()).collect::<Vec<_>>().join(", ")
}

/// The length of a run, its seeds and the first of them, where no option says them.
const DURATION: Span = Span::from_secs(400);
const SEEDS: u32 = 3;
const FIRST_SEED: u64 = 1;
/// The sampling interval where `--sample` only names flows.
const USUAL_SAMPLE: Span = Span::from_millis(100);
/// More options than this are counted in titles; scenarios have them all.
const MOST_TOLD: usize = 3;
/// Longer names of schemes with settings are shortened, in characters: a table of 80 columns needs room for numbers.
const LONGEST: usize = 32;

/// The names of schemes in tables: without their settings where these make them too long, which are counted instead; and with a
/// place, where two would be the same.
pub(super) fn short_names(schemes: &[String]) -> Vec<String> {
    let bare = |part: &str| part.split(':').next().unwrap_or_default().to_string();
    let short = |scheme: &String| match scheme.matches('=').count() {
        settings if settings > 0 && scheme.chars().count() > LONGEST => {
            let names = scheme.split('/').map(bare).collect::<Vec<_>>().join("/");
            format!("{names} ({settings} set)")
        }
        _ => scheme.clone(),
    };
    let short: Vec<String> = schemes.iter().map(short).collect();
    let unique = |(place, name): (usize, &String)| match short.iter().filter(|other| *other == name).count() {
        1 => name.clone(),
        _ => format!("{name} {}", short[..=place].iter().filter(|other| *other == name).count()),
    };
    short.iter().enumerate().map(unique).collect()
}

fn question<'a>(
    session: &Session,
    arguments: &Arguments,
    schemes: Vec<(String, Scheme)>,
    tcp: Vec<(String, Raw)>,
    web: Sessions<'a>,
) -> Question<'a> {
    Question {
        also: String::new(),
        schemes,
        extensions: session.extensions().clone(),
        tcp,
        queues: Queues::named(&arguments.queues).unwrap_or(Queues::Paper),
        rate: arguments.rate.first().copied().unwrap_or_else(|| arguments.usual("rate")),
        rtt: arguments.rtt.first().copied().unwrap_or_else(|| arguments.usual("rtt")),
        flows: arguments.flows.first().copied().unwrap_or_else(|| arguments.usual("flows")),
        buffer: arguments.buffer.first().cloned().unwrap_or_else(|| arguments.usual("buffer")),
        varied: Vec::new(),
        reverse: arguments.reverse,
        full: arguments.settings.captures(),
        web,
        duration: arguments.duration.unwrap_or(DURATION),
        measure: arguments.measure,
        start: arguments.start,
        seeds: arguments.seeds.unwrap_or(SEEDS),
        seed: arguments.seed.unwrap_or(FIRST_SEED),
        sample: arguments.sample.interval_or(USUAL_SAMPLE),
        path: Vec::new(),
        set: Vec::new(),
    }
}

/// Reads a scheme that is to run with these options of TCP.
pub(super) fn read_scheme(session: &Session, name: &str, tcp: &[(String, Raw)]) -> Result<Scheme, Failure> {
    let scheme = session.extensions().scheme(name).map_err(|message| {
        Failure::usage(
            message,
            "`knee list controllers queues feedback` shows what there is; `sack/red-ecn` is a sender and a queue",
        )
    })?;
    let host = tcp.iter().find_map(|(option, value)| match value {
        Raw::Text(preset) if option == "preset" => Host::named(preset),
        _ => None,
    });
    let scheme = scheme.on(host.unwrap_or(Host::Paper));
    if scheme.recovery.is_some() && tcp.iter().any(|(option, _)| option == "recovery") {
        return Err(Failure::usage(
            format!("--tcp recovery: the scheme `{name}` says the recovery already"),
            "leave out --tcp recovery, or name schemes such as `cubic` that leave the recovery open",
        ));
    }
    Ok(scheme)
}

/// Options of TCP as written, each checked as in a scenario.
pub(super) fn tcp_options(written: &[String]) -> Result<Vec<(String, Raw)>, Failure> {
    let known = tcp::Options::fields().iter().map(|field| field.name).collect::<Vec<_>>();
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) => {
            Ok((spelled(name.trim(), known.iter().copied()).to_string(), value.trim().to_string()))
        }
        // A host by its name alone.
        None if Host::named(text).is_some() => Ok(("preset".to_string(), text.clone())),
        None => {
            let hosts = Host::ALL.iter().map(|host| format!("`--tcp {host}`")).collect::<Vec<_>>();
            Err(Failure::usage(
                format!("--tcp: `{text}` has no value"),
                format!("write it as in `--tcp rto_min=1s`, or name a host: {}", hosts.join(", ")),
            ))
        }
    };
    let pairs = written.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
    for (place, (name, value)) in pairs.iter().enumerate() {
        if let Some((_, other)) = pairs[..place].iter().find(|(other, _)| other == name) {
            return Err(Failure::usage(
                format!("--tcp {name} is given twice, as `{other}` and as `{value}`"),
                "leave one of them out",
            ));
        }
    }
    let host = pairs.iter().find(|(name, _)| name == "preset").and_then(|(_, value)| Host::named(value));
    let mut options = tcp::Options::of(host.unwrap_or(Host::Paper));
    let read = |(name, value): &(String, String)| {
        let raw = Raw::guess(value);
        match options.set(name, &raw) {
            Ok(()) => Ok((name.to_string(), raw)),
            Err(Refusal::Value(message)) => Err(Failure::usage(
                format!("--tcp {name}: {message}"),
                "`knee explain tcp` shows every option with its range",
            )),
            Err(Refusal::Unknown) => Err(Failure::usage(
                format!("--tcp: unknown option `{name}`"),
                format!("{}; `knee explain tcp` shows every option", did_you_mean(name, &known)),
            )),
        }
    };
    let read = pairs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    options.check().map_err(|message| Failure::usage(format!("--tcp: {message}"), "change one of them"))?;
    Ok(read)
}
