// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files of a room import one another in one direction.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, named_after, report, rooms, sources};

/// Rooms in which files still import one another in circles.
const CIRCULAR: [&str; 4] = ["experiment", "spec", "study", "tcp"];

/// The files that each file imports, by their names without the ending.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The code of a file on one line, so that an import of several lines is read as one.
fn joined(source: &Source) -> String {
    source.code().map(|(_, line)| line.trim()).collect::<Vec<_>>().join(" ")
}

/// The names that the root of a room exports, with the files that they are from.
fn exported(root: &str) -> BTreeMap<String, String> {
    let statements =
        root.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next()?.split_once("::"));
    let each = statements.flat_map(|(file, names)| {
        let names = names.trim_matches(['{', '}']).split(',');
        names.map(move |name| (name.trim().to_string(), file.to_string()))
    });
    each.collect()
}

/// The files of a room; its root represents the files whose names it exports.
fn imports(sources: &[Source], room: &str) -> Imports {
    let file = |source: &Source| {
        let path = source.path.strip_prefix(room)?.strip_prefix('/')?.strip_suffix(".rs")?;
        (!path.contains('/') && path != "mod").then(|| path.to_string())
    };
    let names: BTreeSet<String> = sources.iter().filter_map(file).collect();
    let is_root =
        |source: &&Source| source.path == format!("{room}/mod.rs") || source.path == format!("{room}.rs");
    let exported = exported(&sources.iter().find(is_root).map(joined).unwrap_or_default());
    let of_file = |source: &Source| {
        let (own, code) = (file(source)?, joined(source));
        let whole = format!("crate::{room}::");
        let words = ["super::", whole.as_str()].map(|mark| named_after(&code, mark));
        let target = |word: &str| names.get(word).or_else(|| names.get(exported.get(word)?)).cloned();
        let others = words.into_iter().flatten().filter_map(target).filter(|other| *other != own);
        let others = others.collect();
        Some((own, others))
    };
    sources.iter().filter_map(of_file).collect()
}

/// The rest after files that import none of the rest are removed repeatedly: circles, and files that need them.
fn circle(mut imports: Imports) -> Vec<String> {
    loop {
        let rest: BTreeSet<String> = imports.keys().cloned().collect();
        imports.retain(|_, needed| !needed.is_disjoint(&rest));
        if imports.len() == rest.len() {
            return rest.into_iter().collect();
        }
    }
}

#[test]
fn the_files_of_a_room_import_one_another_in_one_direction() {
    let sources = sources();
    let circles = rooms(&sources).into_iter().map(|room| (circle(imports(&sources, &room)), room));
    let faults = circles.filter_map(|(circle, room)| match (circle.is_empty(), CIRCULAR.contains(&&*room)) {
        (false, false) => Some(format!("{room}: a circle of {}", circle.join(", "))),
        (true, true) => Some(format!("{room} has no circle any more: take it off the list")),
        _ => None,
    });
    report(faults.collect());
}

#[test]
fn a_circle_is_found_through_braces_lines_and_exported_names() {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    let with = |last: &str| {
        let sources = [
            source("room/mod.rs", "mod one;\npub use two::{Two, other};\n"),
            source("room/one.rs", "use super::{\n    Two,\n};\n"),
            source("room/two.rs", "use crate::room::three::Three;\n"),
            source("room/three.rs", last),
        ];
        circle(imports(&sources, "room"))
    };
    assert_eq!(with("use super::other;\n"), ["one", "three", "two"]);
    assert_eq!(with("use super::{one::One};\n"), ["one", "three", "two"]);
    assert_eq!(with("// use super::one::One;\nuse crate::elsewhere::one;\n"), [""; 0]);
}
