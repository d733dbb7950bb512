// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traces of a link's capacity: described, converted and played.

use super::*;

const MODEM: &str = include_str!("../../../../scenarios/modem.csv");

fn with_modem() -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("modem.csv"), MODEM).unwrap();
    here
}

#[test]
fn a_trace_is_described_in_numbers_and_as_a_line() {
    let here = with_modem();
    let told = stdout(&knee(here.path(), &["trace", "modem.csv"]));
    for saying in
        ["csv, 12 rows", "12 s, then it repeats", "8.500 Mbit/s", "latency_ms", "rsrp_dbm", "█", "·"]
    {
        assert!(told.contains(saying), "`{saying}` is missing from:\n{told}");
    }
    let numbers = json(&knee(here.path(), &["trace", "modem.csv", "--gap", "500ms", "--json"]));
    let trace = &numbers["traces"][0];
    assert_eq!((&trace["mean_bps"], &trace["greatest_bps"]), (&8.5e6.into(), &19e6.into()));
    assert_eq!((&trace["gaps"], &trace["longest_gap_ms"]), (&1.into(), &2000.0.into()));
}

#[test]
fn a_trace_is_converted_to_every_form_and_back() {
    let here = with_modem();
    let mean =
        |file: &str| json(&knee(here.path(), &["trace", file, "--json"]))["traces"][0]["mean_bps"].clone();
    for form in ["csv", "json", "mahimahi"] {
        let output = knee(here.path(), &["trace", "modem.csv", "--to", form, "--out", form]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(mean(form), 8.5e6, "{form}");
    }
    let again =
        knee(here.path(), &["trace", "mahimahi", "--to", "csv", "--interval", "1s", "--out", "again.csv"]);
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(mean("again.csv"), 8.5e6);
    let refused = knee(here.path(), &["trace", "csv", "json", "--to", "csv", "--out", "x"]);
    assert_refuses(&refused, 2, &["`json` is another"]);
    std::fs::write(here.path().join("bad.csv"), "time_s,Mbps\n0,1\n1,fast\n").unwrap();
    let wrong = knee(here.path(), &["trace", "bad.csv"]);
    assert_refuses(&wrong, 2, &["bad.csv: line 3, column 2 (Mbps): `fast` is not a number"]);
}

#[test]
fn schemes_and_scenarios_follow_a_trace_in_one_option() {
    let here = with_modem();
    let small =
        ["compare", "cubic", "--flows", "2", "--duration", "12s", "--measure", "0s..12s", "--seeds", "1"];
    let output = knee(here.path(), &[&small[..], &["--trace", "modem.csv", "--out", "c", "--json"]].concat());
    assert!(stderr(&output).contains("the rate alone is played, without latency_ms"), "{}", stderr(&output));
    let goodput = |done: &Output| json(done)["schemes"][0]["flow_goodput_bps"]["mean"].as_f64().unwrap();
    assert!((1.5e6..4.25e6).contains(&goodput(&output)), "{}", goodput(&output));
    // The copy of the scenario has a copy of the trace.
    let again = knee(here.path(), &["run", "c/scenarios/cubic.toml", "--json"]);
    assert_eq!(goodput(&again), goodput(&output));
    std::fs::write(
        here.path().join("my.toml"),
        "[run]\nduration = '12s'\n[topology]\nkind = 'dumbbell'\nrate = '90mbit'\nrtt = '40ms'\n[[flows]]\ncc = 'cubic'\n",
    )
    .unwrap();
    let run = knee(here.path(), &["run", "my.toml", "--trace", "modem.csv", "--json"]);
    assert!(goodput(&run) < 8.5e6, "{}", goodput(&run));
    std::fs::rename(here.path().join("modem.csv"), here.path().join("my, own: \"5G\".csv")).unwrap();
    let odd = knee(here.path(), &["run", "my.toml", "--trace", "my, own: \"5G\".csv", "--json"]);
    assert_eq!(goodput(&odd), goodput(&run));
    std::fs::write(here.path().join("modem.csv"), MODEM).unwrap();
    let both = knee(here.path(), &[&small[..], &["--trace", "modem.csv", "--rate", "1mbit"]].concat());
    assert_refuses(&both, 2, &["--trace", "--rate"]);
}

/// The commands about traces of the page on files, which find their file here.
#[test]
fn the_commands_of_the_page_work() {
    const PAGE: &str = include_str!("../../../../docs/files.md");
    let here = with_modem();
    let section = PAGE.split("## Traces of a link\n").nth(1).expect("a section");
    let commands =
        section.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("commands");
    for line in commands.lines() {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let output = knee(here.path(), &words);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
    }
}
