// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The web as traffic: objects, pages of HAR files, files of sizes.

use super::*;

/// Entries of a HAR file by instant and size.
fn archive(entries: &[(&str, u32)]) -> String {
    let entry = |(at, size): &(&str, u32)| {
        format!(r#"{{"pageref": "p", "startedDateTime": "{at}", "response": {{"bodySize": {size}}}}}"#)
    };
    let entries = entries.iter().map(entry).collect::<Vec<_>>().join(",");
    format!(r#"{{"log": {{"pages": [{{"id": "p"}}], "entries": [{entries}]}}}}"#)
}

/// A short comparison of web traffic.
pub const WEB: [&str; 10] =
    ["--workload", "web", "--web", "2", "--flows", "1", "--duration", "8s", "--seeds", "1"];

#[test]
fn completion_times_of_web_objects_are_in_every_format() {
    let here = tempfile::tempdir().unwrap();
    let scenario = "[run]\nduration = '20s'\nmeasure = '5s..20s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '40ms'\n\
                    [[web]]\nname = 'pages'\nsessions = 20\ncc = 'sack'\n";
    std::fs::write(here.path().join("web.toml"), scenario).unwrap();
    let result = json(&knee(here.path(), &["run", "web.toml", "--out", "o", "--objects", "--json"]));
    let classes = result["schemes"][0]["classes"].as_array().unwrap();
    assert!(!classes.is_empty() && classes.iter().all(|class| class["group"] == "pages"), "{classes:?}");
    let completed = |of: &Value| of["completions"]["mean"].as_f64().unwrap();
    let group = &result["schemes"][0]["groups"][0];
    assert_eq!(classes.iter().map(completed).sum::<f64>(), completed(group));
    assert!(group["completion_time_p95_ms"]["mean"].as_f64().is_some_and(|time| time >= 40.0), "{group}");
    let read = |file: &str| std::fs::read_to_string(here.path().join("o").join(file)).unwrap();
    assert_eq!(read("classes.csv").lines().count(), 1 + classes.len());
    assert_eq!(read("objects/web-seed1.csv").lines().count() as f64, 1.0 + completed(group));
    assert!(read("report.html").contains("Transfers by size"));
    let own = scenario.replace("[run]\n", "[run]\nobjects = true\n");
    std::fs::write(here.path().join("own.toml"), own).unwrap();
    stdout(&knee(here.path(), &["run", "own.toml", "--out", "q"]));
    assert_eq!(read("../q/objects/own-seed1.csv"), read("objects/web-seed1.csv"));
    let told = stdout(&knee(here.path(), &["run", "web.toml", "--out", "p"]));
    assert!(told.contains("Transfers by size") && told.contains("p99 completion"), "{told}");
}

#[test]
fn a_page_from_a_har_file_says_which_queue_loads_it_first() {
    let here = tempfile::tempdir().unwrap();
    let entry = |size: u32| {
        format!(r#"{{"request": {{"url": "https://x/"}}, "response": {{"_transferSize": {size}}}}}"#)
    };
    let entries = [30_000, 5_000, 80_000].map(entry).join(", ");
    std::fs::write(here.path().join("site.har"), format!(r#"{{"log": {{"entries": [{entries}]}}}}"#))
        .unwrap();
    let wanted = ["compare", "sack/droptail", "sack/fq-codel", "--workload", "web", "--page", "site.har"];
    let small = ["--web", "5", "--flows", "2", "--duration", "30s", "--seeds", "2", "--out", "out"];
    let said = stdout(&knee(here.path(), &[&wanted[..], &small].concat()));
    let verdict =
        said.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["edian page load time", "sack/fq-codel", "sack/droptail", "2 seeds, p"] {
        assert!(verdict.contains(part), "`{part}` is missing from: {verdict}");
    }
    for file in ["scenarios/site.har", "figures/completion_times_web.svg", "figures/long_against_web.svg"] {
        assert!(here.path().join("out").join(file).exists(), "{file}");
    }
    let again = knee(here.path(), &["run", "out/scenarios/sack-fq-codel.toml", "--json"]);
    let pages = json(&again)["schemes"][0]["groups"][1]["pages_loaded"]["mean"].as_f64();
    assert!(pages.unwrap() > 5.0, "{pages:?}");
}

#[test]
fn files_of_web_objects_that_are_wrong_are_refused_before_a_run() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("bad.har"), "{\"log\": {").unwrap();
    std::fs::write(here.path().join("junk.HAR"), "size_kb\n30\n").unwrap();
    for (arguments, said) in [
        (&["--workload", "web", "--page", "bad.har"][..], "`bad.har`, not a HAR file: EOF while parsing"),
        (&["--workload", "web", "--page", "junk.HAR"], "`junk.HAR`, not a HAR file: it is not JSON"),
        (&["--workload", "web", "--sizes", "none.csv"][..], "cannot read `none.csv`"),
        (&["--page", "bad.har"][..], "add --workload web"),
    ] {
        let refused = knee(here.path(), &[&["compare"], arguments].concat());
        let error = stderr(&refused);
        assert!(!refused.status.success() && error.contains(said), "{error}");
        assert!(!here.path().join("out").exists());
    }
}

#[test]
fn the_order_of_the_entries_of_a_har_file_changes_nothing_and_its_name_may_be_long() {
    let here = tempfile::tempdir().unwrap();
    let mut entries = [
        ("2025-11-24T10:00:00.000Z", 20_000),
        ("2025-11-24T11:00:00.200+01:00", 50_000),
        ("2025-11-24T05:00:00.300-05:00", 80_000),
    ];
    let rows = |name: &str, of: &[(&str, u32)]| {
        std::fs::write(here.path().join(name), archive(of)).unwrap();
        let told =
            json(&knee(here.path(), &[&["compare", "reno", "--json", "--page", name], &WEB[..]].concat()));
        let title = told["title"].as_str().unwrap().to_string();
        assert!(title.len() <= 100 && title.contains("…"), "{title}");
        told["schemes"][0]["runs"][0]["rows"].clone()
    };
    let sorted = rows("www.example.org_Archive [25-11-24 10-00-00].har", &entries);
    entries.reverse();
    assert_eq!(rows(&format!("{}.har", "ページ".repeat(20)), &entries), sorted);
    entries[0].0 = "2025-11-24T05:00:00.300";
    std::fs::write(here.path().join("local.har"), archive(&entries)).unwrap();
    let output = knee(here.path(), &[&["compare", "reno", "--page", "local.har"], &WEB[..]].concat());
    assert_refuses(
        &output,
        2,
        &["`local.har`, entry 1 ()", "has no offset from UTC", "2025-11-24T10:00:00.200+01:00"],
    );
}

#[test]
fn a_long_name_of_a_file_of_sizes_is_shortened_in_the_title_alone() {
    let here = tempfile::tempdir().unwrap();
    let name = format!("{}.csv", "measured-sizes-of-objects-".repeat(6));
    std::fs::write(here.path().join(&name), "size_kb\n3\n9\n").unwrap();
    let told =
        json(&knee(here.path(), &[&["compare", "reno", "--json", "--sizes", &name], &WEB[..]].concat()));
    assert!(told["title"].as_str().unwrap().contains("sessions of measured-size…bjects-.csv"), "{told}");
    let copy = here.path().join("out/compare/scenarios").join(&name);
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "size_kb\n3\n9\n");
}
