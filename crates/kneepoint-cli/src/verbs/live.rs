// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee live`: a scenario on this machine's kernel over an emulated network, compared with the simulator's prediction.

mod cases;
mod client;
mod lacking;
mod measure;
mod on;
mod queue;
#[cfg(feature = "quic")]
mod quic;
mod video;

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use client::Client;
use kneepoint::cc;
use kneepoint::experiment::Pace;
use kneepoint::report::{csv, json, live as report};
use kneepoint::spec::{Group, Invalid};
use kneepoint::study::live as study;
use kneepoint::table::Table;
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_linux::live as kernel;
use kneepoint_linux::privilege::Rights;
use tempfile::TempDir;

use super::Verb;
use crate::failure::Failure;
use crate::manifest;
use crate::means::{Means, MeansOptions, Sweep};
use crate::outputs::{Out, directory, numbered, report_at, slug, write_report};
use crate::pictures::ChartOptions;
use crate::terminal;
use crate::values::{distinct, of_range};
use cases::{Case, Cases, Choice, cases};
use measure::{Attempt, Clock, measure};
use on::Place;
use queue::KernelQueue;

/// Run a scenario on this machine's kernel, and compare it with the simulator's prediction
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Each transfer of the scenario is a socket of this machine's kernel with the congestion control of its group; the network of the \
scenario is emulated between two network namespaces. Root is needed. Kernel and simulator have the same meter. The claims of an \
experiment are judged by both.

With --on noq or --on quinn, hosts are those of a QUIC stack, with the laboratory's controllers, or its own ones by --cc-map: noq:reno, \
noq:cubic, noq:bbr3; quinn:reno, quinn:cubic, quinn:bbr.

With --on uml, hosts, routers and queues are those of a Linux in virtual time, which `knee doctor --build-uml` builds once: the kernel's own \
TCP and queue disciplines, never late, without root, and repeatable to the byte.

Examples:
  sudo knee live live.controllers
  sudo knee live my.toml --repetitions 5 --out out/live --json
  sudo knee live live.mixes --at-once 2        the experiments: `knee reproduce live --list`
  sudo knee live my.toml --cc-map pert=reno,pert-pi=bbr    other controllers in the kernel, to see what differs
  knee live my.toml --on uml                   Linux in virtual time: queues of the kernel, no root
  knee live my.toml --on noq --cc-map cubic=noq:cubic      a QUIC stack with its own CUBIC, in a build with the feature `quic`
  knee live my.toml --on uml --queue kernel:fq_codel

OUT/report.html has both sides with charts; live.csv a line for each metric, series/ the state over time of every run."
)]
pub struct Arguments {
    /// A scenario or an experiment in TOML, or the name of one that is built in, as live.mixes or pert.fig6
    #[arg(required = true)]
    scenario: Option<PathBuf>,
    /// Runs of the kernel in each case, and seeds of the simulator
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = of_range::<u64>(1..=1000))]
    repetitions: u64,
    /// Run these programs instead of plain sockets, and print their own reports next to the meter's
    #[arg(long, value_enum, value_name = "PROGRAM", ignore_case = true)]
    client: Option<Client>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    runs: Runs,
    #[command(flatten)]
    means: MeansOptions,
    #[command(flatten)]
    charts: ChartOptions,
    /// Directory for report, numbers and series [default: out/live- and the scenario's name, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(subcommand)]
    what: Option<What>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// The replacement for a scenario's own transfers.
#[derive(Subcommand)]
enum What {
    /// A film played over the emulated link
    Video(video::Arguments),
}

