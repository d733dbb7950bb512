// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario as a tree whose keys and values carry their positions in its text.

use std::fmt;
use std::ops::Range;

use crate::fault::Faults;
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

/// A value without a place, until its tree is written as a text.
impl From<Value> for Node {
    fn from(value: Value) -> Node {
        Node { span: 0..0, swept: false, value }
    }
}

impl From<Raw> for Value {
    fn from(raw: Raw) -> Value {
        match raw {
            Raw::List(values) => Value::list(values.into_iter().map(Value::from)),
            raw => Value::Scalar(raw),
        }
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(table)
    }
}

impl Value {
    /// Any value as its text: a rate, a name.
    pub(crate) fn text(shown: impl fmt::Display) -> Value {
        Value::Scalar(Raw::Text(shown.to_string()))
    }

    /// A whole number. A number that TOML cannot hold fits no setting.
    pub(crate) fn whole(number: impl Into<u64>) -> Value {
        let number = number.into();
        let huge = |_| Raw::Huge(number.to_string());
        Value::Scalar(i64::try_from(number).map_or_else(huge, Raw::Integer))
    }

    pub(crate) fn list(values: impl IntoIterator<Item = Value>) -> Value {
        Value::List(values.into_iter().map(Node::from).collect())
    }
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

    pub(super) fn is_table(&self) -> bool {
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
    /// The table with a further field at its end.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Table {
        self.entries.push((Key { text: key.into(), span: 0..0 }, Node::from(value.into())));
        self
    }

    /// The table with a further field at its end, if there is a value for it.
    #[must_use]
    pub(crate) fn with_some(self, key: &str, value: Option<impl Into<Value>>) -> Table {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The table with the fields of another at its end.
    #[must_use]
    pub(crate) fn and(mut self, other: Table) -> Table {
        self.entries.extend(other.entries);
        self
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries.iter().find(|(one, _)| one.text == key).map(|(_, node)| node)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(one, _)| one.text == key).map(|(_, node)| node)
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
