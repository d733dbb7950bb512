// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order of the house: rooms import upwards only, no file is forgotten, algorithms are not named elsewhere, and the
//! prose is plain.

mod circles;
mod names;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Longest file, in lines.
const LONGEST: usize = 450;

/// Crates in `Cargo.lock`, ours among them.
const CRATES: usize = 341;

/// Banned in the library: clocks, entropy, I/O, and leftovers.
const BANNED: [&str; 13] = [
    "todo!",
    "unimplemented!",
    "dbg!",
    "println!",
    "eprintln!",
    "HashMap",
    "HashSet",
    "std::time",
    "std::fs",
    "std::env",
    "std::thread",
    "std::net",
    "std::process",
];

/// Folders with a registry.
const FAMILIES: [&str; 12] = [
    "law",
    "cc",
    "queue",
    "feedback",
    "link/loss",
    "link/capacity",
    "traffic",
    "traffic/abr",
    "traffic/rtp",
    "scenario/topology",
    "predict",
    "fluid",
];

/// A source file of the library or of the crate of controllers.
#[derive(Clone)]
struct Source {
    /// Its path below `src`, with slashes.
    path: String,
    text: String,
}

impl Source {
    /// The first part of the path: `cc`, `units`.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Its lines of code with their numbers, without comments and tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.text.find("\n#[cfg(test)]\n").filter(|&at| {
            let after = self.text[at..].lines().nth(2).unwrap_or_default();
            after.ends_with("mod tests {")
        });
        let end = if self.path.ends_with("/tests.rs") { 0 } else { tests.unwrap_or(self.text.len()) };
        let lines = self.text[..end].lines().enumerate();
        lines
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
            .map(|(number, line)| (number + 1, line))
    }
}

/// The `.rs` files below `part`, a folder relative to this crate.
fn sources_of(part: &str) -> Vec<Source> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(part);
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| Source {
        path: path.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/"),
        text: std::fs::read_to_string(&path).expect("text"),
    };
    paths.into_iter().map(read).collect()
}

/// The library with the engine and the controllers under it, as one tree. Its root has the table of the engine, and then its own.
fn sources() -> Vec<Source> {
    let below = ["../kneepoint-cc/src", "../kneepoint-sim/src", "src"].map(sources_of);
    let (roots, mut all): (Vec<_>, Vec<_>) =
        below.into_iter().flatten().partition(|source| source.path == "lib.rs");
    let text = roots[1..].iter().map(|root| root.text.as_str()).collect();
    all.push(Source { path: "lib.rs".into(), text });
    all
}

/// The rooms in the order of the table in `lib.rs` or `main.rs`.
fn rooms(sources: &[Source]) -> Vec<String> {
    let root = |source: &&Source| ["lib.rs", "main.rs"].contains(&source.path.as_str());
    let lib = sources.iter().find(root).expect("a root");
    let rows = lib.text.lines().filter_map(|line| line.strip_prefix("//! | [`")?.split_once("`]"));
    rows.map(|(room, _)| room.to_string()).collect()
}

/// The words after `mark` in `line`: `crate::` in `crate::{cc, queue::Limit}` is followed by `cc` and `queue`.
fn named_after<'a>(line: &'a str, mark: &str) -> Vec<&'a str> {
    let word =
        |text: &'a str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    let mut words = Vec::new();
    for (at, _) in line.match_indices(mark) {
        let inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let rest = &line[at + mark.len()..];
        match rest.strip_prefix('{') {
            _ if inside => {}
            Some(group) => words
                .extend(group.split('}').next().unwrap_or_default().split(',').map(|one| word(one.trim()))),
            None => words.push(word(rest)),
        }
    }
    words
}

fn report(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Imports that do not follow the order of the table of rooms.
fn imports_from_below(sources: &[Source]) -> Vec<String> {
    let rooms = rooms(sources);
    assert!(rooms.len() >= 12, "the table of rooms: {rooms:?}");
    let place = |room: &str| rooms.iter().position(|one| one == room);
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !["lib", "main"].contains(&source.room())) {
        let Some(own) = place(source.room()) else {
            faults.push(format!("{}: its room is not in the table", source.path));
            continue;
        };
        for (number, line) in source.code() {
            for other in named_after(line, "crate::") {
                // Macros are exported at the root; they belong to the settings.
                let other = if ["settings", "choice", "registry", "external"].contains(&other) {
                    "settings"
                } else {
                    other
                };
                match place(other) {
                    Some(other) if other <= own => {}
                    Some(_) => faults.push(format!("{}:{number}: {} is below it", source.path, other)),
                    None => faults.push(format!("{}:{number}: no room is called `{other}`", source.path)),
                }
            }
        }
    }
    faults
}

