// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The manifest of a document: enough to repeat its runs.

use super::document::{Block, Section};
use super::{Manifest, studio};

/// The section about the runs, on pages only.
pub(super) fn section(manifest: &Manifest) -> Section {
    let seeds: Vec<String> = manifest.seeds.iter().map(u64::to_string).collect();
    let known = |value: &Option<String>| value.clone().unwrap_or_default();
    let facts = [
        ("command", known(&manifest.command)),
        ("seeds", seeds.join(", ")),
        ("scenario", manifest.scenario_hash.clone()),
        ("version", manifest.tool_version.clone()),
        ("revision", known(&manifest.git_revision)),
        ("host", known(&manifest.host)),
        ("kernel", known(&manifest.kernel)),
        ("created", known(&manifest.created)),
        ("schema", manifest.schema_version.to_string()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let files = manifest.files.iter().map(|(name, digest)| (name.clone(), digest.clone()));
    let presets = manifest.presets.iter().map(|(name, meaning)| (name.clone(), meaning.clone()));
    let facts = facts.map(|(name, value)| (name.to_string(), value)).chain(presets).chain(files);
    let mut blocks = vec![Block::Facts(facts.collect())];
    for (name, text) in &manifest.scenario {
        blocks.push(Block::Listing(name.clone(), text.clone()));
        blocks.extend(studio::of_scenario(text));
    }
    Section::new("Manifest", vec![Block::pages(blocks)])
}
