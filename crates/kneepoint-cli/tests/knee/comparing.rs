// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compare: its output, its files, and reading them back.

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
        // Not frozen numbers, but bounds that absurd results would violate.
        let mean = |key: &str| scheme[key]["mean"].as_f64().unwrap();
        assert!((0.7..=1.001).contains(&mean("utilization")), "{scheme}");
        assert!((0.5..=1.0).contains(&mean("jain_index")), "{scheme}");
        assert!((1.5e6..=2.5e6).contains(&mean("flow_goodput_bps")), "{scheme}");
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
            "summary.parquet",
            "table.tex",
            "tables.md",
            "tables.tex"
        ]
    );
    assert_eq!(names(&out.join("scenarios")), ["reno.toml", "sack-droptail.toml"]);
    let markdown = std::fs::read_to_string(out.join("report.md")).unwrap();
    let links = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let linked = links.filter(|link| !link.starts_with("http://127.0.0.1:"));
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
    // One queue on the path, then two.
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
fn charts_for_paper_have_its_size_and_their_legend_inside() {
    let scratch = tempfile::tempdir().unwrap();
    let output = knee(scratch.path(), &small("out", &["--charts", "pdf", "--size", "3.3x2.2in"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let figures = scratch.path().join("out/figures");
    let charts = names(&figures);
    let pages: Vec<_> = charts.iter().filter_map(|name| name.strip_suffix(".pdf")).collect();
    let drawings: Vec<_> = charts.iter().filter_map(|name| name.strip_suffix(".svg")).collect();
    assert!(pages == drawings && !charts.iter().any(|name| name.ends_with(".png")), "{charts:?}");
    let pdf = std::fs::read(figures.join("queue_distribution.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() < 100_000);
    let svg = std::fs::read_to_string(figures.join("queue_distribution.svg")).unwrap();
    assert!(svg.contains("width=\"237.60pt\" height=\"158.40pt\""), "{svg}");
    // The error of each names its content.
    let numbered = |name: &&&str| name.ends_with("_1") || name.ends_with("_2");
    assert_eq!(drawings.iter().filter(numbered).count(), 0, "{charts:?}");
}

#[test]
fn a_size_or_a_font_that_there_is_not_is_refused_before_anything_runs() {
    let scratch = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        (["--size", "3.3"], "expected `3.3in`"),
        (["--size", "3.3px"], "expected `3.3in`"),
        (["--font", "No Such Family"], "--font: this machine has no family `No Such Family`"),
        (["--charts", "jpg"], "pdf"),
    ] {
        let output = knee(scratch.path(), &small("out", &arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).replace("\n", " ").contains(said), "{arguments:?}: {}", stderr(&output));
    }
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
    // The name and the origin of a scenario do not matter.
    let run = ["run", "one/scenarios/reno.toml", "--out", "three"];
    assert!(stderr(&knee(here.path(), &run)).contains("2 of 2 runs were read back"));
    assert!(
        compare("four", &["--fresh"]).contains("report: four")
            && !compare("five", &["--store", "new"]).contains("read back")
    );
    assert_eq!(names(&here.path().join("new")).len(), 4);
    // A change of controller simulates only that controller's runs.
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
    assert!(said.matches("is not the run that was kept").count() == 2, "{said}");
    assert!(said.contains("2 of 4 runs were read back"), "{said}");
    let summaries = |result: &Value| result["schemes"][0]["runs"][0]["rows"].clone();
    assert_eq!(summaries(&first), summaries(&json(&again)));
    kept[..2].iter().for_each(|name| std::fs::remove_file(runs.join(format!("{name}.bad"))).unwrap());
    assert_eq!(names(&runs), kept);
}

#[test]
fn several_values_are_factors_with_columns_and_a_pivot_in_the_terminal() {
    let here = tempfile::tempdir().unwrap();
    let grid = "compare reno cubic --rate 5mbit --rtt 20ms,40ms --buffer 0.5bdp,1bdp --flows 2 --duration 8s --seeds 2 --out o";
    let words: Vec<&str> = grid.split_whitespace().collect();
    let output = knee(here.path(), &words);
    let printed = stdout(&output);
    assert!(output.status.success() && printed.lines().count() <= 50, "{printed}{}", stderr(&output));
    for part in
        ["8 rows: scheme reno, cubic; RTT 20 ms, 40 ms; buffer 0.5 BDP, 1 BDP", "Shown at ", "All 8 rows"]
    {
        assert!(printed.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains("Without a run"), "{printed}");
    let read = |file: &str| std::fs::read_to_string(here.path().join("o").join(file)).unwrap();
    let runs = read("runs.csv");
    assert!(
        runs.starts_with("scheme,rtt_ms,buffer_bdp,seed,") && runs.contains("\ncubic,40,0.5,2,"),
        "{runs}"
    );
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["factors"][1]["name"], "RTT");
    assert_eq!(
        summary["schemes"][7]["levels"],
        serde_json::json!({"scheme": "cubic", "rtt_ms": 40.0, "buffer_bdp": 1.0})
    );
    let rows = summary["schemes"][0]["runs"][0]["rows"].to_string();
    assert!(rows.contains("utilization") && !rows.contains("null"), "{rows}");
    // The scenario of a scheme has the same runs.
    let again = json(&knee(here.path(), &["run", "o/scenarios/reno.toml", "--dry-run", "--json"]));
    assert_eq!((&again["runs"], &again["kept"]), (&8.into(), &8.into()));
    let twice = knee(here.path(), &["compare", "reno", "--rtt", "20ms,0.02s"]);
    assert!(stderr(&twice).contains("--rtt: `20ms` is given twice"), "{}", stderr(&twice));
}
