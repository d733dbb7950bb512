// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the fingerprints of the engine and of every algorithm, by which kept runs are named.

#[path = "fingerprint.rs"]
mod fingerprint;
#[path = "../src/study/hash.rs"]
mod hash;
mod sources;

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let roots = ["../kneepoint-cc", "../kneepoint-sim", "."].map(PathBuf::from);
    let lock = Path::new("../../Cargo.lock");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", lock.display());
    for root in &roots {
        println!("cargo::rerun-if-changed={}", root.join("src").display());
        println!("cargo::rerun-if-changed={}", root.join("Cargo.toml").display());
    }
    let sources = sources::read(&roots)?;
    // A crate that is used from a registry has no lock file beside it.
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let prints = fingerprint::of(&sources, &sources::locked(&lock, "kneepoint"));
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("fingerprints.rs"), constants(&prints))
}

/// The fingerprints as constants of Rust.
fn constants(prints: &fingerprint::Prints) -> String {
    let line = |((family, name), print): (&(String, String), &String)| {
        format!("    ({family:?}, {name:?}, {print:?}),\n")
    };
    let lines: String = prints.algorithms.iter().map(line).collect();
    let fingerprint::Prints { engine, computed, .. } = prints;
    format!(
        "const ENGINE: &str = {engine:?};\nconst COMPUTED: &str = {computed:?};\nconst ALGORITHMS: &[(&str, &str, &str)] = &[\n{lines}];\n"
    )
}
