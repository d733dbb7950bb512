// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults of a scenario: the place, the problem and the remedy; and suggestions for misspelt names.

use std::ops::Range;

/// One problem in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte range of the text.
    pub span: Range<usize>,
    /// The problem: the value and what is allowed.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// The faults found so far. Parsing continues after each, so that one pass reports them all.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn add(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.push(span, message.into(), None);
    }

    pub(crate) fn add_with_help(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(span, message.into(), Some(help.into()));
    }

    fn push(&mut self, span: &Range<usize>, message: String, help: Option<String>) {
        self.0.push(Fault { span: span.clone(), message, help });
    }

    /// Whether there are so many that parsing may stop.
    pub(crate) fn enough(&self) -> bool {
        self.0.len() >= 100
    }

    /// Adds the faults of another pass, without duplicates.
    pub(crate) fn join(&mut self, other: Faults) {
        if self.is_empty() {
            self.0 = other.0;
            return;
        }
        for fault in other.0 {
            if !self.0.contains(&fault) {
                self.0.push(fault);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// All faults, sorted by place, without duplicates, each clamped to character boundaries of `text`.
    pub(crate) fn finish(mut self, text: &str) -> Vec<Fault> {
        for fault in &mut self.0 {
            let start = text.floor_char_boundary(fault.span.start);
            fault.span = start..text.ceil_char_boundary(fault.span.end).clamp(start, text.len());
        }
        self.0.sort_by(|a, b| {
            (a.span.start, a.span.end, &a.message).cmp(&(b.span.start, b.span.end, &b.message))
        });
        self.0.dedup();
        self.0
    }
}

/// The remedy for an unknown name: the known name closest to `word`, if one is close, and the list of all.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let suggestion = closest(word, known).map_or(String::new(), |name| format!("did you mean `{name}`? "));
    let list: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match list.as_slice() {
        [] => "none is defined".into(),
        [one] => format!("{suggestion}expected {one}"),
        _ => format!("{suggestion}expected one of {}", list.join(", ")),
    }
}

/// The known name that `word` most likely misspells: at most a third of its letters differ (Damerau-Levenshtein).
pub fn closest<'n>(word: &str, known: &[&'n str]) -> Option<&'n str> {
    // The distance costs the product of both lengths.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&word, name);
    let near = known.iter().map(|name| (distance(name), *name)).min_by_key(|(far, _)| *far);
    near.filter(|(far, name)| *far <= name.len().max(word.len()).div_ceil(3)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_gets_a_suggestion_and_an_unknown_one_the_list_alone() {
        let known = ["rate", "rtt", "buffer"];
        assert_eq!(
            did_you_mean("bufer", &known),
            "did you mean `buffer`? expected one of `rate`, `rtt`, `buffer`"
        );
        assert_eq!(did_you_mean("xylophone", &known), "expected one of `rate`, `rtt`, `buffer`");
        assert_eq!(did_you_mean("rat", &["rate"]), "did you mean `rate`? expected `rate`");
    }

    #[test]
    fn faults_are_sorted_by_place_and_cover_whole_characters() {
        let text = "ä = 1";
        let mut faults = Faults::default();
        faults.add(&(4..99), "late");
        faults.add(&(1..1), "early");
        faults.add(&(1..1), "early");
        let spans: Vec<Range<usize>> = faults.finish(text).into_iter().map(|fault| fault.span).collect();
        assert_eq!(spans, [0..2, 4..6]);
    }
}
