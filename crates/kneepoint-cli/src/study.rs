// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A study: rows × seeds to be run, stored one by one, and reported together in a directory.
//!
//! ```text
//! OUT/report.html           to look at
//! OUT/summary.json          to compute with: everything but the series, and the manifest
//! OUT/summary.csv runs.csv  one line per row, one line per run
//! OUT/scenarios/ROW.toml    to run again with `knee run`
//! OUT/runs/HASH.json        each run, stored the moment it ended
//! OUT/series/ROW-seedN.*    the state over time
//! ```

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::measure::{Meter, Series, Table};
use kneepoint::report::{self, Comparison, Manifest, RunResult, SCHEMA_VERSION, SchemeResult};
use kneepoint::scenario::Valid;
use kneepoint::units::Span;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::campaign::{self, Finished, Job};
use crate::captures::Captures;
use crate::failure::Failure;
use crate::files::{self, tell};
use crate::{interrupt, machine, parquet};

/// What every study can be told.
#[derive(Args)]
pub struct Settings {
    /// Runs side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Formats of the sampled series
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT", default_value = "csv,parquet")]
    series: Vec<Format>,
    /// Write the packets of this bottleneck to a pcapng file per run, for Wireshark (repeatable)
    #[arg(long, value_name = "LINK")]
    pcap: Vec<String>,
}

/// How series are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Parquet,
}

/// What is to be run.
pub struct Study {
    /// What it is called.
    pub title: String,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
    /// Rows of the report.
    pub rows: Vec<Row>,
    /// Each row runs once with each.
    pub seeds: Vec<u64>,
    /// Where everything goes.
    pub out: PathBuf,
}

/// One row of the report.
pub struct Row {
    /// What the report calls it.
    pub name: String,
    /// Where in [`Study::scenarios`] its text is.
    pub scenario: usize,
    /// What to run.
    pub valid: Valid,
}

/// Flows of each group whose windows the series follow.
const FOLLOWED: usize = 4;
/// More samples than this in a run are a mistake in a unit.
const MOST_SAMPLES: u64 = 2_000_000;

/// A run as it is kept: its numbers, and for the first seed its series.
type Kept = (RunResult, Option<Table>);

impl Study {
    /// Runs everything, writes everything, and prints the result.
    pub fn conduct(self, settings: &Settings, as_json: bool) -> Result<(), Failure> {
        self.check(settings)?;
        // Before the first file, so that from then on an interrupt finds us prepared.
        interrupt::listen()?;
        for (name, text) in &self.scenarios {
            files::write(&self.directory("scenarios")?.join(format!("{}.toml", slug(name))), text)?;
        }
        let (runs, series) = (self.directory("runs")?, self.directory("series")?);
        // Seed by seed, so that an interrupted study still compares all rows on some seeds.
        let jobs = self.seeds.iter().flat_map(|seed| {
            self.rows.iter().enumerate().map(|(case, row)| Job { case, valid: &row.valid, seed: *seed })
        });
        let jobs = jobs.collect::<Vec<_>>();
        let workers = settings.jobs.map_or_else(machine::cores, usize::from);
        let watch = |job: &Job| {
            let sampled = job.valid.schedule.sample.map(|_| Series::new(job.valid, FOLLOWED));
            let captures = Captures::create(&settings.pcap, job, |link| {
                Ok(self.directory("captures")?.join(format!("{}-{}.pcapng", self.label(job), slug(link))))
            })?;
            Ok((Meter::new(job.valid), (sampled, captures)))
        };
        let keep = |job: &Job, finished: Finished<_>| -> Result<Kept, Failure> {
            let Finished { observer: (meter, (sampled, captures)), outcome, cpu } = finished;
            let (meter, sampled, captures): (Meter, Option<Series>, Captures) = (meter, sampled, captures);
            captures.commit()?;
            let table = sampled.map(Series::table);
            if let Some(table) = &table {
                write_series(table, &settings.series, &series.join(self.label(job)))?;
            }
            let result = RunResult {
                seed: job.seed,
                cpu_seconds: cpu.as_secs_f64(),
                bottleneck_packets: outcome.bottleneck_packets,
                events: outcome.events,
                summary: meter.finish(),
            };
            self.store(job, &result, &runs)?;
            Ok((result, table.filter(|_| Some(&job.seed) == self.seeds.first())))
        };
        let kept = campaign::run(&jobs, workers, watch, keep)?;
        self.report(kept, as_json)
    }

    /// Whether it can be run at all, before anything is written.
    fn check(&self, settings: &Settings) -> Result<(), Failure> {
        for row in &self.rows {
            let measured = row.valid.network.links.iter().filter(|link| link.measured);
            let links = measured.map(|link| link.name.as_str()).collect::<Vec<_>>();
            if let Some(stray) = settings.pcap.iter().find(|name| !links.contains(&name.as_str())) {
                let message = format!("--pcap: no bottleneck of `{}` is called `{stray}`", row.name);
                return Err(Failure::usage(message, format!("there is {}", links.join(", "))));
            }
            let schedule = row.valid.schedule;
            let least = Span(schedule.duration.0.div_ceil(MOST_SAMPLES).max(1));
            if schedule.sample.is_some_and(|sample| sample < least) {
                let message = format!("sampling so often makes more than {MOST_SAMPLES} samples of a run");
                return Err(Failure::usage(message, format!("sample every {least} or less often")));
            }
        }
        Ok(())
    }

