// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The pages of the repository: links resolve, the front page is short and quotes numbers of the pages that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Longest front page, in lines.
const LONGEST: usize = 90;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages by their path below the root.
fn pages() -> BTreeMap<String, String> {
    fn walk(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match path.is_dir() {
                true if deep => walk(&path, deep, found),
                false if path.extension().is_some_and(|end| end == "md") => found.push(path),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), false, &mut found);
    walk(&root().join("docs"), true, &mut found);
    walk(&root().join("validation"), false, &mut found);
    let name =
        |path: &PathBuf| path.strip_prefix(root()).expect("within").to_string_lossy().replace('\\', "/");
    found.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("a page"))).collect()
}

/// The lines of a page outside of blocks of code.
fn prose(page: &str) -> String {
    let mut code = false;
    let kept = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// The anchor of a heading.
fn slug(heading: &str) -> String {
    // A link in a heading counts by its text.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once("](") {
        text += before;
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    text += rest;
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The names of the headings of a page; the second of one name has `-1` at its end.
fn marks(page: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let text = prose(page);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let named = headings.map(|line| {
        let name = slug(line.trim_start_matches('#'));
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
    });
    let mut all: BTreeSet<String> = named.collect();
    all.extend(text.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_string));
    all
}

/// The addresses of the links and pictures of a page.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let address = |rest: &str| rest.split([')', ' ']).next().unwrap_or_default().to_string();
    text.split("](").skip(1).map(address).filter(|link| !link.contains("://")).collect()
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let pages = pages();
    let marks: BTreeMap<&String, BTreeSet<String>> =
        pages.iter().map(|(name, page)| (name, marks(page))).collect();
    let (mut faults, mut count) = (Vec::new(), 0);
    for (name, page) in &pages {
        let folder = Path::new(name).parent().expect("a folder");
        for link in links(page) {
            count += 1;
            let (file, mark) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { PathBuf::from(name) } else { folder.join(file) };
            // `tutorials/../figures` is `figures`.
            let mut parts: Vec<String> = Vec::new();
            for part in path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()) {
                if part == ".." { _ = parts.pop() } else { parts.push(part) }
            }
            let there = parts.join("/");
            if !root().join(&there).exists() {
                faults.push(format!("{name}: {link} leads nowhere"));
            } else if let Some(known) = marks.get(&there).filter(|_| !mark.is_empty())
                && !known.contains(mark)
            {
                faults.push(format!("{name}: {link}: {there} has no such heading"));
            }
        }
    }
    assert!(count > 500, "{count} links");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_is_a_chapter_of_the_book() {
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md")).expect("a summary");
    let chapters: BTreeSet<String> = links(&summary).into_iter().collect();
    let lacking = pages().into_keys().filter_map(|name| name.strip_prefix("docs/").map(str::to_string));
    let lacking: Vec<String> =
        lacking.filter(|name| name != "SUMMARY.md" && !chapters.contains(name)).collect();
    assert!(lacking.is_empty(), "docs/SUMMARY.md lacks {lacking:?}");
}

#[test]
fn the_front_page_is_short_and_quotes_the_pages_that_it_names() {
    let pages = pages();
    let front = &pages["README.md"];
    assert!(front.lines().count() <= LONGEST, "{} lines", front.lines().count());
    let trust = front.split("## Why it can be trusted").nth(1).and_then(|rest| rest.split("\n## ").next());
    let points: Vec<&str> = trust.expect("a section").split("\n* ").skip(1).collect();
    let mut quoted = 0;
    for point in points {
        let Some(page) = links(point).first().and_then(|link| pages.get(link)) else { continue };
        let numbers = point.split("**").skip(3).step_by(2).filter(|part| part.contains(char::is_numeric));
        for number in numbers {
            quoted += 1;
            assert!(
                page.contains(number),
                "the page does not say `{number}`, as the front page does: {point}"
            );
        }
    }
    assert!(quoted >= 6, "{quoted} numbers");
}

#[test]
fn the_page_on_claims_has_the_grammar_of_their_reader() {
    let source = include_str!("../../src/experiment/expression/mod.rs");
    let grammar =
        source.split("```text\n").nth(1).and_then(|rest| rest.split("//! ```").next()).expect("a grammar");
    let page = &pages()["docs/reference/claims.md"];
    for line in grammar.lines().map(|line| line.trim_start_matches("//!").trim_start_matches(' ')) {
        assert!(page.contains(line), "docs/reference/claims.md lacks: {line}");
    }
}

#[test]
fn the_tutorial_on_controllers_shows_lines_of_the_example() {
    let read = |name: &str| {
        let path = root().join("examples/my-algorithms/src").join(name);
        std::fs::read_to_string(path).expect("a source")
    };
    let sources = ["budget.rs", "lib.rs", "main.rs"].map(read).concat();
    let page = &pages()["docs/tutorials/your-controller.md"];
    let shown = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), 4);
    for lines in shown {
        assert!(sources.contains(lines), "the example has other lines than\n{lines}");
    }
}

#[test]
fn pages_and_the_container_name_the_version_of_the_workspace() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("a file");
    let manifest = read("Cargo.toml");
    let version =
        manifest.split("\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a version");
    for (name, said) in [
        ("README.md", format!("knee-{version}-")),
        ("docs/install.md", format!("knee_{version}_amd64.deb")),
        ("Containerfile", format!("ARG VERSION={version}\n")),
        ("CITATION.cff", format!("version: {version}\n")),
        ("CHANGELOG.md", format!("## {version}\n")),
    ] {
        assert!(read(name).contains(&said), "{name} lacks {said:?}");
    }
}
