// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a reproduction: every claim with its verdict, our number and the published one, and how the
//! verdicts depend on the publication's open questions.

use serde_json::Value;

use super::super::document::{
    Block, Column, Document, Figure, Finding, Layout, Prose, Section, Shown, Table, TableLine,
};
use super::{effort, figure, number, reason, shared, shown, tally};
use crate::experiment::reproduce::MOST_SEEDS;
use crate::experiment::{self, Because, Cause, Judgement, Pace, Reproduction, Verdict};
use crate::report::Manifest;
use crate::settings::Setting;
use crate::study::{Effort, Work};

/// More numbers than this are left to the file.
const MOST_NUMBERS: usize = 4;
/// The file with every claim and its numbers.
const CLAIMS: &str = "claims.json";

/// An overview, and a section for each experiment. `joint` are the experiments under every combination of the readings that they share,
/// if these were run.
pub fn document(
    outcomes: &[Reproduction],
    joint: &[Reproduction],
    taken: &Effort,
    manifest: &Manifest,
) -> Document {
    let subject = Prose::from("Published figures and tables, run again, and the verdict on each claim. ");
    let judgements: Vec<Judgement> = outcomes.iter().flat_map(Reproduction::judgements).collect();
    let is_further =
        |outcome: &Reproduction| outcome.experiment.variants[0].points.iter().any(|point| point.more > 0);
    let further = if outcomes.iter().any(is_further) {
        format!(
            " Where an experiment's own seeds leave a verdict open, the runs that it compares were repeated with further seeds, up to {MOST_SEEDS}."
        )
    } else {
        String::new()
    };
    let summary = Prose::default().strong(format!("{}.", tally(judgements.iter()))).then(format!(
        " {}. A verdict is that of the means over seeds; ± is a 95 % confidence interval over them, seed by seed for \
         differences.{further} A claim that fails keeps its row.",
        effort(taken)
    ));
    let mut introduction = vec![Block::Prose(subject.code("knee reproduce").then(" makes this page."))];
    introduction.extend(by_cause(outcomes).map(Block::Table));
    if outcomes.iter().any(is_shortened) {
        let warning = Prose::default().strong("These are shortened runs");
        introduction.push(Block::Prose(warning.then(", not the published durations.").then(open(outcomes))));
    }
    introduction.push(Block::pages(vec![Block::Table(overview(outcomes))]));
    let mut sections = vec![Section::new("", introduction)];
    sections.extend(shared::sections(outcomes, joint));
    sections.extend(outcomes.iter().map(section));
    let known = |value: &Option<String>, unknown: &str| value.clone().unwrap_or(unknown.to_string());
    let facts = [
        ("version", manifest.tool_version.clone()),
        ("revision", known(&manifest.git_revision, "unknown")),
        ("command", known(&manifest.command, "")),
        ("made", known(&manifest.created, "")),
        ("on", known(&manifest.kernel, "")),
    ];
    let facts = facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    let notes = manifest.notes.iter().map(Block::prose);
    sections.push(Section::new(
        "Manifest",
        vec![Block::pages([Block::Facts(facts)].into_iter().chain(notes).collect())],
    ));
    Document { title: "Reproduction".into(), about: summary, sections }
}

/// Whether its runs are shortened; a computation has no duration.
fn is_shortened(outcome: &Reproduction) -> bool {
    let points = outcome.experiment.variants.iter().flat_map(|variant| &variant.points);
    outcome.pace == Pace::Quick && points.into_iter().any(|point| matches!(point.work, Work::Packets(_)))
}

/// Claims that shortened runs cannot decide.
fn open(outcomes: &[Reproduction]) -> String {
    let of = |outcome: &Reproduction| {
        let name = outcome.experiment.name();
        outcome.open().into_iter().map(|claim| format!("{name} {claim}")).collect::<Vec<_>>()
    };
    let names: Vec<String> = outcomes.iter().flat_map(of).collect();
    let all: usize = outcomes.iter().map(|outcome| outcome.experiment.claims.len()).sum();
    match names.len() {
        0 => format!(" All {all} claims are decided with these seeds, for runs of this length."),
        open => format!(" With these seeds {open} of {all} claims are open: {}.", names.join(", ")),
    }
}

