// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of a gate, and its annotations for GitHub.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::experiment::gate::Outcome;
use kneepoint::report::document::Document;
use kneepoint::report::format::markdown;
use kneepoint::report::{Manifest, gate};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// Files for other programs.
#[derive(Args)]
pub struct Files {
    /// Write every claim as a test in JUnit's XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write failures in SARIF, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write the report in Markdown, with pictures of the changes in figures/ next to it
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Files {
    /// Refuses two documents for one file, and the files that a gate reads.
    pub fn check(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        let asked = [("junit", &self.junit), ("sarif", &self.sarif), ("markdown", &self.markdown)];
        let asked: Vec<_> = asked.iter().filter_map(|(name, path)| Some((name, path.as_ref()?))).collect();
        let whole = |path: &Path| {
            path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
        };
        for (place, (name, path)) in asked.iter().enumerate() {
            if inputs.iter().any(|input| whole(input) == whole(path)) {
                let message = format!("--{name} is `{}`, which the gate reads", path.display());
                return Err(Failure::usage(message, "name another file"));
            }
            if let Some((other, _)) = asked[..place].iter().find(|(_, other)| whole(other) == whole(path)) {
                let message = format!("--{other} and --{name} are the same file, `{}`", path.display());
                return Err(Failure::usage(message, "name a file for each"));
            }
        }
        Ok(())
    }
}

/// Writes the requested files. `place` is the file with the request.
pub fn write(wanted: &Files, outcome: &Outcome, manifest: &Manifest, place: &str) -> Result<(), Failure> {
    if let Some(path) = &wanted.junit {
        put(path, gate::junit::render(outcome))?;
    }
    if let Some(path) = &wanted.sarif {
        put(path, gate::sarif::render(outcome, &manifest.tool_version, place))?;
    }
    if let Some(path) = &wanted.markdown {
        put(path, markdown::render(&gate::document(outcome, manifest)))?;
        let folder = path.with_file_name("figures");
        for (name, drawing) in gate::pictures(outcome) {
            put(&folder.join(format!("{name}.svg")), drawing.standalone())?;
        }
    }
    Ok(())
}

/// Writes a file, in a directory that is made if there is none.
fn put(path: &Path, text: String) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::make_directory(folder)?;
    }
    files::write(path, text)
}

/// In GitHub Actions: annotations on the log, unless it is JSON, and the report as the summary of the step.
pub fn tell_github(
    session: &Session,
    outcome: &Outcome,
    document: &Document,
    place: &str,
    as_json: bool,
) -> Result<(), Failure> {
    if !as_json && env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
        session.print(gate::github::annotations(outcome, place))?;
    }
    match env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) {
        Some(path) => append(Path::new(&path), &markdown::render(document)),
        None => Ok(()),
    }
}

/// The summary of a step may contain text of other programs.
fn append(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::io("write", path, &error))
}
