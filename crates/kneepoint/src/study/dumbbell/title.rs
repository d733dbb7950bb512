// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The title of runs on one bottleneck: their common settings, as run.
//!
//! ```text
//! 20 Mbit/s, 60 ms RTT, 2 flows, 1 BDP of buffer
//! ```

use super::question::{FLOWS, FORWARD};
use crate::scenario::tree::{Node, Table, Value};
use crate::scenario::{Buffer, fitting_name};
use crate::table::number::counted;
use crate::units::{Rate, Span};

/// Fields set from outside that a title names; more are counted.
const MOST_SET: usize = 3;

/// The reading of a field in a title; none where its value is invalid.
type Words = fn(&Node) -> Option<String>;

/// Fields that the title describes in its own words: their paths, and the words.
const TOLD: [(&str, Words); 4] = [
    ("topology.rate", |node| Some(node.as_text()?.parse::<Rate>().ok()?.people())),
    ("topology.rtt", |node| Some(format!("{} RTT", node.as_text()?.parse::<Span>().ok()?.people()))),
    (FLOWS, |node| Some(counted(node.show(), "flow"))),
    ("topology.buffer", |node| {
        Some(format!("{} of buffer", node.as_text()?.parse::<Buffer>().ok()?.people()))
    }),
];

/// The title of a scenario whose `swept` fields have several values. `also` follows it, and `set` are fields set from outside.
pub(super) fn title(root: &Table, swept: &[&str], also: &str, set: &[String]) -> String {
    let told = TOLD.iter().filter(|(path, _)| !swept.contains(path));
    let told = told.filter_map(|(path, words)| words(field(root, path)?));
    let own = |line: &&String| {
        let path = line.split('=').next().unwrap_or_default().trim();
        let path = path.to_ascii_lowercase();
        let known = TOLD.iter().any(|(known, _)| *known == path);
        let flows = path.starts_with("flows.") && path.ends_with(".count");
        !known && !flows && !path.starts_with("sweep.") && !path.starts_with("run.") && path != "name"
    };
    let set: Vec<&str> = set.iter().filter(own).map(String::as_str).collect();
    let set = match set.as_slice() {
        few if few.len() <= MOST_SET => few.iter().map(|line| line.to_string()).collect(),
        many => vec![format!("{} fields set", many.len())],
    };
    let also = also.split_terminator(", ").filter(|part| !part.is_empty()).map(String::from);
    let all: Vec<String> = told.chain(also).chain(set).collect();
    fitting_name(if all.is_empty() { "One bottleneck".into() } else { all.join(", ") }.as_str())
}

/// A field by its path: of a section, or of the group of long transfers.
fn field<'t>(root: &'t Table, path: &str) -> Option<&'t Node> {
    let (section, name) = path.rsplit_once('.')?;
    match &root.get(section.split('.').next()?)?.value {
        Value::Table(table) => table.get(name),
        Value::List(groups) => groups.iter().find_map(|group| match &group.value {
            Value::Table(table) if table.get("name")?.as_text() == Some(FORWARD) => table.get(name),
            _ => None,
        }),
        _ => None,
    }
}
