// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of a comparison: cases × seeds, run, and reported together in a directory.
//!
//! ```text
//! OUT/report.*              the report in every format
//! OUT/tables.md  tables.tex its tables alone, and table.tex, one for a column of a paper
//! OUT/summary.json          to compute with: everything but the series, and the manifest
//! OUT/summary.*    runs.*   one line per row, one line per run, as CSV and Parquet
//! OUT/links.*      groups.* one line per link, group or other subject (`report::PARTS`, those observed) and run
//! OUT/objects/ROW-seedN.csv each completed transfer, if wanted
//! OUT/scenarios/ROW.toml    to run again with `knee run`
//! OUT/series/ROW-seedN.*    the state over time
//! OUT/captures/*            packets, if wanted
//! OUT/qlog/*                flows, if wanted
//! OUT/figures/*             the report's charts, each in its own file
//! OUT/.kneepoint            the mark that the directory is ours, with the names of these files
//! ```

mod each;
mod options;
mod outcome;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use kneepoint::link::LinkSpec;
use kneepoint::measure::Followed;
use kneepoint::report::figure::Parts;
use kneepoint::report::{self, Comparison, Factors, Manifest, SchemeResult, output};
use kneepoint::scenario::{Fault, FigureSpec, Settings};
use kneepoint::spec::{Invalid, Valid};
use kneepoint::study::Study;
use kneepoint::study::caution::{self, Caution};
use kneepoint::study::compare::{Compare, Compared};
use kneepoint::table::Records;
use kneepoint_bench::answer::{self, Answer, Series};
use kneepoint_bench::conductor::{self, Conducted};
use kneepoint_bench::files;
use kneepoint_bench::forecast::Forecast;
use kneepoint_bench::session::Session;
use kneepoint_bench::threads;

use crate::failure::Failure;
use crate::flow::tagged;
use crate::means::first_seeds;
use crate::outputs::{self, Out, report_at, write_report};
use crate::path::{Fields, of_preset};
use crate::values::distinct;
use crate::{manifest, parquet, terminal};
use each::{Files, label};
pub use options::ComparisonOptions;
use options::Overlay;
use outcome::{result, said_beside};

/// Facts about runs that a report gives in addition to their numbers.
struct About {
    title: String,
    rows: Reported,
    manifest: Manifest,
}

/// The factors of the rows of a report, and their figure.
struct Reported {
    factors: Factors,
    figure: FigureSpec,
}

impl About {
    fn new(
        session: &Session,
        title: String,
        rows: Reported,
        scenarios: Vec<(String, String)>,
        files: BTreeMap<String, String>,
        seeds: Vec<u64>,
        notes: Vec<String>,
    ) -> About {
        let digests = files.into_iter().map(|(name, text)| (name, manifest::digest([&*text].into_iter())));
        About {
            title,
            rows,
            manifest: Manifest { files: digests.collect(), ..manifest::of(session, scenarios, seeds, notes) },
        }
    }
}

impl ComparisonOptions {
    /// The report on the runs that are known, and its rows.
    fn answer(&self, conducted: Conducted<Vec<Compared>>, about: About) -> Result<Answer, Failure> {
        let Conducted { outcome, records, planned, spent } = conducted;
        let About { title, rows: Reported { factors: Factors { factors, levels }, figure }, mut manifest } =
            about;
        let notes = &mut manifest.notes;
        let done = records.len();
        if done < planned {
            let why = if spent { "the budget was spent" } else { "interrupted" };
            notes.push(format!("{why}: {done} of {planned} runs finished"));
        }
        notes.extend(self.precision.as_ref().map(|asked| asked.told(&outcome)));
        let cautions = cautions(&outcome);
        let overlay = self.overlay == Some(Overlay::Fluid);
        let mut schemes: Vec<SchemeResult> = outcome
            .into_iter()
            .zip(levels)
            .map(|(compared, levels)| result(compared, levels, overlay))
            .collect();
        notes.extend(schemes.iter().filter_map(said_beside));
        let missing = schemes.iter().filter(|scheme| scheme.runs.is_empty());
        let missing = missing.map(|scheme| scheme.scheme.as_str()).collect::<Vec<_>>();
        // Where each row has its own scenario, the report finds it by itself.
        if !missing.is_empty() && manifest.scenario.len() == 1 {
            notes.push(format!("without a run: {}", missing.join(", ")));
        }
        schemes.retain(|scheme| !scheme.runs.is_empty());
        let comparison = Comparison { title, factors, schemes, cautions, manifest };
        // Each takes some tenths of a second for thousands of runs, and the other cores are idle at this point.
        let (json, (document, tables)) = threads::both(
            || report::json::render(&comparison),
            || {
                threads::both(
                    || report::comparison::with_figure(&comparison, &figure),
                    || tables(&comparison),
                )
            },
        );
        Ok(Answer {
            tables,
            json,
            document,
            series: Series::default(),
            unfinished: (done < planned && !spent).then(|| {
                format!("stopped: {done} of {planned} runs finished and are kept; the same command continues")
            }),
        })
    }
}

