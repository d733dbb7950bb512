// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Published figures: their claims judged by the runs of a page.
//!
//! ```text
//! the page's own scenario ─its runs─→ rows ┐
//! the figure's points, shortened ──runs──→ rows ┴─→ Frame ─Claim::judge→ Told
//! ```
//!
//! `knee reproduce` has the same experiments and judgement. A page has one seed, and its scenario is one point of the figure's sweep:
//! [`Told::part`] says of which claims it has seen a part alone.

use std::collections::{BTreeMap, BTreeSet};

use kneepoint::experiment::{self, CheckResult, Claim, Experiment, Pace, Publication, Verdict, Word, bins};
use kneepoint::scenario::Settings;
use kneepoint::study::{Frame, Work};
use kneepoint::table::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::question::{Problem, Question};

/// A publication: what its experiments share, and those that presets are about.
struct Paper {
    name: &'static str,
    publication: &'static str,
    /// By their names for `knee reproduce`.
    figures: &'static [(&'static str, &'static str)],
}

macro_rules! papers {
    ($($paper:literal $(with $shared:literal)? { $($figure:literal,)* })*) => {
        const PAPERS: &[Paper] = &[$(Paper {
            name: $paper,
            publication: concat!("", $(include_str!(concat!("../../../experiments/", $paper, "/", $shared)))?),
            figures: &[$((
                concat!($paper, ".", $figure),
                include_str!(concat!("../../../experiments/", $paper, "/", $figure, ".toml")),
            ),)*],
        },)*];
    };
}

papers! {
    "pert" with "publication.toml" { "fig7", "fig8", "fig11", }
    "adaptive-pert" with "publication.toml" { "fig28", }
    "ratcp" { "fig6", }
    "pisa" with "publication.toml" { "tab52", }
    "video" with "publication.toml" { "fig7", }
}

/// A published figure.
pub struct Figure {
    /// Its experiment, shortened as `knee reproduce --quick` has it.
    pub experiment: Experiment,
    words: Vec<Word>,
    /// The length of the publication's longest run in seconds.
    full_s: f64,
}

/// A comparison of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// As the experiment writes it.
    pub text: String,
    /// What came out at each point; nothing where the claim was not judged.
    pub at: Vec<Compared>,
}

/// A comparison at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The point, such as `topology.rtt=60ms`; empty where the claim is about one.
    pub point: String,
    /// Both sides.
    pub sides: [Option<f64>; 2],
    /// Whether it holds.
    pub holds: bool,
}

/// A claim, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// Its name within the experiment.
    pub id: String,
    /// The claim in our words.
    pub text: String,
    /// `holds`, `fails`, or `untestable`.
    pub verdict: String,
    /// The missing observation, if one is missing.
    pub missing: Option<String>,
    /// Whether the figure's sweep has values, on an axis of the claim, that these runs do not have.
    pub part: bool,
    /// The number of points at which it was judged, and at which it holds.
    pub points: [usize; 2],
    /// Our numbers.
    pub ours: Vec<(String, Option<f64>)>,
    /// The published ones.
    pub published: Option<Value>,
    /// The tolerance, and where it is from.
    pub tolerance: String,
    /// The comparisons, and what came out.
    pub checks: Vec<Checked>,
    /// The words in them, with their numbers.
    pub words: Vec<Word>,
}

/// A figure, and the verdicts on its claims.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Its name for `knee reproduce`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Publication, section, figure.
    pub source: String,
    /// The number of runs of its sweep.
    pub runs: usize,
    /// The axes of its sweep, and their values.
    pub axes: BTreeMap<String, BTreeSet<String>>,
    /// The length of the longest run in seconds: of the shortened sweep, and of the publication's.
    pub longest_s: [f64; 2],
    /// Its claims.
    pub claims: Vec<Told>,
}

/// Runs to judge by.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// The figure.
    pub figure: String,
    /// The page's scenario; the figure's own sweep without one.
    question: Option<Question>,
    /// The rows of each case.
    runs: Vec<Vec<Row>>,
}

/// The figure of this name for `knee reproduce`.
pub fn read(name: &str) -> Result<Figure, Vec<Problem>> {
    let known = PAPERS.iter().flat_map(|paper| paper.figures.iter().map(move |figure| (paper, figure)));
    let found = known.into_iter().find(|(_, (own, _))| *own == name);
    let (paper, (_, text)) =
        found.ok_or_else(|| vec![Problem::new(format!("no figure is called `{name}`"))])?;
    let all = Publication::parse(paper.publication).and_then(|publication| {
        let read = |pace| experiment::parse_known(&publication, text, pace);
        Ok((read(Pace::Quick)?, read(Pace::Full)?, publication.words))
    });
    let (quick, full, words) = all.map_err(|faults| -> Vec<Problem> {
        faults.into_iter().map(|fault| Problem::new(fault.message)).collect()
    })?;
    let experiment = Experiment { paper: paper.name.into(), ..quick };
    Ok(Figure { experiment, words, full_s: longest_s(&full) })
}

