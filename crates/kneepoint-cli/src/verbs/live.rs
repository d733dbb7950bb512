// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee live`: a scenario on this machine's kernel over an emulated network, beside the simulator's prediction.

mod client;

use std::path::{Path, PathBuf};

use clap::Args;
use client::Client;
use kneepoint::experiment::{Pace, Work, Yield};
use kneepoint::measure::{Meter, Series};
use kneepoint::report::{csv, format, json, live as report};
use kneepoint::scenario;
use kneepoint::spec::{Group, Invalid, Valid};
use kneepoint::study::Record;
use kneepoint::study::live::{Live, Machine, Measured, on_linux};
use kneepoint::table::{Row, Table};
use kneepoint::units::Span;
use kneepoint::{cc, run as engine};
use kneepoint_linux::live as kernel;

use super::run::{UNNAMED, row_name, usual_sample};
use crate::conductor::{self, Means};
use crate::failure::Failure;
use crate::files::{self, tell};
use crate::outputs::{Out, Picture, directory, numbered, slug, write_report};
use crate::{interrupt, library, manifest};

/// What to run.
#[derive(Args)]
#[command(after_help = "\
Each transfer under [[flows]] is a socket of this machine's kernel with the congestion control of its group; the network of the
scenario is emulated between two network namespaces. Root is needed. Kernel and simulator have the same meter.

Examples:
  sudo knee live scenarios/live/controllers.toml
  sudo knee live my.toml --repetitions 5 --out out/live --json
  sudo knee live my.toml --cc-map pert=reno,pert-pi=bbr    other controllers in the kernel, to see what differs

OUT/report.html has both sides with charts; live.csv a line for each metric, series/ the state over time of every run.")]
pub struct Arguments {
    /// A scenario in TOML, or the name of a published experiment, as pert.fig6
    scenario: String,
    /// Runs of the kernel in each case, and seeds of the simulator
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    repetitions: u64,
    /// Which congestion control of the kernel stands for one of the scenario [default: the same name, with _ for -]
    #[arg(long, value_name = "NAME=KERNEL", value_delimiter = ',', value_parser = pair)]
    cc_map: Vec<(String, String)>,
    /// Attempts at a run that late packets do not spoil
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// Run these programs instead of plain sockets, and print what they say of themselves beside the meter
    #[arg(long, value_enum, value_name = "PROGRAM")]
    client: Option<Client>,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    means: Means,
    /// Directory for report, numbers and series [default: out/live- and the scenario's name, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Flows of each group whose windows the series follows.
const FOLLOWED: usize = 4;

/// A scenario as it is to be run.
struct Plan {
    title: String,
    name: String,
    /// Name and text.
    source: (String, String),
    cases: Vec<Case>,
    notes: Vec<String>,
}

struct Case {
    name: String,
    valid: Valid,
}

/// Runs both sides and reports.
pub fn live(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let mut plan = plan(arguments)?;
    check(arguments, &plan)?;
    interrupt::listen()?;
    if let Some(client) = arguments.client {
        return clients(arguments, &plan, client, as_json);
    }
    let out = PathBuf::from(format!("out/live-{}", slug(&plan.name)));
    let out = Out::or_free(arguments.out.as_deref(), out).settle();
    let measured = measure(arguments, &plan)?;
    let finished: usize = measured.iter().map(Vec::len).sum();
    if finished == 0 {
        return Err(Failure::Interrupted("stopped before the first run finished: nothing to report".into()));
    }
    write_series(&plan, &measured, &out)?;
    let seeds: Vec<u64> = (1..=arguments.repetitions).collect();
    let cases =
        plan.cases.iter().zip(measured).map(|(case, runs)| (case.name.clone(), case.valid.clone(), runs));
    let study = Live::new(cases, seeds.clone());
    let conducted = conductor::conduct(&study, &arguments.means, &())?;
    let stopped = interrupt::asked();
    if stopped {
        plan.notes.push(format!("interrupted: {finished} runs of the kernel finished"));
    }
    let reference = cc::Config::default();
    let manifest = manifest::of(vec![plan.source], seeds, plan.notes);
    let report = report::Report::new(plan.title, conducted.outcome, reference.name(), manifest);
    let json = json::render(&report);
    files::make_directory(&out)?;
    files::write(&out.join("live.json"), &json)?;
    files::write(&out.join("live.csv"), csv::records(&report::records(&report)))?;
    let document = report::document(&report);
    let page = write_report(&document, &out, &[Picture::Svg])?;
    files::print(if as_json { json } else { format::text::render(&document) })?;
    let place = format!("report: {}", page.display());
    if stopped {
        return Err(Failure::Interrupted(format!("stopped: the report has what was finished\n{place}")));
    }
    tell(place);
    Ok(())
}

/// Every case with real clients.
fn clients(arguments: &Arguments, plan: &Plan, client: Client, as_json: bool) -> Result<(), Failure> {
    if let Some(program) = client.lacks() {
        let message = format!("`{program}` is not installed");
        return Err(Failure::run(message, format!("install it: apt-get install -y {program}")));
    }
    let mut all = Vec::new();
    for repetition in 1..=arguments.repetitions {
        for case in &plan.cases {
            let transfers = transfers(arguments, case, repetition)?;
            all.extend(client.run(&case.name, &case.valid, &transfers, repetition)?);
            if interrupt::asked() {
                return Err(Failure::Interrupted("stopped".into()));
            }
        }
    }
    files::print(if as_json {
        json::render(&serde_json::json!({ "clients": all }))
    } else {
        client::text(&all)
    })
}

/// The cases of a scenario file, or of an experiment as published.
fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let path = Path::new(&arguments.scenario);
    let mut plan = if path.extension().is_some_and(|end| end == "toml") || arguments.scenario == "-" {
        of_file(path)?
    } else {
        of_experiment(&arguments.scenario)?
    };
    if let Some(only) = &arguments.only {
        plan.cases.retain(|case| case.name.contains(only.as_str()));
    }
    if plan.cases.is_empty() {
        return Err(Failure::usage("no case is left to run", "choose others with `--only`, or leave it out"));
    }
    for case in &mut plan.cases {
        let usual = usual_sample(&case.valid);
        let sample = case.valid.schedule().sample.unwrap_or(usual);
        let sampled = case.valid.clone().with_sample(Some(sample).filter(|sample| *sample > Span::ZERO));
        let (valid, notes) = sampled.and_then(on_linux).map_err(invalid)?;
        case.valid = valid;
        for note in notes {
            if !plan.notes.contains(&note) {
                plan.notes.push(note);
            }
        }
    }
    Ok(plan)
}

