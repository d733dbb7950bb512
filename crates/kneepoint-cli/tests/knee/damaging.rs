// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kept runs that are damaged, exchanged or replaced are never accepted as results, and are repeated where possible.
//! Processes that share a store do not disturb each other.
//!
//! `KNEE_TORTURE_FLIPS=10000` damages that many records instead of a few hundred.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;

/// Runs of a study.
const RUNS: usize = 24;
const STUDY: [&str; 13] = [
    "compare",
    "reno",
    "--rate",
    "1mbit",
    "--flows",
    "1",
    "--duration",
    "3s",
    "--seeds",
    "24",
    "--sample",
    "100ms",
    "--json",
];

/// A number from the environment.
pub fn count(variable: &str, usual: usize) -> usize {
    let given = std::env::var(variable).ok();
    given
        .map_or(usual, |given| given.parse().unwrap_or_else(|_| panic!("{variable}={given} is not a number")))
}

/// Numbers that are the same in every test run (splitmix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

fn study(here: &Path, more: &[&str]) -> Output {
    knee(here, &[&STUDY[..], &["--store", "runs", "--out", "o"], more].concat())
}

/// The outcome, except for the resources used.
fn outcome(output: &Output) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, _| {
                    !["manifest", "cpu_seconds", "events_per_second"].contains(&key.as_str())
                });
                object.values_mut().for_each(strip);
            }
            Value::Array(array) => array.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut all = json(output);
    strip(&mut all);
    all.to_string()
}

/// The files of kept runs.
fn records(here: &Path) -> Vec<PathBuf> {
    names(&here.join("runs")).iter().map(|name| here.join("runs").join(name)).collect()
}

/// Damages a file in one of several ways.
fn damage(chance: &mut Chance, path: &Path, other: &[u8]) -> &'static str {
    let mut bytes = fs::read(path).unwrap();
    let (bit, cut) = (chance.below(8 * bytes.len()), chance.below(bytes.len()));
    let what = match chance.below(10) {
        0..6 => {
            bytes[bit / 8] ^= 1 << (bit % 8);
            "a flipped bit"
        }
        6 | 7 => {
            bytes.truncate(cut);
            "a cut"
        }
        8 => {
            bytes[cut..].fill(0);
            "zeros to the end"
        }
        _ => {
            bytes = other.to_vec();
            "another run's file"
        }
    };
    fs::write(path, bytes).unwrap();
    what
}

#[test]
fn no_damage_is_read_as_truth_and_nothing_is_lost() {
    let here = tempfile::tempdir().unwrap();
    let whole = outcome(&study(here.path(), &[]));
    let kept = records(here.path());
    assert_eq!(kept.len(), RUNS);
    let mut chance = Chance(33);
    let flips = count("KNEE_TORTURE_FLIPS", 240);
    for round in 0..flips.div_ceil(RUNS) {
        // The neighbours' bytes before any damage.
        let mut others: Vec<Vec<u8>> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
        others.rotate_left(1);
        let damages: Vec<&str> =
            kept.iter().zip(&others).map(|(path, other)| damage(&mut chance, path, other)).collect();
        let output = study(here.path(), &[]);
        let said = stderr(&output);
        assert_eq!(outcome(&output), whole, "round {round}: {damages:?}");
        for (path, damage) in kept.iter().zip(damages) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let named =
                said.lines().find(|line| line.contains(&format!("{name} is not the run that was kept")));
            assert!(
                named.is_some_and(|line| line.ends_with("simulating that run again")),
                "{name}, {damage}: {said}"
            );
            let aside = here.path().join(format!("runs/{name}.bad"));
            fs::remove_file(aside).expect("it was set aside");
        }
        assert_eq!(records(here.path()), kept, "made again, and nothing else");
    }
    let back = study(here.path(), &[]);
    assert!(stderr(&back).contains("24 of 24 runs were read back"), "{}", stderr(&back));
    assert_eq!(outcome(&back), whole);
}

