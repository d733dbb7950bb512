// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee markov`: the analysis along a parameter, at a point and reading by reading; errors come with a remedy.

use super::*;

fn markov(directory: &Path, arguments: &str) -> Output {
    let whole = ["markov"].into_iter().chain(arguments.split_whitespace()).collect::<Vec<_>>();
    knee(directory, &whole)
}

#[test]
fn alone_it_is_figure_4_in_80_columns() {
    let here = tempfile::tempdir().unwrap();
    let text = stdout(&markov(here.path(), ""));
    for part in ["RATCP δ=1  RATCP δ=4", "TCP", "Losses per second", "kB/s"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("0.001 ")).count(), 3, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0);
}

#[test]
fn a_point_has_its_solution_its_drawings_and_its_packets_side_by_side() {
    let here = tempfile::tempdir().unwrap();
    let arguments = "--arrivals 0.01 --backlogs 1 --monte-carlo 100000 --packets --duration 400s --seeds 2 --out o --json";
    let found = json(&markov(here.path(), arguments));
    let points = found["points"].as_array().unwrap();
    assert_eq!((points.len(), &found["parameters"]["arrivals"]), (2, &"0.01".into()));
    for point in points {
        let throughput = |of: &Value| of.as_f64().unwrap();
        let solved = throughput(&point["solution"]["throughput_pps"]);
        for other in ["drawn", "packets"] {
            let near = throughput(&point[other]["throughput_pps"]["mean"]);
            assert!((solved / near - 1.0).abs() < 0.1, "{other}: {point}");
        }
        assert!(point["solution"]["states"].as_u64().unwrap() > 1000);
    }
    let csv = std::fs::read_to_string(here.path().join("o/markov.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3);
    for file in ["report.html", "report.md", "report.txt", "figures/theory.svg", "scenarios"] {
        assert!(here.path().join("o").join(file).exists(), "{file}");
    }
}

#[test]
fn every_reading_is_changed_alone() {
    let here = tempfile::tempdir().unwrap();
    let text = stdout(&markov(here.path(), "--sensitivity --protocols tcp --monte-carlo 20000"));
    for part in ["as chosen", "service = carried", "preset packet-by-packet", "above drawn"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_cannot_be_analysed_is_refused_with_the_option_the_value_and_what_is_allowed() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, sayings) in [
        ("--arrivals x", &["--arrivals", "\"x\"", "0.000001 to 1000000"][..]),
        ("--buffer 0", &["--buffer", "0 is outside", "1 to 1000"]),
        ("--backlogs 1,-2", &["--backlogs", "-2", "0 to 1000"]),
        ("--arrivals 9", &["arrivals = 9", "per delay", "lower"]),
        ("--protocols ratcp,reno", &["--protocols", "reno", "ratcp"]),
        ("--along arrivals=0.1..9", &["--along", "arrivals = ", "per delay"]),
        ("--along buffer=0..4", &["--along", "buffer = 0", "1 to 1000"]),
        ("--along servce=1..4", &["--along", "servce"]),
        ("--along buffer=5..9 --buffer 7", &["--buffer is already varied by --along"]),
        ("--service never", &["--service", "never", "carried"]),
    ] {
        assert_refuses(&markov(here.path(), arguments), 2, sayings);
    }
    assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0);
}
