// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Results of `knee run` and `knee compare`, read back from the directory that has them: `summary.json`, and the series of first runs.

use std::path::{Path, PathBuf};

use kneepoint::report::reading::{self, Unreadable};
use kneepoint::report::{Comparison, csv, output};
use kneepoint::scenario::FigureSpec;
use kneepoint::table::Table;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use crate::failure::Failure;
use crate::outputs::{label, slug};
use crate::parquet;

/// The file with the numbers.
pub const SUMMARY: &str = "summary.json";
/// Larger ones are not results.
const LARGEST: u64 = 1 << 30;

/// The results in a directory; series are left out unless requested. The place may also be the file with the numbers.
pub fn read(session: &Session, place: &Path, series: bool) -> Result<Comparison, Failure> {
    let directory = directory(place)?;
    let path = directory.join(SUMMARY);
    if !path.exists() {
        return Err(absent(&directory));
    }
    let bytes = files::read_bytes(&path, LARGEST)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut comparison = reading::comparison(&text).map_err(|why| unreadable(&path, &why))?;
    if series {
        read_series(session, &directory, &mut comparison);
    }
    Ok(comparison)
}

/// The contents of a verb's own file; none in a directory without that file.
pub fn of_verb<T>(
    place: &Path,
    file: &str,
    read: impl FnOnce(&str) -> Result<T, Unreadable>,
) -> Result<Option<T>, Failure> {
    let path = place.join(file);
    if !place.is_dir() || place.join(SUMMARY).exists() || !path.exists() {
        return Ok(None);
    }
    let bytes = files::read_bytes(&path, LARGEST)?;
    read(&String::from_utf8_lossy(&bytes)).map(Some).map_err(|why| unreadable(&path, &why))
}

/// The figure that the scenario of these results requests; the default if there is none, or if it can no longer be
/// read.
pub fn figure(session: &Session, place: &Path, comparison: &Comparison) -> Result<FigureSpec, Failure> {
    let [(name, text)] = &comparison.manifest.scenario[..] else { return Ok(FigureSpec::default()) };
    let scenario = directory(place)?.join("scenarios").join(slug(name));
    let read = session.extensions().parse_with(text, &|named| files::beside(&scenario, named));
    Ok(read.map(|plan| plan.figure).unwrap_or_default())
}

/// The directory of results that is meant.
pub fn directory(place: &Path) -> Result<PathBuf, Failure> {
    if place.is_dir() {
        return Ok(place.to_path_buf());
    }
    if place.file_name().is_some_and(|name| name == SUMMARY) && place.is_file() {
        let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty());
        return Ok(parent.unwrap_or(Path::new(".")).to_path_buf());
    }
    let message = match place.exists() {
        true => format!("`{}` is not a directory", place.display()),
        false => format!("there is no directory `{}`", place.display()),
    };
    Err(Failure::run(
        message,
        "name a directory that `knee run` or `knee compare` wrote, as in `out/compare`",
    ))
}

fn absent(directory: &Path) -> Failure {
    let shown = directory.display();
    match output::writer(|file| directory.join(file).exists()) {
        Some(verb) => Failure::run(
            format!(
                "`{shown}` has results of `knee {verb}`, without the numbers of each run that directories of `knee run` and \
                 `knee compare` have in {SUMMARY}"
            ),
            format!(
                "the same `knee {verb}` again takes --charts and --size, and reads its kept runs if it keeps any"
            ),
        ),
        None => Failure::run(
            format!("`{shown}` has no {SUMMARY}"),
            "name a directory that `knee run` or `knee compare` wrote, as in `out/compare`",
        ),
    }
}

fn unreadable(path: &Path, why: &Unreadable) -> Failure {
    let remedy = match why {
        Unreadable::Version(_) => {
            "the command that wrote it, again, writes the present version; kept runs are read back"
        }
        Unreadable::Other => "name a directory that `knee run` or `knee compare` wrote",
        Unreadable::Damaged(_) => "the command that wrote it, again, restores it; kept runs are read back",
    };
    Failure::run(format!("cannot use `{}`: {why}", path.display()), remedy)
}

/// Gives each case the series of its first run, if its file exists and is whole.
fn read_series(session: &Session, directory: &Path, comparison: &mut Comparison) {
    let folder = directory.join("series");
    let names: Vec<String> = comparison.schemes.iter().map(|scheme| scheme.scheme.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (place, scheme) in comparison.schemes.iter_mut().enumerate() {
        let Some(first) = scheme.runs.first() else { continue };
        let stem = label(&names, (place, first.seed));
        match series(&folder, &stem) {
            Ok(table) => scheme.series = table,
            Err(why) => session.warn(format!("{why}: the plots over time of {} are left out", scheme.scheme)),
        }
    }
}

/// The series in one of its formats; none if it was not written.
fn series(folder: &Path, stem: &str) -> Result<Option<Table>, String> {
    let [text, columns] = ["csv", "parquet"].map(|ending| folder.join(format!("{stem}.{ending}")));
    let damaged = |path: &Path, why: String| format!("`{}` cannot be read: {why}", path.display());
    if text.is_file() {
        let bytes = files::read_bytes(&text, LARGEST)
            .map_err(|_| damaged(&text, "it is not a file of text".into()))?;
        let table = csv::read(&String::from_utf8_lossy(&bytes)).and_then(over_time);
        return table.map(Some).map_err(|why| damaged(&text, why));
    }
    if columns.is_file() {
        let table = parquet::read(&columns).map_err(|why| why.to_string()).and_then(over_time);
        return table.map(Some).map_err(|why| damaged(&columns, why));
    }
    Ok(None)
}

/// A table that is a series: any line of text is a table without rows.
fn over_time(table: Table) -> Result<Table, String> {
    match (table.columns_of("time_s").is_empty(), table.rows.is_empty()) {
        (true, _) => Err("it has no column `time_s`".into()),
        (false, true) => Err("it has no rows".into()),
        (false, false) => Ok(table),
    }
}