fn of_file(path: &Path) -> Result<Plan, Failure> {
    let text = files::read_text(path)?;
    let origin = path.display().to_string();
    let parsed = match scenario::parse_with(&text, &|name| files::beside(path, name)) {
        Ok(parsed) => parsed,
        Err(faults) => return Err(Failure::Scenario { origin, text, faults }),
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|stem| stem != "-").unwrap_or_else(|| parsed.name.clone());
    let title = if parsed.name == UNNAMED { name.clone() } else { parsed.name };
    let case = |case: scenario::Case| Case { name: row_name(&title, &case.settings), valid: case.valid };
    let cases = parsed.cases.into_iter().map(case).collect();
    Ok(Plan { title, source: (name.clone(), text), name, cases, notes: Vec::new() })
}

fn of_experiment(name: &str) -> Result<Plan, Failure> {
    let found = library::find(&[name.to_string()], Pace::Full)?;
    let [volume] = &found[..] else {
        let message = format!("`{name}` stands for {} experiments", found.len());
        return Err(Failure::usage(message, "name one of them; `knee reproduce --list` shows all"));
    };
    let experiment = &volume.experiment;
    let points = experiment.variants.first().into_iter().flat_map(|variant| &variant.points);
    let case = |point: &kneepoint::experiment::Point| match &point.work {
        Work::Packets(packets) => {
            Some(Case { name: row_name(&experiment.id, &point.labels), valid: packets.valid.clone() })
        }
        Work::Computation(_) => None,
    };
    Ok(Plan {
        title: experiment.title.clone(),
        name: experiment.id.clone(),
        source: (experiment.id.clone(), volume.text.clone()),
        cases: points.filter_map(case).collect(),
        notes: Vec::new(),
    })
}

/// Whether this machine can run it at all.
fn check(arguments: &Arguments, plan: &Plan) -> Result<(), Failure> {
    let mut wanted: Vec<String> = Vec::new();
    for case in &plan.cases {
        let transfers = transfers(arguments, case, 1)?;
        wanted.extend(transfers.into_iter().map(|transfer| transfer.control));
    }
    wanted.sort_unstable();
    wanted.dedup();
    let known = kernel::available();
    let lacking: Vec<&str> =
        wanted.iter().filter(|control| !known.contains(control)).map(String::as_str).collect();
    if !lacking.is_empty() {
        let message = format!("the kernel has no congestion control {}", lacking.join(", "));
        let load = lacking.iter().map(|name| format!("`knee kernel load {}`", name.replace('_', "-")));
        let remedy = format!(
            "load it with {}, or with modprobe if it is one of the kernel's modules; or say what stands for it with --cc-map. \
             There are: {}",
            load.collect::<Vec<_>>().join(", "),
            known.join(", ")
        );
        return Err(Failure::run(message, remedy));
    }
    match kernel::missing(&[]) {
        Some(lack) => {
            Err(Failure::run(lack, "run it with sudo; `knee doctor` shows what this machine allows"))
        }
        None => Ok(()),
    }
}

