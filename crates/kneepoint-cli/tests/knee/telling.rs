// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Verbs that only print: list, explain, schema, completions, man, doctor.

use std::io::Read;
use std::process::Stdio;

use super::*;

#[test]
fn list_has_one_line_for_each_name_and_says_it_in_json_too() {
    let here = tempfile::tempdir().unwrap();
    let lines = stdout(&knee(here.path(), &["list", "controllers"]));
    let listed = json(&knee(here.path(), &["list", "controllers", "--json"]));
    let listed = listed["items"].as_array().unwrap();
    assert_eq!(lines.lines().count(), listed.len());
    for (line, item) in lines.lines().zip(listed) {
        assert_eq!(line.split_whitespace().next(), item["name"].as_str());
        assert_eq!(item["kind"], "controller");
        assert_ne!(item["summary"], "");
    }
    let everything = stdout(&knee(here.path(), &["list"]));
    for heading in ["controllers", "queues", "topologies", "recoveries", "metrics", "columns"] {
        assert!(everything.lines().any(|line| line == heading), "{everything}");
    }
}

#[test]
fn lists_and_explanations_have_the_width_in_columns_in_a_pipe_too() {
    for arguments in [&["list"][..], &["list", "controllers"], &["explain", "cubic"]] {
        let widest = |columns: &str| {
            let told = stdout(&command(arguments).env("COLUMNS", columns).output().unwrap());
            told.lines().map(|line| line.chars().count()).max()
        };
        assert!(widest("80") <= Some(80) && widest("") > Some(80), "{arguments:?}");
    }
}

#[test]
fn a_metric_and_a_column_of_one_name_are_explained_together_with_what_counts() {
    let here = tempfile::tempdir().unwrap();
    let explained = stdout(&knee(here.path(), &["explain", "retransmissions"]));
    for part in ["retransmissions (metric)", "A SYN is not a segment of data.", "retransmissions (column)"] {
        assert!(explained.contains(part), "{explained}");
    }
    // A key of the run and of the link, with the same definition.
    let once = stdout(&knee(here.path(), &["explain", "utilization"]));
    assert_eq!(once.matches("Link: the counters").count(), 1, "{once}");
}

#[test]
fn every_listed_name_can_be_explained() {
    let here = tempfile::tempdir().unwrap();
    for item in json(&knee(here.path(), &["list", "--json"]))["items"].as_array().unwrap() {
        let name = item["name"].as_str().unwrap();
        let explained = json(&knee(here.path(), &["explain", name, "--json"]));
        let same =
            explained["items"].as_array().unwrap().iter().find(|one| one["kind"] == item["kind"]).unwrap();
        assert_eq!(same["summary"], item["summary"]);
        for parameter in same["parameters"].as_array().unwrap() {
            assert_ne!(parameter["doc"], "", "{name}");
        }
    }
}

#[test]
fn a_metric_is_explained_by_the_head_of_its_column_and_a_key_by_its_definition() {
    let here = tempfile::tempdir().unwrap();
    for (name, parts) in [
        ("jain", &["jain_index (metric)", "`jain_index` in claims", "`Jain` in tables", "(Σ x)²"][..]),
        ("p99 delay", &["queueing_delay_p99_ms (metric)", "delay_p99_ms (metric)", "in ms"]),
        ("half_width", &["(key)", "95 % confidence interval", "A key of:"]),
        ("schemes.runs.cpu_seconds", &["(key)", "In s."]),
    ] {
        let output = knee(here.path(), &["explain", name]);
        let text = stdout(&output);
        for part in parts {
            assert!(text.contains(part), "`{part}` is missing from:\n{text}\n{}", stderr(&output));
        }
    }
    let several = knee(here.path(), &["explain", "p90"]);
    assert_refuses(&several, 2, &["several names have it as a word", "`queueing_delay_p90_ms`"]);
}