/// The limits of the runs of some cases.
fn cautions(cases: &[Compared]) -> Vec<Caution> {
    caution::of(&cases.iter().map(caution::Case::from).collect::<Vec<_>>())
}

/// The rows of a comparison under the names that their files have.
pub fn tables(comparison: &Comparison) -> Vec<(String, Records)> {
    let part = |(name, subject)| answer::named(name, report::tables::subjects(comparison, subject));
    let runs = answer::named("runs", report::tables::runs(comparison));
    let summary = answer::named("summary", report::tables::schemes(comparison));
    // Without a completed transfer, for one, there are no classes.
    let parts = report::PARTS.map(part).into_iter().filter(|(_, table)| !table.rows.is_empty());
    [runs, summary].into_iter().chain(parts).collect()
}

/// The failure for a scenario with fields set by options: theirs alone if any of them is wrong.
pub fn refused(origin: String, text: String, fields: &Fields, faults: Vec<Fault>) -> Failure {
    let begin = text.len() + 1;
    let (theirs, own): (Vec<_>, Vec<_>) = faults.into_iter().partition(|fault| fault.span.start >= begin);
    if theirs.is_empty() {
        return Failure::Scenario { origin, text, faults: own };
    }
    let moved = |fault: Fault| Fault { span: fault.span.start - begin..fault.span.end - begin, ..fault };
    let moved: Vec<Fault> = theirs.into_iter().map(moved).collect();
    let by = moved.first().map_or("--set", |fault| fields.option_at(fault.span.start));
    if let Some(fault) = moved.first().filter(|_| of_preset(by)) {
        return Failure::usage(
            format!("{by}: {}", fault.message),
            "a path by its name is that of a dumbbell; on links of another topology set each property, as in \
             `--set link.a-b.rate=150mbit`",
        );
    }
    Failure::Scenario { origin: by.into(), text: fields.lines().join("\n"), faults: moved }
}

/// Rows of a report.
pub struct Rows {
    /// Their names and specs.
    named: Vec<(String, Valid)>,
    /// The differences between them.
    factors: Factors,
}

impl Rows {
    /// Rows that differ in these fields; `title` is the name of a single case.
    pub fn new(title: &str, cases: Vec<(Settings, Valid)>) -> Rows {
        let (settings, valid): (Vec<Settings>, Vec<Valid>) = cases.into_iter().unzip();
        let factors = Factors::of(&settings);
        let named = valid.into_iter().enumerate().map(|(case, valid)| (factors.name(case, title), valid));
        Rows { named: named.collect(), factors }
    }

    /// The spec of the first.
    pub fn first(&self) -> Option<&Valid> {
        self.named.first().map(|(_, valid)| valid)
    }

    /// The parts of their runs that metrics can describe.
    fn parts(&self) -> Parts {
        Parts::of_cases(self.named.iter().map(|(_, valid)| valid))
    }
}

/// The cases and seeds of a comparison.
pub struct ComparisonPlan {
    /// The title of the report.
    pub title: String,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
    /// Names, as the scenarios write them, and texts of the files that they name.
    pub files: BTreeMap<String, String>,
    /// Rows of the report.
    pub rows: Rows,
    /// Each row runs once with each.
    pub seeds: Vec<u64>,
    /// Whether the scenario requests a file of each run's completed transfers, as `--objects` does.
    pub objects: bool,
    /// Whether every flow is sampled.
    pub every_flow: bool,
    /// The figure that the scenario requests.
    pub figure: FigureSpec,
    /// The report's description of its setting.
    pub notes: Vec<String>,
    /// The directory of its files.
    pub out: Out,
}

impl ComparisonPlan {
    /// Makes the missing runs, writes all files, and prints the result.
    pub fn conduct(
        mut self,
        session: &Session,
        settings: &ComparisonOptions,
        as_json: bool,
    ) -> Result<(), Failure> {
        self.open(session, settings)?;
        let figure = settings.figure.wish(&self.figure, &self.rows.factors.factors, &self.rows.parts())?;
        let printer = settings.charts.printer()?;
        let mut study = self.study(settings);
        let listens = self.listens(settings);
        let sweep = settings.sweep();
        sweep.check(session, listens)?;
        let objects = self.objects || settings.objects;
        if settings.sweep.dry_run() {
            Forecast::of(session, &study, &sweep, listens, |cost| each::objects(objects, cost))?
                .print(session, as_json)?;
            if let Some(precision) = &settings.precision {
                session.tell(first_seeds(study.seeds().len(), &precision.to_string(), &sweep));
            }
            return Ok(());
        }
        let ComparisonPlan { title, scenarios, files: named, rows, mut notes, out, .. } = self;
        let out = out.settle(session)?;
        let outside = named.keys().filter(|name| !is_within(name));
        notes.extend(
            outside
                .map(|name| format!("`{name}` lies outside the scenario's folder: no copy of it was kept")),
        );
        let reported = Reported { factors: rows.factors, figure };
        let seeds = study.seeds().to_vec();
        let mut about = About::new(session, title, reported, scenarios.clone(), named.clone(), seeds, notes);
        let files = Files {
            settings,
            objects,
            rows: &rows.named,
            runs: study.every_place(),
            manifest: &about.manifest.clone(),
            out: &out,
        };
        let conducted = conductor::conduct(session, &mut study, &sweep, &files)?;
        conducted.nonempty(session, &sweep)?;
        about.manifest.seeds = study.seeds().to_vec();
        let manifest = about.manifest.clone();
        let Answer { document, json, tables, unfinished, .. } = settings.answer(conducted, about)?;
        write_scenarios(&scenarios, &named, &out)?;
        files::write(&out.join("summary.json"), &json)?;
        let defined = |name: &str| output::table(name).expect("every table of a comparison is defined");
        parquet::save_tables(&tables, defined, &manifest, &out)?;
        write_report(session, &document, &out, &printer)?;
        let place = report_at(&out.publish(session)?);
        session.print(if as_json { json } else { terminal::shown(&document) })?;
        if let Some(stopped) = unfinished {
            return Err(Failure::Interrupted(format!("{stopped}\n{place}")));
        }
        session.tell(place);
        Ok(())
    }

