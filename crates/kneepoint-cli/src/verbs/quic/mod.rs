// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee quic`: a QUIC server with any controller, and a client for it, in a build with the feature `quic`.

mod get;
mod serve;

use clap::{Args, Subcommand, ValueEnum};
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;

/// Examples at the end of `knee quic --help`.
const EXAMPLES: &str = "\
A build with the feature `quic` has this verb: cargo build --release -p kneepoint-cli --features quic

On quinn the server speaks HTTP/3 and hq-interop, on noq hq-interop. docs/quic.md says which controller runs on which stack, and SECURITY.md what a peer can \
make the server do.

Examples:
  knee quic serve --cc pert                                   at 127.0.0.1:4433, until Ctrl-C
  knee quic serve --cc bbr3 --stack noq --root films --json
  knee quic serve --cc pert --qlog out/served                 a qlog file of each connection, for knee plot and knee predict
  knee quic get https://127.0.0.1:4433/10485760 --out object
  curl --http3-only -k https://127.0.0.1:4433/10485760 -o object";

/// Serve and fetch objects over QUIC with any controller
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

#[derive(Subcommand)]
enum What {
    /// Serve objects until Ctrl-C
    Serve(serve::Arguments),
    /// Fetch an object, and print its rate and checksum
    Get(get::Arguments),
}

/// A QUIC stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Stack {
    /// HTTP/3 and hq-interop; paced by the window
    #[default]
    Quinn,
    /// hq-interop; paced by the controller
    Noq,
}

#[cfg(feature = "quic")]
impl From<Stack> for kneepoint_quic::wire::Stack {
    fn from(stack: Stack) -> kneepoint_quic::wire::Stack {
        match stack {
            Stack::Quinn => kneepoint_quic::wire::Stack::Quinn,
            Stack::Noq => kneepoint_quic::wire::Stack::Noq,
        }
    }
}

/// Dispatches to the question.
#[cfg(feature = "quic")]
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    match &arguments.what {
        What::Serve(arguments) => arguments.serve(session, as_json),
        What::Get(arguments) => arguments.get(session, as_json),
    }
}

/// Says which build has a stack.
#[cfg(not(feature = "quic"))]
fn act(session: &Session, arguments: &Arguments, _: bool) -> Result<(), Failure> {
    match &arguments.what {
        What::Serve(arguments) => arguments.check(session).map(drop)?,
        What::Get(arguments) => arguments.check()?,
    }
    Err(Failure::usage(
        "this build has no QUIC stack",
        "cargo build --release -p kneepoint-cli --features quic",
    ))
}
