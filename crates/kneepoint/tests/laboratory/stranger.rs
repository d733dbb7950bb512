// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A stranger adds one of each kind, in the promised number of files, and the rest of the laboratory finds it.
//!
//! The core is copied below the target directory, the newcomers are added to the copy, and the copy must pass the
//! laws, survive the test network, parse, run and report them. The test is offline, and quick when run again, because
//! unchanged crates are not compiled again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A change of one file.
enum Edit {
    /// A new file: its path and its text.
    Own(&'static str, &'static str),
    /// A line at the end of the registry in a file.
    Line(&'static str, &'static str),
    /// Inserts text below the single line of a file that is `marker`.
    Below { file: &'static str, marker: &'static str, text: &'static str },
}

use Edit::{Below, Line, Own};

impl Edit {
    fn file(&self) -> &'static str {
        match self {
            Own(file, _) | Line(file, _) | Below { file, .. } => file,
        }
    }

    fn make(&self, tree: &mut Tree) {
        if let Own(file, text) = self {
            assert!(tree.insert(file.into(), text.to_string()).is_none(), "{file} exists");
            return;
        }
        let text = tree.get_mut(Path::new(self.file())).unwrap_or_else(|| panic!("no {}", self.file()));
        *text = match self {
            Own(..) => unreachable!("made above"),
            Line(_, line) => registered(text, line),
            Below { marker, text: more, .. } => {
                let marker = format!("\n{marker}\n");
                assert_eq!(text.matches(&marker).count(), 1, "{marker} in {}", self.file());
                text.replace(&marker, &format!("{marker}{more}\n"))
            }
        };
    }
}

/// The first and last lines of a registry's block.
const BLOCKS: [(&str, &str); 2] = [("\n    algorithms {\n", "    }\n"), ("\nverbs! {\n", "}\n")];

/// A file with one line more at the end of its registry: a block, or else the public modules.
fn registered(text: &str, line: &str) -> String {
    let block = BLOCKS.iter().find_map(|(begin, end)| Some((text.find(begin)?, end)));
    let end = match block {
        Some((list, end)) => list + text[list..].find(end).expect("the end of the block"),
        None => {
            let last = text.rfind("\npub mod ").expect("a list of public modules") + 1;
            last + text[last..].find('\n').expect("the end of a line") + 1
        }
    };
    format!("{}{line}\n{}", &text[..end], &text[end..])
}

const GROUP: &str = "crates/kneepoint-sim/src/measure/group.rs";
/// The verbs of the binary.
const VERBS: &str = "kneepoint-cli/src/verbs";
/// The registry of formats.
const FORMATS: &str = "crates/kneepoint/src/report/format/mod.rs";

/// A newcomer with its own file and a line in the registry of its folder.
macro_rules! registers {
    ($kind:literal: $folder:literal, $name:literal, $line:literal) => {
        (
            $kind,
            &[
                Own(
                    concat!("crates/", $folder, "/", $name, ".rs"),
                    include_str!(concat!("stranger/", $name, ".rs.txt")),
                ),
                Line(concat!("crates/", $folder, "/mod.rs"), $line),
            ],
        )
    };
}

/// Newcomers: the kind as the table of `CONTRIBUTING.md` calls it, and all edits that add one.
const NEWCOMERS: [(&str, &[Edit]); 18] = [
    registers!("a controller": "kneepoint-cc/src/cc", "toy", "        toy::Toy,"),
    registers!("a router law": "kneepoint-cc/src/law", "step", "        step::Step,"),
    registers!("a FIFO discipline": "kneepoint-sim/src/queue", "coin", "        coin::Coin,"),
    registers!("a discipline with several queues or push-out": "kneepoint-sim/src/queue", "turns", "        turns::Turns,"),
    registers!("explicit feedback": "kneepoint-sim/src/feedback", "tell", "        tell::Tell,"),
    registers!("a loss model": "kneepoint-sim/src/link/loss", "nth", "        nth::Nth,"),
    registers!("a capacity model": "kneepoint-sim/src/link/capacity", "rest", "        rest::Rest,"),
    registers!("a source of traffic": "kneepoint-sim/src/traffic", "drip", "        drip::Drip,"),
    registers!("a source with a new event and metric": "kneepoint-sim/src/traffic", "sip", "        sip::Sip,"),
    registers!("a rule of adaptive bit rate": "kneepoint-sim/src/traffic/abr", "lowest", "        lowest::Lowest,"),
    registers!("a predictor": "kneepoint/src/predict", "peak", "        peak::Peak,"),
    (
        "a metric",
        &[
            Below { file: GROUP, marker: "    repairs: u64,", text: "    starts: u64," },
            Below {
                file: GROUP,
                marker: "        match event {",
                text: "            Event::Started { .. } => self.starts += 1,",
            },
            Below {
                file: GROUP,
                marker: "pub(super) const METRICS: &[Entry<Group>] = &[",
                text: "    number(\"starts\", \"Transfers begun\", \"begun\", PLAIN, |group: &Group| group.starts as f64),",
            },
        ],
    ),
    registers!("a study": "kneepoint/src/study", "range", "pub mod range;"),
    registers!("a document": "kneepoint/src/report", "note", "pub mod note;"),
    (
        "a format of documents",
        &[
            Own("crates/kneepoint/src/report/format/plain.rs", include_str!("stranger/plain.rs.txt")),
            Line(FORMATS, "pub mod plain;"),
            Below { file: FORMATS, marker: "    markdown::FORMAT,", text: "    plain::FORMAT," },
        ],
    ),
    registers!("a verb": "kneepoint-cli/src/verbs", "echo", "    echo,"),
    // The package asks for the verbs: `a_new_verb_needs_no_line_of_the_package` in `crates/kneepoint-py/tests/test_calls.py` tries one.
    ("a function of Python", &[]),
    ("a published figure", &[Own("experiments/nobody/fig1.toml", include_str!("stranger/figure.toml.txt"))]),
];

