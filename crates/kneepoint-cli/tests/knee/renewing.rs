// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A directory with a report has the files of one study, whenever the next one is killed, and nothing is written through links.
//!
//! `KNEE_TORTURE_KILLS=500` kills that many instead of a few.

#![allow(clippy::disallowed_methods, reason = "a kill comes at some moment of a run")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::damaging::{Chance, count};
use super::*;

/// A small study; each scheme's study has its own files.
fn words(scheme: &str) -> Vec<String> {
    let common = "--rate 1mbit --flows 1 --duration 3s --seeds 2 --sample 100ms --store runs --out o";
    ["compare", scheme].into_iter().chain(common.split(' ')).map(str::to_string).collect()
}

fn study(here: &Path, scheme: &str) -> Output {
    knee(here, &words(scheme).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Every file of the report with its content.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for name in names(&directory.join(&folder)) {
            let path = folder.join(&name);
            if directory.join(&path).is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(directory.join(path)).unwrap());
            }
        }
    }
    // The mark, and unfinished files.
    found.retain(|path, _| !path.to_string_lossy().starts_with(".kneepoint"));
    found
}

/// The study to which a file with this name and content belongs; nothing if to both.
fn whose(path: &Path, content: &[u8]) -> Option<&'static str> {
    let text = format!("{} {}", path.display(), String::from_utf8_lossy(content));
    match ["reno", "vegas"].map(|scheme| text.contains(scheme)) {
        [true, false] => Some("reno"),
        [false, true] => Some("vegas"),
        _ => None,
    }
}

/// Renews a directory repeatedly until killed; `judge` inspects its files after each kill.
fn kill(here: &Path, kills: usize, mut judge: impl FnMut(&BTreeMap<PathBuf, Vec<u8>>)) -> usize {
    let began = Instant::now();
    assert!(study(here, "reno").status.success());
    let usual = began.elapsed();
    let (mut chance, mut hit) = (Chance(33), 0);
    for round in 0..kills {
        let scheme = ["vegas", "reno"][round % 2];
        let words = words(scheme);
        let mut command = command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let child = command.current_dir(here).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("knee starts");
        std::thread::sleep(usual.mul_f64(chance.below(1100) as f64 / 1000.0).min(Duration::from_secs(10)));
        hit += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        judge(&files(&here.join("o")));
    }
    assert!(study(here, "vegas").status.success(), "whatever was left");
    hit
}

#[test]
fn a_directory_that_is_renewed_has_all_files_of_one_study_whenever_it_is_killed() {
    let here = tempfile::tempdir().unwrap();
    let whole = ["reno", "vegas"].map(|scheme| {
        let output = study(here.path(), scheme);
        assert!(output.status.success(), "{}", stderr(&output));
        files(&here.path().join("o"))
    });
    let of = |scheme: &str| &whole[usize::from(scheme == "vegas")];
    for scheme in ["reno", "vegas"] {
        // Some belong to no scheme, such as the style of a page.
        assert!(of(scheme).iter().filter(|(path, content)| whose(path, content) == Some(scheme)).count() > 8);
    }
    let hit = kill(here.path(), count("KNEE_TORTURE_KILLS", 20), |found| {
        let summary: Value = serde_json::from_slice(&found[Path::new("summary.json")]).expect("whole");
        let scheme = summary["schemes"][0]["scheme"].as_str().unwrap();
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(found), names(of(scheme)));
        for (path, content) in found {
            assert_eq!(whose(path, content), whose(path, &of(scheme)[path]), "{}", path.display());
        }
    });
    assert!(hit > 0, "every study had ended before it was killed");
    let left = names(here.path());
    assert_eq!(left, ["o", "runs"], "nothing is left beside it");
    assert!(names(&here.path().join("o")).iter().all(|name| !name.starts_with(".kneepoint-")));
    assert!(names(&here.path().join("runs")).iter().all(|name| !name.starts_with('.')));
}

#[test]
fn a_directory_with_notes_keeps_them_and_never_has_files_of_two_studies() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), "reno");
    fs::write(here.path().join("o/notes.md"), "mine").unwrap();
    fs::create_dir(here.path().join("o/figures/mine")).unwrap();
    fs::write(here.path().join("o/figures/mine/a.svg"), "mine").unwrap();
    kill(here.path(), count("KNEE_TORTURE_KILLS", 10), |found| {
        let (mine, ours): (Vec<_>, Vec<_>) = found.iter().partition(|(_, content)| *content == b"mine");
        assert_eq!(mine.len(), 2);
        let mut owners: Vec<_> =
            ours.into_iter().filter_map(|(path, content)| whose(path, content)).collect();
        owners.sort_unstable();
        owners.dedup();
        assert!(owners.len() <= 1, "{owners:?}");
    });
    let found = files(&here.path().join("o"));
    assert!(found.iter().all(|(path, content)| whose(path, content) != Some("reno")));
    assert!(found.contains_key(Path::new("notes.md")) && found.contains_key(Path::new("figures/mine/a.svg")));
}

#[test]
fn a_report_into_the_directory_in_which_one_stands_replaces_its_files() {
    let here = tempfile::tempdir().unwrap();
    for scheme in ["reno", "vegas"] {
        let mut words = words(scheme);
        *words.last_mut().unwrap() = ".".into();
        let output = knee(here.path(), &words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("report: ./report.html"), "{}", stderr(&output));
        assert_eq!(names(&here.path().join("scenarios")), [format!("{scheme}.toml")]);
    }
}

/// Verbs that write a directory soon.
const VERBS: [&[&str]; 4] = [
    &["compare", "reno", "--rate", "1mbit", "--flows", "1", "--duration", "3s", "--seeds", "1"],
    &[
        "coexist",
        "reno",
        "vegas",
        "--rate",
        "1mbit",
        "--flows",
        "2",
        "--duration",
        "3s",
        "--seeds",
        "1",
        "--buffers",
        "1bdp",
    ],
    &["fluid", "run", "pert", "--end", "1s"],
    &["fluid", "stability", "pert", "--x", "rtt=50ms..300ms:3", "--y", "delta=1us..1s:3:log"],
];

#[test]
fn no_verb_writes_through_a_link_in_its_directory() {
    for verb in VERBS {
        let here = tempfile::tempdir().unwrap();
        let (thesis, out) = (here.path().join("thesis.tex"), here.path().join("o"));
        fs::write(&thesis, "three years").unwrap();
        fs::create_dir(here.path().join("there")).unwrap();
        let words = [verb, &["--out", "o"]].concat();
        let refused = |what: &str| {
            assert_refuses(&knee(here.path(), &words), 1, &["o"]);
            assert_eq!(fs::read_to_string(&thesis).unwrap(), "three years", "{words:?}: {what}");
            assert!(names(&here.path().join("there")).is_empty(), "{words:?}: {what}");
        };
        for name in [".kneepoint", "report.html", "figures"] {
            fs::create_dir(&out).unwrap();
            symlink(if name == "figures" { "../there" } else { "../thesis.tex" }, out.join(name)).unwrap();
            refused(name);
            fs::remove_dir_all(&out).unwrap();
        }
        let output = knee(here.path(), &words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        for name in names(&out) {
            let (path, kept) = (out.join(&name), here.path().join("kept"));
            fs::rename(&path, &kept).unwrap();
            symlink(if kept.is_dir() { "../there" } else { "../thesis.tex" }, &path).unwrap();
            refused(&name);
            fs::remove_file(&path).unwrap();
            fs::rename(&kept, &path).unwrap();
        }
        let again = knee(here.path(), &words);
        assert!(again.status.success(), "{words:?}: {}", stderr(&again));
    }
}
