// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about a reproduction: every claim with its verdict, our number and the published one, and how it
//! depends on what the publication leaves open.

use std::fmt::Write;

use super::{effort, reason, shown, tally};
use crate::experiment::{Claim, Effort, Judgement, Outcome, Pace, Verdict};
use crate::report::Manifest;

/// More numbers than this are left to the table of data.
const MOST_NUMBERS: usize = 4;

/// The document. Figures are linked as `figures/ID.svg`.
pub fn render(outcomes: &[Outcome], taken: &Effort, manifest: &Manifest) -> String {
    let mut page = String::new();
    let judgements: Vec<Judgement> = outcomes.iter().flat_map(Outcome::judgements).collect();
    let _ = writeln!(
        page,
        "# Reproduction\n\n\
         Published figures and tables, run again, and what became of each claim. `knee reproduce` makes this page.\n\n\
         **{}.** {}. A verdict is that of the means over seeds; ± is a 95 % confidence interval over them, seed by seed \
         for differences. A claim that fails keeps its row.\n",
        tally(judgements.iter()),
        effort(taken),
    );
    if outcomes.iter().any(|outcome| outcome.pace == Pace::Quick) {
        page.push_str("**These are shortened runs**, not the published durations.\n\n");
    }
    overview(&mut page, outcomes);
    for outcome in outcomes {
        section(&mut page, outcome);
    }
    let _ = writeln!(
        page,
        "## Manifest\n\n| | |\n|---|---|\n| version | {} |\n| revision | {} |\n| command | `{}` |\n| made | {} |\n| on | {} |",
        manifest.tool_version,
        manifest.git_revision.as_deref().unwrap_or("unknown"),
        manifest.command.as_deref().unwrap_or_default(),
        manifest.created.as_deref().unwrap_or_default(),
        manifest.kernel.as_deref().unwrap_or_default(),
    );
    for note in &manifest.notes {
        let _ = writeln!(page, "\n{note}");
    }
    page
}

fn overview(page: &mut String, outcomes: &[Outcome]) {
    page.push_str("| experiment | what | holds | fails | untestable |\n|---|---|---|---|---|\n");
    for outcome in outcomes {
        let judgements = outcome.judgements();
        let list = |verdict| {
            let claims = outcome.experiment.claims.iter().zip(&judgements);
            let ids = claims.filter(|(_, judgement)| judgement.verdict == verdict);
            ids.map(|(claim, _)| claim.id.as_str()).collect::<Vec<_>>().join(", ")
        };
        let name = outcome.experiment.name();
        let _ = writeln!(
            page,
            "| [{name}](#{}) | {} | {} | {} | {} |",
            name.replace('.', ""),
            cell(&outcome.experiment.title),
            list(Verdict::Holds),
            list(Verdict::Fails),
            list(Verdict::Untestable),
        );
    }
    page.push('\n');
}

fn section(page: &mut String, outcome: &Outcome) {
    let experiment = &outcome.experiment;
    let _ = writeln!(page, "## {}\n\n{}. {}.\n", experiment.name(), experiment.title, experiment.source);
    if experiment.figure.is_some() {
        let _ = writeln!(page, "![{}](figures/{}.svg)\n", experiment.title, experiment.id);
    }
    page.push_str("| claim | verdict | ours | published | why |\n|---|---|---|---|---|\n");
    for (claim, judgement) in experiment.claims.iter().zip(outcome.judgements()) {
        let doubt = if judgement.certain { "" } else { " (within noise)" };
        let _ = writeln!(
            page,
            "| **{}** {} | {}{doubt} | {} | {} | {} |",
            claim.id,
            cell(&claim.text),
            strong(judgement.verdict),
            cell(&ours(&judgement)),
            cell(&published(claim)),
            cell(&reason(claim, &judgement)),
        );
    }
    page.push('\n');
    readings(page, outcome);
}

/// A failure is easier to find in bold.
fn strong(verdict: Verdict) -> String {
    match verdict {
        Verdict::Holds => verdict.to_string(),
        Verdict::Fails | Verdict::Untestable => format!("**{verdict}**"),
    }
}

pub(in crate::report) fn ours(judgement: &Judgement) -> String {
    match judgement.ours.as_slice() {
        [] => "–".into(),
        [(_, alone)] => shown(alone),
        several if several.len() <= MOST_NUMBERS => several
            .iter()
            .map(|(name, estimate)| format!("{name} = {}", shown(estimate)))
            .collect::<Vec<_>>()
            .join("; "),
        several => format!("{} numbers, see the figure", several.len()),
    }
}

pub(in crate::report) fn published(claim: &Claim) -> String {
    match &claim.published {
        None => "–".into(),
        Some(serde_json::Value::Object(map)) => {
            map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join("; ")
        }
        Some(value) => value.to_string().trim_matches('"').to_string(),
    }
}

/// What was read into the publication's silence, and what the verdicts are under other readings.
fn readings(page: &mut String, outcome: &Outcome) {
    let experiment = &outcome.experiment;
    if experiment.readings.is_empty() {
        return;
    }
    page.push_str("Readings:\n\n");
    for reading in &experiment.readings {
        let _ = writeln!(page, "* {} *Taken:* {}", reading.about, reading.taken);
    }
    page.push('\n');
    let base = outcome.judgements();
    let named = experiment.variants.iter().enumerate().skip(1);
    let mut lines = Vec::new();
    for (place, variant) in named.filter(|(place, _)| !outcome.frames[*place].seeds().is_empty()) {
        let claims = experiment.claims.iter().zip(base.iter().zip(outcome.under(place)));
        let changed: Vec<String> = claims
            .filter(|(_, (taken, other))| taken.verdict != other.verdict)
            .map(|(claim, (_, other))| format!("{}: {}", claim.id, other.verdict))
            .collect();
        let changed = if changed.is_empty() { "none".to_string() } else { changed.join(", ") };
        lines.push(format!("| {} | {changed} |\n", cell(variant.name.as_deref().unwrap_or_default())));
    }
    if !lines.is_empty() {
        page.push_str("| other reading | verdicts that change |\n|---|---|\n");
        page.extend(lines);
        page.push('\n');
    }
}

/// Text that stays inside its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
