// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The request to a gate: `gate.toml`, and options that take precedence.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::experiment::Pace;
use kneepoint::experiment::gate::settings::{self, Asked};
use kneepoint::experiment::gate::suites::{self, Carried};
use kneepoint::experiment::gate::{Baseline, Gate, Limits, Outcome, Question, Refused, Threshold};
use kneepoint::report::Manifest;
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint_bench::session::{Engine, Session};
use kneepoint_bench::{conductor, files};

use super::super::compare::read_scheme;
use crate::completion;
use crate::failure::Failure;
use crate::manifest;
use crate::means::{MeansOptions, Sweep};
use crate::values::number;

/// Options of `run` and `accept`.
#[derive(Args)]
pub struct Options {
    /// Scheme under test, instead of the one in gate.toml; with it no gate.toml is needed
    #[arg(value_name = "SCHEME", add = completion::scheme())]
    subject: Option<String>,
    /// Suites, or files of cases, instead of the ones in gate.toml [default without one: rfc9743,coexist]
    #[arg(long, value_delimiter = ',', value_name = "SUITE,…")]
    suite: Vec<String>,
    /// The file with the request [default: gate.toml, if there is one or no SCHEME]
    #[arg(long, value_name = "FILE")]
    gate: Option<PathBuf>,
    /// Shortened runs with fewer seeds
    #[arg(long)]
    quick: bool,
    /// Another scheme: no claim may have a smaller margin than with this one
    #[arg(long, value_name = "SCHEME", add = completion::scheme())]
    against: Option<String>,
    /// Permitted shortfall, as a part of the compared number [default: 0.05]
    #[arg(long, value_name = "PART", value_parser = number)]
    margin: Option<f64>,
    /// Permitted change of a number from the baseline, as a part of it [default: 0.02]
    #[arg(long, value_name = "PART", value_parser = number)]
    tolerance: Option<f64>,
    /// The baseline [default: gate.json next to gate.toml]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Seeds of each case, instead of its own
    #[arg(long, value_name = "N", value_parser = scenario::seeds)]
    seeds: Option<u32>,
    #[command(flatten)]
    means: MeansOptions,
}

/// The default file with the request.
pub const GATE: &str = "gate.toml";
/// The suites without such a file.
pub const SUITES: [&str; 2] = ["rfc9743", "coexist"];

/// A gate, and where its files are.
pub struct Planned {
    gate: Gate,
    /// The file with the request, for messages that refer to it.
    pub place: String,
    /// The file of the baseline.
    pub baseline: PathBuf,
    /// The baseline.
    pub accepted: Option<Baseline>,
    /// Every file that the gate reads.
    pub inputs: Vec<PathBuf>,
}

impl Options {
    /// The requested gate; `renews` says whether its outcome replaces the baseline, which then must be of
    /// this subject.
    pub fn plan(&self, session: &Session, renews: bool) -> Result<Planned, Failure> {
        let place = self.gate.clone().unwrap_or(GATE.into());
        let wanted = self.gate.is_some() || self.subject.is_none() || place.is_file();
        let (asked, thresholds) = if wanted { read(session, &place)? } else { self.alone()? };
        let subject = self.subject.clone().unwrap_or(asked.subject.0.clone());
        let subject = read_scheme(session, &subject, &[])?;
        let against = self.against.clone().or(Some(asked.against.0.clone()).filter(|name| !name.is_empty()));
        let against = against.map(|name| read_scheme(session, &name, &[])).transpose()?;
        let baseline = self.baseline.clone().unwrap_or(place.with_file_name(&asked.baseline.0));
        let accepted = accepted(session, &baseline)?;
        if accepted.is_none() && self.baseline.is_some() && !renews {
            let message = format!("there is no baseline `{}`", baseline.display());
            return Err(Failure::usage(message, "`knee gate accept` with the same --baseline writes it"));
        }
        if let Some(accepted) = accepted.as_ref().filter(|accepted| accepted.subject != subject.name)
            && (self.baseline.is_some() || renews && self.subject.is_some())
        {
            let message = format!("`{}` is of `{}`", baseline.display(), accepted.subject);
            let remedy = format!("name the baseline of `{}` by --baseline", subject.name);
            return Err(Failure::usage(message, remedy));
        }
        let (cases, own) = self.cases(session, &place, &asked)?;
        let inputs = [place.clone(), baseline.clone()].into_iter().chain(own).collect();
        let question = Question {
            against,
            extensions: session.extensions().clone(),
            cases,
            thresholds,
            pace: if self.quick { Pace::Quick } else { Pace::Full },
            seeds: self.seeds.or(Some(asked.seeds).filter(|seeds| *seeds > 0)),
            limits: Limits {
                tolerance: self.tolerance.unwrap_or(asked.tolerance),
                margin: self.margin.unwrap_or(asked.margin),
            },
            // A baseline of another subject does not apply.
            baseline: accepted.clone().filter(|accepted| accepted.subject == subject.name),
            partial: !self.suite.is_empty(),
            subject,
        };
        let beside = |named: &str| files::beside(&place, named);
        let unfit = |valid: &Valid| session.unfit(valid);
        let unseen = |valid: &Valid| session.engine(valid).map_or(&[][..], Engine::unseen);
        let gate = question.plan(&beside).map_err(refused)?.without(&unfit, &unseen);
        Ok(Planned { gate, place: place.display().to_string(), baseline, accepted, inputs })
    }

