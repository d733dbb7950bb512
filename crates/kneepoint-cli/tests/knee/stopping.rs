// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ctrl-C and SIGKILL: finished runs are kept, reported and whole, and the same command continues from there.

use std::process::{Child, Stdio};
use std::time::Duration;

use super::*;

/// A long run: two senders with many seeds, one at a time.
fn long(directory: &Path, verb: &[&str]) -> Child {
    let lengthy = ["--rate", "20mbit", "--duration", "20s", "--seeds", "5000", "--jobs", "1", "--out", "out"];
    let command = &mut command(&[verb, &["reno", "sack", "--flows", "4"], &lengthy].concat());
    command.current_dir(directory).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("knee starts")
}

/// The number of kept runs.
fn kept(runs: &Path) -> usize {
    names(runs).iter().filter(|name| name.ends_with(".json") && !name.starts_with('.')).count()
}

pub fn interrupt(child: &Child) {
    signal(child, rustix::process::Signal::INT);
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, signal).expect("it is ours");
}

/// Waits up to a minute for something.
pub fn until(what: &str, mut happened: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} did not happen within a minute");
}

#[test]
fn an_interrupt_keeps_finished_runs_and_reports_them() {
    let here = tempfile::tempdir().unwrap();
    let runs = here.path().join("out/runs");
    let child = long(here.path(), &["compare"]);
    until("the third run", || kept(&runs) >= 3);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("runs finished and are kept") && said.contains("out/report.html"), "{said}");
    let summary = std::fs::read(here.path().join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let reported =
        summary["schemes"].as_array().unwrap().iter().map(|scheme| scheme["runs"].as_array().unwrap().len());
    // Every stored run is whole, and in the report.
    let stored = names(&runs);
    assert_eq!(reported.sum::<usize>(), stored.len());
    for name in stored {
        let run: Value = serde_json::from_slice(&std::fs::read(runs.join(name)).unwrap()).unwrap();
        assert!(run["record"]["rows"].is_array());
    }
    assert!(summary["manifest"]["notes"][0].as_str().unwrap().starts_with("interrupted"));
}

