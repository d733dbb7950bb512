// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documentation generated from the registries and declared fields, and the check that it is current.

mod algorithms;
mod gates;
mod output;
mod response_functions;
mod scenario;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::scenario::{example, schema};

/// Whether to write the generated files.
#[derive(Args)]
pub struct Arguments {
    /// Write nothing; fail if a committed file differs.
    #[arg(long)]
    check: bool,
}

/// A generated file: its name in `docs/` and its contents.
type Generated = (&'static str, String);

fn generate() -> Vec<Generated> {
    let text = serde_json::to_string_pretty(&schema()).unwrap_or_default() + "\n";
    vec![
        ("algorithms.md", algorithms::page()),
        ("bbr-draft.md", gates::bbr_draft()),
        ("output.md", output::page()),
        ("response-functions.md", response_functions::page()),
        ("rfc9743.md", gates::rfc9743()),
        ("scenario.schema.json", text),
        ("scenario.example.toml", example()),
        ("reference/scenario.md", scenario::page()),
    ]
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// The generated files that are out of date.
fn stale() -> Vec<&'static str> {
    let differs = |(name, text): &Generated| std::fs::read_to_string(path(name)).ok().as_ref() != Some(text);
    generate().iter().filter(|file| differs(file)).map(|(name, _)| *name).collect()
}

/// Writes or checks the files.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let stale = stale();
    for (name, text) in generate().iter().filter(|(name, _)| stale.contains(name)) {
        if arguments.check {
            println!("docs/{name} is out of date: run `cargo run -p xtask -- docs`");
        } else {
            std::fs::write(path(name), text).map_err(|error| format!("docs/{name}: {error}"))?;
            println!("wrote docs/{name}");
        }
    }
    Ok(!arguments.check || stale.is_empty())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_files_say_what_the_registries_say() {
        let stale = super::stale();
        assert!(stale.is_empty(), "{stale:?}: run `cargo run -p xtask -- docs`");
    }
}
