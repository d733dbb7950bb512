// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recorded scripts in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use kneepoint::units::Span;
use kneepoint_linux::player::record::Played;

use super::Recorded;

/// A player that was later than this has not played its script.
const LATEST: Span = Span::from_micros(1500);
/// The suffix of scripts' names.
const EXTENSION: &str = "pkt";

/// The reason why a script is not credible, if it is not.
pub fn spoiled(played: &Played) -> Option<String> {
    match &played.failure {
        Some(failure) => Some(failure.clone()),
        None => (played.late > LATEST).then(|| format!("the player was more than {LATEST} late")),
    }
}

/// The kernel's name.
pub fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", release.trim())
}

fn failed(path: &Path, what: &str, error: &std::io::Error) -> String {
    format!("{} cannot be {what}: {error}", path.display())
}

/// Writes the scripts that can be believed.
pub fn write(folder: &Path, scripts: &[Recorded]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, "made", &error))?;
    for (name, script) in scripts {
        if let Ok(text) = script {
            let path = folder.join(format!("{name}.{EXTENSION}"));
            fs::write(&path, text).map_err(|error| failed(&path, "written", &error))?;
        }
    }
    Ok(())
}

/// Names and texts of the scripts of a folder, in order of their names; `only` is a part of these names.
pub fn read(folder: &Path, only: Option<&str>) -> Result<Vec<(String, String)>, String> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, "read", &error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<PathBuf>, _>>();
    let mut paths = paths.map_err(|error| failed(folder, "read", &error))?;
    paths.sort();
    let mut scripts = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION)) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if only.is_none_or(|only| name.contains(only)) {
            let text = fs::read_to_string(path).map_err(|error| failed(path, "read", &error))?;
            scripts.push((name, text));
        }
    }
    match scripts.is_empty() {
        true => Err(format!(
            "{} has no scripts (*.{EXTENSION}) of that name: record some with --keep",
            folder.display()
        )),
        false => Ok(scripts),
    }
}
