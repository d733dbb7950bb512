// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors, their messages and exit status.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kneepoint::scenario::Fault;

/// Reasons why a verb stops.
#[derive(Debug)]
pub enum Failure {
    /// Invalid arguments. Status 2.
    Usage(Complaint),
    /// An invalid scenario. Status 2.
    Scenario {
        /// File it was read from.
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
            _ => None,
        };
        let message = format!("cannot {doing} `{}`: {error}", path.display());
        Failure::Run(Complaint { message, remedy: remedy.map(str::to_string) })
    }

    /// Prints the message to standard error and returns the exit status.
    pub fn report(self) -> ExitCode {
        let (status, text) = match &self {
            Failure::Usage(complaint) => (2, complaint.render()),
            Failure::Scenario { origin, text, faults } => (2, render_faults(origin, text, faults)),
            Failure::Run(complaint) => (1, complaint.render()),
            Failure::Interrupted(message) => (130, message.clone()),
            Failure::ReaderLeft => (0, String::new()),
            Failure::Said(status) => (*status, String::new()),
        };
        if !text.is_empty() {
            // Standard error may be closed.
            let _ = writeln!(anstream::stderr(), "{text}");
        }
        ExitCode::from(status)
    }
}

impl Complaint {
    fn render(&self) -> String {
        let title = Level::ERROR.primary_title(&self.message);
        let remedy = self.remedy.iter().map(|remedy| Level::HELP.message(remedy));
        Renderer::styled().render(&[Group::with_title(title).elements(remedy)])
    }
}

/// All faults with line, column and source text.
pub fn render_faults(origin: &str, text: &str, faults: &[Fault]) -> String {
    let groups = faults.iter().map(|fault| {
        let snippet =
            Snippet::source(text).path(origin).annotation(AnnotationKind::Primary.span(fault.span.clone()));
        let group = Level::ERROR.primary_title(&fault.message).element(snippet);
        match &fault.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        }
    });
    let renderer = Renderer::styled();
    groups.map(|group| renderer.render(&[group])).collect::<Vec<_>>().join("\n\n")
}

/// Line and column of a byte of `text`, both from 1; columns count characters.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
