// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults: what is wrong with a scenario, where, and what would be right.

use std::ops::Range;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the text to point at.
    pub span: Range<usize>,
    /// The value that is wrong and what is allowed.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

/// The faults found so far; reading goes on after each, so that one look shows them all.
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

    /// Whether so many are found that more would tell nothing new.
    pub(crate) fn enough(&self) -> bool {
        self.0.len() >= 100
    }

    /// Takes the faults of another reading, without those that it has already.
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

    /// In order of place, each once, none outside `text` or inside one of its characters.
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

/// A sentence with the name among `known` that `word` was probably meant to be, and all of them.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    match closest(word, known) {
        Some(name) => format!("did you mean `{name}`? There is {}", list(known)),
        None if known.is_empty() => "there is none".into(),
        None => format!("there is {}", list(known)),
    }
}

fn closest<'n>(word: &str, known: &[&'n str]) -> Option<&'n str> {
    // A longer word is no misspelling of a name, and the distance costs the product of both lengths.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&word, name);
    let near = known.iter().map(|name| (distance(name), *name)).min_by_key(|(far, _)| *far);
    near.filter(|(far, name)| *far <= name.len().max(word.len()).div_ceil(3)).map(|(_, name)| name)
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(|name| format!("`{name}`")).collect();
            format!("{} and `{last}`", most.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_own_and_a_strange_one_only_the_list() {
        let known = ["rate", "rtt", "buffer"];
        assert_eq!(
            did_you_mean("bufer", &known),
            "did you mean `buffer`? There is `rate`, `rtt` and `buffer`"
        );
        assert_eq!(did_you_mean("xylophone", &known), "there is `rate`, `rtt` and `buffer`");
    }

    #[test]
    fn faults_come_in_order_of_place_and_point_at_whole_characters() {
        let text = "ä = 1";
        let mut faults = Faults::default();
        faults.add(&(4..99), "late");
        faults.add(&(1..1), "early");
        faults.add(&(1..1), "early");
        let spans: Vec<Range<usize>> = faults.finish(text).into_iter().map(|fault| fault.span).collect();
        assert_eq!(spans, [0..2, 4..6]);
    }
}
