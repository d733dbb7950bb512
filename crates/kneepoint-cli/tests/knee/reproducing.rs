// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee reproduce`: verdicts, kept runs, refusals.

use std::path::Path;

use serde_json::Value;

use super::{assert_refuses, json, keep_otherwise, knee, names, stderr, stdout};

/// Two schemes on a small link, with a claim that must hold, one that must fail, and one that cannot be tested.
const TOY: &str = r#"
[experiment]
id = "toy-small"
title = "A small link"
source = "Nobody, nowhere"

[run]
duration = "8s"
measure = "2s..8s"
seeds = 2

[topology]
kind = "dumbbell"
rate = "5mbit"
rtt = "20ms"

[[flows]]
name = "long"
count = 2
cc = "reno"

[sweep]
scheme = ["pert", "sack/droptail"]

[figure]
x = "scheme"
label = "scheme"
series = ""
panels = "utilization"

[quick]
seeds = 3
"run.duration" = "4s"
"run.measure" = "1s..4s"

[[reading]]
about = "How long the round trip is."
taken = "20 ms."

[[reading.alternative]]
name = "40 ms"
set = { "topology.rtt" = "40ms" }

[[claim]]
id = "true"
text = "The link is used."
check = "utilization > 0.1"
each = "scheme"
published = 0.9

[[claim]]
id = "false"
text = "The link carries twice what it can."
check = "utilization[scheme=pert] > 2"

[[claim]]
id = "unknown"
text = "Nobody measured it."
check = "completion_time_p99_ms[scheme=pert] > 0"
"#;

fn toy(directory: &Path) {
    std::fs::write(directory.join("toy.toml"), TOY).unwrap();
}

fn verdicts(claims: &Value) -> Vec<&str> {
    claims["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].as_str().unwrap()).collect()
}

#[test]
fn each_claim_gets_a_verdict_with_our_number_and_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    toy(directory.path());
    let claims = json(&knee(directory.path(), &["reproduce", "toy.toml", "--json", "--out", "o"]));
    assert_eq!(verdicts(&claims), ["holds", "fails", "untestable"]);
    let claims = &claims["claims"];
    for key in ["experiment", "claim", "verdict", "ours", "published", "reason"] {
        assert!(claims[0].get(key).is_some(), "{key}");
    }
    assert_eq!((&claims[0]["experiment"], &claims[0]["claim"]), (&"toy-small".into(), &"true".into()));
    assert!(claims[1]["ours"].as_f64().is_some_and(|ours| ours < 1.1), "{}", claims[1]["ours"]);
    assert!(
        claims[2]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("completion_time_p99_ms[scheme=pert]"))
    );
    assert_eq!(claims[0]["alternatives"]["40 ms"], "holds");
    assert_eq!(names(&directory.path().join("out/runs")).len(), 2 * 2 * 2);
    for file in ["report.html", "report.md", "claims.json", "figures/toy-small.svg", "data/toy-small.csv"] {
        assert!(directory.path().join("o").join(file).is_file(), "{file}");
    }
}

#[test]
fn what_is_kept_is_not_run_again_and_what_is_lost_is() {
    let directory = tempfile::tempdir().unwrap();
    toy(directory.path());
    let reproduce = || knee(directory.path(), &["reproduce", "toy.toml", "--quick", "--json", "--out", "o"]);
    let first = json(&reproduce());
    let runs = directory.path().join("out/runs");
    let kept = names(&runs);
    assert_eq!(kept.len(), 2 * 3);
    // A later report shows the numbers that were written in the kept run.
    let one = runs.join(&kept[0]);
    keep_otherwise(&one, "\"utilization\":0.", "\"utilization\":7.");
    assert_ne!(json(&reproduce())["claims"][0]["ours"], first["claims"][0]["ours"]);
    std::fs::write(&one, "half of a r").unwrap();
    assert_eq!(json(&reproduce()), first);
    std::fs::remove_file(&one).unwrap();
    assert_eq!(json(&reproduce()), first);
    std::fs::remove_file(runs.join(format!("{}.bad", kept[0]))).expect("what was damaged is set aside");
    assert_eq!(names(&runs), kept);
}

#[test]
fn experiments_answer_to_their_paper_their_figure_and_their_id() {
    let directory = tempfile::tempdir().unwrap();
    let count = |name: &str| {
        let list = json(&knee(directory.path(), &["reproduce", "--list", "--json", name]));
        list["experiments"].as_array().unwrap().len()
    };
    assert!(count("pert") > 10);
    assert_eq!((count("pert.fig5"), count("pert-fig5")), (1, 1));
    // A paper is named after its folder, regardless of the ids of its figures.
    assert_eq!((count("adaptive-pert.fig13-14"), count("kotla-fig13-14")), (1, 1));
    let listed = stdout(&knee(directory.path(), &["reproduce", "--list"]));
    assert!(listed.lines().any(|line| line.starts_with("pert.tab1 ")), "{listed}");
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn computations_agree_with_the_paper_in_a_second() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["pert.fig5", "pert.fig13a", "pert.fig13bcd"];
    let output = knee(directory.path(), &[&["reproduce", "--json"], &names[..]].concat());
    let claims = json(&output);
    assert!(verdicts(&claims).iter().all(|verdict| *verdict == "holds"), "{claims:#}");
    assert!(stderr(&output).contains("10 claims: 10 hold"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let refuse = |change: (&str, &str), sayings: &[&str]| {
        assert!(TOY.contains(change.0), "{}", change.0);
        std::fs::write(directory.path().join("bad.toml"), TOY.replacen(change.0, change.1, 1)).unwrap();
        assert_refuses(&knee(directory.path(), &["reproduce", "bad.toml"]), 2, sayings);
    };
    refuse(
        ("utilization > 0.1", "utilization >"),
        &["bad.toml:47:23", "expected a number, a metric", "found the end"],
    );
    refuse(
        ("each = \"scheme\"", "need = \"mots\""),
        &["not one of all, most, any, mean", "did you mean `most`?"],
    );
    refuse(("[scheme=pert] > 2", "[scheme=prt] > 2"), &["no point has scheme=prt", "did you mean `pert`?"]);
    refuse(("each = \"scheme\"", "each = \"schema\""), &["along `schema`", "did you mean `scheme`?"]);
    refuse(("id = \"toy-small\"", ""), &["[experiment] needs `id`"]);
    refuse(("\"run.duration\" = \"4s\"", "\"run.duration\" = \"4\""), &["`4` is not a time"]);
    refuse(("rate = \"5mbit\"", "rate = \"5mbps\""), &["could mean bits or bytes"]);
    assert_refuses(&knee(directory.path(), &["reproduce", "pert.fig66"]), 2, &["did you mean `pert.fig6`?"]);
    assert_refuses(&knee(directory.path(), &["reproduce", "none.toml"]), 1, &["cannot read `none.toml`"]);
    assert_eq!(names(directory.path()), ["bad.toml"]);
}
