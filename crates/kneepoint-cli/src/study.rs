// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A study: rows × seeds to be run, stored one by one, and reported together in a directory.
//!
//! ```text
//! OUT/report.html           to look at
//! OUT/summary.json          to compute with: everything but the series, and the manifest
//! OUT/summary.csv runs.csv  one line per row, one line per run
//! OUT/links.csv groups.csv  one line per link, group or class of transfers (classes.csv, if any completed) and run
//! OUT/objects/ROW-seedN.csv each completed transfer, if wanted
//! OUT/scenarios/ROW.toml    to run again with `knee run`
//! OUT/runs/HASH.json        each run, stored the moment it ended
//! OUT/series/ROW-seedN.*    the state over time
//! OUT/charts/*              the report's charts, if wanted, each in a file of its own
//! ```

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::link::LinkSpec;
use kneepoint::measure::{Meter, Misfit, Objects, Series, Subject, Theory};
use kneepoint::report::{self, Beside, Comparison, RunResult, SCHEMA_VERSION, SchemeResult};
use kneepoint::spec::Valid;
use kneepoint::table::{Labels, Table};
use kneepoint::units::Span;
use serde_json::json;

use crate::campaign::{self, Finished, Job};
use crate::captures::Captures;
use crate::failure::Failure;
use crate::files::{self, tell};
use crate::manifest::digest;
use crate::{interrupt, machine, manifest, parquet, png};

/// What every study can be told.
#[derive(Args)]
pub struct Settings {
    /// Runs side by side [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Formats of the sampled series
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT", default_value = "csv,parquet")]
    series: Vec<Format>,
    /// Write each chart of the report to a file of its own
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT")]
    charts: Vec<Picture>,
    /// Write the packets of this link to a pcapng file per run, for Wireshark (repeatable)
    #[arg(long, value_name = "LINK")]
    pcap: Vec<String>,
    /// Write each completed transfer of each run to a file: group, begin, size, completion time
    #[arg(long)]
    objects: bool,
    /// Lay a theory over the packets: the fluid model of each row that has one, with the error
    #[arg(long, value_enum, value_name = "THEORY")]
    overlay: Option<Overlay>,
}

impl Settings {
    /// Whether packets of some link are to be written.
    pub fn captures(&self) -> bool {
        !self.pcap.is_empty()
    }
}

/// What may be laid over packets.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Overlay {
    /// The fluid model that describes controller and queue
    Fluid,
}

/// How series are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Parquet,
}

/// How charts are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Picture {
    Svg,
    Png,
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
    pub out: Out,
}

/// A directory to write to.
pub enum Out {
    /// This one, whatever is in it.
    Given(PathBuf),
    /// This one if there is none yet, or the first that is free of those numbered from 2.
    Free(PathBuf),
}

impl Out {
    /// What was asked for, or else a free one called like `default`.
    pub fn or_free(given: Option<&Path>, default: PathBuf) -> Out {
        given.map_or(Out::Free(default), |given| Out::Given(given.to_path_buf()))
    }

    /// The directory itself.
    fn path(&self) -> &Path {
        match self {
            Out::Given(path) | Out::Free(path) => path,
        }
    }

    /// Settles on one, and says so if it is not the usual one.
    pub fn settle(self) -> PathBuf {
        let base = match self {
            Out::Given(path) => return path,
            Out::Free(path) => path,
        };
        let taken = |path: &Path| path.symlink_metadata().is_ok();
        if !taken(&base) {
            return base;
        }
        let numbered = |place: u64| PathBuf::from(format!("{}-{place}", base.display()));
        let free = (2..).map(numbered).find(|path| !taken(path)).unwrap_or_else(|| base.clone());
        tell(format!("{} exists already; writing to {}", base.display(), free.display()));
        free
    }
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
    pub fn conduct(mut self, settings: &Settings, as_json: bool) -> Result<(), Failure> {
        self.check()?;
        self.open(&settings.pcap)?;
        self.out = Out::Given(self.out.settle());
        // Before the first file, so that from then on an interrupt finds us prepared.
        interrupt::listen()?;
        let names = self.scenarios.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        for (place, (_, text)) in self.scenarios.iter().enumerate() {
            files::write(
                &self.directory("scenarios")?.join(format!("{}.toml", numbered(&names, place))),
                text,
            )?;
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
            let objects = settings.objects.then(|| Objects::new(job.valid));
            Ok((Meter::new(job.valid), (objects, (sampled, captures))))
        };
        let keep = |job: &Job, finished: Finished<_>| -> Result<Kept, Failure> {
            let Finished { observer: (meter, (objects, (sampled, captures))), outcome, cpu } = finished;
            let (meter, objects): (Meter, Option<Objects>) = (meter, objects);
            let (sampled, captures): (Option<Series>, Captures) = (sampled, captures);
            captures.commit()?;
            let table = sampled.map(Series::table);
            if let Some(table) = &table {
                write_series(table, &settings.series, &series.join(self.label(job)))?;
            }
            if let Some(objects) = objects {
                let file = self.directory("objects")?.join(format!("{}.csv", self.label(job)));
                files::write(&file, report::csv::records(&objects.records()))?;
            }
            let result = RunResult {
                seed: job.seed,
                cpu_seconds: cpu.as_secs_f64(),
                bottleneck_packets: outcome.bottleneck_packets,
                events: outcome.events,
                rows: meter.finish(),
            };
            self.store(job, &result, &runs)?;
            Ok((result, table.filter(|_| Some(&job.seed) == self.seeds.first())))
        };
        let kept = campaign::run(&jobs, workers, watch, keep)?;
        self.report(kept, settings, as_json)
    }

