// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee hunt`: files, equal outcomes for repeated and resumed hunts, refusals.

use super::documented::assert_defined;
use super::*;
use kneepoint::report::{SCHEMA_VERSION, output};
use serde_json::json;

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
fn a_file_that_no_hunt_leaves_is_refused_with_what_is_allowed() {
    let here = tempfile::tempdir().unwrap();
    let whole = hunt(here.path(), &["--evaluations", "32", "--out", "whole"]);
    let count = whole["weaknesses"][0]["archive"].as_array().unwrap().len();
    let too_few = format!("archive of `use`, 1 evaluation cannot leave {count} networks");
    for (place, value, saying) in [
        ("/schema_version", json!(99), "it has the keys of version 99"),
        ("/evaluations", json!(1), &*too_few),
        ("/evaluations", json!(-1), "its evaluations are -1, not a whole number"),
        (
            "/weaknesses/1/archive/0/bins",
            json!([99, 0, 0, 0]),
            "archive of `swing`, entry 1: its bins are [99, ",
        ),
        ("/weaknesses/1/archive/0/bins", json!([0, 0]), "archive of `swing`, entry 1: invalid length"),
        ("/weaknesses/0/archive/1/score", json!(1e9), "entry 2: its score is 1000000000, and may be 0 to 1"),
        (
            "/weaknesses/0/archive/0/network/buffer_packets",
            json!(1),
            "its buffer_packets is 1, and may be 2 to",
        ),
    ] {
        let mut edited = whole.clone();
        *edited.pointer_mut(place).unwrap() = value;
        std::fs::write(here.path().join("edited.json"), edited.to_string()).unwrap();
        let again = [ASKED, &["--evaluations", "32", "--resume", "edited.json", "--out", "again"]].concat();
        let file = "cannot go on from `edited.json`: ";
        assert_refuses(&knee(here.path(), &again), 2, &[file, saying, "start over without --resume"]);
        assert_eq!(names(here.path()), ["edited.json", "whole"]);
    }
}

#[test]
fn the_worst_networks_are_findings_or_counted_as_not_confirmed() {
    let here = tempfile::tempdir().unwrap();
    let asked = ["hunt", "lp", "--evaluations", "64", "--for", "swing", "--findings", "20", "--json"];
    let told = json(&knee(here.path(), &asked));
    let searched = &told["weaknesses"][0];
    let above =
        searched["archive"].as_array().unwrap().iter().filter(|one| one["score"].as_f64() >= Some(0.5));
    // Of each change of the rate one is tried, and two that become the same when made simple are one finding.
    let rates: std::collections::BTreeSet<_> = above.map(|one| one["bins"][0].as_u64()).collect();
    let findings = told["findings"].as_array().unwrap();
    let not_confirmed = searched["not_confirmed"].as_u64().unwrap() as usize;
    assert!(!findings.is_empty() && findings.len() + not_confirmed <= rates.len(), "{told}");
}

#[test]
fn the_words_of_a_hunt_fit_its_number_of_networks() {
    let here = tempfile::tempdir().unwrap();
    let told = stdout(&knee(here.path(), &["hunt", "vegas", "--evaluations", "1", "--for", "use"]));
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("? 1 network of the profile any"), "{told}");
    assert!(words.contains("from the score in “a finding from” on, and “of the map” is the part"), "{told}");
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
        (&["hunt", "vegas", "--against", "reno/red"], "name a controller alone with --against"),
        (&["hunt", ""], "the name of a controller is missing in \"\""),
        (&["hunt", ":min_window=2"], "name a controller alone after `knee hunt`"),
        (&["hunt", "vegas", "--against", "vegas"], "`vegas` is compared with itself, which"),
        (
            &["hunt", "vegas", "--against", "vegas:min_window=2"],
            "`vegas` is compared with itself as `vegas:min_window=2`, which",
        ),
        (&["hunt", "vegas", "--for", "use,use"], "the weakness `use` is given twice"),
    ] {
        let refused = knee(here.path(), arguments);
        assert!(!refused.status.success() && stderr(&refused).contains(saying), "{}", stderr(&refused));
    }
    let odd = json!({ "schema_version": SCHEMA_VERSION, "subject": 3 }).to_string();
    for (text, saying) in [(&*odd, "its subject is 3"), ("{}", "it is no result of `knee hunt`")] {
        std::fs::write(here.path().join("odd.json"), text).unwrap();
        assert_refuses(&knee(here.path(), &["hunt", "vegas", "--resume", "odd.json"]), 2, &[saying]);
    }
}
