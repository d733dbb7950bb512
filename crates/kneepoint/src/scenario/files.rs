// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a scenario names: the text of each replaces the field that is declared before the path's.
//!
//! The core opens no files: the caller hands it their texts.

use std::ops::Range;

use super::choose::{Family, unfold};
use super::extensions::Extensions;
use super::sections::Flows;
use super::topology::{self, LinkFields};
use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::link::capacity;
use crate::settings::{Assign, Auto, FilePath, Inline, Raw, Refusal, Setting, Word};
use crate::traffic::{Kind, har};

/// The text of a file by its path as written in the scenario, or why there is none.
pub type Files<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// The reader of the files that a scenario names.
#[derive(Clone, Copy)]
pub struct Opened<'f> {
    /// Opens the files that the text names.
    pub(super) text: Files<'f>,
    /// Opens the files that fields set from outside name.
    pub(super) others: Files<'f>,
    /// The end of the text, in bytes: fields set from outside have their places behind it.
    pub(super) end: usize,
}

impl<'f> Opened<'f> {
    /// All files opened alike.
    pub fn by(files: Files<'f>) -> Opened<'f> {
        Opened { text: files, others: files, end: 0 }
    }

    /// The text of a file that the field at this place names.
    fn open(self, file: &str, place: &Range<usize>) -> Result<String, String> {
        let files = if place.start > self.end { self.others } else { self.text };
        files(file)
    }
}

/// Bytes of a file.
const LONGEST: usize = 16 << 20;

/// The files of a text that was read by itself.
pub(crate) fn none(_: &str) -> Result<String, String> {
    Err("files cannot be opened here: write the data in the scenario".into())
}

/// Reads the files that the capacities and sources of a tree name. They will take about this many bytes in memory.
pub(super) fn fill(tree: &mut Table, extensions: &Extensions, files: Opened, faults: &mut Faults) -> usize {
    let mut reader = Reader { files, faults, bytes: 0 };
    if let Some(node) = tree.get_mut("capacity") {
        reader.capacity(node);
    }
    for key in ["link", "reverse"] {
        for link in tables(tree, key) {
            if let Some(node) = link.get_mut("capacity") {
                reader.capacity(node);
            }
        }
    }
    for table in tables(tree, "topology") {
        let kind = table.get("kind").and_then(Node::as_text);
        if let Some(mut topology) = kind.map_or_else(|| Some(Default::default()), topology::Config::named) {
            reader.fields(table, &mut topology);
        }
    }
    for link in tables(tree, "link") {
        reader.fields(link, &mut LinkFields::default());
    }
    for (section, mut source) in extensions.sources() {
        let transfers = source.nature().kind == Kind::Transfers;
        for table in tables(tree, section) {
            reader.fields(table, &mut source);
            if transfers {
                reader.fields(table, &mut Flows::default());
            }
        }
    }
    reader.bytes
}

/// The tables under a key: one, or a list.
fn tables<'t>(tree: &'t mut Table, key: &str) -> impl Iterator<Item = &'t mut Table> {
    let nodes = match tree.get_mut(key) {
        Some(Node { value: Value::List(nodes), .. }) => nodes.as_mut_slice(),
        Some(node) => std::slice::from_mut(node),
        None => &mut [],
    };
    nodes.iter_mut().filter_map(|node| match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    })
}

struct Reader<'r, 'f> {
    files: Opened<'f>,
    faults: &'r mut Faults,
    bytes: usize,
}

impl Reader<'_, '_> {
    /// A fault in the choice itself is found when the choice is read.
    fn capacity(&mut self, node: &mut Node) {
        let family = <capacity::Config as Family>::MEMBERS;
        let Some(mut table) = unfold(node, family, "capacity", &mut Faults::default()) else { return };
        let kind = table.get("kind").and_then(Node::as_text);
        let Some(mut config) = kind.and_then(capacity::Config::named) else { return };
        if self.fields(&mut table, &mut config) {
            node.value = Value::Table(table);
        }
    }

    /// Reads the files that a table names for the fields of `target`; returns whether there were any.
    fn fields(&mut self, table: &mut Table, target: &mut dyn Assign) -> bool {
        let before = table.entries.len();
        for pair in target.declared().windows(2).filter(|pair| pair[1].kind == FilePath::KIND) {
            let (data, path) = (pair[0].name, pair[1].name);
            let Some(node) = table.get(path) else { continue };
            let Some(file) = node.as_text().filter(|file| !file.is_empty() && *file != Inline::WORD) else {
                continue;
            };
            if table.get(data).is_some() {
                let message = format!("both `{path}` and `{data}` are given");
                self.faults.add_with_help(&node.span, message, "leave one of them out");
                continue;
            }
            match self.text(file, &node.span, data, target) {
                Ok(text) => {
                    self.bytes += 4 * text.len();
                    let (key, value) =
                        (Key { text: data.into(), span: node.span.clone() }, Value::Scalar(Raw::Text(text)));
                    let node = Node { value, ..node.clone() };
                    table.entries.push((key, node));
                }
                Err(wrong) => self.faults.add(&node.span, format!("{path}: `{file}`{wrong}")),
            }
        }
        table.entries.len() > before
    }

    /// The text of a file that the field `data` accepts.
    fn text(
        &self,
        file: &str,
        place: &Range<usize>,
        data: &str,
        target: &mut dyn Assign,
    ) -> Result<String, String> {
        let mut text = self.files.open(file, place).map_err(|why| format!(": {why}"))?;
        if text.len() > LONGEST {
            return Err(format!(" is larger than {} MB", LONGEST >> 20));
        }
        if har::is_named(file) && !har::is_har(&text) {
            return Err(", not a HAR file: it is not JSON: export it from a browser's developer tools".into());
        }
        // A single line would be read as a value of the scenario.
        if !text.is_empty() && !text.contains('\n') {
            text.push('\n');
        }
        match target.assign(data, &Raw::Text(text.clone())) {
            // A word that may replace the data is not a remedy for its file.
            Err(Refusal::Value(wrong)) => {
                let word = format!(", or `{}`", Auto::WORD);
                Err(format!(", {}", wrong.strip_suffix(&word).unwrap_or(&wrong)))
            }
            _ => Ok(text),
        }
    }
}
