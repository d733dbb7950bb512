// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee completions`: a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::files;

/// Arguments of `knee completions`.
#[derive(Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script for the command line `knee`.
pub fn completions(arguments: &Arguments, mut knee: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut knee, "knee", &mut script);
    files::print(String::from_utf8_lossy(&script))
}
