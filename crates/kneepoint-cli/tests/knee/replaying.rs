// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee replay`: traces recorded and played.

use super::*;

const OPEN: &str = "at_us,kind,packets,rtt_us,acked,una,next,in_flight,draw\n0,open,10,,,,,,\n";

#[test]
fn a_recorded_trace_is_played_to_both_and_they_agree() {
    let here = tempfile::tempdir().unwrap();
    stdout(&knee(here.path(), &["init", "my.toml"]));
    let trace = knee(here.path(), &["replay", "--record", "my.toml"]);
    assert!(stdout(&trace).starts_with("# my.toml, flow "), "{}", stderr(&trace));
    for cc in ["pert", "pert-pi:target=5ms", "pert-adaptive", "ratcp"] {
        let played = knee_reading(here.path(), &["replay", "-", "--cc", cc], &trace.stdout);
        assert!(
            stdout(&played).starts_with("no divergence in "),
            "{cc}: {}{}",
            stdout(&played),
            stderr(&played)
        );
        let told = json(&knee_reading(here.path(), &["replay", "-", "--cc", cc, "--json"], &trace.stdout));
        assert_eq!((&told["verdict"], &told["shown"]), (&"agree".into(), &Value::Array(vec![])));
        assert!(told["greatest_difference"].as_f64().unwrap() < 1e-6);
        let lines = stdout(&trace).lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(told["steps"], lines - 1);
    }
}

#[test]
fn where_they_part_the_windows_stand_side_by_side() {
    let here = tempfile::tempdir().unwrap();
    // An acknowledgement of four billion packets is more than the kernel's fixed point holds.
    let trace = format!(
        "{OPEN}1000,ack,,60000,1,1,2,1,\n2000,ack,,60000,4294967295,1,2,1,\n3000,ack,,60000,1,1,2,1,\n"
    );
    let played =
        knee_reading(here.path(), &["replay", "-", "--cc", "pert", "--context", "1"], trace.as_bytes());
    assert_eq!(played.status.code(), Some(1));
    let said = stdout(&played);
    assert!(said.starts_with("the windows part at step 3 of 4\n"), "{said}");
    let marked = said.lines().find(|line| line.starts_with('>')).expect("the step is marked");
    assert!(marked.contains("4294967306.0") && marked.contains("ack of 4294967295"), "{said}");
    assert_eq!(said.lines().filter(|line| line.contains("ack of")).count(), 3);
}

#[test]
fn a_wrong_trace_shows_its_place_and_a_wrong_name_the_right_ones() {
    let here = tempfile::tempdir().unwrap();
    let trace = format!("{OPEN}1000,ack,,60.0000,1,1,2,1,\n");
    let refused = knee_reading(here.path(), &["replay", "-", "--cc", "pert"], trace.as_bytes());
    assert_refuses(
        &refused,
        2,
        &["`60.0000` is not a value of `rtt_us`", "-:3:11", "at most three decimals"],
    );
    for (cc, on, sayings) in [
        ("bbr", "sim,native-bpf", &["`bbr` is not written in C"][..]),
        ("pert:signal=one-way", "sim,native-bpf", &["has no `signal`", "t1"]),
        ("prt", "sim", &["--cc", "prt"]),
        ("pert", "sim,natve-bpf", &["--on", "`natve-bpf`", "native-bpf"]),
    ] {
        let told = knee_reading(here.path(), &["replay", "-", "--cc", cc, "--on", on], OPEN.as_bytes());
        assert_refuses(&told, 2, sayings);
    }
    assert_refuses(&knee(here.path(), &["replay"]), 2, &["--cc", "TRACE"]);
}