fn transfers(arguments: &Arguments, case: &Case, seed: u64) -> Result<Vec<kernel::Transfer>, Failure> {
    let control = |group: &Group| {
        let name = group.cc.as_ref().map_or("", cc::Config::name);
        let mapped = arguments.cc_map.iter().find(|(from, _)| from == name || *from == group.name);
        mapped.map_or_else(|| name.replace('-', "_"), |(_, to)| to.clone())
    };
    kernel::transfers(&case.valid, seed, control).map_err(|why| {
        let message = format!("{}: the kernel's hosts cannot run it: {why}", case.name);
        Failure::run(message, "leave it to `knee run`, or write the transfers under [[flows]]")
    })
}

/// All runs of the kernel, one after another: every case once, then every case again.
fn measure(arguments: &Arguments, plan: &Plan) -> Result<Vec<Vec<Measured>>, Failure> {
    let mut all: Vec<Vec<Measured>> = plan.cases.iter().map(|_| Vec::new()).collect();
    let whole: Span = plan.cases.iter().fold(Span::ZERO, |sum, case| {
        sum + case.valid.schedule().duration.since(kneepoint::units::Time::ZERO)
    });
    let minutes = whole.as_secs_f64() * arguments.repetitions as f64 / 60.0;
    tell(format!(
        "{} cases, {} repetitions: {minutes:.1} min in real time",
        all.len(),
        arguments.repetitions
    ));
    for repetition in 1..=arguments.repetitions {
        for (case, runs) in plan.cases.iter().zip(&mut all) {
            let transfers = transfers(arguments, case, repetition)?;
            for attempt in 1..=arguments.attempts {
                let measured = once(case, &transfers, repetition, attempt)?;
                if interrupt::asked() {
                    return Ok(all);
                }
                let spoiled = measured.machine.spoiled.clone();
                if let Some(why) = &spoiled {
                    tell(format!("{}, repetition {repetition}: spoiled, {why}", case.name));
                }
                if spoiled.is_none() || attempt == arguments.attempts {
                    runs.push(measured);
                    break;
                }
            }
        }
    }
    Ok(all)
}

/// One run of the kernel.
fn once(
    case: &Case,
    transfers: &[kernel::Transfer],
    repetition: u64,
    attempt: u32,
) -> Result<Measured, Failure> {
    let valid = &case.valid;
    let watch = (Meter::new(valid, repetition), Series::new(valid, FOLLOWED));
    let seen =
        kernel::experiment(valid, repetition, transfers, watch, &interrupt::asked).map_err(|error| {
            let message = format!("{}: the kernel's hosts failed: {error}", case.name);
            Failure::run(message, "`knee doctor` shows what this machine allows")
        })?;
    let (meter, series) = seen.watch;
    let seen_of_run = Yield { rows: meter.finish(), series: Some(series.table()) };
    let groups = valid.groups().iter().zip(&seen.groups).map(|(group, effort)| {
        Row::new([("group", group.name.clone())]).with(report::SENDER, effort.ns_per_packet())
    });
    let receiving = Row::new([]).with(report::RECEIVING, seen.receiving.ns_per_packet());
    let micros = |span: Span| span.0 as f64 / 1e3;
    Ok(Measured {
        processor: groups.chain([receiving]).collect(),
        machine: Machine {
            attempts: attempt,
            late_us: [seen.late.p50, seen.late.p99, seen.late.max].map(micros),
            spoiled: seen.spoiled,
            superpackets: seen.superpackets,
            refused: seen.refused,
        },
        record: Record::simulated(repetition, 0.0, engine::Outcome::default(), seen_of_run),
    })
}

/// The state over time of every run of the kernel.
fn write_series(plan: &Plan, measured: &[Vec<Measured>], out: &Path) -> Result<(), Failure> {
    let names: Vec<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
    let folder = directory(out, "series")?;
    for (place, runs) in measured.iter().enumerate() {
        for Measured { record, .. } in runs {
            let table: Option<&Table> = record.series.as_ref();
            let file = folder.join(format!("{}-{}.csv", numbered(&names, place), record.seed));
            table.map_or(Ok(()), |table| files::write(&file, csv::table(table)))?;
        }
    }
    Ok(())
}

fn invalid(Invalid { message, help }: Invalid) -> Failure {
    Failure::usage(message, help)
}

/// `pert=reno`
fn pair(text: &str) -> Result<(String, String), String> {
    let (from, to) = text.split_once('=').ok_or("write NAME=KERNEL, as in pert=reno")?;
    Ok((from.trim().to_string(), to.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_another() {
        assert_eq!(pair("pert = reno"), Ok(("pert".into(), "reno".into())));
        assert!(pair("pert").is_err());
    }

    #[test]
    fn published_experiments_have_cases_for_the_kernel() {
        let plan = of_experiment("pert.fig6").unwrap();
        let names: std::collections::BTreeSet<_> = plan.cases.iter().map(|case| &case.name).collect();
        assert!(names.len() == plan.cases.len() && names.len() > 1, "{names:?}");
        assert!(of_experiment("pert").is_err(), "a publication is more than one");
    }
}
