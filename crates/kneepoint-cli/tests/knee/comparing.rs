// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compare and run: what they print and what they leave behind.

use super::*;

/// A comparison that takes a moment.
const SMALL: [&str; 14] = [
    "compare",
    "reno",
    "sack/droptail",
    "--rate",
    "10mbit",
    "--flows",
    "4",
    "--duration",
    "20s",
    "--start",
    "0s..2s",
    "--seeds",
    "2",
    "--out",
];

fn small<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain([out]).chain(more.iter().copied()).collect()
}

#[test]
fn compare_prints_json_with_numbers_that_make_sense() {
    let here = tempfile::tempdir().unwrap();
    let result = json(&knee(here.path(), &small("out", &["--json"])));
    let schemes = result["schemes"].as_array().unwrap();
    assert_eq!(
        schemes.iter().map(|scheme| scheme["scheme"].as_str().unwrap()).collect::<Vec<_>>(),
        ["reno", "sack/droptail"]
    );
    for scheme in schemes {
        // Not frozen numbers, but bounds that nonsense would leave.
        let mean = |key: &str| scheme[key]["mean"].as_f64().unwrap();
        assert!((0.7..=1.001).contains(&mean("utilization")), "{scheme}");
        assert!((0.5..=1.0).contains(&mean("jain_index")), "{scheme}");
        assert!((1.5e6..=2.5e6).contains(&mean("goodput_bps")), "{scheme}");
        assert_eq!(scheme["runs"].as_array().unwrap().len(), 2);
    }
    assert!(
        result["manifest"]["command"].as_str().unwrap().starts_with("knee compare reno sack/droptail --rate")
    );
    assert_eq!(result["manifest"]["seeds"], serde_json::json!([1, 2]));
    assert!(result["manifest"]["created"].as_str().unwrap().ends_with('Z'));
    assert_eq!(result["manifest"]["scenario_hash"].as_str().unwrap().len(), 64);
}

