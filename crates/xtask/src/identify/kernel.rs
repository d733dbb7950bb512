// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures of Linux: of this machine's kernel over an emulated link, or of all controllers of mainline in virtual time ([`record`]).

mod record;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Folder, HEADINGS, Labelled, Tried, by_sender, candidates, cells, own_name, slowest, try_all};

/// Capture transfers of this machine's kernel, and try identification on them.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    folder: Folder,
    /// Make the captures that the folder lacks, of this machine's kernel as root (15 minutes for three controllers)
    #[arg(long)]
    record: bool,
    /// Make them of the Linux in virtual time that `knee doctor --build-uml` built, which has all controllers, instead of this machine's
    #[arg(long, requires = "record")]
    in_virtual_time: bool,
}

pub fn run(Arguments { folder, record, in_virtual_time }: &Arguments) -> Result<bool, String> {
    let all = candidates()?;
    if *record {
        record::make(&folder.dir, *in_virtual_time)?;
    }
    let files = files(&folder.dir)?;
    if files.is_empty() {
        return Err(format!("{} has no captures: make them with --record", folder.dir.display()));
    }
    let kernel = record::kernel(&folder.dir)?;
    let text = report(&kernel, &try_all(&files, &all, folder.each)?);
    folder.tell(if kernel.ends_with(record::VIRTUAL) { "virtual" } else { "kernel" }, &text)
}

/// The captures of a folder, with rates in kbit/s.
fn files(dir: &Path) -> Result<Vec<Labelled>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let ours = |file: PathBuf| {
        let made = record::Wanted::of(&file)
            .filter(|_| file.extension().is_some_and(|ending| ending == record::ENDING))?;
        Some(Labelled { file, delay: made.rtt, rate: made.rate * 1000, label: made.controller })
    };
    let mut found: Vec<_> = entries.flatten().filter_map(|entry| ours(entry.path())).collect();
    found.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(found)
}

fn report(kernel: &str, tried: &[Tried]) -> String {
    let mut labels: Vec<String> = tried.iter().map(|one| one.label.clone()).collect();
    labels.sort();
    labels.dedup();
    let lacking: Vec<String> =
        kneepoint_linux::uml::LINUX.map(own_name).into_iter().filter(|name| !labels.contains(name)).collect();
    let judged = match &lacking[..] {
        [] => String::new(),
        some => format!(" **Not judged**, because the kernel lacks them: {}.", some.join(", ")),
    };
    let mut text = format!("{kernel}.{judged}\n\n| Mbit/s, or round trip | {HEADINGS}");
    for rate in record::RATES.map(|rate| rate * 1000) {
        let _ =
            writeln!(text, "| {} | {} |", rate / 1000, cells(tried.iter().filter(|one| one.rate == rate)));
    }
    for rtt in record::ROUND_TRIPS {
        let _ = writeln!(text, "| {rtt} ms | {} |", cells(tried.iter().filter(|one| one.delay == rtt)));
    }
    let _ = writeln!(text, "| all | {} |", cells(tried.iter()));
    let _ = write!(text, "\n{}\n{}", by_sender(tried), slowest(tried));
    text
}
