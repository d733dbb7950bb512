// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rooms whose files import one another in one direction.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, named_after, report, sources};

/// The rooms. In each, a folder counts as one file: a family and its registry import one another.
const STRAIGHT: [&str; 1] = ["scenario"];

/// The file or the folder of a room that a source is or is in, and its modules below the room's; none for the room's own `mod.rs`.
fn part<'s>(source: &'s Source, room: &str) -> Option<(&'s str, usize)> {
    let below = source.path.strip_prefix(room)?.strip_prefix('/')?;
    let module = below.trim_end_matches(".rs").trim_end_matches("/mod");
    let depth = 1 + module.matches('/').count();
    let name = module.split('/').next().unwrap_or(module);
    (name != "mod").then_some((name, depth))
}

/// The parts of a room, each with those that it imports from the room, and the lines that import from the room's `mod.rs`.
fn imports<'s>(sources: &'s [Source], room: &str) -> (BTreeMap<&'s str, BTreeSet<&'s str>>, Vec<String>) {
    let files: Vec<_> = sources.iter().filter_map(|source| Some((source, part(source, room)?))).collect();
    let parts: BTreeSet<&str> = files.iter().map(|(_, (name, _))| *name).collect();
    let mut all: BTreeMap<_, BTreeSet<_>> = parts.iter().map(|name| (*name, BTreeSet::new())).collect();
    let mut faults = Vec::new();
    for (source, (name, depth)) in &files {
        let within = format!("crate::{room}::");
        let above = "super::".repeat(*depth);
        for (number, line) in source.code() {
            for other in named_after(line, &within).into_iter().chain(named_after(line, &above)) {
                match parts.get(other) {
                    Some(other) if other == name => {}
                    Some(other) => {
                        all.entry(*name).or_default().insert(*other);
                    }
                    None => faults.push(format!("{}:{number}: `{other}` from its own file", source.path)),
                }
            }
        }
    }
    (all, faults)
}

/// The parts that are in a circle or import one that is: those that are left when parts without imports are taken away again and again.
fn circling<'s>(mut all: BTreeMap<&'s str, BTreeSet<&'s str>>) -> Vec<&'s str> {
    while let Some(free) = all.iter().find(|(_, others)| others.is_empty()).map(|(name, _)| *name) {
        all.remove(free);
        all.values_mut().for_each(|others| {
            others.remove(free);
        });
    }
    all.into_keys().collect()
}

#[test]
fn the_files_of_a_straight_room_import_in_one_direction() {
    let sources = sources();
    for room in STRAIGHT {
        let (all, faults) = imports(&sources, room);
        assert!(all.len() > 10, "{room} has the files {:?}", all.keys());
        report(faults);
        assert_eq!(circling(all), [""; 0], "circles in {room}");
    }
}

#[test]
fn a_circle_is_found_whatever_its_length_and_however_it_is_written() {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    let straight = [
        source("room/mod.rs", "mod a;\npub use a::A;\n"),
        source("room/a.rs", "use super::b::B;\n"),
        source("room/b.rs", "use super::family::{Any, one};\n"),
        source("room/family/mod.rs", "use super::d::D;\n"),
        source("room/family/one.rs", "use super::super::d::D;\nuse super::Any;\n"),
        source("room/d.rs", "use crate::other::a;\n"),
    ];
    assert_eq!(circling(imports(&straight, "room").0), [""; 0]);
    for (place, text) in [
        (5, "use super::a::A;\n"),
        (5, "use crate::room::b;\n"),
        (5, "use super::{family, x};\n"),
        (3, "use super::a::A;\n"),
        (4, "use super::super::b::B;\n"),
    ] {
        let mut bent = straight.clone();
        bent[place].text += text;
        assert!(!circling(imports(&bent, "room").0).is_empty(), "{text}");
    }
    let indirect = [straight[0].clone(), source("room/a.rs", "use super::A;\n")];
    assert_eq!(imports(&indirect, "room").1, ["room/a.rs:1: `A` from its own file"]);
}