    fn directory(&self, name: &str) -> Result<PathBuf, Failure> {
        let directory = self.out.join(name);
        files::make_directory(&directory)?;
        Ok(directory)
    }

    /// What the files of a run are called, different for each.
    fn label(&self, job: &Job) -> String {
        let name = slug(&self.rows[job.case].name);
        let same = self.rows.iter().filter(|row| slug(&row.name) == name).count();
        let place = if same > 1 { format!("-{}", job.case + 1) } else { String::new() };
        format!("{name}{place}-seed{}", job.seed)
    }

    /// Stores a run under the hash of what determines it.
    fn store(&self, job: &Job, result: &RunResult, runs: &Path) -> Result<(), Failure> {
        let row = &self.rows[job.case];
        let (scenario, text) = &self.scenarios[row.scenario];
        let identity =
            [text, &row.name, &job.seed.to_string(), env!("CARGO_PKG_VERSION"), env!("KNEE_REVISION")];
        let hash = digest(identity.into_iter());
        let stored = json!({
            "schema_version": SCHEMA_VERSION,
            "scheme": row.name,
            "scenario": scenario,
            "scenario_hash": digest([text.as_str()].into_iter()),
            "run": result,
        });
        files::write(&runs.join(format!("{}.json", &hash[..16])), format!("{stored:#}\n"))
    }

    /// Makes the report of what finished.
    fn report(self, kept: Vec<Option<Kept>>, as_json: bool) -> Result<(), Failure> {
        let (planned, done) = (kept.len(), kept.iter().flatten().count());
        if done == 0 {
            return Err(Failure::Interrupted(
                "stopped before the first run finished; there is nothing to report".into(),
            ));
        }
        let mut notes = Vec::new();
        if done < planned {
            notes.push(format!("interrupted: {done} of {planned} runs finished"));
        }
        let mut schemes =
            self.rows.iter().map(|row| SchemeResult { scheme: row.name.clone(), runs: vec![], series: None });
        let mut schemes = schemes.by_ref().collect::<Vec<_>>();
        let places = (0..planned).map(|place| place % self.rows.len());
        for (case, (result, table)) in places.zip(kept).filter_map(|(case, kept)| Some((case, kept?))) {
            schemes[case].runs.push(result);
            schemes[case].series = schemes[case].series.take().or(table);
        }
        schemes.retain(|scheme| !scheme.runs.is_empty());
        let out = self.out.clone();
        let comparison = Comparison { title: self.title.clone(), schemes, manifest: self.manifest(notes) };
        let json = report::json::render(&comparison);
        files::write(&out.join("summary.json"), &json)?;
        files::write(&out.join("summary.csv"), report::csv::schemes(&comparison))?;
        files::write(&out.join("runs.csv"), report::csv::runs(&comparison))?;
        files::write(&out.join("report.html"), report::html::render(&comparison))?;
        files::print(if as_json { json } else { report::text::render(&comparison) })?;
        let place = format!("report: {}", out.join("report.html").display());
        if done < planned {
            return Err(Failure::Interrupted(format!(
                "stopped: {done} of {planned} runs finished and are kept\n{place}"
            )));
        }
        tell(place);
        Ok(())
    }

    fn manifest(self, notes: Vec<String>) -> Manifest {
        let revision = env!("KNEE_REVISION");
        Manifest {
            schema_version: SCHEMA_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            git_revision: (revision != "unknown").then(|| revision.to_string()),
            scenario_hash: digest(self.scenarios.iter().map(|(_, text)| text.as_str())),
            scenario: self.scenarios,
            seeds: self.seeds,
            host: Some(machine::host()),
            kernel: Some(machine::kernel()),
            created: Some(machine::now()),
            command: Some(machine::command_line()),
            notes,
        }
    }
}

fn write_series(table: &Table, formats: &[Format], stem: &Path) -> Result<(), Failure> {
    let named = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
    if formats.contains(&Format::Csv) {
        files::write(&named("csv"), report::csv::table(table))?;
    }
    if formats.contains(&Format::Parquet) {
        let path = named("parquet");
        let mut pending = files::Pending::create(&path)?;
        parquet::write(table, &mut pending).map_err(|error| {
            Failure::run(
                format!("cannot write `{}`: {error}", path.display()),
                "leave it out with --series csv",
            )
        })?;
        pending.commit()?;
    }
    Ok(())
}

/// SHA-256 over texts in order: `sha256:` is left to the reader, the digits are what `sha256sum` prints.
fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A name as a file may have it: `sack/red-ecn` becomes `sack-red-ecn`.
pub fn slug(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._=".contains(c) { c } else { '-' });
    let safe = safe.take(100).collect::<String>();
    let trimmed = safe.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unnamed".to_string() } else { trimmed.to_string() }
}
