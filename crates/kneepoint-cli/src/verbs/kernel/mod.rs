// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee kernel`: algorithms in this machine's kernel. Arguments here, actions in a file per question.

#[cfg(feature = "bpf")]
mod controllers;
#[cfg(feature = "bpf")]
mod filters;
#[cfg(feature = "bpf")]
mod rates;
#[cfg(feature = "bpf")]
mod records;

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use kneepoint::units::{Rate, Span};
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;

/// Examples at the end of `knee kernel --help`.
const EXAMPLES: &str = "\
Examples:
  knee kernel list
  knee kernel load pert --set t1=5ms --set pmax=0.1    sockets may choose `pert` from now on
  iperf3 -c HOST -C pert                               one that does
  knee kernel status pert
  knee kernel default pert                             for all sockets that choose none
  knee kernel default --restore
  knee kernel unload --all
  knee kernel hint --dev eth0                          the sender's window in the DSCP bits
  knee kernel aqm pisa --dev eth1 --qref 50pkt         a queue that reads it, at a router";

/// Run algorithms in this machine's kernel
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

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
    /// Show the flows of loaded congestion controls, live
    #[command(after_help = "Examples:\n  knee kernel top\n  knee kernel top pert --once --json")]
    Top(Top),
    /// Record what loaded congestion controls report, as CSV and Parquet
    #[command(after_help = "Example:\n  knee kernel trace pert --duration 10s --out trace")]
    Trace(Trace),
    /// Judge the packets that enter a device's queue by PI, PISA or PIMC
    #[command(
        after_help = "The root queue of the device must count its packets, as tbf and htb do.\n\nExamples:\n  \
                      tc qdisc replace dev eth1 root tbf rate 20mbit burst 3kb limit 300kb\n  \
                      knee kernel aqm pisa --dev eth1 --qref 50pkt\n  \
                      knee kernel aqm status --dev eth1\n  \
                      knee kernel aqm remove --dev eth1"
    )]
    Aqm(Aqm),
    /// Write the window of a device's senders into the DSCP bits of their packets, for PISA and PIMC
    #[command(after_help = "Examples:\n  knee kernel hint --dev eth0\n  knee kernel hint remove --dev eth0")]
    Hint(Hint),
    /// Tell RATCP's senders the rate of a path
    #[command(
        after_help = "Examples:\n  knee kernel rate set 10.77.0.2 5mbit\n  knee kernel rate list\n  knee kernel rate clear"
    )]
    Rate(Rates),
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
    /// For RATCP: the cgroup whose sockets read and write rates in a TCP option [default: the root of all]
    #[arg(long, value_name = "DIR")]
    cgroup: Option<PathBuf>,
}

/// Arguments of `knee kernel unload`.
#[derive(Args)]
struct Unload {
    /// Congestion controls to unload
    #[arg(required_unless_present = "all")]
    names: Vec<String>,
    /// Unload all of them, and remove leftovers of interrupted loads
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

/// Arguments of `knee kernel top`.
#[derive(Args)]
struct Top {
    /// Congestion controls; all that are loaded by default
    names: Vec<String>,
    /// Print the table of one second and end
    #[arg(long)]
    once: bool,
}

/// Arguments of `knee kernel trace`. A record goes to one reader only: not during `top`.
#[derive(Args)]
struct Trace {
    /// Congestion controls; all that are loaded by default
    names: Vec<String>,
    /// Write to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Stop after this time; at Ctrl-C by default
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
}

/// A device.
#[derive(Args)]
struct Place {
    /// The device
    #[arg(long, value_name = "DEVICE")]
    dev: String,
    /// The named network namespace that it is in; the present one by default
    #[arg(long, value_name = "NAME")]
    netns: Option<String>,
}

/// Arguments of `knee kernel aqm`.
#[derive(Args)]
struct Aqm {
    /// The law: `pi`, `pisa` or `pimc`; or `status`, `remove`
    law: String,
    #[command(flatten)]
    at: Place,
    /// Set a parameter; `knee explain pi` shows them
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,
    /// The queue to keep, as in `200pkt`; short for --set reference=200
    #[arg(long, value_name = "PACKETS", value_parser = packets)]
    qref: Option<f64>,
    /// Mark packets of senders that understand marks, and drop others; short for --set ecn=true
    #[arg(long)]
    ecn: bool,
    /// Replace the one that is there
    #[arg(long)]
    replace: bool,
}

/// Arguments of `knee kernel hint`.
#[derive(Args)]
struct Hint {
    /// The action
    #[arg(value_enum, default_value_t = Action::Attach)]
    action: Action,
    #[command(flatten)]
    at: Place,
    /// Replace the one that is there
    #[arg(long)]
    replace: bool,
}

/// Arguments of `knee kernel rate`.
#[derive(Args)]
#[command(arg_required_else_help = true)]
struct Rates {
    #[command(subcommand)]
    what: RateAction,
}

#[derive(Subcommand)]
enum RateAction {
    /// Set the rate of the path to a host
    Set {
        /// The host's address
        destination: IpAddr,
        /// The rate, as in `5mbit`
        rate: Rate,
    },
    /// List the rates that are set
    List,
    /// Clear the rate to a host, or all
    Clear {
        /// The host's address; all by default
        destination: Option<IpAddr>,
    },
}

/// The use of a hint.
#[derive(Clone, Copy, ValueEnum)]
enum Action {
    /// Write hints
    Attach,
    /// Count packets with a hint
    Status,
    /// Stop
    Remove,
}

/// `200pkt`.
fn packets(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("pkt").unwrap_or(text).trim().parse::<f64>().ok();
    number
        .filter(|packets| packets.is_finite())
        .ok_or_else(|| "write a number of packets, as in `200pkt`".to_string())
}

/// `NAME=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or_else(|| "write a parameter as NAME=VALUE, as in `t1=5ms`".to_string())?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

/// Dispatches to the question.
#[cfg(feature = "bpf")]
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    use kneepoint_linux::kernel;

    use crate::console;

    kernel::tell_waits(console::tell);
    // Facts that the kernel shows to every user.
    if !matches!(arguments.what, What::List | What::Status(_)) {
        kernel::require().map_err(refused)?;
    }
    match &arguments.what {
        What::Load(arguments) => controllers::load(session, arguments, as_json),
        What::Unload(arguments) => controllers::unload(session, arguments, as_json),
        What::List => controllers::list(session, as_json),
        What::Status(arguments) => controllers::status(session, arguments, as_json),
        What::Default(arguments) => controllers::default(session, arguments, as_json),
        What::Top(arguments) => records::top(session, arguments, as_json),
        What::Trace(arguments) => records::trace(session, arguments, as_json),
        What::Aqm(arguments) => filters::aqm(session, arguments, as_json),
        What::Rate(arguments) => rates::rate(session, arguments, as_json),
        What::Hint(arguments) => filters::hint(session, arguments, as_json),
    }
}

/// Says that this build has no kernel programs.
#[cfg(not(feature = "bpf"))]
fn act(_: &Session, _: &Arguments, _: bool) -> Result<(), Failure> {
    Err(Failure::run(
        "this build of knee has no kernel programs: clang, or the headers of libelf and zlib, were missing",
        "Linux only: `apt-get install -y clang libelf-dev zlib1g-dev pkg-config`, then `make build`",
    ))
}

/// The failure for something that the kernel refused.
#[cfg(feature = "bpf")]
pub fn refused(error: kneepoint_linux::kernel::Error) -> Failure {
    let make = if error.usage { Failure::usage } else { Failure::run };
    make(error.message, error.remedy)
}
