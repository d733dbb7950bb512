// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee plot` and `knee diff`: results read back from their directories.

use std::fs;

use super::*;

const STUDY: &[&str] = &[
    "compare",
    "reno",
    "vegas",
    "--rate",
    "5mbit",
    "--rtt",
    "20ms",
    "--flows",
    "2",
    "--duration",
    "8s",
    "--seeds",
    "3",
];

/// Runs the small study with more arguments.
fn study(here: &Path, more: &[&str]) {
    let output = knee(here, &[STUDY, more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

fn read(here: &Path, file: &str) -> String {
    fs::read_to_string(here.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn a_report_is_drawn_again_without_a_run_and_everything_else_stays() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &["--out", "o"]);
    // Nothing is simulated, and no kept run is needed.
    fs::remove_dir_all(here.path().join("out/runs")).unwrap();
    let (report, summary) = (read(here.path(), "o/report.html"), read(here.path(), "o/summary.json"));
    let (before, tables) = (names(&here.path().join("o")), read(here.path(), "o/tables.tex"));
    fs::write(here.path().join("o/figures/mine.txt"), "mine").unwrap();
    for drawn in ["report.html", "tables.tex", "figures/goodput.svg"] {
        let _ = fs::remove_file(here.path().join("o").join(drawn));
    }
    let output = knee(here.path(), &["plot", "o"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("report: o/report.html"), "{}", stderr(&output));
    assert_eq!(read(here.path(), "o/report.html"), report, "the numbers and the series say everything");
    assert_eq!((read(here.path(), "o/summary.json"), read(here.path(), "o/tables.tex")), (summary, tables));
    assert_eq!(
        (names(&here.path().join("o")), read(here.path(), "o/figures/mine.txt")),
        (before, "mine".into())
    );
    assert!(!here.path().join("out/runs").exists());
}

#[test]
fn drawings_replace_no_numbers_whatever_the_directory_is_called() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &["--out", "o"]);
    study(here.path(), &["--seed", "9", "--out", "p"]);
    let before = names(&here.path().join("o"));
    for same in ["o", "./o/", here.path().join("o").to_str().unwrap()] {
        let output = knee(here.path(), &["plot", "o", "--out", same]);
        assert!(output.status.success(), "{same}: {}", stderr(&output));
        assert_eq!(names(&here.path().join("o")), before, "{same}");
    }
    assert_refuses(
        &knee(here.path(), &["plot", "o", "--out", "p"]),
        2,
        &["--out p", "the results of another study"],
    );
    assert_eq!(names(&here.path().join("p")), before);
    fs::create_dir(here.path().join("q")).unwrap();
    fs::write(here.path().join("q/coexistence.json"), "{}").unwrap();
    assert_refuses(&knee(here.path(), &["plot", "o", "--out", "q"]), 2, &["the results of another study"]);
    assert_eq!(names(&here.path().join("q")), ["coexistence.json"]);
}

#[test]
fn figures_may_go_to_another_directory_and_parquet_has_the_series_too() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &["--out", "o", "--series", "parquet"]);
    let output = knee(here.path(), &["plot", "o/summary.json", "--out", "paper", "--charts", "png"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read(here.path(), "paper/report.html"), read(here.path(), "o/report.html"));
    assert!(names(&here.path().join("paper/figures")).iter().any(|name| name.ends_with(".png")));
    assert!(!names(&here.path().join("o/figures")).iter().any(|name| name.ends_with(".png")));
}

#[test]
fn results_that_cannot_be_read_are_named_with_what_to_do() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &["--out", "o"]);
    let text = read(here.path(), "o/summary.json");
    let put = |written: &str| fs::write(here.path().join("o/summary.json"), written).unwrap();
    for (damaged, sayings) in [
        (text[..text.len() / 2].to_string(), &["summary.json", "damaged", "line"][..]),
        (text.replacen("\"schema_version\": ", "\"schema_version\": 9", 1), &["version 9", "reads version"]),
        ("{\"schema_version\": 3}\n".to_string(), &["no result of `knee run` or `knee compare`"]),
    ] {
        put(&damaged);
        for command in [&["plot", "o"][..], &["diff", "o", "o"]] {
            assert_refuses(&knee(here.path(), command), 1, sayings);
        }
        assert_eq!(read(here.path(), "o/summary.json"), damaged, "it stays as it is");
    }
    put(&text);
    for (damaged, why) in [
        ("time_s\nx\n", "line 2: `x` in column 1"),
        ("garbage\n", "it has no column `time_s`"),
        ("", "it has no column `time_s`"),
        ("time_s,queue_packets[r1-r2]\n", "it has no rows"),
    ] {
        fs::write(here.path().join("o/series/reno-seed1.csv"), damaged).unwrap();
        let output = knee(here.path(), &["plot", "o", "--out", "p"]);
        assert!(output.status.success(), "{}", stderr(&output));
        for part in [why, "reno-seed1.csv", "the plots over time of reno are left out"] {
            assert!(stderr(&output).contains(part), "{damaged}: {}", stderr(&output));
        }
    }
    fs::create_dir(here.path().join("c")).unwrap();
    fs::write(here.path().join("c/claims.json"), "{}").unwrap();
    assert_refuses(
        &knee(here.path(), &["plot", "c"]),
        1,
        &["results of `knee reproduce`", "reads its kept runs"],
    );
    assert_refuses(&knee(here.path(), &["plot", "nowhere"]), 1, &["there is no directory `nowhere`"]);
    assert_refuses(
        &knee(here.path(), &["diff", "o", "o", "--metric", "goodput_bp"]),
        2,
        &["did you mean `goodput_bps`?"],
    );
}

