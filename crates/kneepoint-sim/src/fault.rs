// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults of a text that a person wrote, a scenario or a script: the place, the problem and the remedy.

use std::error::Error;
use std::fmt;
use std::ops::Range;

/// One problem in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Byte range of the text.
    pub span: Range<usize>,
    /// The problem: the value and the allowed range.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Fault {
    /// A problem at a place, and its remedy.
    pub fn at(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { span, message: message.into(), help: Some(help.into()) }
    }
}

/// The problem and the remedy, without the place.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "{}; {help}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Error for Fault {}

/// The faults found so far. Parsing continues after each, so that one pass reports them all.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a problem at a place.
    pub fn add(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.push(span, message.into(), None);
    }

    /// Adds a problem at a place, and its remedy.
    pub fn add_with_help(
        &mut self,
        span: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(span, message.into(), Some(help.into()));
    }

    fn push(&mut self, span: &Range<usize>, message: String, help: Option<String>) {
        self.take(Fault { span: span.clone(), message, help });
    }

    /// Adds a fault.
    pub fn take(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Whether the parser should stop: further faults would not be read.
    pub fn enough(&self) -> bool {
        self.0.len() >= 100
    }

    /// Adds the faults of another pass, without duplicates.
    pub fn join(&mut self, other: Faults) {
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their number.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All faults, sorted by place, without duplicates, each clamped to character boundaries of `text`.
    pub fn finish(mut self, text: &str) -> Vec<Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
