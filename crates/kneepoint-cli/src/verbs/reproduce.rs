// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee reproduce`: published figures and tables, run again, and the verdict on each claim.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use kneepoint::experiment::reproduce::Reproduce;
use kneepoint::experiment::{Experiment, Pace, Reproduction, Scope};
use kneepoint::report::{self, Manifest, output, reproduction};
use kneepoint::scenario;
use kneepoint::study::Effort;
use kneepoint_bench::answer::{self, Answer};
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::forecast::Forecast;
use kneepoint_bench::session::Session;
use serde_json::json;

use super::Verb;
use crate::completion;
use crate::failure::Failure;
use crate::figure::FigureOptions;
use crate::library::{self, Volume};
use crate::means::{Sweep, SweepOptions};
use crate::outputs::{Out, directory, report_at, write_report};
use crate::pictures::{ChartOptions, Format};
use crate::{manifest, parquet, terminal};

/// Reproduce published figures and tables, and test their claims
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee reproduce --list
  knee reproduce pert --quick
  knee reproduce pert.fig6 pert.tab1
  knee reproduce pert --quick --readings
  knee reproduce pert --json | jq '.claims[] | select(.verdict == \"fails\") | {experiment, claim, reason}'
  knee reproduce my-figure.toml
  knee reproduce my-figure.toml --x rtt --facet buffer --metric utilization

OUT/report.html has each figure with its claims; figures/ and data/ have them one by one. \
Each run is kept the moment it ends and is not repeated. \
A claim that fails is a result: the exit status is 0.")]
pub struct Arguments {
    /// Publications (pert), figures and tables (pert.fig6), or files of your own; everything by default
    #[arg(add = completion::experiment())]
    names: Vec<PathBuf>,
    /// List the experiments
    #[arg(long)]
    list: bool,
    /// Shortened runs, for a first look
    #[arg(long)]
    quick: bool,
    /// Run the other readings of every experiment, or of none [default: where a claim does not hold; with --quick of none]
    #[arg(long, value_name = "BOOL")]
    alternatives: Option<bool>,
    /// Also judge every combination of the readings that the experiments of a publication share, by shortened runs
    #[arg(long)]
    readings: bool,
    /// Seeds of each experiment, instead of its own; all of them are run, and no further ones
    ///
    /// Without it, an experiment begins with three of its seeds and has twice as many in each round, its own at most, until all of its
    /// claims are decided either way: with a probability of error below 0.001 at each look. Where a verdict is within the noise of all
    /// these seeds, the runs that it compares are repeated with further ones, up to twenty.
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    /// Directory for figures and tables [default: out/reproduce, or out/quick with --quick, numbered if it exists]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartOptions,
    #[command(flatten)]
    figure: FigureOptions,
    #[command(flatten)]
    sweep: SweepOptions,
}

impl Arguments {
    /// Whether experiments stop as soon as their claims are decided.
    fn is_early(&self) -> bool {
        !self.quick && self.seeds.is_none()
    }
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

/// Reproduces.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let (volumes, pace, scope) = volumes(session, arguments)?;
    if arguments.list {
        return list(session, &volumes, as_json);
    }
    let sweep = Sweep::from(&arguments.sweep);
    sweep.check(session, false)?;
    if arguments.sweep.dry_run() {
        let doubted = arguments.alternatives.is_none().then(BTreeSet::new);
        let experiments = seeded(volumes, arguments.seeds);
        let study = Reproduce { experiments, pace, scope, doubted, held: Vec::new() };
        let study = if arguments.is_early() { study.early() } else { study };
        Forecast::of(session, &study, &sweep, false, |_| Vec::new())?.print(session, as_json)?;
        if pace == Pace::Full || arguments.readings {
            session.tell(match arguments.seeds {
                None => "further seeds, other readings and their combinations are not counted",
                Some(_) => "other readings and their combinations are not counted",
            });
        }
        return Ok(());
    }
    let printer = arguments.charts.or(&[Format::Png]).printer()?;
    let usual = if arguments.quick { "out/quick" } else { "out/reproduce" };
    let out = Out::or_free(arguments.out.as_deref(), PathBuf::from(usual)).settle(session)?;
    let Reproduced { outcomes, effort, manifest, answer } =
        reproduced(session, volumes, pace, scope, arguments)?;
    let Answer { document, json: claims, tables, .. } = answer;
    let data = directory(&out, "data")?;
    parquet::save_tables(&tables, |_| &output::ESTIMATES, &manifest, &data)?;
    files::write(&out.join("claims.json"), &claims)?;
    write_report(session, &document, &out, &printer)?;
    files::write(&out.join("manifest.json"), format!("{:#}\n", json!(manifest)))?;
    let place = report_at(&out.publish(session)?);
    session.print(if as_json { claims } else { terminal::shown(&document) })?;
    let judgements: Vec<_> = outcomes.iter().flat_map(Reproduction::judgements).collect();
    let summary =
        format!("{}\n{}\n{place}", reproduction::tally(judgements.iter()), reproduction::effort(&effort),);
    session.tell(summary);
    Ok(())
}