fn overview(outcomes: &[Reproduction]) -> Table {
    let verdicts = [Verdict::Holds, Verdict::Fails, Verdict::Untestable];
    let line = |outcome: &Reproduction| {
        let judgements = outcome.judgements();
        let list = |verdict: Verdict| {
            let claims = outcome.experiment.claims.iter().zip(&judgements);
            let ids = claims.filter(|(_, judgement)| judgement.verdict == verdict);
            ids.map(|(claim, _)| claim.id.as_str()).collect::<Vec<_>>().join(", ")
        };
        let cells = [outcome.experiment.title.clone()].into_iter().chain(verdicts.map(list));
        TableLine::new(outcome.experiment.name(), cells.map(Into::into).collect())
    };
    let columns = ["subject"].into_iter().chain(verdicts.map(Verdict::name)).map(Column::text);
    Table {
        corner: "experiment".into(),
        columns: columns.collect(),
        lines: outcomes.iter().map(line).collect(),
        linked: true,
    }
}

/// The claims that do not hold, by cause; none if all hold.
fn by_cause(outcomes: &[Reproduction]) -> Option<Table> {
    let blamed = |cause: Cause| -> Vec<String> {
        let of = |outcome: &Reproduction| {
            let claims = outcome.experiment.claims.iter().zip(outcome.causes());
            let named = claims.filter(|(_, because)| because.as_ref().is_some_and(|one| one.cause == cause));
            named.map(|(claim, _)| format!("{} {}", outcome.experiment.name(), claim.id)).collect::<Vec<_>>()
        };
        outcomes.iter().flat_map(of).collect()
    };
    let line = |cause: &Cause| {
        let claims = blamed(*cause);
        let meaning = Cause::CHOICES[*cause as usize].1;
        let cells = vec![meaning.into(), claims.len().to_string().into(), claims.join(", ").into()];
        (!claims.is_empty()).then(|| TableLine::new(cause.name(), cells))
    };
    let lines: Vec<TableLine> = Cause::ALL.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| Table {
        corner: "cause".into(),
        columns: vec![Column::text("meaning"), Column::number("claims", ""), Column::text("which")],
        lines,
        linked: false,
    })
}

fn section(outcome: &Reproduction) -> Section {
    let experiment = &outcome.experiment;
    let about = format!("{}. {}.", experiment.title, experiment.source);
    let mut blocks = vec![Block::prose(about)];
    if let Some(drawing) = figure::render(outcome) {
        let (name, title) = (experiment.id.clone(), experiment.title.clone());
        let drawn = Figure { name, title, note: "", class: None, drawing };
        blocks.push(Block::Figures(Layout::Whole, vec![drawn]));
    }
    blocks.extend(figure::tables(outcome));
    let claims = experiment.claims.iter().zip(outcome.judgements()).zip(outcome.causes());
    let findings: Vec<Finding> =
        claims.map(|((claim, judgement), because)| judged(claim, &judgement, because)).collect();
    if !findings.is_empty() {
        blocks.push(Block::Findings("claim", findings));
    }
    blocks.extend(side_by_side(outcome).into_iter().map(Block::Table));
    if !experiment.readings.is_empty() {
        let (shared, own): (Vec<_>, Vec<_>) =
            experiment.readings.iter().partition(|reading| reading.shared.is_some());
        let reading = |reading: &&experiment::Reading| {
            Prose::from(format!("{} ", reading.about)).emphasis("Taken:").then(format!(" {}", reading.taken))
        };
        let names: Vec<&str> = shared.iter().filter_map(|one| one.shared.as_deref()).collect();
        let common = format!("Of the publication: {}.", names.join(", "));
        let common = (!names.is_empty()).then(|| Prose::from(common));
        let readings = own.iter().map(reading).chain(common).collect();
        blocks.push(Block::pages(vec![Block::prose("Readings:"), Block::List(readings)]));
    }
    blocks.extend(alternatives(outcome).map(Block::Table));
    Section::new(experiment.name(), blocks)
}

