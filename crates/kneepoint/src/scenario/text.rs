// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TOML text to a tree, and a tree to the text that is read as this tree.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::settings::Raw;

/// Parses TOML; syntax errors become faults.
pub(crate) fn read(text: &str, faults: &mut Faults) -> Table {
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        faults.add(&error.span().unwrap_or(0..0), format!("invalid TOML: {}", error.message()));
    }
    table(document.get_ref(), 0..0)
}

fn table(table: &DeTable, span: Range<usize>) -> Table {
    let mut entries: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| {
            let key = Key { text: key.get_ref().to_string(), span: key.span() };
            (key, node(value.get_ref(), value.span()))
        })
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    Table { span, entries }
}

fn node(value: &DeValue, span: Range<usize>) -> Node {
    let huge = |text: &str| Raw::Huge(text.to_string());
    let value = match value {
        DeValue::Boolean(value) => Value::Scalar(Raw::Bool(*value)),
        DeValue::String(text) => Value::Scalar(Raw::Text(text.to_string())),
        DeValue::Integer(value) => {
            let whole = i64::from_str_radix(value.as_str(), value.radix());
            Value::Scalar(whole.map_or_else(|_| huge(&value.to_string()), Raw::Integer))
        }
        DeValue::Float(value) => {
            Value::Scalar(Raw::float(value.as_str()).unwrap_or_else(|| huge(value.as_str())))
        }
        DeValue::Datetime(date) => Value::Foreign(date.to_string()),
        DeValue::Array(values) => {
            Value::List(values.iter().map(|one| node(one.get_ref(), one.span())).collect())
        }
        DeValue::Table(inner) => Value::Table(table(inner, span.clone())),
    };
    Node { span, swept: false, value }
}

/// Writes a tree as TOML: values first, then a section for each table and each of a list of tables. Every key and every value moves to
/// its place in the text, as if it had been read from there.
pub(crate) fn write(root: &mut Table) -> String {
    let mut text = String::new();
    fields(root.entries.iter_mut().filter(|(_, node)| !is_section(node)), &mut text);
    for (key, node) in root.entries.iter_mut().filter(|(_, node)| is_section(node)) {
        let places = sections(&key.text, node, &mut text);
        // A list is where its first table is.
        if let Some([name, header]) = places.into_iter().next() {
            (key.span, node.span) = (name, header);
        }
    }
    root.span = 0..0;
    root.entries.sort_by_key(|(key, _)| key.span.start);
    text
}

/// Writes the sections of a key; the places of their names and their headers.
fn sections(key: &str, node: &mut Node, text: &mut String) -> Vec<[Range<usize>; 2]> {
    match &mut node.value {
        Value::Table(table) => vec![section(key, table, ["[", "]"], text)],
        Value::List(nodes) => {
            let each = nodes.iter_mut().filter_map(|one| match &mut one.value {
                Value::Table(table) => {
                    let places = section(key, table, ["[[", "]]"], text);
                    one.span = places[1].clone();
                    Some(places)
                }
                _ => None,
            });
            each.collect()
        }
        Value::Scalar(_) | Value::Foreign(_) => Vec::new(),
    }
}

/// Whether a value is written under its own header.
fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::List(nodes) => !nodes.is_empty() && nodes.iter().all(Node::is_table),
        Value::Scalar(_) | Value::Foreign(_) => false,
    }
}

/// Writes a section and returns the places of its name and its header.
fn section(key: &str, table: &mut Table, [open, close]: [&str; 2], text: &mut String) -> [Range<usize>; 2] {
    let mut name = 0..0;
    text.push('\n');
    table.span = placed(text, |text| {
        *text += open;
        name = placed(text, |text| *text += &bare(key));
        *text += close;
    });
    text.push('\n');
    fields(table.entries.iter_mut(), text);
    [name, table.span.clone()]
}

fn fields<'t>(entries: impl Iterator<Item = &'t mut (Key, Node)>, text: &mut String) {
    for (key, node) in entries {
        field(key, node, text);
        text.push('\n');
    }
}

fn field(key: &mut Key, node: &mut Node, text: &mut String) {
    key.span = placed(text, |text| *text += &bare(&key.text));
    *text += " = ";
    inline(node, text);
}

/// A value on one line.
fn inline(node: &mut Node, text: &mut String) {
    node.span = placed(text, |text| match &mut node.value {
        Value::Scalar(raw) => *text += &scalar(raw),
        Value::Foreign(date) => *text += date,
        Value::List(nodes) => {
            *text += "[";
            apart(nodes, text, inline);
            *text += "]";
        }
        Value::Table(table) => {
            *text += "{ ";
            apart(&mut table.entries, text, |(key, value), text| field(key, value, text));
            *text += " }";
        }
    });
    if let Value::Table(table) = &mut node.value {
        table.span = node.span.clone();
    }
}

/// Writes the parts of a list with commas between them.
fn apart<T>(parts: &mut [T], text: &mut String, write: impl Fn(&mut T, &mut String)) {
    for (place, part) in parts.iter_mut().enumerate() {
        if place > 0 {
            *text += ", ";
        }
        write(part, text);
    }
}

/// The place in the text of the current item.
fn placed(text: &mut String, write: impl FnOnce(&mut String)) -> Range<usize> {
    let start = text.len();
    write(text);
    start..text.len()
}

/// A number keeps its kind when it is read back: `1.0` is not an integer.
fn scalar(raw: &Raw) -> String {
    match raw {
        Raw::Text(text) => quoted(text),
        Raw::Float(number) => format!("{number:?}").to_lowercase(),
        raw => raw.to_string(),
    }
}

/// A key, in quotes where TOML requires them.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !key.is_empty() && key.chars().all(plain) { key.to_string() } else { quoted(key) }
}

/// Any text as a TOML string: a basic string of TOML is a string of JSON.
fn quoted(text: &str) -> String {
    // TOML escapes one character that JSON does not.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str) -> Value {
        let options = Table::default().with("kind", Value::text("pert")).with("gain", Raw::Float(1.0));
        Table::default().with("name", Value::text(name)).with("cc", options).into()
    }

    #[test]
    fn what_is_written_is_read_as_the_same_tree_with_the_same_places() {
        let numbers = [0.1, 1.0, 1e300, 5e-324, -0.0].map(Raw::Float);
        let values = numbers.into_iter().chain([
            Raw::Bool(true),
            Raw::Integer(-3),
            Raw::Text("é \"\\\u{7f}\n".into()),
        ]);
        let mut root = Table::default()
            .with(
                "run",
                Table::default().with("seeds", Value::whole(3u32)).with("seed", Value::whole(u64::MAX)),
            )
            .with("name", Value::text("of \"all\" kinds"))
            .with("flows", Value::list(["one", "other"].map(group)))
            .with("no flows", Value::list([]))
            .with("sweep", Table::default().with("topology.buffer", Raw::List(values.collect())));
        let text = write(&mut root);
        let mut faults = Faults::default();
        let again = read(&text, &mut faults);
        assert!(faults.is_empty(), "{faults:?} in {text}");
        assert_eq!(format!("{again:#?}"), format!("{root:#?}"), "{text}");
    }
}
