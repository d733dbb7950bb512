// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kernel programs and emulations, loaded, killed and cleaned up many times, as root; else skipped.
//!
//! A separate binary, because it counts leftovers on the machine: no other test may emulate or load meanwhile.
//!
//! Short by default. `make stress-kernel` sets KNEE_CYCLES and KNEE_FLOWS, and KNEE_TABLE, a file for the numbers.
#![cfg(all(target_os = "linux", feature = "bpf"))]
#![allow(clippy::disallowed_methods, reason = "kernels run in real time")]

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kneepoint::scenario::parse;
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::units::{Span, Time};
use kneepoint_linux::kernel::{self, CONTROLLERS};
use kneepoint_linux::live::{self, Transfer};
use kneepoint_linux::namespace::Namespace;

/// The time that processes of a killed emulation may take to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The interval of progress reports.
const TELL: Duration = Duration::from_secs(10);

/// The kernel is one, so tests that change it take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints it whether or not the test passes: output of the macros is hidden for a passing test.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn able() -> bool {
    let need = kernel::needs().into_iter().find(|need| need.required && !need.met);
    let lack = need.map(|need| format!("{} ({}): {}", need.name, need.found, need.remedy));
    let lack = lack.or_else(|| live::missing(&[]));
    if let Some(lack) = &lack {
        say(&format!("SKIPPED: {lack}"));
    }
    lack.is_none()
}

/// A number that the caller of the test may set.
fn given<T: FromStr>(name: &str, otherwise: T) -> T {
    env::var(name).map_or(otherwise, |text| text.parse().ok().expect("a number"))
}

/// A line of the table in docs/kernel.md, if requested.
fn record(tried: &str, times: usize, began: Instant, seen: &str) {
    let Ok(file) = env::var("KNEE_TABLE") else { return };
    let day = Command::new("date").args(["+%F"]).output().expect("a date").stdout;
    let day = String::from_utf8_lossy(&day).trim().to_string();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a kernel");
    let mut table = OpenOptions::new().append(true).create(true).open(file).expect("a table");
    let seconds = began.elapsed().as_secs();
    writeln!(table, "| {tried} | {times} | {seconds} | {seen} | {day}, Linux {} |", release.trim())
        .expect("written");
}

