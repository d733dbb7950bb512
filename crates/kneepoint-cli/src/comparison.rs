// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of a comparison: cases × seeds, run, and reported together in a directory.
//!
//! ```text
//! OUT/report.*              the report in every format
//! OUT/summary.json          to compute with: everything but the series, and the manifest
//! OUT/summary.csv runs.csv  one line per row, one line per run
//! OUT/links.csv groups.csv  one line per link, group or other subject (`report::PARTS`, those observed) and run
//! OUT/objects/ROW-seedN.csv each completed transfer, if wanted
//! OUT/scenarios/ROW.toml    to run again with `knee run`
//! OUT/series/ROW-seedN.*    the state over time
//! OUT/captures/*            packets, if wanted
//! OUT/figures/*             the report's charts, each in a file of its own
//! OUT/.kneepoint            the mark that the directory is ours
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::link::LinkSpec;
use kneepoint::measure::{Misfit, Objects, Theory};
use kneepoint::report::{self, Beside, Comparison, Manifest, RunResult, SchemeResult};
use kneepoint::spec::{Invalid, Valid};
use kneepoint::study::Record;
use kneepoint::study::compare::{Compare, Compared};
use kneepoint::table::{Labels, Table};
use kneepoint::units::{Interval, Span};

use crate::captures::Captures;
use crate::conductor::{self, Aside, Conducted, Means};
use crate::failure::Failure;
use crate::files::{self, tell};
use crate::outputs::{Out, Picture, directory, numbered, slug, write_report};
use crate::{manifest, parquet};

/// Options of every comparison.
#[derive(Args)]
pub struct ComparisonOptions {
    #[command(flatten)]
    means: Means,
    /// Formats of the sampled series
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT", default_value = "csv,parquet")]
    series: Vec<Format>,
    /// Formats of the report's charts; SVG is always written
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FORMAT", default_value = "svg")]
    charts: Vec<Picture>,
    /// Write the packets of this link to a pcapng file per run, for Wireshark (repeatable)
    ///
    /// Captures are not kept, so every run is simulated.
    #[arg(long, value_name = "LINK")]
    pcap: Vec<String>,
    /// Write each completed transfer of each run to a file: group, begin, size, completion time
    ///
    /// They are not kept, so every run is simulated.
    #[arg(long)]
    objects: bool,
    /// Lay a theory over the packets: the fluid model of each row that has one, with the error
    #[arg(long, value_enum, value_name = "THEORY")]
    overlay: Option<Overlay>,
}

impl ComparisonOptions {
    /// Whether packets of some link are to be written.
    pub fn captures(&self) -> bool {
        !self.pcap.is_empty()
    }
}

/// Theories to lay over packets.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Overlay {
    /// The fluid model that describes controller and queue
    Fluid,
}

/// Formats of series.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Parquet,
}

/// The cases and seeds of a comparison.
pub struct ComparisonPlan {
    /// The title of the report.
    pub title: String,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
    /// Names, as the scenarios write them, and texts of the files that they name.
    pub files: BTreeMap<String, String>,
    /// Rows of the report: names and specs.
    pub rows: Vec<(String, Valid)>,
    /// Each row runs once with each.
    pub seeds: Vec<u64>,
    /// Whether the scenario wants a file of each run's completed transfers, as `--objects` does.
    pub objects: bool,
    /// The directory of its files.
    pub out: Out,
}

/// More samples than this in a run are a mistake in a unit.
const MOST_SAMPLES: u64 = 2_000_000;

/// The files that belong to single runs.
struct Files<'a> {
    settings: &'a ComparisonOptions,
    objects: bool,
    rows: &'a [(String, Valid)],
    /// The row and the seed of each run that is wanted.
    runs: Vec<(usize, u64)>,
    out: &'a Path,
}

impl Files<'_> {
    /// The stem of the files of a run, unique.
    fn label(&self, place: usize) -> String {
        let names = self.rows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let (row, seed) = self.runs[place];
        format!("{}-seed{seed}", numbered(&names, row))
    }
}

