// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a hunt: a table of the weaknesses, the map of each, and the findings as scenarios.

use super::super::document::{
    Block, Column, Document, Figure, Layout, Prose, Section, Shown, Table, TableLine,
};
use super::Outcome;
use crate::chart::{Heat, heat};
use crate::experiment::hunted::Finding;
use crate::report::{Manifest, manifest, studio};
use crate::study::hunt::{AXES, Archive, Arena, Weakness};
use crate::table::Estimate;
use crate::table::number::{self, counted};

/// The pairs of axes of a map: rows and columns.
const MAPS: [(usize, usize); 2] = [(2, 0), (3, 1)];

/// The headings of the overview that do not explain themselves.
const LEGEND: &str = "A network shows a weakness from the score in “a finding from” on, and “of the map” is the \
                      part of the known cells with such a network. Of the worst ones, those are “not confirmed” \
                      whose mean score over further seeds is less, or on which the numbers that a comparison \
                      measures do not differ.";

/// The document.
pub fn document(outcome: &Outcome, made: &Manifest) -> Document {
    let hunt = outcome.hunt;
    let contestants = &hunt.arena.contestants;
    let [subject, reference] = [&contestants.subject.name, &contestants.reference.name];
    let about = Prose::default()
        .then("Where is ")
        .code(subject.clone())
        .then(" far worse than ")
        .code(reference.clone())
        .then(format!(
            " on the same network? {} of the profile {} ({}), with {} hosts and seed {}.",
            counted(hunt.progress.evaluations, "network"),
            hunt.profile.name,
            hunt.profile.about,
            contestants.host,
            hunt.seed
        ));
    let mut sections = vec![Section::new("", vec![Block::Table(overview(outcome)), Block::prose(LEGEND)])];
    for (weakness, archive) in hunt.archives() {
        sections.push(section(weakness, archive, outcome));
    }
    let bounds = format!("The bounds of the profile are ours, after: {}.", hunt.profile.source);
    sections.push(Section::new("Profile", vec![Block::pages(vec![Block::prose(bounds)])]));
    sections.push(manifest::section(made));
    Document { title: format!("Hunt of {subject} against {reference}"), about, sections }
}

fn percent(part: f64) -> String {
    number::significant(100.0 * part, 2)
}

fn overview(outcome: &Outcome) -> Table {
    let line = |((weakness, archive), others): ((&Weakness, &Archive), &usize)| {
        let count = outcome.findings.iter().filter(|finding| finding.weakness.name == weakness.name).count();
        let best = archive.best().map_or(number::NONE.to_string(), |elite| shown(elite.score));
        let cells: Vec<Shown> = vec![
            best.into(),
            shown(weakness.found).into(),
            percent(archive.part_above(weakness.found)).into(),
            count.to_string().into(),
            others.to_string().into(),
            weakness.about.into(),
        ];
        TableLine { about: weakness.about.into(), ..TableLine::new(weakness.name, cells) }
    };
    Table {
        corner: "weakness".into(),
        columns: vec![
            Column::number("greatest score", ""),
            Column::number("a finding from", ""),
            Column::number("of the map", "%"),
            Column::number("findings", ""),
            Column::number("not confirmed", ""),
            Column::text("what is worse"),
        ],
        lines: outcome.hunt.archives().zip(outcome.others).map(line).collect(),
        linked: false,
    }
}

fn shown(score: f64) -> String {
    format!("{score:.2}")
}

fn round(score: f64) -> f64 {
    (100.0 * score).round() / 100.0
}

fn section(weakness: &'static Weakness, archive: &Archive, outcome: &Outcome) -> Section {
    let figures = MAPS.map(|axes| figure(weakness, archive, axes)).into();
    let note =
        format!("The greatest score in each cell; {}. A cell without a network is grey.", weakness.company);
    let mut blocks = vec![Block::prose(note), Block::Figures(Layout::Halves, figures)];
    let mut terminal = Vec::new();
    for (finding, link) in outcome.findings.iter().zip(outcome.links) {
        if finding.weakness.name != weakness.name {
            continue;
        }
        let told = told(finding);
        terminal.push(Block::prose(told.clone()));
        blocks.push(Block::prose(told));
        blocks.push(Block::Listing(format!("{}.toml", finding.id), finding.text.clone()));
        blocks.push(Block::Prose(studio::link(link.trim_start_matches('#'))));
    }
    Section::new(weakness.name, vec![Block::Pages { blocks, terminal }])
}

fn told(finding: &Finding) -> String {
    let [ours, theirs] = finding.values.map(|value| number::significant(value, 3));
    format!(
        "{}: {} against {} ({}), score {}, {}, {}; the claim {}.",
        finding.id,
        ours,
        theirs,
        finding.weakness.told,
        shown(finding.score),
        counted(finding.genome.steps.len(), "step"),
        counted(Arena::seeds(&finding.genome), "seed"),
        finding.verdict
    )
}

fn figure(weakness: &Weakness, archive: &Archive, (rows, columns): (usize, usize)) -> Figure {
    let cell = |value: Option<f64>| Estimate { mean: value.map_or(f64::NAN, round), half_width: None };
    let cells = archive.map(rows, columns).into_iter().map(|row| row.into_iter().map(cell).collect());
    let names = |axis: usize| {
        (AXES[axis].name.to_string(), AXES[axis].bins.iter().map(|bin| (*bin).into()).collect())
    };
    let title = format!("{}: {} and {}", weakness.name, AXES[columns].name, AXES[rows].name);
    let drawing = heat(&Heat {
        title: title.clone(),
        columns: names(columns),
        rows: names(rows),
        cells: cells.collect(),
        quantity: "greatest score".into(),
    });
    let name = format!("map-{}-{rows}{columns}", weakness.name);
    Figure { name, title, note: "", class: None, drawing }
}