    /// Whether it can be run at all, before anything is written.
    fn check(&self) -> Result<(), Failure> {
        match self.rows.iter().find_map(|row| too_many_samples(&row.valid)) {
            Some((message, remedy)) => Err(Failure::usage(message, remedy)),
            None => Ok(()),
        }
    }

    /// Lets links that only carry tell of their packets too. The first that is measured stays what it was.
    fn open(&mut self, captured: &[String]) -> Result<(), Failure> {
        for (place, name) in captured.iter().enumerate() {
            if captured[..place].contains(name) {
                return Err(Failure::usage(
                    format!("--pcap: the link `{name}` is given twice"),
                    "name each link once",
                ));
            }
            for row in &mut self.rows {
                let links = &mut row.valid.network.links;
                let Some(at) = links.iter().position(|link| link.name == *name) else {
                    let message = format!("--pcap: no link of `{}` is called `{name}`", row.name);
                    return Err(Failure::usage(message, format!("there is {}", some_names(links))));
                };
                let bottleneck = links.iter().position(|link| link.measured);
                if !links[at].measured && bottleneck.is_none_or(|first| at < first) {
                    let message = format!(
                        "--pcap: `{name}` comes before every measured link of `{}`, and the first one is \
                         taken for the bottleneck",
                        row.name
                    );
                    return Err(Failure::usage(
                        message,
                        "capture a later link, or let the scenario name the bottleneck first",
                    ));
                }
                links[at].measured = true;
            }
        }
        Ok(())
    }

    fn directory(&self, name: &str) -> Result<PathBuf, Failure> {
        let directory = self.out.path().join(name);
        files::make_directory(&directory)?;
        Ok(directory)
    }