impl Aside for Files<'_> {
    type Listener = (Captures, Option<Objects>);

    fn listens(&self) -> bool {
        self.settings.captures() || self.objects
    }

    fn listener(&self, place: usize) -> Result<Self::Listener, Failure> {
        let valid = &self.rows[self.runs[place].0].1;
        let captures = Captures::create(&self.settings.pcap, valid, |link| {
            Ok(directory(self.out, "captures")?.join(format!("{}-{}.pcapng", self.label(place), slug(link))))
        })?;
        Ok((captures, self.objects.then(|| Objects::new(valid))))
    }

    fn heard(&self, place: usize, (captures, objects): Self::Listener) -> Result<(), Failure> {
        captures.commit()?;
        let Some(objects) = objects else { return Ok(()) };
        let file = directory(self.out, "objects")?.join(format!("{}.csv", self.label(place)));
        files::write(&file, report::csv::records(&objects.records()))
    }

    fn known(&self, place: usize, record: &Record) -> Result<(), Failure> {
        let Some(table) = &record.series else { return Ok(()) };
        write_series(table, &self.settings.series, &directory(self.out, "series")?.join(self.label(place)))
    }
}

impl ComparisonPlan {
    /// Makes the missing runs, writes all files, and prints the result.
    pub fn conduct(mut self, settings: &ComparisonOptions, as_json: bool) -> Result<(), Failure> {
        self.check()?;
        self.open(&settings.pcap)?;
        let study = Compare::new(self.rows.iter().cloned(), self.seeds.clone());
        let ComparisonPlan { title, scenarios, files: named, rows, seeds, objects, out } = self;
        let out = out.settle()?;
        let names = scenarios.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        let folder = directory(&out, "scenarios")?;
        for (place, (_, text)) in scenarios.iter().enumerate() {
            files::write(&folder.join(format!("{}.toml", numbered(&names, place))), text)?;
        }
        let mut notes = write_named(&named, &folder)?;
        let objects = objects || settings.objects;
        let files = Files { settings, objects, rows: &rows, runs: study.places().collect(), out: &out };
        let Conducted { outcome, records, planned } = conductor::conduct(&study, &settings.means, &files)?;
        let done = records.len();
        if done == 0 {
            return Err(Failure::Interrupted(
                "stopped before the first run finished: nothing to report".into(),
            ));
        }
        if done < planned {
            notes.push(format!("interrupted: {done} of {planned} runs finished"));
        }
        let overlay = settings.overlay == Some(Overlay::Fluid);
        let mut schemes: Vec<SchemeResult> =
            outcome.into_iter().map(|compared| result(compared, overlay)).collect();
        notes.extend(schemes.iter().filter_map(said_beside));
        let missing = schemes.iter().filter(|scheme| scheme.runs.is_empty());
        let missing = missing.map(|scheme| scheme.scheme.as_str()).collect::<Vec<_>>();
        // Where each row has a scenario of its own, the report knows by itself.
        if !missing.is_empty() && scenarios.len() == 1 {
            notes.push(format!("without a run: {}", missing.join(", ")));
        }
        schemes.retain(|scheme| !scheme.runs.is_empty());
        let digests = named.into_iter().map(|(name, text)| (name, manifest::digest([&*text].into_iter())));
        let manifest = Manifest { files: digests.collect(), ..manifest::of(scenarios, seeds, notes) };
        let comparison = Comparison { title, schemes, manifest };
        let json = report::json::render(&comparison);
        files::write(&out.join("summary.json"), &json)?;
        files::write(&out.join("summary.csv"), report::csv::schemes(&comparison))?;
        files::write(&out.join("runs.csv"), report::csv::runs(&comparison))?;
        for (name, subject) in report::PARTS {
            let text = report::csv::subjects(&comparison, subject);
            // Without a completed transfer, for one, there are no classes.
            if text.lines().count() > 1 {
                files::write(&out.join(format!("{name}.csv")), text)?;
            }
        }
        let document = report::comparison::document(&comparison);
        let page = write_report(&document, &out, &settings.charts)?;
        files::print(if as_json { json } else { report::format::text::render(&document) })?;
        let place = format!("report: {}", page.display());
        if done < planned {
            return Err(Failure::Interrupted(format!(
                "stopped: {done} of {planned} runs finished and are kept; the same command goes on from there\n{place}"
            )));
        }
        tell(place);
        Ok(())
    }

    /// Whether it can be run at all, before anything is written.
    fn check(&self) -> Result<(), Failure> {
        match self.rows.iter().find_map(|(_, valid)| too_many_samples(valid)) {
            Some((message, remedy)) => Err(Failure::usage(message, remedy)),
            None => Ok(()),
        }
    }

