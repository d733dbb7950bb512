// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Verdicts for a terminal.

use super::{ours, published, reason};
use crate::experiment::{Outcome, Pace};

/// Wider lines are hard to read.
const WIDTH: usize = 110;
/// Where sentences begin: after a claim's name and its verdict.
const INDENT: usize = 26;

/// The claims of an experiment and what became of them.
pub fn render(outcome: &Outcome) -> String {
    let experiment = &outcome.experiment;
    let seeds = match outcome.frames[0].seeds().len() {
        _ if experiment.seeds.len() == 1 => String::new(),
        seeds => format!(" · {seeds} seeds"),
    };
    let quick = if outcome.pace == Pace::Quick { " · shortened" } else { "" };
    let mut text = format!("{}  {}{seeds}{quick}\n", experiment.name(), experiment.title);
    for (place, (claim, judgement)) in experiment.claims.iter().zip(outcome.judgements()).enumerate() {
        let verdict = judgement.verdict.name();
        let head = format!("  {:<9} {verdict:<12}", claim.id);
        let numbers = match &claim.published {
            Some(_) => format!(" Ours: {}; published: {}.", ours(&judgement), published(claim)),
            None => String::new(),
        };
        let mut sentences = format!("{}{numbers} {}", claim.text, capital(&reason(claim, &judgement)));
        let against = outcome.alternatives(place).into_iter();
        let against = against.filter(|(_, other)| *other != judgement.verdict);
        let against: Vec<String> = against.map(|(name, other)| format!("{name}: {other}")).collect();
        if !against.is_empty() {
            sentences.push_str(&format!(" Under other readings: {}.", against.join("; ")));
        }
        text.push_str(&format!("{head:<INDENT$}{}\n", wrapped(&sentences)));
    }
    text
}

/// A sentence of its own.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
}

/// Lines of words, all but the first indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() || line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines.join(&format!("\n{:INDENT$}", ""))
}