    /// Makes the missing runs. Only the kept runs are written.
    pub fn answer(mut self, session: &Session, settings: &ComparisonOptions) -> Result<Answer, Failure> {
        self.open(session, settings)?;
        let figure = settings.figure.wish(&self.figure, &self.rows.factors.factors, &self.rows.parts())?;
        let sweep = settings.sweep();
        sweep.check(session, self.listens(settings))?;
        // If so, the verb has written them before the call.
        if (settings.captures() || settings.objects) && matches!(self.out, Out::Free(_)) {
            let [pcap, qlog, objects] = ["pcap", "qlog", "objects"].map(|name| session.option(name, ""));
            let message = format!(
                "`{pcap}`, `{qlog}` and `{objects}` write files of each run, and there is no directory for them"
            );
            let remedy = format!("name a directory with `{}`", session.option("out", "DIR"));
            return Err(Failure::usage(message, remedy));
        }
        let mut study = self.study(settings);
        let conducted = conductor::conduct(session, &mut study, &sweep, &())?;
        conducted.nonempty(session, &sweep)?;
        let labels = study.places().map(|place| format!("series/{}", label(&self.rows.named, place)));
        let kept = labels.zip(study.wanted().iter().map(|run| (run.name(), run.seed))).collect();
        let ComparisonPlan { title, scenarios, files, rows, notes, .. } = self;
        let seeds = study.seeds().to_vec();
        let reported = Reported { factors: rows.factors, figure };
        let about = About::new(session, title, reported, scenarios, files, seeds, notes);
        let answer = settings.answer(conducted, about)?;
        Ok(Answer { series: Series::new(sweep.store(session)?, kept), ..answer })
    }

    /// Whether runs write data that is not kept.
    fn listens(&self, settings: &ComparisonOptions) -> bool {
        self.objects || settings.objects || settings.captures()
    }

    fn study(&self, settings: &ComparisonOptions) -> Compare {
        let windows = settings.show_flows as usize;
        let followed = if self.every_flow { Followed::Every } else { Followed::Windows(windows) };
        Compare::new(self.rows.named.iter().cloned(), self.seeds.clone(), followed)
            .precise(settings.precision.clone())
    }

    /// Looks for the traced flows, and marks captured links as measured. The first measured link stays the bottleneck.
    fn open(&mut self, session: &Session, settings: &ComparisonOptions) -> Result<(), Failure> {
        if settings.captures() {
            let valid = self.rows.named.iter().flat_map(|(_, valid)| valid.groups());
            session.simulated(valid.filter_map(|group| group.cc.as_ref()), "a capture")?;
        }
        distinct("--qlog:", &settings.qlog, String::clone)?;
        for (flow, (_, valid)) in
            settings.qlog.iter().flat_map(|flow| self.rows.named.iter().map(move |row| (flow, row)))
        {
            tagged(valid, "--qlog", Some(flow))?;
        }
        let captured = &settings.pcap;
        for (place, name) in captured.iter().enumerate() {
            if captured[..place].contains(name) {
                return Err(Failure::usage(
                    format!("--pcap: the link `{name}` is given twice"),
                    "name each link once",
                ));
            }
            for (row, valid) in &mut self.rows.named {
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

/// Writes the scenarios, and the files within their folder that they name where the copies will find them.
pub fn write_scenarios(
    scenarios: &[(String, String)],
    named: &BTreeMap<String, String>,
    out: &Path,
) -> Result<(), Failure> {
    let folder = outputs::write_scenarios(scenarios, out)?;
    named.iter().filter(|(name, _)| is_within(name)).try_for_each(|(name, text)| {
        let copy = folder.join(name);
        files::make_directory(copy.parent().unwrap_or(&folder))?;
        files::write(&copy, text)
    })
}

/// Whether a path stays within its starting folder.
fn is_within(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
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
