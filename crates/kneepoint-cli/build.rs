// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gives the binary its revision, features, target and built-in experiments.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The features of `Cargo.toml`.
const FEATURES: [&str; 2] = ["bpf", "quic"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    for path in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            // A path that does not exist would cause a full build each time.
            if Path::new(&path).exists() {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    let revision = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_string());
    println!("cargo::rustc-env=KNEE_REVISION={revision}");
    let on = |name: &&str| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let features: Vec<&str> = FEATURES.iter().copied().filter(|name| on(name)).collect();
    let features = if features.is_empty() { "none".to_string() } else { features.join(", ") };
    println!("cargo::rustc-env=KNEE_FEATURES={features}");
    println!("cargo::rustc-env=KNEE_TARGET={}", env::var("TARGET").unwrap_or_default());
    embed_experiments()
}

/// Git's output; nothing without git or outside a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// The files below a folder, in order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// Writes the table of all experiments: their paths below `experiments/`, and their texts.
fn embed_experiments() -> io::Result<()> {
    let root = Path::new("../../experiments").canonicalize()?;
    let mut table = String::from("[\n");
    for path in files(&root)?.iter().filter(|path| path.extension().is_some_and(|end| end == "toml")) {
        let name = path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
        // Cases of gates have an open place, and are carried by the library.
        if name.starts_with("gate/") {
            continue;
        }
        table.push_str(&format!("({name:?}, include_str!({:?})),\n", path.to_string_lossy()));
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("experiments.rs"), table)
}
