// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Text for LaTeX: no name of a scheme, a scenario or a file is alive in it.

use crate::visible::visible;

/// A label of a heading: letters, digits and hyphens.
pub(super) fn label(heading: &str) -> String {
    let words = heading.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    if joined.is_empty() { "results".to_string() } else { joined }
}

/// A text within a comment.
pub(super) fn commented(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

/// Text that is text: no command, environment, comment or formula of it is alive, and no paragraph ends in it.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::new();
    let mut before = ' ';
    for character in visible(text).chars() {
        match SIGNS.iter().find(|(sign, _)| *sign == character) {
            Some((_, written)) => shown.push_str(written),
            // Two hyphens would be a dash.
            None if character == '-' && before == '-' => shown.push_str("{-}"),
            None => shown.push(character),
        }
        before = character;
    }
    shown
}

/// Characters that act in LaTeX, or that its usual fonts do not have, and how they are written.
const SIGNS: &[(char, &str)] = &[
    ('\\', "\\textbackslash{}"),
    ('{', "\\{"),
    ('}', "\\}"),
    ('$', "\\$"),
    ('&', "\\&"),
    ('#', "\\#"),
    ('%', "\\%"),
    ('_', "\\_"),
    ('^', "\\textasciicircum{}"),
    ('~', "\\textasciitilde{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('|', "\\textbar{}"),
    ('"', "\\char34{}"),
    ('`', "\\textasciigrave{}"),
    // Behind a line break it would be the break's argument.
    ('[', "{[}"),
    (']', "{]}"),
    ('*', "{*}"),
    ('\n', " "),
    ('\t', " "),
    ('\u{a0}', "~"),
    ('\u{2009}', "\\,"),
    ('\u{202f}', "\\,"),
    ('–', "--"),
    ('—', "---"),
    ('−', "$-$"),
    ('±', "$\\pm$"),
    ('×', "$\\times$"),
    ('·', "$\\cdot$"),
    ('≈', "$\\approx$"),
    ('≤', "$\\le$"),
    ('≥', "$\\ge$"),
    ('≠', "$\\ne$"),
    ('∞', "$\\infty$"),
    ('→', "$\\rightarrow$"),
    ('°', "$^\\circ$"),
    ('²', "$^2$"),
    ('³', "$^3$"),
    ('µ', "$\\mu$"),
    ('μ', "$\\mu$"),
    ('α', "$\\alpha$"),
    ('β', "$\\beta$"),
    ('γ', "$\\gamma$"),
    ('Δ', "$\\Delta$"),
    ('λ', "$\\lambda$"),
    ('ρ', "$\\rho$"),
    ('σ', "$\\sigma$"),
    ('τ', "$\\tau$"),
    ('…', "\\ldots{}"),
    ('‘', "`"),
    ('’', "'"),
    ('“', "``"),
    ('”', "''"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_a_command_a_comment_or_a_cell() {
        let text = escaped("\\write18{rm}%&$x^2$~#_`\"[2pt]--\u{1b}\n\nnext");
        assert_eq!(
            text,
            "\\textbackslash{}write18\\{rm\\}\\%\\&\\$x\\textasciicircum{}2\\$\\textasciitilde{}\\#\\_\\textasciigrave{}\\char34{}\
             {[}2pt{]}-{-}\\textbackslash{}u001b  next"
        );
        for character in (0..=0x7f).filter_map(char::from_u32).filter(|one| !one.is_ascii_alphanumeric()) {
            let shown = escaped(&character.to_string());
            let raw = "\\{}$&#%_^~\"`\n".chars().any(|acting| shown == acting.to_string());
            assert!(!raw, "{character:?} is {shown:?}");
        }
    }
}