/// The length of the longest run of an experiment, in seconds.
fn longest_s(experiment: &Experiment) -> f64 {
    let lengths = experiment.variants[0].points.iter().map(|point| match &point.work {
        Work::Packets(packets) => packets.valid.schedule().duration.as_secs_f64(),
        _ => 0.0,
    });
    lengths.fold(0.0, f64::max)
}

impl Asked {
    /// The claims of the figure, judged by the runs.
    pub fn judged(&self, figure: &Figure) -> Result<Judged, Vec<Problem>> {
        let experiment = &figure.experiment;
        let points = match &self.question {
            Some(question) => question.points(&swept(experiment))?,
            None => experiment.variants[0].points.iter().map(|point| point.labels.clone()).collect(),
        };
        let runs = points.iter().zip(&self.runs).map(|(point, rows)| (point.as_slice(), 1, rows.clone()));
        let frame = bins::frame(experiment.bins.as_ref(), runs);
        let claims = experiment.claims.iter().map(|claim| told(claim, figure, &frame)).collect();
        Ok(Judged {
            name: experiment.name(),
            title: experiment.title.clone(),
            source: experiment.source.clone(),
            runs: experiment.variants[0].points.len(),
            axes: axes(experiment),
            longest_s: [longest_s(experiment), figure.full_s],
            claims,
        })
    }
}

/// The axes of an experiment's sweep.
fn swept(experiment: &Experiment) -> BTreeSet<&str> {
    labels(experiment).map(|(axis, _)| axis).collect()
}

fn labels(experiment: &Experiment) -> impl Iterator<Item = (&str, &str)> {
    let points = experiment.variants[0].points.iter().flat_map(|point| &point.labels);
    points.map(|(axis, label)| (axis.as_str(), label.as_str()))
}

/// The axes of an experiment's sweep, with their values.
fn axes(experiment: &Experiment) -> BTreeMap<String, BTreeSet<String>> {
    let mut axes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (axis, label) in labels(experiment) {
        axes.entry(axis.into()).or_default().insert(label.into());
    }
    axes
}

/// What came out of each comparison of a claim: a point has one result of each, in their order.
fn checked(claim: &Claim, results: &[CheckResult]) -> Vec<Checked> {
    let every = claim.checks.len().max(1);
    let of = |place: usize| results.iter().skip(place).step_by(every).map(compared).collect();
    let each = claim.checks.iter().enumerate();
    each.map(|(place, check)| Checked { text: check.text.clone(), at: of(place) }).collect()
}

fn compared(result: &CheckResult) -> Compared {
    let labels: Vec<String> = result.at.iter().map(|(axis, label)| format!("{axis}={label}")).collect();
    let sides = [result.left, result.right].map(|side| Some(side).filter(|side| side.is_finite()));
    Compared { point: labels.join(", "), sides, holds: result.holds }
}

fn told(claim: &Claim, Figure { experiment, words, .. }: &Figure, frame: &Frame) -> Told {
    let judgement = claim.judge(frame);
    let axes = claim.axes();
    let absent = |(axis, label): (&str, &str)| {
        axes.contains(axis) && !frame.labels(axis).iter().any(|known| known == label)
    };
    let pooled = experiment.bins.as_ref().filter(|bins| axes.contains(bins.name.as_str()));
    let unfilled = pooled.is_some_and(|bins| bins.labels().iter().any(|bin| absent((&bins.name, bin))));
    let points: Vec<bool> = judgement
        .points
        .chunk_by(|one, next| one.at == next.at)
        .map(|point| point.iter().all(|check| check.holds))
        .collect();
    let mut points = [points.len(), points.into_iter().filter(|holds| *holds).count()];
    if judgement.verdict == Verdict::Untestable {
        points = [0, 0];
    }
    let ours = judgement
        .ours
        .iter()
        .map(|(name, estimate)| (name.clone(), Some(estimate.mean).filter(|mean| mean.is_finite())));
    Told {
        id: claim.id.clone(),
        text: claim.text.clone(),
        verdict: judgement.verdict.to_string(),
        missing: judgement.missing,
        part: unfilled || labels(experiment).any(absent),
        points,
        ours: ours.collect(),
        published: claim.published.clone(),
        tolerance: claim.tolerance.clone(),
        checks: checked(claim, &judgement.points),
        words: words
            .iter()
            .filter(|word| claim.checks.iter().any(|check| has(&check.text, &word.name)))
            .cloned()
            .collect(),
    }
}

/// Whether a check has a word.
fn has(check: &str, word: &str) -> bool {
    check.split(|sign: char| !sign.is_alphanumeric() && sign != '_').any(|part| part == word)
}

impl Question {
    /// The labels of each case along some axes: those that it sweeps, and fields that it sets.
    fn points(&self, axes: &BTreeSet<&str>) -> Result<Vec<Settings>, Vec<Problem>> {
        let checked = self.check()?;
        let set: Settings = axes
            .iter()
            .filter_map(|axis| Some((axis.to_string(), label(field(&checked.tree, axis)?))))
            .collect();
        let point = |settings: &Settings| {
            let own = |axis: &str| settings.iter().any(|(swept, _)| swept == axis);
            let fixed = set.iter().filter(|(axis, _)| !own(axis));
            settings.iter().filter(|(axis, _)| axes.contains(axis.as_str())).chain(fixed).cloned().collect()
        };
        Ok(checked.cases.iter().map(|case| point(&case.settings)).collect())
    }
}

