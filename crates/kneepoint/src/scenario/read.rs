// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario, as a text or as a document, to the plan of its runs.

use super::document::Document;
use super::extensions::Extensions;
use super::figure::FigureSpec;
use super::files::{self, Files, Opened};
use super::presets::{Preset, named_in};
use super::reader::{Shape, section, settings};
use super::tree::{Node, Table};
use super::{build, set, sweep, text};
use crate::fault::{Fault, Faults};
use crate::spec::Valid;

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
    /// How its figure is to be drawn.
    pub figure: FigureSpec,
}

/// Fields and their values: the paths of a sweep, and values as written.
pub type Settings = Vec<(String, String)>;

/// One combination of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Swept fields: path and value.
    pub settings: Settings,
    /// The scenario.
    pub valid: Valid,
}

/// Memory limit of all cases together, in bytes.
const GREATEST_PLAN: usize = 512 << 20;

/// The presets that a text names as a control, a queue or a scheme. None if the text is not TOML.
pub fn presets(text: &str) -> Vec<&'static Preset> {
    let root = text::read(text, &mut Faults::default());
    let mut found = Vec::new();
    named_in(&root, &mut found);
    found
}

fn figure_of(root: &Table, faults: &mut Faults) -> FigureSpec {
    let shape = Shape { place: "[figure]", ..Shape::default() };
    settings(&section(root, "figure", faults), shape, faults)
}

/// Reads a scenario that names no files. The error holds every fault found, in order of place.
pub fn parse(text: &str) -> Result<Plan, Vec<Fault>> {
    Extensions::NONE.parse(text)
}

/// Reads a scenario with the files that it names.
pub fn parse_with(text: &str, files: Files) -> Result<Plan, Vec<Fault>> {
    Extensions::NONE.parse_with(text, files)
}

/// Reads a scenario of which some fields are set from outside, each by `PATH=VALUE` with the paths of `[sweep]`; and its text with
/// these fields. Spans of faults in the settings are given as if these were on lines of their own after the text. `files` opens
/// the files that the text names, and `others` the files that the settings name.
pub fn parse_set(
    text: &str,
    set: &[String],
    files: Files,
    others: Files,
) -> Result<(Plan, String), Vec<Fault>> {
    Extensions::NONE.parse_set(text, set, files, others)
}

impl Extensions {
    /// Reads a scenario that names no files, as [`parse`] does.
    pub fn parse(&self, text: &str) -> Result<Plan, Vec<Fault>> {
        self.parse_with(text, &files::none)
    }

    /// Reads a scenario with the files that it names, as [`parse_with`] does.
    pub fn parse_with(&self, text: &str, files: Files) -> Result<Plan, Vec<Fault>> {
        let document = Document::read(text)?;
        planned(&document, &[], self, Opened::by(files)).map(|(plan, _)| plan)
    }

    /// Reads a scenario of which some fields are set from outside, as [`parse_set`] does.
    pub fn parse_set(
        &self,
        text: &str,
        set: &[String],
        files: Files,
        others: Files,
    ) -> Result<(Plan, String), Vec<Fault>> {
        self.plan_set(&Document::read(text)?, set, files, others)
    }

    /// The plan of a document that names no files.
    pub fn plan(&self, document: &Document) -> Result<Plan, Vec<Fault>> {
        planned(document, &[], self, Opened::by(&files::none)).map(|(plan, _)| plan)
    }

    /// The plan of a document of which some fields are set from outside, as [`parse_set`] sets them; and its text with these fields.
    pub fn plan_set(
        &self,
        document: &Document,
        set: &[String],
        files: Files,
        others: Files,
    ) -> Result<(Plan, String), Vec<Fault>> {
        let files = Opened { text: files, others, end: document.text().len() };
        let (plan, root) = planned(document, set, self, files)?;
        if set.is_empty() {
            return Ok((plan, document.text().to_string()));
        }
        let set = set.join(" ").replace(char::is_control, " ");
        Ok((plan, format!("# Set from outside: {set}\n{}", Document::write(root).text())))
    }
}

/// The plan of a document with some fields set from outside, and the tree with these fields.
fn planned(
    document: &Document,
    set: &[String],
    extensions: &Extensions,
    files: Opened,
) -> Result<(Plan, Table), Vec<Fault>> {
    let mut faults = Faults::default();
    let mut root = document.root.clone();
    set::apply(&mut root, set, document.text().len() + 1, extensions, &mut faults);
    let plan = if faults.is_empty() { plan(&root, extensions, files, &mut faults) } else { None };
    match plan {
        Some(plan) if faults.is_empty() => Ok((plan, root)),
        _ if set.is_empty() => Err(faults.finish(document.text())),
        _ => Err(faults.finish(&set::joined(document.text(), set))),
    }
}

/// Every case of a tree.
pub(crate) fn plan(
    root: &Table,
    extensions: &Extensions,
    files: Opened,
    faults: &mut Faults,
) -> Option<Plan> {
    let axes = sweep::axes(root, faults);
    let figure = figure_of(root, faults);
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
            // A case of a sweep may have its own name.
            let name = root.get("name").and_then(Node::as_text).unwrap_or(valid.name());
            Plan { name: name.to_string(), seeds, cases: Vec::new(), objects, figure: figure.clone() }
        });
        plan.cases.push(Case { settings, valid });
    }
    plan
}
