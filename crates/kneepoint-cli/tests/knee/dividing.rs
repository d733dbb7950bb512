// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Studies whose runs are distributed over machines: shards, their dry run, and errors before any run.

use kneepoint::report::output;
use serde_json::json as value;

use super::documented::assert_defined;
use super::*;

/// Six runs.
const STUDY: [&str; 11] =
    ["compare", "reno", "sack", "--rate", "2mbit", "--flows", "2", "--duration", "4s", "--seeds", "3"];

fn study(here: &Path, more: &[&str]) -> Output {
    knee(here, &[&STUDY, more].concat())
}

#[test]
fn a_shard_says_what_it_leaves_and_the_last_one_reports() {
    let here = tempfile::tempdir().unwrap();
    let first = study(here.path(), &["--shard", "1/2", "--out", "one", "--json"]);
    let part = json(&first);
    let expected = value!({"shard": "1/2", "runs": 6, "kept": 3, "left": 3});
    assert!(expected.as_object().unwrap().iter().all(|(key, value)| part[key] == *value), "{part}");
    assert!(stderr(&first).contains("3 of 6 runs are kept; 3 are left to the other shards"));
    assert_defined(output::document("Shard").unwrap(), &[part]);
    assert_eq!(names(here.path()), ["out"], "no report, and no directory for one");
    let last = json(&study(here.path(), &["--shard", "2/2", "--out", "two", "--json"]));
    let alone = json(&study(here.path(), &["--out", "alone", "--store", "other", "--json"]));
    assert_eq!(last["schemes"][1]["flow_goodput_bps"], alone["schemes"][1]["flow_goodput_bps"]);
    let series = |report: &str| names(&here.path().join(report).join("series"));
    assert_eq!(series("two"), series("alone"), "those of the other shard, too");
    let reproduced =
        ["reproduce", "pert.fig6", "--quick", "--readings", "--dry-run", "--shard", "1/3", "--json"];
    assert!(json(&knee(here.path(), &reproduced))["left"].as_u64().unwrap() > 0);
}