#[test]
fn compare_leaves_a_report_and_all_it_takes_to_repeat_it() {
    let here = tempfile::tempdir().unwrap();
    let output = knee(here.path(), &small("o", &[]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("report: o/report.html"), "{}", stderr(&output));
    assert!(stdout(&output).contains("sack/droptail"));
    let out = here.path().join("o");
    assert_eq!(
        names(&out),
        [
            ".kneepoint",
            "figures",
            "groups.csv",
            "groups.parquet",
            "links.csv",
            "links.parquet",
            "report.html",
            "report.md",
            "report.txt",
            "runs.csv",
            "runs.parquet",
            "scenarios",
            "series",
            "summary.csv",
            "summary.json",
            "summary.parquet"
        ]
    );
    assert_eq!(names(&out.join("scenarios")), ["reno.toml", "sack-droptail.toml"]);
    let markdown = std::fs::read_to_string(out.join("report.md")).unwrap();
    let linked = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let missing: Vec<_> = linked.filter(|path| !out.join(path).exists()).collect();
    assert!(markdown.contains("](figures/") && missing.is_empty(), "{missing:?}");
    assert_eq!(names(&here.path().join("out/runs")).len(), 4);
    let series = names(&out.join("series"));
    assert_eq!(series.len(), 8, "{series:?}");
    assert!(series.contains(&"sack-droptail-seed2.parquet".to_string()), "{series:?}");
    let parquet = std::fs::read(out.join("series/reno-seed1.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let csv = std::fs::read_to_string(out.join("series/reno-seed1.csv")).unwrap();
    assert!(csv.starts_with("time_s,") && csv.contains("queue_packets["), "{}", &csv[..80]);
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains("sack/droptail"));
}

#[test]
fn run_repeats_what_compare_did_to_the_last_bit() {
    let here = tempfile::tempdir().unwrap();
    let compared = json(&knee(here.path(), &small("out", &["--json"])));
    let again =
        json(&knee(here.path(), &["run", "out/scenarios/reno.toml", "--out", "again", "--json", "--fresh"]));
    assert_eq!(compared["schemes"][0]["runs"][1]["rows"], again["schemes"][0]["runs"][1]["rows"]);
    assert_eq!(compared["schemes"][0]["runs"][0]["events"], again["schemes"][0]["runs"][0]["events"]);
}

#[test]
fn results_do_not_depend_on_how_many_run_side_by_side() {
    let here = tempfile::tempdir().unwrap();
    let one = json(&knee(here.path(), &small("one", &["--jobs", "1", "--json"])));
    let four = json(&knee(here.path(), &small("four", &["--jobs", "4", "--json", "--fresh"])));
    for scheme in 0..2 {
        for run in 0..2 {
            let rows = |result: &Value| result["schemes"][scheme]["runs"][run]["rows"].clone();
            assert_eq!(rows(&one), rows(&four));
        }
    }
}

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
fn tcp_options_reach_the_scenario() {
    let here = tempfile::tempdir().unwrap();
    let output =
        knee(here.path(), &small("out", &["--tcp", "delayed_ack=true,rto_min=1s", "--tcp", "payload=500b"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(here.path().join("out/scenarios/reno.toml")).unwrap();
    for line in ["delayed_ack = true", "rto_min = \"1s\"", "payload = \"500b\""] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn data_in_reverse_delays_acknowledgements() {
    let here = tempfile::tempdir().unwrap();
    let rtt = |arguments: &[&str]| {
        let result = json(&knee(here.path(), &small("out", arguments)));
        result["schemes"][1]["groups"][0]["rtt_mean_ms"]["mean"].as_f64().unwrap()
    };
    // One queue in the way, then two.
    let (alone, shared) = (rtt(&["--json"]), rtt(&["--json", "--reverse", "4"]));
    assert!(shared > alone + 10.0 && shared < 60.0 * 3.2, "{alone} ms, {shared} ms");
}

#[test]
fn each_chart_can_have_a_file_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let output = knee(scratch.path(), &small("out", &["--charts", "svg,png"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let charts = names(&scratch.path().join("out/figures"));
    let pictures: Vec<_> = charts.iter().filter_map(|name| name.strip_suffix(".png")).collect();
    let drawings: Vec<_> = charts.iter().filter_map(|name| name.strip_suffix(".svg")).collect();
    assert!(pictures.contains(&"utilization_against_delay") && pictures == drawings, "{charts:?}");
    let png = std::fs::read(scratch.path().join("out/figures/utilization.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n"));
}

#[test]
fn any_link_can_be_captured() {
    let here = tempfile::tempdir().unwrap();
    let output = knee(here.path(), &small("out", &["--pcap", "r1-r2", "--pcap", "r2-r1"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let captures = names(&here.path().join("out/captures"));
    assert_eq!(captures.len(), 8, "{captures:?}");
    for name in captures {
        assert!(std::fs::metadata(here.path().join("out/captures").join(name)).unwrap().len() > 100_000);
    }
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
fn what_is_read_back_makes_the_same_files_to_the_last_byte() {
    let here = tempfile::tempdir().unwrap();
    let compare = |out: &str, more: &[&str]| {
        let output = knee(here.path(), &small(out, more));
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    let read = |path: &str| std::fs::read(here.path().join(path)).unwrap();
    assert!(!compare("one", &[]).contains("read back"));
    assert!(compare("two", &[]).contains("4 of 4 runs were read back from out/runs"));
    for file in ["summary.csv", "runs.csv", "series/reno-seed2.csv", "series/sack-droptail-seed1.parquet"] {
        assert!(read(&format!("one/{file}")) == read(&format!("two/{file}")), "{file}");
    }
    // What a scenario is called and how it came about does not matter.
    let run = ["run", "one/scenarios/reno.toml", "--out", "three"];
    assert!(stderr(&knee(here.path(), &run)).contains("2 of 2 runs were read back"));
    assert!(
        compare("four", &["--fresh"]).contains("report: four")
            && !compare("five", &["--store", "new"]).contains("read back")
    );
    assert_eq!(names(&here.path().join("new")).len(), 4);
    // Another controller simulates its own runs only.
    let more = [&small("six", &[])[..], &["vegas"]].concat();
    assert!(stderr(&knee(here.path(), &more)).contains("4 of 6 runs were read back"));
    // A capture needs the packets, and they are not kept.
    let said = compare("seven", &["--pcap", "r1-r2"]);
    assert!(said.contains("packets and objects are not kept"), "{said}");
}

#[test]
fn a_damaged_run_is_simulated_again() {
    let here = tempfile::tempdir().unwrap();
    let first = json(&knee(here.path(), &small("o", &["--json"])));
    let runs = here.path().join("out/runs");
    let kept = names(&runs);
    std::fs::write(runs.join(&kept[0]), "half of a r").unwrap();
    std::fs::write(runs.join(&kept[1]), "").unwrap();
    let again = knee(here.path(), &small("o", &["--json"]));
    let said = stderr(&again);
    assert!(said.matches("is damaged").count() == 2 && said.contains("2 of 4 runs were read back"), "{said}");
    let summaries = |result: &Value| result["schemes"][0]["runs"][0]["rows"].clone();
    assert_eq!(summaries(&first), summaries(&json(&again)));
    assert_eq!(names(&runs), kept);
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
fn a_report_repeats_with_the_files_that_its_scenario_names() {
    let here = tempfile::tempdir().unwrap();
    let scenario = "[run]\nduration = '5s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                    [[arrivals]]\nname = 'short'\ncc = 'reno'\nfile = 'some/flows.csv'\n";
    std::fs::write(here.path().join("listed.toml"), scenario).unwrap();
    std::fs::create_dir(here.path().join("some")).unwrap();
    let report = |flows: &str, from: &str, out: &str| {
        if !flows.is_empty() {
            std::fs::write(here.path().join("some/flows.csv"), flows).unwrap();
        }
        json(&knee(here.path(), &["run", from, "--out", out, "--json"]))
    };
    let first = report("time_s,size_bytes\n1,50000\n2,20000\n", "listed.toml", "a");
    let other = report("time_s,size_bytes\n1,50000\n2,90000\n", "listed.toml", "b");
    let again = report("", "a/scenarios/listed.toml", "c");
    let digest = |result: &Value| result["manifest"]["files"]["some/flows.csv"].to_string();
    assert_eq!(digest(&first).len(), 66, "{first}");
    assert_ne!(digest(&first), digest(&other));
    assert_eq!((digest(&first), &first["schemes"]), (digest(&again), &again["schemes"]));
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
    assert!(said.contains("The shortest median page load time: sack/fq-codel, "), "{said}");
    assert!(said.contains("against sack/droptail"), "{said}");
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
fn seeds_that_change_nothing_are_said_and_have_no_intervals() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = \"4s\"\nseeds = 3\n[topology]\nkind = \"dumbbell\"\nrate = \"1mbit\"\nrtt = \"60ms\"\n\
                [[flows]]\ncount = 1\ncc = \"reno\"\n";
    std::fs::write(here.path().join("mine.toml"), text).unwrap();
    let said = stdout(&knee(here.path(), &["run", "mine.toml"]));
    assert!(said.contains("nothing here is random") && !said.contains('±'), "{said}");
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

/// Entries of a HAR file by instant and size.
fn archive(entries: &[(&str, u32)]) -> String {
    let entry = |(at, size): &(&str, u32)| {
        format!(r#"{{"pageref": "p", "startedDateTime": "{at}", "response": {{"bodySize": {size}}}}}"#)
    };
    let entries = entries.iter().map(entry).collect::<Vec<_>>().join(",");
    format!(r#"{{"log": {{"pages": [{{"id": "p"}}], "entries": [{entries}]}}}}"#)
}

const WEB: [&str; 10] =
    ["--workload", "web", "--web", "2", "--flows", "1", "--duration", "8s", "--seeds", "1"];

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
    assert!(told["title"].as_str().unwrap().contains("objects of measured-size…bjects-.csv"), "{told}");
    let copy = here.path().join("out/compare/scenarios").join(&name);
    assert_eq!(std::fs::read_to_string(copy).unwrap(), "size_kb\n3\n9\n");
}

#[test]
fn a_file_that_set_names_is_that_of_the_working_directory_and_one_of_a_scenario_that_of_its_folder() {
    let here = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        std::fs::create_dir_all(here.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(here.path().join(name), text).unwrap();
    };
    // 12 and 1.2 Mbit/s.
    let (fast, slow) = ("1\n", "10\n");
    put("traces/link.trace", slow);
    put("scenario/link.trace", fast);
    put("scenario/only.trace", fast);
    let scenario = "[run]\nduration = '4s'\n[topology]\nkind = 'dumbbell'\nrate = '12mbit'\nrtt = '40ms'\n\
                    [capacity]\nkind = 'trace'\nfile = 'link.trace'\n[[flows]]\ncc = 'reno'\n";
    put("scenario/my.toml", scenario);
    let goodput = |arguments: &[&str]| {
        let told = json(&knee(here.path(), &[arguments, &["--json"]].concat()));
        told["schemes"][0]["goodput_bps"]["mean"].as_f64().unwrap()
    };
    let trace = ["--set", "capacity.kind=trace", "--set", "capacity.file=traces/link.trace"];
    let small =
        ["compare", "reno", "--flows", "1", "--duration", "4s", "--rate", "1200kbit", "--out", "compared"];
    let compared = goodput(&[&small[..], &trace].concat());
    assert!((0.8e6..1.2e6).contains(&compared), "{compared}");
    // The copy of its scenario finds the copy of the file.
    assert_eq!(goodput(&["run", "compared/scenarios/reno.toml"]), compared);
    let short = ["--set", "capacity=trace:file=traces/link.trace"];
    assert_eq!(goodput(&[&small[..8], &short].concat()), compared);
    let unsaid = knee(here.path(), &[&small[..6], &trace].concat());
    assert_refuses(&unsaid, 2, &["150mbit, is not the mean", "let it be 1200kbit", "`--rate` of a command"]);
    let run = ["run", "scenario/my.toml"];
    assert!(goodput(&run) > 4e6, "beside the scenario");
    let slower = ["--set", "capacity.file=traces/link.trace", "--set", "topology.rate=1200kbit"];
    let set = goodput(&[&run[..], &slower].concat());
    assert!(set < 1.2e6, "of the working directory: {set}");
    assert!(
        goodput(&[&run[..], &["--set", "capacity.file=only.trace"]].concat()) > 4e6,
        "where there is no other"
    );
    let lacking = knee(here.path(), &[&small[..], &["--set", "capacity=trace:file=none.trace"]].concat());
    assert_refuses(&lacking, 2, &["--set", "file: `none.trace`: cannot read `none.trace`"]);
    // The source of traffic of a comparison, too: its file takes the place of the distribution.
    put("sizes/objects.csv", "size_kb\n3\n9\n");
    let browser = [&WEB[..], &["--set", "browser.web.sizes_file=sizes/objects.csv"]].concat();
    let objects = knee(here.path(), &[&["compare", "reno", "--json"], &browser[..]].concat());
    let drawn = knee(here.path(), &[&["compare", "reno", "--json"], &WEB[..]].concat());
    assert_ne!(json(&objects)["schemes"][0]["groups"], json(&drawn)["schemes"][0]["groups"]);
    // A flow that predictors watch.
    let watched = knee(here.path(), &["predict", "scenario/my.toml", "--predictors", "rtt"]);
    assert!(watched.status.success(), "{}", stderr(&watched));
}
