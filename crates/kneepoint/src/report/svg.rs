// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Charts as files of their own: they open in a browser, go into a paper, and follow light and dark.

use super::{Comparison, figures, shares};

/// Every chart of the report: the stem of a file name and its SVG.
pub fn render(comparison: &Comparison) -> Vec<(String, String)> {
    let one = figures::knee(comparison)
        .into_iter()
        .chain(figures::distribution(comparison))
        .chain(shares::cut(comparison));
    let several = [figures::metrics, figures::queues, figures::windows, shares::positions];
    let all = one.chain(several.into_iter().flat_map(|figures| figures(comparison)));
    all.map(|figure| (figure.name, figure.drawing.standalone())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::example;

    #[test]
    fn every_chart_is_one_element_with_a_name_of_its_own() {
        let charts = super::render(&example::comparison());
        let mut names: Vec<&String> = charts.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 1 + 1 + 1 + 9 + 2 + 2 + 2);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), charts.len());
        for (name, svg) in &charts {
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
            assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{name}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        }
    }
}
