// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The document about films played over an emulated network.

use super::{Case, Film, Judged, Known, Report};
use crate::chart::{Axis, Line, Lines, lines};
use crate::report::document::{
    Block, Column, Document, Figure, Layout, Prose, Section, Shown, Table, TableLine,
};
use crate::report::manifest;

/// The tables, by the keys of their columns.
const TABLES: [(&str, &[&str]); 3] = [
    ("Late pictures and starvings of the sound, per playback", &["late_pictures", "audio_starvings"]),
    ("Start-up and stalls", &["startup_s", "stalls", "stalled_s"]),
    (
        "Throughput, queue and window",
        &["goodput_bps", "queueing_delay_mean_ms", "retransmissions", "window_variation"],
    ),
];

/// The whole document.
pub fn document(report: &Report) -> Document {
    let mut sections = Vec::new();
    if !report.claims.is_empty() {
        sections.push(Section::new("Claims", of_claims(&report.claims)));
    }
    for (title, keys) in TABLES {
        sections.push(Section::new(title, vec![Block::Table(table(&report.cases, keys))]));
    }
    sections.push(Section::new("Runs", vec![Block::prose(runs(&report.cases))]));
    let figures: Vec<Figure> =
        report.cases.iter().filter(|case| !case.windows.is_empty()).map(windows).collect();
    if !figures.is_empty() {
        let blocks = vec![Block::prose(WINDOWS), Block::Figures(Layout::Halves, figures)];
        sections.push(Section::new("Congestion windows", vec![Block::pages(blocks)]));
    }
    let notes = &report.manifest.notes;
    if !notes.is_empty() {
        sections.push(Section::new("Notes", vec![Block::List(notes.iter().map(Into::into).collect())]));
    }
    sections.push(manifest::section(&report.manifest));
    Document { title: report.title.clone(), about: about(report), sections }
}

const WINDOWS: &str = "The sender's congestion window in the last 90 s of the first run of each case, as its kernel tells it. The files \
                       beside this page have it every 10 ms.";
/// The drawn interval of a run, in seconds, and the largest number of its points.
const DRAWN: f64 = 90.0;
const POINTS: usize = 1000;

fn about(report: &Report) -> Prose {
    let Film { bytes, length_s, pictures, mean_bps, peak_bps, .. } = report.film;
    let text = format!(
        "A film of {:.0} s, {pictures} pictures and {:.1} MB ({:.1} Mbit/s, at most {:.1} in a second), sent over HTTP by this \
         machine's kernel through an emulated network, and played while it arrives. {}",
        length_s,
        bytes as f64 / 1e6,
        mean_bps / 1e6,
        peak_bps / 1e6,
        report.buffering
    );
    text.into()
}

fn of_claims(claims: &[Judged]) -> Vec<Block> {
    let text = |one: &Judged| {
        let noisy = if one.certain { "" } else { " (within the noise)" };
        let reason = one.reason.as_ref().map_or(String::new(), |reason| format!(" {reason}"));
        let rest = format!(" {} {}{noisy}: {}.{reason}", one.text, one.verdict, one.ours);
        Prose::default().strong(format!("{}.", one.claim)).then(rest)
    };
    vec![Block::List(claims.iter().map(text).collect())]
}

fn table(cases: &[Case], keys: &[&str]) -> Table {
    let known = |case: &Case, key: &str| case.metrics.iter().find(|known| known.metric == key).cloned();
    let column = |key: &&str| {
        let about = cases.iter().find_map(|case| known(case, key)).map(|known| known.about);
        about.map_or_else(Column::default, |about| Column {
            about: about.title.clone(),
            ..Column::number(about.short, about.unit)
        })
    };
    let cell = |case: &Case, key: &&str| {
        known(case, key)
            .map_or_else(|| Shown::from(""), |Known { estimate, about, .. }| Shown::metric(&estimate, &about))
    };
    let several = cases.iter().any(|case| case.player != cases[0].player);
    let line = |case: &Case| {
        let name = if several { format!("{}, {}", case.case, case.player) } else { case.case.clone() };
        TableLine::new(name, keys.iter().map(|key| cell(case, key)).collect())
    };
    Table {
        corner: "case".into(),
        columns: keys.iter().map(column).collect(),
        lines: cases.iter().map(line).collect(),
        linked: false,
    }
}

/// The number of runs, and their fates.
fn runs(cases: &[Case]) -> String {
    let all = || cases.iter().flat_map(|case| &case.runs);
    let spoiled = all().filter(|run| run.machine.spoiled.is_some()).count();
    let again: u32 = all().map(|run| run.machine.attempts.saturating_sub(1)).sum();
    let late = all().map(|run| run.machine.late_us[1]).fold(0.0, f64::max);
    let mut text = format!(
        "{} playbacks, {spoiled} of them spoiled by late packets and in no mean; {again} were repeated for that reason. In the others \
         99 of 100 packets were at most {late:.0} µs late.",
        all().count()
    );
    let superpackets: u64 = all().map(|run| run.machine.superpackets).sum();
    if superpackets > 0 {
        text += &format!(
            " {superpackets} packets exceeded the MTU: an offload is on, and the queue counts too few."
        );
    }
    text
}

fn windows(case: &Case) -> Figure {
    let title = format!("{}, {}: congestion window", case.case, case.player);
    let end = case.windows.last().map_or(0.0, |last| last.0);
    let drawn: Vec<(f64, f64)> = case.windows.iter().copied().filter(|(at, _)| *at >= end - DRAWN).collect();
    let every = drawn.len().div_ceil(POINTS).max(1);
    let chart = Lines {
        title: title.clone(),
        x: Axis::linear("time, s"),
        y: Axis::linear("congestion window, packets").holding(0.0, 1.0),
        series: vec![Line::exact("", drawn.into_iter().step_by(every))],
        marks: Vec::new(),
        published: Vec::new(),
        measured: None,
    };
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    Figure {
        name: format!("window-{}-{}", case.case, case.player).chars().map(safe).collect(),
        title,
        note: "",
        class: None,
        drawing: lines(&chart),
    }
}
