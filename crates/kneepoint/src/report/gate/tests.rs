// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A gate of five claims in every format.

use super::super::format::markdown;
use super::*;
use crate::experiment::expression::{Check, Sign};
use crate::experiment::gate::CaseOutcome;
use crate::experiment::{CheckResult, Claim, Judgement, Pace, Verdict, parse};
use crate::report::Manifest;
use crate::table::Labels;

fn claim(id: &str, status: Status, verdict: Verdict) -> ClaimOutcome {
    let text = format!(
        "[experiment]\nid = \"a-b\"\ntitle = \"c\"\nsource = \"d\"\n[[claim]]\nid = \"{id}\"\ntext = \"It <holds>, 100 %.\"\nreason = \"One path.\"\n"
    );
    let claim: Claim = parse(&text, Pace::Full).unwrap().claims.remove(0);
    let check = Check::parse("utilization >= 0.8").unwrap();
    let margin =
        Estimate { mean: if verdict == Verdict::Fails { -0.1 } else { 0.1 }, half_width: Some(0.01) };
    let point = CheckResult {
        at: Labels::new(),
        check: check.text.clone(),
        left: 0.8 + margin.mean,
        right: 0.8,
        margin,
        certain: true,
        holds: verdict == Verdict::Holds,
        sign: Sign::AtLeast,
        sides: Vec::new(),
    };
    let points = if verdict == Verdict::Untestable { Vec::new() } else { vec![point] };
    let judgement = Judgement { verdict, certain: true, ours: Vec::new(), points, missing: None };
    let one = |mean| Estimate { mean, half_width: None };
    let moved = Move { check: check.text, at: Labels::new(), before: one(0.5), now: one(0.75), p: 0.0 };
    let moves = if status == Status::Moved { vec![moved] } else { Vec::new() };
    ClaimOutcome { claim, status, judgement, moves, worse: None }
}

fn outcome() -> Outcome {
    let claims = vec![
        claim("good", Status::Passed, Verdict::Holds),
        claim("bad", Status::Failed, Verdict::Fails),
        claim("far", Status::Moved, Verdict::Holds),
        claim("old", Status::Known, Verdict::Fails),
        claim("paths", Status::NotApplicable, Verdict::Untestable),
    ];
    let case = CaseOutcome {
        suite: "suite".into(),
        id: "suite-case".into(),
        origin: "suite/case.toml".into(),
        title: "A case".into(),
        source: "A document, §1".into(),
        quote: "It must hold.".into(),
        seeds: 2,
        claims,
    };
    Outcome {
        subject: "pert".into(),
        against: None,
        pace: Pace::Full,
        has_baseline: true,
        gone: Vec::new(),
        cases: vec![case],
    }
}

#[test]
fn a_page_has_every_claim_and_a_picture_of_what_moved() {
    let text = markdown::render(&document(&outcome(), &Manifest::default()));
    assert!(text.contains("**1 case: 1 failed.** Subject: `pert`."), "{text}");
    for part in [
        "It must hold",
        "| **failed** |",
        "now 0.7500, was 0.5000: utilization >= 0.8",
        "![suite-case: ",
        "figures/moved-suite-case.svg",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let drawn = pictures(&outcome());
    assert_eq!(drawn.len(), 1);
    assert!(drawn[0].1.standalone().contains("accepted"));
}

#[test]
fn junit_counts_its_tests_and_escapes_their_words() {
    let text = junit::render(&outcome());
    assert!(text.contains("tests=\"5\" failures=\"2\" errors=\"0\" skipped=\"2\""), "{text}");
    assert!(text.contains("<failure type=\"failed\"") && text.contains("It &lt;holds&gt;, 100 %."), "{text}");
    assert!(
        text.contains("<testcase classname=\"suite-case\" name=\"good\" file=\"suite/case.toml\"/>"),
        "{text}"
    );
}

#[test]
fn sarif_has_a_result_for_each_failure_at_the_file_of_the_gate() {
    let log: serde_json::Value =
        serde_json::from_str(&sarif::render(&outcome(), "0.1.0", "gate.toml")).unwrap();
    let run = &log["runs"][0];
    let ids: Vec<&str> =
        run["results"].as_array().unwrap().iter().filter_map(|one| one["ruleId"].as_str()).collect();
    assert_eq!(ids, ["suite-case.bad", "suite-case.far"]);
    let place = &run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "gate.toml");
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
}

#[test]
fn annotations_are_one_line_each_whatever_the_claims_say() {
    let text = github::annotations(&outcome(), "ci/gate.toml");
    assert_eq!(text.lines().count(), 2);
    assert!(
        text.starts_with("::error file=ci/gate.toml,title=suite-case bad%3A failed::It <holds>, 100 %25."),
        "{text}"
    );
}
