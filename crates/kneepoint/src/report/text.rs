// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aligned table for terminals.

use super::grid::Grid;
use super::shares::{self, Got, MEASURES};
use super::{Comparison, SchemeResult};

/// The headline figures, one line per scheme.
pub fn render(comparison: &Comparison) -> String {
    let grid = Grid::of(comparison);
    let mut lines = vec![
        heading("scheme", grid.metrics.iter().map(|metric| metric.short)),
        heading("", grid.metrics.iter().map(|metric| metric.unit)),
    ];
    for row in &grid.rows {
        lines
            .push([row.scheme.clone()].into_iter().chain(row.cells.iter().map(|cell| cell.text())).collect());
    }
    let mut text = format!("{}\n\n", comparison.title);
    text.push_str(&aligned(&lines));
    text.push_str(&who_got_what(comparison));
    text.push_str(&format!("\n{}\n", comparison.caption()));
    for note in &comparison.manifest.notes {
        text.push_str(&format!("{note}\n"));
    }
    text
}

/// As many measures of a group as have room beside its name.
const TOLD: usize = 4;

/// What each group got of the bottleneck; nothing if none had to share it.
fn who_got_what(comparison: &Comparison) -> String {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let line = |scheme: &SchemeResult, got: Got| {
        let cell = |(mean, half_width): (String, Option<String>)| match half_width {
            Some(half_width) => format!("{mean} ± {half_width}"),
            None => mean,
        };
        let name = if comparison.schemes.len() > 1 { format!("{}: ", scheme.scheme) } else { String::new() };
        [format!("{name}{}", got.label)].into_iter().chain(got.cells().take(TOLD).map(cell)).collect()
    };
    for scheme in &comparison.schemes {
        lines.extend(shares::of(scheme).into_iter().map(|got| line(scheme, got)));
    }
    if lines.is_empty() {
        return String::new();
    }
    let heads = [
        heading("who got what", MEASURES[..TOLD].iter().map(|measure| measure.short)),
        heading("", MEASURES[..TOLD].iter().map(|measure| measure.unit)),
    ];
    lines.splice(0..0, heads);
    format!("\n{}", aligned(&lines))
}

fn heading(first: &'static str, rest: impl Iterator<Item = &'static str>) -> Vec<String> {
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
