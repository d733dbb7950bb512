// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The suites: each a folder of `experiments/gate`, each case a file there.

use crate::suggest::did_you_mean;

/// Suite, name of the file and text of every case.
const CASES: &[(&str, &str, &str)] = include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// The subject of a suite, by its name.
const ABOUT: &[(&str, &str)] = &[
    ("bbr-draft", "the test cases of draft-ietf-ccwg-bbr-06, for BBRv3"),
    ("coexist", "shares of a bottleneck with the senders that are there already"),
    ("interop", "goodput and cross traffic of the QUIC interop runner"),
    ("ratelimited", "windows of senders that their application limits, draft-ietf-ccwg-ratelimited-increase"),
    ("rfc7928", "the controller's part of the scenarios of RFC 7928, with five queues"),
    ("rfc9743", "the criteria of RFC 9743 for a new congestion control"),
];

/// A case as it is carried.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// The suite.
    pub suite: String,
    /// Its name in messages: `rfc9743/wired.toml`.
    pub origin: String,
    /// The text.
    pub text: String,
}

/// Every suite with a sentence about it.
pub fn suites() -> impl Iterator<Item = (&'static str, &'static str)> {
    ABOUT.iter().copied()
}

/// The cases of a suite; the error names the suites.
pub fn cases(suite: &str) -> Result<Vec<Carried>, String> {
    if !ABOUT.iter().any(|(name, _)| *name == suite) {
        let names: Vec<&str> = ABOUT.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no suite `{suite}`: {}", did_you_mean(suite, &names)));
    }
    let of = CASES.iter().filter(|(name, ..)| *name == suite);
    let carried = of.map(|(name, case, text)| Carried {
        suite: name.to_string(),
        origin: format!("{name}/{case}.toml"),
        text: text.to_string(),
    });
    Ok(carried.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::experiment::{Pace, parse_for};
    use crate::scenario::{Extensions, files, scheme};

    #[test]
    fn every_folder_is_a_suite_and_every_suite_has_cases() {
        let folders: BTreeSet<&str> = CASES.iter().map(|(suite, ..)| *suite).collect();
        let told: BTreeSet<&str> = ABOUT.iter().map(|(suite, _)| *suite).collect();
        assert_eq!(folders, told);
        assert!(cases("rfc9734").unwrap_err().contains("did you mean `rfc9743`?"));
    }

    /// A misspelt metric would silently make a claim untestable for every subject.
    #[test]
    fn every_case_is_named_as_its_file_quotes_its_document_and_can_be_tested_by_some_subject() {
        for (suite, case, text) in CASES {
            let name = if *suite == "bbr-draft" { "bbr3" } else { "cubic" };
            let subject = scheme::parse(name).unwrap();
            for pace in [Pace::Full, Pace::Quick] {
                let read = parse_for(&subject, &Extensions::NONE, text, pace, &files::none);
                let read = read.unwrap_or_else(|faults| panic!("{suite}/{case}: {faults:#?}"));
                assert_eq!(read.id, format!("{suite}-{case}"));
                assert!(!read.quote.is_empty() || *suite == "coexist", "{suite}/{case}: no quote");
                for claim in &read.claims {
                    let reason = claim.reason.as_deref().unwrap_or_default();
                    assert!(!reason.contains("does not report"), "{suite}/{case} {}: {reason}", claim.id);
                }
            }
        }
    }
}
