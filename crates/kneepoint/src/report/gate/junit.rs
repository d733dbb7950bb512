// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A gate as JUnit XML, as servers of continuous integration read it: a suite of tests for each suite, a test for each claim.

use super::why;
use crate::experiment::gate::{CaseOutcome, ClaimOutcome, Outcome, Status};
use crate::visible::visible;

/// The file.
pub fn render(outcome: &Outcome) -> String {
    let suites = outcome.cases.chunk_by(|one, other| one.suite == other.suite);
    let body: String = suites.map(|cases| suite(cases, outcome)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"knee gate {}\" {}>\n{body}</testsuites>\n",
        escaped(&outcome.subject),
        counts(&outcome.cases),
    )
}

fn suite(cases: &[CaseOutcome], outcome: &Outcome) -> String {
    let tests: String =
        cases.iter().flat_map(|case| case.claims.iter().map(|claim| test(case, claim, outcome))).collect();
    format!("  <testsuite name=\"{}\" {}>\n{tests}  </testsuite>\n", escaped(&cases[0].suite), counts(cases))
}

fn counts(cases: &[CaseOutcome]) -> String {
    let all: Vec<Status> = cases.iter().flat_map(|case| &case.claims).map(|claim| claim.status).collect();
    let count = |is: fn(&Status) -> bool| all.iter().filter(|status| is(status)).count();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        all.len(),
        count(|status| status.fails()),
        count(|status| *status == Status::Unjudged),
        count(|status| matches!(status, Status::NotApplicable | Status::Known)),
    )
}

fn test(case: &CaseOutcome, claim: &ClaimOutcome, outcome: &Outcome) -> String {
    let told = escaped(&why(claim, outcome));
    let inner = match claim.status {
        Status::Passed => None,
        Status::NotApplicable | Status::Known => Some(format!("<skipped message=\"{told}\"/>")),
        Status::Unjudged => Some(format!("<error type=\"unjudged\" message=\"{told}\"/>")),
        status => Some(format!(
            "<failure type=\"{status}\" message=\"{told}\">{}</failure>",
            escaped(&claim.claim.text)
        )),
    };
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\"",
        escaped(&case.id),
        escaped(&claim.claim.id),
        escaped(&case.origin)
    );
    match inner {
        None => format!("{head}/>\n"),
        Some(inner) => format!("{head}>\n      {inner}\n    </testcase>\n"),
    }
}

fn escaped(text: &str) -> String {
    let marks = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")];
    marks.iter().fold(visible(text).into_owned(), |text, (mark, entity)| text.replace(mark, entity))
}
