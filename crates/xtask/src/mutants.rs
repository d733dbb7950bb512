// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mutants: seeded faults that a gate must detect, and refactorings that it must accept.
//!
//! Each is a replacement in one file, as `mutants.toml` lists them. All of them are controllers of one generated crate, next to an unchanged copy of
//! every subject, so that one build suffices; a gate of each runs against the baseline of the unchanged copy.
//!
//! ```text
//! out/mutants/src/m7/cubic.rs      the subject's file, with the folder of its name; `super::` and `crate::` are the library's paths
//!            /src/main.rs          `knee` with all of them
//! ```

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde::Deserialize;

/// The mutants to build, and their place.
#[derive(Args)]
pub struct Arguments {
    /// Parts of the names of those to build; all forty without one.
    names: Vec<String>,
    /// The directory of the generated crate.
    #[arg(long, default_value = "out/mutants")]
    scratch: PathBuf,
    /// The target directory of the build [default: the one of this program].
    #[arg(long)]
    target: Option<PathBuf>,
}

/// The list.
#[derive(Deserialize)]
struct List {
    fault: Vec<Mutant>,
    refactoring: Vec<Mutant>,
}

/// A change of one file.
#[derive(Deserialize)]
struct Mutant {
    name: String,
    subject: String,
    file: String,
    find: String,
    replace: String,
}

impl Mutant {
    /// The module of its subject.
    fn module(&self) -> &str {
        self.subject.split('/').next().unwrap_or_default()
    }

    /// The queue of its subject, with the slash before it.
    fn queue(&self) -> &str {
        &self.subject[self.module().len()..]
    }
}

/// Suites in which a fault may show.
const SUITES: &str = "rfc9743,coexist,bbr-draft";
/// The folder of controllers in the repository.
const CONTROLLERS: &str = "crates/kneepoint-cc/src/cc";

fn list() -> Result<List, String> {
    toml::from_str(include_str!("../mutants.toml")).map_err(|error| error.to_string())
}

/// Builds the mutants, runs their gates, and prints the detected ones; returns whether all faults were detected, and no refactoring.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let list = list()?;
    let wanted = |mutant: &&Mutant| {
        arguments.names.is_empty() || arguments.names.iter().any(|name| mutant.name.contains(name.as_str()))
    };
    let faults: Vec<&Mutant> = list.fault.iter().filter(wanted).collect();
    let refactorings: Vec<&Mutant> = list.refactoring.iter().filter(wanted).collect();
    let mut made = Made::new(arguments)?;
    let subjects = subjects(faults.iter().chain(&refactorings));
    let unchanged = subjects.iter().map(|one| made.add(one, None)).collect::<Result<Vec<_>, _>>()?;
    let mutants = faults.iter().chain(&refactorings);
    let changed = mutants.map(|one| made.add(one, Some(one))).collect::<Result<Vec<_>, _>>()?;
    made.build()?;
    for name in &unchanged {
        made.knee(&["gate", "accept", name], &made.baseline(name))?;
    }
    let mut found = changed.iter().zip(faults.iter().chain(&refactorings)).map(|(name, mutant)| {
        let place = subjects.iter().position(|one| one.subject == mutant.subject).unwrap_or_default();
        let caught = made.judge(name, &unchanged[place])?;
        let said = match (caught, faults.iter().any(|one| one.name == mutant.name)) {
            (true, true) => "caught",
            (false, true) => "MISSED",
            (true, false) => "ALARM",
            (false, false) => "passes",
        };
        println!("{said:<7} {}", mutant.name);
        Ok(caught)
    });
    let caught = count(found.by_ref().take(faults.len()))?;
    let alarms = count(found)?;
    println!(
        "{caught} of {} faults caught, {alarms} alarms on {} refactorings",
        faults.len(),
        refactorings.len()
    );
    Ok(caught == faults.len() && alarms == 0)
}

/// How many are true, or the first error.
fn count(found: impl Iterator<Item = Result<bool, String>>) -> Result<usize, String> {
    found.map(|one| one.map(usize::from)).sum()
}

/// A mutant of every subject.
fn subjects<'m>(mutants: impl Iterator<Item = &'m &'m Mutant>) -> Vec<&'m Mutant> {
    let mut once: Vec<&Mutant> = Vec::new();
    for mutant in mutants {
        if !once.iter().any(|one| one.subject == mutant.subject) {
            once.push(mutant);
        }
    }
    once
}

/// The generated crate.
struct Made {
    repository: PathBuf,
    root: PathBuf,
    target: PathBuf,
    /// The subject of each module: the type of its controller, and its name.
    controllers: Vec<(String, String)>,
}

