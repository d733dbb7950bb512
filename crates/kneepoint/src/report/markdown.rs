// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A table for a README or a comment.

use super::Comparison;
use super::grid::Grid;

/// The headline metrics, one line per scheme.
pub fn render(comparison: &Comparison) -> String {
    let grid = Grid::of(comparison);
    let mut text = format!("### {}\n\n| scheme |", comparison.title);
    for metric in &grid.metrics {
        match metric.unit {
            "" => text.push_str(&format!(" {} |", metric.short)),
            unit => text.push_str(&format!(" {}, {unit} |", metric.short)),
        }
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(grid.metrics.len()));
    for (scheme, cells) in &grid.lines {
        text.push_str(&format!("\n| {} |", scheme.replace('|', "\\|")));
        for cell in cells {
            text.push_str(&format!(" {} |", cell.text()));
        }
    }
    text.push_str(&format!("\n\n{}\n", comparison.caption()));
    text
}

#[cfg(test)]
mod tests {
    use super::super::example;

    #[test]
    fn every_line_of_the_table_has_the_same_number_of_cells() {
        let text = super::render(&example::comparison());
        let bars: Vec<usize> =
            text.lines().filter(|line| line.starts_with('|')).map(|line| line.matches('|').count()).collect();
        assert_eq!(bars.len(), 4);
        assert!(bars.iter().all(|count| *count == bars[0]), "{text}");
    }
}