/// Reproduces, and leaves no report behind. A list is the experiments and no runs.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let (volumes, pace, scope) = volumes(session, arguments)?;
    if arguments.list {
        return Err(Failure::usage(
            "--list prints the experiments",
            "`knee reproduce --list` in a shell does",
        ));
    }
    Ok(reproduced(session, volumes, pace, scope, arguments)?.answer)
}

fn volumes(session: &Session, arguments: &Arguments) -> Result<(Vec<Volume>, Pace, Scope), Failure> {
    if !arguments.list {
        // Reading all experiments takes a moment.
        session.listen()?;
    }
    let pace = if arguments.quick { Pace::Quick } else { Pace::Full };
    let scope =
        if arguments.alternatives.unwrap_or(pace == Pace::Full) { Scope::Single } else { Scope::Taken };
    let mut volumes = library::find(session, &arguments.names, pace, scope)?;
    for volume in &mut volumes {
        arguments.figure.redraw(&mut volume.experiment)?;
    }
    Ok((volumes, pace, scope))
}

/// Experiments that were run and judged.
struct Reproduced {
    outcomes: Vec<Reproduction>,
    effort: Effort,
    manifest: Manifest,
    answer: Answer,
}

fn reproduced(
    session: &Session,
    volumes: Vec<Volume>,
    pace: Pace,
    scope: Scope,
    arguments: &Arguments,
) -> Result<Reproduced, Failure> {
    let texts = volumes.iter().flat_map(texts).collect::<BTreeMap<_, _>>().into_iter().collect();
    let doubted = arguments.alternatives.is_none().then(BTreeSet::new);
    let experiments = seeded(volumes, arguments.seeds);
    let study = Reproduce { experiments, pace, scope, doubted, held: Vec::new() };
    let study = if arguments.is_early() { study.early() } else { study };
    let single = conduct(session, study, &(&arguments.sweep).into());
    // Where a part of the runs was requested, it may be of either study.
    let apart = matches!(single, Ok(_) | Err(Failure::Said(0) | Failure::Left(_)));
    let joint =
        if arguments.readings && apart { combined(session, arguments) } else { Ok(Judged::default()) };
    let (Judged { outcomes, effort, .. }, Judged { outcomes: joint, .. }) = match (single, joint) {
        (Ok(own), Ok(combinations)) => (own, combinations),
        (Err(Failure::Left(one)), Err(Failure::Left(other))) => {
            return Err(Failure::Left(one.and(other.kept, other.left)));
        }
        (Err(Failure::Left(left)), Ok(done)) | (Ok(done), Err(Failure::Left(left))) => {
            return Err(Failure::Left(left.and(done.planned, 0)));
        }
        (_, Err(failure)) | (Err(failure), Ok(_)) => return Err(failure),
    };
    let manifest = manifest::of(session, texts, seeds(&outcomes), Vec::new());
    let claims = report::json::lines("claims", &reproduction::json::claims(&outcomes));
    let document = reproduction::document(&outcomes, &joint, &effort, &manifest);
    // The observations of each experiment.
    let table = |outcome: &Reproduction| {
        answer::named(&outcome.experiment.id, reproduction::data::estimates(outcome))
    };
    let answer = Answer::whole(document, claims, outcomes.iter().map(table).collect());
    Ok(Reproduced { outcomes, effort, manifest, answer })
}