/// Published numbers next to ours, a line for each: a table for all consecutive claims about numbers of the same names.
fn side_by_side(outcome: &Reproduction) -> Vec<Table> {
    let judgements = outcome.judgements();
    let claims: Vec<_> = outcome.experiment.claims.iter().zip(&judgements).collect();
    let tabled =
        claims.chunk_by(|(a, _), (b, _)| rows(a).is_some() && rows(b).is_some() && names(a) == names(b));
    tabled.filter(|run| rows(run[0].0).is_some()).map(table_of).collect()
}

fn table_of(claims: &[(&experiment::Claim, &Judgement)]) -> Table {
    let columns = claims.iter().flat_map(|(claim, _)| {
        let title = |whose: &str| match claims.len() {
            1 => whose.to_string(),
            _ => format!("{}, {whose}", claim.id),
        };
        ["published", "ours"].map(|whose| Column::number(title(whose), ""))
    });
    let line = |(place, name): (usize, &String)| {
        let cells = claims.iter().flat_map(|(claim, judgement)| {
            let published = rows(claim).and_then(|rows| rows.get(name)).map(plain).unwrap_or_default();
            [published.into(), Shown::of(&judgement.ours[place].1, 1.0)]
        });
        TableLine::new(name.clone(), cells.collect())
    };
    Table {
        corner: "number".into(),
        columns: columns.collect(),
        lines: names(claims[0].0).into_iter().enumerate().map(line).collect(),
        linked: false,
    }
}

/// The published numbers of a claim that has several, ours under the same names.
fn rows(claim: &experiment::Claim) -> Option<&serde_json::Map<String, Value>> {
    let rows = claim.published.as_ref()?.as_object()?;
    (rows.len() > 1
        && rows.len() == claim.ours.len()
        && claim.ours.iter().all(|(name, _)| rows.contains_key(name)))
    .then_some(rows)
}

fn names(claim: &experiment::Claim) -> Vec<&String> {
    claim.ours.iter().map(|(name, _)| name).collect()
}

fn judged(claim: &experiment::Claim, judgement: &Judgement, because: Option<Because>) -> Finding {
    let tabled = rows(claim).is_some();
    let grounds = reason(claim, judgement);
    Finding {
        name: claim.id.clone(),
        text: claim.text.clone(),
        verdict: judgement.verdict.to_string(),
        stands_out: judgement.verdict != Verdict::Holds,
        noisy: !judgement.certain,
        ours: (!tabled).then(|| ours(judgement, Some(CLAIMS))),
        published: published(claim).filter(|_| !tabled),
        why: vec![match because.map(blame) {
            Some(blame) => format!("{}. {blame}", grounds.trim_end_matches('.')),
            None => grounds,
        }],
    }
}

/// `Cause: unstated; holds under: a page every second.`
fn blame(because: Because) -> String {
    match because.under.as_slice() {
        [] => format!("Cause: {}.", because.cause),
        under => format!("Cause: {}; holds under: {}.", because.cause, under.join("; ")),
    }
}

/// The verdicts that change under other readings of the publication; none if no other reading was run.
fn alternatives(outcome: &Reproduction) -> Option<Table> {
    let experiment = &outcome.experiment;
    let base = outcome.judgements();
    let named = experiment.variants.iter().enumerate().skip(1);
    let run = named.filter(|(place, _)| !outcome.frames[*place].seeds().is_empty());
    let line = |(place, variant): (usize, &experiment::Variant)| {
        let claims = experiment.claims.iter().zip(base.iter().zip(outcome.under(place)));
        let changed: Vec<String> = claims
            .filter(|(_, (taken, other))| taken.verdict != other.verdict)
            .map(|(claim, (_, other))| format!("{}: {}", claim.id, other.verdict))
            .collect();
        let changed = if changed.is_empty() { "none".to_string() } else { changed.join(", ") };
        TableLine::new(variant.name.clone().unwrap_or_default(), vec![changed.into()])
    };
    let lines: Vec<TableLine> = run.map(line).collect();
    (!lines.is_empty()).then(|| Table {
        corner: "other reading".into(),
        columns: vec![Column::text("verdicts that change")],
        lines,
        linked: false,
    })
}

