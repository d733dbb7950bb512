// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A stranger adds an algorithm: one new file and one registry line, and everything else knows it.
//!
//! The core is copied below the target directory, a toy controller, a queue discipline with one queue, and one with
//! many are added to the copy, and the copy has to pass the laws, survive the test network, parse and run. It is offline, and quick when
//! run again, for what has not changed is not compiled again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Newcomers: the folder of their family, module, type, text.
const NEWCOMERS: [(&str, &str, &str, &str); 6] = [
    ("kneepoint-cc/src/cc", "toy", "Toy", include_str!("stranger/toy.rs.txt")),
    ("kneepoint/src/queue", "coin", "Coin", include_str!("stranger/coin.rs.txt")),
    ("kneepoint/src/queue", "turns", "Turns", include_str!("stranger/turns.rs.txt")),
    ("kneepoint/src/traffic", "drip", "Drip", include_str!("stranger/drip.rs.txt")),
    ("kneepoint/src/link/loss", "nth", "Nth", include_str!("stranger/nth.rs.txt")),
    ("kneepoint/src/link/capacity", "rest", "Rest", include_str!("stranger/rest.rs.txt")),
];

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

/// Makes a folder hold these files and no others; those that hold what they should keep their dates.
fn put(tree: &Tree, folder: &Path) {
    let mut there = Tree::new();
    if folder.is_dir() {
        read(folder, Path::new(""), &mut there);
    }
    for gone in there.keys().filter(|path| !tree.contains_key(*path)) {
        fs::remove_file(folder.join(gone)).expect("a file to remove");
    }
    for (path, text) in tree.iter().filter(|(path, text)| there.get(*path) != Some(text)) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to write to");
        fs::write(path, text).expect("a file to write");
    }
}

/// Adds a line at the end of a registry.
fn register(text: &str, module: &str, name: &str) -> String {
    let list = text.find("algorithms {").expect("a registry");
    let end = list + text[list..].find("    }\n").expect("its end");
    format!("{}        {module}::{name},\n{}", &text[..end], &text[end..])
}

#[test]
fn one_file_and_one_line_add_an_algorithm() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tree = Tree::new();
    for part in ["src", "build", "tests/laws", "tests/common", "tests/transfers.rs"] {
        read(&core.join(part), &Path::new("kneepoint").join(part), &mut tree);
    }
    read(&core.join("../kneepoint-cc"), Path::new("kneepoint-cc"), &mut tree);
    for (family, module, name, text) in NEWCOMERS {
        let newcomer = PathBuf::from(format!("{family}/{module}.rs"));
        assert!(tree.insert(newcomer, text.to_string()).is_none());
        let registry = tree.get_mut(&PathBuf::from(format!("{family}/mod.rs"))).expect("a registry");
        *registry = register(registry, module, name);
    }
    tree.insert("kneepoint/tests/seen.rs".into(), include_str!("stranger/seen.rs.txt").to_string());
    // The tests that the copy runs need nothing but the core.
    let manifest = fs::read_to_string(core.join("Cargo.toml")).expect("a manifest");
    let slim = manifest.split("[dev-dependencies]").next().unwrap_or_default();
    tree.insert("kneepoint/Cargo.toml".into(), slim.to_string());

    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stranger");
    put(&tree, &home.join("crates"));
    for file in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(core.join("../..").join(file), home.join(file)).expect("the workspace's file");
    }
    let run = Command::new(env!("CARGO"))
        .args([
            "test",
            "--offline",
            "--package",
            "kneepoint",
            "--test",
            "laws",
            "--test",
            "transfers",
            "--test",
            "seen",
        ])
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
    assert_eq!(told.matches("test result: ok").count(), 3, "{told}");
    assert!(told.contains("the_registries_and_schemes_know_them ... ok"), "{told}");
}
