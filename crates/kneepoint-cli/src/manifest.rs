// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Provenance of results: the question, the program and the machine.

use std::collections::BTreeMap;

use kneepoint::report::{Manifest, SCHEMA_VERSION};
use kneepoint::scenario;
use kneepoint_bench::machine;
use kneepoint_bench::session::Session;
use sha2::{Digest, Sha256};

/// The manifest of the current run, for input texts by name.
pub fn of(
    session: &Session,
    scenario: Vec<(String, String)>,
    seeds: Vec<u64>,
    notes: Vec<String>,
) -> Manifest {
    let presets = scenario.iter().flat_map(|(_, text)| scenario::presets(text));
    let revision = env!("KNEE_REVISION");
    Manifest {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_string(),
        git_revision: (revision != "unknown").then(|| revision.to_string()),
        scenario_hash: digest(scenario.iter().map(|(_, text)| text.as_str())),
        presets: presets.map(|preset| (preset.name.to_string(), preset.meaning())).collect(),
        scenario,
        files: BTreeMap::new(),
        seeds,
        host: Some(machine::host()),
        kernel: Some(machine::kernel()),
        created: Some(machine::now()),
        command: Some(machine::command_line(session)),
        notes,
    }
}

/// SHA-256 of texts in order, in hexadecimal as printed by `sha256sum`, without the prefix `sha256:`.
pub fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|text| hash.update(text));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
