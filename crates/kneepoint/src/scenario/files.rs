// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a scenario names: their texts take the place of the fields that they stand for.
//!
//! The core opens no files. Whoever reads a scenario hands it their texts.

use super::choose::unfold;
use super::fault::Faults;
use super::tree::{Key, Node, Table, Value};
use crate::link::capacity::trace::Times;
use crate::settings::{Inline, Raw, Word};

/// The text of a file by its path as written in the scenario, or why there is none.
pub type Files<'f> = &'f dyn Fn(&str) -> Result<String, String>;

/// Bytes of a file.
const LONGEST: usize = 16 << 20;

/// The files of a text that was read by itself.
pub(crate) fn none(_: &str) -> Result<String, String> {
    Err("files cannot be opened here: write the `opportunities` in the scenario".into())
}

/// Reads the files that the capacities of a tree name. About how many bytes they will take in memory.
pub(super) fn fill(tree: &mut Table, files: Files, faults: &mut Faults) -> usize {
    let mut bytes = tree.get_mut("capacity").map_or(0, |node| capacity(node, files, faults));
    let links = match tree.get_mut("link").map(|node| &mut node.value) {
        Some(Value::List(nodes)) => nodes.as_mut_slice(),
        _ => &mut [],
    };
    for link in links {
        if let Value::Table(link) = &mut link.value
            && let Some(node) = link.get_mut("capacity")
        {
            bytes += capacity(node, files, faults);
        }
    }
    bytes
}

fn capacity(node: &mut Node, files: Files, faults: &mut Faults) -> usize {
    // A fault in the choice itself is found again when it is read.
    let Some(mut table) = unfold(node, "capacity", &mut Faults::default()) else { return 0 };
    let Some(file) = table.get("file") else { return 0 };
    let (span, swept) = (file.span.clone(), file.swept);
    let Some(path) = file.as_text().filter(|path| !path.is_empty() && *path != Inline::WORD) else {
        return 0;
    };
    if table.get("opportunities").is_some() {
        faults.add_with_help(&span, "a trace has both `file` and `opportunities`", "leave one of them out");
        return 0;
    }
    let read = files(path).map_err(|why| format!("file: `{path}`: {why}")).and_then(|text| {
        if text.len() > LONGEST {
            return Err(format!("file: `{path}` is larger than {} MB", LONGEST >> 20));
        }
        Times::parse(&text).map(|_| text).map_err(|wrong| format!("file: `{path}`, {wrong}"))
    });
    match read {
        Ok(text) => {
            let bytes = 4 * text.len();
            let key = Key { text: "opportunities".into(), span: span.clone() };
            table.entries.push((key, Node { span, swept, value: Value::Scalar(Raw::Text(text)) }));
            node.value = Value::Table(table);
            bytes
        }
        Err(message) => {
            faults.add(&span, message);
            0
        }
    }
}