#[test]
fn one_of_shards_that_run_at_the_same_time_reports() {
    let here = tempfile::tempdir().unwrap();
    let start = |part: &str| {
        let mut command = command(&[&STUDY[..], &["--shard", part, "--json", "--out", &part[..1]]].concat());
        command.current_dir(here.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let both = ["1/2", "2/2"].map(start).map(|shard| json(&shard.wait_with_output().unwrap()));
    let reports = both.iter().filter(|told| told["schemes"].is_array()).count();
    assert!(reports > 0, "{both:?}");
    assert_eq!(names(here.path()).len(), 1 + reports, "{:?}", names(here.path()));
}

#[test]
fn shards_of_a_reproduction_with_readings_count_both_studies() {
    let here = tempfile::tempdir().unwrap();
    let shard = |part: &str| {
        let words =
            ["reproduce", "pert.fig6", "--quick", "--readings", "--seeds", "1", "--json", "--shard", part];
        json(&knee(here.path(), &words))
    };
    let first = shard("1/2");
    let count = |told: &Value, key: &str| told[key].as_u64().unwrap();
    assert_eq!(count(&first, "kept") + count(&first, "left"), count(&first, "runs"));
    assert!(shard("2/2")["claims"].is_array());
    assert_eq!(shard("1/2"), shard("2/2"), "all is kept");
}

#[test]
fn a_dry_run_says_which_runs_are_a_shards_and_where_the_others_are_made() {
    let here = tempfile::tempdir().unwrap();
    let forecast = |more: &[&str]| json(&study(here.path(), &[more, &["--dry-run", "--json"]].concat()));
    let count = |told: &Value| ["kept", "new", "left"].map(|key| told[key].as_u64().unwrap());
    let whole = forecast(&[]);
    assert_eq!((count(&whole), &whole["shard"], &whole["on"]), ([0, 6, 0], &Value::Null, &Value::Null));
    let shard = forecast(&["--shard", "2/4"]);
    assert_eq!((count(&shard), &shard["shard"]), ([0, 2, 4], &value!("2/4")));
    let text = stdout(&study(here.path(), &["--shard", "1/4", "--dry-run"]));
    assert!(
        text.starts_with("6 runs: 0 kept, 2 new in shard 1/4, 4 left to the other shards\nabout "),
        "{text}"
    );
    let cluster = ["--on", "ray://head", "--store", "s3://bucket/runs"];
    let there = forecast(&cluster);
    assert_eq!(
        (count(&there), &there["on"], &there["seconds"]),
        ([0, 6, 0], &value!("ray://head"), &Value::Null)
    );
    assert_eq!([&there["url"], &there["store"]], ["s3://bucket/runs", "out/runs"]);
    assert!(there["cpu_seconds"].as_f64().unwrap() > 0.0 && there["jobs"].is_null());
    let spread = stdout(&study(here.path(), &[&cluster[..], &["--dry-run"]].concat()));
    assert!(
        spread.contains("of processor time, on the cluster ray://head")
            && spread.contains("s3://bucket/runs"),
        "{spread}"
    );
    assert!(names(here.path()).is_empty(), "{:?}", names(here.path()));
    assert!(study(here.path(), &["--shard", "1/2"]).status.success());
    let later = forecast(&["--shard", "2/2"]);
    assert_eq!(count(&later), [3, 3, 0]);
    assert_defined(output::document("Forecast").unwrap(), &[whole, shard, there, later]);
}

#[test]
fn what_cannot_go_together_is_refused_before_anything_is_made() {
    let here = tempfile::tempdir().unwrap();
    for (more, sayings) in [
        (&["--shard", "1/2", "--pcap", "r1-r2"][..], &["`--shard 1/2`", "leave out `--pcap`"][..]),
        (&["--shard", "1/2", "--objects"], &["`--shard 1/2`", "objects"]),
        (&["--on", "ray", "--objects"], &["`--on ray`", "leave out `--pcap` and `--objects`"]),
        (&["--shard", "1/2", "--on", "ray"], &["--shard", "--on"]),
        (&["--shard", "3/2"], &["shard 3 is outside the allowed range, 1 to 2", "2/4"]),
        (&["--shard", "0/2"], &["shard 0 is outside the allowed range, 1 to 2"]),
        (&["--shard", "1/0"], &["its number from 1 and how many there are"]),
        (&["--on", "ray://head:port"], &["ray://HOST:PORT", "10001"]),
        (&["--store", "s3://bucket/runs"], &["is not a directory", "--store out/runs", "--on ray"]),
        (&["--store", "s3://bucket/runs", "--dry-run"], &["is not a directory"]),
    ] {
        assert_refuses(&study(here.path(), more), 2, sayings);
        assert!(names(here.path()).is_empty(), "{more:?} left {:?}", names(here.path()));
    }
}

#[test]
fn verbs_that_do_not_sweep_do_not_take_the_options_of_those_that_do() {
    let here = tempfile::tempdir().unwrap();
    for verb in [&["markov"][..], &["predict"], &["fluid", "run", "pert"], &["live", "live.mixes"]] {
        for option in [["--on", "ray"], ["--shard", "1/2"]] {
            let output = knee(here.path(), &[verb, &option].concat());
            // `knee live` has a kernel there.
            let said = match (verb[0], option[0]) {
                ("live", "--on") => "invalid value 'ray' for '--on <HOSTS>'".to_string(),
                (_, name) => format!("unexpected argument '{name}'"),
            };
            assert_refuses(&output, 2, &[&said]);
        }
    }
    assert_refuses(
        &knee(here.path(), &["markov", "--store", "s3://bucket/runs"]),
        2,
        &["is not a directory"],
    );
    assert_refuses(
        &knee(here.path(), &["predict", "--store", "s3://bucket/runs"]),
        2,
        &["is not a directory"],
    );
    assert!(names(here.path()).is_empty(), "{:?}", names(here.path()));
}

#[test]
fn a_cluster_that_cannot_be_reached_leaves_no_directory_of_a_report() {
    let here = tempfile::tempdir().unwrap();
    for (python, sayings) in [
        ("/bin/true", &["`/bin/true` is not a Python interpreter", "KNEE_PYTHON=/usr/bin/python3"][..]),
        ("/no/such/program", &["needs Python", "KNEE_PYTHON"]),
    ] {
        for verb in ["run", "compare"] {
            let mut arguments = vec![verb];
            match verb {
                "run" => arguments.push("my.toml"),
                _ => arguments.extend(&STUDY[1..]),
            }
            assert!(knee(here.path(), &["init", "my.toml", "--force"]).status.success());
            let mut command = command(&[&arguments, &["--on", "ray"][..]].concat());
            let output = command.env("KNEE_PYTHON", python).current_dir(here.path()).output().unwrap();
            assert_refuses(&output, 1, sayings);
            assert_eq!(names(&here.path().join("out")), ["runs"]);
        }
    }
}
