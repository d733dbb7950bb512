// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keys of documents and columns of files, by the definitions from which docs/output.md is written.

use kneepoint::report::output::{self, Definition};
use kneepoint_bench::session::Session;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::terminal;

/// A definition, and the outputs that have it.
pub struct Key {
    definition: Definition,
    outputs: Vec<&'static str>,
}

/// The keys of this path, or that end with this key. Keys with the same meaning are merged.
pub fn named(name: &str) -> Vec<Key> {
    let is_named = |definition: &Definition| {
        let path = definition.path.replace("[]", "");
        path == name || path.rsplit('.').next() == Some(name)
    };
    let mut found: Vec<Key> = Vec::new();
    for one in output::documents().chain(output::TABLES) {
        for definition in one.definitions().into_iter().filter(is_named) {
            let same = |key: &&mut Key| {
                key.definition.path == definition.path && key.definition.about == definition.about
            };
            match found.iter_mut().find(same) {
                Some(key) => key.outputs.push(one.name),
                None => found.push(Key { definition, outputs: vec![one.name] }),
            }
        }
    }
    found
}

/// Prints them like other items.
pub fn print(session: &Session, keys: &[Key], as_json: bool) -> Result<(), Failure> {
    if as_json {
        return session.print_json(&json!({ "items": keys.iter().map(Key::json).collect::<Vec<_>>() }));
    }
    session.print(keys.iter().map(Key::text).collect::<Vec<_>>().join("\n"))
}

impl Key {
    fn text(&self) -> String {
        let Definition { path, about, .. } = &self.definition;
        let about = terminal::documentation(&format!("{about}\n\n{}", self.place()), terminal::columns());
        format!("{path} (key)\n\n{about}")
    }

    fn place(&self) -> String {
        let unit = match self.definition.unit {
            "" => "No unit".to_string(),
            unit => format!("In {unit}"),
        };
        format!("{unit}. A key of: {}.", self.outputs.join("; "))
    }

    fn json(&self) -> Value {
        json!({
            "kind": "key",
            "name": self.definition.path,
            "summary": self.definition.about,
            "citation": "",
            "header": format!("{}\n\n{}", self.definition.about, self.place()),
            "parameters": [],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_a_program_reads_is_found_by_its_path_and_by_its_end() {
        for output in output::documents().chain(output::TABLES) {
            for Definition { path, .. } in output.definitions() {
                let path = path.replace("[]", "");
                let end = path.rsplit('.').next().unwrap_or_default();
                for name in [path.as_str(), end] {
                    assert!(named(name).iter().any(|key| key.outputs.contains(&output.name)), "{name}");
                }
            }
        }
        assert!(named("no_such_key").is_empty());
    }
}
