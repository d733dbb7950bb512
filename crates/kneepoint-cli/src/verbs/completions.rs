// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee completions`: a script that makes a shell ask `knee` itself for suggestions ([`crate::completion`]).

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Example, in ~/.bashrc:\n  source <(knee completions bash)")]
pub struct Arguments {
    /// The shell
    #[arg(value_enum, ignore_case = true)]
    shell: Shell,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// The variable by which the script asks.
const VARIABLE: &str = "COMPLETE";
/// Bash breaks words at these, which schemes and `--set` have inside.
const WHOLE_WORDS: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=]/}\n";

/// Prints the script.
fn act(session: &Session, arguments: &Arguments, _: bool) -> Result<(), Failure> {
    let (shells, mut script) = (Shells::builtins(), Vec::<u8>::new());
    let Some(shell) = shells.completer(&arguments.shell.to_string()) else {
        return Err(Failure::usage(format!("`{}` is not supported", arguments.shell), "use another shell"));
    };
    let written = shell.write_registration(VARIABLE, "knee", "knee", "knee", &mut script);
    written.map_err(|error| Failure::run(format!("cannot write the script: {error}"), "run it again"))?;
    if arguments.shell == Shell::Bash {
        script.extend(WHOLE_WORDS.as_bytes());
    }
    session.print(String::from_utf8_lossy(&script))
}
