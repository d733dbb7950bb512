// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tables of docs/linux-host.md.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::kernel::Recorded;
use super::setting::Setting;
use super::{COMPARED, agreement, number, pairs};

const FILE: &str = "docs/linux-host.md";
const PRESET: &str = "preset = \"linux\"";

/// Changes of one thing: what it is, and the lines of `[tcp]` for it.
const CHANGES: [(&str, &str); 14] = [
    ("nothing: the preset", PRESET),
    ("losses by RFC 6675 alone, without RACK-TLP", "preset = \"linux\"\nrecovery = \"sack\""),
    ("RACK without tail loss probes", "preset = \"linux\"\nprobes = false"),
    ("the window reduced at once, without PRR", "preset = \"linux\"\nreduction = \"at-once\""),
    ("PRR of RFC 6937", "preset = \"linux\"\nreduction = \"rfc6937\""),
    ("slow start that only doubles, without HyStart", "preset = \"linux\"\nslow_start = \"doubling\""),
    ("HyStart++ (RFC 9406) in every controller", "preset = \"linux\"\nslow_start = \"hystart++\""),
    ("controllers as published", "preset = \"linux\"\ncontrollers = \"published\""),
    ("no bursts of paced packets", "preset = \"linux\"\nburst = \"0s\""),
    ("no quick acknowledgements at the start", "preset = \"linux\"\nquick_acks = 0"),
    ("every packet acknowledged", "preset = \"linux\"\ndelayed_ack = false"),
    ("an initial window of two", "preset = \"linux\"\ninitial_window = 2"),
    ("growth of a packet per acknowledgement at most", "preset = \"linux\"\ngrowth_per_ack = 1"),
    ("all of it: the host of the papers", "preset = \"paper\"\npayload = \"1448b\"\nheader = \"52b\""),
];

/// Writes the tables into the page, in the place of those there.
pub fn write(settings: &[Setting], recorded: &[Recorded], seeds: u64) -> Result<(), String> {
    let path = path();
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let beside = beside(settings, recorded, seeds)?;
    let changed = changed(settings, recorded, seeds)?;
    let page = replace(&page, "beside the kernel", &beside)?;
    let page = replace(&page, "one thing changed", &changed)?;
    std::fs::write(&path, page).map_err(|error| format!("{FILE}: {error}"))
}

/// The page with `text` between the marks of a section.
fn replace(page: &str, section: &str, text: &str) -> Result<String, String> {
    let (open, close) = (format!("<!-- {section} -->\n"), format!("<!-- end of {section} -->"));
    let missing = || format!("{FILE} has no section `{section}`");
    let (before, rest) = page.split_once(&open).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&close).ok_or_else(missing)?;
    Ok(format!("{before}{open}\n{text}\n{close}{after}"))
}

fn heads(text: &mut String, first: &str) {
    let names: Vec<&str> = COMPARED.iter().map(|one| one.key).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| {first} | {} |\n| --- |{}", names.join(" | "), " ---: |".repeat(names.len()));
}

fn beside(settings: &[Setting], recorded: &[Recorded], seeds: u64) -> Result<String, String> {
    let pairs = pairs(settings, recorded, PRESET, seeds)?;
    let kernels = recorded.first().map_or("", |one| one.kernel.as_str());
    let late = recorded.iter().map(|one| one.late_p99_us).fold(0.0, f64::max);
    let spoiled = recorded.iter().filter(|one| one.spoiled).count();
    let mut text = format!(
        "Linux {kernels}, {} runs of 20 s; the emulated link was at most {late:.0} µs late in 99 of 100 packets; \
         {spoiled} runs that its lateness had spoiled are left out. Kernel / simulator; **bold** beyond the limits below.\n\n",
        recorded.len()
    );
    heads(&mut text, "setting");
    for pair in &pairs {
        let cell = |one: &super::Compared| {
            let both =
                |kernel| format!("{} / {}", number((one.of)(kernel)), number((one.of)(&pair.simulated)));
            match (pair.agrees(one), &pair.kernel) {
                (Some(true), Some(kernel)) => both(kernel),
                (Some(false), Some(kernel)) => format!("**{}**", both(kernel)),
                _ => String::new(),
            }
        };
        let cells: Vec<String> = COMPARED.iter().map(cell).collect();
        let _ = writeln!(text, "| {} | {} |", pair.setting.name(), cells.join(" | "));
    }
    text.push('\n');
    for one in &COMPARED {
        let (agreed, compared) = agreement(&pairs, one);
        let _ = writeln!(text, "* `{}`: {agreed} of {compared} {}", one.key, one.about);
    }
    Ok(text)
}

fn changed(settings: &[Setting], recorded: &[Recorded], seeds: u64) -> Result<String, String> {
    let mut text = String::new();
    heads(&mut text, "changed");
    for (about, tcp) in CHANGES {
        let pairs = pairs(settings, recorded, tcp, seeds)?;
        let cells: Vec<String> = COMPARED.iter().map(|one| agreement(&pairs, one).0.to_string()).collect();
        let _ = writeln!(text, "| {about} | {} |", cells.join(" | "));
    }
    Ok(text)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)
}
