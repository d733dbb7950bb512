// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a gate: a table of the suites, each claim with its status, and pictures of the cases that moved.

use super::super::document::{
    Block, Column, Document, Figure, Finding, Layout, Prose, Section, Table, TableLine,
};
use super::{tally, why};
use crate::chart::{Axis, Drawing, Group, Groups, Mark, groups};
use crate::experiment::Pace;
use crate::experiment::gate::{CaseOutcome, ClaimOutcome, Move, Outcome, Status};
use crate::report::Manifest;
use crate::table::Estimate;

/// The document.
pub fn document(outcome: &Outcome, manifest: &Manifest) -> Document {
    let about = Prose::default()
        .strong(format!("{}.", tally(outcome)))
        .then(" Subject: ")
        .code(outcome.subject.clone());
    let about = match &outcome.against {
        Some(other) => about.then(" against ").code(other.clone()),
        None => about,
    };
    let about = about.then(".");
    let mut sections = vec![Section::new("", introduction(outcome))];
    let suites = outcome.cases.chunk_by(|one, other| one.suite == other.suite);
    sections.extend(suites.map(|cases| suite(cases, outcome)));
    sections.extend(moved(outcome));
    let known = |value: &Option<String>| value.clone().unwrap_or("unknown".into());
    let facts = [
        ("version".to_string(), manifest.tool_version.clone()),
        ("revision".to_string(), known(&manifest.git_revision)),
        ("command".to_string(), known(&manifest.command)),
    ];
    sections.push(Section::new("Manifest", vec![Block::pages(vec![Block::Facts(facts.to_vec())])]));
    Document { title: format!("Gate of {}", outcome.subject), about, sections }
}

fn introduction(outcome: &Outcome) -> Vec<Block> {
    let mut blocks = vec![Block::Table(overview(outcome))];
    if outcome.pace == Pace::Quick {
        blocks.push(Block::prose("These are shortened runs with fewer seeds."));
    }
    if !outcome.has_baseline {
        blocks.push(Block::prose(
            "There is no accepted outcome of this pace: claims are judged by their own thresholds. `knee gate accept` accepts this one.",
        ));
    }
    if !outcome.gone.is_empty() {
        blocks.push(Block::prose(format!("Accepted, but no longer a case: {}.", outcome.gone.join(", "))));
    }
    blocks
}

/// The number of cases of each suite by status.
fn overview(outcome: &Outcome) -> Table {
    let shown: Vec<Status> =
        Status::ALL.iter().copied().filter(|status| outcome.count(*status) > 0).collect();
    let suites = outcome.cases.chunk_by(|one, other| one.suite == other.suite);
    let line = |cases: &[CaseOutcome]| {
        let count = |status: &Status| cases.iter().filter(|case| case.status() == *status).count();
        let cells = shown.iter().map(|status| count(status).to_string().into());
        TableLine::new(cases[0].suite.clone(), cells.collect())
    };
    Table {
        corner: "suite".into(),
        columns: shown.iter().map(|status| Column::number(status.name(), "")).collect(),
        lines: suites.map(line).collect(),
        linked: true,
    }
}

/// Every claim on a page, and in a terminal only claims that did not pass.
fn suite(cases: &[CaseOutcome], outcome: &Outcome) -> Section {
    let all: Vec<Finding> =
        cases.iter().flat_map(|case| case.claims.iter().map(|claim| finding(case, claim, outcome))).collect();
    let open = |claim: &&ClaimOutcome| {
        !matches!(claim.status, Status::Passed | Status::NotApplicable | Status::Known)
    };
    let failed: Vec<Finding> = cases
        .iter()
        .flat_map(|case| case.claims.iter().filter(open).map(|claim| finding(case, claim, outcome)))
        .collect();
    let sources = cases.iter().map(|case| {
        let told = format!("{}, {}. ", case.title, case.source);
        Prose::from(told).emphasis(case.quote.clone())
    });
    let sources = Block::List(sources.collect());
    let terminal = if failed.is_empty() { Vec::new() } else { vec![Block::Findings("claim", failed)] };
    let blocks = vec![Block::Findings("claim", all), Block::prose("The cases and their sources:"), sources];
    Section::new(cases[0].suite.clone(), vec![Block::Pages { blocks, terminal }])
}

fn finding(case: &CaseOutcome, claim: &ClaimOutcome, outcome: &Outcome) -> Finding {
    let ours = claim.judgement.ours.as_slice();
    Finding {
        name: format!("{} {}", case.id, claim.claim.id),
        text: claim.claim.text.clone(),
        verdict: claim.status.to_string(),
        stands_out: claim.status.fails() || claim.status == Status::Unjudged,
        noisy: !claim.judgement.certain,
        ours: (ours.len() == 1).then(|| super::shown(&ours[0].1)),
        published: None,
        why: vec![why(claim, outcome)],
    }
}

/// The pictures of the cases that moved.
fn moved(outcome: &Outcome) -> Option<Section> {
    let figures: Vec<Figure> = outcome.cases.iter().filter_map(figure).collect();
    (!figures.is_empty()).then(|| Section::new("What moved", vec![Block::Figures(Layout::Halves, figures)]))
}

/// The same as files: a name and a drawing each.
pub fn pictures(outcome: &Outcome) -> Vec<(String, Drawing)> {
    outcome.cases.iter().filter_map(figure).map(|figure| (figure.name, figure.drawing)).collect()
}

fn figure(case: &CaseOutcome) -> Option<Figure> {
    let moves: Vec<(&str, &Move)> = case
        .claims
        .iter()
        .flat_map(|claim| claim.moves.iter().map(|one| (claim.claim.id.as_str(), one)))
        // Nothing is a part of zero: such a move is only in the table.
        .filter(|(_, one)| one.before.mean != 0.0)
        .collect();
    if moves.is_empty() {
        return None;
    }
    let title = format!("{}: numbers now, as parts of the accepted ones", case.id);
    let drawing = groups(&Groups {
        title: title.clone(),
        y: Axis::linear("now / accepted"),
        series: vec!["now".into()],
        ranks: Vec::new(),
        groups: moves.iter().map(|(claim, one)| bar(claim, one)).collect(),
        marks: vec![Mark::y(1.0, "accepted")],
        published: Vec::new(),
    });
    Some(Figure { name: format!("moved-{}", case.id), title, note: "", class: None, drawing })
}

fn bar(claim: &str, Move { at, before, now, .. }: &Move) -> Group {
    let place = at.values().cloned().collect::<Vec<_>>().join(", ");
    let name = if place.is_empty() { claim.to_string() } else { format!("{claim}, {place}") };
    let part = |value: f64| value / before.mean;
    let half_width = now.half_width.map(|half_width| part(half_width).abs());
    Group { name, bars: vec![Estimate { mean: part(now.mean), half_width }] }
}
