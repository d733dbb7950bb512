// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What can go wrong, how it reads, and the exit status it has.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use kneepoint::scenario::Fault;

/// Why a verb stops.
#[derive(Debug)]
pub enum Failure {
    /// An argument that cannot be. Status 2.
    Usage(Complaint),
    /// A scenario that cannot be. Status 2.
    Scenario {
        /// Where it was read from.
        origin: String,
        /// Its text.
        text: String,
        /// What is wrong with it, each with its place.
        faults: Vec<Fault>,
    },
    /// Reading, writing or running did not work. Status 1.
    Run(Complaint),
    /// Someone asked to stop; the message says what was kept. Status 130.
    Interrupted(String),
    /// Whoever read our output went away, as `head` does. Status 0, and nothing to say.
    ReaderLeft,
    /// The verb has said everything itself. This status.
    Said(u8),
}

/// What is wrong and what to do about it.
#[derive(Debug)]
pub struct Complaint {
    message: String,
    remedy: Option<String>,
}

impl Failure {
    /// An argument that cannot be.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::Usage(Complaint { message: message.into(), remedy: Some(remedy.into()) })
    }

    /// Something that did not work.
    pub fn run(message: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure::Run(Complaint { message: message.into(), remedy: Some(remedy.into()) })
    }

    /// A file operation that did not work, with what usually helps.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => Some("check the path; `knee init FILE` writes an example scenario"),
            io::ErrorKind::PermissionDenied => {
                Some("choose a place you may write to with --out DIR, or change its permissions")
            }
            io::ErrorKind::IsADirectory => Some("name a file, not a directory"),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                Some("a part of this path is a file where a directory is needed; choose another")
            }
            io::ErrorKind::StorageFull => Some("free some space, or choose another disk with --out DIR"),
            io::ErrorKind::ReadOnlyFilesystem => Some("choose a place you may write to with --out DIR"),
            _ => None,
        };
        let message = format!("cannot {doing} `{}`: {error}", path.display());
        Failure::Run(Complaint { message, remedy: remedy.map(str::to_string) })
    }

    /// Tells the reader on standard error and gives the status to exit with.
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
            // A closed standard error leaves nobody to tell.
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

/// Every fault at its line and column, with the text around it.
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

/// The line and column, both from 1, of a byte of `text`; columns count characters.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
