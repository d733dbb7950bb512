// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee man`: manual pages, one for `knee` and one for each verb and its verbs.

mod markdown;

use std::path::PathBuf;

use clap::builder::{Resettable, StyledStr};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::json;

use super::{Knee, Verb};
use crate::failure::Failure;

/// Print or write manual pages
#[derive(Args)]
#[command(after_help = "Example:\n  knee man --out ~/.local/share/man/man1 && man knee")]
pub struct Arguments {
    /// Write every page as a file into this directory; without it, print the page of `knee`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print all verbs and options as one page in Markdown
    #[arg(long, conflicts_with = "out")]
    markdown: bool,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Writes the pages of the command line `knee`.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let mut knee = Knee::command().disable_help_subcommand(true);
    knee.build();
    let Some(directory) = &arguments.out else {
        let (name, text) =
            if arguments.markdown { ("knee.md".to_string(), markdown::page(&knee)) } else { page(&knee)? };
        return match as_json {
            true => session.print_json(&json!({"directory": null, "pages": [name], "text": text})),
            false => session.print(text),
        };
    };
    files::make_directory(directory)?;
    let mut written = Vec::new();
    for command in all(&knee) {
        let (name, text) = page(command)?;
        files::write(&directory.join(&name), text)?;
        written.push(name);
    }
    if as_json {
        return session.print_json(&json!({"directory": directory, "pages": written, "text": null}));
    }
    session.print(format!("wrote {} pages; read one with: man {}/knee.1", written.len(), directory.display()))
}

/// A command and all below it.
fn all(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
}

/// File name and text of a page. Text after the options keeps its lines: examples are to be copied.
fn page(command: &Command) -> Result<(String, String), Failure> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let man = Man::new(
        command
            .clone()
            .after_help(Resettable::<StyledStr>::Reset)
            .after_long_help(Resettable::<StyledStr>::Reset),
    );
    let mut text = Vec::new();
    man.render(&mut text)
        .map_err(|error| Failure::run(format!("cannot write a manual page: {error}"), "run it again"))?;
    let mut roff = Roff::new();
    if let Some(after) = after {
        roff.control("SH", ["NOTES"]);
        for paragraph in after.split("\n\n") {
            roff.control("PP", []);
            let verbatim = paragraph.contains("\n  ");
            // Far to the left, since a line of 79 characters is not to be broken.
            if verbatim {
                roff.control("in", ["1n"]).control("nf", []);
            }
            for line in paragraph.lines() {
                roff.text([roman(line)]);
            }
            if verbatim {
                roff.control("fi", []).control("in", []);
            }
        }
    }
    // Without hyphens in names, and without spaces between words that a copy would have.
    let text = String::from_utf8_lossy(&text).replacen("\n.SH NAME", "\n.nh\n.ad l\n.SH NAME", 1);
    Ok((man.get_filename(), text + &roff.to_roff()))
}
