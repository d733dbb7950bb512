// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee completions`: a script that teaches a shell our arguments.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::arguments::Knee;
use crate::failure::Failure;
use crate::files;

/// For whom.
#[derive(Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn completions(arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Knee::command(), "knee", &mut script);
    files::print(String::from_utf8_lossy(&script))
}
