// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Memory: a run that does not fit is refused before it is built, fewer runs are made in parallel, and one that grows
//! is stopped.

use std::path::Path;

use super::{assert_refuses, json, knee, names, stderr, stdout};

/// A source of one-byte packets, of which 10¹² fit on a path of 1000 s.
const BOMB: &str = "[run]\nduration = \"10s\"\nseeds = 1\n[topology]\nkind = \"dumbbell\"\nrate = \"1000gbit\"\nrtt = \"1000s\"\n\
                    buffer = \"1000pkt\"\n[[cbr]]\nrate = \"1000gbit\"\nsize = \"1b\"\n";

fn write(here: &Path, name: &str, text: &str) {
    std::fs::write(here.join(name), text).expect("a scenario");
}

#[test]
fn a_run_that_cannot_fit_is_refused_before_anything_is_built_or_written() {
    let here = tempfile::tempdir().unwrap();
    write(here.path(), "bomb.toml", BOMB);
    let said = [
        "a run would take about 128 TB of memory, above",
        "of it are packets in flight, 1.25e12 of",
        "1000gbit, a round trip of 1000s, packets of 1b",
        "--memory",
    ];
    for words in [
        &["run", "bomb.toml"][..],
        &["run", "bomb.toml", "--dry-run"],
        &["run", "bomb.toml", "--dry-run", "--json"],
    ] {
        assert_refuses(&knee(here.path(), words), 1, &said);
    }
    let compare = [
        "compare",
        "bbr",
        "--rate",
        "100gbit",
        "--rtt",
        "10s",
        "--duration",
        "200s",
        "--buffer",
        "1000pkt",
        "--tcp",
        "initial_window=100",
    ];
    let told = [
        "a run would take about",
        "above the 4.0 GB of `--memory`",
        "packets in flight",
        "help: lower the rate or the delay",
    ];
    for more in [&[][..], &["--dry-run"]] {
        assert_refuses(&knee(here.path(), &[&compare[..], &["--memory", "4gb"], more].concat()), 1, &told);
    }
    let kept = names(&here.path().join("out/runs"));
    assert!(kept.is_empty(), "{kept:?}");
}

#[test]
fn what_is_allowed_decides_and_a_dry_run_tells_what_takes_it() {
    let here = tempfile::tempdir().unwrap();
    let words = ["compare", "reno", "sack", "--duration", "4s", "--dry-run", "--memory"];
    let dry = |allowed: &str, more: &[&str]| knee(here.path(), &[&words[..], &[allowed], more].concat());
    let forecast = json(&dry("1gb", &["--json"]));
    let number = |key: &str| forecast[key].as_f64().unwrap_or_else(|| panic!("{key}: {forecast}"));
    assert_eq!(number("memory_allowed_bytes"), 1e9);
    assert!((1e6..1e9).contains(&number("memory_bytes")), "{forecast}");
    assert!(number("packets") > 1e4, "{forecast}");
    let parts = forecast["memory"].as_array().expect("parts");
    let bytes: Vec<u64> = parts.iter().filter_map(|part| part["bytes"].as_u64()).collect();
    assert!(bytes.len() > 3 && bytes.is_sorted_by(|one, other| one >= other), "{bytes:?}");
    let product =
        |part: &serde_json::Value| part["count"].as_u64().zip(part["each"].as_u64()).map(|(a, b)| a * b);
    assert_eq!(parts.iter().filter_map(product).collect::<Vec<_>>(), bytes);
    let text = stdout(&dry("1gb", &[]));
    assert!(text.contains(" of memory (1.0 GB allowed)\nthe largest part of a run: "), "{text}");
    assert_refuses(&dry("100kb", &[]), 1, &["above the 100 kB of `--memory`"]);
    for wrong in ["many", "4", "-1gb"] {
        assert_eq!(dry(wrong, &[]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn fewer_runs_are_made_side_by_side_if_not_all_fit_and_that_is_said() {
    let here = tempfile::tempdir().unwrap();
    let words = ["compare", "reno", "--duration", "2s", "--seeds", "4", "--jobs", "4", "--sample", "0s"];
    let forecast = |allowed: &str| {
        let all = knee(here.path(), &[&words[..], &["--dry-run", "--json", "--memory", allowed]].concat());
        json(&all)
    };
    let all = forecast("4gb");
    assert_eq!(all["jobs"], 4);
    let needed = all["memory_bytes"].as_u64().unwrap();
    let tight = format!("{}b", needed * 3 / 4);
    assert!((1..4).contains(&forecast(&tight)["jobs"].as_u64().unwrap()), "{needed}");
    let made = knee(here.path(), &[&words[..], &["--memory", &tight]].concat());
    let said = stderr(&made);
    assert!(made.status.success() && said.contains("in parallel instead of 4: a run may take"), "{said}");
    assert_eq!(names(&here.path().join("out/runs")).iter().filter(|name| name.ends_with(".json")).count(), 4);
}

/// Flows arrive during an outage, which the rate of the link does not show.
const HALT: &str = "capacity = { kind = \"steps\", rates = [\"0s: 100mbit\", \"10s: 1mbit\"] }\n\
                    [run]\nduration = \"60s\"\nseeds = 1\n[topology]\nkind = \"dumbbell\"\nrate = \"100mbit\"\nrtt = \"20ms\"\n\
                    [[arrivals]]\nrate = 500\nsize = \"20kb\"\ncc = \"sack\"\n";

#[test]
fn a_run_that_outgrows_its_limit_is_stopped_and_finished_runs_are_kept() {
    let here = tempfile::tempdir().unwrap();
    write(here.path(), "halt.toml", &format!("{HALT}[sweep]\n\"run.duration\" = [\"5s\", \"60s\"]\n"));
    let words = ["run", "halt.toml", "--sample", "0s", "--jobs", "1", "--memory", "12mb"];
    let said = [
        "a run takes",
        "of memory after",
        "above its limit of",
        "12 MB",
        "finished runs are kept",
        "--memory",
    ];
    assert_refuses(&knee(here.path(), &words), 1, &said);
    let kept = names(&here.path().join("out/runs"));
    assert_eq!(kept.iter().filter(|name| name.ends_with(".json")).count(), 1, "{kept:?}");
}
