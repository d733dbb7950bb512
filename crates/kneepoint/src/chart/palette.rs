// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Chart colours in light and dark mode.
//!
//! A page defines them as CSS variables. A standalone file has them substituted: only browsers support variables,
//! while other renderers support plain rules and skip the media query.

/// Style rules of all charts, in terms of named colours.
const RULES: &str = include_str!("chart.css");

/// Names and colours: light, dark.
const COLOURS: [(&str, &str, &str); 13] = [
    ("paper", "#ffffff", "#12161d"),
    ("ink", "#1c2330", "#e7eaf0"),
    ("muted", "#5d6778", "#98a2b3"),
    ("faint", "#e6e9ee", "#2a313c"),
    ("track", "#f1f3f6", "#1d232c"),
    ("s0", "#0072b2", "#4aa8e0"),
    ("s1", "#d55e00", "#ff8b47"),
    ("s2", "#009e73", "#2bc596"),
    ("s3", "#c2639b", "#e596c3"),
    ("s4", "#d28f00", "#f0b73d"),
    ("s5", "#3fa0d8", "#8ad0f7"),
    ("s6", "#7a5195", "#b493d3"),
    ("s7", "#6b7280", "#a3abb8"),
];

/// Style of charts within a page, with the variables for the page itself.
pub(in super::super) fn style() -> String {
    let variables = |dark: bool| {
        let one = |&(name, day, night): &(&str, &str, &str)| {
            format!(" --{name}: {};", if dark { night } else { day })
        };
        COLOURS.iter().map(one).collect::<String>()
    };
    format!(
        ":root {{{} }}\n@media (prefers-color-scheme: dark) {{ :root {{{} }} }}\n{RULES}",
        variables(false),
        variables(true)
    )
}

/// Families of letters unless one is chosen.
const FAMILIES: &str =
    "system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif";

/// Style of a standalone chart in letters of a family.
pub(super) fn written_out(font: Option<&str>) -> String {
    let coloured = RULES.lines().filter(|rule| rule.contains("var(")).collect::<Vec<_>>().join("\n");
    let resolved = |rules: &str, dark: bool| {
        COLOURS.iter().fold(rules.to_string(), |text, (name, day, night)| {
            text.replace(&format!("var(--{name})"), if dark { night } else { day })
        })
    };
    let chosen = font.map(|font| RULES.replace(FAMILIES, &format!("\"{}\", sans-serif", plain(font))));
    format!(
        "{}@media (prefers-color-scheme: dark) {{\n{}\n}}\n",
        resolved(chosen.as_deref().unwrap_or(RULES), false),
        resolved(&coloured, true)
    )
}

/// A name without characters that would end it.
fn plain(font: &str) -> String {
    font.chars().filter(|sign| sign.is_alphanumeric() || " -_.'".contains(*sign)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_its_own_needs_no_variable_and_knows_both_lights() {
        let written = written_out(None);
        assert!(!written.contains("var(") && !written.contains("--"));
        let (day, night) = written.split_once("@media").unwrap();
        for (name, light, dark) in COLOURS {
            assert!(day.contains(light) && !day.contains(dark), "{name}");
            assert!(night.contains(dark), "{name}");
        }
    }

    #[test]
    fn the_usual_families_give_way_to_the_chosen_one() {
        assert!(written_out(None).contains(FAMILIES));
        let chosen = written_out(Some("Liberation Serif"));
        assert!(chosen.contains("\"Liberation Serif\", sans-serif") && !chosen.contains("system-ui"));
    }

    #[test]
    fn every_rule_is_a_line_of_its_own() {
        // The rules for dark mode are selected line by line.
        for line in RULES.lines() {
            assert!(line.matches('{').count() == line.matches('}').count() && line.contains('{'), "{line}");
        }
    }
}
