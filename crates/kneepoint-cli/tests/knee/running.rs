// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Run: the output of a scenario, and the report on its links, groups and seeds.

use super::*;

#[test]
fn init_check_run_is_a_way_to_begin() {
    let here = tempfile::tempdir().unwrap();
    assert!(knee(here.path(), &["init", "my.toml"]).status.success());
    let checked = json(&knee(here.path(), &["check", "my.toml", "--json"]));
    let checked = &checked["files"][0];
    assert_eq!((&checked["valid"], &checked["faults"]), (&Value::Bool(true), &Value::Array(vec![])));
    assert!(stdout(&knee(here.path(), &["check", "my.toml"])).contains("my.toml: valid"));
}

#[test]
fn a_run_without_name_sampling_or_place_gets_all_three() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = \"4s\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"60ms\"\n\
                [[flows]]\ncount = 1\ncc = \"reno\"\n";
    std::fs::write(here.path().join("mine.toml"), text).unwrap();
    let first = json(&knee(here.path(), &["run", "mine.toml", "--json"]));
    assert_eq!((&first["title"], &first["schemes"][0]["scheme"]), (&"mine".into(), &"mine".into()));
    assert_eq!(names(&here.path().join("out/mine/series")), ["mine-seed1.csv", "mine-seed1.parquet"]);
    let again = knee(here.path(), &["run", "mine.toml", "--sample", "0s"]);
    assert!(stderr(&again).contains("out/mine exists already; writing to out/mine-2"), "{}", stderr(&again));
    assert!(names(&here.path().join("out/mine-2/series")).is_empty());
}

#[test]
fn a_run_reports_the_shares_of_groups_that_share_a_link() {
    let here = tempfile::tempdir().unwrap();
    let scenario = "[run]\nduration = '8s'\nmeasure = '2s..8s'\nseeds = 2\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    rtt = '40ms'\n[[flows]]\nname = 'new'\ncount = 2\ncc = 'pert'\n[[flows]]\nname = 'old'\ncount = 2\n\
                    cc = 'cubic'\n[[cbr]]\nname = 'voice'\nrate = '1mbit'\n";
    std::fs::write(here.path().join("mix.toml"), scenario).unwrap();
    let result = json(&knee(here.path(), &["run", "mix.toml", "--out", "o", "--json"]));
    let shares = result["schemes"][0]["groups"].as_array().unwrap();
    assert_eq!(shares.iter().map(|share| &share["group"]).collect::<Vec<_>>(), ["new", "old", "voice"]);
    for share in shares {
        assert!(share["queue_position_mean"]["mean"].as_f64().is_some_and(|mean| mean < 1.0), "{share}");
    }
    let total: f64 = shares.iter().map(|share| share["share"]["mean"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    // A source of 1 Mbit/s at a busy link of 10.
    let voice = shares[2]["share"]["mean"].as_f64().unwrap();
    assert!((0.08..0.15).contains(&voice), "{voice}");
    let told = stdout(&knee(here.path(), &["run", "mix.toml", "--out", "p"]));
    assert!(told.contains("Groups") && told.contains("new (pert)") && told.contains("timeouts"), "{told}");
    assert!(
        std::fs::read_to_string(here.path().join("p/report.html")).unwrap().contains("Throughput shares")
    );
}

#[test]
fn seeds_that_change_nothing_are_said_and_have_no_intervals() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = \"4s\"\nseeds = 3\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"60ms\"\n\
                [[flows]]\ncount = 1\ncc = \"reno\"\n";
    std::fs::write(here.path().join("mine.toml"), text).unwrap();
    let said = stdout(&knee(here.path(), &["run", "mine.toml"]));
    assert!(said.contains("nothing here is random") && !said.contains('±'), "{said}");
    let precise = stdout(&knee(here.path(), &["run", "mine.toml", "--precision", "5%"]));
    assert!(precise.contains("all seeds gave the same"), "{precise}");
    let json = json(&knee(here.path(), &["run", "mine.toml", "--json"]));
    assert_eq!(json["schemes"][0]["utilization"]["half_width"], serde_json::Value::Null);
}

#[test]
fn every_measured_link_and_every_group_on_it_has_a_row() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = \"8s\"\n[topology]\nkind = \"parking-lot\"\nrouters = 3\nrate = \"2mbit\"\n\
                hop_delay = \"5ms\"\naccess_delay = \"5ms\"\n\
                [[flows]]\nname = \"long\"\ncount = 2\ncc = \"reno\"\nstart = \"0s..1s\"\n\
                [[flows]]\nname = \"short\"\nfrom = \"r1\"\nto = \"r2\"\ncount = 2\ncc = \"reno\"\nstart = \"0s..1s\"\n";
    std::fs::write(here.path().join("lot.toml"), text).unwrap();
    let said = stdout(&knee(here.path(), &["run", "lot.toml", "--out", "out"]));
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let has = |start: &str| said.lines().any(|line| line.starts_with(start));
    let rows = ["r1-r2 ", "r2-r3 ", "long (reno) on r1-r2", "long (reno) on r2-r3", "short (reno) on r1-r2"];
    assert!(rows.iter().all(|row| has(row)) && !has("short (reno) on r2-r3"), "{said}");
    let csv = std::fs::read_to_string(here.path().join("out/crossings.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 3, "{csv}");
    // Flows of different paths are not compared.
    let runs = std::fs::read_to_string(here.path().join("out/runs.csv")).unwrap();
    let place = runs.lines().next().unwrap().split(',').position(|key| key == "jain_index").unwrap();
    assert_eq!(runs.lines().nth(1).unwrap().split(',').nth(place), Some(""));
}

#[test]
fn too_many_samples_are_refused_by_every_verb_with_what_all_of_them_allow() {
    let here = tempfile::tempdir().unwrap();
    let scenario = |sample: &str| {
        let text = format!(
            "[run]\nduration = \"70s\"\nsample = \"{sample}\"\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n"
        );
        std::fs::write(here.path().join("my.toml"), text).unwrap();
    };
    let asked = |verb: &[&str], sample: &str| {
        scenario(if verb[0] == "compare" || verb.contains(&"--sample") { "1s" } else { sample });
        let sampled = verb.contains(&"--sample").then_some(sample);
        knee(here.path(), &verb.iter().copied().chain(sampled).collect::<Vec<_>>())
    };
    for verb in [
        &["check", "my.toml"][..],
        &["run", "my.toml", "--dry-run", "--memory", "64gb"],
        &["run", "my.toml", "--dry-run", "--memory", "64gb", "--sample"],
        &["compare", "reno", "--duration", "70s", "--dry-run", "--memory", "64gb", "--sample"],
    ] {
        for sample in ["1us", "7us", "34us"] {
            let refused = asked(verb, sample);
            assert_refuses(
                &refused,
                2,
                &["asks for more than 2000000 samples", "sample every 35us or less often"],
            );
        }
        let allowed = asked(verb, "35us");
        assert!(allowed.status.success(), "{verb:?}: {}", stderr(&allowed));
    }
    assert_eq!(names(here.path()), ["my.toml"]);
}
