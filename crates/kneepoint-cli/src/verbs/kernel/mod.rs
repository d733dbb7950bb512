// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee kernel`: algorithms in this machine's kernel. Arguments here, actions in a file per question.

#[cfg(feature = "bpf")]
mod controllers;

use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Examples at the end of `knee kernel --help`.
pub const EXAMPLES: &str = "\
Examples:
  knee kernel list
  knee kernel load pert --set t1=5ms --set pmax=0.1    sockets may choose `pert` from now on
  iperf3 -c HOST -C pert                               one that does
  knee kernel status pert
  knee kernel default pert                             for all sockets that choose none
  knee kernel default --restore
  knee kernel unload --all";

/// The questions and commands.
#[derive(Args)]
#[command(arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Load a congestion control
    #[command(after_help = "Example:\n  knee kernel load pert --set t1=5ms --set pmax=0.1")]
    Load(Load),
    /// Unload congestion controls
    #[command(after_help = "Example:\n  knee kernel unload pert")]
    Unload(Unload),
    /// List the congestion controls of this build, and which are loaded
    List,
    /// Show a loaded congestion control: parameters, sockets, run time
    #[command(after_help = "Example:\n  knee kernel status pert --json")]
    Status(Status),
    /// Make a loaded congestion control the default of this network namespace
    #[command(after_help = "Examples:\n  knee kernel default pert\n  knee kernel default --restore")]
    Default(Default),
}

/// Arguments of `knee kernel load`.
#[derive(Args)]
struct Load {
    /// A congestion control listed by `knee kernel list`
    name: String,
    /// Set a parameter; `knee explain NAME` shows them
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// Replace it if it is loaded; sockets that use it keep the one they have
    #[arg(long)]
    replace: bool,
}

/// Arguments of `knee kernel unload`.
#[derive(Args)]
struct Unload {
    /// Congestion controls to unload
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// Unload every one, and remove what interrupted loads left
    #[arg(long, conflicts_with = "names")]
    all: bool,
}

/// Arguments of `knee kernel status`.
#[derive(Args)]
struct Status {
    /// A loaded congestion control
    name: String,
}

/// Arguments of `knee kernel default`.
#[derive(Args)]
struct Default {
    /// A loaded congestion control
    #[arg(required_unless_present = "restore")]
    name: Option<String>,
    /// Put the previous default back
    #[arg(long, conflicts_with = "name")]
    restore: bool,
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or_else(|| "write a parameter as NAME=VALUE, as in `t1=5ms`".to_string())?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

/// Dispatches to the question.
#[cfg(feature = "bpf")]
pub fn kernel(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    match &arguments.what {
        What::Load(arguments) => controllers::load(arguments, as_json),
        What::Unload(arguments) => controllers::unload(arguments, as_json),
        What::List => controllers::list(as_json),
        What::Status(arguments) => controllers::status(arguments, as_json),
        What::Default(arguments) => controllers::default(arguments, as_json),
    }
}

/// Says that this build has no kernel programs.
#[cfg(not(feature = "bpf"))]
pub fn kernel(_: &Arguments, _: bool) -> Result<(), Failure> {
    Err(Failure::run(
        "this build of knee has no kernel programs: clang, or the headers of libelf and zlib, were missing",
        "Linux only: `apt-get install -y clang libelf-dev zlib1g-dev pkg-config`, then `make build`",
    ))
}

#[cfg(feature = "bpf")]
impl From<kneepoint_linux::kernel::Error> for Failure {
    fn from(error: kneepoint_linux::kernel::Error) -> Failure {
        let make = if error.usage { Failure::usage } else { Failure::run };
        make(error.message, error.remedy)
    }
}
