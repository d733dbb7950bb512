// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tables of docs/linux.md.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::kernel::Recorded;
use super::setting::Setting;
use super::{Agreement, COMPARED, Compared, Pair, SEEDS, copa, pairs, queues, quoted, summaries, tally};
use crate::explanations::{Explanations, Marker};

const FILE: &str = "docs/linux.md";
const EXPLANATIONS: &str = "validation/linux/explanations.toml";
/// The options of the hosts that are compared.
pub const PRESET: &str = "preset = \"linux\"";

/// Changes of one setting: its name, and the lines of `[tcp]` for it.
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

/// Writes the tables into the page, instead of those there: whether every difference is explained.
pub fn write(settings: &[Setting], recorded: &[Recorded]) -> Result<bool, String> {
    let path = path(FILE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let text = std::fs::read_to_string(self::path(EXPLANATIONS))
        .map_err(|error| format!("{EXPLANATIONS}: {error}"))?;
    let explanations = Explanations::read(EXPLANATIONS, &text)?;
    let pairs = pairs(settings, recorded, PRESET, SEEDS)?;
    let (beside, unexplained) = beside(&pairs, recorded, &explanations)?;
    let page = replace(&page, "beside the kernel", &beside)?;
    let page = replace(&page, "one thing changed", &changed(settings, recorded)?)?;
    let page = replace(&page, "a lone copa", &copa::table()?)?;
    std::fs::write(&path, page).map_err(|error| format!("{FILE}: {error}"))?;
    unexplained.iter().for_each(|one| println!("unexplained: {one}"));
    Ok(write_queues()? && unexplained.is_empty())
}

/// Writes the table of queues into the page: whether every difference is explained.
pub fn write_queues() -> Result<bool, String> {
    let path = path(FILE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{FILE}: {error}"))?;
    let (section, unexplained) = queues::section()?;
    let page = replace(&page, "queues beside the kernel", &section)?;
    std::fs::write(&path, page).map_err(|error| format!("{FILE}: {error}"))?;
    unexplained.iter().for_each(|one| println!("unexplained: {one}"));
    Ok(unexplained.is_empty())
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

/// The table with the explanations that it needs, and the differences without one.
fn beside(
    pairs: &[Pair],
    recorded: &[Recorded],
    explanations: &Explanations,
) -> Result<(String, Vec<String>), String> {
    let kernels = recorded.first().map_or("", |one| one.kernel.as_str());
    let late = recorded.iter().filter(|one| !one.spoiled).map(|one| one.late_p99_us).fold(0.0, f64::max);
    let spoiled = recorded.iter().filter(|one| one.spoiled).count();
    let mut text = format!(
        "Linux {kernels}, {} runs of 20 s; the emulated link was at most {late:.0} µs late in 99 of 100 packets. \
         {spoiled} more runs, spoiled by its lateness, are left out. Means, kernel / simulator ({SEEDS} seeds). *Italic*: beyond the limits \
         below, but the ranges of the runs overlap. **Bold**: beyond, and they do not; the number is that of the explanation.\n\n",
        recorded.len() - spoiled
    );
    heads(&mut text, "setting");
    let mut marker = Marker::new(EXPLANATIONS, explanations);
    for pair in pairs {
        let name = pair.setting.name();
        let mut cell = |one: &Compared| match pair.agreement(one) {
            None => String::new(),
            Some(Agreement::Close) => pair.numbers(one),
            Some(Agreement::Scattered) => format!("*{}*", pair.numbers(one)),
            Some(Agreement::Differs) => marker.bold(&name, one.key, &pair.numbers(one)),
        };
        let cells: Vec<String> = COMPARED.iter().map(&mut cell).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    text.push('\n');
    for line in summaries(pairs) {
        let _ = writeln!(text, "* {line}");
    }
    text.push('\n');
    let (explained, unexplained) = marker.finish(|explanation| quoted::fill(explanation, pairs))?;
    Ok((text + &explained, unexplained))
}

/// The number of figures that are close or scattered where one option of the preset is changed.
fn changed(settings: &[Setting], recorded: &[Recorded]) -> Result<String, String> {
    let mut text = String::new();
    heads(&mut text, "changed");
    for (about, tcp) in CHANGES {
        let pairs = pairs(settings, recorded, tcp, SEEDS)?;
        let agreed = |one: &Compared| {
            let [close, scattered, _] = tally(&pairs, one);
            (close + scattered).to_string()
        };
        let cells: Vec<String> = COMPARED.iter().map(agreed).collect();
        let _ = writeln!(text, "| {about} | {} |", cells.join(" | "));
    }
    Ok(text)
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/linux.md");

    #[test]
    fn the_preset_has_as_many_agreements_among_the_changes_as_in_the_list_above_them() {
        let start = |line: &&str, begin: &str| line.starts_with(begin);
        let row = PAGE.lines().find(|line| start(line, "| nothing: the preset")).unwrap();
        let counts: Vec<u64> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        for (one, count) in COMPARED.iter().zip(&counts) {
            let line = PAGE.lines().find(|line| start(line, &format!("* `{}`", one.key))).unwrap();
            let (_, counted) = line.split_once("`: ").unwrap();
            let told: Vec<u64> = counted.split([' ', '.']).filter_map(|word| word.parse().ok()).collect();
            // `39 of 60 within 10 %, or 5 packets; 8 beyond, with overlapping runs; 13 different`
            let [close, _, .., scattered, _] = told[..] else { panic!("{line}") };
            assert_eq!(close + scattered, *count, "{line}");
        }
        assert_eq!(counts.len(), COMPARED.len());
    }

    #[test]
    fn a_queue_that_the_simulator_lacks_is_named_where_its_numbers_are_missing() {
        let lacking = PAGE.lines().filter(|line| line.contains("/ – |"));
        assert!(lacking.clone().all(|line| line.contains("fq-codel with a step")) && lacking.count() > 0);
        assert!(PAGE.contains("*fq-codel with a step* have no number of the simulator (–)"));
    }
}
