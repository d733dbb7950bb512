// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The readings that a publication's experiments share, and the verdicts on its claims under their alternatives, alone
//! and together.

use super::super::document::{Block, Column, Prose, Section, Table, TableLine};
use crate::experiment::{Choice, Reading, Reproduction, Variant, Verdict};

/// A section for each publication whose experiments share readings. `joint` are those that were run under every combination.
pub fn sections(outcomes: &[Reproduction], joint: &[Reproduction]) -> Vec<Section> {
    let papers = outcomes.chunk_by(|one, other| one.experiment.paper == other.experiment.paper);
    let of = |taken: &[Reproduction]| {
        let paper = &taken.first()?.experiment.paper;
        let own: Vec<&Reproduction> =
            joint.iter().filter(|outcome| outcome.experiment.paper == *paper).collect();
        section(taken, &own)
    };
    papers.filter_map(of).collect()
}

fn section(outcomes: &[Reproduction], joint: &[&Reproduction]) -> Option<Section> {
    let readings = readings(outcomes);
    let first = outcomes.first().filter(|_| !readings.is_empty())?;
    let mut blocks = vec![Block::List(readings.iter().map(|reading| told(reading)).collect())];
    let lines = lines(joint, &readings);
    if lines.len() > 1 {
        let seeds = joint.iter().map(|outcome| outcome.experiment.seeds.len()).max().unwrap_or(0);
        let about = format!(
            "Every claim of the publication judged with all its experiments under the same readings, by shortened runs with at most {seeds} \
             seeds. Open are those that cannot be tested; gained are claims that hold under these and not as taken, lost the other way round."
        );
        blocks.push(Block::prose(about));
        blocks.push(Block::Table(Table {
            corner: "readings".into(),
            columns: ["hold", "fail", "open", "gained", "lost"].map(|name| Column::number(name, "")).into(),
            lines,
            linked: false,
        }));
    }
    Some(Section::new(format!("Readings of {}", first.experiment.paper), blocks))
}

/// The readings that some experiments share, in the order of the publication's file.
fn readings(outcomes: &[Reproduction]) -> Vec<&Reading> {
    let mut found: Vec<&Reading> = Vec::new();
    for outcome in outcomes {
        // A reading that is new here is inserted before the ones that follow it here.
        let mut place = 0;
        for reading in outcome.experiment.readings.iter().filter(|reading| reading.shared.is_some()) {
            match found.iter().position(|other| other.shared == reading.shared) {
                Some(known) => place = known + 1,
                None => {
                    found.insert(place, reading);
                    place += 1;
                }
            }
        }
    }
    found
}

fn told(reading: &Reading) -> Prose {
    let name = reading.shared.clone().unwrap_or_default();
    let told = Prose::default().strong(format!("{name}.")).then(format!(" {} ", reading.about));
    told.emphasis("Taken:")
        .then(format!(" {} ", reading.taken))
        .emphasis("Why:")
        .then(format!(" {}", reading.because))
}

/// A line for each choice that every experiment was run under.
fn lines(outcomes: &[&Reproduction], readings: &[&Reading]) -> Vec<TableLine> {
    let taken: Vec<Verdict> = outcomes.iter().flat_map(|outcome| verdicts(outcome, 0)).collect();
    let line = |choice: &Choice| {
        let of = |outcome: &&Reproduction| Some(verdicts(outcome, place(outcome, choice)?));
        let judged: Vec<Verdict> = outcomes.iter().map(of).collect::<Option<Vec<_>>>()?.concat();
        let count = |wanted| judged.iter().filter(|verdict| **verdict == wanted).count();
        let changed = |from: &[Verdict], to: &[Verdict]| {
            let holds = |verdict: &Verdict| *verdict == Verdict::Holds;
            from.iter().zip(to).filter(|(before, after)| !holds(before) && holds(after)).count()
        };
        let counts = Verdict::ALL.iter().map(|verdict| count(*verdict));
        let changes = [changed(&taken, &judged), changed(&judged, &taken)];
        let cells = counts.chain(changes).map(|number| number.to_string().into());
        let named = |reading: &&Reading| {
            let id = reading.shared.as_ref()?;
            choice.get(id).map(|name| format!("{id}: {name}"))
        };
        let names: Vec<String> = readings.iter().filter_map(named).collect();
        let name = if names.is_empty() { "as taken".to_string() } else { names.join("; ") };
        Some(TableLine::new(name, cells.collect()))
    };
    choices(outcomes).iter().filter_map(line).collect()
}

fn verdicts(outcome: &Reproduction, variant: usize) -> Vec<Verdict> {
    outcome.under(variant).iter().map(|judgement| judgement.verdict).collect()
}

/// The variant of an experiment under a choice, if it was run: with the alternatives of its own readings.
fn place(outcome: &Reproduction, choice: &Choice) -> Option<usize> {
    let variants = &outcome.experiment.variants;
    let known = |id: &String| variants.iter().any(|variant| variant.choice.contains_key(id));
    let own: Choice =
        choice.iter().filter(|(id, _)| known(id)).map(|(id, name)| (id.clone(), name.clone())).collect();
    let is_own = |variant: &Variant| variant.choice == own && (variant.name.is_none() == own.is_empty());
    let place = variants.iter().position(is_own)?;
    // Claims without runs are the same under all.
    let run = variants[place].points.is_empty() || !outcome.frames[place].seeds().is_empty();
    run.then_some(place)
}

/// Every combination of the alternatives that some experiment has, fewer alternatives first.
fn choices(outcomes: &[&Reproduction]) -> Vec<Choice> {
    let mut alternatives: Vec<(&String, &String)> = Vec::new();
    let variants = outcomes.iter().flat_map(|outcome| &outcome.experiment.variants);
    for one in variants.filter(|variant| variant.choice.len() == 1).flat_map(|variant| &variant.choice) {
        if !alternatives.contains(&one) {
            alternatives.push(one);
        }
    }
    let mut choices = vec![Choice::new()];
    for (id, name) in alternatives {
        let free = choices.iter().filter(|choice| !choice.contains_key(id));
        let with = |choice: &Choice| {
            let mut choice = choice.clone();
            choice.insert(id.clone(), name.clone());
            choice
        };
        let more: Vec<Choice> = free.map(with).collect();
        choices.extend(more);
    }
    choices.sort_by_key(Choice::len);
    choices
}
