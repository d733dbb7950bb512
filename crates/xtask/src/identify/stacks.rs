// SPDX-License-Identifier: Apache-2.0 OR MIT
//! qlog of noq and quinn with their own controllers, as the example `qlogs` of kneepoint-quic makes it:
//! `STACK-CONTROLLER-RATE-RTT-BUFFER-0_client.sqlog`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use kneepoint::study::identify::{OF_STACKS, suspects_in_quic};

use super::{Folder, HEADINGS, Labelled, Tried, cells, slowest, try_all};

/// The ending of the files: the sender opens the connection.
const ENDING: &str = "-0_client.sqlog";

/// The setting that a file's name says.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    stack: String,
    controller: String,
    rate: u32,
    rtt: u32,
}

impl Setting {
    fn of(file: &Path) -> Option<Setting> {
        let stem = file.file_name()?.to_str()?.strip_suffix(ENDING)?;
        let [stack, controller, rate, rtt, _] = stem.split('-').collect::<Vec<_>>()[..] else { return None };
        Some(Setting {
            stack: stack.into(),
            controller: controller.into(),
            rate: rate.strip_suffix("mbit")?.parse().ok()?,
            rtt: rtt.strip_suffix("ms")?.parse().ok()?,
        })
    }
}

/// Tries a folder of qlog.
pub fn run(arguments: &Folder) -> Result<bool, String> {
    let all = suspects_in_quic(&OF_STACKS.map(String::from))?;
    let mut files = files(&arguments.dir)?;
    files.sort();
    if files.is_empty() {
        return Err(format!(
            "{} has no qlog: make it with `cargo run --release -p kneepoint-quic --features virtual-time --example qlogs -- DIR`",
            arguments.dir.display()
        ));
    }
    let labelled = |(of, file): &(Setting, PathBuf)| Labelled {
        file: file.clone(),
        delay: of.rtt,
        rate: of.rate * 1000,
        label: of.controller.clone(),
    };
    let wanted: Vec<Labelled> = files.iter().map(labelled).collect();
    let tried = try_all(&wanted, &all, arguments.each)?;
    let settings: Vec<Setting> = files.into_iter().map(|(of, _)| of).collect();
    let text = report(&settings, &tried);
    arguments.tell("qlogs", &text)
}

fn files(dir: &Path) -> Result<Vec<(Setting, PathBuf)>, String> {
    let entries = std::fs::read_dir(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    Ok(entries.flatten().filter_map(|entry| Some((Setting::of(&entry.path())?, entry.path()))).collect())
}

fn report(settings: &[Setting], tried: &[Tried]) -> String {
    let mut text = format!("| sent by | {HEADINGS}");
    let mut senders: Vec<(&str, &str)> =
        settings.iter().map(|of| (of.stack.as_str(), of.controller.as_str())).collect();
    senders.dedup();
    let both = || settings.iter().zip(tried);
    for (stack, controller) in senders {
        let own = both().filter(|(of, _)| of.stack == stack && of.controller == controller);
        let _ = writeln!(text, "| {controller} of {stack} | {} |", cells(own.map(|(_, one)| one)));
    }
    let _ = write!(text, "| all | {} |\n\n{}", cells(tried.iter()), slowest(tried));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_read_from_the_name_of_a_file() {
        let of = Setting::of(Path::new("x/quinn-bbr-10mbit-20ms-50-0_client.sqlog")).unwrap();
        assert_eq!((of.stack.as_str(), of.controller.as_str(), of.rate, of.rtt), ("quinn", "bbr", 10, 20));
        assert_eq!(Setting::of(Path::new("quinn-bbr-10mbit-20ms-50.pcapng")), None);
    }
}
