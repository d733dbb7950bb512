// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Failures on a terminal: their messages, and messages about refused arguments, in its width and colours.

use std::io::Write;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use clap::error::ErrorKind;
use kneepoint::report::json;
use kneepoint::scenario::Fault;
use kneepoint::table::number::counted;
use kneepoint::visible::{covered, visible};
pub use kneepoint_bench::failure::{Complaint, Failure, Left, faults, limit, line_and_column};

use crate::terminal;

/// Prints the message to standard error, as one line of JSON if requested, and returns the exit status.
pub fn report(failure: &Failure, as_json: bool) -> ExitCode {
    let text = if as_json { failure.json().map(|object| json::line(&object)) } else { text(failure) };
    if let Some(text) = text {
        // Standard error may be closed.
        let _ =
            writeln!(anstream::stderr(), "{}", if as_json { visible(&text) } else { text.as_str().into() });
    }
    ExitCode::from(failure.status())
}

/// The message for people; none if everything has been said.
fn text(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Usage(complaint) | Failure::Run(complaint) => Some(told(complaint)),
        Failure::Scenario { origin, text, faults } => Some(render_faults(origin, text, faults)),
        Failure::Interrupted(message) => Some(visible(message).into_owned()),
        Failure::ReaderLeft | Failure::Said(_) | Failure::Left(_) => None,
    }
}

fn told(complaint: &Complaint) -> String {
    let title = Level::ERROR.primary_title(terminal::message(complaint.message()));
    let remedy = complaint.remedy().map(|remedy| Level::HELP.message(terminal::message(remedy)));
    Renderer::styled().render(&[Group::with_title(title).elements(remedy)])
}

/// The arguments that clap refused, in our words for it: the first paragraph is the message, hints and usage are the remedy.
pub fn of_usage(usage: &clap::Error) -> Failure {
    let text = usage.render().to_string();
    if usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::usage(
            "arguments are missing",
            "`knee --help` shows the verbs, and `knee VERB --help` their arguments",
        );
    }
    let (message, remedy) = text.split_once("\n\n").unwrap_or((&text, ""));
    let line = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    Failure::usage(line(message.strip_prefix("error:").unwrap_or(message)), line(remedy))
}

/// All faults with line, column and source text, in the colours of a terminal.
pub fn render_faults(origin: &str, text: &str, faults: &[Fault]) -> String {
    render(origin, text, faults, &Renderer::styled())
}

/// The same without colours.
pub fn render_faults_plainly(origin: &str, text: &str, faults: &[Fault]) -> String {
    render(origin, text, faults, &Renderer::plain())
}

/// The most faults of one file that are shown: those of a file of another kind are as many as its lines.
const SHOWN: usize = 10;

fn render(origin: &str, text: &str, faults: &[Fault], renderer: &Renderer) -> String {
    // The text keeps its places.
    let (origin, text) = (visible(origin), covered(text));
    let groups = faults.iter().take(SHOWN).map(|fault| {
        let snippet = Snippet::source(&*text)
            .path(&*origin)
            .annotation(AnnotationKind::Primary.span(fault.span.clone()));
        let group = Level::ERROR.primary_title(terminal::message(&fault.message)).element(snippet);
        match &fault.help {
            Some(help) => group.element(Level::HELP.message(terminal::message(help))),
            None => group,
        }
    });
    let more = faults.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("… and {} of `{origin}`", counted(more, "more error")));
    groups.map(|group| renderer.render(&[group])).chain(more).collect::<Vec<_>>().join("\n\n")
}
