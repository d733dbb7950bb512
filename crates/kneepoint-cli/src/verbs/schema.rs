// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee schema`: the JSON Schema of scenarios, for editors that complete and check TOML.

use clap::Args;
use kneepoint::scenario;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;

/// Print the JSON Schema of scenarios
#[derive(Args)]
#[command(after_help = "Example:\n  knee schema > scenario.schema.json")]
pub struct Arguments;

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Prints the schema, a document of the JSON Schema standard and not of ours: it has the version of that standard.
fn act(session: &Session, _: &Arguments, _: bool) -> Result<(), Failure> {
    session.print(format!("{:#}", scenario::schema()))
}