/// The way in which runs of the kernel are made.
#[derive(Args)]
struct Runs {
    /// The kernel's congestion control for one of the scenario [default: the same name, with _ for -]
    #[arg(long, value_name = "NAME=KERNEL", value_delimiter = ',', value_parser = pair)]
    cc_map: Vec<(String, String)>,
    /// Attempts until late packets do not spoil a run
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = of_range::<u32>(1..=100))]
    attempts: u32,
    /// Simultaneous runs of the kernel, each in its own namespaces; they share the processor, so that times per packet grow
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = of_range::<u32>(1..=64))]
    at_once: u32,
    /// The kernel's own queue discipline at the bottleneck, with the kernel's defaults: kernel:fq_codel, kernel:codel:target=10ms
    ///
    /// It works with --on uml, whose queues are the kernel's. The prediction has the laboratory's discipline of that name.
    #[arg(long, value_name = "kernel:NAME", value_parser = queue::read)]
    queue: Option<KernelQueue>,
    /// The shortened runs of an experiment
    #[arg(long)]
    quick: bool,
    /// Only cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Runs both sides and reports.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    if let Some(What::Video(arguments)) = &arguments.what {
        return video::video(session, arguments, as_json);
    }
    let scenario = arguments.scenario.as_deref().unwrap_or(Path::new(""));
    let Cases { title, name, source, all, claims, mut notes } = arguments.runs.cases(session, scenario)?;
    let hosts = arguments.place.hosts(&arguments.runs, &all)?;
    Means::from(&arguments.means).check(session)?;
    let printer = arguments.charts.printer()?;
    session.listen_saying("stopping; the report has the runs that finished")?;
    if let Some(client) = arguments.client {
        hosts.must_be_real("--client")?;
        return clients(session, arguments, &all, client, as_json);
    }
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from(format!("out/live-{}", slug(&name))))
        .settle(session)?;
    let once = |place: usize, attempt: &Attempt| hosts.once(session, &arguments.runs, &all[place], attempt);
    let names: Vec<&str> = all.iter().map(|case| case.name.as_str()).collect();
    let measured = measure(session, &arguments.runs, arguments.repetitions, &names, hosts.clock(), &once)?;
    let finished: usize = measured.iter().map(Vec::len).sum();
    if finished == 0 {
        return Err(Failure::Interrupted("stopped before the first run finished: nothing to report".into()));
    }
    write_series(&all, &measured, &out)?;
    let seeds: Vec<u64> = (1..=arguments.repetitions).collect();
    let beside = all.into_iter().zip(measured).map(Case::measured);
    let mut study = study::Live::new(beside, seeds.clone());
    let conducted = conductor::conduct(session, &mut study, &Sweep::from(&arguments.means), &())?;
    let stopped = session.asked();
    if stopped {
        notes.push(format!("interrupted: {finished} runs of the kernel finished"));
    }
    let reference = cc::Config::default();
    let manifest = manifest::of(session, vec![source], seeds, notes);
    let report = report::Report::new(
        [title, hosts.about(), hosts.side().into()],
        hosts.clock() == Clock::Virtual,
        conducted.outcome,
        &claims,
        reference.name(),
        manifest,
    );
    let json = json::render(&report);
    files::write(&out.join("live.json"), &json)?;
    files::write(&out.join("live.csv"), csv::records(&report::records(&report)))?;
    let document = report::document(&report);
    write_report(session, &document, &out, &printer)?;
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { json } else { terminal::shown(&document) })?;
    if stopped {
        return Err(Failure::Interrupted(format!("stopped: the report has what was finished\n{place}")));
    }
    session.tell(place);
    Ok(())
}

/// Every case with real clients.
fn clients(
    session: &Session,
    arguments: &Arguments,
    cases: &[Case],
    client: Client,
    as_json: bool,
) -> Result<(), Failure> {
    if let Some(program) = client.lacks() {
        let message = format!("`{program}` is not installed");
        return Err(Failure::run(message, format!("install it: apt-get install -y {program}")));
    }
    let mut all = Vec::new();
    for repetition in 1..=arguments.repetitions {
        for case in cases {
            let plan = arguments.runs.plan(case, repetition)?;
            if !plan.crews.is_empty() || plan.transfers.is_empty() {
                let message =
                    format!("{}: real clients stand for transfers under [[flows]] alone", case.name);
                return Err(Failure::run(message, "leave --client out"));
            }
            all.extend(client.run(session, &case.name, &case.valid, &plan.transfers, repetition)?);
            if session.asked() {
                return Err(Failure::Interrupted("stopped".into()));
            }
        }
    }
    session.print(if as_json {
        json::render(&serde_json::json!({ "clients": all }))
    } else {
        client::text(&all)
    })
}