#[test]
fn a_room_imports_only_from_rooms_above_it() {
    report(imports_from_below(&sources()));
}

#[test]
fn the_modules_of_the_bench_and_of_the_binary_import_in_one_direction() {
    report(imports_from_below(&sources_of("../kneepoint-bench/src")));
    report(imports_from_below(&sources_of("../kneepoint-cli/src")));
}

/// Several calls work in one process at the same time: the state of a call is in its session.
#[test]
fn no_static_of_the_bench_or_of_the_binary_holds_a_call() {
    let mut faults = Vec::new();
    for part in ["kneepoint-bench", "kneepoint-cli"] {
        for source in sources_of(&format!("../{part}/src")) {
            let holds = |line: &str| {
                let line = line.trim_start().trim_start_matches("pub").trim_start_matches("(crate)");
                line.trim_start().starts_with("static ") || line.contains("thread_local!")
            };
            for (number, line) in source.code().filter(|(_, line)| holds(line)) {
                faults.push(format!("{part}/{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    report(faults);
}

/// The bench serves callers without a command line, and without a terminal.
#[test]
fn the_bench_knows_neither_arguments_nor_a_terminal() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kneepoint-bench/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("text");
    for absent in ["clap", "indicatif", "anstream", "annotate-snippets", "signal-hook", "termios"] {
        assert!(!manifest.contains(absent), "{absent}");
    }
    let printing = ["std::io::stdin", "std::io::stdout", "std::io::stderr", "env::args"];
    let mut faults = Vec::new();
    for source in sources_of("../kneepoint-bench/src") {
        for (number, line) in source.code().filter(|(_, line)| printing.iter().any(|one| line.contains(one)))
        {
            faults.push(format!("{}:{number}: {}", source.path, line.trim()));
        }
    }
    report(faults);
}

#[test]
fn every_room_is_in_the_table_and_every_row_is_a_room() {
    let sources = sources();
    let there: BTreeSet<_> =
        sources.iter().map(|source| source.room().to_string()).filter(|room| room != "lib").collect();
    assert_eq!(there, rooms(&sources).into_iter().collect());
}

/// The crate of controllers runs where there is no standard library, and asks for little else.
#[test]
fn the_controllers_need_no_standard_library_and_three_dependencies() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kneepoint-cc");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("text");
    assert!(read("src/lib.rs").contains("\n#![no_std]\n"));
    let manifest = read("Cargo.toml");
    let dependencies = manifest.split("dependencies]").nth(1).expect("a table of dependencies");
    let named: BTreeSet<_> = dependencies.lines().filter_map(|line| line.split_once(['=', '.'])).collect();
    let named: Vec<_> = named.into_iter().map(|(name, _)| name.trim()).collect();
    assert_eq!(
        named,
        ["libm", "rand_core", "rand_xoshiro"],
        "other dependencies may need what a kernel lacks"
    );
    assert_eq!(manifest.matches("dependencies]").count(), 1, "{manifest}");
    let mut faults = Vec::new();
    for source in sources_of("../kneepoint-cc/src") {
        for (number, line) in source.code().filter(|(_, line)| !named_after(line, "std::").is_empty()) {
            faults.push(format!(
                "kneepoint-cc/{}:{number}: core:: or alloc::, not {}",
                source.path,
                line.trim()
            ));
        }
    }
    report(faults);
}

/// Everybody who builds compiles them. The lock also has crates of other systems and of disabled features.
#[test]
fn the_number_of_crates_is_the_one_that_was_thought_about() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let crates = std::fs::read_to_string(lock).expect("a lock").matches("[[package]]\n").count();
    assert_eq!(
        crates, CRATES,
        "Cargo.lock has another number of crates. Fewer: lower CRATES. More: think first. `cargo tree -i NAME` says what \
         asks for one; perhaps a feature can be left out, or some lines of ours do. If not, raise CRATES, with the reason in the commit."
    );
}

/// The modules in the registry of a family.
fn registered(sources: &[Source], family: &str) -> BTreeSet<String> {
    let path = format!("{family}/mod.rs");
    let text = &sources.iter().find(|source| source.path == path).expect("a family").text;
    let list = text.split("algorithms {").nth(1).and_then(|rest| rest.split('}').next()).expect("a registry");
    list.lines()
        .filter_map(|line| line.trim().split_once("::"))
        .map(|(module, _)| module.to_string())
        .collect()
}

#[test]
fn every_file_is_part_of_the_crate() {
    let sources = sources();
    let mut children: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in &sources {
        let stem = source.path.trim_end_matches(".rs");
        let folder = stem.strip_suffix("/mod").unwrap_or(if stem == "lib" { "" } else { stem });
        let declared = source.text.lines().filter_map(|line| {
            let line = line.trim_start().trim_start_matches("pub").trim_start_matches("(crate)");
            let line = line.trim_start_matches("(super)").trim_start();
            line.strip_prefix("mod ")?.strip_suffix(';')
        });
        children.entry(folder.to_string()).or_default().extend(declared.map(str::to_string));
    }
    let controllers = ["cc", "law", "rng", "settings", "units"].map(String::from);
    children.entry(String::new()).or_default().extend(controllers);
    for family in FAMILIES {
        children.entry(family.to_string()).or_default().extend(registered(&sources, family));
    }
    let orphan = |source: &&Source| {
        let stem = source.path.trim_end_matches(".rs");
        let module = stem.strip_suffix("/mod").unwrap_or(stem);
        let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
        module != "lib" && !children.get(folder).is_some_and(|declared| declared.contains(name))
    };
    report(
        sources.iter().filter(orphan).map(|source| format!("{} belongs to nothing", source.path)).collect(),
    );
}

#[test]
fn every_algorithm_is_registered() {
    let sources = sources();
    let mut faults = Vec::new();
    let red = "the response of PERT itself, which no other entry has";
    let unnamed = BTreeMap::from([("response/red", red)]);
    let families = [
        ("law", &["Law for "][..]),
        ("cc", &["Controller for ", "Response for ", "Variant for "][..]),
        ("queue", &["Discipline for "]),
        ("feedback", &["Feedback for "]),
        ("link/loss", &["Loss for "]),
        ("link/capacity", &["Capacity for "]),
        ("scenario/topology", &["Topology for "]),
        ("predict", &["Predictor for "]),
        ("fluid", &["Model for "]),
        ("traffic", &["Source for "]),
        ("traffic/abr", &["Rule for "]),
        ("traffic/rtp", &["Control for "]),
    ];
    for (family, contracts) in families {
        let registered = registered(&sources, family);
        for source in &sources {
            let Some(module) = source.path.strip_prefix(family).and_then(|path| path.strip_prefix('/'))
            else {
                continue;
            };
            let module = module.trim_end_matches(".rs");
            if unnamed.contains_key(module) {
                continue;
            }
            let implements = |line: &str| {
                line.starts_with("impl") && contracts.iter().any(|contract| line.contains(contract))
            };
            let algorithm = source.code().any(|(_, line)| implements(line));
            if algorithm != registered.contains(module) {
                faults.push(format!("{}: implements {algorithm}, registered {}", source.path, !algorithm));
            }
        }
    }
    report(faults);
}

#[test]
fn every_file_says_what_it_is_and_is_short_enough_to_read() {
    let mut faults = Vec::new();
    for Source { path, text } in sources() {
        let mut lines = text.lines();
        if lines.next() != Some("// SPDX-License-Identifier: Apache-2.0 OR MIT") {
            faults.push(format!("{path}: the first line names the licence"));
        }
        if !lines.next().is_some_and(|line| line.starts_with("//! ")) {
            faults.push(format!("{path}: the second line says what the file is"));
        }
        let length = text.lines().count();
        if length > LONGEST {
            faults.push(format!("{path}: {length} lines, and {LONGEST} are enough"));
        }
        for name in ["util", "helper", "manager", "misc"] {
            if path.contains(name) {
                faults.push(format!("{path}: `{name}` says nothing"));
            }
        }
    }
    report(faults);
}

#[test]
fn the_core_has_no_clock_no_entropy_and_no_io() {
    let mut faults = Vec::new();
    for source in sources() {
        for (number, line) in source.code() {
            for banned in BANNED.iter().filter(|banned| line.contains(**banned)) {
                faults.push(format!("{}:{number}: {banned}", source.path));
            }
        }
    }
    report(faults);
}
