// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of single runs: series, captured packets, completed transfers.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kneepoint::measure::Objects;
use kneepoint::report::{self, Manifest};
use kneepoint::run::Cost;
use kneepoint::run::cost::Term;
use kneepoint::spec::Valid;
use kneepoint::study::Record;
use kneepoint::table::Table;
use kneepoint_bench::conductor::Aside;
use kneepoint_bench::files;

use super::ComparisonOptions;
use crate::captures::{Captures, Tracers};
use crate::failure::Failure;
use crate::outputs::{self, directory, slug};
use crate::parquet;

/// Formats of series.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Csv,
    Parquet,
}

/// The files that belong to single runs.
pub struct Files<'a> {
    pub settings: &'a ComparisonOptions,
    /// Whether completed transfers are written.
    pub objects: bool,
    pub rows: &'a [(String, Valid)],
    /// The row and the seed of each requested run.
    pub runs: Vec<(usize, u64)>,
    pub manifest: &'a Manifest,
    pub out: &'a Path,
}

impl Files<'_> {
    /// The stem of the files of a run.
    fn label(&self, place: usize) -> String {
        label(self.rows, self.runs[place])
    }
}

/// The stem of the files of a run, unique.
pub fn label(rows: &[(String, Valid)], run: (usize, u64)) -> String {
    let names = rows.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    outputs::label(&names, run)
}

/// The memory of a run's completed transfers, if they are recorded.
pub fn objects(recorded: bool, cost: &Cost) -> Vec<Term> {
    recorded.then(|| Objects::cost(cost.transfers)).into_iter().collect()
}

impl Aside for Files<'_> {
    type Listener = ((Captures, Tracers), Option<Objects>);

    fn listens(&self) -> bool {
        self.settings.captures() || self.objects
    }

    fn takes(&self, cost: &Cost) -> Vec<Term> {
        objects(self.objects, cost)
    }

    fn listener(&self, place: usize) -> Result<Self::Listener, Failure> {
        let valid = &self.rows[self.runs[place].0].1;
        let captures = Captures::create(&self.settings.pcap, valid, |link| {
            Ok(directory(self.out, "captures")?.join(format!("{}-{}.pcapng", self.label(place), slug(link))))
        })?;
        let tracers = Tracers::create(&self.settings.qlog, valid, |flow| {
            Ok(directory(self.out, "qlog")?.join(format!("{}-{}.sqlog", self.label(place), slug(flow))))
        })?;
        Ok(((captures, tracers), self.objects.then(|| Objects::new(valid))))
    }

    fn heard(&self, place: usize, ((captures, tracers), objects): Self::Listener) -> Result<(), Failure> {
        captures.commit()?;
        tracers.commit()?;
        let Some(objects) = objects else { return Ok(()) };
        let file = directory(self.out, "objects")?.join(format!("{}.csv", self.label(place)));
        files::write(&file, report::csv::records(&objects.records()))
    }

    fn known(&self, place: usize, record: &Record) -> Result<(), Failure> {
        let Some(table) = &record.series else { return Ok(()) };
        let stem = directory(self.out, "series")?.join(self.label(place));
        write_series(table, &self.settings.series, self.manifest, &stem)
    }
}

fn write_series(table: &Table, formats: &[Format], manifest: &Manifest, stem: &Path) -> Result<(), Failure> {
    // A name may contain dots.
    let named = |ending: &str| {
        let mut name = stem.as_os_str().to_owned();
        name.push(format!(".{ending}"));
        PathBuf::from(name)
    };
    if formats.contains(&Format::Csv) {
        files::write(&named("csv"), report::csv::table(table))?;
    }
    if formats.contains(&Format::Parquet) {
        let origin = parquet::Origin { output: &report::output::SERIES, manifest };
        parquet::save(&named("parquet"), |sink| parquet::write(table, origin, sink))?;
    }
    Ok(())
}
