// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Explanations of differences, found by experiment and kept next to the results of the other program.

use std::collections::BTreeSet;

use serde::Deserialize;

/// All explanations.
#[derive(Debug, Deserialize)]
pub struct Explanations {
    because: Vec<Explanation>,
}

/// One explanation for some figures of some points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// Names of points, with `*` as wildcard: `*/vegas-droptail`.
    points: Vec<String>,
    /// Figures.
    metrics: Vec<String>,
    /// Text.
    text: String,
}

impl Explanations {
    /// Reads the text of a file with this name.
    pub fn read(file: &str, text: &str) -> Result<Explanations, String> {
        toml::from_str(text).map_err(|error| format!("{file}: {error}"))
    }

    /// The first explanation for a figure of a point, with its number.
    pub fn find(&self, point: &str, metric: &str) -> Option<(usize, &Explanation)> {
        let fits = |explanation: &Explanation| {
            explanation.points.iter().any(|pattern| matches(pattern, point))
                && explanation.metrics.iter().any(|name| name == metric)
        };
        self.because.iter().enumerate().find(|(_, explanation)| fits(explanation))
    }

    /// Number of explanations.
    pub fn len(&self) -> usize {
        self.because.len()
    }

    /// Text of an explanation.
    pub fn text(&self, number: usize) -> &str {
        &self.because[number].text
    }

    /// Patterns of an explanation, for messages.
    pub fn patterns(&self, number: usize) -> String {
        self.because[number].points.join(", ")
    }
}

/// The differences of a page: the explanations that they need, and those without one.
pub struct Marker<'e> {
    file: &'e str,
    explanations: &'e Explanations,
    used: BTreeSet<usize>,
    unexplained: Vec<String>,
}

impl<'e> Marker<'e> {
    /// With the explanations of this file.
    pub fn new(file: &'e str, explanations: &'e Explanations) -> Marker<'e> {
        Marker { file, explanations, used: BTreeSet::new(), unexplained: Vec::new() }
    }

    /// Numbers beyond their limit, with the number of their explanation.
    pub fn bold(&mut self, point: &str, metric: &str, numbers: &str) -> String {
        if let Some((place, _)) = self.explanations.find(point, metric) {
            self.used.insert(place);
            return format!("**{numbers}** ({})", place + 1);
        }
        self.unexplained.push(format!("{point}: {metric} is {numbers}"));
        format!("**{numbers}** (unexplained)")
    }

    /// The explanations that were needed, each with its number and its text as `told`; then unexplained numbers and
    /// unused explanations.
    pub fn finish(
        mut self,
        told: impl Fn(&str) -> Result<String, String>,
    ) -> Result<(String, Vec<String>), String> {
        let mut text = String::new();
        for place in 0..self.explanations.len() {
            if self.used.contains(&place) {
                let told = told(self.explanations.text(place))?;
                let lines: Vec<&str> = told.trim().lines().collect();
                text += &format!("{}. {}\n", place + 1, lines.join("\n   "));
            } else {
                let patterns = self.explanations.patterns(place);
                self.unexplained.push(format!("{}: {patterns} explains no difference", self.file));
            }
        }
        Ok((text, self.unexplained))
    }
}

/// Whether the pattern, with `*` as wildcard, matches `name`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("*/vegas-droptail", "A/10mbit/vegas-droptail"));
        assert!(matches("B/*ms/*", "B/500ms/sack-redecn"));
        assert!(matches("A/10mbit/sack-droptail", "A/10mbit/sack-droptail"));
        assert!(!matches("A/*/vegas", "A/10mbit/vegas-droptail"));
    }

    #[test]
    fn the_committed_files_read() {
        for text in [
            include_str!("../../../validation/explanations.toml"),
            include_str!("../../../validation/linux/explanations.toml"),
            include_str!("../../../validation/uml/explanations.toml"),
        ] {
            assert!(Explanations::read("it", text).is_ok_and(|explanations| explanations.len() > 0));
        }
    }
}
