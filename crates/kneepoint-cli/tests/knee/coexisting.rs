// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexist: the matrix is complete and consistent, kept runs are reused, and nonsense is refused.

use super::*;

/// A matrix that takes a moment.
const SMALL: [&str; 15] = [
    "coexist",
    "reno",
    "cubic",
    "--rate",
    "5mbit",
    "--rtt",
    "20ms",
    "--buffers",
    "0.5bdp,2bdp",
    "--flows",
    "2,4",
    "--duration",
    "8s",
    "--out",
    "o",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().copied().chain(more.iter().copied()).collect()
}

fn cell<'a>(result: &'a Value, row: &str, column: &str) -> Vec<&'a Value> {
    let cells = result["cells"].as_array().unwrap().iter();
    cells.filter(|cell| cell["row"] == row && cell["column"] == column).collect()
}

#[test]
fn every_pair_meets_in_every_setting_and_one_run_tells_about_both() {
    let here = tempfile::tempdir().unwrap();
    let result = json(&knee(here.path(), &small(&["--seeds", "2", "--json"])));
    assert_eq!(result["cells"].as_array().unwrap().len(), 2 * 2 * 2 * 2);
    for (own, other) in cell(&result, "reno", "cubic").into_iter().zip(cell(&result, "cubic", "reno")) {
        let number = |cell: &Value, key: &str| cell[key].as_f64().unwrap();
        assert!((number(own, "share") + number(other, "share") - 1.0).abs() < 1e-12, "{own} {other}");
        assert_eq!(own["drop_ratio_row"], other["drop_ratio_column"]);
        assert!(number(own, "share") > 0.0 && number(own, "utilization") > 0.5, "{own}");
        assert_eq!((&own["runs"], &own["row_flows"]), (&2.0.into(), &other["column_flows"]));
    }
    let out = here.path().join("o");
    assert_eq!(
        names(&here.path().join("out/runs")).len(),
        3 * 2 * 2 * 2,
        "three pairs in four settings with two seeds"
    );
    assert_eq!(names(&out.join("scenarios")).len(), 3 * 2);
    for file in
        ["report.html", "coexistence.csv", "coexistence.parquet", "coexistence.json", "figures/overview.svg"]
    {
        assert!(out.join(file).is_file(), "{file}");
    }
    assert!(std::fs::read(out.join("figures/shares.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read_to_string(out.join("figures/losses.svg")).unwrap().contains("cubic against reno"));
    assert_eq!(result["verdicts"].as_array().unwrap().len(), 2);
    let kept = |file: &str| std::fs::read(out.join(file)).unwrap();
    let (before, numbers) = (kept("report.html"), kept("coexistence.json"));
    for drawn in ["figures", "report.html"] {
        let path = out.join(drawn);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    }
    let plotted = json(&knee(here.path(), &["plot", "o", "--json", "--charts", "pdf"]));
    assert_eq!(plotted["cells"], result["cells"], "the file reads back as it was written");
    assert_eq!((kept("report.html"), kept("coexistence.json")), (before, numbers));
    assert!(out.join("figures/shares.pdf").is_file(), "{:?}", names(&out.join("figures")));
    assert_refuses(&knee(here.path(), &["plot", "o", "--x", "rtt"]), 2, &["matrices", "leave out --x"]);
    let scenario = "o/scenarios/reno-beside-cubic--4-flows.toml";
    assert!(knee(here.path(), &["check", scenario]).status.success(), "{:?}", names(&out.join("scenarios")));
}

#[test]
fn more_seeds_and_more_controllers_cost_only_what_they_add() {
    let here = tempfile::tempdir().unwrap();
    let runs = || names(&here.path().join("out/runs"));
    let first = json(&knee(here.path(), &small(&["--seeds", "1", "--json"])));
    assert_eq!(runs().len(), 3 * 4);
    // A later report shows the numbers that were written in the kept run.
    let one = here.path().join("out/runs").join(&runs()[0]);
    keep_otherwise(&one, "\"share\":0.", "\"share\":0.00");
    let again = json(&knee(here.path(), &small(&["--seeds", "1", "--json"])));
    assert_ne!(again["cells"], first["cells"]);
    assert_eq!(
        json(&knee(here.path(), &small(&["--seeds", "1", "--json", "--fresh"])))["cells"],
        first["cells"]
    );
    let more = json(&knee(here.path(), &small(&["vegas", "--seeds", "2", "--json"])));
    assert_eq!(runs().len(), 6 * 4 * 2);
    assert_eq!(cell(&more, "vegas", "reno").len(), 4);
}

#[test]
fn an_uneven_mix_runs_both_orders_and_the_fair_share_follows_it() {
    let here = tempfile::tempdir().unwrap();
    let uneven = ["--mix", "0.25", "--flows", "8", "--seeds", "1"];
    let arguments = [&SMALL[..9], &["--duration", "8s", "--out", "o"], &uneven[..]].concat();
    let said = stdout(&knee(here.path(), &arguments)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("25 % of the flows the row's") && said.contains("one run each"), "{said}");
    let result = json(&knee(here.path(), &[&arguments[..], &["--json"]].concat()));
    for cell in result["cells"].as_array().unwrap() {
        assert_eq!((&cell["row_flows"], &cell["column_flows"]), (&2.0.into(), &6.0.into()));
        assert_eq!(cell["fair_share"], 0.25);
    }
    assert_eq!(names(&here.path().join("out/runs")).len(), 4 * 2, "four ordered pairs in two buffers");
}

#[test]
fn a_precision_is_told_with_the_shares_that_have_it_and_a_forecast_with_what_may_follow() {
    let here = tempfile::tempdir().unwrap();
    let one = ["--buffers", "2bdp", "--flows", "2", "--duration", "8s", "--out", "o", "--precision", "50%"];
    let said = stdout(&knee(here.path(), &[&SMALL[..7], &one].concat()));
    let told = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let begin = told.find("Precision: ").unwrap_or_else(|| panic!("{said}"));
    assert!(told[begin..].contains(" 4 shares are within 50 % of the fair share, with "), "{said}");
    let forecast = knee(here.path(), &small(&["--precision", "0.1%", "--dry-run"]));
    let remark = stderr(&forecast);
    for part in ["the first 8 seeds", "within 0.1 %", "1000 seeds at most, and no run begins after 300s"] {
        assert!(remark.contains(part), "{remark}");
    }
}

#[test]
fn a_division_that_is_not_quite_the_mix_is_told() {
    let here = tempfile::tempdir().unwrap();
    let odd = ["--flows", "11", "--seeds", "1"];
    let arguments = [&SMALL[..9], &["--duration", "8s", "--out", "o"], &odd[..]].concat();
    let said = stdout(&knee(here.path(), &arguments));
    assert!(said.contains("6 of 11 flows the row's"), "{said}");
}

#[test]
fn long_settings_make_short_names_and_files_of_their_own() {
    let here = tempfile::tempdir().unwrap();
    let [three, four] = [3, 4].map(|rtts| {
        format!("pert-adaptive:compete=0.65,alpha_max=16,probe=10s,friendly=1,memory_rtts={rtts}")
    });
    let more =
        ["--flows", "2", "--buffers", "1bdp", "--duration", "8s", "--out", "o", "--seeds", "1", "--json"];
    let arguments = [&["coexist", &three, &four, "--rate", "5mbit", "--rtt", "20ms"][..], &more].concat();
    let result = json(&knee(here.path(), &arguments));
    assert_eq!(result["title"], "pert-adaptive-1 and pert-adaptive-2 side by side");
    assert_eq!(cell(&result, "pert-adaptive (5 set) 1", "pert-adaptive (5 set) 2").len(), 1);
    let scenarios = names(&here.path().join("o/scenarios"));
    let mut pairs = scenarios.iter().map(String::as_str).collect::<Vec<_>>();
    pairs.sort_unstable();
    let pair =
        |row: u8, column: u8| format!("pert-adaptive-{row}-beside-pert-adaptive-{column}--2-flows.toml");
    assert_eq!(pairs, [pair(1, 1), pair(1, 2), pair(2, 2)]);
}

#[test]
fn what_cannot_meet_is_refused_with_a_remedy() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, sayings) in [
        (&["cubic"][..], &["`cubic` is the only controller", "knee list controllers"][..]),
        (&["cubic", "cubic"], &["`cubic` is given twice"]),
        (&["cubic", "pert/red"], &["`pert/red` is a scheme", "--queue red"]),
        (&["cubic", "prt"], &["prt", "pert"]),
        (&["--mix", "1.5"], &["--mix 1.5", "between 0 and 1"]),
        (&["--mix", "-1"], &["--mix -1", "between 0 and 1"]),
        (&["--enough", "-1"], &["--enough -1", "between 0 and 1"]),
        (&["--mix", "0.9", "--flows", "10,2"], &["--mix 0.9 of 2 flows", "1 and 1", "`--flows 7`"]),
        (&["--flows", "3"], &["--mix 0.5 of 3 flows", "2 and 1", "`--flows 4`"]),
        (&["--buffers", "1bdp,1.0BDP"], &["--buffers: `1.0BDP` is given twice"]),
        (&["--buffers", "1s,1000ms"], &["--buffers: `1000ms` is given twice"]),
        (&["--enough", "0"], &["--enough 0", "between 0 and 1"]),
        (&["--flows", "1"], &["--flows", "1 is outside the allowed range, 2 to 100000"]),
        (&["--flows", "4,4"], &["--flows: `4` is given twice"]),
        (&["--buffers", "1bdp,lots"], &["lots", "750pkt"]),
        (&["--queue", "blue"], &["blue", "knee list"]),
        (&["--tcp", "payloud=1kb"], &["did you mean `payload`"]),
    ] {
        assert_refuses(&knee(here.path(), &[&["coexist"], arguments].concat()), 2, sayings);
        assert!(names(here.path()).is_empty(), "{arguments:?} left {:?}", names(here.path()));
    }
}
