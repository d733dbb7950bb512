// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Inputs of a kept run: one fingerprint of the engine, one of the code that only computations use, and one of each
//! algorithm.
//!
//! ```text
//! engine      every file that determines rows, but for the files below and the lines of registries
//! computed    the rooms that only computations use
//! algorithm   its file, its folder, its line of the registry, and every file of a family that it reaches and the
//!             engine does not
//! ```
//!
//! A new controller therefore changes no other fingerprint, and a change of a helper changes its users' fingerprints.
//! A family is a folder whose `mod.rs` has a block `algorithms { … }`.

use std::collections::{BTreeMap, BTreeSet};

use super::hash;
use super::sources::{Sources, module, referred};

/// Rooms that only read rows, make specs or try algorithms, except for their files that make rows.
const READERS: [&str; 7] = ["laws", "capture", "scenario", "experiment", "study", "chart", "report"];
const MAKERS: [&str; 3] = ["study/work.rs", "study/watch.rs", "study/compute.rs"];
/// Rooms that only computations use: no simulation depends on them.
const COMPUTED: [&str; 1] = ["markov"];

/// The fingerprints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prints {
    pub engine: String,
    /// Fingerprint of the rooms that only computations use.
    pub computed: String,
    /// By family and name.
    pub algorithms: BTreeMap<(String, String), String>,
}

/// An algorithm as its registry lists it.
struct Entry<'a> {
    family: &'a str,
    name: String,
    /// `reno::Reno`
    line: &'a str,
    /// The place of its file: `cc/reno`, without the ending.
    stem: String,
}

/// The fingerprints of these sources with these libraries.
pub fn of(sources: &Sources, libraries: &[String]) -> Prints {
    let makes = |path: &str| {
        let room = module(path)[0];
        !(READERS.contains(&room) || COMPUTED.contains(&room)) || MAKERS.contains(&path)
    };
    let makers: Sources =
        sources.iter().filter(|(path, _)| makes(path)).map(|(p, c)| (p.clone(), c.clone())).collect();
    let entries: Vec<Entry> = makers.iter().flat_map(|(path, code)| registered(path, code)).collect();
    let families: BTreeSet<&str> = entries.iter().map(|entry| entry.family).collect();
    let code: Sources = makers.iter().map(|(path, code)| (path.clone(), without_registry(code))).collect();
    // A family's members stay out of the engine unless something outside reaches them.
    let is_member = |path: &str| {
        families.iter().any(|family| {
            path.strip_prefix(family)
                .and_then(|rest| rest.strip_prefix('/'))
                .is_some_and(|rest| rest != "mod.rs")
        })
    };
    let mut engine = closure(&code, code.keys().filter(|path| !is_member(path)).cloned());
    let reached: Vec<BTreeSet<String>> = entries
        .iter()
        .map(|entry| {
            let folder = format!("{}/", entry.stem);
            let own = |path: &&String| **path == format!("{}.rs", entry.stem) || path.starts_with(&folder);
            closure(&code, code.keys().filter(own).cloned())
        })
        .collect();
    let used: BTreeSet<&String> = reached.iter().flatten().collect();
    let unused: Vec<String> = code.keys().filter(|path| !used.contains(path)).cloned().collect();
    engine.extend(unused);
    let texts = |files: &BTreeSet<String>| -> Vec<String> {
        files.iter().flat_map(|path| [path.clone(), code[path].clone()]).collect()
    };
    let of_engine: Vec<String> = texts(&engine).into_iter().chain(libraries.iter().cloned()).collect();
    let algorithms = entries.iter().zip(&reached).map(|(entry, files)| {
        let files = files.difference(&engine).cloned().collect();
        let texts = texts(&files);
        let print = hash::of(std::iter::once(entry.line).chain(texts.iter().map(String::as_str)));
        ((entry.family.to_string(), entry.name.clone()), print)
    });
    let computed = sources.iter().filter(|(path, _)| COMPUTED.contains(&module(path)[0]));
    Prints {
        engine: hash::of(of_engine.iter().map(String::as_str)),
        computed: hash::of(computed.flat_map(|(path, text)| [path.as_str(), text.as_str()])),
        algorithms: algorithms.collect(),
    }
}

/// These files and all that they refer to, directly or not.
fn closure(code: &Sources, from: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut pending: Vec<String> = from.collect();
    let mut met = BTreeSet::new();
    while let Some(path) = pending.pop() {
        if met.insert(path.clone()) {
            pending.extend(referred(code, &path));
        }
    }
    met
}

const BEGIN: &str = "algorithms {";

/// The algorithms that the registry in a file lists.
fn registered<'a>(path: &'a str, code: &'a str) -> Vec<Entry<'a>> {
    let Some(family) = path.strip_suffix("/mod.rs") else { return Vec::new() };
    let lines = code.lines().map(str::trim).skip_while(|line| *line != BEGIN).skip(1);
    let entry = |line: &'a str| {
        let line = line.trim_end_matches(',');
        let (module, kind) = line.split_once("::")?;
        let alias = kind.split('"').nth(1);
        let name = alias.unwrap_or(module).to_string();
        Some(Entry { family, name, line, stem: format!("{family}/{module}") })
    };
    lines.take_while(|line| *line != "}").filter_map(entry).collect()
}

/// Code without the lines of its registry.
fn without_registry(code: &str) -> String {
    let mut inside = false;
    let keep = |line: &&str| {
        let was = inside;
        inside = if was { line.trim() != "}" } else { line.trim() == BEGIN };
        !was
    };
    code.lines().filter(keep).flat_map(|line| [line, "\n"]).collect()
}
