// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The accepted spellings of a name: in either case, with hyphens, underscores or nothing between its parts. `FQ-CoDel`, `fq_codel` and
//! `fqcodel` are one name. Output has the name as declared.

use alloc::string::String;

/// Whether two spellings denote one name.
pub fn same_name(one: &str, other: &str) -> bool {
    significant(one).eq(significant(other))
}

/// The declared name with this spelling.
pub fn declared<'n>(written: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    names.into_iter().find(|name| same_name(name, written))
}

/// The declared spelling of a name. A name that is declared exactly as written, or not declared at all, stays as it is.
pub fn spelled<'n>(written: &'n str, names: impl IntoIterator<Item = &'n str>) -> &'n str {
    let mut same = names.into_iter().filter(|name| same_name(name, written));
    let first = same.next().unwrap_or(written);
    if same.any(|other| other == written) { written } else { first }
}

/// A regular expression (ECMA-262) of all spellings of a name, without anchors.
pub fn pattern(name: &str) -> String {
    let mut pattern = String::from(FILLER);
    for letter in significant(name) {
        match letter {
            'a'..='z' => pattern.extend(['[', letter.to_ascii_uppercase(), letter, ']']),
            '0'..='9' => pattern.push(letter),
            other => pattern.extend(['\\', other]),
        }
        pattern.push_str(FILLER);
    }
    pattern
}

/// Characters allowed between the letters of a name.
const FILLER: &str = "[-_]*";

/// The characters that distinguish names.
fn significant(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_hyphens_and_underscores_do_not_matter_and_everything_else_does() {
        for written in ["fq-codel", "FQ-CoDel", "fq_codel", "fqcodel", "FQ_CODEL"] {
            assert_eq!(declared(written, ["codel", "fq-codel"]), Some("fq-codel"), "{written}");
        }
        assert_eq!(declared("fq codel", ["codel", "fq-codel"]), None);
        assert_eq!([spelled("RTO-Min", ["rto_min"]), spelled("k", ["rto_min"])], ["rto_min", "k"]);
        assert!(!same_name("pi", "pie") && !same_name("ewma-7/8", "ewma-78"));
    }

    #[test]
    fn a_pattern_has_every_letter_in_both_cases() {
        assert_eq!(pattern("a-1"), "[-_]*[Aa][-_]*1[-_]*");
        assert_eq!(pattern("1/0"), "[-_]*1[-_]*\\/[-_]*0[-_]*");
    }
}