#[test]
fn a_difference_is_that_of_the_same_seeds_and_its_cause_is_listed() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &["--out", "a"]);
    study(here.path(), &["cubic", "--buffer", "4bdp", "--out", "b"]);
    let output = knee(here.path(), &["diff", "a", "b"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&output);
    for part in ["reno", "B − A", "topology.buffer", "1 BDP", "4 BDP", "Cases of B alone", "cubic"] {
        assert!(told.contains(part), "`{part}` is missing from\n{told}");
    }
    let found = json(&knee(here.path(), &["diff", "a", "b", "--json", "--out", "d"]));
    assert_eq!(
        (found["same"].as_bool(), &found["new"][0], found["gone"].as_array().map(Vec::len)),
        (Some(false), &"cubic".into(), Some(0))
    );
    let of = |file: &str, scheme: &str| -> f64 {
        let document: Value = serde_json::from_str(&read(here.path(), file)).unwrap();
        let all = document["schemes"].as_array().unwrap();
        let one = all.iter().find(|one| one["scheme"] == scheme).unwrap();
        one["queue_mean_packets"]["mean"].as_f64().unwrap()
    };
    let reno = found["cases"].as_array().unwrap().iter().find(|one| one["case"] == "reno").unwrap();
    let queue =
        reno["metrics"].as_array().unwrap().iter().find(|one| one["metric"] == "queue_mean_packets").unwrap();
    let expected = of("b/summary.json", "reno") - of("a/summary.json", "reno");
    assert!((queue["difference"]["mean"].as_f64().unwrap() - expected).abs() < 1e-9, "{queue}");
    for file in ["d/tables.tex", "d/tables.md", "d/differences.csv", "d/report.html", "d/difference.json"] {
        assert!(!read(here.path(), file).is_empty());
    }
    assert!(stdout(&knee(here.path(), &["diff", "a", "a"])).contains("the same numbers in all 6 runs"));
    for own in ["a", "./b/"] {
        assert_refuses(
            &knee(here.path(), &["diff", "a", "b", "--out", own]),
            2,
            &["has results that are compared"],
        );
    }
    assert!(!read(here.path(), "a/summary.json").is_empty());
}

/// A connection that aioquic recorded: 59 packets, two of them lost.
const AIOQUIC: &[u8] = include_bytes!("../../../kneepoint/tests/laboratory/qlog/aioquic.qlog");