/// The numbers of a judgement, by name if there are several; many are counted, and the file that has them is named.
pub fn ours(judgement: &Judgement, file: Option<&str>) -> String {
    match judgement.ours.as_slice() {
        [] => number::NONE.into(),
        [(_, alone)] => shown(alone),
        several if several.len() <= MOST_NUMBERS => several
            .iter()
            .map(|(name, estimate)| format!("{name} = {}", shown(estimate)))
            .collect::<Vec<_>>()
            .join("; "),
        several => {
            let place = file.map_or(String::new(), |file| format!(", in {file}"));
            format!("{} numbers{place}", several.len())
        }
    }
}

/// The published numbers, by name if there are several.
fn published(claim: &experiment::Claim) -> Option<String> {
    Some(match claim.published.as_ref()? {
        Value::Object(map) => {
            map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("; ")
        }
        value => plain(value),
    })
}

/// A number or a text without quotation marks.
fn plain(value: &Value) -> String {
    value.to_string().trim_matches('"').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Frame;
    use crate::table::Row;

    const CLAIMED: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"

[run]
duration = "2s"
seeds = 2

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
name = "long"
cc = "reno"

[sweep]
scheme = ["pert", "sack/droptail"]

[[claim]]
id = "pert"
text = "Its row."
check = "utilization[scheme=pert] > 0"
published = { U = 0.93, J = 0.9 }
ours = { U = "utilization[scheme=pert]", J = "jain_index[scheme=pert]" }

[[claim]]
id = "sack"
text = "Its row."
check = "utilization[scheme=sack/droptail] > 0"
published = { U = 0.94, J = 0.5 }
ours = { U = "utilization[scheme=sack/droptail]", J = "jain_index[scheme=sack/droptail]" }

[[claim]]
id = "alone"
text = "One number."
check = "utilization[scheme=pert] > 0"
published = 0.9
"#;

    #[test]
    fn published_numbers_stand_beside_ours() {
        let experiment = experiment::parse(CLAIMED, Pace::Full).expect("an experiment");
        let mut frame = Frame::default();
        for seed in [1, 2] {
            for (scheme, used) in [("pert", 0.5), ("sack/droptail", 0.25)] {
                let point = [("scheme".to_string(), scheme.to_string())];
                frame.add(&point, seed, &[Row::new([]).with("utilization", used).with("jain_index", 1.0)]);
            }
        }
        let outcome = Reproduction { experiment, pace: Pace::Full, frames: vec![frame] };
        let tables = side_by_side(&outcome);
        assert_eq!(tables.len(), 1);
        let titles: Vec<&str> = tables[0].columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(titles, ["pert, published", "pert, ours", "sack, published", "sack, ours"]);
        let line = |line: &TableLine| line.cells.iter().map(|cell| cell.mean.clone()).collect::<Vec<_>>();
        assert_eq!(tables[0].lines[0].name, "U");
        assert_eq!(line(&tables[0].lines[0])[0], "0.93");
        assert!(line(&tables[0].lines[0])[3].starts_with("0.25"), "{:?}", line(&tables[0].lines[0]));
        let claims: Vec<_> = outcome.experiment.claims.iter().zip(outcome.judgements()).collect();
        assert_eq!(judged(claims[0].0, &claims[0].1, None).ours, None);
        assert_eq!(judged(claims[2].0, &claims[2].1, None).published.as_deref(), Some("0.9"));
        let one = &claims[2].1.ours[0];
        let many = Judgement { ours: vec![one.clone(); MOST_NUMBERS + 1], ..claims[2].1.clone() };
        assert_eq!(ours(&many, Some(CLAIMS)), "5 numbers, in claims.json");
    }
}
