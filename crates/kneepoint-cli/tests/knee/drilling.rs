// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee drill`: verdicts, the first difference side by side, refusals, and other hosts.

use super::*;

const OPENING: &str = include_str!("../../../kneepoint/tests/opening.pkt");
const PASSES: &str = "   +0 write(4, ..., 20000) = 20000\n   +0 > P. 1:10001(10000) ack 1\n";
const FAILS: &str = "   +0 write(4, ..., 20000) = 20000\n   +0 > P. 1:10001(10000) ack 1\n   +0 > P. 10001:12001(2000) ack 1\n";
const REFUSED: &str = "   +0 read(4, ..., 1000) = 1000\n";

/// A directory with scripts of these names and ends.
fn scripts(all: &[(&str, &str)]) -> tempfile::TempDir {
    let here = tempfile::tempdir().unwrap();
    for (name, end) in all {
        let path = here.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{OPENING}{end}")).unwrap();
    }
    here
}

#[test]
fn directories_are_searched_and_the_status_is_that_of_the_worst_script() {
    let here = scripts(&[
        ("s/good.pkt", PASSES),
        ("s/deep/bad.pkt", FAILS),
        ("s/none.pkt", REFUSED),
        ("s/x.txt", ""),
        ("good/a.pkt", PASSES),
        ("none/a.pkt", REFUSED),
    ]);
    let all = knee(here.path(), &["drill", "s"]);
    assert_eq!(all.status.code(), Some(1), "{}", stderr(&all));
    let said = stdout(&all);
    for line in [
        "pass     s/good.pkt\n",
        "fail     s/deep/bad.pkt, line 10: expected > . 10001:12001(2000)",
        "seen nothing until 0.104000 s",
        "refused  s/none.pkt, line 8, column 7: `read` is outside the subset\n",
        "3 scripts: 1 passed, 1 failed, 1 refused\n",
    ] {
        assert!(said.contains(line), "`{line}` is missing from:\n{said}");
    }
    assert_eq!(knee(here.path(), &["drill", "good"]).status.code(), Some(0));
    assert_eq!(knee(here.path(), &["drill", "none", "good"]).status.code(), Some(2));
    // Named alone, a refused script is shown with the place and the remedy.
    let alone = knee(here.path(), &["drill", "none/a.pkt"]);
    assert_refuses(&alone, 2, &["none/a.pkt:8:7", "the script is the receiver"]);
    assert_refuses(&knee(here.path(), &["drill", "missing.pkt"]), 1, &["cannot read `missing.pkt`"]);
}

#[test]
fn other_options_and_another_controller_are_another_host() {
    let here = scripts(&[("a.pkt", PASSES)]);
    let drill = |more: &[&str]| knee(here.path(), &[&["drill", "a.pkt"], more].concat());
    assert_eq!(drill(&["--cc", "reno"]).status.code(), Some(0));
    let smaller = drill(&["--tcp", "initial_window=4"]);
    assert_eq!(smaller.status.code(), Some(1));
    assert!(stdout(&smaller).contains("> . 1:4001(4000) at 0.100000 s"), "{}", stdout(&smaller));
    assert_eq!(drill(&["--tcp", "paper"]).status.code(), Some(1));
    assert_refuses(&drill(&["--cc", "ren"]), 2, &["--cc", "did you mean `reno`?"]);
    assert_refuses(&drill(&["--tcp", "initial_windw=4"]), 2, &["unknown option `initial_windw`"]);
    assert_refuses(&drill(&["--tcp", "payload=4b"]), 2, &["the handshake of a script decides"]);
}

#[test]
fn a_script_may_come_on_standard_input() {
    let here = tempfile::tempdir().unwrap();
    let said = knee_reading(here.path(), &["drill", "-"], format!("{OPENING}{PASSES}").as_bytes());
    assert_eq!((said.status.code(), stdout(&said).as_str()), (Some(0), "pass     -\n"));
    let empty = knee_reading(here.path(), &["drill", "-", "--json"], b"");
    assert_eq!(empty.status.code(), Some(2));
    let told: Value = serde_json::from_slice(&empty.stdout).unwrap();
    assert_eq!(told["scripts"][0]["faults"][0]["message"], "the script has no handshake");
}
