// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cases of `knee live`: from a scenario, or the points of an experiment with its claims.

use std::path::Path;

use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::study::{self, Measured, on_linux};
use kneepoint::experiment::{Claim, Experiment, Pace, Point, Scope};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::study::Work;
use kneepoint::units::Span;

use super::invalid;
use super::queue::KernelQueue;
use crate::comparison::refused;
use crate::failure::Failure;
use crate::library;
use crate::path::Fields;
use crate::verbs::run::{UNNAMED, row_name, usual_sample};

/// The runs to be made.
pub struct Cases {
    pub title: String,
    /// For the directory of the results.
    pub name: String,
    /// Name and text.
    pub source: (String, String),
    pub all: Vec<Case>,
    pub claims: Vec<Claim>,
    pub notes: Vec<String>,
}

/// One of them.
pub struct Case {
    pub name: String,
    /// Its point of the sweep.
    pub labels: Vec<(String, String)>,
    pub valid: Valid,
}

impl Case {
    /// The case with its runs.
    pub fn measured((case, measured): (Case, Vec<Measured>)) -> study::Case {
        let Case { name, labels, valid } = case;
        study::Case { name, labels, valid, measured }
    }
}

/// Parts of a scenario that are changed.
#[derive(Clone, Copy)]
pub struct Choice<'c> {
    pub pace: Pace,
    /// Only cases whose names contain this.
    pub only: Option<&'c str>,
    /// The discipline of bottlenecks, by the kernel's name.
    pub queue: Option<&'c KernelQueue>,
}

/// The cases of a scenario file or of an experiment, with Linux hosts.
pub fn cases(session: &Session, path: &Path, choice: Choice) -> Result<Cases, Failure> {
    let Choice { pace, only, queue } = choice;
    let is_file = path.extension().is_some_and(|end| end == "toml") || path == "-";
    let mut cases = if is_file && !library::is_experiment(&files::read_text(session, path)?) {
        of_scenario(session, path, queue)?
    } else if let Some(KernelQueue { name, .. }) = queue {
        return Err(Failure::usage(
            format!("--queue kernel:{name}: an experiment has the queues that its claims are about"),
            "leave it out, or give a scenario",
        ));
    } else {
        of_experiment(session, path, pace)?
    };
    cases.all.retain(|case| only.is_none_or(|only| case.name.contains(only)));
    if cases.all.is_empty() {
        return Err(Failure::usage("no case is left to run", "choose others with `--only`, or leave it out"));
    }
    for case in &mut cases.all {
        let usual = usual_sample(&case.valid);
        let sample = case.valid.schedule().sample.unwrap_or(usual);
        let sampled = case.valid.clone().with_sample(Some(sample).filter(|sample| *sample > Span::ZERO));
        let (valid, notes) = sampled.and_then(on_linux).map_err(invalid)?;
        case.valid = valid;
        for note in notes {
            if !cases.notes.contains(&note) {
                cases.notes.push(note);
            }
        }
    }
    Ok(cases)
}

fn of_scenario(session: &Session, path: &Path, queue: Option<&KernelQueue>) -> Result<Cases, Failure> {
    let text = files::read_text(session, path)?;
    let origin = path.display().to_string();
    let open = |name: &str| files::beside(path, name);
    let mut fields = Fields::default();
    if let Some(queue) = queue {
        queue.set(&mut fields);
    }
    let (parsed, text) = match scenario::parse_set(&text, fields.lines(), &open, &open) {
        Ok(parsed) => parsed,
        Err(faults) => return Err(refused(origin, text, &fields, faults)),
    };
    if let Some((queue, case)) = queue.zip(parsed.cases.first()) {
        queue.must_be_in(&case.valid)?;
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|stem| stem != "-").unwrap_or_else(|| parsed.name.clone());
    let title = if parsed.name == UNNAMED { name.clone() } else { parsed.name };
    let case = |case: scenario::Case| Case {
        name: row_name(&title, &case.settings),
        labels: case.settings,
        valid: case.valid,
    };
    let all = parsed.cases.into_iter().map(case).collect();
    Ok(Cases { title, source: (name.clone(), text), name, all, claims: Vec::new(), notes: Vec::new() })
}

fn of_experiment(session: &Session, name: &Path, pace: Pace) -> Result<Cases, Failure> {
    let found = library::find(session, &[name], pace, Scope::Taken)?;
    let [volume] = &found[..] else {
        let message = format!("`{}` stands for {} experiments", name.display(), found.len());
        return Err(Failure::usage(message, "name one of them; `knee reproduce --list` shows all"));
    };
    let Experiment { id, title, variants, claims, .. } = volume.experiment.clone();
    let points = variants.into_iter().next().into_iter().flat_map(|variant| variant.points);
    let case = |Point { labels, work, .. }: Point| match work {
        Work::Packets(packets) => Some(Case { name: row_name(&id, &labels), labels, valid: packets.valid }),
        Work::Computation(_) => None,
    };
    let all = points.filter_map(case).collect();
    Ok(Cases { title, source: (id.clone(), volume.text.clone()), all, claims, notes: Vec::new(), name: id })
}

#[cfg(test)]
mod tests {
    use kneepoint_bench::program::session;

    use super::*;

    #[test]
    fn published_experiments_have_cases_for_the_kernel() {
        let cases = of_experiment(&session(), Path::new("pert.fig6"), Pace::Full).unwrap();
        let names: std::collections::BTreeSet<_> = cases.all.iter().map(|case| &case.name).collect();
        assert!(names.len() == cases.all.len() && names.len() > 1, "{names:?}");
        assert!(!cases.claims.is_empty());
        assert!(
            of_experiment(&session(), Path::new("pert"), Pace::Full).is_err(),
            "a publication is more than one"
        );
    }
}
