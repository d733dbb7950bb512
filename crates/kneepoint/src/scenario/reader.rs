// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a table of the text into declared fields; every mismatch is a fault.

use super::tree::{Node, Table, Value};
use crate::fault::Faults;
use crate::settings::{Assign, Field, Refusal, Settings};
use crate::suggest::did_you_mean;

/// Context of a table, besides the fields it sets.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shape<'s> {
    /// The table's name in messages: `[topology]`.
    pub place: &'s str,
    /// Keys read elsewhere.
    pub besides: &'s [&'s str],
    /// Required keys.
    pub required: &'s [&'s str],
}

/// Sets the fields of `targets` from `table`; a field belongs to the first target that declares it.
pub(crate) fn fill(table: &Table, shape: Shape, targets: &mut [&mut dyn Assign], faults: &mut Faults) {
    let before = faults.len();
    for (at, (key, node)) in table.entries.iter().enumerate() {
        let name = key.text.as_str();
        // TOML refuses it in a table; settings behind a name may repeat one.
        if let Some((_, first)) = table.entries[..at].iter().find(|(other, _)| other.text == name) {
            let (first, second) = (first.show(), node.show());
            let message = format!("{}: `{name}` is given twice, as `{first}` and as `{second}`", shape.place);
            faults.add_with_help(&key.span, message, "leave one of them out");
            continue;
        }
        if shape.besides.contains(&name) {
            continue;
        }
        if faults.enough() {
            return;
        }
        let Some(target) = targets.iter_mut().find(|target| field(target.declared(), name).is_some()) else {
            let known = known(targets, shape.besides);
            let message = format!("{} has no field `{name}`", shape.place);
            faults.add_with_help(&key.span, message, did_you_mean(name, &known));
            continue;
        };
        let Some(field) = field(target.declared(), name) else { continue };
        match node.raw().map(|raw| target.assign(name, &raw)) {
            Some(Ok(())) => {}
            Some(Err(Refusal::Value(message))) => {
                let place = &culprit(*target, name, node).span;
                faults.add_with_help(place, format!("{name}: {message}"), remedy(field, node));
            }
            Some(Err(Refusal::Unknown)) | None => {
                let message = format!("{name}: `{}` is not a {}", node.show(), field.kind);
                faults.add_with_help(&node.span, message, remedy(field, node));
            }
        }
    }
    for name in shape.required.iter().filter(|name| table.get(name).is_none()) {
        let field = targets.iter().find_map(|target| field(target.declared(), name));
        let help = field.map_or(String::new(), |field| about(field, &format!("as in `{}`", example(field))));
        faults.add_with_help(&table.span, format!("{} needs `{name}`", shape.place), help);
    }
    // After a refused value, disagreements between fields would be spurious.
    if faults.len() == before {
        for message in targets.iter().filter_map(|target| target.agree().err()) {
            faults.add(disagreement(table, &message), format!("{}: {message}", shape.place));
        }
    }
}

/// Reads a table into one declared struct.
pub(crate) fn settings<S: Settings>(table: &Table, shape: Shape, faults: &mut Faults) -> S {
    let mut settings = S::default();
    fill(table, shape, &mut [&mut settings], faults);
    settings
}

/// The table under `key`: empty if absent, a fault if it is not a table.
pub(crate) fn section(root: &Table, key: &str, faults: &mut Faults) -> Table {
    match root.get(key) {
        None => Table { span: root.span.clone(), entries: Vec::new() },
        Some(Node { value: Value::Table(table), .. }) => table.clone(),
        Some(node) => {
            let message = format!("`{key}` must be a section, not `{}`", node.show());
            faults.add_with_help(&node.span, message, format!("write its fields under a line `[{key}]`"));
            Table { span: node.span.clone(), entries: Vec::new() }
        }
    }
}

/// The list element that is refused by itself, or else the whole value.
fn culprit<'n>(target: &mut dyn Assign, name: &str, node: &'n Node) -> &'n Node {
    let Value::List(nodes) = &node.value else { return node };
    let refused = |one: &&Node| one.raw().is_none_or(|raw| target.assign(name, &raw).is_err());
    nodes.iter().find(refused).unwrap_or(node)
}

pub(crate) fn field<'f>(fields: &'f [Field], name: &str) -> Option<&'f Field> {
    fields.iter().find(|field| field.name == name)
}

fn known<'k>(targets: &[&mut dyn Assign], besides: &[&'k str]) -> Vec<&'k str> {
    let fields = targets.iter().flat_map(|target| target.declared().iter().map(|field| field.name));
    fields.chain(besides.iter().copied()).collect()
}

/// The choice most likely meant, or the field's documentation, type and default.
fn remedy(field: &Field, node: &Node) -> String {
    if field.choices.is_empty() {
        let default = field.default();
        return about(field, &format!("`{default}` by default"));
    }
    let names: Vec<&str> = field.choices.iter().map(|(name, _)| *name).collect();
    did_you_mean(&node.show(), &names)
}

fn about(field: &Field, rest: &str) -> String {
    let doc = field.doc.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    format!("{}: {}, {rest}", doc.trim_end_matches('.'), field.kind)
}

fn example(field: &Field) -> String {
    let default = field.default();
    let text = field.json.contains(&"string");
    if text { format!("{} = \"{default}\"", field.name) } else { format!("{} = {default}", field.name) }
}

/// The place of a disagreement between fields: of the values that the message names, the one set by a sweep, or else
/// the first.
fn disagreement<'t>(table: &'t Table, message: &str) -> &'t std::ops::Range<usize> {
    let words = message.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named: Vec<&Node> = words.filter_map(|word| table.get(word)).collect();
    let node = named.iter().find(|node| node.swept).or(named.first());
    node.map_or(&table.span, |node| &node.span)
}