#[test]
fn an_interrupted_matrix_shows_what_it_has_and_can_go_on() {
    let here = tempfile::tempdir().unwrap();
    let runs = here.path().join("out/runs");
    let child = long(here.path(), &["coexist", "--buffers", "1bdp"]);
    until("the fourth run", || kept(&runs) >= 4);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_refuses(&output, 130, &["the same command continues", "out/report.html"]);
    let result = std::fs::read(here.path().join("out/coexistence.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    let reported = result["cells"].as_array().unwrap().iter().map(|cell| cell["runs"].as_f64().unwrap());
    // Reno against SACK covers both orders.
    assert!((reported.sum::<f64>() as usize).abs_diff(kept(&runs) * 4 / 3) <= 1, "{result:#}");
    assert!(result["manifest"]["notes"][0].as_str().unwrap().starts_with("interrupted"));
}

#[test]
fn an_interrupt_before_the_first_run_ends_says_so() {
    let here = tempfile::tempdir().unwrap();
    let arguments =
        ["compare", "reno", "--rate", "1000mbit", "--duration", "10000s", "--sample", "0s", "--out", "out"];
    let child = command(&arguments).current_dir(here.path()).stderr(Stdio::piped()).spawn().unwrap();
    until("the start", || here.path().join("out/runs").exists());
    // The handler is in place a moment after the directory is.
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_refuses(&output, 130, &["nothing to report"]);
    assert!(!here.path().join("out/report.html").exists());
}

#[test]
fn a_budget_that_ends_before_the_first_run_is_named_with_its_option() {
    let here = tempfile::tempdir().unwrap();
    let study =
        ["compare", "reno", "--duration", "2s", "--sample", "0s", "--seeds", "2000", "--budget", "1ms"];
    let output = knee(here.path(), &study);
    assert_refuses(&output, 1, &["the budget, 1ms, ended before the first run finished", "`--budget TIME`"]);
    assert!(!here.path().join("out/compare/report.html").exists());
}

/// Runs in a shell that ignores the signal, as with `nohup`; otherwise the same would stop it.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_from_the_beginning_stays_ignored() {
    use rustix::process::Signal;
    for (name, ignored) in [("HUP", Signal::HUP), ("INT", Signal::INT), ("TERM", Signal::TERM)] {
        for line in ["trap '' NAME; exec \"$0\" \"$@\"", "exec \"$0\" \"$@\""] {
            let here = tempfile::tempdir().unwrap();
            let (out, runs) = (here.path().join("o"), here.path().join("out/runs"));
            let study =
                ["--flows", "4", "--rate", "20mbit", "--duration", "20s", "--seeds", "30", "--jobs", "1"];
            let child = Command::new("sh")
                .args(["-c", &line.replace("NAME", name), env!("CARGO_BIN_EXE_knee"), "compare", "reno"])
                .args(study)
                .args(["--out", "o"])
                .current_dir(here.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            until("the second run", || kept(&runs) >= 2);
            signal(&child, ignored);
            let output = child.wait_with_output().unwrap();
            let expected = if line.starts_with("trap") { 0 } else { 130 };
            assert_eq!(output.status.code(), Some(expected), "{name}: {}", stderr(&output));
            assert!(out.join("report.html").is_file(), "{name}");
        }
    }
}

/// Whether a process has a handler for Ctrl-C.
#[cfg(target_os = "linux")]
fn listens(child: &Child) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    caught & (1 << (rustix::process::Signal::INT.as_raw() - 1)) != 0
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_of_a_reproduction_or_a_forecast_is_told_from_the_beginning() {
    for dry in [&[][..], &["--dry-run"]] {
        let here = tempfile::tempdir().unwrap();
        let words = [&["reproduce", "pert", "--json", "--jobs", "1"], dry].concat();
        let mut command = command(&words);
        let child = command.current_dir(here.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("knee starts");
        until("the handler", || listens(&child));
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(130), "{words:?}: {said}");
        let last: Value = serde_json::from_str(said.lines().last().unwrap_or_default()).expect(&said);
        assert_eq!(last["status"], 130, "{said}");
        assert!(last["message"].as_str().unwrap().starts_with("stopped"), "{said}");
        assert!(output.stdout.is_empty(), "{}", stdout(&output));
    }
}

/// A scenario for the verbs that read one, with thirty seeds.
const SCENARIO: &str = "name = 'small'\n[run]\nduration = '20s'\nmeasure = '5s..20s'\nseeds = 30\n[topology]\n\
                        kind = 'dumbbell'\nrate = '20mbit'\nrtt = '40ms'\n[[flows]]\nname = 'long'\ncount = 4\n\
                        cc = 'reno'\nstart = '0s..1s'\n";

#[test]
fn a_command_that_was_killed_simulates_only_what_is_missing_when_repeated() {
    let dumbbell = ["--rate", "20mbit", "--duration", "20s", "--seeds", "30"];
    let verbs: [Vec<&str>; 4] = [
        [&["compare", "reno", "--flows", "4"], &dumbbell[..]].concat(),
        [&["coexist", "reno", "sack", "--flows", "4", "--buffers", "1bdp"], &dumbbell[..]].concat(),
        vec!["run", "small.toml"],
        vec!["predict", "small.toml", "--predictors", "rtt"],
    ];
    for verb in verbs {
        let here = tempfile::tempdir().unwrap();
        std::fs::write(here.path().join("small.toml"), SCENARIO).unwrap();
        let runs = here.path().join("out/runs");
        let one_by_one = [&verb[..], &["--jobs", "1", "--out", "o"]].concat();
        let start = || {
            command(&one_by_one).current_dir(here.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let mut child = start().expect("knee starts");
        until("the fourth run", || kept(&runs) >= 4);
        signal(&child, rustix::process::Signal::KILL);
        child.wait().unwrap();
        let before = kept(&runs);
        let planned = if verb[0] == "coexist" { 90 } else { 30 };
        assert!((4..planned).contains(&before), "{verb:?}: {before}");
        let again = knee(here.path(), &[&verb[..], &["--out", "o"]].concat());
        let said = stderr(&again);
        assert!(again.status.success(), "{verb:?}: {said}");
        assert!(said.contains(&format!("{before} of {planned} runs were read back")), "{verb:?}: {said}");
        assert_eq!(kept(&runs), planned, "{verb:?}");
    }
}
