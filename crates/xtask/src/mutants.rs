// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mutants: seeded faults that a gate must detect, and refactorings that it must accept.
//!
//! Each is a replacement in one file, as `mutants.toml` lists them. They are built one after another in a copy of the committed tree, with a
//! target directory of their own, and the gate of each runs against a baseline of the unchanged tree.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use serde::Deserialize;

/// The mutants to build, and their place.
#[derive(Args)]
pub struct Arguments {
    /// Parts of the names of those to build; all forty without one.
    names: Vec<String>,
    /// The directory of the copy.
    #[arg(long, default_value = "out/mutants")]
    scratch: PathBuf,
    /// The target directory of the builds [default: target in the copy].
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

/// Suites in which a fault may show.
const SUITES: &str = "rfc9743,coexist,bbr-draft";

/// A copy of the tree.
struct Copy {
    root: PathBuf,
    target: PathBuf,
}

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
    let copy = Copy::make(arguments)?;
    copy.build()?;
    for subject in subjects(faults.iter().chain(&refactorings)) {
        copy.knee(&["gate", "accept", subject], subject)?;
    }
    let (mut caught, mut alarms) = (0, 0);
    for mutant in &faults {
        let found = copy.judge(mutant)?;
        caught += usize::from(found);
        println!("{:<7} {}", if found { "caught" } else { "MISSED" }, mutant.name);
    }
    for mutant in &refactorings {
        let found = copy.judge(mutant)?;
        alarms += usize::from(found);
        println!("{:<7} {}", if found { "ALARM" } else { "passes" }, mutant.name);
    }
    println!(
        "{caught} of {} faults caught, {alarms} alarms on {} refactorings",
        faults.len(),
        refactorings.len()
    );
    Ok(caught == faults.len() && alarms == 0)
}

/// Every subject once.
fn subjects<'m>(mutants: impl Iterator<Item = &'m &'m Mutant>) -> Vec<&'m str> {
    let mut subjects: Vec<&str> = mutants.map(|mutant| mutant.subject.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

impl Copy {
    /// Copies the committed tree.
    fn make(arguments: &Arguments) -> Result<Copy, String> {
        let root = arguments.scratch.clone();
        std::fs::create_dir_all(&root).map_err(|error| format!("{}: {error}", root.display()))?;
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let copied = format!("git archive HEAD | tar -x -C '{}'", root.display());
        succeed(Command::new("sh").args(["-c", &copied]))?;
        let target = arguments.target.clone().unwrap_or(root.join("target"));
        Ok(Copy { root, target })
    }

    fn build(&self) -> Result<(), String> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--package", "kneepoint-cli"]).current_dir(&self.root);
        succeed(cargo.env("CARGO_TARGET_DIR", &self.target))
    }

    /// The exit status of a gate.
    fn knee(&self, words: &[&str], subject: &str) -> Result<Option<i32>, String> {
        let baseline = format!("baseline-{}.json", subject.replace('/', "-"));
        let mut knee = Command::new(self.target.join("debug/knee"));
        knee.args(words).args([
            "--quick",
            "--suite",
            SUITES,
            "--baseline",
            &baseline,
            "--store",
            "runs",
            "--json",
        ]);
        let output = knee.current_dir(&self.root).output().map_err(|error| error.to_string())?;
        match output.status.code() {
            Some(0 | 1) => Ok(output.status.code()),
            _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Whether the gate fails with a mutant in its place; then the file is as it was.
    fn judge(&self, mutant: &Mutant) -> Result<bool, String> {
        let path = self.root.join(&mutant.file);
        let before = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", mutant.file))?;
        let changed = changed(mutant, &before)?;
        let write = |text: &str| std::fs::write(&path, text).map_err(|error| error.to_string());
        write(&changed)?;
        let judged =
            self.build().and_then(|()| self.knee(&["gate", "run", &mutant.subject], &mutant.subject));
        write(&before)?;
        Ok(judged? == Some(1))
    }
}

/// A text with a mutant's replacement.
fn changed(mutant: &Mutant, text: &str) -> Result<String, String> {
    match text.matches(&mutant.find).count() {
        1 => Ok(text.replace(&mutant.find, &mutant.replace)),
        count => Err(format!("`{}`: its text is {count} times in {}", mutant.name, mutant.file)),
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

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
