// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the fingerprints of the engine and of every algorithm, by which kept runs are named, and the table of the cases of gates.

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
    // A crate from a registry has no lock file next to it.
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let prints = fingerprint::of(&sources, &sources::locked(&lock, "kneepoint"));
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("fingerprints.rs"), constants(&prints))?;
    fs::write(Path::new(&out).join("cases.rs"), cases(Path::new("../../experiments/gate"))?)
}

/// The cases of gates: suite, name of the file, text. A crate from a registry has none next to it.
fn cases(root: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", root.display());
    let mut table = String::from("&[\n");
    if let Ok(root) = root.canonicalize() {
        for suite in entries(&root)? {
            for file in entries(&suite)? {
                let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let (name, case) = (stem(&suite), stem(&file));
                table.push_str(&format!(
                    "({name:?}, {case:?}, include_str!({:?})),\n",
                    file.to_string_lossy()
                ));
            }
        }
    }
    Ok(table + "]\n")
}

/// The contents of a folder, in order.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
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