#[test]
fn runs_without_an_envelope_are_made_again_with_one_line_for_all() {
    let here = tempfile::tempdir().unwrap();
    let whole = outcome(&study(here.path(), &[]));
    for path in records(here.path()) {
        let kept: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        fs::write(&path, format!("{}\n", kept["record"])).unwrap();
    }
    let again = study(here.path(), &[]);
    let said = stderr(&again);
    assert_eq!(said.matches("another version").count(), 1, "{said}");
    assert!(!said.contains("read back"), "{said}");
    assert_eq!((outcome(&again), records(here.path()).len()), (whole, RUNS));
}

#[test]
fn what_is_no_file_in_the_store_is_refused_and_not_waited_for() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &[]);
    let path = records(here.path()).swap_remove(5);
    let cases: [(&str, &dyn Fn()); 4] = [
        ("a directory", &|| fs::create_dir(&path).unwrap()),
        ("a named pipe", &|| rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap()),
        ("a device", &|| symlink("/dev/zero", &path).unwrap()),
        ("larger than 1024 MB", &|| fs::File::create(&path).unwrap().set_len(4 << 30).unwrap()),
    ];
    for (kind, make) in cases {
        fs::remove_file(&path).unwrap();
        make();
        let name = path.file_name().unwrap().to_str().unwrap();
        for more in [&[][..], &["--dry-run"], &["--shard", "1/2"]] {
            assert_refuses(&study(here.path(), more), 1, &[name, kind, "move it elsewhere"]);
        }
        let _ = fs::remove_dir(&path);
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).unwrap();
        }
        assert!(study(here.path(), &[]).status.success());
    }
}

#[test]
fn a_shard_counts_what_it_has_read() {
    let here = tempfile::tempdir().unwrap();
    let part = |part: &str| json(&study(here.path(), &["--shard", part]));
    assert_eq!(part("1/2")["kept"], 12);
    let first = records(here.path()).swap_remove(0);
    fs::write(&first, "{}").unwrap();
    // The damaged run is of the other shard, which has ended.
    let last = part("2/2");
    assert_eq!([&last["kept"], &last["left"]], [23, 1], "{last}");
    assert!(part("1/2")["schemes"].is_array());
}

#[test]
fn a_forecast_changes_no_damaged_run_and_counts_it_as_new() {
    let here = tempfile::tempdir().unwrap();
    study(here.path(), &[]);
    let damaged = records(here.path()).swap_remove(0);
    fs::write(&damaged, "{}").unwrap();
    let forecast = study(here.path(), &["--dry-run"]);
    assert!(stderr(&forecast).contains("is not the run that was kept"), "{}", stderr(&forecast));
    assert_eq!(json(&forecast)["new"], 1);
    assert_eq!(fs::read_to_string(damaged).unwrap(), "{}");
}

/// Several processes on one store, each started by this test; the outcomes equal a single process's.
fn together(start: impl Fn(&[&str]) -> Command) {
    let here = tempfile::tempdir().unwrap();
    let alone =
        outcome(&knee(here.path(), &[&STUDY[..], &["--store", "alone", "--out", "alone-out"]].concat()));
    let reports: Vec<String> = (0..8).map(|place| format!("o{place}")).collect();
    let start = |report: &String| {
        let words = [&STUDY[..], &["--jobs", "2", "--store", "runs", "--out", report]].concat();
        let mut command = start(&words);
        command.current_dir(here.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("knee starts")
    };
    let children: Vec<_> = reports.iter().map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(!stderr(&output).contains("is not the run"), "{}", stderr(&output));
        assert_eq!(outcome(&output), alone);
    }
    let all: BTreeSet<String> = names(here.path()).into_iter().collect();
    assert!(reports.iter().all(|report| all.contains(report)));
    assert_eq!(names(&here.path().join("runs")), names(&here.path().join("alone")), "and no temporary file");
}

#[test]
fn processes_share_a_store() {
    together(command);
}

#[cfg(target_os = "linux")]
#[test]
fn processes_that_have_the_same_number_share_a_store() {
    let apart = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", env!("CARGO_BIN_EXE_knee")]).args(words);
        command
    };
    let allowed = Command::new("unshare").args(["--pid", "--fork", "true"]).output();
    if !allowed.is_ok_and(|done| done.status.success()) {
        say("SKIPPED: PID namespaces need root and unshare; processes of one number were not tried");
        return;
    }
    together(apart);
}
