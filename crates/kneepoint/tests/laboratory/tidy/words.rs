// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Words: phrases that read as translated, and the plain term for each.

use std::path::{Path, PathBuf};

/// Refused everywhere: in sources, comments, messages and pages.
const PHRASES: [(&str, &str); 31] = [
    ("by who ", "name the noun"),
    ("for who ", "name the noun"),
    ("what is no ", "invalid …"),
    ("who got what", "throughput shares"),
    ("stretch of time", "interval"),
    ("stretches of", "intervals"),
    ("unit and all", "with its unit"),
    ("comes by", "arrives"),
    ("come to rest", "reach equilibrium"),
    ("/ what waits", "the queue, the backlog"),
    ("whoever", "name the noun: a user who, a process that"),
    ("what it has ", "name the noun"),
    ("lets go", "permits, releases, sends"),
    ("goes round", "name the path"),
    ("sent again", "retransmitted"),
    ("what became of", "the outcome, the fate"),
    ("what becomes of", "the outcome, the fate"),
    ("what came of", "the outcome"),
    ("what there is to", "name the noun"),
    ("what is left of", "the rest, leftovers"),
    ("what is wrong with", "the fault of"),
    ("for whichever ", "forwarded to the variant"),
    ("takes the place of", "replaces"),
    ("take the place of", "replace"),
    ("in the place of", "instead of"),
    ("told apart from chance", "distinguishable from chance"),
    ("for want of", "for lack of"),
    ("is told of", "receives"),
    ("are told of", "receive"),
    ("something else than", "something other than"),
    ("receiver's room", "receive window"),
];

/// Refused in [`PLAIN`], which machines that hear and tell, pronouns for nouns and *beside* for a comparison have left.
const TICS: [(&str, &str); 16] = [
    ("those of ", "repeat the noun"),
    ("that of the other", "repeat the noun"),
    (" is told ", "receives"),
    (" are told ", "receive"),
    (" is told,", "receives"),
    (" are told.", "receive it"),
    (" hears ", "receives, notices"),
    (" heard ", "received, noticed"),
    ("beside that ", "compared with"),
    ("beside the kernel", "compared with the kernel"),
    ("beside ns-2", "compared with ns-2"),
    ("beside each other", "compare them; or on a shared link"),
    ("beside it.", "next to it"),
    ("sets it beside", "compares it with"),
    ("number beside", "number next to"),
    ("tell the rate", "measure the rate, announce the rate"),
];

/// Files that have been cleaned. The list may only grow.
const PLAIN: [&str; 36] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "DESIGN.md",
    "SECURITY.md",
    "docs/README.md",
    "docs/SUMMARY.md",
    "docs/adaptive-pert.md",
    "docs/algorithms.md",
    "docs/charts.md",
    "docs/drill.md",
    "docs/emulator.md",
    "docs/explanation",
    "docs/figures.md",
    "docs/gate.md",
    "docs/hunt.md",
    "docs/live.md",
    "docs/precision.md",
    "docs/python.md",
    "docs/test-plan.md",
    "docs/files.md",
    "docs/glossary.md",
    "docs/install.md",
    "docs/kernel.md",
    "docs/memory.md",
    "docs/paths.md",
    "docs/quic.md",
    "docs/reading-a-report.md",
    "docs/recipes.md",
    "docs/studio.md",
    "docs/tour.md",
    "docs/troubleshooting.md",
    "docs/tutorials",
    "docs/web.md",
    "examples",
];

/// Endings of files with words of ours.
const ENDINGS: [&str; 12] = ["rs", "py", "pyi", "c", "h", "md", "sh", "ts", "js", "css", "html", "toml"];

/// Folders of recorded, generated or fetched files.
const OTHERS: [&str; 6] = ["target", "node_modules", "corpus", "figures", "img", "data"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The texts below a folder or at a file, by their paths below the root.
fn texts(part: &str) -> Vec<(String, String)> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !OTHERS.contains(&name.as_str()) && !name.starts_with('.') {
            let entries =
                std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
            entries.for_each(|one| walk(&one, found));
        } else if path.is_file() && path.extension().is_some_and(|end| ENDINGS.iter().any(|one| end == *one))
        {
            found.push(path.to_path_buf());
        }
    }
    let mut found = Vec::new();
    walk(&root().join(part), &mut found);
    found.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("within").to_string_lossy().replace('\\', "/");
        (name, std::fs::read_to_string(&path).expect("text"))
    };
    found.into_iter().map(read).collect()
}

/// The places of these phrases.
fn faults(texts: &[(String, String)], phrases: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in texts.iter().filter(|(name, _)| !name.ends_with("tidy/words.rs")) {
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            for (phrase, rather) in phrases.iter().filter(|(phrase, _)| line.contains(phrase)) {
                found.push(format!("{name}:{}: `{phrase}`: rather {rather}", number + 1));
            }
        }
    }
    found
}

#[test]
fn the_prose_avoids_phrases_that_read_as_translated() {
    let parts =
        ["crates", "bpf", "docs", "examples", "scripts", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    let mut all: Vec<(String, String)> = parts.iter().flat_map(|part| texts(part)).collect();
    all.extend(["CHANGELOG.md", "SECURITY.md", "DESIGN.md"].iter().flat_map(|part| texts(part)));
    assert!(all.len() > 800, "{} texts", all.len());
    let mut found = faults(&all, &PHRASES);
    for (name, text) in all.iter().filter(|(name, _)| name.ends_with(".rs")) {
        let comments = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("//"));
        let wrong = comments.filter(|(_, line)| line.to_lowercase().contains("not a number"));
        found.extend(wrong.map(|(number, _)| format!("{name}:{}: `not a number`: rather NaN", number + 1)));
    }
    super::report(
        found
            .into_iter()
            .filter(|fault| !fault.starts_with("crates/kneepoint/tests/laboratory/tidy"))
            .collect(),
    );
}

#[test]
fn pages_that_were_cleaned_stay_plain() {
    let plain: Vec<(String, String)> = PLAIN.iter().flat_map(|part| texts(part)).collect();
    assert!(plain.len() > 40, "{} texts", plain.len());
    super::report(faults(&plain, &TICS));
}
