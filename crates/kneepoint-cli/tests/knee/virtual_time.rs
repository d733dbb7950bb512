// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Linux in virtual time, by `knee live --on uml` and as schemes: refusals anywhere, runs where the kernel is built.

use super::*;

/// A dumbbell that is overloaded a little.
const SCENARIO: &str = "[run]\nduration = '6s'\nmeasure = '2s..6s'\nsample = '100ms'\n[tcp]\npreset = 'linux'\n\
     [topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '40ms'\nbuffer = '1bdp'\n\
     [[flows]]\nname = 'long'\ncc = 'reno'\ncount = 2\nstart = '0s..1s'\n";

/// Whether the kernel is built; a message says if not, whether or not the test passes.
fn able() -> bool {
    let told: Value =
        serde_json::from_slice(&command(&["doctor", "--json"]).output().unwrap().stdout).unwrap();
    let findings = told["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["name"] == "Linux in virtual time").unwrap();
    if found["available"] != true {
        say(&format!("SKIPPED: no Linux in virtual time: {}", found["detail"]));
    }
    found["available"] == true
}

/// Two runs, with their report and series in a directory of this name.
fn report(here: &Path, out: &str) -> Value {
    std::fs::write(here.join("s.toml"), SCENARIO).unwrap();
    let words = ["live", "s.toml", "--on", "uml", "--repetitions", "2", "--json", "--out", out];
    let output = knee(here, &words);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn without_its_kernel_the_command_that_builds_it_is_named() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("s.toml"), SCENARIO).unwrap();
    let output = command(&["live", "s.toml", "--on", "uml"])
        .current_dir(here.path())
        .env("XDG_CACHE_HOME", here.path())
        .output()
        .unwrap();
    assert_refuses(&output, 1, &["is not built", "knee doctor --build-uml", "ten minutes"]);
}

#[test]
fn what_linux_does_not_have_is_refused_before_anything_runs() {
    let here = tempfile::tempdir().unwrap();
    for (change, said) in [
        ("[queue]\nkind = 'rem'\n", "Linux has no queue discipline `rem`"),
        ("[loss]\nkind = 'at'\n", "NetEm has no losses as `at`"),
        ("[[flows]]\ncc = 'copa'\n", "Linux has no congestion control copa"),
        ("[[media]]\nname = 'call'\n", "group `call` needs feedback"),
    ] {
        std::fs::write(here.path().join("s.toml"), format!("{SCENARIO}{change}")).unwrap();
        assert_refuses(&knee(here.path(), &["live", "s.toml", "--on", "uml"]), 1, &[said]);
    }
    let patched = knee(here.path(), &["live", "s.toml", "--patch", "none.patch"]);
    assert_refuses(&patched, 2, &["--on uml"]);
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_does_not() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let series = |name: &str| {
        let told = report(here.path(), name);
        assert_eq!(
            told["cases"][0]["repetitions"][0]["spoiled"],
            Value::Null,
            "the kernel counts as many drops"
        );
        let folder = here.path().join(name).join("series");
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    };
    let (one, other) = (series("one"), series("other"));
    assert!(one == other, "the same runs");
    assert!(one[0] != one[1], "another seed");
}

/// A case of a gate that Linux can express, and one that it cannot.
const CASE: &str = "[experiment]\nid = 'own-two'\ntitle = 'Two flows'\nsource = 'Ours, section 1'\nquote = 'The link is used.'\n\
     [run]\nduration = '6s'\nmeasure = '2s..6s'\nseeds = 1\n[tcp]\npreset = 'linux'\n\
     [topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '40ms'\nbuffer = '1bdp'\n\
     [[flows]]\nname = 'subject'\ncc = 'subject'\ncount = 2\n\
     [[claim]]\nid = 'used'\ntext = 'The link is used.'\ncheck = 'utilization >= 0.9'\ntolerance = 'ours'\n\
     [[claim]]\nid = 'steady'\ntext = 'Nothing is sent twice.'\ncheck = 'retransmission_rate[group=subject] <= 0.05'\ntolerance = 'ours'\n";

#[test]
fn a_gate_says_what_linux_cannot_express() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("rem.toml"), format!("{CASE}[queue]\nkind = 'rem'\n")).unwrap();
    let gate = knee(here.path(), &["gate", "run", "linux-cubic", "--suite", "rem.toml", "--json"]);
    assert!(gate.status.success(), "{}{}", stdout(&gate), stderr(&gate));
    let told: Value = serde_json::from_slice(&gate.stdout).unwrap();
    assert_eq!(told["cases"][0]["status"], "not applicable");
    assert!(stdout(&gate).contains("Linux has no queue discipline `rem`"), "{}", stdout(&gate));
}

#[test]
fn what_linux_cannot_run_is_refused_at_its_place_before_anything_runs() {
    let here = tempfile::tempdir().unwrap();
    let text = "[run]\nduration = '2s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\nrtt = '40ms'\n\
         [queue]\nkind = 'rem'\n[[flows]]\ncc = 'linux-cubic'\n";
    std::fs::write(here.path().join("rem.toml"), text).unwrap();
    for verb in ["check", "run"] {
        let output = knee(here.path(), &[verb, "rem.toml"]);
        assert_refuses(&output, 2, &["rem.toml:10:7", "Linux has no queue discipline `rem`"]);
    }
}

#[test]
fn a_scheme_of_linux_is_refused_with_the_command_that_builds_it_and_where_only_the_simulator_can_be() {
    let here = tempfile::tempdir().unwrap();
    let words = ["compare", "linux-cubic", "--seeds", "1", "--duration", "2s"];
    let output =
        command(&words).current_dir(here.path()).env("XDG_CACHE_HOME", here.path()).output().unwrap();
    assert_refuses(&output, 1, &["is not built", "knee doctor --build-uml"]);
    assert_refuses(&knee(here.path(), &["hunt", "linux-cubic"]), 2, &["linux-cubic"]);
    let with = ["compare", "linux-cubic:beta=0.5", "--duration", "2s"];
    assert_refuses(&knee(here.path(), &with), 2, &["linux-cubic", "beta"]);
}

#[test]
fn linux_is_a_subject_of_gates_whose_numbers_repeat_and_are_near_the_simulators() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("two.toml"), CASE).unwrap();
    let told = |subject: &str| -> Value {
        let gate = knee(here.path(), &["gate", "run", subject, "--suite", "two.toml", "--json", "--fresh"]);
        assert!(gate.status.success(), "{}{}", stdout(&gate), stderr(&gate));
        let told: Value = serde_json::from_slice(&gate.stdout).unwrap();
        told["cases"][0]["claims"].clone()
    };
    let [one, other, ours] = ["linux-cubic", "linux-cubic", "cubic"].map(told);
    assert_eq!(one, other);
    for (place, permitted) in [(0, 0.01), (1, 0.01)] {
        let side = |claims: &Value| claims[place]["checks"][0]["left"].as_f64().unwrap();
        assert!((side(&one) - side(&ours)).abs() <= permitted, "{} {}", side(&one), side(&ours));
    }
    assert!(one[0]["checks"][0]["left"] != ours[0]["checks"][0]["left"], "the kernel's own numbers");
}
