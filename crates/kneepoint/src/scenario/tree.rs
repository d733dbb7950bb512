// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The TOML text as a tree whose keys and values carry their positions.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::fault::Faults;
use crate::settings::Raw;

/// A value with its position.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub span: Range<usize>,
    /// Whether a sweep set it: faults about disagreeing values point here first.
    pub swept: bool,
    pub value: Value,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(Raw),
    List(Vec<Node>),
    Table(Table),
    /// TOML that no setting accepts: dates.
    Foreign(String),
}

/// Keys and values, sorted by position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub span: Range<usize>,
    pub entries: Vec<(Key, Node)>,
}

/// A key with its position.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub text: String,
    pub span: Range<usize>,
}

impl Node {
    pub(crate) fn text(text: &str, span: &Range<usize>) -> Node {
        Node { span: span.clone(), swept: false, value: Value::Scalar(Raw::Text(text.into())) }
    }

    /// The value as a setting reads it; `None` if it is or contains a table.
    pub(crate) fn raw(&self) -> Option<Raw> {
        match &self.value {
            Value::Scalar(raw) => Some(raw.clone()),
            Value::List(nodes) => nodes.iter().map(Node::raw).collect::<Option<_>>().map(Raw::List),
            Value::Table(_) | Value::Foreign(_) => None,
        }
    }

    /// The same value with its parts at one place.
    pub(crate) fn at(self, span: &Range<usize>) -> Node {
        let value = match self.value {
            Value::List(nodes) => Value::List(nodes.into_iter().map(|node| node.at(span)).collect()),
            Value::Table(table) => {
                let entry = |(key, node): (Key, Node)| (Key { span: span.clone(), ..key }, node.at(span));
                Value::Table(Table {
                    span: span.clone(),
                    entries: table.entries.into_iter().map(entry).collect(),
                })
            }
            other => other,
        };
        Node { span: span.clone(), value, ..self }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(Raw::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn is_table(&self) -> bool {
        matches!(self.value, Value::Table(_))
    }

    /// The value as text, for messages and tables of results.
    pub(crate) fn show(&self) -> String {
        match &self.value {
            Value::Scalar(Raw::Text(text)) => text.clone(),
            Value::Scalar(raw) => raw.to_string(),
            Value::Foreign(text) => text.clone(),
            Value::List(nodes) => {
                format!("[{}]", nodes.iter().map(Node::show).collect::<Vec<_>>().join(", "))
            }
            Value::Table(table) => {
                let show = |(key, node): &(Key, Node)| format!("{} = {}", key.text, node.show());
                format!("{{ {} }}", table.entries.iter().map(show).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(one, _)| one.text == key).map(|(_, node)| node)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(one, _)| one.text == key).map(|(_, node)| node)
    }

    /// The table as a TOML text: values first, then a section for each table and each of a list of tables.
    pub(crate) fn to_toml(&self) -> String {
        let line = |(key, node): &(Key, Node)| format!("{} = {}\n", bare(&key.text), inline(node));
        let lines = |table: &Table| table.entries.iter().map(line).collect::<String>();
        let (mut head, mut sections) = (String::new(), String::new());
        for (key, node) in &self.entries {
            let name = bare(&key.text);
            match &node.value {
                Value::Table(table) => sections += &format!("\n[{name}]\n{}", lines(table)),
                Value::List(nodes) if !nodes.is_empty() && nodes.iter().all(Node::is_table) => {
                    for one in nodes {
                        let Value::Table(table) = &one.value else { continue };
                        sections += &format!("\n[[{name}]]\n{}", lines(table));
                    }
                }
                _ => head += &format!("{name} = {}\n", inline(node)),
            }
        }
        head + &sections
    }

    /// The position of the value, or of the table if the value is absent.
    pub(crate) fn place(&self, key: &str) -> &Range<usize> {
        self.get(key).map_or(&self.span, |node| &node.span)
    }

    /// The tables under `key`, which holds one table or a list of tables; anything else is a fault.
    pub(crate) fn tables(&self, key: &str, faults: &mut Faults) -> Vec<&Table> {
        let wrong = format!("`{key}` must be a list of tables");
        let help = format!("write each under a line `[[{key}]]`");
        let mut tables = Vec::new();
        let Some(node) = self.get(key) else { return tables };
        let nodes = match &node.value {
            Value::List(nodes) => nodes.as_slice(),
            _ => std::slice::from_ref(node),
        };
        for one in nodes {
            match &one.value {
                Value::Table(table) => tables.push(table),
                _ => faults.add_with_help(&one.span, wrong.clone(), help.clone()),
            }
        }
        tables
    }
}

/// A key, in quotes where TOML wants them.
fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !key.is_empty() && key.chars().all(plain) { key.to_string() } else { quoted(key) }
}

/// A value on one line.
fn inline(node: &Node) -> String {
    match &node.value {
        Value::Scalar(Raw::Text(text)) => quoted(text),
        Value::List(nodes) => format!("[{}]", nodes.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let entry = |(key, value): &(Key, Node)| format!("{} = {}", bare(&key.text), inline(value));
            format!("{{ {} }}", table.entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Scalar(_) | Value::Foreign(_) => node.show(),
    }
}

/// Text as TOML writes it, whatever is in it: a basic string of TOML is a string of JSON.
pub(crate) fn quoted(text: &str) -> String {
    // TOML escapes one character that JSON does not.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

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
