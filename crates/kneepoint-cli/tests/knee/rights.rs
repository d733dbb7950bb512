// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rights of an emulation and its programs: no more than they need, in every thread.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};

use super::emulating::{able, assert_carried};
use super::stopping::{interrupt, until};
use super::{assert_refuses, command, knee, stderr, stdout};

/// A line of a thread's status.
fn status(folder: &str, name: &str) -> String {
    let text = fs::read_to_string(format!("{folder}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_default().trim().to_string()
}

/// The folders of a process's threads.
fn threads(process: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.map(|task| task.path().display().to_string()).collect()
}

/// A process and all that it started.
fn family(process: u32) -> BTreeSet<u32> {
    let mut all = BTreeSet::from([process]);
    loop {
        let before = all.len();
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        for one in numbers.collect::<Vec<_>>() {
            let parent = status(&format!("/proc/{one}"), "PPid").parse().unwrap_or(0);
            if all.contains(&parent) {
                all.insert(one);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// The capabilities of every thread of a process and of all that it started; threads that end meanwhile have none.
fn held(process: u32) -> Vec<String> {
    let threads = family(process).into_iter().flat_map(threads);
    let sets = ["CapPrm", "CapEff", "CapInh", "CapAmb"];
    let sets = threads.flat_map(|thread| sets.map(|name| status(&thread, name)));
    sets.filter(|set| !set.is_empty()).collect()
}

fn start(words: &[&str], sudo: Option<[&str; 2]>) -> Child {
    let mut command = command(words);
    for (name, value) in sudo.into_iter().flat_map(|ids| ["SUDO_UID", "SUDO_GID"].into_iter().zip(ids)) {
        command.env(name, value);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("knee starts")
}

const NONE: &str = "0000000000000000";

#[test]
fn no_thread_and_no_program_keeps_a_capability() {
    if !able() {
        return;
    }
    // Seven processes: the emulator, and for each of two programs one, and two that wait for it.
    let link = ["emulate", "--rate", "10mbit", "--server", "exec sleep 58"];
    for (user, sudo) in [
        (&[][..], None),
        (&["--user", "65534"], None),
        (&[], Some(["65534", "65533"])),
        (&["--user", "12345"], Some(["65534", "65533"])),
    ] {
        let emulation = start(&[&link[..], user, &["--", "sleep", "59"]].concat(), sudo);
        until("all capabilities are given up", || {
            let held = held(emulation.id());
            family(emulation.id()).len() == 7 && held.iter().all(|set| set == NONE)
        });
        let fixed = family(emulation.id()).into_iter().flat_map(threads);
        assert!(fixed.map(|thread| status(&thread, "NoNewPrivs")).all(|set| set == "1"), "{user:?}");
        interrupt(&emulation);
        let output = emulation.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{user:?}: {}", stderr(&output));
    }
    // The meters of a link have their own threads.
    let probe = start(&["emulate", "--probe", "--rate", "10mbit"], None);
    until("the probe's threads give them up", || {
        threads(probe.id()).len() == 3 && held(probe.id()).iter().all(|set| set == NONE)
    });
    interrupt(&probe);
    probe.wait_with_output().unwrap();
}

#[test]
fn programs_are_the_user_s_who_was_asked_for() {
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    let show = "grep -E '^(Uid|Gid|CapEff|NoNewPrivs)' /proc/self/status | tr -s '\\t\\n' ' '";
    let run = |user: &[&str]| {
        let link = ["emulate", "--rate", "10mbit"];
        let output = knee(here.path(), &[&link[..], user, &["--", "sh", "-c", show]].concat());
        assert_carried(&output);
        stdout(&output)
    };
    let none = |uid: u32, gid: u32| {
        let four = |id: u32| [id; 4].map(|id| id.to_string()).join(" ");
        format!("Uid: {} Gid: {} CapEff: {NONE} NoNewPrivs: 1 ", four(uid), four(gid))
    };
    assert_eq!(run(&[]), none(0, 0));
    assert_eq!(run(&["--user", "12345"]), none(12345, 65534));
    let nobody = nix_user("nobody");
    assert_eq!(run(&["--user", "nobody"]), none(nobody.0, nobody.1));
    // Full rights are kept on request only.
    let root = run(&["--user", "root"]);
    assert!(
        root.starts_with("Uid: 0 0 0 0") && root.ends_with("NoNewPrivs: 0 ") && !root.contains(NONE),
        "{root}"
    );
    for (user, said) in [("no-such-user", "no user `no-such-user`"), ("", "no user ``")] {
        let refused = knee(here.path(), &["emulate", "--user", user, "--", "true"]);
        assert_refuses(&refused, 2, &[said]);
    }
}

/// User and group of this name.
fn nix_user(name: &str) -> (u32, u32) {
    let user = kneepoint_linux::privilege::User::named(name).unwrap();
    (user.uid.as_raw(), user.gid.as_raw())
}

/// Whether a process has this word as its last argument.
fn runs(word: &str) -> bool {
    let folders = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = folders.filter_map(|one| fs::read(one.path().join("cmdline")).ok());
    lines.any(|line| line.strip_suffix(&[0_u8]).is_some_and(|words| words.ends_with(word.as_bytes())))
}

#[test]
fn an_emulation_ends_the_program_of_another_user() {
    if !able() {
        return;
    }
    let link = ["emulate", "--rate", "10mbit", "--duration", "300ms", "--json"];
    for (user, sudo) in [
        (&["--user", "65534"][..], None),
        (&[], Some(["65534", "65534"])),
        (&["--user", "12345"], Some(["65534", "65534"])),
    ] {
        let word = format!("3600.{}", std::process::id());
        let emulation = start(&[&link[..], user, &["--", "sleep", &word]].concat(), sudo);
        let output = emulation.wait_with_output().unwrap();
        until("the program's end", || !runs(&word));
        assert!(stdout(&output).contains("\"seconds\""), "{user:?} {sudo:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("not permitted"), "{user:?} {sudo:?}: {}", stderr(&output));
    }
}

#[test]
fn what_is_read_and_written_is_the_caller_s() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    if !able() {
        return;
    }
    let here = tempfile::tempdir().unwrap();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let emulate = |words: &[&str]| {
        let rate: &[&str] = if words.contains(&"--trace") { &[] } else { &["--rate", "10mbit"] };
        let words = [&["emulate"], rate, words, &["--", "true"]].concat();
        let mut command = command(&words);
        command.env("SUDO_UID", "65534").env("SUDO_GID", "65533").current_dir(here.path()).output().unwrap()
    };
    assert_carried(&emulate(&["--out", "o", "--pcap", "p.pcapng", "--save-trace", "t"]));
    for file in ["o", "o/report.html", "p.pcapng", "t"] {
        let there = fs::metadata(here.path().join(file)).unwrap();
        assert_eq!((there.uid(), there.gid()), (65534, 65533), "{file}");
    }
    // Files that only root reads, and folders where only root writes.
    fs::write(here.path().join("secret.trace"), "secret\n").unwrap();
    fs::set_permissions(here.path().join("secret.trace"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(here.path().join("closed")).unwrap();
    let refused = [["--trace", "secret.trace"], ["--out", "closed/o"], ["--pcap", "closed/p.pcapng"]];
    for words in refused {
        assert_refuses(&emulate(&words), 1, &["Permission denied"]);
    }
}

#[test]
fn without_root_a_refusal_says_what_to_do() {
    if !able() {
        return;
    }
    for (words, said) in [
        (&["emulate", "--", "true"][..], "only root can put a link between a program and this machine"),
        (&["emulate", "--user", "root", "--", "true"], "only root can run a program as another user"),
        (&["live", "live.controllers", "--cc-map", "pert=reno"], "only root can make hosts with a link"),
        (&["doctor", "--clean"], "only root sees and removes what knee may have left"),
    ] {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", env!("CARGO_BIN_EXE_knee")]);
        let output = command.args(words).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{words:?}");
        assert!(
            stderr(&output).contains(said) && stderr(&output).contains("sudo"),
            "{words:?}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn programs_without_capabilities_have_every_port_and_echo_requests() {
    if !able() {
        return;
    }
    // Tests do not require Python: where it is missing, the shell says so.
    let listen = "command -v python3 >/dev/null || exit 0; python3 -c \"\
        import socket; s = socket.socket(); s.bind(('', 80)); socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)\"";
    let here = tempfile::tempdir().unwrap();
    for user in ["0", "65534"] {
        let user = if user == "0" { &[][..] } else { &["--user", user] };
        assert_carried(&knee(here.path(), &[&["emulate"], user, &["--", "sh", "-c", listen]].concat()));
    }
}
