// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee init`: an annotated example scenario.

use std::path::PathBuf;

use clap::Args;
use kneepoint::scenario;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::json;

use super::Verb;
use crate::failure::Failure;

/// Write an annotated example scenario
#[derive(Args)]
#[command(
    after_help = "Examples:\n  knee init my.toml && knee check my.toml && knee run my.toml\n  knee init --all -    every section and field"
)]
pub struct Arguments {
    /// The file to write; `-` for standard output
    #[arg(default_value = "scenario.toml")]
    file: PathBuf,
    /// Write every section and field, with its meaning and its range, instead of the usual ones
    #[arg(long)]
    all: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Writes the example.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let file = &arguments.file;
    let text = if arguments.all { scenario::example() } else { scenario::brief_example() };
    if file.as_os_str() == "-" {
        return match as_json {
            true => session.print_json(&json!({"file": null, "text": text})),
            false => session.print(text),
        };
    }
    if file.is_dir() {
        let message = format!("`{}` is a directory", file.display());
        return Err(Failure::run(message, "name a file in it, as in `knee init DIR/scenario.toml`"));
    }
    // A dangling symbolic link exists, too.
    if file.symlink_metadata().is_ok() && !arguments.force {
        let message = format!("`{}` exists already and was not changed", file.display());
        return Err(Failure::run(message, "choose another file, or overwrite it with --force"));
    }
    files::write(file, &text)?;
    if as_json {
        return session.print_json(&json!({"file": file, "text": text}));
    }
    session.print(format!("wrote {0}\nnext: knee run {0}", file.display()))
}
