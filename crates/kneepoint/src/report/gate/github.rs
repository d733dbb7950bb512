// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A gate in GitHub Actions: annotations on the log, which are shown at the gate's file.

use super::failures;
use crate::experiment::gate::Outcome;

/// A line for each claim that failed. `place` is the path of `gate.toml` in its repository.
pub fn annotations(outcome: &Outcome, place: &str) -> String {
    let line = |(_, title, why): (&str, String, String)| {
        format!("::error file={},title={}::{}\n", property(place), property(&title), message(&why))
    };
    failures(outcome).into_iter().map(line).collect()
}

/// The text of a command, with its terminators escaped.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The same of one of its properties.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
