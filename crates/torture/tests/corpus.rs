// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kept corpus: seeds of every reader, and whatever once broke one. A test binary of its own, for its allocator counts.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use kneepoint_torture::{READERS, named};

/// The files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// One test, for the count of memory is everybody's.
#[test]
fn every_reader_survives_its_corpus_within_its_memory() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut broken = Vec::new();
    for reader in READERS {
        let folders = reader.seeds.iter().map(|seeds| root.join(seeds)).chain([corpus().join(reader.name)]);
        let inputs: Vec<PathBuf> = folders.flat_map(|folder| files(&folder)).collect();
        assert!(!inputs.is_empty(), "`{}` has no seed: put one into its folder", reader.name);
        for input in inputs {
            let bytes = fs::read(&input).expect("a readable input");
            if catch_unwind(|| reader.feed(&bytes)).is_err() {
                broken.push(format!("{} breaks on {}", reader.name, input.display()));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_folder_of_the_corpus_has_a_reader() {
    let folders = fs::read_dir(corpus()).expect("the corpus").map(|entry| entry.expect("a readable entry"));
    let folders = folders.filter(|entry| entry.path().is_dir());
    let names: BTreeSet<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // What kernel programs record is read only where they are built in.
    let strangers: Vec<&String> =
        names.iter().filter(|name| named(name).is_none() && name.as_str() != "record").collect();
    assert!(strangers.is_empty(), "no reader is called {strangers:?}");
}
