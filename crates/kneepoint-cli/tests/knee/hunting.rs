// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee hunt`: files, equal outcomes for repeated and resumed hunts, refusals.

use super::documented::assert_defined;
use super::*;
use kneepoint::report::output;

const ASKED: &[&str] = &["hunt", "vegas", "--for", "use,swing", "--findings", "1", "--json"];

fn hunt(here: &Path, more: &[&str]) -> Value {
    json(&knee(here, &[ASKED, more].concat()))
}

#[test]
fn a_hunt_leaves_scenarios_whose_claims_hold_and_cases_that_the_reference_passes() {
    let here = tempfile::tempdir().unwrap();
    let told = hunt(here.path(), &["--evaluations", "256", "--out", "out"]);
    assert_defined(output::document("Hunt").unwrap(), std::slice::from_ref(&told));
    let out = here.path().join("out");
    let scenarios = names(&out.join("findings"));
    assert_eq!(scenarios.len(), told["findings"].as_array().unwrap().len());
    assert_eq!(scenarios, names(&out.join("cases")));
    let file = format!("out/findings/{}", scenarios[0]);
    let reproduced = json(&knee(here.path(), &["reproduce", &file, "--json", "--out", "again"]));
    assert_eq!(reproduced["claims"][0]["verdict"], "holds", "{reproduced}");
    let case = format!("out/cases/{}", scenarios[0]);
    let gate = |subject: &str| knee(here.path(), &["gate", "run", subject, "--suite", &case]).status.code();
    assert_eq!((gate("cubic"), gate("vegas")), (Some(0), Some(1)));
    let report = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(report.contains("Hunt of vegas against cubic") && report.contains("buffer, BDP"));
}

#[test]
fn a_hunt_in_two_parts_has_the_outcome_of_one() {
    let here = tempfile::tempdir().unwrap();
    let whole = hunt(here.path(), &["--evaluations", "192", "--out", "whole"]);
    hunt(here.path(), &["--evaluations", "64", "--out", "half"]);
    let rest = hunt(here.path(), &["--evaluations", "192", "--resume", "half/hunt.json", "--out", "rest"]);
    assert_eq!((&whole["weaknesses"], &whole["findings"]), (&rest["weaknesses"], &rest["findings"]));
    let fewer = [ASKED, &["--evaluations", "32", "--resume", "half/hunt.json"]].concat();
    assert_refuses(
        &knee(here.path(), &fewer),
        2,
        &["`half/hunt.json` has 64 networks", "ask for 64 or more"],
    );
    let other = [ASKED, &["--seed", "2", "--resume", "half/hunt.json"]].concat();
    assert_refuses(&knee(here.path(), &other), 2, &["its seed is 1, and this hunt's is 2"]);
}

#[test]
fn what_cannot_be_hunted_is_refused_with_a_remedy() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, saying) in [
        (&["hunt", "vgas"][..], "vegas"),
        (&["hunt", "vegas", "--against", "cubi"], "cubic"),
        (&["hunt", "vegas", "--for", "luck"], "starvation"),
        (&["hunt", "vegas", "--profile", "wire"], "wired"),
        (&["hunt", "vegas", "--evaluations", "0"], "1 to 1000000000"),
        (&["hunt", "vegas", "--resume", "none.json"], "none.json"),
        (&["hunt", "vegas/red"], "`vegas/red` has a queue, and each network of a hunt has its own"),
        (&["hunt", "vegas", "--against", "vegas"], "compared with itself"),
        (&["hunt", "vegas", "--for", "use,use"], "the weakness `use` is given twice"),
    ] {
        let refused = knee(here.path(), arguments);
        assert!(!refused.status.success() && stderr(&refused).contains(saying), "{}", stderr(&refused));
    }
    std::fs::write(here.path().join("odd.json"), "{\"subject\": 3}").unwrap();
    assert_refuses(&knee(here.path(), &["hunt", "vegas", "--resume", "odd.json"]), 2, &["its subject is 3"]);
}
