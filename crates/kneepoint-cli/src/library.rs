// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The published experiments built into the program, and experiment files of the user.

use std::collections::BTreeSet;
use std::path::Path;

use kneepoint::experiment::{self, Experiment, Pace, Publication, Scope};
use kneepoint::scenario::Fault;
use kneepoint::settings::names::same_name;
use kneepoint::suggest::guess;
use kneepoint_bench::session::Session;
use kneepoint_bench::{files, threads};

use crate::failure::Failure;

/// Paths below `experiments/` and file contents.
const CARRIED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// An experiment with its source text.
#[derive(Clone)]
pub struct Volume {
    /// The source file of the text.
    pub origin: String,
    /// The text.
    pub text: String,
    /// The publication: the name of the folder.
    pub paper: String,
    /// The experiment.
    pub experiment: Experiment,
    /// The text of the file with the common part of the publication's experiments.
    pub shared: Option<String>,
}

/// An experiment of the program that is not read yet: that takes a moment, and all of them half a gigabyte.
struct Carried {
    /// Its path below `experiments/`, and its text.
    path: &'static str,
    text: &'static str,
    /// Its name in commands.
    paper: &'static str,
    id: &'static str,
}

impl Carried {
    /// None for the common part of a folder's experiments.
    fn of(&(path, text): &(&'static str, &'static str)) -> Option<Carried> {
        let (paper, file) = path.rsplit_once('/')?;
        let id = text.lines().find_map(|line| line.strip_prefix("id = \"")?.strip_suffix('"'))?;
        (file != PUBLICATION).then_some(Carried { path, text, paper, id })
    }

    fn name(&self) -> String {
        experiment::name(self.paper, self.id)
    }

    /// Whether a name on the command line selects this experiment: `pert`, `pert.fig6`, `pert-fig6`; `kotla-fig5` and `kotla.fig5`.
    fn answers_to(&self, name: &str) -> bool {
        [self.paper, self.id, &self.id.replacen('-', ".", 1), &self.name()]
            .into_iter()
            .any(|own| same_name(own, name))
    }
}

/// The name of the file with the common part of a folder's experiments.
const PUBLICATION: &str = "publication.toml";

/// The publications with experiments in the program.
pub fn publications() -> BTreeSet<String> {
    names().filter_map(|name| Some(name.split_once('.')?.0.to_string())).collect()
}

/// The names of the experiments in the program, by the paths of their files.
pub fn names() -> impl Iterator<Item = String> {
    let stems = CARRIED.iter().filter_map(|(path, _)| path.strip_suffix(".toml"));
    stems.map(|stem| stem.replace('/', ".")).filter(|name| !name.ends_with(".publication"))
}

/// The experiments selected by `names` (publications, figures, files); all built-in ones if `names` is empty. They have the variants of
/// `scope`.
pub fn find(
    session: &Session,
    names: &[impl AsRef<Path>],
    pace: Pace,
    scope: Scope,
) -> Result<Vec<Volume>, Failure> {
    let all = carried();
    if names.is_empty() {
        return opened(session, &all.iter().collect::<Vec<_>>(), pace, scope);
    }
    let mut found: Vec<Volume> = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let answers = |one: &&Carried| name.to_str().is_some_and(|name| one.answers_to(name));
        let chosen: Vec<&Carried> = all.iter().filter(answers).collect();
        match chosen.is_empty() {
            true => found.push(from_file(session, name, &all, pace, scope)?),
            false => found.extend(opened(session, &chosen, pace, scope)?),
        }
    }
    let mut once: Vec<Volume> = Vec::new();
    for volume in found {
        match once.iter().find(|other| other.experiment.id == volume.experiment.id) {
            Some(other) if other.origin != volume.origin => {
                let (id, one, two) = (&volume.experiment.id, &other.origin, &volume.origin);
                let message = format!("`{one}` and `{two}` both have the id `{id}`");
                return Err(Failure::usage(
                    message,
                    "give one of them another `id`, or reproduce them one by one",
                ));
            }
            Some(_) => {}
            None => once.push(volume),
        }
    }
    Ok(once)
}

/// Whether a text is an experiment, and not a scenario alone.
pub fn is_experiment(text: &str) -> bool {
    // A remark may follow it, and it may contain blanks.
    let begins = |line: &str| {
        let line: String = line.split_whitespace().collect();
        line.starts_with("[experiment]") || line.starts_with("experiment={")
    };
    text.lines().any(begins)
}

/// Reads a scenario for a verb that runs no experiments.
pub fn scenario(session: &Session, path: &Path) -> Result<String, Failure> {
    let text = files::read_text(session, path)?;
    if is_experiment(&text) {
        let message = format!("`{}` is an experiment, and a scenario is expected", path.display());
        return Err(Failure::usage(message, "`knee reproduce FILE` runs an experiment"));
    }
    Ok(text)
}

