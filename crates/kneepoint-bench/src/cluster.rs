// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs made on a cluster: `--on ray` hands the missing runs of a study to the Python package, which has Ray make them and keeps their
//! files. The verb then reads them back, as it reads back every kept run.
//!
//! ```text
//! knee ── a job, as JSON ───────────────────────────────▶ python3 -m kneepoint ──▶ workers
//!      ◀── lines of JSON: who answers, then progress, ───  keeps each file that arrives
//!          or a failure
//! ```

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use kneepoint::visible::visible;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::session::{Bar, Session};

/// The environment variable that names the interpreter.
const VARIABLE: &str = "KNEE_PYTHON";
/// The time between two checks of Ctrl-C.
const TICK: Duration = Duration::from_millis(100);

/// The address of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster(String);

impl FromStr for Cluster {
    type Err = String;

    fn from_str(text: &str) -> Result<Cluster, String> {
        let valid = text.strip_prefix("ray://").map_or(text == "ray", |address| {
            // The colons of an IPv6 address are within brackets.
            let (host, port) = match address.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
                _ => (address, None),
            };
            let possible = |written: &str| written.parse::<u16>().is_ok_and(|number| number > 0);
            !host.is_empty() && !host.contains('/') && port.is_none_or(possible)
        });
        if !valid {
            return Err("write ray for this machine, or ray://HOST:PORT for a cluster that is running; \
                        without a port it is 10001"
                .into());
        }
        Ok(Cluster(text.to_string()))
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The runs of a study that are not kept on this machine.
#[derive(Serialize)]
pub struct Job<'a> {
    /// The folder of kept runs.
    pub folder: &'a Path,
    /// The store that the folder is a copy of, where there is one.
    pub url: Option<&'a str>,
    /// Names, each with about how much work the run is, and the bytes of memory that it takes.
    pub missing: Vec<(&'a str, u64, u64)>,
    /// The names of runs that the folder has.
    pub kept: Vec<&'a str>,
    /// Whether runs that the store has are repeated.
    pub fresh: bool,
    /// The most parallel runs.
    pub jobs: Option<u16>,
}

/// Additions for Python: the arguments that workers repeat.
#[derive(Serialize)]
struct Order<'a> {
    on: &'a str,
    words: &'a [String],
    input: Option<&'a str>,
    #[serde(flatten)]
    job: &'a Job<'a>,
}

/// A line from Python. The first says which version of the package answers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Greeting { kneepoint: String },
    Progress { done: u64, total: u64, message: String },
    Failure { status: u8, message: String, remedy: Option<String> },
}

impl Cluster {
    /// Makes runs elsewhere and keeps them. Returns early after Ctrl-C.
    pub fn make(&self, session: &Session, job: &Job, bar: &dyn Bar) -> Result<(), Failure> {
        let python = python();
        let order = Order { on: &self.0, words: session.words(), input: session.input(), job };
        let mut child = start(&python, &order)?;
        let followed = follow(session, &mut child, bar).inspect_err(|_| stop(&child));
        let ended = child.wait().map_err(|error| Failure::io("wait for", &python, &error))?;
        let followed = followed?;
        if session.asked() {
            return Ok(());
        }
        if !followed.knows_us() {
            let (message, remedy) = stranger(&python, followed.version);
            return Err(Failure::run(format!("--on {self}: {message}"), remedy));
        }
        match followed.last {
            Some(Line::Failure { status, message, remedy }) => {
                let remedy = remedy.unwrap_or_else(|| "finished runs are kept; run it again".into());
                Err(if status == 2 { Failure::usage(message, remedy) } else { Failure::run(message, remedy) })
            }
            Some(Line::Progress { .. }) if ended.success() => Ok(()),
            _ => Err(Failure::run(
                format!("the driver of the cluster, `{}`, broke off: {ended}", python.display()),
                "finished runs are kept; the same command continues",
            )),
        }
    }
}

/// The interpreter: the named one, else the one of the environment in which this program is installed, else the one on
/// the path.
fn python() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let beside = || std::env::current_exe().ok()?.parent().map(|folder| folder.join("python3"));
    named.or_else(|| beside().filter(|path| path.exists())).unwrap_or_else(|| PathBuf::from("python3"))
}