/// The field of a scenario at a path, in whose arrays tables have names.
fn field<'t>(tree: &'t Value, path: &str) -> Option<&'t Value> {
    path.split('.').try_fold(tree, |tree, key| match tree {
        Value::Array(tables) => tables.iter().find(|table| table["name"] == key),
        _ => tree.get(key),
    })
}

fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use crate::running::Running;

    #[test]
    fn every_figure_of_a_preset_is_an_experiment_and_every_experiment_is_the_figure_of_a_preset() {
        let figures = || PAPERS.iter().flat_map(|paper| paper.figures).map(|(name, _)| *name);
        for name in figures() {
            assert_eq!(read(name).expect(name).experiment.name(), name);
        }
        let named: BTreeSet<&str> = presets::ALL.iter().filter_map(|preset| preset.figure).collect();
        assert_eq!(named, figures().collect());
    }

    /// The verdicts of a preset's runs, shortened to a few seconds.
    fn judged(id: &str, set: &[&str]) -> Judged {
        let preset = presets::ALL.iter().find(|preset| preset.id == id).expect("a preset");
        let set = set.iter().map(|line| line.to_string()).collect();
        let question = Question { text: preset.text.into(), set, ..Question::default() };
        let cases = question.check().expect("a scenario").cases.len();
        let rows = |case| {
            let begun = Running::new(&Question { case, ..question.clone() });
            let Ok(mut running) = begun else { panic!("{id} has no run {case}") };
            running.advance(1e9);
            running.finish().expect("an answer").rows
        };
        let runs = (0..cases).map(rows).collect();
        let figure = preset.figure.expect("a figure");
        let asked = Asked { figure: figure.into(), question: Some(question), runs };
        asked.judged(&read(figure).expect("an experiment")).expect("judged")
    }

    #[test]
    fn a_claim_about_every_round_trip_is_judged_at_the_one_that_is_set() {
        let told = judged("pert-figure-7", &["run.duration=6s", "topology.rate=5mbit"]);
        let a = &told.claims[0];
        assert_eq!((a.part, a.points[0], told.runs), (true, 1, 28), "{a:?}");
        assert!(a.ours.iter().all(|(name, _)| name.contains("topology.rtt=60ms")), "{a:?}");
        // Its tolerance has numbers.
        let words: Vec<(&str, f64)> = a.words.iter().map(|word| (word.name.as_str(), word.value)).collect();
        assert_eq!((words, a.checks.len()), (vec![("similar", 0.25), ("little", 0.02), ("none", 1e-5)], 2));
        // Each of its comparisons has a verdict; the claim holds where all of them do.
        let at = |check: &Checked| check.at.iter().map(|one| one.holds).collect::<Vec<_>>();
        let [first, second] = [&a.checks[0], &a.checks[1]].map(at);
        assert_eq!((first.len(), second.len()), (1, 1), "{a:?}");
        assert_eq!(a.verdict == "holds", first[0] && second[0], "{a:?}");
        assert_eq!(a.checks[0].at[0].point, "topology.rtt=60ms");
        assert!(a.checks[1].at[0].sides.iter().all(Option::is_some), "{a:?}");
        // The publication's runs are longer than the shortened ones.
        assert_eq!(told.longest_s, [60.0, 400.0]);
        assert!(told.axes["topology.rtt"].contains("60ms"));
    }

    #[test]
    fn a_claim_about_one_point_is_judged_whole_and_one_about_another_point_not_at_all() {
        let ten = judged("pert-figure-8", &["run.duration=6s", "topology.rate=5mbit"]);
        let thousand = &ten.claims[1];
        assert_eq!(thousand.verdict, "untestable");
        assert!(
            thousand.missing.as_ref().is_some_and(|missing| missing.contains("count=1000")),
            "{thousand:?}"
        );
        let set = ["run.duration=6s", "topology.rate=5mbit", "flows.long.count=1000"];
        let told = &judged("pert-figure-8", &set).claims[1];
        assert_eq!((told.part, told.points[0]), (false, 1));
        assert_ne!(told.verdict, "untestable");
    }

    #[test]
    fn the_sweep_of_a_figure_judges_all_of_it() {
        let figure = read("pisa.tab52").expect("an experiment");
        let rows = |case| {
            let begun = Running::of_figure(&figure.experiment, &Question { case, ..Question::default() });
            let Ok(mut running) = begun else { panic!("there is no run {case}") };
            running.advance(10.0);
            running.finish().expect("an answer").rows
        };
        let runs = (0..figure.experiment.variants[0].points.len()).map(rows).collect();
        let told = Asked { runs, ..Asked::default() }.judged(&figure).expect("judged");
        assert!(told.claims.iter().all(|claim| !claim.part && claim.missing.is_none()), "{told:?}");
        assert_eq!(told.claims[0].published.as_ref().map(|numbers| &numbers["queue"]), Some(&197.01.into()));
    }
}
