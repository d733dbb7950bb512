// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Any command line and any scenario gets an answer, never a panic.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use super::*;

const WORDS: &[&str] = &[
    "compare",
    "run",
    "plot",
    "diff",
    "list",
    "explain",
    "init",
    "check",
    "doctor",
    "drill",
    "completions",
    "man",
    "schema",
    "com",
    "--json",
    "--help",
    "--version",
    "-h",
    "-V",
    "--",
    "-",
    "",
    "--out",
    "out",
    "--rate",
    "--rtt",
    "--flows",
    "--buffer",
    "--web",
    "--reverse",
    "--duration",
    "--measure",
    "--start",
    "--seeds",
    "--seed",
    "--tcp",
    "--sample",
    "--jobs",
    "--pcap",
    "--series",
    "csv",
    "parquet",
    "--force",
    "--rate=",
    "--rate=0bit",
    "10mbit",
    "150mbps",
    "-5ms",
    "60ms",
    "0s",
    "1e400s",
    "99999999999999999999",
    "-1",
    "0",
    "1",
    "4",
    "NaN",
    "inf",
    "1bdp",
    "0.0001bdp",
    "750pkt",
    "0pkt",
    "18446744073709551616pkt",
    "2s",
    "1s..2s",
    "2s..1s",
    "1s..",
    "..",
    "0s..0s",
    "pert",
    "sack/droptail",
    "sack/red-ecn",
    "reno/",
    "/",
    "//",
    "pert/pert/pert",
    "sack\u{301}/🦀",
    "payload=1000",
    "payload=",
    "=",
    "a=b=c",
    "recovery=tahoe",
    "reno",
    "controllers",
    "queues",
    "bash",
    "zsh",
    "scenario.toml",
    "missing.toml",
    ".",
    "\u{0}x",
    "%s%n",
    "../x",
];

fn cases() -> u64 {
    std::env::var("KNEE_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// Marsaglia's xorshift: the same cases every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn word(&mut self) -> String {
        let word = WORDS[self.below(WORDS.len())].replace('\0', "");
        match self.below(12) {
            // Two words stuck together, or one with a piece cut off.
            0 => word + WORDS[self.below(WORDS.len())].trim_start_matches('\0'),
            1 => word.chars().take(self.below(6)).collect(),
            _ => word,
        }
    }

    /// A command line: half of them begin with a verb and quick settings, so that they get further.
    fn arguments(&mut self) -> Vec<String> {
        const QUICK: &str =
            "compare reno --rate 1mbit --flows 2 --duration 2s --measure 1s..2s --start 0s..0s --seeds 1";
        let mut arguments = match self.below(4) {
            0 => QUICK.split(' ').map(str::to_string).collect(),
            1 => vec![WORDS[self.below(10)].to_string()],
            _ => Vec::new(),
        };
        for _ in 0..self.below(5) {
            let place = self.below(arguments.len() + 1);
            arguments.insert(place, self.word());
        }
        if arguments.len() > 4 && self.below(3) == 0 {
            arguments.remove(self.below(8).min(arguments.len() - 1));
        }
        arguments
    }
}

/// Runs it for a moment; a program that runs longer has survived, and is stopped.
#[allow(clippy::disallowed_methods, reason = "a test may look at the clock")]
fn briefly(directory: &Path, arguments: &[String]) -> Option<Output> {
    let arguments = arguments.iter().map(String::as_str).collect::<Vec<_>>();
    let mut child = command(&arguments)
        .current_dir(directory)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("knee starts");
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        if child.try_wait().expect("a child").is_some() {
            return Some(child.wait_with_output().expect("its output"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    None
}

#[test]
fn no_command_line_makes_it_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for case in 0..cases() {
        let here = tempfile::tempdir().unwrap();
        let arguments = dice.arguments();
        let Some(output) = briefly(here.path(), &arguments) else { continue };
        let said = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(0..=2)) && !said.contains("panicked"),
            "case {case}: {arguments:?} ended with {}:\n{said}",
            output.status
        );
    }
}

#[test]
fn no_scenario_makes_check_panic() {
    let here = tempfile::tempdir().unwrap();
    let example = knee(here.path(), &["init", "-"]).stdout;
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for case in 0..cases() {
        let mut text = example.clone();
        for _ in 0..=dice.below(3) {
            let place = dice.below(text.len());
            match dice.below(4) {
                0 => drop(text.remove(place)),
                1 => text.insert(place, dice.below(256) as u8),
                2 => text.truncate(place.max(1)),
                _ => drop(text.splice(place..place, "é\"'[=🦀".bytes())),
            }
        }
        let output = knee_reading(here.path(), &["check", "-"], &text);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0..=2)) && !said.contains("panicked"),
            "case {case}: {}\n{said}\n{}",
            output.status,
            String::from_utf8_lossy(&text)
        );
    }
}
