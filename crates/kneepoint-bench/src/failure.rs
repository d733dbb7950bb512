// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors, their messages and exit status.

use std::io;
use std::path::Path;

use kneepoint::scenario::Fault;
use serde::Serialize;
use serde_json::{Value, json};

/// Reasons why a verb stops.
#[derive(Debug)]
pub enum Failure {
    /// Invalid arguments. Status 2.
    Usage(Complaint),
    /// An invalid scenario. Status 2.
    Scenario {
        /// Its source file.
        origin: String,
        /// Its text.
        text: String,
        /// Its faults, each with its place.
        faults: Vec<Fault>,
    },
    /// An error while reading, writing or running. Status 1.
    Run(Complaint),
    /// Interrupted by the user; the message names what was kept. Status 130.
    Interrupted(String),
    /// Standard output was closed by its reader, as by `head`. Status 0, no message.
    ReaderLeft,
    /// All messages have been printed. Exits with this status.
    Said(u8),
    /// Not a failure: others make the remaining runs, and the last of them reports. Status 0.
    Left(Left),
}

/// The runs of a study of which others make a part.
#[derive(Debug, Serialize)]
pub struct Left {
    /// The part that was made here, as 1/2.
    pub shard: String,
    /// Distinct runs that the study requests.
    pub runs: usize,
    /// The kept runs among these.
    pub kept: usize,
    /// Runs left to others.
    pub left: usize,
}

impl Left {
    /// With the runs of a second study.
    pub fn and(self, kept: usize, left: usize) -> Left {
        Left { runs: self.runs + kept + left, kept: self.kept + kept, left: self.left + left, ..self }
    }

    /// The same in a sentence.
    pub fn text(&self) -> String {
        let Left { shard, runs, kept, left } = self;
        format!("shard {shard}: {kept} of {runs} runs are kept; {left} are left to the other shards")
    }
}

/// A problem and its remedy.
#[derive(Debug)]
pub struct Complaint {
    message: String,
    remedy: Option<String>,
}

impl Failure {
    /// An invalid argument.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::Usage(Complaint { message: message.into(), remedy: Some(remedy.into()) })
    }

    /// An error at run time.
    pub fn run(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::Run(Complaint { message: message.into(), remedy: Some(remedy.into()) })
    }

    /// A failed file operation, with the usual remedy.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => Some("check the path"),
            io::ErrorKind::PermissionDenied => {
                Some("choose another place, or change the permissions of this one")
            }
            io::ErrorKind::IsADirectory => Some("name a file, not a directory"),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                Some("this path, or a part of it, is a file instead of a directory; choose another path")
            }
            io::ErrorKind::StorageFull => Some("free some space, or choose a place on another disk"),
            io::ErrorKind::ReadOnlyFilesystem => Some("choose a place that can be written to"),
            _ => limit(error),
        };
        let message = format!("cannot {doing} `{}`: {error}", path.display());
        Failure::Run(Complaint { message, remedy: remedy.map(str::to_string) })
    }

    /// A refusal by the machine; where a limit is the reason, the remedy is to raise it.
    pub fn of_system(doing: &str, error: &io::Error) -> Failure {
        let remedy = limit(error).unwrap_or("`knee doctor` shows what this machine allows");
        Failure::run(format!("cannot {doing}: {error}"), remedy)
    }

    /// Standard output cannot be written to.
    pub fn output(error: &io::Error) -> Failure {
        let message = format!("cannot write to standard output: {error}");
        Failure::run(message, "check where it is redirected to")
    }

    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Scenario { .. } => 2,
            Failure::Run(_) => 1,
            Failure::Interrupted(_) => 130,
            Failure::ReaderLeft | Failure::Left(_) => 0,
            Failure::Said(status) => *status,
        }
    }

    /// The message for programs, in one shape for every failure; none if there is nothing left to say.
    pub fn json(&self) -> Option<Value> {
        let (message, remedy, faults) = match self {
            Failure::Usage(Complaint { message, remedy }) | Failure::Run(Complaint { message, remedy }) => {
                (message.clone(), remedy.clone(), Vec::new())
            }
            Failure::Scenario { origin, text, faults } => {
                let count = faults.len();
                let message = format!("`{origin}` has {count} fault{}", if count == 1 { "" } else { "s" });
                (message, None, self::faults(origin, text, faults))
            }
            Failure::Interrupted(message) => (message.clone(), None, Vec::new()),
            Failure::ReaderLeft | Failure::Said(_) | Failure::Left(_) => return None,
        };
        Some(json!({"status": self.status(), "message": message, "remedy": remedy, "faults": faults}))
    }
}

/// The remedy for an operation that a limit of the machine or of the shell refused.
pub fn limit(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Some("raise the limit on the size of files: `ulimit -f` shows it"),
        io::ErrorKind::QuotaExceeded => Some("free some space, or choose a place without your quota"),
        io::ErrorKind::OutOfMemory => Some("raise the limit on memory: `ulimit -v` shows it"),
        _ => match rustix::io::Errno::from_io_error(error)? {
            rustix::io::Errno::AGAIN => Some(
                "raise the limit on processes and threads, or end some: `ulimit -u` shows it; in a container, `pids.max` does",
            ),
            rustix::io::Errno::MFILE => Some("raise the limit on open files: `ulimit -n` shows it"),
            rustix::io::Errno::NFILE => {
                Some("the machine's limit on open files is reached: end other programs")
            }
            _ => None,
        },
    }
}

/// Faults as JSON, each with its place.
pub fn faults(origin: &str, text: &str, faults: &[Fault]) -> Vec<Value> {
    let one = |fault: &Fault| {
        let (line, column) = line_and_column(text, fault.span.start);
        json!({"file": origin, "line": line, "column": column, "message": fault.message, "remedy": fault.help})
    };
    faults.iter().map(one).collect()
}

impl Complaint {
    /// The problem.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The remedy.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }
}

/// Line and column of a byte of `text`, both from 1; columns count characters.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
