// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee schema`: the JSON Schema of scenarios, for editors that complete and check TOML.

use kneepoint::scenario;
use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// Prints the schema, a document of the JSON Schema standard and not of ours: it has the version of that standard.
pub fn schema(session: &Session) -> Result<(), Failure> {
    session.print(format!("{:#}", scenario::schema()))
}
