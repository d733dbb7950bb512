// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee emulate`: its arguments anywhere, its links where the machine allows them.

use std::io::Write;
use std::path::Path;

use super::{json, knee, stderr, stdout};

/// Whether the machine lets this test have links; it says so if not, whether or not the test passes.
fn able() -> bool {
    let lacks = kneepoint_linux::live::missing(&[]);
    if let Some(lack) = &lacks {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {lack}");
    }
    lacks.is_none()
}

#[test]
fn wrong_properties_of_a_path_are_refused_before_anything_is_made() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("bad.trace"), "1\nx\n").unwrap();
    for (arguments, said) in [
        (["--loss", "1.5"], "1.5 is not a share of packets"),
        (["--queue", "pizza"], "pizza"),
        (["--up", "speed=3"], "`speed=3` is not a property of a link"),
        (["--trace", "bad.trace"], "line 2: `x`"),
        (["--trace", "none.trace"], "cannot read `none.trace`"),
        (["--buffer", "full"], "full"),
        (["--from", "none.toml"], "none.toml"),
    ] {
        let output = knee(here.path(), &[&["emulate"], &arguments[..], &["--", "true"]].concat());
        assert!(
            !output.status.success() && stderr(&output).contains(said),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn the_program_gives_the_status_and_a_link_without_packets_is_noted() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let run = |line: &str| {
        knee(here.path(), &["emulate", "--rate", "10mbit", "--server", "sleep 9", "--", "sh", "-c", line])
    };
    let output = run("echo $KNEE_HOST $KNEE_PEER; exit 7");
    assert_eq!((output.status.code(), stdout(&output).split_whitespace().count()), (Some(7), 2));
    assert!(stderr(&output).contains("no packet crossed the link"), "{}", stderr(&output));
    let missing = knee(here.path(), &["emulate", "--server", "sleep 9", "--", "no-such-program"]);
    assert!(stderr(&missing).contains("cannot start `no-such-program`"), "{}", stderr(&missing));
}

#[test]
fn packets_that_cross_the_link_are_measured_captured_and_reported() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    // Bash alone sends datagrams, one of 100 bytes every 20 ms or so; nobody answers but the kernel, that the port is closed.
    let send = "for i in $(seq 20); do printf '%0100d' 0 > /dev/udp/$KNEE_PEER/9; sleep 0.02; done; true";
    let options =
        ["--rate", "1mbit", "--delay", "5ms", "--queue", "codel", "--out", "out", "--pcap", "p.pcapng"];
    let program = ["--server", "sleep 9", "--json", "--", "bash", "-c", send];
    let summary = json(&knee(here.path(), &[&["emulate"], &options[..], &program].concat()));
    let link = |name: &str| {
        let rows = summary["rows"].as_array().unwrap();
        rows.iter().find(|row| row["labels"] == serde_json::json!({ "link": name })).unwrap()["values"]
            .clone()
    };
    // 100 bytes with 28 bytes of headers, and some by which the host announces itself; the kernel limits how often it says that a port is closed.
    let bytes = link("near-far")["served_bytes"].as_f64().unwrap();
    assert!((2560.0..3560.0).contains(&bytes), "{bytes}");
    assert!(link("far-near")["served_packets"].as_f64().is_some_and(|answers| answers >= 1.0));
    for file in ["report.html", "summary.json", "runs.csv", "emulation.toml", "series/emulation.parquet"] {
        assert!(here.path().join("out").join(file).is_file(), "{file}");
    }
    assert!(checks(here.path(), "out/emulation.toml"), "the scenario of an emulation can be simulated");
    let capture = std::fs::read(here.path().join("p.pcapng")).unwrap();
    assert_eq!(capture[..4], 0x0a0d_0d0a_u32.to_le_bytes());
    // Each datagram at both devices.
    assert!(capture.len() > 40 * 128);
}

fn checks(directory: &Path, file: &str) -> bool {
    knee(directory, &["check", file]).status.success()
}