impl Runs {
    /// The cases of a scenario or an experiment.
    fn cases(&self, session: &Session, named: &Path) -> Result<Cases, Failure> {
        let mapped: Vec<&str> = self.cc_map.iter().map(|(from, _)| from.as_str()).collect();
        distinct("--cc-map:", &mapped, |name| *name)?;
        let pace = if self.quick { Pace::Quick } else { Pace::Full };
        cases(session, named, Choice { pace, only: self.only.as_deref(), queue: self.queue.as_ref() })
    }

    /// Whether this machine can run it at all.
    fn check(&self, cases: &[Case]) -> Result<(), Failure> {
        if let Some(KernelQueue { name, .. }) = &self.queue {
            return Err(Failure::usage(
                format!(
                    "--queue kernel:{name}: the links between hosts of this machine are emulated, with their queues"
                ),
                "give --on uml, too, whose queues are the kernel's",
            ));
        }
        let plans = cases.iter().map(|case| self.plan(case, 1)).collect::<Result<Vec<_>, Failure>>()?;
        let mut wanted: Vec<&str> = plans.iter().flat_map(kernel::Plan::controls).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let known = kernel::available();
        let lacking: Vec<&str> =
            wanted.into_iter().filter(|control| !known.iter().any(|one| one == control)).collect();
        if !lacking.is_empty() {
            let message = format!("the kernel has no congestion control {}", lacking.join(", "));
            let remedy = lacking::remedy(&lacking, &known);
            return Err(Failure::run(message, remedy));
        }
        match kernel::missing(&[]) {
            Some(lack) => {
                Err(Failure::run(lack, "run it with sudo; `knee doctor` shows what this machine allows"))
            }
            None => Ok(()),
        }
    }

    /// The substitute for a controller of a group.
    fn mapped(&self, controller: &str, group: &str) -> Option<&str> {
        let mapped = self.cc_map.iter().find(|(from, _)| from == controller || from == group);
        mapped.map(|(_, to)| to.as_str())
    }

    /// The work of the kernel's hosts in a case.
    fn plan(&self, case: &Case, seed: u64) -> Result<kernel::Plan, Failure> {
        let control = |group: &Group| {
            let name = group.cc.as_ref().map_or("", cc::Config::name);
            self.mapped(name, &group.name).map_or_else(|| name.replace('-', "_"), str::to_string)
        };
        kernel::Plan::new(&case.valid, seed, control).map_err(|why| {
            let message = format!("{}: the kernel's hosts cannot run it: {why}", case.name);
            Failure::run(message, "leave it to `knee run`")
        })
    }
}

/// A folder for the output of programs, owned by the user that they run as. It is removed when dropped.
fn scratch() -> Result<TempDir, Failure> {
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::io("make a folder in", &std::env::temp_dir(), &error))?;
    if let Some(user) = Rights::of_caller().user() {
        chown(folder.path(), Some(user.uid.as_raw()), Some(user.gid.as_raw()))
            .map_err(|error| Failure::io("give away", folder.path(), &error))?;
    }
    Ok(folder)
}

/// The state over time of every run of the kernel.
fn write_series(cases: &[Case], measured: &[Vec<study::Measured>], out: &Path) -> Result<(), Failure> {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let folder = directory(out, "series")?;
    for (place, runs) in measured.iter().enumerate() {
        for study::Measured { record, .. } in runs {
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
}
