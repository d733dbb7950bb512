// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where results come from: what was run, by which program, on which machine.

use kneepoint::report::{Manifest, SCHEMA_VERSION};
use sha2::{Digest, Sha256};

use crate::machine;

/// The manifest of what this program makes now, of texts by name.
pub fn of(scenario: Vec<(String, String)>, seeds: Vec<u64>, notes: Vec<String>) -> Manifest {
    let revision = env!("KNEE_REVISION");
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_string(),
        git_revision: (revision != "unknown").then(|| revision.to_string()),
        scenario_hash: digest(scenario.iter().map(|(_, text)| text.as_str())),
        scenario,
        seeds,
        host: Some(machine::host()),
        kernel: Some(machine::kernel()),
        created: Some(machine::now()),
        command: Some(machine::command_line()),
        notes,
    }
}

/// SHA-256 over texts in order: `sha256:` is left to the reader, the digits are what `sha256sum` prints.
pub fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
