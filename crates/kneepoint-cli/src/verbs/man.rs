// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee man`: manual pages, one for `knee` and one for each verb.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use serde_json::json;

use crate::failure::Failure;
use crate::files;

/// Arguments of `knee man`.
#[derive(Args)]
pub struct Arguments {
    /// Write every page as a file into this directory; without it, print the page of `knee`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes the pages of the command line `knee`.
pub fn man(arguments: &Arguments, knee: Command, as_json: bool) -> Result<(), Failure> {
    let mut knee = knee.disable_help_subcommand(true);
    knee.build();
    let Some(directory) = &arguments.out else {
        return files::print(page(&knee)?.1);
    };
    files::make_directory(directory)?;
    let verbs = knee.get_subcommands().cloned().collect::<Vec<_>>();
    let mut written = Vec::new();
    for command in std::iter::once(&knee).chain(&verbs) {
        let (name, text) = page(command)?;
        files::write(&directory.join(&name), text)?;
        written.push(name);
    }
    if as_json {
        return files::print_json(&json!({"directory": directory, "pages": written}));
    }
    files::print(format!("wrote {} pages; read one with: man {}/knee.1", written.len(), directory.display()))
}

/// File name and text of a page.
fn page(command: &Command) -> Result<(String, String), Failure> {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    man.render(&mut text)
        .map_err(|error| Failure::run(format!("cannot write a manual page: {error}"), "run it again"))?;
    Ok((man.get_filename(), String::from_utf8_lossy(&text).into_owned()))
}
