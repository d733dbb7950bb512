// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tight limits of processes, files, memory and disks: fewer threads, or an error that says which limit it was; no panic.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{names, say, stderr};

const STUDY: [&str; 8] = ["compare", "reno", "--rate", "5mbit", "--duration", "5s", "--seeds", "2"];

/// Runs a study in a shell after this line, as a user to whom limits apply; root is exempt.
fn limited(here: &Path, line: &str) -> Output {
    std::fs::set_permissions(here, std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65532", "--regid", "65532", "--clear-groups", "bash"]);
            command
        }
        false => Command::new("bash"),
    };
    let line = format!("{line}\nexec \"$0\" \"$@\" --out o");
    command.arg("-c").arg(line).arg(env!("CARGO_BIN_EXE_knee")).args(STUDY);
    command.current_dir(here).stdin(Stdio::null()).output().expect("a shell")
}

/// It did its work, or gave the reason for not doing it.
#[track_caller]
fn assert_orderly(output: &Output, limit: &str, says: &[&str]) {
    let said = stderr(output);
    assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{limit}: {said}");
    match output.status.code() {
        Some(0) => {}
        Some(1) => assert!(says.iter().any(|one| said.contains(one)), "{limit}: {said}"),
        _ => panic!("{limit}: {}: {said}", output.status),
    }
}

#[test]
fn without_another_thread_one_does_all() {
    // The limit counts every process of the user: some of these allow a thread or two, the first none.
    for processes in 1..5 {
        let here = tempfile::tempdir().unwrap();
        let output = limited(here.path(), &format!("ulimit -u {processes}"));
        assert_orderly(&output, &format!("{processes} processes"), &[]);
        assert!(here.path().join("o/report.html").is_file(), "{}", stderr(&output));
        if processes == 1 {
            assert!(stderr(&output).contains("ulimit -u"), "{}", stderr(&output));
        }
    }
}

#[test]
fn few_open_files_are_an_error_with_a_remedy() {
    for files in 3..12 {
        let here = tempfile::tempdir().unwrap();
        let output = limited(here.path(), &format!("ulimit -n {files}"));
        let loader = "error while loading shared libraries";
        if output.status.code() == Some(127) && stderr(&output).contains(loader) {
            continue;
        }
        assert_orderly(&output, &format!("{files} files"), &["ulimit -n"]);
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_leaves_no_part() {
    for blocks in [0, 1, 4, 16] {
        let here = tempfile::tempdir().unwrap();
        let output = limited(here.path(), &format!("ulimit -f {blocks}"));
        assert_orderly(&output, &format!("{blocks} blocks"), &["ulimit -f"]);
        assert_no_parts(here.path());
    }
}

/// No unfinished file.
#[track_caller]
fn assert_no_parts(folder: &Path) {
    for name in names(folder) {
        assert!(!name.ends_with(".tmp"), "{name} is left in {}", folder.display());
        if folder.join(&name).is_dir() {
            assert_no_parts(&folder.join(&name));
        }
    }
}

#[test]
fn little_memory_for_stacks_means_fewer_threads() {
    for mib in [250, 300, 400] {
        let here = tempfile::tempdir().unwrap();
        // The stacks of the threads do not fit.
        let output =
            limited(here.path(), &format!("export RUST_MIN_STACK=134217728; ulimit -v {}", mib * 1024));
        assert_orderly(&output, &format!("{mib} MiB"), &["ulimit -v"]);
    }
}

#[test]
fn closed_and_full_outputs_are_no_panic() {
    for line in ["exec >&-", "exec 2>&-", "exec <&- >&- 2>&-", "exec > /dev/full", "exec 2> /dev/full"] {
        let here = tempfile::tempdir().unwrap();
        let output = limited(here.path(), line);
        let expected = if line == "exec > /dev/full" { 1 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{line}: {}", stderr(&output));
        assert!(here.path().join("o/report.html").is_file(), "{line}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_part() {
    if !rustix::process::geteuid().is_root() {
        say("SKIPPED: only root can mount a small disk");
        return;
    }
    for kilobytes in [4, 32, 128, 256] {
        let here = tempfile::tempdir().unwrap();
        let lines = format!(
            "mount -t tmpfs -o size={kilobytes}k none . && cd \"$PWD\" || exit 9\n\"$0\" \"$@\" --out o; status=$?\n\
             find . -name '*.tmp'; exit $status"
        );
        let mut command = Command::new("unshare");
        command.args(["--mount", "bash", "-c", &lines, env!("CARGO_BIN_EXE_knee")]).args(STUDY);
        let output = command.current_dir(here.path()).stdin(Stdio::null()).output().unwrap();
        assert_orderly(&output, &format!("{kilobytes} kB"), &["No space left on device"]);
        assert!(!String::from_utf8_lossy(&output.stdout).contains(".tmp"), "a part is left");
        assert!(
            !stderr(&output).contains(".knee-"),
            "a temporary name is in the message: {}",
            stderr(&output)
        );
    }
}