/// The promised number of files of each kind, from the table of `CONTRIBUTING.md`.
fn promised(page: &str) -> BTreeMap<&str, usize> {
    let head = "| to add | files to change | files now, counted by `tests/laboratory/stranger.rs` |\n";
    let (_, table) = page.split_once(head).expect("the table of the cost of an addition");
    table
        .lines()
        .skip(1)
        .map_while(|line| {
            let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
            let [kind, _, files] = cells[..] else { panic!("three columns: {line}") };
            Some((kind, files.parse().unwrap_or_else(|_| panic!("a number of files: {line}"))))
        })
        .collect()
}

/// Files by their path in the copy.
type Tree = BTreeMap<PathBuf, String>;

/// Reads a file, or all files of a folder.
fn read(path: &Path, place: &Path, tree: &mut Tree) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a readable folder") {
            let entry = entry.expect("a readable entry");
            read(&entry.path(), &place.join(entry.file_name()), tree);
        }
    } else {
        tree.insert(place.to_path_buf(), fs::read_to_string(path).expect("text"));
    }
}

/// The tests of the copy: the newcomers', and two of ours that need only the core.
const TESTS: &str = include_str!("stranger/main.rs.txt");
const OURS: [&str; 3] = ["common/wire.rs", "laws", "transfers.rs"];

/// Transfers of the newcomer alone: the other controllers have theirs in this binary, and take minutes without optimisation.
fn with_the_newest_alone(text: &str) -> String {
    let ours = "use kneepoint::cc;\n";
    assert!(text.contains(ours), "transfers of every controller");
    text.replace(ours, "use crate::newest as cc;\n")
}

/// The folders of the copy that are written here.
const WRITTEN: [&str; 2] = ["crates", "experiments"];

/// Makes the copy hold exactly these files; unchanged files keep their dates.
fn put(tree: &Tree, home: &Path) {
    let mut there = Tree::new();
    for folder in WRITTEN.iter().filter(|folder| home.join(folder).is_dir()) {
        read(&home.join(folder), Path::new(folder), &mut there);
    }
    for gone in there.keys().filter(|path| !tree.contains_key(*path)) {
        fs::remove_file(home.join(gone)).expect("a file to remove");
    }
    for (path, text) in tree.iter().filter(|(path, text)| there.get(*path) != Some(text)) {
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        fs::write(path, text).expect("a file to write");
    }
}

#[test]
fn each_kind_changes_the_promised_number_of_files() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md"));
    let page = page.expect("a page");
    let counted = NEWCOMERS.map(|(kind, edits)| {
        let files: BTreeSet<&str> = edits.iter().map(Edit::file).collect();
        (kind, files.len())
    });
    let promised = promised(&page);
    assert_eq!(promised, BTreeMap::from(counted));
}

#[test]
fn everything_else_knows_the_newcomers() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tree = Tree::new();
    let ours = OURS.map(|part| format!("tests/laboratory/{part}"));
    for part in ["src", "build"].into_iter().chain(ours.iter().map(String::as_str)) {
        read(&core.join(part), &Path::new("crates/kneepoint").join(part), &mut tree);
    }
    for part in ["kneepoint-cc", "kneepoint-sim", VERBS] {
        read(&core.join("..").join(part), &Path::new("crates").join(part), &mut tree);
    }
    NEWCOMERS.iter().flat_map(|(_, edits)| *edits).for_each(|edit| edit.make(&mut tree));
    // The edits of a verb fit; the binary is left out, because its dependencies would take minutes to compile.
    tree.retain(|path, _| !path.starts_with(Path::new("crates").join(VERBS)));
    for (name, text) in [("main", TESTS), ("seen", include_str!("stranger/seen.rs.txt"))] {
        tree.insert(format!("crates/kneepoint/tests/laboratory/{name}.rs").into(), text.to_string());
    }
    let transfers = tree.get_mut(Path::new("crates/kneepoint/tests/laboratory/transfers.rs"));
    let transfers = transfers.expect("one of ours");
    *transfers = with_the_newest_alone(transfers);
    let manifest = fs::read_to_string(core.join("Cargo.toml")).expect("a manifest");
    let slim = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    tree.insert("crates/kneepoint/Cargo.toml".into(), slim.to_string());

    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stranger");
    put(&tree, &home);
    let workspace = fs::read_to_string(core.join("../../Cargo.toml")).expect("a manifest");
    let members = "members = [\"crates/*\"";
    assert!(workspace.contains(members), "{workspace}");
    let only = workspace
        .lines()
        .map(|line| if line.starts_with(members) { "members = [\"crates/*\"]" } else { line });
    fs::write(home.join("Cargo.toml"), only.collect::<Vec<_>>().join("\n")).expect("a file to write");
    fs::copy(core.join("../../Cargo.lock"), home.join("Cargo.lock")).expect("the workspace's file");
    let run = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--package", "kneepoint", "--test", "laboratory"])
        .current_dir(&home)
        .env("CARGO_TARGET_DIR", home.join("target"))
        .env("KNEE_FUZZ_CASES", "20")
        // Compiling takes longer than running.
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .output()
        .expect("cargo runs");
    let (told, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{told}\n{errors}");
    for test in ["laws::every_algorithm", "transfers::", "seen::the_registries_and_schemes_know_them ... ok"]
    {
        assert!(told.contains(&format!("test {test}")), "{test}: {told}");
    }
}