    /// What the files of a run are called, different for each.
    fn label(&self, job: &Job) -> String {
        let names = self.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>();
        format!("{}-seed{}", numbered(&names, job.case), job.seed)
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
    fn report(self, kept: Vec<Option<Kept>>, settings: &Settings, as_json: bool) -> Result<(), Failure> {
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
        let schemes = self.rows.iter().map(|row| SchemeResult {
            scheme: row.name.clone(),
            controls: controls(&row.valid),
            runs: vec![],
            series: None,
            theory: None,
        });
        let mut schemes = schemes.collect::<Vec<_>>();
        let places = (0..planned).map(|place| place % self.rows.len());
        for (case, (result, table)) in places.zip(kept).filter_map(|(case, kept)| Some((case, kept?))) {
            schemes[case].runs.push(result);
            schemes[case].series = schemes[case].series.take().or(table);
        }
        if settings.overlay == Some(Overlay::Fluid) {
            for (scheme, row) in schemes.iter_mut().zip(&self.rows) {
                scheme.theory = Some(beside(scheme, &row.valid));
                notes.extend(said_beside(scheme));
            }
        }
        let missing = schemes.iter().filter(|scheme| scheme.runs.is_empty());
        let missing = missing.map(|scheme| scheme.scheme.as_str()).collect::<Vec<_>>();
        // Where each row has a scenario of its own, the report knows by itself.
        if !missing.is_empty() && self.scenarios.len() == 1 {
            notes.push(format!("without a run: {}", missing.join(", ")));
        }
        schemes.retain(|scheme| !scheme.runs.is_empty());
        let out = self.out.path().to_path_buf();
        let manifest = manifest::of(self.scenarios, self.seeds, notes);
        let comparison = Comparison { title: self.title, schemes, manifest };
        let json = report::json::render(&comparison);
        files::write(&out.join("summary.json"), &json)?;
        files::write(&out.join("summary.csv"), report::csv::schemes(&comparison))?;
        files::write(&out.join("runs.csv"), report::csv::runs(&comparison))?;
        for (name, subject) in
            [("links", Subject::Link), ("groups", Subject::Group), ("classes", Subject::Class)]
        {
            let text = report::csv::subjects(&comparison, subject);
            // Without a completed transfer there are no classes.
            if text.lines().count() > 1 {
                files::write(&out.join(format!("{name}.csv")), text)?;
            }
        }
        files::write(&out.join("report.html"), report::html::render(&comparison))?;
        write_charts(&comparison, &settings.charts, &out.join("charts"))?;
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
}

/// The congestion controls of groups, by group.
fn controls(valid: &Valid) -> Labels {
    let flows = valid.flows.iter().map(|group| (&group.name, &group.cc));
    let web = valid.web.iter().map(|group| (&group.name, &group.cc));
    flows.chain(web).map(|(name, cc)| (name.clone(), cc.name().to_string())).collect()
}

fn write_charts(comparison: &Comparison, formats: &[Picture], directory: &Path) -> Result<(), Failure> {
    if formats.is_empty() {
        return Ok(());
    }
    files::make_directory(directory)?;
    for (name, svg) in report::svg::render(comparison) {
        if formats.contains(&Picture::Svg) {
            files::write(&directory.join(format!("{name}.svg")), &svg)?;
        }
        if formats.contains(&Picture::Png) {
            files::write(&directory.join(format!("{name}.png")), png::render(&svg)?)?;
        }
    }
    Ok(())
}

/// The fluid model of a row and how far its first run is from it.
fn beside(scheme: &SchemeResult, valid: &Valid) -> Result<Beside, String> {
    let theory = Theory::of(valid)?;
    let series = scheme.series.as_ref();
    let misfit = series.and_then(|series| theory.misfit(series, valid.schedule.measure));
    Ok(Beside { theory, misfit })
}

/// The same in a sentence.
fn said_beside(scheme: &SchemeResult) -> Option<String> {
    let name = &scheme.scheme;
    Some(match scheme.theory.as_ref()? {
        Err(why) => format!("{name}: no fluid model: {why}"),
        Ok(Beside { theory: Theory { model, rest_packets, mode_real_per_s, .. }, misfit }) => {
            let stable = if *mode_real_per_s < 0.0 { "stable" } else { "unstable" };
            let error = misfit.map_or("the run was not sampled".to_string(), |misfit| {
                let Misfit { mean_packets, rms_packets } = misfit;
                format!("packets are {mean_packets:+.1} from that in the mean, {rms_packets:.1} (rms) from its course")
            });
            format!("{name}: the fluid model {model} rests at {rest_packets:.1} packets, {stable}; {error}")
        }
    })
}

fn write_series(table: &Table, formats: &[Format], stem: &Path) -> Result<(), Failure> {
    let named = |ending: &str| PathBuf::from(format!("{}.{ending}", stem.display()));
    if formats.contains(&Format::Csv) {
        files::write(&named("csv"), report::csv::table(table))?;
    }
    if formats.contains(&Format::Parquet) {
        parquet::save(&named("parquet"), |sink| parquet::write(table, sink))?;
    }
    Ok(())
}

/// The slug of a name, with its place if another has the same.
pub fn numbered(names: &[&str], place: usize) -> String {
    let name = slug(names[place]);
    match names.iter().filter(|other| slug(other) == name).count() {
        0 | 1 => name,
        _ => format!("{name}-{}", place + 1),
    }
}

/// The names of the first few links.
fn some_names(links: &[LinkSpec]) -> String {
    const SHOWN: usize = 8;
    let names = links.iter().take(SHOWN).map(|link| link.name.as_str()).collect::<Vec<_>>().join(", ");
    match links.len().saturating_sub(SHOWN) {
        0 => names,
        more => format!("{names}, and {more} more"),
    }
}

/// What is wrong with how often a run is sampled, if it is, and what to do.
pub fn too_many_samples(valid: &Valid) -> Option<(String, String)> {
    let schedule = valid.schedule;
    let least = Span(schedule.duration.0.div_ceil(MOST_SAMPLES).max(1));
    schedule.sample.filter(|sample| *sample < least).map(|_| {
        let message = format!("sampling so often makes more than {MOST_SAMPLES} samples of a run");
        (message, format!("sample every {least} or less often"))
    })
}

/// A name as a file may have it: `sack/red-ecn` becomes `sack-red-ecn`.
pub fn slug(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._=".contains(c) { c } else { '-' });
    let safe = safe.take(100).collect::<String>();
    let trimmed = safe.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unnamed".to_string() } else { trimmed.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_share_a_file_get_their_places() {
        let names = ["a/b", "c", "a:b"];
        assert_eq!([0, 1, 2].map(|place| numbered(&names, place)), ["a-b-1", "c", "a-b-3"]);
    }

    #[test]
    fn a_directory_that_exists_is_used_only_if_it_is_given() {
        let here = tempfile::tempdir().unwrap();
        let base = here.path().join("compare");
        assert_eq!(Out::or_free(None, base.clone()).settle(), base);
        std::fs::create_dir(&base).unwrap();
        std::fs::create_dir(here.path().join("compare-2")).unwrap();
        assert_eq!(Out::or_free(None, base.clone()).settle(), here.path().join("compare-3"));
        assert_eq!(Out::or_free(Some(&base), PathBuf::new()).settle(), base);
    }
}
