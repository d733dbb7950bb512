// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The published experiments built into the program, and experiment files of the user.

use std::path::Path;

use kneepoint::experiment::{self, Experiment, Pace};
use kneepoint::scenario::Fault;
use kneepoint::suggest::closest;

use crate::failure::Failure;
use crate::files;

/// Paths below `experiments/` and file contents.
const CARRIED: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// An experiment with its source text.
#[derive(Clone)]
pub struct Volume {
    /// File the text was read from.
    pub origin: String,
    /// The text.
    pub text: String,
    /// The publication: the name of the folder.
    pub paper: String,
    /// The experiment.
    pub experiment: Experiment,
}

/// The experiments selected by `names` (publications, figures, files); all built-in ones if `names` is empty.
pub fn find(names: &[String], pace: Pace) -> Result<Vec<Volume>, Failure> {
    let all = carried(pace)?;
    if names.is_empty() {
        return Ok(all);
    }
    let mut found: Vec<Volume> = Vec::new();
    for name in names {
        let before = found.len();
        found.extend(all.iter().filter(|volume| volume.answers_to(name)).cloned());
        if found.len() == before {
            found.push(from_file(name, &all, pace)?);
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

fn carried(pace: Pace) -> Result<Vec<Volume>, Failure> {
    let mut all = CARRIED
        .iter()
        .map(|(path, text)| read(path, text, experiment::parse(text, pace)))
        .collect::<Result<Vec<_>, _>>()?;
    for volume in &mut all {
        volume.experiment.paper.clone_from(&volume.paper);
    }
    all.sort_by_key(|volume| (volume.paper.clone(), place(&volume.experiment.id)));
    Ok(all)
}

/// Sort key that orders figures by number: `fig6` before `fig13a`.
fn place(id: &str) -> (String, u32, String) {
    let digits = |c: char| c.is_ascii_digit();
    let start = id.find(digits).unwrap_or(id.len());
    let end = id[start..].find(|c: char| !digits(c)).map_or(id.len(), |end| start + end);
    (id[..start].to_string(), id[start..end].parse().unwrap_or(0), id[end..].to_string())
}

fn read(path: &str, text: &str, parsed: Result<Experiment, Vec<Fault>>) -> Result<Volume, Failure> {
    let paper = Path::new(path).parent().and_then(Path::file_name);
    match parsed {
        Ok(experiment) => Ok(Volume {
            origin: path.to_string(),
            text: text.to_string(),
            paper: paper.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            experiment,
        }),
        Err(faults) => Err(Failure::Scenario { origin: path.to_string(), text: text.to_string(), faults }),
    }
}

fn from_file(name: &str, all: &[Volume], pace: Pace) -> Result<Volume, Failure> {
    let path = Path::new(name);
    if name != "-" && path.extension().is_none_or(|end| end != "toml") {
        let names: Vec<String> = all.iter().map(|volume| volume.experiment.name()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let close = closest(name, &names);
        let meant = close.map_or(String::new(), |close| format!("did you mean `{close}`? "));
        return Err(Failure::usage(
            format!("unknown experiment `{name}`"),
            format!("{meant}`knee reproduce --list` shows all; experiment files end in .toml"),
        ));
    }
    let text = files::read_text(path)?;
    let beside = |named: &str| files::beside(path, named);
    let parse = |at| read(name, &text, experiment::parse_with(&text, at, &beside));
    // Report errors of the other pace now rather than when it is used.
    parse(if pace == Pace::Full { Pace::Quick } else { Pace::Full })?;
    parse(pace)
}

impl Volume {
    /// Whether a name on the command line selects this experiment: `pert`, `pert.fig6`, `pert-fig6`.
    fn answers_to(&self, name: &str) -> bool {
        name == self.paper || name == self.experiment.id || name == self.experiment.name()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_come_in_the_order_of_their_numbers() {
        let mut ids = ["pert-fig13a", "pert-tab1", "pert-fig6", "pert-fig11"];
        ids.sort_by_key(|id| super::place(id));
        assert_eq!(ids, ["pert-fig6", "pert-fig11", "pert-fig13a", "pert-tab1"]);
    }
}