fn knee() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knee"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs it to its end; returns its error, if any.
fn run(words: &[&str]) -> Result<(), String> {
    let output = knee().args(words).stderr(Stdio::piped()).output().expect("knee starts");
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn registered(name: &str) -> bool {
    live::available().iter().any(|one| one == name)
}

fn pinned(folder: &str) -> bool {
    Path::new("/sys/fs/bpf/knee").join(folder).exists()
}

/// Devices of the calling thread's network namespace.
fn devices() -> Vec<String> {
    let table = fs::read_to_string("/proc/thread-self/net/dev").expect("a table");
    table.lines().skip(2).filter_map(|line| Some(line.split_once(':')?.0.trim().to_string())).collect()
}

/// Processes with this word among their arguments.
fn processes(word: &str) -> usize {
    let folders = fs::read_dir("/proc").expect("proc").flatten();
    let lines = folders.filter_map(|one| fs::read(one.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|one| one == word.as_bytes())).count()
}

/// Kills a process that has run for some part of `most`: every moment occurs, because multiples of the golden section
/// never repeat.
fn kill(child: Child, cycle: usize, most: Duration) {
    thread::sleep(most.mul_f64((cycle as f64 * 0.618_034).fract()));
    kill_now(child);
}

fn kill_now(mut child: Child) {
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().expect("it ends");
}

/// A controller of this name was loaded by another program.
fn taken(name: &str) -> bool {
    registered(name) || pinned(name)
}

/// Loads a controller and unloads it.
fn load(name: &str, _: usize) {
    match run(&["kernel", "load", name]) {
        // By another program, just now.
        Err(said) if said.contains("is loaded already") => return,
        other => other.expect("it loads"),
    }
    assert!(registered(name) && pinned(name), "{name} is not loaded");
    run(&["kernel", "unload", name]).expect("it unloads");
    assert!(!taken(name), "{name} is left after it was unloaded");
}

/// Kills a loader.
fn kill_loader(name: &str, cycle: usize) {
    let loader = knee().args(["kernel", "load", name]).spawn().expect("knee starts");
    kill(loader, cycle, Duration::from_millis(90));
    if let Err(said) = run(&["kernel", "unload", name]) {
        assert!(said.contains("is not loaded"), "{said}");
    }
    assert!(!taken(name), "{name} is left of a loader that was killed");
}

/// Emulations whose program ran when they were killed.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Kills an emulation between a program that sends and this namespace.
fn kill_emulation(_: &str, cycle: usize) {
    let word = format!("knee-endurance-{}-{cycle}", std::process::id());
    let send = "while :; do echo data > /dev/udp/$KNEE_PEER/9; done";
    let mut command = knee();
    command.args(["emulate", "--rate", "20mbit", "--delay", "2ms", "--", "bash", "-c", send, &word]);
    // Nothing that it starts belongs to this process's group.
    let emulation = command.process_group(0).spawn().expect("knee starts");
    thread::sleep(Duration::from_millis(250).mul_f64((cycle as f64 * 0.618_034).fract()));
    // The word is in the arguments of the emulator, of the program and of the two processes that wait for it.
    BUSY.fetch_add(usize::from(devices() != ["lo"] && processes(&word) == 4), Ordering::Relaxed);
    kill_now(emulation);
    let killed = Instant::now();
    while processes(&word) > 0 || devices() != ["lo"] {
        let (left, devices) = (processes(&word), devices());
        assert!(killed.elapsed() < PATIENCE, "{left} processes and the devices {devices:?} are left");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Kills a process that attaches a queue to a device.
fn kill_attacher(_: &str, cycle: usize) {
    let tc = |words: &[&str]| {
        let output = Command::new("tc").args(words).output().expect("tc starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    tc(&["qdisc", "add", "dev", "lo", "root", "tbf", "rate", "20mbit", "burst", "3kb", "limit", "300kb"]);
    let before = tc(&["qdisc", "show", "dev", "lo"]);
    let attach = ["kernel", "aqm", "pisa", "--dev", "lo"];
    kill(knee().args(attach).spawn().expect("knee starts"), cycle, Duration::from_millis(60));
    run(&[&attach[..], &["--replace"]].concat()).expect("it replaces the rest");
    run(&["kernel", "aqm", "remove", "--dev", "lo"]).expect("it is removed");
    assert_eq!(tc(&["qdisc", "show", "dev", "lo"]), before);
    tc(&["qdisc", "del", "dev", "lo", "root"]);
    let folders = fs::read_dir("/sys/fs/bpf/knee").into_iter().flatten().flatten();
    let namespace = fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    let namespace = namespace.to_string_lossy().trim_matches(|c: char| !c.is_ascii_digit()).to_string();
    let left = folders.map(|folder| folder.file_name().to_string_lossy().into_owned());
    let left = left.filter(|name| name.contains(&namespace)).collect::<Vec<_>>();
    assert!(left.is_empty(), "pins are left: {left:?}");
}

/// The action, and the number of cycles per try.
type Trial = (&'static str, usize, fn(&str, usize));
const PROGRAMS: [Trial; 3] = [
    ("loaded and unloaded", 1, load),
    ("loaders killed", 8, kill_loader),
    ("queues attached by a process that was killed", 64, kill_attacher),
];
const EMULATIONS: [Trial; 1] = [("emulations killed", 1, kill_emulation)];

#[test]
fn an_emulation_killed_at_any_moment_leaves_nothing() {
    let _turn = turn();
    if !able() {
        return;
    }
    let cycles = given("KNEE_CYCLES", 160) / 16;
    inside(move || cycle(cycles, &EMULATIONS, |_| false));
    let busy = BUSY.load(Ordering::Relaxed);
    say(&format!("{busy} of the emulations had their program running"));
    assert!(busy > 0, "none was killed at work");
}

/// In its own namespace, whose devices no other process changes.
fn inside(work: impl FnOnce() + Send + 'static) {
    let done = Namespace::new().unwrap().run(move || {
        work();
        Ok(())
    });
    done.unwrap();
}

/// Runs it as a user without rights; returns its output and its errors.
fn as_user(words: &[&str]) -> [String; 2] {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", env!("CARGO_BIN_EXE_knee")]);
    let output = command.args(words).stdin(Stdio::null()).output().expect("setpriv starts");
    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_user_without_root_hears_what_is_loaded_and_what_only_root_does() {
    let _turn = turn();
    if !able() || taken("pert") {
        return;
    }
    let loaded = || {
        let [listed, _] = as_user(&["kernel", "list"]);
        let line = listed.lines().find(|line| line.starts_with("pert ")).expect("a line").to_string();
        line.split_whitespace().nth(1).map(str::to_string)
    };
    let status = || as_user(&["kernel", "status", "pert"])[1].clone();
    assert_eq!(loaded().as_deref(), Some("-"));
    assert!(status().contains("`pert` is not loaded"), "{}", status());
    run(&["kernel", "load", "pert"]).expect("it loads");
    let (seen, said) = (loaded(), status());
    run(&["kernel", "unload", "pert"]).expect("it unloads");
    assert_eq!(seen.as_deref(), Some("loaded"));
    assert!(said.contains("`pert` is loaded; only root sees"), "{said}");
    for words in [
        &["load", "pert"][..],
        &["unload", "pert"],
        &["unload", "--all"],
        &["default", "pert"],
        &["default", "--restore"],
        &["top", "--once"],
        &["trace", "--duration", "1s"],
        &["aqm", "pisa", "--dev", "lo"],
        &["aqm", "status", "--dev", "lo"],
        &["aqm", "remove", "--dev", "lo"],
        &["hint", "--dev", "lo"],
        &["hint", "status", "--dev", "lo"],
        &["hint", "remove", "--dev", "lo"],
        &["rate", "list"],
        &["rate", "set", "192.0.2.1", "5mbit"],
        &["rate", "clear"],
    ] {
        let [_, refused] = as_user(&[&["kernel"], words].concat());
        assert!(
            refused.contains("only root sees and changes") && refused.contains("run it with sudo"),
            "{words:?}: {refused}"
        );
    }
}

#[test]
fn nobody_but_root_holds_the_lock_or_the_folder_of_pins() {
    let _turn = turn();
    if !able() {
        return;
    }
    if Path::new("/sys/fs/bpf/knee").exists() {
        say("SKIPPED: programs of knee are loaded already, in /sys/fs/bpf/knee");
        return;
    }
    let user = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).args(words);
        command.stderr(Stdio::null()).status().expect("setpriv starts").success()
    };
    run(&["kernel", "unload", "--all"]).expect("nothing is loaded");
    assert!(!user(&["flock", "/run/knee/lock", "true"]), "a user opens the lock");
    // Every user may make a name there, even a link to a folder that root's `knee` would empty.
    let victim = std::env::temp_dir().join(format!("knee-victim-{}", std::process::id()));
    fs::create_dir_all(victim.join("pert")).expect("a folder");
    fs::write(victim.join("pert/file"), "kept").expect("a file");
    let target = victim.display().to_string();
    if user(&["ln", "-s", &target, "/sys/fs/bpf/knee"]) {
        let refused = run(&["kernel", "unload", "pert"]).expect_err("it is a stranger's");
        fs::remove_file("/sys/fs/bpf/knee").expect("the link is removed");
        assert!(refused.contains("is not a folder of knee's: user 65534 made it"), "{refused}");
    }
    assert!(victim.join("pert/file").exists());
    fs::remove_dir_all(victim).expect("removed");
}

#[test]
fn whatever_is_killed_leaves_nothing() {
    let _turn = turn();
    if !able() {
        return;
    }
    let cycles = given("KNEE_CYCLES", 32);
    inside(move || cycle(cycles, &PROGRAMS, taken));
}

/// Tries everything `cycles` times, each time with another controller; `passes` says which controllers to skip.
fn cycle(cycles: usize, trials: &[Trial], passes: fn(&str) -> bool) {
    let (began, mut told) = (Instant::now(), Instant::now());
    let mut times = vec![0; trials.len()];
    let mut passed_over = 0;
    for cycle in 0..cycles {
        let name = CONTROLLERS[cycle % CONTROLLERS.len()].name;
        if passes(name) {
            passed_over += 1;
            continue;
        }
        for ((_, every, trial), done) in trials.iter().zip(&mut times) {
            if (cycle / CONTROLLERS.len() + cycle).is_multiple_of(*every) {
                trial(name, cycle);
                *done += 1;
            }
        }
        if told.elapsed() > TELL {
            told = Instant::now();
            let left = began.elapsed().mul_f64((cycles - cycle) as f64 / (cycle + 1) as f64);
            say(&format!("cycle {} of {cycles}, {} s to go", cycle + 1, left.as_secs()));
        }
    }
    assert!(passed_over < cycles, "another program has loaded every controller");
    if passed_over > 0 {
        say(&format!("{passed_over} cycles skipped: another program had loaded the controller"));
    }
    for ((what, ..), done) in trials.iter().zip(times) {
        say(&format!("{done} {what}: nothing was left"));
        record(what, done, began, "nothing");
    }
}

/// Acknowledged data by flow, and the flows whose senders reported their state.
#[derive(Default)]
struct Data {
    acked: BTreeMap<u32, u64>,
    reporting: BTreeSet<u32>,
}

impl Observer for Data {
    fn on(&mut self, _: Time, event: &Event) {
        match event {
            Event::Acked { flow, acked, .. } => *self.acked.entry(flow.0).or_default() += acked.0,
            Event::Sample { view } => {
                let silent = self.acked.keys().filter(|flow| !self.reporting.contains(flow));
                let heard = silent.copied().filter(|flow| !view.controller(FlowId(*flow)).is_empty());
                let heard = heard.collect::<Vec<_>>();
                self.reporting.extend(heard);
            }
            _ => {}
        }
    }
}

/// The kernel's complaints since a line of its log, where the log can be read.
fn complaints(since: usize) -> (usize, Vec<String>) {
    let log = Command::new("dmesg").output().map(|output| output.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&log).lines().map(str::to_string).collect::<Vec<_>>();
    let bad =
        |line: &String| ["BUG:", "WARNING:", "Oops", "soft lockup"].iter().any(|one| line.contains(one));
    (lines.len(), lines.into_iter().skip(since).filter(bad).collect())
}

#[test]
fn every_one_of_many_flows_gets_data_and_reports() {
    let _turn = turn();
    if !able() || taken("pert") {
        say("SKIPPED: many flows, where the machine cannot or another program has loaded `pert`");
        return;
    }
    let count = given("KNEE_FLOWS", 60);
    let began = Instant::now();
    let (log, _) = complaints(0);
    run(&["kernel", "load", "pert"]).expect("it loads");
    // A SYN that the crowd's slow starts push out of the queue is retransmitted after one second, two and four more.
    let seconds = 6 + count / 20;
    let scenario = format!(
        "[run]\nduration = '{seconds}s'\nsample = '100ms'\n[tcp]\npreset = 'linux'\n[topology]\nkind = 'dumbbell'\nrate = '100mbit'\nrtt = '20ms'\n\
         buffer = '2bdp'\n[[flows]]\ncount = {count}\ncc = 'pert'\n"
    );
    let valid = parse(&scenario).unwrap().cases.remove(0).valid;
    let way = valid.groups()[0].pairs[0];
    // Within two seconds, so that slow starts do not all fall together.
    let start = |number: usize| Span::from_micros(2_000_000 * number as u64 / count as u64);
    let transfers = (0..count).map(|number| Transfer::endless("pert", start(number), 0, way));
    let transfers = transfers.collect::<Vec<_>>();
    let plan = live::Plan { transfers, ..live::Plan::default() };
    let outcome = live::experiment(&valid, 1, plan, Data::default(), &|| false);
    run(&["kernel", "unload", "pert"]).expect("it unloads");
    let Data { acked: data, reporting } = outcome.unwrap().watch;
    let starved = (0..count as u32).filter(|flow| data.get(flow).copied().unwrap_or(0) == 0).count();
    assert_eq!((data.len(), starved), (count, 0), "flows with data, and without");
    let silent = data.iter().filter(|(flow, _)| !reporting.contains(flow)).collect::<Vec<_>>();
    assert!(
        silent.is_empty(),
        "flows and the bytes that they were acknowledged, without a record: {silent:?}"
    );
    assert_eq!(complaints(log).1, Vec::<String>::new(), "the kernel complains");
    let least = data.values().min().copied().unwrap_or_default();
    let seen = format!("every flow got data (at least {} kB) and reported", least / 1000);
    say(&format!("{count} flows: {seen}"));
    record("flows at once over 100 Mbit/s, 20 ms", count, began, &seen);
}
