// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sensitivity captures of Nebby (NUS-SNL/Nebby, MIT).
//!
//! `DIR` has a folder for each delay and rate, `35-ms-200-kbps`, with a CSV for each controller of Linux. Captures with the delays of
//! [`SEEN`] were looked at while the candidates were made; those with the others judge.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Folder, HEADINGS, Labelled, Tried, by_sender, candidates, cells, share, slowest, try_all};

/// Episodes of loss from which a capture has much to judge by.
const EPISODES: u32 = 3;
/// Delays, in ms, whose captures were looked at.
const SEEN: [u32; 2] = [15, 35];

/// Limits of the error that are compared.
const LIMITS: [f64; 7] = [0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03];

/// Which captures.
type Which = fn(&Tried) -> bool;

/// Tries the folder `sensitivity` of Nebby.
pub fn run(arguments: &Folder) -> Result<bool, String> {
    let all = candidates()?;
    let mut found = Vec::new();
    for (folder, delay, rate) in folders(&arguments.dir)? {
        found.extend(files(&folder)?.into_iter().map(|file| {
            let label = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            Labelled { file, delay, rate, label }
        }));
    }
    if found.is_empty() {
        return Err(format!(
            "{} has no captures: it is the folder `sensitivity` of Nebby",
            arguments.dir.display()
        ));
    }
    let text = report(&try_all(&found, &all, arguments.each)?);
    arguments.tell("nebby", &text)
}

/// Folders with their delays in milliseconds and rates in kbit/s.
fn folders(dir: &Path) -> Result<Vec<(PathBuf, u32, u32)>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let words: Vec<&str> = name.split('-').collect();
        if let [delay, "ms", rate, "kbps"] = words[..]
            && let (Ok(delay), Ok(rate)) = (delay.parse(), rate.parse())
        {
            found.push((path, delay, rate));
        }
    }
    found.sort_by_key(|(_, delay, rate)| (*delay, *rate));
    Ok(found)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let csv = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "csv");
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(csv).collect();
    found.sort();
    Ok(found)
}

fn report(tried: &[Tried]) -> String {
    let mut text = format!("| captures | {HEADINGS}");
    let many: Which = |one| one.verdict.as_ref().is_some_and(|verdict| verdict.path.episodes >= EPISODES);
    let seen: Which = |one| SEEN.contains(&one.delay);
    let kept: Which = |one| !SEEN.contains(&one.delay);
    let rows: [(&str, Which); 4] = [
        ("all", |_| true),
        ("three episodes of loss or more", many),
        ("delays that were looked at", seen),
        ("the other delays", kept),
    ];
    for (name, which) in rows {
        let _ = writeln!(text, "| {name} | {} |", cells(tried.iter().filter(|one| which(one))));
    }
    let _ = write!(text, "\n| kbit/s | {HEADINGS}");
    let mut rates: Vec<u32> = tried.iter().map(|one| one.rate).collect();
    rates.sort_unstable();
    rates.dedup();
    for rate in rates {
        let _ = writeln!(text, "| {rate} | {} |", cells(tried.iter().filter(|one| one.rate == rate)));
    }
    let _ = write!(text, "\n{}\n{}\n{}", by_limit(tried), by_sender(tried), slowest(tried));
    text
}

/// What other limits of the error would do.
fn by_limit(tried: &[Tried]) -> String {
    let mut text = String::from(
        "| limit of the error | its controller is within | no other is within |\n|---|---|---|\n",
    );
    for limit in LIMITS {
        let within = share(tried.iter(), |one| one.own() <= limit);
        let beyond = share(tried.iter(), |one| one.other > limit);
        let _ = writeln!(text, "| {limit} | {within} | {beyond} |");
    }
    text
}
