// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The manifest of a report: enough to repeat it.

use std::fmt::{self, Write};

use super::super::Manifest;
use crate::chart::Escaped;

pub(super) fn write(page: &mut String, manifest: &Manifest) -> fmt::Result {
    let seeds: Vec<String> = manifest.seeds.iter().map(u64::to_string).collect();
    let known = |value: &Option<String>| value.clone().unwrap_or_default();
    let entries = [
        ("command", known(&manifest.command)),
        ("seeds", seeds.join(", ")),
        ("scenario", manifest.scenario_hash.clone()),
        ("laboratory", manifest.tool_version.clone()),
        ("revision", known(&manifest.git_revision)),
        ("host", known(&manifest.host)),
        ("kernel", known(&manifest.kernel)),
        ("created", known(&manifest.created)),
        ("schema", manifest.schema_version.to_string()),
    ];
    page.push_str("<section>\n<h2>Manifest</h2>\n<dl>\n");
    for (name, value) in entries.iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(page, "<dt>{name}</dt><dd>{}</dd>", Escaped(value))?;
    }
    page.push_str("</dl>\n");
    for (name, text) in &manifest.scenario {
        writeln!(
            page,
            "<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>",
            Escaped(name),
            Escaped(text)
        )?;
    }
    page.push_str("</section>\n");
    Ok(())
}