/// Seeds under each of the many combinations of readings.
const COMBINED_SEEDS: u32 = 2;

/// The outcomes of shortened runs under every combination of the readings that experiments share.
fn combined(session: &Session, arguments: &Arguments) -> Result<Judged, Failure> {
    session.tell("every combination of the shared readings, in shortened runs");
    let mut volumes = library::find(session, &arguments.names, Pace::Quick, Scope::Joint)?;
    volumes.retain(|volume| volume.shared.is_some());
    let experiments = seeded(volumes, Some(arguments.seeds.unwrap_or(COMBINED_SEEDS)));
    let study =
        Reproduce { experiments, pace: Pace::Quick, scope: Scope::Joint, doubted: None, held: Vec::new() };
    conduct(session, study, &(&arguments.sweep).into())
}

/// The experiments with this many seeds, or else their own.
fn seeded(volumes: Vec<Volume>, seeds: Option<u32>) -> Vec<Experiment> {
    let one = |Volume { mut experiment, .. }: Volume| {
        // A computation takes no seed.
        if let Some(count) = seeds.filter(|_| experiment.seeds.len() > 1) {
            let first = experiment.seeds[0];
            experiment.seeds = (first..first + u64::from(count)).collect();
        }
        experiment
    };
    volumes.into_iter().map(one).collect()
}

/// The experiments of a study, judged.
#[derive(Default)]
struct Judged {
    outcomes: Vec<Reproduction>,
    effort: Effort,
    /// The number of distinct runs that the study requested.
    planned: usize,
}

fn conduct(session: &Session, mut study: Reproduce, sweep: &Sweep) -> Result<Judged, Failure> {
    let conducted = conductor::conduct(session, &mut study, sweep, &())?;
    let (left, planned, effort) = (conducted.left(), conducted.planned, conducted.records.effort());
    if left > 0 {
        let kept = format!("{left} runs were not finished; {} are kept", reproduction::effort(&effort));
        let remedy = "the same command continues, and then judges the claims";
        return Err(match sweep.budget.filter(|_| conducted.spent) {
            Some(budget) => {
                Failure::run(format!("the budget, {}, was spent: {kept}", conductor::people(budget)), remedy)
            }
            None => Failure::Interrupted(format!("stopped: {kept}\n{remedy}")),
        });
    }
    Ok(Judged { outcomes: conducted.outcome, effort, planned })
}

/// The texts that an experiment is made of, under their names.
fn texts(volume: &Volume) -> impl Iterator<Item = (String, String)> {
    let shared = volume.shared.iter().map(|text| (format!("{}-publication", volume.paper), text.clone()));
    [(volume.experiment.id.clone(), volume.text.clone())].into_iter().chain(shared)
}

/// Every seed of any experiment.
fn seeds(outcomes: &[Reproduction]) -> Vec<u64> {
    let of = |outcome: &Reproduction| {
        let Experiment { seeds, variants, .. } = &outcome.experiment;
        let run = outcome.experiment.runs(&variants[0]).map(|(seed, _)| seed);
        seeds.iter().copied().chain(run).collect::<BTreeSet<_>>()
    };
    outcomes.iter().flat_map(of).collect::<BTreeSet<_>>().into_iter().collect()
}

fn list(session: &Session, volumes: &[Volume], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let one = |volume: &Volume| {
            let experiment = &volume.experiment;
            json!({
                "name": experiment.name(),
                "id": experiment.id,
                "paper": volume.paper,
                "title": experiment.title,
                "source": experiment.source,
                "claims": experiment.claims.len(),
                "file": volume.origin,
            })
        };
        return session.print_json(&json!({ "experiments": volumes.iter().map(one).collect::<Vec<_>>() }));
    }
    let line = |volume: &Volume| {
        let experiment = &volume.experiment;
        let count = experiment.claims.len();
        let claims = if count == 1 { "claim " } else { "claims" };
        let name = format!("{:<16} {count:>2} {claims}  ", experiment.name());
        terminal::hanging(&name, &experiment.title, terminal::columns())
    };
    session.print(volumes.iter().map(line).collect::<String>())
}