#[test]
fn recorded_connections_are_drawn_over_time() {
    let here = tempfile::tempdir().unwrap();
    let small = "[run]\nduration = '10s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\nrtt = '40ms'\nbuffer = '20pkt'\n\
                 [[flows]]\nname = 'long'\ncount = 2\ncc = 'cubic'\n";
    fs::write(here.path().join("small.toml"), small).unwrap();
    let run = knee(here.path(), &["run", "small.toml", "--seeds", "1", "--qlog", "long/1", "--out", "run"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let own = format!("run/qlog/{}", names(&here.path().join("run/qlog"))[0]);
    // A name says what a compressed file is.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(AIOQUIC).unwrap();
    fs::write(here.path().join("aioquic.qlog.gz"), packed.finish().unwrap()).unwrap();
    fs::write(here.path().join("unnamed"), AIOQUIC).unwrap();
    let plotted = json(&knee(here.path(), &["plot", &own, "aioquic.qlog.gz", "--json", "--charts", "png"]));
    let [long, short] = plotted["connections"].as_array().unwrap().as_slice() else { panic!("{plotted}") };
    assert_eq!(
        (&long["name"], &short["packets"], &short["losses"]),
        (&"long/1".into(), &59.into(), &2.into())
    );
    assert!(long["losses"].as_u64() > Some(3) && long["window_greatest_bytes"].as_u64() > Some(20_000));
    let rate = long["delivered_bps"].as_f64().unwrap();
    assert!((1e6..4e6).contains(&rate), "half of 5 Mbit/s: {rate}");
    assert!(long["rtt_least_ms"].as_f64() >= Some(40.0) && long["rtt_greatest_ms"].as_f64() < Some(150.0));
    let saved: Value = serde_json::from_str(&read(here.path(), "out/plot/connections.json")).unwrap();
    assert_eq!(saved, plotted);
    let figures = names(&here.path().join("out/plot/figures"));
    assert_eq!(figures.len(), 4, "{figures:?}");
    let svg = read(
        here.path(),
        &format!(
            "out/plot/figures/{}",
            figures.iter().find(|one| one.contains("long") && one.ends_with("svg")).unwrap()
        ),
    );
    for name in [
        "congestion window",
        "in flight",
        "smoothed",
        "smallest",
        "lost packets",
        "round trip, ms",
        "acknowledged, Mbit/s",
    ] {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    let series = read(here.path(), "out/plot/series/long-1.csv");
    assert!(
        series.starts_with("time_s,window_bytes,in_flight_bytes,rtt_least_ms")
            && series.lines().count() > 1000
    );
    let again = knee(here.path(), &["plot", "unnamed", "--out", "mine"]);
    assert!(
        stdout(&again).contains("59") && stderr(&again).contains("report: mine/report.html"),
        "{}",
        stderr(&again)
    );
    // Connections are not results of runs.
    assert_refuses(&knee(here.path(), &["plot", "out/plot"]), 1, &["knee plot"]);
}

#[test]
fn what_is_not_qlog_or_not_alone_is_refused() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("a.qlog"), AIOQUIC).unwrap();
    fs::write(here.path().join("b.qlog"), "no JSON").unwrap();
    fs::write(here.path().join("c.sqlog"), "{\"qlog_version\":\"0.4\",\"traces\":[]}").unwrap();
    fs::write(here.path().join("text"), "words").unwrap();
    fs::create_dir(here.path().join("d")).unwrap();
    for (words, status, said) in [
        (&["plot", "a.qlog", "text"][..], 2, "`text` is not qlog"),
        (&["plot", "a.qlog", "d"], 2, "`d` is not qlog"),
        (&["plot", "d", "d"], 2, "several directories"),
        (&["plot", "a.qlog", "--x", "rtt"], 2, "connections are drawn over time"),
        (&["plot", "b.qlog"], 1, "`b.qlog`"),
        (&["plot", "c.sqlog"], 1, "no connection"),
        (&["plot", "missing.sqlog"], 1, "missing.sqlog"),
        (&["plot", "missing"], 1, "there is no directory `missing`"),
        (&["plot", "text"], 1, "`text` is not a directory"),
    ] {
        assert_refuses(&knee(here.path(), words), status, &[said]);
    }
    assert!(!here.path().join("out").exists(), "nothing is left behind");
}