impl Made {
    fn new(arguments: &Arguments) -> Result<Made, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", arguments.scratch.display());
        let repository =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().map_err(failed)?;
        let _ = fs::remove_dir_all(arguments.scratch.join("src"));
        fs::create_dir_all(arguments.scratch.join("src")).map_err(failed)?;
        let root = arguments.scratch.canonicalize().map_err(failed)?;
        let own = || Some(std::env::current_exe().ok()?.parent()?.parent()?.to_path_buf());
        let target = arguments.target.clone().or_else(own).unwrap_or(root.join("target"));
        Ok(Made { repository, root, target, controllers: Vec::new() })
    }

    /// Adds a copy of a subject, with a mutant in it or without; its scheme.
    fn add(&mut self, of: &Mutant, mutant: Option<&Mutant>) -> Result<String, String> {
        let (number, module) = (self.controllers.len(), of.module());
        let name = format!("{module}-{number}");
        let folder = self.root.join(format!("src/m{number}"));
        let from = self.repository.join(CONTROLLERS);
        self.copy(&from.join(format!("{module}.rs")), &folder.join(format!("{module}.rs")), true, mutant)?;
        for entry in fs::read_dir(from.join(module)).into_iter().flatten().flatten() {
            let to = folder.join(module).join(entry.file_name());
            self.copy(&entry.path(), &to, false, mutant)?;
        }
        let class: String = module[..1].to_uppercase() + &module[1..];
        self.controllers.push((format!("m{number}::{module}::{class}"), name.clone()));
        Ok(name + of.queue())
    }

    /// Copies a file of a controller, `first` its own one, with the paths of another crate.
    fn copy(&self, from: &Path, to: &Path, first: bool, mutant: Option<&Mutant>) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", from.display());
        let mut text = fs::read_to_string(from).map_err(failed)?;
        let is_here = |one: &&Mutant| from == self.repository.join(&one.file);
        if let Some(mutant) = mutant.filter(is_here) {
            text = changed(mutant, &text)?;
        }
        let above = if first { "use super::" } else { "use super::super::" };
        let text = text.replace(above, "use kneepoint::cc::");
        let text = text.replace("crate::", "kneepoint::").replace("use alloc::", "use std::");
        let text = text.replace("pub(in kneepoint::", "pub(in crate::");
        fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed)?;
        fs::write(to, text).map_err(failed)
    }

    fn build(&self) -> Result<(), String> {
        let mut main = String::from("//! Generated.\n#![allow(warnings)]\n\n");
        for (class, _) in &self.controllers {
            let mut parts = class.split("::");
            let (folder, module) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let _ = writeln!(main, "mod {folder} {{ pub mod {module}; }}");
        }
        main += "\nfn main() -> std::process::ExitCode {\n    let known = kneepoint::scenario::Extensions::NONE;\n";
        for (class, name) in &self.controllers {
            let of = format!("kneepoint::cc::external::of::<{class}>(\"{name}\", \"//! A mutant.\")");
            let _ = writeln!(main, "    let known = known.controller({of}).unwrap();");
        }
        main += "    kneepoint_cli::main_with(known)\n}\n";
        let manifest = format!(
            "[package]\nname = \"mutants\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             kneepoint = {{ path = \"{0}/crates/kneepoint\" }}\nkneepoint-cli = {{ path = \"{0}/crates/kneepoint-cli\" }}\nlibm = \"0.2\"\n\n\
             [profile.dev]\nopt-level = 1\ndebug = false\n\n[profile.dev.package.\"*\"]\ndebug = false\n",
            self.repository.display()
        );
        let failed = |error: std::io::Error| format!("{}: {error}", self.root.display());
        fs::write(self.root.join("src/main.rs"), main).map_err(failed)?;
        fs::write(self.root.join("Cargo.toml"), manifest).map_err(failed)?;
        fs::copy(self.repository.join("Cargo.lock"), self.root.join("Cargo.lock")).map_err(failed)?;
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet"]).current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        let status = cargo.status().map_err(failed)?;
        if status.success() { Ok(()) } else { Err(format!("{cargo:?}: {status}")) }
    }

    /// The baseline of a scheme.
    fn baseline(&self, scheme: &str) -> PathBuf {
        self.root.join(format!("{}.json", scheme.replace('/', "-")))
    }

    /// The exit status of a gate.
    fn knee(&self, words: &[&str], baseline: &Path) -> Result<Option<i32>, String> {
        let mut knee = Command::new(self.target.join("debug/mutants"));
        knee.args(words)
            .args(["--quick", "--suite", SUITES, "--fresh", "--json", "--baseline"])
            .arg(baseline);
        let output = knee.current_dir(&self.root).output().map_err(|error| error.to_string())?;
        match output.status.code() {
            Some(0 | 1) => Ok(output.status.code()),
            _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Whether the gate of a scheme fails by the baseline of another.
    fn judge(&self, scheme: &str, unchanged: &str) -> Result<bool, String> {
        let place = self.baseline(scheme);
        let text = fs::read_to_string(self.baseline(unchanged)).map_err(|error| error.to_string())?;
        let renamed = text.replacen(&format!("\"{unchanged}\""), &format!("\"{scheme}\""), 1);
        fs::write(&place, renamed).map_err(|error| error.to_string())?;
        Ok(self.knee(&["gate", "run", scheme], &place)? == Some(1))
    }
}

/// A text with a mutant's replacement.
fn changed(mutant: &Mutant, text: &str) -> Result<String, String> {
    match text.matches(&mutant.find).count() {
        1 => Ok(text.replace(&mutant.find, &mutant.replace)),
        count => Err(format!("`{}`: its text is {count} times in {}", mutant.name, mutant.file)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_mutant_changes_one_place_of_a_file_that_is_there() {
        let list = list().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!((list.fault.len(), list.refactoring.len()), (20, 20));
        let names: BTreeSet<&str> =
            list.fault.iter().chain(&list.refactoring).map(|mutant| mutant.name.as_str()).collect();
        assert_eq!(names.len(), 40);
        for mutant in list.fault.iter().chain(&list.refactoring) {
            let text = std::fs::read_to_string(sources.join(&mutant.file)).unwrap();
            assert_ne!(changed(mutant, &text).unwrap(), text, "{}", mutant.name);
        }
    }
}
