// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aligned table for terminals.

use super::Comparison;
use super::grid::{Breakdown, Grid, Shown};
use crate::measure::Subject;

/// The headline metrics, one line per scheme; then the metrics of groups and of classes of transfers.
pub fn render(comparison: &Comparison) -> String {
    let grid = Grid::of(comparison);
    let mut lines = vec![
        heading("scheme", grid.metrics.iter().map(|metric| metric.short.as_str())),
        heading("", grid.metrics.iter().map(|metric| metric.unit)),
    ];
    for (scheme, cells) in &grid.lines {
        lines.push(line(scheme.clone(), cells.iter()));
    }
    let mut text = format!("{}\n\n{}", comparison.title, aligned(&lines));
    for (title, subject) in [("groups", Subject::Group), ("transfers by size", Subject::Class)] {
        text.push_str(&breakdown(comparison, title, subject));
    }
    text.push_str(&format!("\n{}\n", comparison.caption()));
    for note in &comparison.manifest.notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

/// Columns that stand side by side.
const BESIDE: usize = 5;

/// A line per metric and a column per group or class, a few of them side by side.
fn breakdown(comparison: &Comparison, title: &str, subject: Subject) -> String {
    let Breakdown { columns, lines } = Breakdown::of(comparison, subject, |metric| metric.brief);
    let mut text = String::new();
    for from in (0..columns.len()).step_by(BESIDE) {
        let part = from..columns.len().min(from + BESIDE);
        let mut shown = Vec::new();
        if comparison.schemes.len() > 1 {
            shown.push(heading(title, columns[part.clone()].iter().map(|(_, scheme, _)| scheme.as_str())));
        }
        let first = if shown.is_empty() { title } else { "" };
        shown.push(heading(first, columns[part.clone()].iter().map(|(.., name)| name.as_str())));
        for (metric, cells) in &lines {
            let unit = if metric.unit.is_empty() { String::new() } else { format!(", {}", metric.unit) };
            shown.push(line(format!("{}{unit}", metric.short), cells[part.clone()].iter()));
        }
        text.push_str(&format!("\n{}", aligned(&shown)));
    }
    text
}

fn line<'a>(first: String, cells: impl Iterator<Item = &'a Shown>) -> Vec<String> {
    [first].into_iter().chain(cells.map(Shown::text)).collect()
}

fn heading<'a>(first: &'a str, rest: impl Iterator<Item = &'a str>) -> Vec<String> {
    [first].into_iter().chain(rest).map(String::from).collect()
}

/// The first column to the left, the others to the right, two spaces between.
pub(super) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let length = |cell: &String| cell.chars().count();
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().filter_map(|line| line.get(column)).map(length).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut shown = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            match column {
                0 => shown.push_str(&format!("{cell:<width$}")),
                _ => shown.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::example;

    #[test]
    fn columns_align_and_carry_units() {
        let text = super::render(&example::comparison());
        let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().collect()).collect();
        assert_eq!(text.lines().next(), Some("Two schemes on a dumbbell"));
        let heads: String = lines[2].iter().collect();
        let units: String = lines[3].iter().collect();
        assert!(heads.starts_with("scheme") && heads.ends_with("goodput"), "{text}");
        assert!(units.trim_start().starts_with("packets") && units.ends_with("Mbit/s"), "{text}");
        let end = heads.find(" queue ").unwrap() + 6;
        for line in &lines[4..6] {
            assert!(line[end - 1] != ' ' && line[end] == ' ', "{text}");
        }
    }

    #[test]
    fn the_caption_says_over_which_seeds() {
        let mut comparison = example::comparison();
        assert!(super::render(&comparison).contains("over 3 seeds (1, 2, 3)"));
        comparison.manifest.seeds = vec![4, 5, 6, 7];
        assert!(super::render(&comparison).contains("over 3 of 4 planned seeds"));
        for scheme in &mut comparison.schemes {
            scheme.runs.push(scheme.runs[0].clone());
        }
        assert!(super::render(&comparison).contains("over 4 seeds (4 to 7)"));
        comparison.manifest.seeds = vec![9];
        assert!(super::render(&comparison).contains("One run, seed 9"));
    }

    #[test]
    fn the_caption_says_what_an_interrupted_study_finished() {
        let mut comparison = example::comparison();
        comparison.schemes[0].runs.truncate(2);
        comparison.schemes[1].runs.truncate(1);
        let planned = ["reno/droptail", "prert/pi", "late"];
        comparison.manifest.scenario = planned.map(|name| (name.to_string(), String::new())).to_vec();
        for said in [
            super::render(&comparison),
            super::super::markdown::render(&comparison),
            super::super::html::render(&comparison),
        ] {
            for part in
                ["1 to 2 of 3 planned seeds", "One run: no confidence interval", "Without a run: late."]
            {
                assert!(said.contains(part), "{part}");
            }
        }
        comparison.schemes[0].runs.truncate(1);
        assert!(super::render(&comparison).contains("One run of 3 planned seeds: no confidence interval."));
    }
}