    /// The default where there is no `gate.toml`.
    fn alone(&self) -> Result<(Asked, Vec<Threshold>), Failure> {
        let suites = SUITES.map(|suite| format!("\"{suite}\"")).join(", ");
        let text = format!("subject = \"reno\"\nsuites = [{suites}]\n");
        settings::parse(&text).map_err(|faults| Failure::Scenario { origin: GATE.into(), text, faults })
    }

    /// The cases, and the files among them.
    fn cases(
        &self,
        session: &Session,
        place: &Path,
        asked: &Asked,
    ) -> Result<(Vec<Carried>, Vec<PathBuf>), Failure> {
        let mut paths = Vec::new();
        let own = !self.suite.is_empty();
        let names = if own { &self.suite } else { &asked.suites.0 };
        let mut cases = Vec::new();
        for (number, name) in names.iter().enumerate() {
            if names[..number].contains(name) {
                return Err(Failure::usage(format!("`{name}` is among the suites twice"), "name it once"));
            }
            if !name.ends_with(".toml") {
                let remedy = "`knee gate init` writes the suites into gate.toml; files of cases end in .toml";
                cases.extend(suites::cases(name).map_err(|why| Failure::usage(why, remedy))?);
                continue;
            }
            let path = if own { PathBuf::from(name) } else { place.with_file_name("").join(name) };
            let text = files::read_text(session, &path)?;
            cases.push(Carried { suite: "own".into(), origin: name.clone(), text });
            paths.push(path);
        }
        if cases.is_empty() {
            return Err(Failure::usage("the gate has no case to test", "name a suite, such as `rfc9743`"));
        }
        Ok((cases, paths))
    }
}

fn read(session: &Session, place: &Path) -> Result<(Asked, Vec<Threshold>), Failure> {
    let remedy = "`knee gate init` writes one; with a SCHEME none is needed";
    let text = files::read_text_of(session, "a gate in TOML", place, remedy)?;
    let origin = place.display().to_string();
    settings::parse(&text).map_err(|faults| Failure::Scenario { origin, text, faults })
}

fn accepted(session: &Session, path: &Path) -> Result<Option<Baseline>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let text = files::read_text_of(session, "a baseline", path, "")?;
    let wrong = |why: String| {
        let message = format!("`{}`: {why}", path.display());
        Failure::usage(message, "restore it, or remove it and write another with `knee gate accept`")
    };
    Baseline::read(&text).map(Some).map_err(wrong)
}

fn refused(why: Refused) -> Failure {
    match why {
        Refused::Case { origin, text, faults } => Failure::Scenario { origin, text, faults },
        Refused::Twice(id) => {
            let message = format!("two cases of the suites are called `{id}`, of which a baseline keeps one");
            Failure::usage(
                message,
                "give each file an `id` of its own under [experiment], and name each file once",
            )
        }
        Refused::Threshold(message) => Failure::usage(message, "a threshold names a case of the suites"),
    }
}

impl Planned {
    /// Makes the runs, and judges.
    pub fn conduct(&mut self, session: &Session, options: &Options) -> Result<(Outcome, Manifest), Failure> {
        let sweep = Sweep::from(&options.means);
        let conducted = conductor::conduct(session, &mut self.gate, &sweep, &())?;
        let left = conducted.left();
        if left > 0 {
            return Err(Failure::Interrupted(format!(
                "stopped: {left} runs were not finished; the same command continues"
            )));
        }
        let texts = self.gate.texts().collect();
        Ok((conducted.outcome, manifest::of(session, texts, Vec::new(), Vec::new())))
    }
}