/// The experiments of the program, figures in the order of their numbers.
fn carried() -> Vec<Carried> {
    let mut all: Vec<Carried> = CARRIED.iter().filter_map(Carried::of).collect();
    all.sort_by_key(|one| (one.paper, place(one.id)));
    all
}

/// Reads experiments of the program, on all cores.
fn opened(session: &Session, chosen: &[&Carried], pace: Pace, scope: Scope) -> Result<Vec<Volume>, Failure> {
    let none_named = |named: &str| Err(format!("a built-in experiment names no files: `{named}`"));
    let one = |carried: &&Carried| {
        let &&Carried { path, text, paper, .. } = carried;
        let shared = CARRIED.iter().find(|(other, _)| *other == format!("{paper}/{PUBLICATION}"));
        let common = match shared {
            Some((file, own)) => publication(file, own)?,
            None => Publication::default(),
        };
        let parsed = experiment::parse_in(&common, text, pace, scope, &none_named);
        let mut volume = read(path, text, shared.map(|(_, own)| own.to_string()), parsed)?;
        volume.experiment.paper.clone_from(&volume.paper);
        Ok(volume)
    };
    threads::map(session, chosen, one).into_iter().collect()
}

fn publication(path: &str, text: &str) -> Result<Publication, Failure> {
    let wrong = |faults| Failure::Scenario { origin: path.to_string(), text: text.to_string(), faults };
    Publication::parse(text).map_err(wrong)
}

/// Sort key that orders figures by number: `fig6` before `fig13a`.
fn place(id: &str) -> (String, u32, String) {
    let digits = |c: char| c.is_ascii_digit();
    let start = id.find(digits).unwrap_or(id.len());
    let end = id[start..].find(|c: char| !digits(c)).map_or(id.len(), |end| start + end);
    (id[..start].to_string(), id[start..end].parse().unwrap_or(0), id[end..].to_string())
}

fn read(
    path: &str,
    text: &str,
    shared: Option<String>,
    parsed: Result<Experiment, Vec<Fault>>,
) -> Result<Volume, Failure> {
    let paper = Path::new(path).parent().and_then(Path::file_name);
    match parsed {
        Ok(experiment) => Ok(Volume {
            origin: path.to_string(),
            text: text.to_string(),
            paper: paper.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            experiment,
            shared,
        }),
        Err(faults) => Err(Failure::Scenario { origin: path.to_string(), text: text.to_string(), faults }),
    }
}

fn from_file(
    session: &Session,
    path: &Path,
    all: &[Carried],
    pace: Pace,
    scope: Scope,
) -> Result<Volume, Failure> {
    let name = path.display().to_string();
    if path != "-" && path.extension().is_none_or(|end| end != "toml") {
        let names: Vec<String> = all.iter().map(Carried::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let meant = guess(&name, &names);
        return Err(Failure::usage(
            format!("unknown experiment `{name}`"),
            format!("{meant}`knee reproduce --list` shows all; experiment files end in .toml"),
        ));
    }
    let text = files::read_text(session, path)?;
    let beside = |named: &str| files::beside(path, named);
    let common = path.with_file_name(PUBLICATION);
    let shared = if common.is_file() { Some(files::read_text(session, &common)?) } else { None };
    let publication = publication(&common.display().to_string(), shared.as_deref().unwrap_or_default())?;
    let parse = |at| {
        read(&name, &text, shared.clone(), experiment::parse_in(&publication, &text, at, scope, &beside))
    };
    // Report errors of the other pace now, and not only when it is used.
    parse(if pace == Pace::Full { Pace::Quick } else { Pace::Full })?;
    parse(pace)
}

#[cfg(test)]
mod tests {
    use kneepoint::scenario::Extensions;

    use super::*;

    #[test]
    fn an_experiment_is_called_what_it_calls_itself() {
        let all = carried();
        let none: [&str; 0] = [];
        let read =
            find(&crate::console::session(Extensions::NONE).unwrap(), &none, Pace::Quick, Scope::Taken)
                .unwrap();
        let names = |volume: &Volume| (volume.experiment.id.clone(), volume.experiment.name());
        let read: Vec<_> = read.iter().map(names).collect();
        let known: Vec<_> = all.iter().map(|one| (one.id.to_string(), one.name())).collect();
        assert_eq!(read, known);
        let files = CARRIED.iter().filter(|(path, _)| !path.ends_with(PUBLICATION));
        assert_eq!(all.len(), files.count());
    }

    #[test]
    fn figures_come_in_the_order_of_their_numbers() {
        let mut ids = ["pert-fig13a", "pert-tab1", "pert-fig6", "pert-fig11"];
        ids.sort_by_key(|id| place(id));
        assert_eq!(ids, ["pert-fig6", "pert-fig11", "pert-fig13a", "pert-tab1"]);
    }
}