/// Prints the package that an interpreter finds under this name.
const PROBE: &str = "\
import importlib.util
found = importlib.util.find_spec('kneepoint')
print('Python has', found.origin if found else 'none')";

/// The fault of a program that does not answer as this version of the package, and the remedy.
fn stranger(python: &Path, version: Option<String>) -> (String, String) {
    let named = python.display();
    let wheel = format!(
        "install the wheel kneepoint-lab of `make wheel` for it, or name another Python with {VARIABLE}"
    );
    if let Some(version) = version {
        let own = env!("CARGO_PKG_VERSION");
        return (format!("`{named}` has version {version} of the package, and this program is {own}"), wheel);
    }
    let probed = Command::new(python).args(["-c", PROBE]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let said = probed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    match said.trim().strip_prefix("Python has ") {
        None => (
            format!("`{named}` is not a Python interpreter"),
            format!("name one that has the package with {VARIABLE}, as in {VARIABLE}=/usr/bin/python3"),
        ),
        Some("none") => (format!("`{named}` does not have the package kneepoint"), wheel),
        Some(file) => (
            format!("`{named}` has a package called kneepoint that does not answer as this version: {file}"),
            wheel,
        ),
    }
}

/// Starts Python with an order, out of reach of the terminal's Ctrl-C, which is passed on once.
fn start(python: &Path, order: &Order) -> Result<Child, Failure> {
    let mut command = Command::new(python);
    command.args(["-m", "kneepoint"]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| {
        Failure::run(
            format!("--on {} needs Python, and `{}` does not start: {error}", order.on, python.display()),
            format!("install Python 3.10 or later with the package, or name an interpreter with {VARIABLE}"),
        )
    })?;
    if let Some(mut pipe) = child.stdin.take() {
        // A reader that ends early reports the reason.
        let _ = serde_json::to_writer(&mut pipe, order).map(|()| pipe.flush());
    }
    Ok(child)
}

/// Python's message.
#[derive(Default)]
struct Followed {
    /// The version with which it greeted.
    version: Option<String>,
    /// The last progress, or the failure.
    last: Option<Line>,
}

impl Followed {
    /// Whether its greeting has this version.
    fn knows_us(&self) -> bool {
        self.version.as_deref() == Some(env!("CARGO_PKG_VERSION"))
    }
}

/// Shows the progress until the call ends, and passes Ctrl-C on.
fn follow(session: &Session, child: &mut Child, bar: &dyn Bar) -> Result<Followed, Failure> {
    let lines = lines(child)?;
    let (mut followed, mut stopping) = (Followed::default(), false);
    loop {
        if session.asked() && !stopping {
            stopping = true;
            stop(child);
        }
        match lines.recv_timeout(TICK) {
            Ok(Line::Greeting { kneepoint }) => followed.version = Some(kneepoint),
            // Another process would compute results that are never used.
            Ok(_) if !followed.knows_us() => stop(child),
            Ok(line) => {
                if let Line::Progress { done, total, message } = &line {
                    bar.set_total(*total);
                    bar.set_done(*done);
                    bar.say(visible(message).into_owned());
                }
                followed.last = Some(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(followed),
        }
    }
}

/// Interrupts Python, which may have ended by itself.
fn stop(child: &Child) {
    let _ = kill_process(Pid::from_child(child), Signal::INT);
}

/// Python's output, read on its own thread.
fn lines(child: &mut Child) -> Result<Receiver<Line>, Failure> {
    let (sender, receiver) = channel();
    if let Some(pipe) = child.stdout.take() {
        let reading = move || {
            let lines = BufReader::new(pipe).lines().map_while(Result::ok);
            for line in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().spawn(reading);
        started.map_err(|error| Failure::of_system("start a thread", &error))?;
    }
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_this_machine_or_has_an_address() {
        for address in
            ["ray", "ray://head:10001", "ray://head", "ray://10.0.0.1", "ray://[::1]", "ray://[::1]:7"]
        {
            assert_eq!(address.parse::<Cluster>().unwrap().to_string(), address);
        }
        for address in [
            "",
            "slurm",
            "ray://",
            "ray:head",
            "rays",
            "ray://:1",
            "ray://head:",
            "ray://head:0",
            "ray://head:x",
            "ray://a/b",
        ] {
            assert!(address.parse::<Cluster>().unwrap_err().contains("ray://HOST:PORT"), "{address}");
        }
    }
}
