// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid`: trajectories, maps, boundaries and designs; errors come with a remedy.

use super::*;

#[test]
fn the_boundary_of_figure_13_is_found_from_its_parameters() {
    let here = tempfile::tempdir().unwrap();
    let figure = "fluid boundary pert --capacity 100pps --flows 5 --delta 0.1ms --tmin 50ms --tmax 100ms --pmax 0.1 \
                  --alpha 0.99 --json";
    let found = json(&knee(here.path(), &figure.split_whitespace().collect::<Vec<_>>()));
    let number = |name: &str| found[name].as_f64().unwrap();
    assert!((number("boundary_rtt_ms") - 165.83).abs() < 0.01, "{found}");
    assert!((number("theorem_rtt_ms") - 171.0).abs() < 0.01, "{found}");
    assert!((number("frequency_rad_s") - 4.43).abs() < 0.01, "{found}");
    // The same link in bits, the same figure by default.
    for arguments in [
        &["fluid", "boundary", "pert", "--capacity", "1mbit", "--json"][..],
        &["fluid", "boundary", "pert", "--json"],
    ] {
        assert_eq!(json(&knee(here.path(), arguments))["boundary_rtt_ms"], found["boundary_rtt_ms"]);
    }
}

#[test]
fn a_run_tells_where_it_rests_and_writes_its_trajectory() {
    let here = tempfile::tempdir().unwrap();
    let text = stdout(&knee(here.path(), &["fluid", "run", "pert", "--out", "out"]));
    for part in ["4.232 at 2.25 s", "decaying oscillation", "-0.1739 ± 4.4983j", "does not hold"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let csv = std::fs::read_to_string(here.path().join("out/trajectory.csv")).unwrap();
    assert_eq!(csv.lines().count(), 402);
    assert!(
        std::fs::read_to_string(here.path().join("out/figures/trajectory.svg")).unwrap().starts_with("<svg")
    );
    let unstable =
        json(&knee(here.path(), &["fluid", "run", "pert", "--rtt", "171ms", "--end", "40s", "--json"]));
    assert_eq!(unstable["stable"], false);
    assert_eq!(unstable["trajectory"].as_array().unwrap().len(), 401);
}

#[test]
fn a_map_counts_what_the_theorem_gets_wrong() {
    let here = tempfile::tempdir().unwrap();
    let arguments =
        "fluid stability pert --x rtt=150ms..180ms:16 --y delta=0.01ms..10ms:4:log --json --out map";
    let map = json(&knee(here.path(), &arguments.split_whitespace().collect::<Vec<_>>()));
    assert_eq!((map["points"].as_u64(), map["with_equilibrium"].as_u64()), (Some(64), Some(64)));
    // Between the boundary, 140 to 168 ms, and the theorem's, 171 to 174 ms.
    assert!(map["unstable_though_allowed_by_theorem"].as_u64().unwrap() > 10, "{map}");
    let csv = std::fs::read_to_string(here.path().join("map/stability.csv")).unwrap();
    assert_eq!(csv.lines().count(), 65);
    assert!(here.path().join("map/figures/stability.svg").exists());
}

#[test]
fn a_design_says_what_meets_the_margin_and_what_the_theorem_would_allow() {
    let here = tempfile::tempdir().unwrap();
    let design = json(&knee(here.path(), &["fluid", "design", "tcp-pi", "--phase-margin", "45", "--json"]));
    let gain = &design["designs"][0];
    assert_eq!(gain["parameter"], "gain");
    assert!(gain["exact"][0]["to"].as_f64() > gain["theorem"][0]["to"].as_f64(), "{design}");
    assert_eq!(design["as_given"]["meets_goal"], true);
}

#[test]
fn what_a_model_cannot_be_is_refused_with_the_option_the_value_and_a_remedy() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, sayings) in [
        ("boundary pert --rtt 5ms", &["--rtt is the parameter to search along", "--along"][..]),
        ("boundary pert --weight 3", &["--weight", "`pert` has no such parameter", "knee explain pert"]),
        ("boundary pert --flows x", &["--flows", "expected a number", "0.001 to 1000000"]),
        ("boundary pert --capacity 1mbps", &["--capacity", "100pps", "1mbit"]),
        ("boundary pert --along rt=1ms..2ms", &["no parameter `rt`"]),
        ("run prt", &["prt", "pert"]),
        ("run pert --tmin 200ms", &["tmin = 200ms, tmax = 100ms"]),
        ("run pert --start 1,2", &["--start", "three states", "window_packets"]),
        ("run pert --every 0s", &["--every 0s"]),
        ("run pert --end 100000s", &["--end", "too many steps"]),
        ("design pert --phase-margin 400", &["0 to 180"]),
        ("stability pert --x rtt=0ms..3ms", &["--x", "10us to 100s"]),
        ("stability pert --x rtt=1ms..3ms --y rtt=1ms..3ms", &["both vary rtt"]),
        ("stability pert --flows 3", &["--flows is already varied by --y"]),
    ] {
        let whole = ["fluid"].into_iter().chain(arguments.split_whitespace()).collect::<Vec<_>>();
        assert_refuses(&knee(here.path(), &whole), 2, sayings);
    }
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn an_overlay_says_how_far_packets_are_from_their_model_and_who_has_none() {
    let here = tempfile::tempdir().unwrap();
    let arguments = "compare pert reno/red cubic --rate 20mbit --flows 10 --duration 60s --seeds 1 --overlay fluid --json --out o";
    let document = json(&knee(here.path(), &arguments.split_whitespace().collect::<Vec<_>>()));
    let model = |place: usize| &document["schemes"][place]["fluid"];
    assert_eq!((&model(0)["model"], &model(1)["model"]), (&"pert".into(), &"tcp-red".into()));
    assert!(model(2).is_null());
    // The equilibrium is a little above PERT's first threshold, 5 ms of 2404 packets/s, and packets are near.
    let rest = model(0)["rest_packets"].as_f64().unwrap();
    assert!((12.0..24.0).contains(&rest), "{rest}");
    let error = model(0)["misfit"]["mean_packets"].as_f64().unwrap();
    assert!(error.abs() < rest, "{error} from {rest}");
    let notes = document["manifest"]["notes"].to_string();
    assert!(notes.contains("none describes cubic at droptail"), "{notes}");
    let page = std::fs::read_to_string(here.path().join("o/report.html")).unwrap();
    // In two charts, each laid out for a page and for a phone, with a legend.
    assert_eq!(page.matches("line fluid").count(), 2 * 2 * 2);
}