    /// Marks captured links as measured. The first measured link stays the bottleneck.
    fn open(&mut self, captured: &[String]) -> Result<(), Failure> {
        for (place, name) in captured.iter().enumerate() {
            if captured[..place].contains(name) {
                return Err(Failure::usage(
                    format!("--pcap: the link `{name}` is given twice"),
                    "name each link once",
                ));
            }
            for (row, valid) in &mut self.rows {
                let links = &valid.network().links;
                let Some(at) = links.iter().position(|link| link.name == *name) else {
                    let message = format!("--pcap: no link of `{row}` is called `{name}`");
                    return Err(Failure::usage(message, format!("expected one of {}", some_names(links))));
                };
                let bottleneck = links.iter().position(|link| link.measured);
                if !links[at].measured && bottleneck.is_none_or(|first| at < first) {
                    let message = format!(
                        "--pcap: `{name}` comes before every measured link of `{row}`, and the first one is \
                         taken for the bottleneck"
                    );
                    return Err(Failure::usage(
                        message,
                        "capture a later link, or let the scenario name the bottleneck first",
                    ));
                }
                let measured = valid.clone().with_measured(name);
                *valid = measured.map_err(|Invalid { message, help }| Failure::usage(message, help))?;
            }
        }
        Ok(())
    }
}

/// Writes the files that a scenario names where its copy will find them; a note for each that lies outside its folder.
fn write_named(named: &BTreeMap<String, String>, folder: &Path) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    for (name, text) in named {
        let path = Path::new(name);
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            notes.push(format!("`{name}` lies outside the scenario's folder: no copy of it was kept"));
            continue;
        }
        let copy = folder.join(path);
        files::make_directory(copy.parent().unwrap_or(folder))?;
        files::write(&copy, text)?;
    }
    Ok(notes)
}

/// The results of a case, with its fluid model if requested.
fn result(mut compared: Compared, overlay: bool) -> SchemeResult {
    let series = compared.runs.first_mut().and_then(|record| record.series.take());
    let theory = overlay.then(|| {
        let theory = compared.theory()?;
        let misfit =
            series.as_ref().and_then(|series| theory.misfit(series, compared.valid.schedule().measure));
        Ok(Beside { theory, misfit })
    });
    let run = |record: Record| {
        let Record { seed, cpu_seconds, bottleneck_packets, events, rows, .. } = record;
        RunResult { seed, cpu_seconds, bottleneck_packets, events, rows }
    };
    let runs = compared.runs.into_iter().map(run).collect();
    let Interval { from, to } = compared.valid.schedule().measure;
    let measured = Some((from.as_secs_f64(), to.as_secs_f64()));
    SchemeResult {
        scheme: compared.name,
        controls: controls(&compared.valid),
        runs,
        measured,
        series,
        theory,
    }
}

/// The congestion controls of groups, by group.
fn controls(valid: &Valid) -> Labels {
    let controlled = valid.groups().iter().filter_map(|group| Some((&group.name, group.cc.as_ref()?)));
    controlled.map(|(name, cc)| (name.clone(), cc.name().to_string())).collect()
}

/// A sentence on the fluid model of a row and the distance of its first run.
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
            format!(
                "{name}: the fluid model {model} has its equilibrium at {rest_packets:.1} packets, {stable}; {error}"
            )
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

/// The names of the first few links.
fn some_names(links: &[LinkSpec]) -> String {
    const SHOWN: usize = 8;
    let names = links.iter().take(SHOWN).map(|link| link.name.as_str()).collect::<Vec<_>>().join(", ");
    match links.len().saturating_sub(SHOWN) {
        0 => names,
        more => format!("{names}, and {more} more"),
    }
}

/// The message and the remedy if a run is sampled too often.
pub fn too_many_samples(valid: &Valid) -> Option<(String, String)> {
    let schedule = valid.schedule();
    let least = Span(schedule.duration.0.div_ceil(MOST_SAMPLES).max(1));
    schedule.sample.filter(|sample| *sample < least).map(|_| {
        let message = format!("the sampling interval makes more than {MOST_SAMPLES} samples of a run");
        (message, format!("sample every {least} or less often"))
    })
}
