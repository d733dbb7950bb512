// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tells the binary which revision it is built from, where there is one to tell.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for path in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            // A path that does not exist would make every build start over.
            if std::path::Path::new(&path).exists() {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    let revision = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_string());
    println!("cargo::rustc-env=KNEE_REVISION={revision}");
}

/// What git answers; nothing without git or outside a repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !text.is_empty()).then_some(text)
}
