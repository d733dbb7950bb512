// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kept corpus: seeds of every reader, and inputs that once broke one. A separate test binary, for its allocator
//! counts.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;

use kneepoint_torture::{READERS, named, sealed};

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

/// One test, because the count of memory is global.
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

/// The fuzzer would learn nothing from a format that is no longer read.
#[test]
fn the_kept_run_of_the_corpus_is_read() {
    let seed = corpus().join("store/sealed");
    let fault = sealed(&fs::read(&seed).expect("a readable seed"));
    let remedy = "write it anew, as `seal` in store/sealed.rs does, up to the checksum and with @engine@ for the engine";
    assert_eq!(fault, None, "{}: {remedy}", seed.display());
    let damaged =
        sealed(br#"{"format":2,"name":"0123456789abcdef","seed":1,"engine":"@engine@","record":{}"#);
    assert!(damaged.is_some(), "a run without numbers was read");
}

#[test]
#[ignore = "a part of the next one, in its own process"]
fn readers_of_files() {
    for name in ["compressed", "store", "kept-run", "capture"] {
        for input in files(&corpus().join(name)).iter().take(20) {
            named(name).expect("a reader").feed(&fs::read(input).expect("a readable input"));
        }
    }
}

#[test]
fn readers_leave_nothing_in_the_folder_of_temporary_files() {
    let here = tempfile::tempdir().expect("a folder");
    let mut alone = Command::new(std::env::current_exe().expect("this test's program"));
    alone.args(["readers_of_files", "--exact", "--ignored"]).env("TMPDIR", here.path());
    let done = alone.output().expect("a process");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(files(here.path()), Vec::<PathBuf>::new());
    assert_eq!(fs::read_dir(here.path()).expect("the folder").count(), 0, "a folder was left");
}

#[test]
fn every_folder_of_the_corpus_has_a_reader() {
    let folders = fs::read_dir(corpus()).expect("the corpus").map(|entry| entry.expect("a readable entry"));
    let folders = folders.filter(|entry| entry.path().is_dir());
    let names: BTreeSet<String> =
        folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // Records of kernel programs are read only in a build that contains these programs.
    let strangers: Vec<&String> =
        names.iter().filter(|name| named(name).is_none() && name.as_str() != "record").collect();
    assert!(strangers.is_empty(), "no reader is called {strangers:?}");
}
