// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios: TOML text to [`Valid`], or to faults with place and remedy.
//!
//! ```text
//! text ─tree→ keys and values with positions ─sweep→ one tree per combination
//!      ─reader→ declared fields ─topology→ nodes and links ─→ Valid
//! ```
//!
//! Every field is declared once, with type, default, range and documentation; the reader, [`schema`] and [`example`]
//! all derive from that declaration.

mod build;
pub(crate) mod choose;
mod example;
mod extensions;
mod family;
pub(crate) mod files;
mod forms;
mod host;
mod outline;
mod presets;
pub(crate) mod reader;
mod schema;
pub mod scheme;
mod sections;
mod set;
pub(crate) mod sweep;
mod topology;
mod traffic;
pub(crate) mod tree;
mod written;

pub(crate) use crate::fault;
pub use crate::fault::Fault;
pub use example::{brief_example, example};
pub use extensions::Extensions;
pub use files::{Files, Opened};
pub use forms::fitting_name;
pub use outline::paths;
pub use schema::schema;
pub use topology::REGISTRY as TOPOLOGIES;
pub(crate) use tree::quoted;

use crate::settings::{Raw, Refusal, Settings};
use crate::spec::Valid;
use fault::Faults;

/// A parsed text: every case is to be run with every seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the run.
    pub name: String,
    /// Seeds, one per replication.
    pub seeds: Vec<u64>,
    /// Cases of the sweep; a single one without a sweep.
    pub cases: Vec<Case>,
    /// Whether each completed transfer is to be written to a file.
    pub objects: bool,
}

/// One combination of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Swept fields: path and value.
    pub settings: Vec<(String, String)>,
    /// The scenario.
    pub valid: Valid,
}

/// A longer text is not a hand-written scenario.
const LONGEST_TEXT: usize = 1 << 20;

/// Memory limit of all cases together, in bytes.
const GREATEST_PLAN: usize = 512 << 20;

/// The presets that a text names as a control, a queue or a scheme. None of a text that is no TOML.
pub fn presets(text: &str) -> Vec<&'static scheme::Preset> {
    let root = tree::read(text, &mut Faults::default());
    let mut found = Vec::new();
    presets::named_in(&root, &mut found);
    found
}

/// Reads the first seed of a study, within the range of `seed` in `[run]`.
pub fn seed(text: &str) -> Result<u64, String> {
    run_field("seed", text).map(|run| run.seed)
}

/// Reads a number of seeds, within the range of `seeds` in `[run]`.
pub fn seeds(text: &str) -> Result<u32, String> {
    run_field("seeds", text).map(|run| run.seeds)
}

fn run_field(name: &str, text: &str) -> Result<sections::Run, String> {
    let mut run = sections::Run::default();
    match run.set(name, &Raw::guess(text)) {
        Ok(()) => Ok(run),
        Err(Refusal::Value(message)) => Err(message),
        Err(Refusal::Unknown) => Err(format!("[run] has no `{name}`")),
    }
}

/// Reads a scenario that names no files. The error holds every fault found, in order of place.
pub fn parse(text: &str) -> Result<Plan, Vec<Fault>> {
    Extensions::NONE.parse(text)
}

/// Reads a scenario with the files that it names.
pub fn parse_with(text: &str, files: Files) -> Result<Plan, Vec<Fault>> {
    Extensions::NONE.parse_with(text, files)
}

fn read_with(text: &str, extensions: &Extensions, files: Files) -> Result<Plan, Vec<Fault>> {
    let mut faults = Faults::default();
    let files = Opened::by(files);
    let plan = root(text, &mut faults).and_then(|root| plan(&root, extensions, files, &mut faults));
    match plan {
        Some(plan) if faults.is_empty() => Ok(plan),
        _ => Err(faults.finish(text)),
    }
}

/// Reads a scenario of which some fields are set from outside, each by `PATH=VALUE` with the paths of `[sweep]`; and its text with
/// these fields. Spans of faults in the settings are those that they would have on lines of their own after the text. `files` opens
/// the files that the text names, and `others` those that the settings name.
pub fn parse_set(
    text: &str,
    set: &[String],
    files: Files,
    others: Files,
) -> Result<(Plan, String), Vec<Fault>> {
    Extensions::NONE.parse_set(text, set, files, others)
}

fn read_set(
    text: &str,
    set: &[String],
    extensions: &Extensions,
    files: Opened,
) -> Result<(Plan, String), Vec<Fault>> {
    if set.is_empty() {
        return read_with(text, extensions, files.text).map(|plan| (plan, text.to_string()));
    }
    let mut faults = Faults::default();
    let root = root(text, &mut faults).map(|mut root| {
        set::apply(&mut root, set, text.len() + 1, extensions, &mut faults);
        root
    });
    let root = root.filter(|_| faults.is_empty());
    match root.and_then(|root| Some((plan(&root, extensions, files, &mut faults)?, root))) {
        Some((plan, root)) if faults.is_empty() => Ok((
            plan,
            format!(
                "# Set from outside: {}\n{}",
                set.join(" ").replace(char::is_control, " "),
                root.to_toml()
            ),
        )),
        _ => Err(faults.finish(&set::joined(text, set))),
    }
}

/// The text as a tree.
pub(crate) fn root(text: &str, faults: &mut Faults) -> Option<tree::Table> {
    if text.len() > LONGEST_TEXT {
        faults.add_with_help(&(0..0), "the text is longer than a megabyte", "split it");
        return None;
    }
    Some(tree::read(text, faults)).filter(|_| faults.is_empty())
}

/// Every case of a tree.
pub(crate) fn plan(
    root: &tree::Table,
    extensions: &Extensions,
    files: Opened,
    faults: &mut Faults,
) -> Option<Plan> {
    let axes = sweep::axes(root, faults);
    if !faults.is_empty() {
        return None;
    }
    let mut plan: Option<Plan> = None;
    let mut bytes = 0;
    for index in 0..sweep::combinations(&axes) {
        let (settings, mut tree) = sweep::point(root, &axes, index, extensions, faults);
        let mut found = Faults::default();
        bytes += files::fill(&mut tree, extensions, files, &mut found);
        let built = build::build(&tree, extensions, &mut found);
        faults.join(found);
        if faults.enough() {
            break;
        }
        let Some(build::Built { valid, seeds, objects }) = built else { continue };
        bytes += valid.footprint();
        if bytes > GREATEST_PLAN {
            let help = "sweep fewer values, or split the scenario";
            faults.add_with_help(&(0..0), "all cases together have too many links and flows to hold", help);
            break;
        }
        let plan = plan.get_or_insert_with(|| {
            // A case of a sweep may have a name of its own.
            let name = root.get("name").and_then(tree::Node::as_text).unwrap_or(valid.name());
            Plan { name: name.to_string(), seeds, cases: Vec::new(), objects }
        });
        plan.cases.push(Case { settings, valid });
    }
    plan
}