#[test]
fn explain_shows_source_equations_and_parameters() {
    let here = tempfile::tempdir().unwrap();
    let text = stdout(&knee(here.path(), &["explain", "reno"]));
    for part in ["RFC 5681", "avoidance", "Parameters", "decrease", "0.01 to 0.99"] {
        assert!(text.contains(part), "`{part}` is missing from:\n{text}");
    }
}

#[test]
fn a_mistyped_name_gets_a_suggestion() {
    let here = tempfile::tempdir().unwrap();
    let output = knee(here.path(), &["explain", "drptail"]);
    assert_refuses(&output, 2, &["nothing is named `drptail`", "did you mean `droptail`?", "knee list"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    for arguments in [&["list"][..], &["schema"], &["explain", "tcp"], &["--help"], &["completions", "zsh"]] {
        let mut child =
            command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("knee starts");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn every_verb_has_a_manual_page() {
    let here = tempfile::tempdir().unwrap();
    let pages = json(&knee(here.path(), &["man", "--out", "man", "--json"]));
    for verb in [
        "compare",
        "coexist",
        "run",
        "list",
        "explain",
        "init",
        "check",
        "doctor",
        "completions",
        "man",
        "schema",
    ] {
        let page = format!("knee-{verb}.1");
        assert!(pages["pages"].as_array().unwrap().contains(&page.as_str().into()), "{page}: {pages}");
        assert!(std::fs::read_to_string(here.path().join("man").join(page)).unwrap().contains(".TH"));
    }
}

#[test]
fn the_schema_is_an_object_with_properties() {
    let here = tempfile::tempdir().unwrap();
    assert!(json(&knee(here.path(), &["schema"]))["properties"].is_object());
}

#[test]
fn doctor_never_fails_and_says_what_each_thing_is_for() {
    let here = tempfile::tempdir().unwrap();
    let found = json(&knee(here.path(), &["doctor", "--json"]));
    assert!(found["cores"].as_u64().unwrap() >= 1);
    for finding in found["findings"].as_array().unwrap() {
        assert!(finding["available"].is_boolean());
        assert_ne!(finding["used_for"], "");
    }
    // Programs are looked up without a PATH, too.
    let output = command(&["doctor"]).env_clear().output().unwrap();
    assert!(output.status.success() && stdout(&output).contains("cores"));
}

#[test]
fn help_documents_the_exit_status_and_gives_examples() {
    let here = tempfile::tempdir().unwrap();
    let help = stdout(&knee(here.path(), &["--help"]));
    for part in ["Examples:", "Exit status:", "130  interrupted"] {
        assert!(help.contains(part), "{help}");
    }
    for verb in
        ["compare", "coexist", "run", "list", "explain", "init", "check", "completions", "man", "schema"]
    {
        let of_verb = stdout(&knee(here.path(), &[verb, "--help"]));
        assert!(of_verb.contains("Example"), "{verb}: {of_verb}");
    }
}

#[test]
fn the_examples_of_compare_name_schemes_and_options_that_exist() {
    let here = tempfile::tempdir().unwrap();
    let page = r#"{"log": {"entries": [{"request": {"url": ""}, "response": {"bodySize": 9}}]}}"#;
    std::fs::write(here.path().join("my-site.har"), page).unwrap();
    std::fs::write(here.path().join("modem.csv"), "time_s,rate_mbps\n0,8\n1,2\n").unwrap();
    for help in [&["--help"][..], &["compare", "--help"]] {
        let help = stdout(&knee(here.path(), help));
        let examples = help.lines().filter_map(|line| line.strip_prefix("  knee compare"));
        for example in examples.map(|line| line.split("   ").next().unwrap().split('|').next().unwrap()) {
            // Refused for its last argument, after all others were accepted.
            let arguments =
                ["compare"].into_iter().chain(example.split_whitespace()).chain(["--pcap", "nowhere"]);
            let output = knee(here.path(), &arguments.collect::<Vec<_>>());
            assert_refuses(&output, 2, &["--pcap", "`nowhere`"]);
        }
    }
}
