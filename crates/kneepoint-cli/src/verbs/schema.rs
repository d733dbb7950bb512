// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee schema`: the JSON Schema of scenarios, for editors that complete and check TOML.

use kneepoint::scenario;

use crate::failure::Failure;
use crate::files;

/// Prints the schema.
pub fn schema() -> Result<(), Failure> {
    files::print_json(&scenario::schema())
}
